#pragma once
// Box mean of 8-bit pixels by a radius map, with the table in shared memory: a block marches down a strip of
// columns with the last rows of the strip's own table in a ring, the channels of an entry packed into one
// word.
//
// Three groups of warps work on batches of eight rows, each one batch behind the one before: the first scans
// source rows (a warp a row) into a staging buffer, the second adds them down the columns into the ring, the
// third writes the means whose windows are complete. One barrier a batch orders them: staging has two
// buffers, and the ring has room for the batch that is written beside the rows that are read.
//
// The table covers the picture extended by its border; of Border::shrink, where the extension is 0, only the
// divisor is clipped.
//
// Bytes moved per pixel: the output, the map, and each pixel of the source (strip + 2 reach) / strip times
// (band + 2 reach) / band, from the L2 but for once. Shared memory: two accesses of a word to build an entry,
// four reads a whole box.

#include <cstdint>
#include <type_traits>

#include "kernels/box_mean_strip.h"
#include "kernels/exact_division.cuh"
#include "kernels/lane_rows.cuh"
#include "kernels/packed_sums.cuh"
#include "kernels/tuning.h"

namespace satin::kernels {

inline constexpr int strip_batch = 8;  ///< rows
inline constexpr int strip_row_warps = strip_batch;
inline constexpr int strip_column_warps = 8;
inline constexpr int strip_gather_warps = tuning::strip_gather_warps;
inline constexpr int strip_threads = (strip_row_warps + strip_column_warps + strip_gather_warps) * warp_size;

template <int Channels>
struct StripShape {
  using Sum = typename PackedSums<Channels>::Sum;
  using Rows =
      LaneRows<std::uint8_t, Channels, std::conditional_t<Channels == 1, std::uint64_t, std::uint32_t>>;
  static constexpr int pixels = Rows::pixels;         ///< of a lane
  static constexpr int columns = warp_size * pixels;  ///< of the source
  static constexpr int pitch = columns + 1;           ///< entries of a row of the ring: the first is 0
  static constexpr int staged =
      columns + warp_size;  ///< entries of a staged row: one unused behind each lane's
  static constexpr int most_tasks =
      (columns / warp_size * strip_batch + strip_gather_warps - 1) / strip_gather_warps;
  static constexpr int codes = 256;  ///< of an 8-bit map

  __host__ __device__ static std::size_t bytes(int ring_rows, int reach) {
    return static_cast<std::size_t>(ring_rows * pitch + 2 * strip_batch * staged + 1) * sizeof(Sum) +
           static_cast<std::size_t>(reach + 1) * sizeof(ByteDivision) + codes * sizeof(Radius256);
  }
};

template <int Channels>
struct StripShared {
  using Shape = StripShape<Channels>;
  using Sum = typename Shape::Sum;
  Sum* ring;                ///< [ring_rows][pitch]
  Sum* staging;             ///< [2][strip_batch][staged]
  ByteDivision* divisions;  ///< [reach + 1]: of unclipped whole boxes
  Radius256* radii;         ///< [codes]: of the values of an 8-bit map

  __device__ StripShared(void* memory, int ring_rows, int reach)
      : ring(static_cast<Sum*>(memory)),
        staging(ring + (ring_rows * Shape::pitch + 1) / 2 * 2),
        divisions(reinterpret_cast<ByteDivision*>(staging + 2 * strip_batch * Shape::staged)),
        radii(reinterpret_cast<Radius256*>(divisions + reach + 1)) {}
};

/// What a block does: means of rows [first_y, last_y) and columns [first_x, last_x).
struct StripPart {
  int first_x, last_x;
  int first_y, last_y;
  int origin;   ///< position of the first column that is summed
  int batches;  ///< of source rows, from first_y - reach on
};

__device__ inline StripPart strip_part(const StripMeanArguments& arguments, int pixels) {
  const StripMeanJob& job = arguments.job;
  StripPart part{};
  part.first_x = static_cast<int>(blockIdx.x) * arguments.tiles.strip_width;
  part.last_x = min(part.first_x + arguments.tiles.strip_width, job.width);
  const auto band = static_cast<std::int64_t>(blockIdx.y);
  part.first_y = static_cast<int>(band * job.height / arguments.tiles.bands);
  part.last_y = static_cast<int>((band + 1) * job.height / arguments.tiles.bands);
  part.origin = part.first_x - (job.reach + pixels - 1) / pixels * pixels;
  part.batches = (part.last_y - part.first_y + 2 * job.reach + strip_batch - 1) / strip_batch;
  return part;
}

// --- The first group: rows ---

template <int Channels>
__device__ void scan_rows(const StripMeanArguments& arguments, const StripPart& part,
                          const StripShared<Channels>& shared, int warp) {
  using Shape = StripShape<Channels>;
  using Rows = typename Shape::Rows;
  using Sum = typename Shape::Sum;
  const StripMeanJob& job = arguments.job;
  const int x = part.origin + lane_index() * Shape::pixels;
  const Rows reader(arguments.source, x, part.last_x - 1 + job.reach, job.width, job.clipped,
                    arguments.columns);
  const int first = part.first_y - job.reach + warp;
  const int last = part.last_y - 1 + job.reach;
  typename Rows::Words next;
  const auto load = [&](int batch) {
    const int y = first + batch * strip_batch;
    reader.load(y <= last ? __ldg(arguments.rows + y) : -1, next);
  };
  load(0);
  for (int step = 0; step < part.batches + 2; ++step) {
    if (step < part.batches) {
      Sum prefix[Shape::pixels];
#pragma unroll
      for (int p = 0; p < Shape::pixels; ++p) {
        std::uint32_t values[Channels];
#pragma unroll
        for (int c = 0; c < Channels; ++c) values[c] = element<std::uint8_t>(next.words, p * Channels + c);
        prefix[p] = PackedSums<Channels>::pack(values) + (p == 0 ? Sum{0} : prefix[p - 1]);
      }
      if (step + 1 < part.batches) load(step + 1);
      const Sum own = prefix[Shape::pixels - 1];
      const Sum before = inclusive_scan(own) - own;
      Sum* to = shared.staging + ((step & 1) * strip_batch + warp) * Shape::staged +
                lane_index() * (Shape::pixels + 1);
#pragma unroll
      for (int p = 0; p < Shape::pixels; ++p) to[p] = before + prefix[p];
    }
    __syncthreads();
  }
}

// --- The second group: columns ---

template <int Channels>
__device__ void add_columns(const StripMeanArguments& arguments, const StripPart& part,
                            const StripShared<Channels>& shared, int thread) {
  using Shape = StripShape<Channels>;
  using Sum = typename Shape::Sum;
  constexpr int threads = strip_column_warps * warp_size;
  constexpr int per_thread = Shape::columns / threads;
  static_assert(per_thread * threads == Shape::columns);
  Sum sums[per_thread] = {};
  int slot = 0;
  for (int step = 0; step < part.batches + 2; ++step) {
    if (step > 0 && step <= part.batches) {
      const Sum* staged = shared.staging + ((step - 1) & 1) * strip_batch * Shape::staged;
#pragma unroll
      for (int k = 0; k < per_thread; ++k) {
        const int column = thread + k * threads;
        const Sum* from = staged + column + column / Shape::pixels;
        Sum* to = shared.ring + slot * Shape::pitch + column + 1;
        Sum values[strip_batch];
#pragma unroll
        for (int row = 0; row < strip_batch; ++row) values[row] = from[row * Shape::staged];
#pragma unroll
        for (int row = 0; row < strip_batch; ++row) {
          sums[k] += values[row];
          to[row * Shape::pitch] = sums[k];
        }
      }
      slot += strip_batch;  // the ring is a multiple of it
      if (slot == arguments.tiles.ring_rows) slot = 0;
    }
    __syncthreads();
  }
}

// --- The third group: means ---

/// The means of one warp: 32 pixels of one row at a time.
template <int Channels>
class StripGather {
 public:
  using Shape = StripShape<Channels>;
  using Sum = typename Shape::Sum;

  __device__ StripGather(const StripMeanArguments& arguments, const StripPart& part,
                         const StripShared<Channels>& shared, int warp)
      : arguments_(arguments),
        job_(arguments.job),
        part_(part),
        shared_(shared),
        warp_(warp),
        groups_((part.last_x - part.first_x + warp_size - 1) / warp_size) {}

  __device__ void run() {
    // Batch b completes the windows of rows from 8 b - 2 reach on.
    int slot = (arguments_.tiles.ring_rows - job_.reach) % arguments_.tiles.ring_rows;  // of row 8 b - reach
    fetch(part_.first_y - 2 * job_.reach);
    for (int step = 0; step < part_.batches + 2; ++step) {
      const int batch = step - 2;
      if (batch >= 0) {
        const int y = part_.first_y + batch * strip_batch - 2 * job_.reach;
        if (y + strip_batch > part_.first_y) write_batch(y, slot);
        if (batch + 1 < part_.batches) fetch(y + strip_batch);
        slot += strip_batch;
        if (slot >= arguments_.tiles.ring_rows) slot -= arguments_.tiles.ring_rows;
      }
      __syncthreads();
    }
  }

 private:
  struct Task {
    int x;
    int row;  ///< of the batch
    bool exists;
  };

  [[nodiscard]] __device__ Task task_at(int i, int batch_y) const {
    const int index = warp_ + i * strip_gather_warps;
    Task task{};
    task.row = index / groups_;
    task.x = part_.first_x + (index - task.row * groups_) * warp_size + lane_index();
    const int y = batch_y + task.row;
    task.exists = task.row < strip_batch && y >= part_.first_y && y < part_.last_y;
    return task;
  }

  /// Reads the map for the batch whose first row is y.
  __device__ void fetch(int y) {
#pragma unroll
    for (int i = 0; i < Shape::most_tasks; ++i) {
      codes_[i] = 0;
      const Task task = task_at(i, y);
      if (!task.exists || task.x >= part_.last_x) continue;
      const std::byte* row = arguments_.radius_map.data + (y + task.row) * arguments_.radius_map.row;
      if (job_.radius.map_type == Type::u8) {
        codes_[i] = __ldg(reinterpret_cast<const std::uint8_t*>(row) + task.x);
      } else if (job_.radius.map_type == Type::u16) {
        codes_[i] = __ldg(reinterpret_cast<const std::uint16_t*>(row) + task.x);
      } else {
        codes_[i] = __ldg(reinterpret_cast<const std::uint32_t*>(row) + task.x);
      }
    }
  }

  [[nodiscard]] __device__ Radius256 radius_of(std::uint32_t code) const {
    if (job_.radius.map_type == Type::u8) return shared_.radii[code];
    if (job_.radius.map_type == Type::u16)
      return radius_from_map(code, 0xFFFFU, job_.radius.low, job_.radius.high);
    return radius_from_map(__uint_as_float(code), job_.radius.low, job_.radius.high);
  }

  /// The loads of a few tasks are in flight together.
  __device__ void write_batch(int y, int slot) {
    constexpr int at_once = tuning::strip_tasks_at_once;
#pragma unroll
    for (int first = 0; first < Shape::most_tasks; first += at_once) {
      Sum sums[at_once];
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        if (first + i >= Shape::most_tasks) continue;
        const Task task = task_at(first + i, y);
        const int reach = radius_of(codes_[first + i]) / radius_one;
        sums[i] = task.exists ? box(task, slot, reach, reach) : Sum{0};
      }
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        if (first + i >= Shape::most_tasks) continue;
        const Task task = task_at(first + i, y);
        if (task.exists) write(task, y + task.row, slot, sums[i], radius_of(codes_[first + i]));
      }
    }
  }

  __device__ void write(const Task& task, int y, int slot, Sum whole_box, Radius256 radius) const {
    const bool fractional = __any_sync(whole_warp, static_cast<int>(radius % radius_one != 0)) != 0;
    store(task, y,
          fractional ? mixed_means(task, y, slot, radius)
                     : whole_means(task, y, whole_box, radius / radius_one));
  }

  /// The packed sums over a whole box. The slot is that of the table's row of the batch's first mean.
  [[nodiscard]] __device__ Sum box(const Task& task, int slot, int reach_x, int reach_y) const {
    const int rows = arguments_.tiles.ring_rows;
    int centre = slot + task.row;
    if (centre >= rows) centre -= rows;
    int last = centre + reach_y;
    if (last >= rows) last -= rows;
    int before = centre - reach_y - 1;
    if (before < 0) before += rows;
    const Sum* below = shared_.ring + last * Shape::pitch + (task.x - part_.origin);
    const Sum* above = shared_.ring + before * Shape::pitch + (task.x - part_.origin);
    return (below[reach_x + 1] - below[-reach_x]) - (above[reach_x + 1] - above[-reach_x]);
  }

  /// True if no window of the warp's pixels is clipped.
  [[nodiscard]] __device__ bool unclipped(const Task& task, int y) const {
    if (!job_.clipped) return true;
    const int first = task.x - lane_index();
    return first >= job_.reach && first + warp_size - 1 + job_.reach < job_.width && y >= job_.reach &&
           y + job_.reach < job_.height;
  }

  [[nodiscard]] __device__ std::uint32_t count(int centre, int reach, int size) const {
    if (!job_.clipped) return static_cast<std::uint32_t>(2 * reach + 1);
    return static_cast<std::uint32_t>(min(centre + reach, size - 1) - max(centre - reach, 0) + 1);
  }

  /// Means of all channels, one a byte.
  [[nodiscard]] __device__ std::uint32_t whole_means(const Task& task, int y, Sum packed, int reach) const {
    std::uint32_t sums[Channels];
    PackedSums<Channels>::unpack(packed, sums);
    const int x = min(task.x, part_.last_x - 1);
    const ByteDivision division =
        unclipped(task, y) ? shared_.divisions[reach]
                           : ByteDivision(count(x, reach, job_.width) * count(y, reach, job_.height));
    std::uint32_t means = 0;
#pragma unroll
    for (int c = 0; c < Channels; ++c) means |= (division(sums[c], 0) & 0xFFU) << (8 * c);
    return means;
  }

  /// The same of boxes of which some are fractional: four whole ones, mixed.
  [[nodiscard]] __device__ std::uint32_t mixed_means(const Task& task, int y, int slot,
                                                     Radius256 radius) const {
    const int reach = radius / radius_one;
    const auto outer = static_cast<std::uint32_t>(radius) % radius_one;
    const std::uint32_t inner = radius_one - outer;
    const int outer_reach = reach + (outer != 0 ? 1 : 0);
    const int x = min(task.x, part_.last_x - 1);
    const std::uint32_t size_x =
        inner * count(x, reach, job_.width) + outer * count(x, outer_reach, job_.width);
    const std::uint32_t size_y =
        inner * count(y, reach, job_.height) + outer * count(y, outer_reach, job_.height);
    const MixedDivision<std::uint32_t> division(static_cast<std::uint64_t>(size_x) * size_y, inner, outer);
    std::uint32_t inner_rows[Channels] = {};
    std::uint32_t outer_rows[Channels] = {};
    add_rows(box(task, slot, reach, reach), inner, inner_rows);
    add_rows(box(task, slot, outer_reach, reach), outer, inner_rows);
    add_rows(box(task, slot, reach, outer_reach), inner, outer_rows);
    add_rows(box(task, slot, outer_reach, outer_reach), outer, outer_rows);
    std::uint32_t means = 0;
#pragma unroll
    for (int c = 0; c < Channels; ++c) means |= division(inner_rows[c], outer_rows[c]) << (8 * c);
    return means;
  }

  __device__ static void add_rows(Sum packed, std::uint32_t weight, std::uint32_t* totals) {
    std::uint32_t sums[Channels];
    PackedSums<Channels>::unpack(packed, sums);
#pragma unroll
    for (int c = 0; c < Channels; ++c) totals[c] += weight * sums[c];
  }

  /// A warp of three channels stores words: of four neighbouring lanes the first three, 12 bytes together.
  __device__ void store(const Task& task, int y, std::uint32_t means) const {
    std::byte* row = arguments_.output.data + y * arguments_.output.row;
    const int first = task.x - lane_index();
    if constexpr (Channels == 3) {
      std::byte* to = row + first * Channels;
      if (first + warp_size <= part_.last_x && reinterpret_cast<std::uintptr_t>(to) % 4 == 0) {
        const int place = lane_index() % 4;
        const std::uint32_t right = __shfl_down_sync(whole_warp, means, 1);
        const std::uint32_t word = means >> (8 * place) | right << (24 - 8 * place);
        if (place < 3) __stcs(reinterpret_cast<std::uint32_t*>(to) + lane_index() / 4 * 3 + place, word);
        return;
      }
    }
    if (task.x >= part_.last_x) return;
    auto* to = reinterpret_cast<std::uint8_t*>(row) + task.x * Channels;
#pragma unroll
    for (int c = 0; c < Channels; ++c) to[c] = static_cast<std::uint8_t>(means >> (8 * c));
  }

  const StripMeanArguments& arguments_;
  const StripMeanJob& job_;
  const StripPart& part_;
  const StripShared<Channels>& shared_;
  int warp_;
  int groups_;  ///< of 32 pixels in a row of the strip
  std::uint32_t codes_[Shape::most_tasks];
};

template <int Channels>
__global__ void __launch_bounds__(strip_threads, 1)
    average_strips(const __grid_constant__ StripMeanArguments arguments) {
  using Shape = StripShape<Channels>;
  extern __shared__ uint4 memory[];
  const StripMeanJob& job = arguments.job;
  const auto thread = static_cast<int>(threadIdx.x);
  const int warp = thread / warp_size;
  const StripShared<Channels> shared(memory, arguments.tiles.ring_rows, job.reach);
  const StripPart part = strip_part(arguments, Shape::pixels);
  for (int i = thread; i < arguments.tiles.ring_rows * Shape::pitch; i += strip_threads) shared.ring[i] = 0;
  for (int i = thread; i <= job.reach; i += strip_threads)
    shared.divisions[i] = ByteDivision(static_cast<std::uint32_t>((2 * i + 1) * (2 * i + 1)));
  if (thread < Shape::codes)
    shared.radii[thread] =
        radius_from_map(static_cast<std::uint32_t>(thread), 0xFFU, job.radius.low, job.radius.high);
  __syncthreads();
  // Every warp goes through the same number of barriers, whichever of the three it takes part in.
  if (warp < strip_row_warps) {
    scan_rows<Channels>(arguments, part, shared, warp);
  } else if (warp < strip_row_warps + strip_column_warps) {
    add_columns<Channels>(arguments, part, shared, thread - strip_row_warps * warp_size);
  } else {
    StripGather<Channels>(arguments, part, shared, warp - strip_row_warps - strip_column_warps).run();
  }
}

}  // namespace satin::kernels
