// Shapes of the single-pass table's tiles, beside a copy of the same bytes.
// kernels/tables/single_pass_launch.cuh says which of them are used for what.

#include "kernels/tables/launch.h"
#include "kernels/tables/single_pass_launch.cuh"
#include "tests/bench/gpu_timing.cuh"

namespace {

using namespace satin::bench;
using namespace satin::kernels;
using namespace satin::kernels::single_pass;

struct Size {
  int width;
  int height;
  int picture_row;  ///< elements
  int table_row;
};

template <class Pixels>
Size dense(int width, int height) {
  return {width, height, width * Pixels::channels, width * Pixels::channels};
}

template <class Tiling>
double time_of_tiling(const Size& size, const Rotation& in, const Rotation& out) {
  TableArguments arguments;
  arguments.tiles = tiles_of(size.width, size.height, Tiling::sizes);
  const DeviceBytes workspace(Layout(arguments.tiles, Tiling::sizes, nullptr).bytes, 1);
  check(cudaMemset(workspace.data, 0, workspace.size));
  check(cudaDeviceSynchronize());
  arguments.workspace = workspace.data;
  constexpr std::int64_t element = sizeof(typename Tiling::Pixels::Element);
  constexpr std::int64_t sum = sizeof(typename Tiling::Sum);
  return time_of([&](int i) {
    arguments.picture = {static_cast<const std::byte*>(in[i]), element * size.picture_row};
    arguments.table = {static_cast<std::byte*>(out[i]), sum * size.table_row};
    launch<Tiling>(arguments, {}, stream());
  });
}

template <class Pixels, class... Shapes>
void bench(const char* name, const Size& size) {
  const auto height = static_cast<std::size_t>(size.height);
  const std::size_t elements = static_cast<std::size_t>(size.width) * Pixels::channels * height;
  constexpr std::size_t element = sizeof(typename Pixels::Element);
  constexpr std::size_t sum = sizeof(typename Pixels::Sum);
  const std::size_t in_bytes = element * static_cast<std::size_t>(size.picture_row) * height;
  const std::size_t out_bytes = sum * static_cast<std::size_t>(size.table_row) * height;
  const Rotation in(in_bytes, in_bytes + out_bytes);
  const Rotation out(out_bytes, in_bytes + out_bytes);
  const double copy = time_of_copy(in, element * elements, out, sum * elements);
  std::printf("| %s, %d x %d | %d, %d | %.4f |", name, size.width, size.height, size.picture_row,
              size.table_row, copy);
  for (const double time : {time_of_tiling<Tiling<Pixels, Shapes>>(size, in, out)...})
    std::printf(" %.4f (%.2f) |", time, copy / time);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main() {
  std::printf(
      "| table | rows, in elements | copy ms | ms by tiles, the largest first |\n|---|---|---|---|\n");
  using Bytes = Pixels<std::uint8_t, 1, std::uint32_t>;
  const auto bench_bytes = [](const Size& size) {
    bench<Bytes, LargeTile, MediumTile, SmallTile>("u8 -> u32", size);
  };
  for (const int side : {512, 1024, 1536, 2048, 2560, 3072, 4096, 8192, 16384})
    bench_bytes(dense<Bytes>(side, side));
  bench_bytes(dense<Bytes>(3840, 2160));
  bench_bytes(dense<Bytes>(4001, 3003));
  // Rows of the picture, of the table, and both that are not aligned.
  bench_bytes({8191, 8101, 8192, 8192});
  bench_bytes({8191, 8101, 8192, 8196});
  bench_bytes({8191, 8101, 8192, 8200});
  for (const int row : {8191, 8193, 8194}) {
    bench_bytes({8191, 8101, row, 8192});
    bench_bytes({8191, 8101, 8192, row});
    bench_bytes({8191, 8101, row, row});
  }
  using Rgb = Pixels<std::uint8_t, 3, std::uint32_t>;
  using Rgba = Pixels<std::uint8_t, 4, std::uint32_t>;
  using Halves = Pixels<std::uint16_t, 1, std::uint64_t>;
  for (const int side : {2048, 4096, 8192}) {
    bench<Rgb, RgbTile>("u8 RGB -> u32", dense<Rgb>(side, side));
    bench<Rgba, LargeRgbaTile, SmallRgbaTile>("u8 RGBA -> u32", dense<Rgba>(side, side));
    bench<Halves, PairTile>("u16 -> u64", dense<Halves>(side, side));
  }
}
