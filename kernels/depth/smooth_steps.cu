// Removes the steps of 8-bit depth (depth/smooth_steps.h), by tiles of 96 x 64 pixels. A block reads the
// codes of its tile with a halo of step_reach, marks the edges, and reads the windows of its pixels from a
// table in shared memory: global memory is read and written once.

#include "kernels/depth/launch.h"
#include "kernels/device/shared_memory.cuh"
#include "kernels/pixels/plane.cuh"
#include "kernels/tables/shared_table.cuh"

namespace satin::kernels {
namespace {

constexpr int steps_width = table_width - 2 * step_reach;
constexpr int steps_height = table_height - 2 * step_reach;

/// Codes of the table's pixels and their neighbours, four in a word; the table's begin at the second word.
constexpr int code_words = lane_pixels * warp_size / 4 + 2;
constexpr int code_rows = table_height + 2;
static_assert(lane_pixels == 4, "a word for each lane");
static_assert(code_words * code_rows * 4 <= SharedTable::bytes, "codes share the memory of the table");

class SmoothingTile {
 public:
  __device__ SmoothingTile(const SmoothStepsArguments& arguments, int column, int row, std::uint32_t* memory)
      : arguments_(arguments),
        left_(column * steps_width - step_reach),
        top_(row * steps_height - step_reach),
        table_(memory),
        codes_(memory) {}

  __device__ void run() {
    read_codes();
    __syncthreads();
    find_edges();
    __syncthreads();
    table_.clear_border();
    table_.integrate([&](int r, std::uint32_t(&values)[lane_pixels]) {
#pragma unroll
      for (int p = 0; p < lane_pixels; ++p)
        values[p] = (own_[r] >> 8 * p & 0xFF) | (edges_ >> (r * lane_pixels + p) & 1U) << step_edge_bit;
    });
    __syncthreads();
    store();
  }

 private:
  [[nodiscard]] __device__ static int first_row() {
    return static_cast<int>(threadIdx.x) / warp_size * warp_rows;
  }
  [[nodiscard]] __device__ std::uint8_t* bytes() const { return reinterpret_cast<std::uint8_t*>(codes_); }

  /// Reads the codes; outside the image those of its border, so that there are no edges.
  __device__ void read_codes() {
    const SmoothStepsJob& job = arguments_.job;
    for (int row = static_cast<int>(threadIdx.x) / warp_size; row < code_rows; row += table_warps) {
      const std::int64_t y = clamped(top_ + row - 1, job.height);
      const auto* from = row_of<std::uint8_t>(arguments_.codes, y) + job.channel;
      for (int column = lane_index() - 1; column <= table_width; column += warp_size)
        bytes()[row * code_words * 4 + 4 + column] = from[clamped(left_ + column, job.width) * job.channels];
    }
  }
  [[nodiscard]] __device__ static std::int64_t clamped(int i, std::int64_t size) {
    return i < 0 ? 0 : i < size ? i : size - 1;
  }

  /// Finds the edges of step_value() for the four pixels of a lane at once, byte by byte of a word.
  __device__ void find_edges() {
    const int unknown = arguments_.job.unknown;
    const std::uint32_t unknowns = static_cast<std::uint32_t>(unknown & 0xFF) * 0x01010101U;
    const auto unknown_in = [&](std::uint32_t word) { return unknown < 0 ? 0 : __vcmpeq4(word, unknowns); };
    const std::uint32_t* word = codes_ + first_row() * code_words + lane_index() + 1;
#pragma unroll
    for (int r = 0; r < warp_rows; ++r) {
      word += code_words;
      const std::uint32_t own = own_[r] = *word;
      const std::uint32_t others[4] = {word[-code_words], word[code_words], __funnelshift_l(word[-1], own, 8),
                                       __funnelshift_r(own, word[1], 8)};
      std::uint32_t edges = unknown_in(own);
#pragma unroll
      for (const std::uint32_t other : others)
        edges |= __vabsdiffu4(own, other) & 0xFEFEFEFEU | unknown_in(other);
#pragma unroll
      for (int p = 0; p < lane_pixels; ++p)
        edges_ |= ((edges >> 8 * p & 0xFF) != 0 ? 1U : 0U) << (r * lane_pixels + p);
    }
  }

  __device__ void store() const {
    const SmoothStepsJob& job = arguments_.job;
    constexpr int pairs = steps_width / 2;
    const auto width = static_cast<int>(job.width);
    const auto height = static_cast<int>(job.height);
    for (int i = static_cast<int>(threadIdx.x); i < pairs * steps_height; i += table_threads) {
      const int row = i / pairs + step_reach;
#pragma unroll
      for (int odd = 0; odd < 2; ++odd) {
        const int column = i % pairs * 2 + odd + step_reach;
        const int x = left_ + column;
        const int y = top_ + row;
        if (x >= width || y >= height) continue;
        const int code =
            row_of<std::uint8_t>(arguments_.codes, y)[std::int64_t{x} * job.channels + job.channel];
        row_of<std::uint16_t>(arguments_.smoothed, y)[x] =
            smoothed_code(code, x, y, width, height, job.unknown,
                          [&](int reach) { return table_.window(column, row, reach); });
      }
    }
  }

  const SmoothStepsArguments& arguments_;
  int left_;  ///< position of the table in the image
  int top_;
  SharedTable table_;
  std::uint32_t* codes_;
  std::uint32_t own_[warp_rows];
  std::uint32_t edges_ = 0;
};
static_assert(warp_rows * lane_pixels <= 32, "one bit of edges_ for each pixel");

__global__ void __launch_bounds__(table_threads, 3)
    smooth_tiles(const __grid_constant__ SmoothStepsArguments arguments) {
  extern __shared__ uint4 table_memory[];
  const auto rows = static_cast<int>((arguments.job.height + steps_height - 1) / steps_height);
  for (auto row = static_cast<int>(blockIdx.y); row < rows; row += static_cast<int>(gridDim.y)) {
    SmoothingTile(arguments, static_cast<int>(blockIdx.x), row,
                  reinterpret_cast<std::uint32_t*>(table_memory))
        .run();
    __syncthreads();
  }
}

}  // namespace

int prepare_smooth_steps() { return allow_all_shared_memory(smooth_tiles); }

void smooth_steps(const SmoothStepsArguments& arguments, StreamHandle stream) {
  constexpr std::int64_t most_rows = 65535;
  const std::int64_t rows = (arguments.job.height + steps_height - 1) / steps_height;
  const dim3 grid(static_cast<unsigned>((arguments.job.width + steps_width - 1) / steps_width),
                  static_cast<unsigned>(rows < most_rows ? rows : most_rows));
  smooth_tiles<<<grid, table_threads, SharedTable::bytes, stream>>>(arguments);
}

}  // namespace satin::kernels
