// Ways to start and to shape the single-pass table, beside a copy of the same bytes: u8 -> u32, modulo 2^32.
// kernels/tuning.h says which of them are used.

#include "gpu_timing.cuh"
#include "kernels/single_pass_launch.cuh"

namespace {

using namespace satin::bench;
using namespace satin::kernels;
using single_pass::LargeTile;
using single_pass::SmallTile;
using single_pass::Start;
using single_pass::TileShape;

struct Size {
  int width;
  int height;
};

template <class Shape, Start How>
double time_of_variant(const Size& size, const Rotation& in, const Rotation& out) {
  TableArguments arguments;
  arguments.tiles = single_pass::tiles_of(size.width, size.height, Shape::width);
  const DeviceBytes workspace(single_pass::Layout(arguments.tiles, nullptr).bytes, 1);
  check(cudaMemset(workspace.data, 0, workspace.size));
  check(cudaDeviceSynchronize());
  arguments.workspace = workspace.data;
  return time_of([&](int i) {
    arguments.picture = {static_cast<const std::byte*>(in[i]), size.width};
    arguments.table = {static_cast<std::byte*>(out[i]), 4 * std::int64_t{size.width}};
    single_pass::launch<Shape, How>(arguments, stream());
  });
}

void bench(const Size& size) {
  const std::size_t pixels = static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
  const Rotation in(pixels, 5 * pixels);
  const Rotation out(4 * pixels, 5 * pixels);
  const double copy = time_of_copy(in, pixels, out, 4 * pixels);
  const double times[] = {
      time_of_variant<LargeTile, Start::index>(size, in, out),
      time_of_variant<LargeTile, Start::ticket>(size, in, out),
      time_of_variant<LargeTile, Start::ticket_and_prefetch>(size, in, out),
      time_of_variant<SmallTile, Start::index>(size, in, out),
      time_of_variant<SmallTile, Start::ticket>(size, in, out),
      time_of_variant<SmallTile, Start::ticket_and_prefetch>(size, in, out),
      time_of_variant<TileShape<1, 8, 16, 4>, Start::ticket_and_prefetch>(size, in, out),
      time_of_variant<TileShape<2, 8, 16, 2>, Start::ticket_and_prefetch>(size, in, out),
  };
  std::printf("| %d x %d | %.4f |", size.width, size.height, copy);
  for (const double time : times) std::printf(" %.4f (%.2f) |", time, copy / time);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main() {
  std::printf(
      "| u8 -> u32 | copy ms | 256 x 128: index | ticket | and prefetch | 128 x 128: index | ticket | and "
      "prefetch "
      "| 128 x 128, 8 warps | 256 x 128, 16 warps |\n|---|---|---|---|---|---|---|---|---|---|\n");
  for (const Size& size :
       {Size{512, 512}, Size{1024, 1024}, Size{2048, 2048}, Size{3840, 2160}, Size{4096, 4096},
        Size{8192, 8192}, Size{16384, 16384}, Size{4001, 3003}, Size{8191, 8101}})
    bench(size);
}
