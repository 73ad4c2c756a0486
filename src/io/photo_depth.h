#pragma once
// Depth maps and mattes that photographs carry: from their pictures of codes to distances or disparities, and
// back into a JPEG file.

#include "io/codec.h"
#include "metadata/photo_source.h"

namespace satin::io {

/// Decodes the picture to be filtered and everything that the JPEG file carries with it. This is
/// Codec::decode_photo of JPEG.
[[nodiscard]] Picture decode_jpeg_photo(Bytes bytes, const ReadOptions& options);

/// Lists the picture of a JPEG file and those of its MPF index. This is SeveralPictures::list of JPEG.
[[nodiscard]] std::vector<FilePicture> list_jpegs(Bytes bytes, const ReadOptions& options);

/// Adds the facts from EXIF: the focus, unless a more exact one is known, and the focal length. `shape` is
/// that of the upright picture. Call it before describe_in_exif().
void complete_photo(Photo& photo, const Metadata& metadata, const Shape& shape);

/// A picture to be written, with the metadata blocks that hold its depth and original.
struct KeptPhoto {
  Image image;           ///< oriented like the depth and the original
  WriteOptions options;  ///< WriteOptions::photo is null
};

/// Stores depth and original of the photograph that the options name as GDepth and GImage in XMP, for JPEG.
[[nodiscard]] KeptPhoto keep_photo(const ImageView& image, const WriteOptions& options);

}  // namespace satin::io
