#include "kernels/means/map_gather.cuh"

namespace satin::kernels {
namespace {

template <int Channels>
void gather_channels(const MapGatherArguments& arguments, StreamHandle stream) {
  constexpr int columns = warp_size * tuning::map_gather_warps;
  constexpr int rows = tuning::map_gather_rows;
  const dim3 blocks(static_cast<unsigned>((arguments.width + columns - 1) / columns),
                    static_cast<unsigned>((arguments.height + rows - 1) / rows));
  gather_map_means<Channels><<<blocks, columns, 0, stream>>>(arguments);
}

}  // namespace

void gather_by_map(const MapGatherArguments& arguments, StreamHandle stream) {
  switch (arguments.channels) {
    case 1:
      return gather_channels<1>(arguments, stream);
    case 2:
      return gather_channels<2>(arguments, stream);
    case 3:
      return gather_channels<3>(arguments, stream);
    default:
      return gather_channels<4>(arguments, stream);
  }
}

}  // namespace satin::kernels
