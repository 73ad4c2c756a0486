// Shapes of the single-pass table's tiles, beside a copy of the same bytes: u8 -> u32, modulo 2^32.
// kernels/tuning.h says which of them are used.

#include "gpu_timing.cuh"
#include "kernels/single_pass_launch.cuh"

namespace {

using namespace satin::bench;
using namespace satin::kernels;
using single_pass::LargeTile;
using single_pass::SmallTile;
using single_pass::TileShape;

struct Size {
  int width;
  int height;
  int picture_row;  ///< elements
  int table_row;
};

template <class Shape>
double time_of_shape(const Size& size, const Rotation& in, const Rotation& out) {
  TableArguments arguments;
  arguments.tiles = single_pass::tiles_of(size.width, size.height, Shape::width);
  const DeviceBytes workspace(single_pass::Layout(arguments.tiles, nullptr).bytes, 1);
  check(cudaMemset(workspace.data, 0, workspace.size));
  check(cudaDeviceSynchronize());
  arguments.workspace = workspace.data;
  return time_of([&](int i) {
    arguments.picture = {static_cast<const std::byte*>(in[i]), size.picture_row};
    arguments.table = {static_cast<std::byte*>(out[i]), 4 * std::int64_t{size.table_row}};
    single_pass::launch<Shape>(arguments, {}, stream());
  });
}

void bench(const Size& size) {
  const auto height = static_cast<std::size_t>(size.height);
  const std::size_t pixels = static_cast<std::size_t>(size.width) * height;
  const std::size_t in_bytes = static_cast<std::size_t>(size.picture_row) * height;
  const std::size_t out_bytes = 4 * static_cast<std::size_t>(size.table_row) * height;
  const Rotation in(in_bytes, in_bytes + out_bytes);
  const Rotation out(out_bytes, in_bytes + out_bytes);
  const double copy = time_of_copy(in, pixels, out, 4 * pixels);
  const double times[] = {
      time_of_shape<LargeTile>(size, in, out),
      time_of_shape<SmallTile>(size, in, out),
      time_of_shape<TileShape<1, 16, 8, 2>>(size, in, out),
  };
  std::printf("| %d x %d | %d, %d | %.4f |", size.width, size.height, size.picture_row, size.table_row, copy);
  for (const double time : times) std::printf(" %.4f (%.2f) |", time, copy / time);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main() {
  std::printf(
      "| u8 -> u32 | rows, in elements | copy ms | 256 x 128 | 128 x 128 | 128 x 128, 16 warps |\n"
      "|---|---|---|---|---|---|\n");
  for (const int side : {512, 1024, 1280, 1536, 1792, 2048, 4096, 8192, 16384})
    bench({side, side, side, side});
  bench({3840, 2160, 3840, 3840});
  bench({4001, 3003, 4001, 4001});
  // What rows cost that are not aligned, those of the picture, of the table, and both.
  bench({8192, 8101, 8192, 8192});
  bench({8191, 8101, 8192, 8192});
  for (const int row : {8191, 8193, 8194}) {
    bench({8191, 8101, row, 8192});
    bench({8191, 8101, 8192, row});
    bench({8191, 8101, row, row});
  }
}
