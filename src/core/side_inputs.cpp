#include "core/side_inputs.h"

#include "satin/error.h"

namespace satin {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

}  // namespace

void check_side_size(const Shape& side, const Shape& picture, const char* name) {
  if (side.width != picture.width || side.height != picture.height)
    refuse(std::string("The ") + name + " is " + std::to_string(side.width) + " x " +
           std::to_string(side.height) + ", but the picture is " + std::to_string(picture.width) + " x " +
           std::to_string(picture.height) + ": they must have one size.");
  if (side.frames != 1 && side.frames != picture.frames)
    refuse(std::string("The ") + name + " needs one frame, or as many as the picture.");
}

void check_side_map(const Shape& side, const Shape& picture, const char* name) {
  if (side.channels != 1)
    refuse(std::string("The ") + name + " has " + std::to_string(side.channels) +
           " channels: give one channel.");
  check_side_size(side, picture, name);
}

std::uint32_t checked_mask_maximum(const Shape& mask, const Shape& picture) {
  if (mask.width == 0) return 0;
  check_side_map(mask, picture, "mask");
  if (mask.type != Type::u8 && mask.type != Type::u16)
    refuse(std::string("The mask is of type ") + name_of(mask.type) + ": u8 and u16 are possible.");
  return mask.type == Type::u8 ? 0xFF : 0xFFFF;
}

}  // namespace satin
