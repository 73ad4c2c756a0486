#pragma once
// What stands around a codec when a file is read.

#include <new>
#include <stdexcept>
#include <vector>

#include "io/codec.h"
#include "satin/error.h"
#include "satin/file_info.h"

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

/// The pictures that the options choose: one, or all if they choose none. Throws Error(usage) for a page or a
/// part that is not there.
[[nodiscard]] std::vector<FilePicture> chosen_pictures(const Codec& codec, Bytes bytes,
                                                       const ReadOptions& options);

/// The only one of them, or the chief one. Throws Error(input) if there are several.
[[nodiscard]] FilePicture chosen_picture(const Codec& codec, Bytes bytes, const ReadOptions& options);

/// The only or chief picture of the file, whatever the options choose. Throws Error(input) if there are
/// several.
[[nodiscard]] FilePicture only_picture(const Codec& codec, Bytes bytes, const ReadOptions& options);

/// Throws Error(usage) if files of this format hold one picture only.
void check_holds_several(const Codec& codec);

/// Adds a warning that counts the pictures beside this one that are not read.
void tell_left_out(const FilePicture& picture, std::vector<std::string>& warnings);

/// Decodes one of them.
[[nodiscard]] Picture decode(const Codec& codec, Bytes bytes, const FilePicture& picture,
                             const ReadOptions& options);

/// By the codec of the file.
[[nodiscard]] FileInfo file_info(const Codec& codec, Bytes bytes, const ReadOptions& options);

}  // namespace satin::io
