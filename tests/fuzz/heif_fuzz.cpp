// libFuzzer: HEIC and AVIF files pass the reader of boxes and, through the module, libheif. The result is a
// picture with its depth and mattes, or an Error. Files of heif-enc are a starting corpus. If the module
// cannot be loaded, only the boxes are read.

#include <cstdint>
#include <cstdlib>

#include "metadata/heif_boxes.h"
#include "satin/error.h"
#include "satin/io.h"

namespace {

void read_boxes(std::span<const std::byte> bytes) {
  static_cast<void>(satin::io::is_whole_heif(bytes));
  const auto picture = satin::io::read_heif_boxes(bytes);
  if (picture && (picture->orientation < 1 || picture->orientation > 8 || picture->bits < 8)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  read_boxes(bytes);
  satin::ReadOptions options;
  options.limits.pixels = std::uint64_t{1} << 18;
  options.limits.bytes = std::uint64_t{1} << 24;
  options.photo_depth = true;
  try {
    static_cast<void>(satin::decode_picture(bytes, "x.heic", options));
  } catch (const satin::Error& error) {
    if (error.kind() == satin::ErrorKind::usage) std::abort();
  }
  return 0;
}
