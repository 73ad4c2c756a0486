#include "kernels/means/box_mean.cuh"
#include "kernels/means/launch.h"

namespace satin::kernels {

extern template void box_mean_to<std::uint8_t>(const BoxMeanArguments&, StreamHandle);
extern template void box_mean_to<std::uint16_t>(const BoxMeanArguments&, StreamHandle);
extern template void box_mean_to<std::uint32_t>(const BoxMeanArguments&, StreamHandle);
extern template void box_mean_to<std::uint64_t>(const BoxMeanArguments&, StreamHandle);
extern template void box_mean_to<float>(const BoxMeanArguments&, StreamHandle);

void box_mean(const BoxMeanArguments& arguments, StreamHandle stream) {
  switch (arguments.output_type) {
    case Type::u8:
      return box_mean_to<std::uint8_t>(arguments, stream);
    case Type::u16:
      return box_mean_to<std::uint16_t>(arguments, stream);
    case Type::u32:
      return box_mean_to<std::uint32_t>(arguments, stream);
    case Type::u64:
      return box_mean_to<std::uint64_t>(arguments, stream);
    case Type::f32:
      return box_mean_to<float>(arguments, stream);
    case Type::i32:
    case Type::f64:
      return;  // no pixels
  }
}

}  // namespace satin::kernels
