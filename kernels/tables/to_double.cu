// Sums in fixed point -> the same sums as doubles, in place.

#include <cstdint>

#include "kernels/device/launch.h"
#include "kernels/device/tuning.h"
#include "kernels/pixels/read.cuh"
#include "kernels/tables/launch.h"

namespace satin::kernels {
namespace {

__global__ void __launch_bounds__(tuning::to_double_threads)
    convert_sums(const __grid_constant__ ToDoubleArguments arguments) {
  const FixedExponents exponents = exponents_of(arguments.read, arguments.squared, arguments.measured);
  const double scale = power_of_two(-exponents.colour);
  const std::int64_t elements = arguments.width * arguments.read.channels;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  for (std::int64_t y = blockIdx.y; y < arguments.height; y += gridDim.y) {
    std::byte* entry =
        arguments.table.data + y * arguments.table.row + i * static_cast<std::int64_t>(sizeof(double));
    const double sum = static_cast<double>(*reinterpret_cast<const std::int64_t*>(entry));
    *reinterpret_cast<double*>(entry) = sum * scale;
  }
}

}  // namespace

void to_double(const ToDoubleArguments& arguments, StreamHandle stream) {
  constexpr std::int64_t most_rows = 65535;
  const std::int64_t elements = arguments.width * arguments.read.channels;
  const std::int64_t columns = (elements + tuning::to_double_threads - 1) / tuning::to_double_threads;
  const dim3 blocks(static_cast<unsigned>(columns),
                    static_cast<unsigned>(arguments.height < most_rows ? arguments.height : most_rows));
  convert_sums<<<blocks, tuning::to_double_threads, 0, stream>>>(arguments);
}

}  // namespace satin::kernels
