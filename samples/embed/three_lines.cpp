// Filters pixels in a vector.

#include <satin/filters.h>
#include <satin/io.h>

#include <cstdint>
#include <vector>

int main() {
  const std::int64_t width = 32;
  const std::int64_t height = 16;
  const std::vector<std::uint8_t> pixels(static_cast<std::size_t>(width * height) * 3, 77);

  const satin::Device device = satin::Device::open("auto");
  const satin::ImageView photo = satin::view_of(pixels, {width, height, 3, satin::Type::u8});
  const satin::Image soft = satin::blur(device, photo, {.radius = 12.5});

  const bool constant = soft.view().value<std::uint8_t>(31, 15, 2) == 77;
  return constant && !satin::encode_image(soft, ".png").empty() ? 0 : 1;
}
