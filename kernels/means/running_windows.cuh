#pragma once
// Sums over the windows of one row, as differences of prefixes in shared memory.

#include <cstdint>

#include "kernels/device/vector.cuh"
#include "kernels/means/running_shared.cuh"
#include "kernels/means/tile_part.cuh"

namespace satin::kernels {

/// A tile, and the columns that it sums.
struct RunningPart : TilePart {
  int origin;       ///< position of the first column of the first lane
  int last_needed;  ///< position of the last column that counts
};

__device__ inline RunningPart running_part(const RunningMeanArguments& arguments, int pixels, int tile) {
  const RunningMeanJob& job = arguments.job;
  const SlidingTiles& tiles = arguments.tiles;
  RunningPart part{tile_part(job, tiles, tile % tiles.columns, tile / tiles.columns)};
  int origin = part.first_x - job.x.outer_reach() - 1;
  part.last_needed = part.last_x - 1 + job.x.outer_reach();
  if (job.clipped) {
    origin = max(origin, 0);
    part.last_needed = min(part.last_needed, job.width - 1);
  }
  const int behind = (origin % pixels + pixels) % pixels;
  part.origin = origin - behind;
  return part;
}

/// Weighted number of pixels that count along an axis.
__device__ inline std::uint32_t window_size(const RunningWindow& window, int centre, int size, bool clipped) {
  const auto count = [&](int reach) {
    return static_cast<std::uint32_t>(window_pixels(centre, reach, size, clipped));
  };
  std::uint32_t result = window.inner * count(window.reach);
  if (window.outer != 0) result += window.outer * count(window.reach + 1);
  return result;
}

/// Sums of one lane: for each element that over the inner and over the outer window of weighted columns; in
/// 64 bits what they are mixed to. Other receivers of RunningWindows::sum() have the same two functions.
template <class Sum>
struct WindowSums;

template <>
struct WindowSums<std::uint32_t> {
  std::uint32_t inner[running_elements];
  std::uint32_t outer[running_elements];

  __device__ void set(int e, std::uint32_t sum) { inner[e] = sum; }
  __device__ void mix(int e, std::uint32_t inner_sum, std::uint32_t outer_sum, const RunningWindow&) {
    inner[e] = inner_sum;
    outer[e] = outer_sum;
  }
};

template <>
struct WindowSums<std::uint64_t> {
  std::uint64_t total[running_elements];

  __device__ void set(int e, std::uint64_t sum) { total[e] = sum; }
  __device__ void mix(int e, std::uint64_t inner_sum, std::uint64_t outer_sum, const RunningWindow& window) {
    total[e] = inner_sum * window.inner + outer_sum * window.outer;
  }
};

/// Where the windows of a lane's elements begin and end in a row of prefixes; the same for all rows.
///
/// Ends are read by accesses of 16 bytes, so that where in four elements they lie, which follows from the
/// reach modulo 4, is known to the compiler.
template <int Channels, class Sum, int Elements = running_elements>
class RunningWindows {
 public:
  /// `thread` of `threads` of the tile, each with `Elements` of its prefixes.
  __device__ RunningWindows(const RunningMeanJob& job, const TileMemory<Sum>& memory, int thread, int threads)
      : window_(job.x), to_high_words_(memory.to_high_words()) {
    constexpr int size = Elements;
    const int fraction = window_.outer != 0 ? Channels : 0;
    int high = thread * size + window_.reach * Channels;
    int low = thread * size - (window_.reach + 1) * Channels - fraction;
    // Windows that leave the columns on the left see zeros, on the right what all columns add up to; which
    // are there as often as wanted.
    const int least = -TileMemory<Sum>::margin + 4;
    if (low < least) low += (least - low + size - 1) / size * size;
    const int most = threads * size - size - fraction - 4;
    if (high > most) high -= (high - most + size - 1) / size * size;
    high_ = high / 4 * 16;
    low_ = (low - (low & 3)) * 4;
  }

  /// `prefixes`: where those of the row lie. `Fractions`: there may be parts of pixels.
  template <bool Fractions = true, class Sums>
  __device__ void sum(int prefixes, Sums& sums) const {
    const int reach = window_.reach & 3;
    if (!Fractions || window_.outer == 0) {
      if (reach == 0) return add<0, false>(prefixes, sums);
      if (reach == 1) return add<1, false>(prefixes, sums);
      if (reach == 2) return add<2, false>(prefixes, sums);
      return add<3, false>(prefixes, sums);
    }
    if constexpr (Fractions) {
      if (reach == 0) return add<0, true>(prefixes, sums);
      if (reach == 1) return add<1, true>(prefixes, sums);
      if (reach == 2) return add<2, true>(prefixes, sums);
      add<3, true>(prefixes, sums);
    }
  }

 private:
  template <int Reach, bool Fraction, class Sums>
  __device__ void add(int prefixes, Sums& sums) const {
    constexpr int more = Fraction ? Channels : 0;
    Sum high[Elements + more];
    Sum low[Elements + more];
    load<(Reach * Channels) % 4>(prefixes + high_, high);
    load<(64 - (Reach + 1) * Channels - more) % 4>(prefixes + low_, low);
#pragma unroll
    for (int e = 0; e < Elements; ++e) {
      if constexpr (Fraction) {
        sums.mix(e, high[e] - low[e + more], high[e + more] - low[e], window_);
      } else {
        sums.set(e, high[e] - low[e]);
      }
    }
  }

  /// Neighbouring prefixes from the one `Shift` behind the aligned address on.
  template <int Shift, int Count>
  __device__ void load(int from, std::uint32_t (&prefixes)[Count]) const {
    using Group = Vector<std::uint32_t, 4>;
    const auto* groups = shared_at<const Group>(from);
#pragma unroll
    for (int i = 0; i < Shift + Count; i += 4) {
      const Group group = groups[i / 4];
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (i + k >= Shift && i + k - Shift < Count) prefixes[i + k - Shift] = group.of[k];
    }
  }
  template <int Shift, int Count>
  __device__ void load(int from, std::uint64_t (&prefixes)[Count]) const {
    std::uint32_t low[Count];
    std::uint32_t high[Count];
    load<Shift>(from, low);
    load<Shift>(from + to_high_words_, high);
#pragma unroll
    for (int i = 0; i < Count; ++i) prefixes[i] = static_cast<std::uint64_t>(high[i]) << 32 | low[i];
  }

  const RunningWindow& window_;
  int high_;  ///< bytes from the first prefix, of the first element's aligned down
  int low_;
  int to_high_words_;
};

/// What a lane does with the windows of its own columns, row after row.
template <int Channels, class Sum>
class LaneOfWindows {
 public:
  static constexpr int elements = running_elements;
  static constexpr int pixels = elements / Channels;

  /// All lanes of a warp call this together. `x` is the lane's first column.
  __device__ LaneOfWindows(const RunningMeanArguments& arguments, const RunningPart& part,
                           const TileMemory<Sum>& memory, int thread, int threads, int x)
      : arguments_(arguments),
        windows_(arguments.job, memory, thread, threads),
        x_(x),
        valid_(x < part.first_x ? 0 : min(max(part.last_x - x, 0), pixels)) {
    const RunningMeanJob& job = arguments.job;
    const int reach = job.x.outer_reach();
    const bool inside = !job.clipped || (x >= reach && x + pixels - 1 + reach < job.width);
    whole_ = __all_sync(whole_warp, inside || valid_ == 0);
    any_ = __any_sync(whole_warp, valid_ > 0);
  }

  /// The warp writes something.
  [[nodiscard]] __device__ bool any() const { return any_; }

  /// Over the windows of the row whose prefixes lie there.
  template <bool Fractions = true, class Sums>
  __device__ void sum(int prefixes, Sums& sums) const {
    if (any_) windows_.template sum<Fractions>(prefixes, sums);
  }

 protected:
  /// Weighted number of rows that count around row y.
  [[nodiscard]] __device__ std::uint32_t size_y_of(int y) const {
    const RunningMeanJob& job = arguments_.job;
    return window_size(job.y, y, job.height, job.clipped);
  }
  /// Weighted number of pixels of a window that is not clipped along x.
  [[nodiscard]] __device__ std::uint64_t whole_divisor(std::uint32_t size_y) const {
    return static_cast<std::uint64_t>(window_size(arguments_.job.x, 0, 0, false)) * size_y;
  }
  [[nodiscard]] __device__ std::uint64_t divisor_of(int pixel, std::uint32_t size_y) const {
    const RunningMeanJob& job = arguments_.job;
    const bool clipped = job.clipped && pixel < valid_;
    return static_cast<std::uint64_t>(window_size(job.x, x_ + pixel, job.width, clipped)) * size_y;
  }

  /// use(division, element), where division = make(divisor of its pixel) is made once if all are the same.
  template <class Make, class Use>
  __device__ void for_each_element(std::uint32_t size_y, const Make& make, const Use& use) const {
    if (whole_) {
      const auto division = make(whole_divisor(size_y));
#pragma unroll
      for (int e = 0; e < elements; ++e) use(division, e);
      return;
    }
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      const auto division = make(divisor_of(p, size_y));
#pragma unroll
      for (int c = 0; c < Channels; ++c) use(division, p * Channels + c);
    }
  }

  /// Where the lane's first pixel goes in row y of means of type Out.
  template <class Out>
  [[nodiscard]] __device__ std::byte* target_of(int y) const {
    constexpr int pixel_bytes = Channels * static_cast<int>(sizeof(Out));
    const auto row = static_cast<std::uint32_t>(y);  // the product of signed numbers takes twice as long
    return arguments_.output.data + x_ * pixel_bytes +
           row * static_cast<std::uint64_t>(arguments_.output.row);
  }

  const RunningMeanArguments& arguments_;
  RunningWindows<Channels, Sum> windows_;
  int x_;
  int valid_;   ///< pixels that the lane writes
  bool whole_;  ///< no window of the warp is clipped along x
  bool any_;    ///< the warp writes something
};

}  // namespace satin::kernels
