// Writes one small file of every format, with metadata, to start the fuzzer from.

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>

#include "satin/error.h"
#include "satin/io.h"

namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

satin::Metadata metadata() {
  satin::Metadata result;
  // One directory with orientation 6 and an ASCII tag.
  result.exif =
      bytes_of({"II*\0\10\0\0\0\2\0\x0f\1\2\0\3\0\0\0ab\0\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0", 38});
  result.xmp = bytes_of("<x:xmpmeta><a tiff:Orientation=\"6\"/></x:xmpmeta>");
  result.iptc = bytes_of({"\x1c\2\x78\0\3abc", 8});
  result.resolution = satin::Resolution{300, 150, satin::Resolution::Unit::inch};
  result.jpeg_comments = {bytes_of("comment")};
  result.png_texts = {{"tEXt", bytes_of({"Title\0text", 10})}};
  result.png_time = bytes_of({"\7\xe0\2\3\4\5\6", 7});
  result.significant_bits = {5, 6, 5};
  result.png.code_points = {1, 13, 0, 1};
  return result;
}

void write(const std::filesystem::path& folder, const satin::FormatInfo& format, satin::Type type,
           int channels) {
  satin::Shape shape;
  shape.width = 9;
  shape.height = 7;
  shape.channels = channels;
  shape.type = type;
  satin::Image image(shape);
  std::fill_n(image.data(), satin::byte_size(shape), std::byte{0});
  for (std::size_t i = 0; type == satin::Type::u8 && i < satin::byte_size(shape); ++i)
    image.data()[i] = static_cast<std::byte>(format.name == "PBM" ? 255 : i * 37);
  satin::WriteOptions options;
  options.overwrite = true;
  options.metadata = metadata();
  const std::string name = std::string(satin::name_of(type)) + "_" + std::to_string(channels);
  try {
    satin::write_image(folder / (name + format.extensions.front()), image, options);
  } catch (const satin::Error&) {
    return;  // the format does not hold this shape
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "Usage: satin_fuzz_corpus FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  std::filesystem::create_directories(folder);
  for (const satin::FormatInfo& format : satin::formats())
    for (const satin::Type type : {satin::Type::u8, satin::Type::u16, satin::Type::f32})
      for (const int channels : {1, 3})
        if (format.writes) write(folder, format, type, channels);
  return 0;
}
