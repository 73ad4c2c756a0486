#pragma once
// Which of the pictures in a file are read.

#include <vector>

#include "io/codec.h"

namespace satin::io {

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

}  // namespace satin::io
