#include <type_traits>

#include "core/with_type.h"
#include "kernels/means/launch.h"

namespace satin::kernels {

void box_mean(const BoxMeanArguments& arguments, StreamHandle stream) {
  with_type(arguments.output_type, [&]<class T>() {
    if constexpr (!std::is_same_v<T, std::int32_t> && !std::is_same_v<T, double>)  // types of pixels
      box_mean_to<T>(arguments, stream);
  });
}

}  // namespace satin::kernels
