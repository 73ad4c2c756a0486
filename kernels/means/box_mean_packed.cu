// Box mean of bytes with one whole radius up to 90 or so, without a table: column sums of 16 bits, two a
// word.
//
// A block's warps stand above each other in a tile (means/tiling.h), each with all spans of its rows. They
// first sum the window above the tile together, and each what its rows add to it and take away; a scan over
// the warps gives where each of them starts. Then they go their own ways without a barrier: each goes down
// its rows, adds the row that enters its windows and subtracts the one that leaves, and slides the window
// along the row. A tile is as wide as its spans, less what only surrounds its windows.
//
// Not a policy of box_mean_running.cuh: its loop has 12 sums of 32 bits a lane in registers and two barriers
// a row, this one 16 or 24 of 16 bits in shared memory and none.
//
// Bytes moved per pixel: the output, the picture once from memory, and twice or three times from the L1.
// About 9 instructions a byte, so that the issue of instructions is the limit.

#include <algorithm>
#include <cstdint>

#include "core/with_type.h"
#include "kernels/device/shared_memory.cuh"
#include "kernels/means/packed_columns.cuh"
#include "kernels/means/packed_means.cuh"

namespace satin::kernels {
namespace {

template <int Channels, int Shift, bool Plain>
class PackedWindows {
 public:
  using Shape = PackedShape<Channels>;

  __device__ PackedWindows(const PackedMeanArguments& arguments, const PackedPart& part,
                           const PackedShared<Channels>& shared, int warp)
      : arguments_(arguments),
        part_(part),
        shared_(shared),
        reader_(arguments, part),
        warp_(warp),
        slot_words_(Shape::slot_words(arguments.job, arguments.tiles)),
        slot_(shared.sums + warp * slot_words_) {}

  /// All warps of the block call this together.
  __device__ void run() {
    sum_first_window();
    sum_differences();
    __syncthreads();
    scan_slots();
    clear_margin();
    __syncthreads();
    write_rows();
  }

 private:
  /// The window one row above the tile, into the slot of the first warp, which is zero: each warp adds a
  /// share of the rows of one span, or of several.
  __device__ void sum_first_window() {
    const int window = 2 * arguments_.job.reach_y + 1;
    const int shares = max(packed_warps / part_.spans, 1);
#pragma unroll 1
    for (int task = warp_; task < shares * part_.spans; task += packed_warps) {
      const int s = task % part_.spans;
      const int share = task / part_.spans;
      if (!reader_.move_to(s)) continue;
      PackedColumns<Channels> columns;
      columns.clear();
      columns.add_rows(reader_, shared_.rows, window * share / shares, window * (share + 1) / shares);
      std::uint32_t* to = sums_at(shared_.sums, s);
#pragma unroll
      for (int i = 0; i < Shape::pairs; ++i) atomicAdd(to + i, columns.sums[i]);
    }
  }

  /// What the rows of the warp above add to its window, into the slot of this warp.
  __device__ void sum_differences() {
    if (warp_ == 0) return;
    const int window = 2 * arguments_.job.reach_y + 1;
    const int end = part_.first_y - part_.tile.first_y;
    const int first = part_.first_of(warp_ - 1) - part_.tile.first_y;
#pragma unroll 1
    for (int s = 0; s < part_.spans; ++s) {
      PackedColumns<Channels> columns;
      columns.clear();
      if (reader_.move_to(s)) columns.add_differences(reader_, shared_.rows, first, end, window);
      store_words(sums_at(slot_, s), columns.sums);
    }
  }

  /// The window one row above each warp: sums of slots, column by column.
  __device__ void scan_slots() {
    std::uint32_t* first = shared_.sums + Shape::margin_words(arguments_.job.reach_x);
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x) * 4; i < part_.spans * Shape::span_words;
         i += packed_threads * 4) {
      uint4 sum = *reinterpret_cast<const uint4*>(first + i);
#pragma unroll 4
      for (int w = 1; w < packed_warps; ++w) {
        auto* at = reinterpret_cast<uint4*>(first + i + w * slot_words_);
        const uint4 more = *at;
        sum = make_uint4(sum.x + more.x, sum.y + more.y, sum.z + more.z, sum.w + more.w);
        *at = sum;
      }
    }
  }

  __device__ void clear_margin() {
    const int margin = Shape::margin_words(arguments_.job.reach_x);
    for (int i = lane_index(); i < margin; i += warp_size) slot_[i] = 0;
  }

  __device__ void write_rows() {
    PackedMeans<Channels, Shift> means(arguments_, part_, shared_, slot_, warp_);
    const int spans = part_.spans;
    if (part_.first_y < part_.last_y) fetch(0, part_.first_y);
#pragma unroll 1
    for (int y = part_.first_y; y < part_.last_y; ++y) {
      means.start_row(y);
#pragma unroll 1
      for (int s = 0; s < spans; ++s) {
        PackedColumns<Channels> columns;
        load_words(sums_at(slot_, s), columns.sums);
        columns.template add<-1>(enters_, leaves_);
        const bool same_row = s + 1 < spans;
        if (same_row || y + 1 < part_.last_y) fetch(same_row ? s + 1 : 0, same_row ? y : y + 1);
        store_words(sums_at(slot_, s), columns.sums);
        __syncwarp();
        means.write(s, columns.sums);
      }
    }
  }

  /// Loads what the windows of row y have and those above do not, and the other way round.
  __device__ void fetch(int s, int y) {
    const int* leaves = shared_.rows + y - part_.tile.first_y;
    reader_.move_to(s);
    reader_.load(leaves[2 * arguments_.job.reach_y + 1], enters_);
    reader_.load(leaves[0], leaves_);
  }

  /// The lane's sums of a span of a slot.
  [[nodiscard]] __device__ std::uint32_t* sums_at(std::uint32_t* slot, int s) const {
    return slot + Shape::margin_words(arguments_.job.reach_x) + s * Shape::span_words +
           lane_index() * Shape::pairs;
  }

  const PackedMeanArguments& arguments_;
  const PackedPart& part_;
  const PackedShared<Channels>& shared_;
  PackedReader<Channels, Plain> reader_;
  int warp_;
  int slot_words_;
  std::uint32_t* slot_;  ///< the warp's row of sums, with its margin
  typename Shape::Rows::Words enters_{};
  typename Shape::Rows::Words leaves_{};
};

/// The rows of the picture that the tile sees, and divisions of clipped windows.
template <int Channels>
__device__ void fill_shared(const PackedMeanArguments& arguments, const PackedPart& part,
                            const PackedShared<Channels>& shared) {
  using Shape = PackedShape<Channels>;
  const PackedMeanJob& job = arguments.job;
  const auto thread = static_cast<int>(threadIdx.x);
  const int first_row = part.tile.first_y - 1 - job.reach_y;
  const int count = part.tile.last_y + job.reach_y - first_row;
  for (int i = thread; i < count; i += packed_threads) shared.rows[i] = __ldg(arguments.rows + first_row + i);
  const int slot_words = Shape::slot_words(job, arguments.tiles);
  for (int i = thread; i < slot_words; i += packed_threads) shared.sums[i] = 0;
  const bool whole = part.first_x >= job.reach_x && part.last_needed < job.width;
  if (!job.clipped || whole) return;
  for (int i = thread; i < arguments.tiles.spans * Shape::span_pixels; i += packed_threads) {
    const int columns = max(window_pixels(part.origin - job.reach_x + i, job.reach_x, job.width, true), 1);
    shared.divisions[i] = ByteDivision(columns * (2 * job.reach_y + 1));
  }
}

template <int Channels, int Shift>
__global__ void __launch_bounds__(packed_threads, packed_tuning::blocks_per_multiprocessor)
    average_packed(const __grid_constant__ PackedMeanArguments arguments) {
  extern __shared__ uint4 memory[];
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const PackedPart part = packed_part(arguments, PackedShape<Channels>::pixels, warp);
  const PackedShared<Channels> shared(memory, arguments);
  fill_shared<Channels>(arguments, part, shared);
  __syncthreads();
  if (PackedReader<Channels, true>::serves(arguments, part)) {  // the same for every warp
    PackedWindows<Channels, Shift, true>(arguments, part, shared, warp).run();
  } else {
    PackedWindows<Channels, Shift, false>(arguments, part, shared, warp).run();
  }
}

/// Calls action(PackedShape, kernel) for the job's channels and where in a chunk its windows begin.
template <class Action>
auto with_packed_kernel(const PackedMeanJob& job, const Action& action) {
  return with_channels(job.channels, [&]<int Channels>() {
    constexpr PackedShape<Channels> shape;
    const int shift = Channels * (2 * job.reach_x + 1) % PackedShape<Channels>::chunk;
    if constexpr (Channels == 4) {
      return action(shape, average_packed<4, 4>);
    } else if constexpr (Channels == 2) {
      return shift == 2 ? action(shape, average_packed<2, 2>) : action(shape, average_packed<2, 6>);
    } else {
      if (shift == 1) return action(shape, average_packed<Channels, 1>);
      if (shift == 3) return action(shape, average_packed<Channels, 3>);
      if (shift == 5) return action(shape, average_packed<Channels, 5>);
      return action(shape, average_packed<Channels, 7>);
    }
  });
}

}  // namespace

SlidingTiles tiles_of(const PackedMeanJob& job, int multiprocessors, std::size_t shared_limit) {
  return with_packed_kernel(job, [&](auto shape, auto*) {
    using Shape = decltype(shape);
    SlidingTileRules rules{job.width, job.height, multiprocessors, Shape::pixels};
    rules.fewest_rows = true;
    rules.start_cost = 4 * (2 * job.reach_y + 1) + packed_tuning::cost_of_start;
    rules.row_cost = packed_tuning::cost_of_row + 8;
    rules.turn = packed_warps;
    rules.beside_cost = packed_tuning::cost_of_row / 4;
    SlidingTiler tiler(rules);
    const int behind = (Shape::pixels - job.reach_x % Shape::pixels) % Shape::pixels;
    for (int spans = 1; spans <= packed_tuning::most_spans; ++spans) {
      const int columns = spans * Shape::span_pixels;
      const int usable = (columns - 2 * job.reach_x - behind) / Shape::pixels * Shape::pixels;
      if (usable < columns / 4) continue;
      tiler.consider(
          spans, usable, packed_tuning::most_blocks,
          [&](const SlidingTiles& tiles) { return Shape::bytes(job, tiles); }, shared_limit);
    }
    return tiler.best();
  });
}

int prepare_mean(const PackedMeanArguments& arguments) {
  return with_packed_kernel(arguments.job,
                            [&](auto, auto* kernel) { return allow_all_shared_memory(kernel); });
}

void launch_mean(const PackedMeanArguments& arguments, StreamHandle stream) {
  with_packed_kernel(arguments.job, [&](auto, auto* kernel) {
    const SlidingTiles& tiles = arguments.tiles;
    const dim3 blocks(static_cast<unsigned>(tiles.columns), static_cast<unsigned>(tiles.rows));
    kernel<<<blocks, packed_threads, tiles.shared_bytes, stream>>>(arguments);
  });
}

}  // namespace satin::kernels
