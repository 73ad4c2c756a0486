// JPEG without libjpeg-turbo, by stb_image.

#include "io/jpeg_check.h"
#include "io/orientation.h"
#include "io/stb.h"
#include "io/support.h"
#include "metadata/exif.h"
#include "metadata/jpeg_markers.h"

namespace satin::io {
namespace {

Picture decode_jpeg(Bytes bytes, const ReadOptions& options) {
  check_jpeg_tables(bytes);
  return upright(decode_with_stb("JPEG", bytes, options), exif_orientation(jpeg_metadata(bytes).exif),
                 options.allocator);
}

// stb stores one channel as three equal ones, so that a gray picture is read back as RGB.
FileBytes encode_jpeg(const ImageView& image, const WriteOptions& options) {
  return encode_jpeg_with_stb(image, options.quality.value_or(default_quality));
}

}  // namespace

Codec jpeg_codec() {
  Codec codec{"JPEG", {".jpg", ".jpeg", ".jpe", ".jfif"}, sniff_jpeg, decode_jpeg, encode_jpeg, {}, ""};
  codec.holds.types = set_of(Type::u8);
  codec.holds.channels = set_of(1, 3);
  codec.holds.max_side = 65500;
  return codec;
}

}  // namespace satin::io
