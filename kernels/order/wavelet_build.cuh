#pragma once
// The wavelet matrix of a part, built level by level in three kernels: chunks of elements are counted, the
// counts are scanned, the elements are partitioned and the level's tables written.

#include "kernels/order/rank_plane.cuh"
#include "kernels/order/wavelet_matrix.cuh"

namespace satin::kernels {

inline constexpr int build_threads = block_chunks * warp_size;
inline constexpr int batch_groups = 8;  ///< whose loads are in flight together
inline constexpr int scan_threads = 1024;
inline constexpr int scan_columns = 8;  ///< of a block: a sector of 32 bytes
inline constexpr int scan_segments = scan_threads / scan_columns;

template <class Key>
using Element = typename ElementOf<Key>::Type;

/// The element of one pixel of the extended picture, without its digit.
template <class Key>
__device__ Element<Key> element_at(const WaveletArguments& run, int x, int y) {
  const RankJob& job = run.job;
  const int from_x = place_of(x, job.width, job.border);
  const int from_y = place_of(y, job.height, job.border);
  const bool inside = from_x >= 0 && from_y >= 0;
  const Key key = inside ? key_at<Key>(run, from_x, from_y) : outside_key<Key>(run);
  auto element = static_cast<Element<Key>>(ordered_bits(key));
  if (hides(job)) {
    const int last = job.channels - 1;
    Key alpha = 1;
    if (job.weighted)
      alpha = inside ? turn_key(row_of<Key>(run.source, from_y)[from_x * job.channels + last])
                     : static_cast<Key>(run.outside_alpha);
    const std::uint32_t weight = job.excludes && inside ? mask_weight(job, run.mask, from_x, from_y) : 1;
    const bool hidden = !counts(alpha, weight, run.channel == last);
    element |= static_cast<Element<Key>>(hidden) << (sizeof(Key) * 8);
  }
  return element;
}

/// The elements in each order.
template <class Key>
__global__ void __launch_bounds__(plane_threads)
    place_elements(const __grid_constant__ WaveletArguments run,
                   const __grid_constant__ WaveletMatrix matrix) {
  const WaveletPart& part = run.part;
  for_each_pixel(part.columns, part.rows, [&](std::int64_t x, std::int64_t y) {
    const auto element = static_cast<Element<Key>>(
        element_at<Key>(run, part.from_x + static_cast<int>(x), part.from_y + static_cast<int>(y))
        << digit_bits);
    const auto block = static_cast<std::uint32_t>(x) / digits;
    const auto column = static_cast<std::uint32_t>(x) % digits;
    reinterpret_cast<Element<Key>*>(matrix.from[block_order])[(block * part.rows + y) * digits + column] =
        static_cast<Element<Key>>(element | column);
    if (matrix.orders > 1)
      reinterpret_cast<Element<Key>*>(matrix.from[raster_order])[y * part.columns + x] =
          static_cast<Element<Key>>(element | block);
  });
}

/// Counts the zeros of a group below each digit: a lane has its own digit and that 32 further.
class DigitCounts {
 public:
  std::uint32_t low = 0;
  std::uint32_t high = 0;

  __device__ DigitCounts() {
#pragma unroll
    for (int bit = 0; bit < digit_bits - 1; ++bit)
      bound_[bit] = 0U - (static_cast<std::uint32_t>(lane_index()) >> bit & 1);
  }

  __device__ void add(std::uint32_t digit, ElementGroup& group) {
    std::uint32_t less = 0;
#pragma unroll
    for (int bit = 0; bit < digit_bits; ++bit)
      group.digit_planes[bit] = __ballot_sync(whole_warp, (digit >> bit & 1) != 0);
#pragma unroll
    for (int bit = 0; bit < digit_bits - 1; ++bit)
      less = less_with_bit(less, group.digit_planes[bit], bound_[bit]);
    const std::uint32_t top = group.digit_planes[digit_bits - 1];
    low += __popc(less & ~top & group.zero_bits);
    high += __popc((less | ~top) & group.zero_bits);
  }

 private:
  std::uint32_t bound_[digit_bits - 1];
};

/// A warp's chunk, and the counts of the block that it belongs to.
struct Chunk {
  int order = static_cast<int>(blockIdx.y);
  int warp = static_cast<int>(threadIdx.x) / warp_size;
  std::uint32_t first = (blockIdx.x * block_chunks + warp) * chunk_elements;  ///< element
  std::uint32_t* counts;                                                      ///< of the block's first chunk
  std::uint32_t* block;

  __device__ explicit Chunk(const WaveletMatrix& matrix)
      : block(matrix.block_counts + (static_cast<std::size_t>(order) * matrix.blocks + blockIdx.x) * digits) {
    counts = matrix.chunk_counts +
             (static_cast<std::size_t>(order) * matrix.blocks + blockIdx.x) * block_chunks * digits;
  }
};

/// Reads elements, with their bit at a level.
template <class Element>
struct LevelElements {
  const Element* from;
  std::uint32_t count;
  int shift;

  __device__ LevelElements(const WaveletMatrix& matrix, int level, int order)
      : from(reinterpret_cast<const Element*>(matrix.from[order])),
        count(matrix.elements),
        shift(digit_bits + matrix.levels - 1 - level) {}
  /// An element behind the last one is no zero.
  __device__ Element at(std::uint32_t place) const {
    return place < count ? from[place] : static_cast<Element>(Element{1} << shift);
  }
  __device__ bool is_zero(Element element) const { return (element >> shift & 1) == 0; }
};

template <class Element>
__global__ void __launch_bounds__(build_threads)
    count_chunks(const __grid_constant__ WaveletMatrix matrix, int level) {
  __shared__ std::uint32_t of_chunks[block_chunks][digits];
  const Chunk chunk(matrix);
  const LevelElements<Element> elements(matrix, level, chunk.order);
  const int lane = lane_index();
  DigitCounts counts;
  std::uint32_t zeros = 0;
#pragma unroll 8
  for (int i = 0; i < chunk_groups; ++i) {
    const Element element = elements.at(chunk.first + i * element_group + lane);
    ElementGroup group;
    group.zero_bits = __ballot_sync(whole_warp, elements.is_zero(element));
    zeros += __popc(group.zero_bits);
    counts.add(static_cast<std::uint32_t>(element), group);
  }
  of_chunks[chunk.warp][lane] = lane == 0 ? zeros : counts.low;
  of_chunks[chunk.warp][lane + warp_size] = counts.high;
  __syncthreads();
  if (threadIdx.x >= digits) return;
  std::uint32_t before = 0;
#pragma unroll
  for (int i = 0; i < block_chunks; ++i) {
    chunk.counts[i * digits + threadIdx.x] = before;
    before += of_chunks[i][threadIdx.x];
  }
  chunk.block[threadIdx.x] = before;
}

/// Counts of blocks -> sums over the blocks before. The zeros of the level are their sum.
__global__ void __launch_bounds__(scan_threads)
    scan_blocks(const __grid_constant__ WaveletMatrix matrix, int level) {
  __shared__ std::uint32_t sums[scan_segments][scan_columns];
  const std::uint32_t column = threadIdx.x % scan_columns;
  const std::uint32_t segment = threadIdx.x / scan_columns;
  const std::uint32_t rows = (matrix.blocks + scan_segments - 1) / scan_segments;
  const std::uint32_t first = min(segment * rows, matrix.blocks);
  const std::uint32_t end = min(first + rows, matrix.blocks);
  std::uint32_t* counts = matrix.block_counts +
                          blockIdx.y * static_cast<std::size_t>(matrix.blocks) * digits +
                          blockIdx.x * scan_columns + column;
  std::uint32_t sum = 0;
#pragma unroll 8
  for (std::uint32_t i = first; i < end; ++i) sum += counts[static_cast<std::size_t>(i) * digits];
  sums[segment][column] = sum;
  for (std::uint32_t distance = 1; distance < scan_segments; distance *= 2) {
    __syncthreads();
    const std::uint32_t before = segment >= distance ? sums[segment - distance][column] : 0;
    __syncthreads();
    sums[segment][column] += before;
  }
  std::uint32_t before = sums[segment][column] - sum;
#pragma unroll 8
  for (std::uint32_t i = first; i < end; ++i) {
    std::uint32_t& count = counts[static_cast<std::size_t>(i) * digits];
    const std::uint32_t own = count;
    count = before;
    before += own;
  }
  const bool of_zeros = blockIdx.x == 0 && blockIdx.y == 0 && column == 0 && segment == scan_segments - 1;
  if (of_zeros) matrix.zeros[level] = before;
}

/// The groups and tables of a level, and its elements in the order of the next one.
template <class Element>
__global__ void __launch_bounds__(build_threads)
    partition_chunks(const __grid_constant__ WaveletMatrix matrix, int level) {
  const Chunk chunk(matrix);
  const LevelElements<Element> elements(matrix, level, chunk.order);
  auto* to = reinterpret_cast<Element*>(matrix.to[chunk.order]);
  const int lane = lane_index();
  const std::uint32_t all_zeros = matrix.zeros[level];
  const std::uint32_t before_lane = (1U << lane) - 1;
  const std::uint32_t* before = chunk.counts + chunk.warp * digits;
  DigitCounts counts;
  counts.low = lane == 0 ? 0 : before[lane] + chunk.block[lane];
  counts.high = before[lane + warp_size] + chunk.block[lane + warp_size];
  std::uint32_t zeros = before[0] + chunk.block[0];
  std::size_t index = matrix.group_of(level, chunk.order) + chunk.first / element_group;
  for (std::uint32_t first = chunk.first; first < chunk.first + chunk_elements;
       first += batch_groups * element_group) {
    Element batch[batch_groups];
#pragma unroll
    for (int i = 0; i < batch_groups; ++i) batch[i] = elements.at(first + i * element_group + lane);
#pragma unroll
    for (int i = 0; i < batch_groups; ++i, ++index) {
      const std::uint32_t place = first + i * element_group + lane;
      if (place - lane > matrix.elements) return;
      const bool zero = elements.is_zero(batch[i]);
      ElementGroup group;
      group.zero_bits = __ballot_sync(whole_warp, zero);
      group.zeros = zeros;
      matrix.below[index * digits + lane] = counts.low;
      matrix.below[index * digits + lane + warp_size] = counts.high;
      counts.add(static_cast<std::uint32_t>(batch[i]), group);
      if (lane == 0) matrix.element_groups[index] = group;
      const std::uint32_t zeros_before = zeros + __popc(group.zero_bits & before_lane);
      if (place < matrix.elements) to[zero ? zeros_before : all_zeros + place - zeros_before] = batch[i];
      zeros += __popc(group.zero_bits);
    }
  }
}

}  // namespace satin::kernels
