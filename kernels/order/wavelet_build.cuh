#pragma once
// The wavelet matrix of a part, built level by level in three kernels: chunks of elements are counted, the
// counts are scanned over the chunks, the elements are partitioned. The tables of a level need its zeros side
// by side, so they are made a level later.

#include "kernels/order/rank_plane.cuh"
#include "kernels/order/wavelet_matrix.cuh"

namespace satin::kernels {

inline constexpr int build_threads = 256;
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

/// The elements of both orders.
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
    reinterpret_cast<Element<Key>*>(matrix.from[raster_order])[y * part.columns + x] =
        static_cast<Element<Key>>(element | block);
    reinterpret_cast<Element<Key>*>(matrix.from[block_order])[(block * part.rows + y) * digits + column] =
        static_cast<Element<Key>>(element | column);
  });
}

/// Counts the elements of a group below each digit: a lane has its own digit and that 32 further.
class DigitCounts {
 public:
  std::uint32_t low = 0;
  std::uint32_t high = 0;

  __device__ DigitCounts() {
#pragma unroll
    for (int bit = 0; bit < digit_bits - 1; ++bit)
      bound_[bit] = 0U - (static_cast<std::uint32_t>(lane_index()) >> bit & 1);
  }

  /// Lanes of `in` have an element.
  __device__ DigitPlanes add(std::uint32_t digit, std::uint32_t in) {
    DigitPlanes planes{};
    std::uint32_t less = 0;
#pragma unroll
    for (int bit = 0; bit < digit_bits - 1; ++bit) {
      planes.of_bit[bit] = __ballot_sync(whole_warp, (digit >> bit & 1) != 0);
      less = less_with_bit(less, planes.of_bit[bit], bound_[bit]);
    }
    const std::uint32_t top = __ballot_sync(whole_warp, (digit >> (digit_bits - 1) & 1) != 0);
    planes.of_bit[digit_bits - 1] = top;
    low += __popc(less & ~top & in);
    high += __popc((less | ~top) & in);
    return planes;
  }

 private:
  std::uint32_t bound_[digit_bits - 1];
};

/// Where a warp's chunk is, and what it does.
struct Chunk {
  std::uint32_t index;
  int order;
  std::uint32_t first;    ///< element
  std::uint32_t counted;  ///< elements before this one have a digit in the tables of the level before
  std::uint32_t* counts;  ///< of this chunk

  __device__ Chunk(const WaveletMatrix& matrix, int level)
      : index(blockIdx.x * (build_threads / warp_size) + threadIdx.x / warp_size),
        order(static_cast<int>(blockIdx.y)),
        first(index * chunk_elements),
        counted(level > 0 ? matrix.zeros[level - 1] : 0),
        counts(matrix.chunk_counts + (static_cast<std::size_t>(order) * matrix.chunks + index) * digits) {}
};

template <class Element>
__device__ bool bit_is_zero(const WaveletMatrix& matrix, int level, Element element) {
  return (element >> (digit_bits + matrix.levels - 1 - level) & 1) == 0;
}

template <class Element>
__global__ void __launch_bounds__(build_threads)
    count_chunks(const __grid_constant__ WaveletMatrix matrix, int level) {
  const Chunk chunk(matrix, level);
  if (chunk.index >= matrix.chunks) return;
  const auto* elements = reinterpret_cast<const Element*>(matrix.from[chunk.order]);
  const int lane = lane_index();
  DigitCounts counts;
  std::uint32_t zeros = 0;
#pragma unroll 8
  for (int group = 0; group < chunk_groups; ++group) {
    const std::uint32_t place = chunk.first + group * element_group + lane;
    const bool exists = place < matrix.elements;
    const Element element = exists ? elements[place] : Element{0};
    if (level < matrix.levels)
      zeros += __popc(__ballot_sync(whole_warp, exists && bit_is_zero(matrix, level, element)));
    if (place - lane < chunk.counted)
      counts.add(static_cast<std::uint32_t>(element), __ballot_sync(whole_warp, place < chunk.counted));
  }
  chunk.counts[lane] = lane == 0 ? zeros : counts.low;
  chunk.counts[lane + warp_size] = counts.high;
}

/// Counts of chunks -> sums over the chunks before. The zeros of the level are their sum.
__global__ void __launch_bounds__(scan_threads)
    scan_chunks(const __grid_constant__ WaveletMatrix matrix, int level) {
  __shared__ std::uint32_t sums[scan_segments][scan_columns];
  const std::uint32_t column = threadIdx.x % scan_columns;
  const std::uint32_t segment = threadIdx.x / scan_columns;
  const std::uint32_t rows = (matrix.chunks + scan_segments - 1) / scan_segments;
  const std::uint32_t first = min(segment * rows, matrix.chunks);
  const std::uint32_t end = min(first + rows, matrix.chunks);
  std::uint32_t* counts = matrix.chunk_counts +
                          blockIdx.y * static_cast<std::size_t>(matrix.chunks) * digits +
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
  if (of_zeros && level < matrix.levels) matrix.zeros[level] = before;
}

/// The words of a level, its elements in the order of the next one, and the tables of the level before.
template <class Element>
__global__ void __launch_bounds__(build_threads)
    partition_chunks(const __grid_constant__ WaveletMatrix matrix, int level) {
  const Chunk chunk(matrix, level);
  if (chunk.index >= matrix.chunks) return;
  const auto* from = reinterpret_cast<const Element*>(matrix.from[chunk.order]);
  auto* to = reinterpret_cast<Element*>(matrix.to[chunk.order]);
  const int lane = lane_index();
  const bool partitions = level < matrix.levels;
  const std::uint32_t all_zeros = partitions ? matrix.zeros[level] : 0;
  const std::size_t tables = matrix.word_of(level - 1, chunk.order);
  DigitCounts counts;
  counts.low = lane == 0 ? 0 : chunk.counts[lane];
  counts.high = chunk.counts[lane + warp_size];
  RankWord word{0, chunk.counts[0]};
  RankWord own_word{};
#pragma unroll 4
  for (int group = 0; group < chunk_groups; ++group) {
    const std::uint32_t first = chunk.first + group * element_group;
    const std::uint32_t place = first + lane;
    const bool exists = place < matrix.elements;
    const Element element = exists ? from[place] : Element{0};
    if (level > 0 && first <= chunk.counted) {
      const std::size_t index = tables + first / element_group;
      matrix.below[index * digits + lane] = counts.low;
      matrix.below[index * digits + lane + warp_size] = counts.high;
      const DigitPlanes planes =
          counts.add(static_cast<std::uint32_t>(element), __ballot_sync(whole_warp, place < chunk.counted));
      if (lane == 0) matrix.planes[index] = planes;
    }
    if (!partitions) continue;
    const bool zero = exists && bit_is_zero(matrix, level, element);
    word.zero_bits = __ballot_sync(whole_warp, zero);
    if (lane == group) own_word = word;
    const std::uint32_t zeros = word.zeros_before(lane);
    if (exists) to[zero ? zeros : all_zeros + place - zeros] = element;
    word.zeros += __popc(word.zero_bits);
  }
  const std::uint32_t own = chunk.index * chunk_groups + lane;
  if (partitions && own < matrix.words) matrix.ranks[matrix.word_of(level, chunk.order) + own] = own_word;
}

}  // namespace satin::kernels
