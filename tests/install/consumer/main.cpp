// What the README shows: blurs a picture in memory, and writes it to memory.
#include <satin/filters.h>
#include <satin/io.h>

#include <cstdint>
#include <vector>

int main() {
  const std::vector<std::uint8_t> pixels(32 * 16 * 3, 77);
  const satin::Device device = satin::Device::open("auto");
  const satin::ImageView photo = satin::view_of(pixels.data(), {32, 16, 3, satin::Type::u8});
  const satin::Image soft = satin::blur(device, photo, {.radius = 12.5});
  const bool constant = soft.view().value<std::uint8_t>(31, 15, 2) == 77;
  return constant && !satin::encode_image(soft, ".png").empty() ? 0 : 1;
}
