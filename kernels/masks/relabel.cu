// Labels through a table.

#include "kernels/device/tuning.h"
#include "kernels/masks/label.h"

namespace satin::kernels {
namespace {

constexpr int threads = tuning::relabel_threads;

/// One thread a pixel; rows beyond the largest grid are taken in turns.
template <class T>
__global__ void __launch_bounds__(threads) look_up(const __grid_constant__ RelabelArguments arguments) {
  const std::int64_t x = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (x >= arguments.job.width) return;
  for (std::int64_t y = blockIdx.y; y < arguments.job.height; y += gridDim.y) {
    const auto* labels =
        reinterpret_cast<const std::uint32_t*>(arguments.labels.data + y * arguments.labels.row);
    auto* out = reinterpret_cast<T*>(arguments.output.data + y * arguments.output.row);
    out[x] = static_cast<T>(arguments.table[labels[x]]);
  }
}

}  // namespace

void relabel(const RelabelArguments& arguments, StreamHandle stream) {
  constexpr std::int64_t most_rows = 65535;
  const dim3 grid(static_cast<unsigned>((arguments.job.width + threads - 1) / threads),
                  static_cast<unsigned>(arguments.job.height < most_rows ? arguments.job.height : most_rows));
  switch (arguments.job.output) {
    case Type::u8:
      return look_up<std::uint8_t><<<grid, threads, 0, stream>>>(arguments);
    case Type::u16:
      return look_up<std::uint16_t><<<grid, threads, 0, stream>>>(arguments);
    default:
      return look_up<std::uint32_t><<<grid, threads, 0, stream>>>(arguments);
  }
}

}  // namespace satin::kernels
