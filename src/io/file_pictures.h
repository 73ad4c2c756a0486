#pragma once
// Which codec reads a file, and which of the pictures in it.

#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "io/codec.h"
#include "io/codec_steps.h"
#include "satin/error.h"

namespace satin::io {

/// Runs `work` and puts the name of the file before the message of any error.
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

/// Returns the names of all formats of which `has` is true, as a list.
template <class Has>
std::string one_of_codecs(const Has& has) {
  std::vector<std::string> names;
  for (const Codec& codec : codecs())
    if (std::invoke(has, codec)) names.emplace_back(codec.name);
  return one_of(names);
}

/// Returns the codec that reads these bytes, without its module. Throws Error(input), without the name of the
/// file.
[[nodiscard]] const Codec& reader_of(Bytes bytes, std::string_view extension);

/// Returns reader_of() with its module.
[[nodiscard]] const Codec& codec_for(Bytes bytes, std::string_view extension);

/// Returns the pictures that the options choose: one, or all if they choose none. Throws Error(usage) for a
/// page or a part that does not exist.
[[nodiscard]] std::vector<FilePicture> chosen_pictures(const Codec& codec, Bytes bytes,
                                                       const ReadOptions& options);

/// Returns the chosen picture, or else the only or main one. Throws Error(input) if there are several.
[[nodiscard]] FilePicture chosen_picture(const Codec& codec, Bytes bytes, const ReadOptions& options);

/// Returns the only or main picture of the file, whatever the options choose. Throws Error(input) if there
/// are several.
[[nodiscard]] FilePicture only_picture(const Codec& codec, Bytes bytes, const ReadOptions& options);

/// Adds a warning that counts the pictures that are not read.
void warn_left_out(const FilePicture& picture, std::vector<std::string>& warnings);

}  // namespace satin::io
