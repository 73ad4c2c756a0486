#pragma once
// What photographs carry, decoded: from pictures of codes to distances or disparities.

#include "io/codec.h"
#include "metadata/photo_source.h"

namespace satin::io {

/// The values of codes (u8 or u16, one channel, lying as stored), turned upright by `orientation`. The codes
/// become those of PhotoDepth::stored. Throws Error(input) for values that are not finite.
[[nodiscard]] PhotoDepth photo_depth(Image codes, const DepthTerms& terms, int orientation,
                                     const Allocator& allocator = {});

/// What JPEG files carry with them, and the picture to be filtered: Codec::decode_photo of JPEG.
[[nodiscard]] Picture decode_jpeg_photo(Bytes bytes, const ReadOptions& options);

/// The picture of a JPEG file, and those of its MPF index beside it: SeveralPictures::list of JPEG.
[[nodiscard]] std::vector<FilePicture> list_jpegs(Bytes bytes, const ReadOptions& options);

/// Completes what the block of EXIF tells: focus, unless something more exact is known, and focal length.
/// `shape` is that of the upright picture. To be called before describe_in_exif().
void complete_photo(Photo& photo, const Metadata& metadata, const Shape& shape);

/// A picture with the blocks of its file, which hold what the photograph carries.
struct KeptPhoto {
  Image image;           ///< lying as the photograph's parts do
  WriteOptions options;  ///< without a photograph
};

/// For JPEG files whose options name a photograph: its depth and its original as GDepth and GImage in XMP.
[[nodiscard]] KeptPhoto keep_photo(const ImageView& image, const WriteOptions& options);

}  // namespace satin::io
