// Reads a picture file, filters it and writes the result with what the file carries beside the pixels:
// files INPUT OUTPUT. Without arguments it makes a picture of its own first.

#include <satin/filters.h>
#include <satin/io.h>

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

namespace {

void write_stripes(const std::string& path) {
  constexpr satin::Shape shape{96, 64, 3, satin::Type::u8};
  std::vector<std::uint8_t> pixels(satin::byte_size(shape));
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = i / 24 % 2 == 0 ? 30 : 220;
  satin::write_image(path, satin::view_of(pixels.data(), shape), {.overwrite = true});
}

}  // namespace

int main(int count, char** arguments) {
  const std::string input = count > 1 ? arguments[1] : "stripes.png";
  const std::string output = count > 2 ? arguments[2] : "soft.png";
  try {
    if (count == 1) write_stripes(input);
    const satin::Device device = satin::Device::open("auto");
    const satin::Picture photo = satin::read_picture(input);
    const satin::Image soft = satin::blur(device, photo.image, {.radius = 4});
    satin::write_image(output, soft, {.overwrite = true, .metadata = photo.metadata});
  } catch (const satin::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  std::cout << "Wrote " << output << "\n";
  return 0;
}
