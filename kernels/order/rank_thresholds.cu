// Ranks of bytes in windows of one size, by thresholds: the wanted value is the number of thresholds t for
// which fewer than `rank` pixels of the window are <= t.
//
// A warp marches down a strip of 32 columns of outputs, each lane with a threshold of its own for all
// columns. Let c(x) be the pixels <= t of column x in the window's rows. A window has g(x) more of them than
// its left neighbour, where g(x) = c(x + reach) - c(x - reach - 1). A row of the march changes g(x) by four
// pixels, so the cost of a row does not depend on the radius:
// - 32 pixels are compared with a lane's threshold at once, in bit planes;
// - the four comparisons are added bit by bit, which gives g's change + 2, from 0 to 4;
// - these sums lie in half bytes, of which a dot product adds one to 16 g(x);
// - counts run along the row, and the signs of count - rank are shifted together;
// - the 32 x 32 signs of a warp are transposed, and each column's are counted.
// The count left of the strip comes from counts of whole rows, which another kernel made.
//
// The first march has every eighth threshold. Further ones have the seven between those of four intervals in
// which the strip has values, which are few: neighbouring windows share most of their pixels.

#include "kernels/order/threshold_march.cuh"

namespace satin::kernels {
namespace {

using namespace thresholds;

constexpr int march_warps = 4;   // of a block
constexpr int march_blocks = 4;  // of a multiprocessor, at least: bounds the registers, 6 spill
constexpr int interval = 8;      // of values between the thresholds of the first march
constexpr int inner_thresholds = interval - 1;
constexpr int march_intervals = 4;  // of a further march

/// The bytes of the column 31 - lane.
class OutputColumn {
 public:
  __device__ OutputColumn(const ThresholdPass& pass, int strip)
      : data_(pass.output.data), row_(pass.output.row) {
    const int x = strip * strip_columns + strip_columns - 1 - lane_index();
    exists_ = x < pass.job.width;
    if (exists_) data_ += std::int64_t{x} * pass.job.channels + pass.channel;
  }
  [[nodiscard]] __device__ bool exists() const { return exists_; }
  [[nodiscard]] __device__ std::uint8_t& at(int y) const {
    return reinterpret_cast<std::uint8_t&>(data_[y * row_]);
  }

 private:
  std::byte* data_;
  std::int64_t row_;
  bool exists_;
};

/// Writes the first value of each pixel's interval.
struct Intervals {
  OutputColumn column;
  std::uint32_t present = 0;  ///< a bit for each interval

  __device__ void begin(int) {}
  __device__ void end(int y, std::uint32_t below) {
    if (!column.exists()) return;
    const int found = __popc(below);
    present |= 1U << found;
    column.at(y) = static_cast<std::uint8_t>(interval * found);
  }
};

/// Adds the place in the interval to the pixels of some intervals.
struct InnerValues {
  OutputColumn column;
  std::uint32_t intervals[march_intervals] = {};
  std::uint8_t value = 0;

  /// Takes intervals away from those that are present; when these run out, the last one again.
  __device__ void take(std::uint32_t& present) {
#pragma unroll
    for (int i = 0; i < march_intervals; ++i) {
      intervals[i] = 31 - __clz(static_cast<int>(present));
      const std::uint32_t others = present ^ 1U << intervals[i];
      if (others != 0 || i == march_intervals - 1) present = others;
    }
  }
  [[nodiscard]] __device__ std::uint32_t threshold() const {
    const int lane = lane_index();
    std::uint32_t own = intervals[march_intervals - 1];
#pragma unroll
    for (int i = march_intervals - 2; i >= 0; --i)
      if (lane < (i + 1) * inner_thresholds) own = intervals[i];
    return interval * own + lane % inner_thresholds;
  }

  __device__ void begin(int y) {
    if (column.exists()) value = column.at(y);
  }
  __device__ void end(int y, std::uint32_t below) {
    if (!column.exists()) return;
    constexpr std::uint32_t mask = (1U << inner_thresholds) - 1;
#pragma unroll
    for (int i = 0; i < march_intervals; ++i) {
      if (value / interval != intervals[i]) continue;
      column.at(y) = static_cast<std::uint8_t>(value + __popc(below >> i * inner_thresholds & mask));
      return;
    }
  }
};

__global__ void __launch_bounds__(march_warps* warp_size, march_blocks)
    march_strips(const __grid_constant__ ThresholdPass pass) {
  __shared__ MarchRow rows[march_warps];
  const auto warp = static_cast<int>(threadIdx.x) / warp_size;
  const int strip = static_cast<int>(blockIdx.x) * march_warps + warp;
  if (strip >= pass.strips) return;
  March march(pass, strip, rows[warp]);
  Intervals coarse{OutputColumn(pass, strip)};
  march.run(interval * lane_index() + inner_thresholds, coarse);
  std::uint32_t present = __reduce_or_sync(whole_warp, coarse.present);
  while (present != 0) {
    InnerValues fine{coarse.column};
    fine.take(present);
    march.run(fine.threshold(), fine);
  }
}

/// Rows of a part: few enough that all multiprocessors are busy, and as many as windows have, which enter
/// first.
int rows_of_part(const RankJob& job, int strips, int multiprocessors) {
  const int height = static_cast<int>(job.height);
  const int parts = std::max(march_warps * march_blocks * multiprocessors / strips, 1);
  const int fewest = std::max(std::min(2 * job.reach.y + 1, height / 4), strip_columns);
  return std::max((height + parts - 1) / parts, fewest);
}

}  // namespace

std::int64_t threshold_words(const RankJob& job) {
  return (job.height + 1) * words_of(job) * value_bits + (row_counts_of(job) + 1) / 2;
}

void ranks_by_thresholds(const RankArguments& arguments, const ThresholdSpace& space, StreamHandle stream) {
  ThresholdPass pass{arguments};
  const RankJob& job = pass.job;
  pass.strips = strips_of(job);
  pass.words = words_of(job);
  pass.row_counts = reinterpret_cast<std::uint16_t*>(space.words);
  pass.planes = space.words + (row_counts_of(job) + 1) / 2;
  pass.part_rows = rows_of_part(job, pass.strips, space.multiprocessors);
  const auto parts_of = [](std::int64_t count, std::int64_t size) {
    return static_cast<unsigned>((count + size - 1) / size);
  };
  make_planes<<<plane_grid(std::int64_t{pass.words} * warp_size, parts_of(job.height + 1, plane_rows)),
                plane_threads, 0, stream>>>(pass);
  const dim3 of_rows(parts_of(counted_rows(job), row_warps), parts_of(pass.strips, row_strips));
  count_rows<<<of_rows, row_warps * warp_size, 0, stream>>>(pass);
  const dim3 blocks(parts_of(pass.strips, march_warps), parts_of(job.height, pass.part_rows));
  march_strips<<<blocks, march_warps * warp_size, 0, stream>>>(pass);
}

}  // namespace satin::kernels
