#pragma once
// The warps that write the means of a strip from its table.

#include <cstdint>

#include "kernels/strip_part.cuh"

namespace satin::kernels {

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
        groups_((part.last_x - part.first_x + warp_size - 1) / warp_size),
        group_inverse_((1 << 16) / groups_ + 1) {}

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
    task.row = index * group_inverse_ >> 16;  // index / groups_: their product is below 2^16
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

  /// The map's values become radii.
  __device__ void convert_codes() {
    const RadiusField& field = job_.radius;
    if (field.map_type == Type::u8) {
#pragma unroll
      for (std::uint32_t& code : codes_) code = static_cast<std::uint32_t>(shared_.radii[code]);
    } else if (field.map_type == Type::u16) {
#pragma unroll
      for (std::uint32_t& code : codes_)
        code = static_cast<std::uint32_t>(radius_from_map(code, 0xFFFFU, field.low, field.high));
    } else {
#pragma unroll
      for (std::uint32_t& code : codes_)
        code = static_cast<std::uint32_t>(radius_from_map(__uint_as_float(code), field.low, field.high));
    }
  }

  /// Pairs of tasks with whole, unclipped boxes have their loads in flight together; the rest goes one by
  /// one.
  __device__ void write_batch(int y, int slot) {
    convert_codes();
    unsigned done = 0;
    if (y >= part_.first_y && y + strip_batch <= part_.last_y) {
#pragma unroll
      for (int i = 0; i + 1 < Shape::most_tasks; i += 2)
        if (write_plain_pair(i, y, slot)) done |= 3U << i;
    }
#pragma unroll
    for (int i = 0; i < Shape::most_tasks; ++i) {
      if ((done >> i & 1U) != 0) continue;
      const Task task = task_at(i, y);
      if (task.exists) write(task, y + task.row, slot, static_cast<Radius256>(codes_[i]));
    }
  }

  /// False, and nothing is done, unless both tasks exist and all their boxes are whole and unclipped.
  __device__ bool write_plain_pair(int i, int y, int slot) const {
    const Task first = task_at(i, y);
    const Task second = task_at(i + 1, y);
    if (!second.exists || !unclipped(first, y + first.row) || !unclipped(second, y + second.row))
      return false;
    if (__any_sync(whole_warp, static_cast<int>((codes_[i] | codes_[i + 1]) % radius_one != 0)) != 0)
      return false;
    const auto reach_a = static_cast<int>(codes_[i] / radius_one);
    const auto reach_b = static_cast<int>(codes_[i + 1] / radius_one);
    const Sum a = box(first, slot, reach_a, reach_a);
    const Sum b = box(second, slot, reach_b, reach_b);
    const std::uint32_t means_a = whole_means(a, shared_.divisions[reach_a]);
    const std::uint32_t means_b = whole_means(b, shared_.divisions[reach_b]);
    store(first, y + first.row, means_a);
    store(second, y + second.row, means_b);
    return true;
  }

  __device__ void write(const Task& task, int y, int slot, Radius256 radius) const {
    if (__any_sync(whole_warp, static_cast<int>(radius % radius_one != 0)) != 0)
      return store(task, y, mixed_means(task, y, slot, radius));
    const int reach = radius / radius_one;
    const int x = min(task.x, part_.last_x - 1);
    const ByteDivision division(count(x, reach, job_.width) * count(y, reach, job_.height));
    store(task, y, whole_means(box(task, slot, reach, reach), division));
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
  [[nodiscard]] __device__ static std::uint32_t whole_means(Sum packed, const ByteDivision& division) {
    std::uint32_t sums[Channels];
    PackedSums<Channels>::unpack(packed, sums);
    std::uint32_t means[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) means[c] = division(sums[c], 0);
    return low_bytes(means);
  }

  /// The low bytes of the means of all channels, the first one lowest.
  [[nodiscard]] __device__ static std::uint32_t low_bytes(const std::uint32_t (&means)[Channels]) {
    if constexpr (Channels == 1) return means[0];
    std::uint32_t bytes = __byte_perm(means[0], means[1 % Channels], 0x0040);
    if constexpr (Channels == 3) bytes = __byte_perm(bytes, means[2], 0x0410);
    return bytes;
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
    std::uint32_t means[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) means[c] = division(inner_rows[c], outer_rows[c]);
    return low_bytes(means);
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
        const unsigned bytes = place == 0 ? 0x4210U : place == 1 ? 0x5421U : 0x6542U;
        const std::uint32_t word = __byte_perm(means, right, bytes);
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
  int groups_;                              ///< of 32 pixels in a row of the strip
  int group_inverse_;                       ///< 2^16 / groups_, rounded up
  std::uint32_t codes_[Shape::most_tasks];  ///< values of the map, then radii
};

}  // namespace satin::kernels
