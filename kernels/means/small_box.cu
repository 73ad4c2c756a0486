// Box mean of a window that reaches at most eight pixels, one of successive ones.
//
// A warp goes down its columns of one channel. The sums over the windows of a row are a product of matrices,
// which keeps the tensor cores and hardly anything else busy; those over the rows of a window are kept in
// registers: the row that enters is added, and the one that leaves, which the lane has kept in shared memory,
// taken away. Nobody waits for another warp but where the channels of bytes are brought together.
//
// Bytes moved per pixel: source and target once, and of the source what tiles see above and below.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/device/exact_division.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/means/running_windows.cuh"
#include "kernels/means/small_box.h"
#include "kernels/means/small_box_source.cuh"
#include "kernels/means/small_box_target.cuh"

namespace satin::kernels {
namespace {

constexpr int most_threads = 512;
constexpr int most_together = 15;  ///< of a block: each has a barrier, of 16
constexpr int ring_row_bytes = warp_size * small_box_sums * 4;

/// Rows that a lane keeps the sums of.
template <bool Fractions>
[[nodiscard]] SATIN_HD int ring_rows(const RunningWindow& y) {
  return 2 * y.reach + (Fractions ? 2 : 1);
}

/// Sums over the windows of rows that end with the row that enters, weighted along it: over the inner window,
/// and with fractions over the outer one.
template <bool Fractions>
class RowWindows {
 public:
  __device__ RowWindows(const RunningWindow& y, int memory)
      : begin_(memory + lane_index() * 16),
        end_(begin_ + ring_rows<Fractions>(y) * ring_row_bytes),
        at_(begin_) {
    for (int row = begin_; row < end_; row += ring_row_bytes / 2)
      *shared_at<uint4>(row) = make_uint4(0, 0, 0, 0);
  }

  __device__ void advance(const std::uint32_t (&enters)[small_box_sums]) {
    uint4* kept[2] = {shared_at<uint4>(at_), shared_at<uint4>(at_ + ring_row_bytes / 2)};
    const uint4 first = *kept[0];
    const uint4 second = *kept[1];
    const std::uint32_t leaves[] = {first.x,  first.y,  first.z,  first.w,
                                    second.x, second.y, second.z, second.w};
    *kept[0] = make_uint4(enters[0], enters[1], enters[2], enters[3]);
    *kept[1] = make_uint4(enters[4], enters[5], enters[6], enters[7]);
    at_ += ring_row_bytes;
    if (at_ == end_) at_ = begin_;
#pragma unroll
    for (int i = 0; i < small_box_sums; ++i) {
      if constexpr (Fractions) {
        inner_[i] += last_[i] - leaves[i];
        outer_[i] = inner_[i] + leaves[i] + enters[i];
        last_[i] = enters[i];
      } else {
        inner_[i] += enters[i] - leaves[i];
      }
    }
  }

  [[nodiscard]] __device__ std::uint32_t inner(int i) const { return inner_[i]; }
  [[nodiscard]] __device__ std::uint32_t outer(int i) const { return outer_[i]; }

 private:
  int begin_;
  int end_;
  int at_;  ///< the row that leaves next
  std::uint32_t inner_[small_box_sums] = {};
  std::uint32_t outer_[small_box_sums] = {};
  std::uint32_t last_[small_box_sums] = {};
};

/// Means of a lane's sums.
template <bool Fractions>
class SmallBoxDivision {
 public:
  __device__ SmallBoxDivision(const SmallBoxJob& job, const SmallBoxPlace& place)
      : job_(job), first_x_(place.first_x), of_columns_(window_size(job.x, 0, 0, false)) {
    const int reach = job.x.outer_reach();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int x = first_x_ + lane_.first(half);
      clipped_[half] = place.count[half] > 0 && (x < reach || x + 3 + reach >= job.width);
    }
  }

  __device__ void divide(int y, const RowWindows<Fractions>& sums,
                         std::uint32_t (&means)[small_box_sums]) const {
    const std::uint32_t of_rows = window_size(job_.y, y, job_.height, true);
    const std::uint32_t divisor = divisor_of(of_columns_ * of_rows);
    if (!Fractions && divisor == job_.whole.divisor) {
#pragma unroll
      for (int i = 0; i < small_box_sums; ++i)
        means[i] = __umulhi(sums.inner(i) + divisor / 2, job_.whole.factor) >> job_.whole.shift;
    } else {
      const auto division = division_by(divisor);
#pragma unroll
      for (int i = 0; i < small_box_sums; ++i) means[i] = quotient(division, sums, i);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (!clipped_[half]) continue;
#pragma unroll
      for (int i = 4 * half; i < 4 * half + 4; ++i) {
        const int x = first_x_ + lane_.first(half) + i % 4;
        const std::uint32_t of_clipped = window_size(job_.x, min(x, job_.width - 1), job_.width, true);
        means[i] = quotient(division_by(divisor_of(of_clipped * of_rows)), sums, i);
      }
    }
  }

 private:
  using Division = MixedDivision<std::uint32_t>;

  [[nodiscard]] __device__ std::uint32_t divisor_of(std::uint32_t pixels) const {
    return pixels << max(-job_.more_bits, 0);
  }
  [[nodiscard]] __device__ Division division_by(std::uint32_t divisor) const {
    return {divisor, job_.y.inner, job_.y.outer};
  }
  [[nodiscard]] __device__ static std::uint32_t quotient(const Division& division,
                                                         const RowWindows<Fractions>& sums, int i) {
    return Fractions ? division(sums.inner(i), sums.outer(i)) : division(sums.inner(i));
  }

  const SmallBoxJob& job_;
  SmallBoxLane lane_;
  int first_x_;
  std::uint32_t of_columns_;  ///< weighted, of a window that is not clipped
  bool clipped_[2];
};

template <class Source, class Target>
struct SmallBoxMemory {
  int warps;  ///< of the block
  int channels;
  int ring;  ///< bytes of a warp

  [[nodiscard]] SATIN_HD int buffers() const { return warps * ring; }
  [[nodiscard]] SATIN_HD int staging() const { return buffers() + warps * Source::warp_bytes; }
  [[nodiscard]] SATIN_HD int staging_bytes() const {
    return 2 * small_box_columns * channels * Target::bytes_of_value;
  }
  [[nodiscard]] SATIN_HD int bytes() const { return staging() + warps / channels * staging_bytes(); }
};

template <class Source, class Target, bool Fractions>
__global__ void __launch_bounds__(most_threads, 1)
    average_small(const __grid_constant__ SmallBoxArguments arguments) {
  const SmallBoxJob& job = arguments.job;
  const SmallBoxTiles& tiles = arguments.tiles;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int tile = static_cast<int>(blockIdx.x) * tiles.together + warp / job.channels;
  if (tile >= tiles.strips * tiles.rows) return;
  const int strip = tile % tiles.strips;
  const std::int64_t row = tile / tiles.strips;
  const auto first_y = static_cast<int>(row * job.height / tiles.rows);
  const auto last_y = static_cast<int>((row + 1) * job.height / tiles.rows);
  const SmallBoxMemory<Source, Target> memory{tiles.together * job.channels, job.channels,
                                              ring_rows<Fractions>(job.y) * ring_row_bytes};

  SmallBoxPlace place{warp / job.channels, strip * Source::columns, warp % job.channels, {}};
  const SmallBoxLane lane;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int end = min(Source::columns, job.width - place.first_x);
    place.count[half] = min(end - lane.first(half), 4);
  }
  const WindowWeights<Fractions> weights(job.x);
  const int reach = job.y.reach + (Fractions ? 1 : 0);
  Source source(arguments, strip, place.channel, first_y - reach,
                memory.buffers() + warp * Source::warp_bytes);
  Target target(arguments, place, first_y, memory.staging() + place.tile * memory.staging_bytes());
  RowWindows<Fractions> windows(job.y, warp * memory.ring);
  const SmallBoxDivision<Fractions> division(job, place);

  source.fetch();
#pragma unroll 1
  for (int enters = first_y - reach; enters < last_y + reach; ++enters) {
    const int y = enters - reach;
    if (y >= first_y) target.ask();
    std::uint32_t sums[small_box_sums] = {};
    if (enters >= 0 && enters < job.height) source.sum(weights, sums);
    source.fetch();
    windows.advance(sums);
    if (y < first_y) continue;
    std::uint32_t means[small_box_sums];
    division.divide(y, windows, means);
    target.write(means);
  }
}

// --- The choice of a kernel ---

template <class Source, class Target, class Action>
auto with_fractions(const SmallBoxJob& job, const Action& action) {
  return job.fractional() ? action.template operator()<Source, Target, true>()
                          : action.template operator()<Source, Target, false>();
}

template <int Channels, class Action>
auto with_channels_of(const SmallBoxJob& job, const Action& action) {
  if (job.first) return with_fractions<ByteSource<Channels>, SplitTarget>(job, action);
  if (job.last) return with_fractions<SplitSource, ByteTarget<Channels>>(job, action);
  return with_fractions<SplitSource, SplitTarget>(job, action);
}

/// Calls action.operator()<Source, Target, Fractions>() for the job.
template <class Action>
auto with_kinds(const SmallBoxJob& job, const Action& action) {
  return job.channels == 3 ? with_channels_of<3>(job, action) : with_channels_of<1>(job, action);
}

int ceiling(int value, int divisor) { return (value + divisor - 1) / divisor; }

constexpr int fewest_tile_rows = 16;

}  // namespace

std::size_t split_row_bytes(int width, int channels) {
  const int units = ceiling(width, small_box_columns) * (small_box_columns / split_unit) + 2;
  return static_cast<std::size_t>(units) * split_unit_bytes * static_cast<std::size_t>(channels);
}

SmallBoxTiles tiles_of(const SmallBoxJob& job, int multiprocessors, std::size_t shared_limit) {
  return with_kinds(job, [&]<class Source, class Target, bool Fractions>() {
    SmallBoxTiles tiles;
    tiles.strips = ceiling(job.width, Source::columns);
    const int ring = ring_rows<Fractions>(job.y) * ring_row_bytes;
    const int most = std::min(most_threads / (job.channels * warp_size), most_together);
    for (int together = 1; together <= most; ++together) {
      const SmallBoxMemory<Source, Target> memory{together * job.channels, job.channels, ring};
      const auto bytes = static_cast<std::size_t>(memory.bytes());
      if (bytes > shared_limit) break;
      tiles.together = together;
      tiles.shared_bytes = bytes;
    }
    const int rows = multiprocessors * tiles.together / tiles.strips;
    tiles.rows = std::clamp(rows, 1, ceiling(job.height, fewest_tile_rows));
    return tiles;
  });
}

int prepare_mean(const SmallBoxArguments& arguments) {
  return with_kinds(arguments.job, [&]<class Source, class Target, bool Fractions>() {
    return allow_all_shared_memory(average_small<Source, Target, Fractions>);
  });
}

void launch_mean(const SmallBoxArguments& arguments, StreamHandle stream) {
  with_kinds(arguments.job, [&]<class Source, class Target, bool Fractions>() {
    const SmallBoxTiles& tiles = arguments.tiles;
    const auto blocks = static_cast<unsigned>(ceiling(tiles.strips * tiles.rows, tiles.together));
    const auto threads = static_cast<unsigned>(tiles.together * arguments.job.channels * warp_size);
    average_small<Source, Target, Fractions><<<blocks, threads, tiles.shared_bytes, stream>>>(arguments);
  });
}

}  // namespace satin::kernels
