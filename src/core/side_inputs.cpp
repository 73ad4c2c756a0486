#include "core/side_inputs.h"

#include <string>

#include "satin/error.h"

namespace satin {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

}  // namespace

void check_side_shape(const Shape& side, const Shape& picture, const char* name) {
  if (side.channels != 1)
    refuse(std::string("The ") + name + " has " + std::to_string(side.channels) +
           " channels: give one channel.");
  if (side.width != picture.width || side.height != picture.height)
    refuse(std::string("The ") + name + " is " + std::to_string(side.width) + " x " +
           std::to_string(side.height) + ", but the picture is " + std::to_string(picture.width) + " x " +
           std::to_string(picture.height) + ": they must have one size.");
  if (side.frames != 1 && side.frames != picture.frames)
    refuse(std::string("The ") + name + " needs one frame, or as many as the picture.");
}

void check_mask(const Shape& mask, const Shape& picture) {
  check_side_shape(mask, picture, "mask");
  if (mask.type != Type::u8 && mask.type != Type::u16)
    refuse(std::string("The mask is of type ") + name_of(mask.type) + ": u8 and u16 are possible.");
}

std::uint32_t mask_maximum(const Shape& mask) {
  if (mask.width == 0) return 0;
  return mask.type == Type::u8 ? 0xFF : 0xFFFF;
}

Shape shape_of(const ImageView& view) { return view.empty() ? Shape{} : view.shape; }

}  // namespace satin
