#pragma once
// Means of one row from the prefixes of its column sums.

#include <cstdint>

#include "kernels/box_mean_running.h"
#include "kernels/exact_division.cuh"
#include "kernels/lane_rows.cuh"

namespace satin::kernels {

/// The rectangle of means that a block writes, and the first column that it sums.
struct RunningPart {
  int first_x, last_x;  ///< columns [first_x, last_x)
  int first_y, last_y;
  int origin;       ///< position of the first column of the first lane
  int last_needed;  ///< position of the last column that counts
};

__device__ inline RunningPart running_part(const RunningMeanArguments& arguments, int pixels) {
  const RunningMeanJob& job = arguments.job;
  RunningPart part{};
  part.first_x = static_cast<int>(blockIdx.x) * arguments.tiles.strip_width;
  part.last_x = min(part.first_x + arguments.tiles.strip_width, job.width);
  const auto band = static_cast<std::int64_t>(blockIdx.y);
  part.first_y = static_cast<int>(band * job.height / arguments.tiles.bands);
  part.last_y = static_cast<int>((band + 1) * job.height / arguments.tiles.bands);
  int origin = part.first_x - job.x.outer_reach() - 1;
  part.last_needed = part.last_x - 1 + job.x.outer_reach();
  if (job.clipped) {
    origin = max(origin, -1);
    part.last_needed = min(part.last_needed, job.width - 1);
  }
  const int behind = (origin % pixels + pixels) % pixels;
  part.origin = origin - behind;
  return part;
}

/// Weighted number of pixels that count along an axis.
__device__ inline std::uint32_t window_size(const RunningWindow& window, int centre, int size, bool clipped) {
  const auto count = [&](int reach) {
    return clipped ? min(centre + reach, size - 1) - max(centre - reach, 0) + 1 : 2 * reach + 1;
  };
  std::uint32_t result = window.inner * static_cast<std::uint32_t>(count(window.reach));
  if (window.outer != 0) result += window.outer * static_cast<std::uint32_t>(count(window.reach + 1));
  return result;
}

/// Writes the means of a block's rows.
template <class T, int Channels, class Sum>
class RunningOutput {
 public:
  static constexpr int elements = elements_per_lane<T, Channels, Sum>;
  static constexpr int most_turns = elements / 4 + 1;  ///< a thread writes four means a turn

  __device__ RunningOutput(const RunningMeanArguments& arguments, const RunningPart& part, int plane)
      : arguments_(arguments), part_(part), plane_(plane), count_((part.last_x - part.first_x) * Channels) {
    const RunningMeanJob& job = arguments.job;
    const int reach = job.x.outer_reach();
    const int first_whole = job.clipped ? max(reach, part.first_x) : part.first_x;
    const int end_whole = job.clipped ? min(job.width - reach, part.last_x) : part.last_x;
    first_whole_ = (first_whole - part.first_x) * Channels;
    end_whole_ = (end_whole - part.first_x) * Channels;
    inner_size_ = job.x.inner * static_cast<std::uint32_t>(2 * job.x.reach + 1) +
                  job.x.outer * static_cast<std::uint32_t>(job.x.outer != 0 ? 2 * job.x.reach + 3 : 0);
    const auto threads = static_cast<int>(blockDim.x);
    turns_ = ((count_ + 3) / 4 + threads) / threads;
    quad_ = static_cast<int>(threadIdx.x) / warp_size * warp_size * turns_ + lane_index();
  }

  __device__ void write(int y, const Sum* prefixes) {
    const RunningMeanJob& job = arguments_.job;
    const std::uint32_t size_y = window_size(job.y, y, job.height, job.clipped);
    auto* out = reinterpret_cast<T*>(arguments_.output.data + y * arguments_.output.row) +
                static_cast<std::int64_t>(part_.first_x) * Channels;
    place(prefixes, static_cast<int>(reinterpret_cast<std::uintptr_t>(out) % (4 * sizeof(T)) / sizeof(T)));
    write_clipped(prefixes, out, size_y);
    const std::uint64_t divisor = static_cast<std::uint64_t>(inner_size_) * size_y;
    const MixedDivision<Sum> division(divisor, job.x.inner, job.x.outer);
    if (job.x.outer == 0) {
      write_whole(out, [&](int i, int offset) {
        return encode(division(high(i, offset) - low(i, offset)), arguments_.transfer, T{});
      });
    } else {
      write_whole(out, [&](int i, int offset) {
        const Sum outer = high(i + Channels, offset) - low(i - Channels, offset);
        return encode(division(high(i, offset) - low(i, offset), outer), arguments_.transfer, T{});
      });
    }
  }

 private:
  /// Prepares for a row whose first element is `behind` elements behind a multiple of four in memory.
  __device__ void place(const Sum* prefixes, int behind) {
    const int step = prefixes_ == nullptr ? 0 : static_cast<int>(prefixes - prefixes_);
    prefixes_ = prefixes;
#pragma unroll
    for (int i = 0; i < 8; ++i) ends_[i] += step;
    if (behind == behind_) return;
    behind_ = behind;
    const int reach = arguments_.job.x.reach;
    const int high = (part_.first_x + reach - part_.origin) * Channels - behind;
    const int low = (part_.first_x - reach - 1 - part_.origin) * Channels - behind;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      ends_[i] = prefixes + ((high + i) & 3) * plane_ + ((high + i) >> 2) + quad_;
      ends_[4 + i] = prefixes + ((low + i) & 3) * plane_ + ((low + i) >> 2) + quad_;
    }
    const int first_of_warp = 4 * (quad_ - lane_index()) - behind;
    constexpr int turn = 4 * warp_size;
    first_whole_turn_ = min(max(first_whole_ - first_of_warp + turn - 1, 0) / turn, turns_);
    end_whole_turn_ = min(max(end_whole_ - first_of_warp, 0) / turn, turns_);
  }

  /// The prefixes at the ends of the window of the thread's element i, -4 <= i < 8, `offset` words on.
  [[nodiscard]] __device__ Sum high(int i, int offset) const { return ends_[i & 3][offset + (i >> 2)]; }
  [[nodiscard]] __device__ Sum low(int i, int offset) const { return ends_[4 + (i & 3)][offset + (i >> 2)]; }

  /// The turns of the warp whose windows are all unclipped, two at once for their loads to overlap where
  /// there are registers for it.
  template <class Mean>
  __device__ void write_whole(T* out, const Mean& mean) const {
    T* first = out + 4 * quad_ - behind_;
    if constexpr (sizeof(Sum) == 8) {
#pragma unroll
      for (int turn = 0; turn < most_turns; ++turn)
        if (turn >= first_whole_turn_ && turn < end_whole_turn_) write_turns<1>(first, turn, mean);
    } else {
#pragma unroll
      for (int turn = 0; turn + 2 <= most_turns; turn += 2)
        if (turn >= first_whole_turn_ && turn + 2 <= end_whole_turn_) write_turns<2>(first, turn, mean);
      if (first_whole_turn_ % 2 != 0 && first_whole_turn_ < end_whole_turn_)
        write_turns<1>(first, first_whole_turn_, mean);
      if (end_whole_turn_ % 2 != 0 && first_whole_turn_ < end_whole_turn_)
        write_turns<1>(first, end_whole_turn_ - 1, mean);
    }
  }

  template <int Turns, class Mean>
  __device__ static void write_turns(T* first, int turn, const Mean& mean) {
    std::uint32_t means[Turns][4];
#pragma unroll
    for (int k = 0; k < Turns; ++k)
#pragma unroll
      for (int i = 0; i < 4; ++i) means[k][i] = mean(i, (turn + k) * warp_size);
#pragma unroll
    for (int k = 0; k < Turns; ++k) store_four(first + (turn + k) * 4 * warp_size, means[k]);
  }

  /// The low bits of four means.
  __device__ static void store_four(T* to, const std::uint32_t (&means)[4]) {
    if constexpr (sizeof(T) == 1) {
      const std::uint32_t low = __byte_perm(means[0], means[1], 0x0040);
      const std::uint32_t high = __byte_perm(means[2], means[3], 0x0040);
      __stcs(reinterpret_cast<std::uint32_t*>(to), __byte_perm(low, high, 0x5410));
    } else {
      __stcs(reinterpret_cast<uint2*>(to),
             make_uint2(__byte_perm(means[0], means[1], 0x5410), __byte_perm(means[2], means[3], 0x5410)));
    }
  }

  /// The turns that write_whole() leaves out: some elements do not exist, or have windows that are clipped by
  /// the picture.
  __device__ void write_clipped(const Sum* prefixes, T* out, std::uint32_t size_y) const {
#pragma unroll 1
    for (int turn = 0; turn < turns_; ++turn) {
      if (turn >= first_whole_turn_ && turn < end_whole_turn_) continue;
      const int first = 4 * (quad_ + turn * warp_size) - behind_;
#pragma unroll 1
      for (int element = max(first, 0); element < min(first + 4, count_); ++element)
        out[element] = clipped_mean(prefixes, element, size_y);
    }
  }

  [[nodiscard]] __device__ T clipped_mean(const Sum* prefixes, int element, std::uint32_t size_y) const {
    const RunningMeanJob& job = arguments_.job;
    const int x = part_.first_x + element / Channels;
    const int channel = element % Channels;
    const std::uint64_t size_x = window_size(job.x, x, job.width, job.clipped);
    const MixedDivision<Sum> division(size_x * size_y, job.x.inner, job.x.outer);
    const Sum inner = window_sum(prefixes, x, channel, job.x.reach);
    const std::uint32_t mean = job.x.outer == 0
                                   ? division(inner)
                                   : division(inner, window_sum(prefixes, x, channel, job.x.reach + 1));
    return encode(mean, arguments_.transfer, T{});
  }

  [[nodiscard]] __device__ Sum window_sum(const Sum* prefixes, int x, int channel, int reach) const {
    int high = x + reach;
    int low = x - reach - 1;
    if (arguments_.job.clipped) {
      high = min(high, arguments_.job.width - 1);
      low = max(low, -1);
    }
    const int high_element = (high - part_.origin) * Channels + channel;
    const int low_element = (low - part_.origin) * Channels + channel;
    return prefixes[(high_element & 3) * plane_ + (high_element >> 2)] -
           prefixes[(low_element & 3) * plane_ + (low_element >> 2)];
  }

  const RunningMeanArguments& arguments_;
  const RunningPart& part_;
  int plane_;
  int count_;        ///< elements of a row of the block
  int first_whole_;  ///< elements [first_whole_, end_whole_) have windows that are not clipped
  int end_whole_;
  std::uint32_t inner_size_;  ///< weighted number of pixels of those windows along x
  int turns_;                 ///< a thread writes four elements a turn, its warp 128
  int quad_;                  ///< the thread's first four elements
  int behind_ = -1;           ///< elements that the row begins behind a multiple of four in memory
  int first_whole_turn_ = 0;  ///< of the warp, for behind_
  int end_whole_turn_ = 0;
  const Sum* prefixes_ = nullptr;  ///< of the row; null before the first
  const Sum* ends_[8] = {};        ///< high and low ends of the windows of the thread's first four elements
};

}  // namespace satin::kernels
