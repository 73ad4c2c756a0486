#pragma once
// What stands around a codec when a file is read.

#include <new>
#include <stdexcept>

#include "io/codec.h"
#include "satin/error.h"

namespace satin::io {

/// Puts the name of the file before the messages of `work`.
template <class Work>
decltype(auto) named(const std::string& name, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(error.kind(), name + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::environment, name + ": there is not enough memory for this picture.");
  } catch (const std::length_error&) {
    throw Error(ErrorKind::environment, name + ": there is not enough memory for this picture.");
  }
}

/// The codec that reads these bytes. Throws Error(input), without the name of the file.
[[nodiscard]] const Codec& codec_for(Bytes bytes, std::string_view extension);

/// Puts right what the blocks of a picture of this shape, which was read upright, say of it.
void describe(Metadata& metadata, const Shape& shape, std::vector<std::string>& warnings);

}  // namespace satin::io
