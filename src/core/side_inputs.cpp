#include "core/side_inputs.h"

#include <cmath>

#include "satin/error.h"

namespace satin {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

std::string size_text(const Shape& shape) {
  return std::to_string(shape.width) + " x " + std::to_string(shape.height);
}

}  // namespace

void check_side_size(const Shape& side, const Shape& picture, const char* name, bool scales) {
  const bool same = side.width == picture.width && side.height == picture.height;
  if (!same && !(scales && has_aspect_of(picture, side)))
    refuse(std::string("The ") + name + " is " + size_text(side) + ", but the picture is " +
           size_text(picture) + ": they must have " +
           (scales ? "the same aspect. Crop or scale one of them." : "one size."));
  if (side.frames != 1 && side.frames != picture.frames)
    refuse(std::string("The ") + name + " needs one frame, or as many as the picture.");
}

void check_side_map(const Shape& side, const Shape& picture, const char* name, bool scales) {
  if (side.channels != 1)
    refuse(std::string("The ") + name + " has " + std::to_string(side.channels) +
           " channels: give one channel.");
  check_side_size(side, picture, name, scales);
}

std::uint32_t checked_mask_maximum(const Shape& mask, const Shape& picture, const char* name) {
  if (mask.width == 0) return 0;
  check_side_map(mask, picture, name);
  if (mask.type != Type::u8 && mask.type != Type::u16)
    refuse(std::string("The ") + name + " is of type " + name_of(mask.type) +
           ": u8 and u16 are possible, with 255 and 65535 for full strength.");
  return mask.type == Type::u8 ? 0xFF : 0xFFFF;
}

void check_radius_map(const Shape& map, const Shape& picture) {
  if (map.width == 0) return;
  check_side_map(map, picture, "radius map", true);
  check_type(map, "radius map");
}

void check_type(const Shape& shape, const char* name) {
  if (shape.type != Type::u8 && shape.type != Type::u16 && shape.type != Type::f32)
    refuse(std::string("The ") + name + " is of type " + name_of(shape.type) +
           ": u8, u16 and f32 are possible.");
}

void check_range(const char* name, double value, double minimum, double maximum) {
  if (!(value >= minimum && value <= maximum))
    refuse(std::string(name) + " " + print_real(value) + ": must be from " + print_real(minimum) + " to " +
           print_real(maximum) + ".");
}

void check_pixels(const Shape& shape) {
  validate(shape);
  if (shape.type != Type::u8 && shape.type != Type::u16 && shape.type != Type::f32)
    refuse(std::string("Pixels of type ") + name_of(shape.type) +
           " cannot be filtered: convert them to u8, u16 or f32.");
}

std::int64_t whole_pixels(const Length& radius, const Shape& shape, double largest) {
  const double pixels = radius.pixels(longer_side(shape));
  check_range("radius", pixels, 0, largest);
  if (!radius.percent && pixels != std::floor(pixels))
    refuse("radius " + print_real(pixels) + " pixels: whole pixels are expected.");
  return static_cast<std::int64_t>(std::floor(pixels + 0.5));
}

}  // namespace satin
