// Depth in photographs: any input is a picture or an Error, and depth that is kept comes back with the same
// bits. A gain map is kept likewise. The structure of the file, its XMP tree and its base 64 are also read
// directly from the input.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "metadata/jpeg_markers.h"
#include "metadata/photo_source.h"
#include "metadata/xmp.h"
#include "satin/error.h"
#include "satin/io.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

satin::ReadOptions options_of() {
  satin::ReadOptions options;
  options.limits.pixels = std::uint64_t{1} << 20;
  options.limits.bytes = std::uint64_t{1} << 25;
  options.photo_depth = true;
  options.gain_map = true;
  return options;
}

void check_kept(const satin::Picture& picture) {
  if (!picture.photo || !picture.photo->depth || picture.photo->original.file.empty()) return;
  satin::WriteOptions writing;
  writing.metadata = picture.metadata;
  writing.convert = true;
  writing.photo = &*picture.photo;
  const auto bytes = satin::encode_image(picture.image, ".jpg", writing);
  const satin::Picture again = satin::decode_picture(bytes, "again", options_of());
  require(again.photo && again.photo->depth);
  const satin::Image& before = picture.photo->depth->values;
  const satin::Image& after = again.photo->depth->values;
  require(before.shape() == after.shape());
  require(std::memcmp(before.data(), after.data(), satin::byte_size(before.shape())) == 0);
}

/// A gain map that is kept comes back with the same parameters, to 2^-24, and of the same size.
void check_gain_map(const satin::Picture& picture) {
  if (!picture.gain_map) return;
  satin::WriteOptions writing;
  writing.convert = true;
  writing.gain_map = &*picture.gain_map;
  const auto bytes = satin::encode_image(picture.image, ".jpg", writing);
  const satin::Picture again = satin::decode_picture(bytes, "again", options_of());
  require(again.gain_map && again.gain_map->pixels.shape() == picture.gain_map->pixels.shape());
  const satin::GainMapMetadata &before = picture.gain_map->metadata, &after = again.gain_map->metadata;
  const auto near = [](double a, double b) { return std::abs(a - b) <= 0x1p-24; };
  require(near(before.alternate_headroom, after.alternate_headroom));
  for (std::size_t i = 0; i < 3; ++i)
    require(near(before.channels[i].min, after.channels[i].min) &&
            near(before.channels[i].max, after.channels[i].max) &&
            near(before.channels[i].gamma, after.channels[i].gamma) &&
            near(before.channels[i].offset_hdr, after.channels[i].offset_hdr));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  static_cast<void>(satin::io::photo_source(bytes, bytes, 6));
  require(satin::io::jpeg_alone(bytes).size() <= size);
  if (const auto plain = satin::io::from_base64(satin::io::text_of(bytes)))
    require(satin::io::from_base64(satin::io::to_base64(*plain)) == plain);
  try {
    const satin::Picture picture = satin::decode_picture(bytes, "x", options_of());
    check_kept(picture);
    check_gain_map(picture);
  } catch (const satin::Error& error) {
    require(error.kind() != satin::ErrorKind::usage);
  }
  return 0;
}
