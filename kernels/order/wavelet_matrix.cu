// Ranks in windows of any size, any type and with a radius per pixel, by a wavelet matrix of the pixels that
// the windows of a chunk see (Moroto and Umetani, Constant Time Median Filter Using 2D Wavelet Matrix,
// SIGGRAPH Asia 2022), with tables in place of the paper's inner matrices. The cost of an output does not
// depend on its radius: it reads a few table entries for each bit of a key.
//
// Level by level, from the keys' highest bit on, the elements are stably partitioned: those whose bit is 0
// come first. Elements of equal higher bits stay together in their first order, so a range of that order
// becomes a range of each level, found by counting the zeros before its two ends.
//
// The first order is block by block of 64 columns, each block row by row, so the rows of one block are a
// range. A window consists of the block of its first column, without the columns left of it, the blocks after
// that, and the columns left of its end in its last block. The elements of a range that are left of such an
// edge are counted by their digit, the column in the block: a table has the number of zeros with digit < d
// before every 32 elements, and within these the digits are compared in bit planes.
//
// Wide windows have more than one whole block between the blocks of their edges. For them the elements are
// partitioned in raster order, too, where the rows of a window are one range and the digit is the block.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/device/warp.cuh"
#include "kernels/order/launch.h"
#include "kernels/order/rank_plane.cuh"

namespace satin::kernels {
namespace {

constexpr int digit_bits = 6;
constexpr int digits = 1 << digit_bits;
constexpr int element_group = warp_size;
constexpr int tile_groups = 32;  ///< per warp: its tile of elements
constexpr int tile_elements = tile_groups * element_group;
constexpr int block_tiles = 8;

enum ElementOrder { block_order, raster_order };

/// Windows up to this reach have at most one whole block between the blocks of their edges.
constexpr int narrow_reach = digits - 1;

struct alignas(32) ElementGroup {
  std::uint32_t zero_bits;                 ///< elements whose bit of the level is 0
  std::uint32_t zeros;                     ///< number of such elements before this group
  std::uint32_t digit_planes[digit_bits];  ///< the digits of the elements, bit by bit
};

/// An element. From the highest bit on: hidden (if pixels can be), the key, the digit.
template <class Key>
using Element = std::conditional_t<sizeof(Key) == 1, std::uint16_t,
                                   std::conditional_t<sizeof(Key) == 2, std::uint32_t, std::uint64_t>>;

/// Returns the bits of a key in an order without signs.
template <class Key>
__device__ std::uint32_t ordered_bits(Key key) {
  const auto bits = static_cast<std::uint32_t>(key);
  return sizeof(Key) == 4 ? bits ^ 0x80000000U : bits;
}
template <class Key>
__device__ Key key_of_bits(std::uint32_t bits) {
  return static_cast<Key>(sizeof(Key) == 4 ? bits ^ 0x80000000U : bits);
}

/// Whether some pixels of the picture do not count in the windows of others.
SATIN_HD bool hides(const RankJob& job) { return job.weighted || job.excludes; }

int key_bits(const RankJob& job) { return job.type == Type::u8 ? 8 : job.type == Type::u16 ? 16 : 32; }

/// One level for each bit of a key, after one for hidden elements.
int wavelet_levels(const RankJob& job) { return key_bits(job) + (hides(job) ? 1 : 0); }

/// Whether windows have so many blocks between their edges that elements are needed in raster order, too.
bool is_wide(const RankJob& job) { return largest_reach(job.reach).x > narrow_reach; }

/// The workspace of one chunk. Each level and order has groups for the positions 0 to `elements`.
struct WaveletMatrix {
  int levels = 0;
  int orders = 1;
  std::uint32_t elements = 0;
  std::uint32_t groups = 0;
  std::uint32_t tiles = 0;
  std::uint32_t blocks = 0;        ///< blocks of block_tiles tiles
  std::byte* from[2] = {};         ///< elements for each order, in the order of the level that is being built
  std::byte* to[2] = {};           ///< elements in the order of the next level
  std::uint32_t* zeros = nullptr;  ///< number of zeros on each level
  /// Numbers of zeros with digit < d, for each order: before a tile in its block of tiles, and before a
  /// block. No digit is below 0, so entry 0 holds the number of all zeros instead.
  std::uint32_t* tile_counts = nullptr;
  std::uint32_t* block_counts = nullptr;
  ElementGroup* element_groups = nullptr;
  std::uint32_t* below = nullptr;  ///< for each group, the number of zeros with digit < d before it

  __host__ __device__ std::size_t group_of(int level, int order) const {
    return (static_cast<std::size_t>(level) * orders + order) * groups;
  }
};

/// A digit that others are compared with, and its bits as one word each: all ones or all zeros.
struct Edge {
  std::uint32_t digit;
  std::uint32_t bound[digit_bits];

  __device__ explicit Edge(std::uint32_t of_digit) : digit(of_digit) {
#pragma unroll
    for (int bit = 0; bit < digit_bits; ++bit) bound[bit] = 0U - (digit >> bit & 1);
  }
};

/// One step of comparing 32 numbers with a bound, from the lowest bit on: `less` is the result for the bits
/// below.
__device__ std::uint32_t less_with_bit(std::uint32_t less, std::uint32_t bits, std::uint32_t bound) {
  return (less & ~bits) | (less & bound) | (~bits & bound);
}

// Building the matrix, level by level, in three kernels: tiles of elements are counted, the counts are
// scanned, then the elements are partitioned and the level's tables written.

constexpr int build_threads = block_tiles * warp_size;
constexpr int batch_groups = 8;  ///< groups whose loads are in flight together
constexpr int scan_threads = 1024;
constexpr int scan_columns = 8;  ///< columns per block: a sector of 32 bytes
constexpr int scan_rows = scan_threads / scan_columns;

/// Returns the element of one pixel of the extended picture, without its digit.
template <class Key>
__device__ Element<Key> element_at(const WaveletArguments& run, int x, int y) {
  const RankJob& job = run.job;
  const int from_x = place_of(x, job.width, job.border);
  const int from_y = place_of(y, job.height, job.border);
  const bool inside = from_x >= 0 && from_y >= 0;
  const Key key = key_or_outside<Key>(run, from_x, from_y, run.channel);
  auto element = static_cast<Element<Key>>(ordered_bits(key));
  if (hides(job)) {
    const int last = job.channels - 1;
    const Key alpha = job.weighted ? key_or_outside<Key>(run, from_x, from_y, last) : Key{1};
    const std::uint32_t weight =
        job.excludes && inside ? mask_at(job.mask_maximum, run.mask, from_x, from_y) : 1;
    const bool hidden = !counts(alpha, weight, run.channel == last);
    element |= static_cast<Element<Key>>(hidden) << (sizeof(Key) * 8);
  }
  return element;
}

template <class Key>
__global__ void __launch_bounds__(plane_threads)
    write_elements(const __grid_constant__ WaveletArguments run,
                   const __grid_constant__ WaveletMatrix matrix) {
  const WaveletChunk& chunk = run.chunk;
  for_each_pixel(chunk.columns, chunk.rows, [&](std::int64_t x, std::int64_t y) {
    const auto element = static_cast<Element<Key>>(
        element_at<Key>(run, chunk.from_x + static_cast<int>(x), chunk.from_y + static_cast<int>(y))
        << digit_bits);
    const auto block = static_cast<std::uint32_t>(x) / digits;
    const auto column = static_cast<std::uint32_t>(x) % digits;
    reinterpret_cast<Element<Key>*>(matrix.from[block_order])[(block * chunk.rows + y) * digits + column] =
        static_cast<Element<Key>>(element | column);
    if (matrix.orders > 1)
      reinterpret_cast<Element<Key>*>(matrix.from[raster_order])[y * chunk.columns + x] =
          static_cast<Element<Key>>(element | block);
  });
}

/// Counts the zeros of groups below each digit. Lane l counts for the digits l and l + 32.
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

/// A warp's tile of elements, and the counts of its block of tiles.
struct WarpTile {
  int order = static_cast<int>(blockIdx.y);
  int warp = static_cast<int>(threadIdx.x) / warp_size;
  std::uint32_t first = (blockIdx.x * block_tiles + warp) * tile_elements;  ///< element
  std::uint32_t* counts;  ///< counts of the block's first tile
  std::uint32_t* block;

  __device__ explicit WarpTile(const WaveletMatrix& matrix)
      : block(matrix.block_counts + (static_cast<std::size_t>(order) * matrix.blocks + blockIdx.x) * digits) {
    counts = matrix.tile_counts +
             (static_cast<std::size_t>(order) * matrix.blocks + blockIdx.x) * block_tiles * digits;
  }
};

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
  __device__ Element at(std::uint32_t position) const {
    return position < count ? from[position] : static_cast<Element>(Element{1} << shift);
  }
  __device__ bool is_zero(Element element) const { return (element >> shift & 1) == 0; }
};

template <class Element>
__global__ void __launch_bounds__(build_threads)
    count_tiles(const __grid_constant__ WaveletMatrix matrix, int level) {
  __shared__ std::uint32_t of_tiles[block_tiles][digits];
  const WarpTile tile(matrix);
  const LevelElements<Element> elements(matrix, level, tile.order);
  const int lane = lane_index();
  DigitCounts counts;
  std::uint32_t zeros = 0;
#pragma unroll 8
  for (int i = 0; i < tile_groups; ++i) {
    const Element element = elements.at(tile.first + i * element_group + lane);
    ElementGroup group;
    group.zero_bits = __ballot_sync(whole_warp, elements.is_zero(element));
    zeros += __popc(group.zero_bits);
    counts.add(static_cast<std::uint32_t>(element), group);
  }
  of_tiles[tile.warp][lane] = lane == 0 ? zeros : counts.low;
  of_tiles[tile.warp][lane + warp_size] = counts.high;
  __syncthreads();
  if (threadIdx.x >= digits) return;
  std::uint32_t before = 0;
#pragma unroll
  for (int i = 0; i < block_tiles; ++i) {
    tile.counts[i * digits + threadIdx.x] = before;
    before += of_tiles[i][threadIdx.x];
  }
  tile.block[threadIdx.x] = before;
}

/// Turns counts of blocks into sums over the blocks before. The sum of all is the number of the level's
/// zeros. Each row of threads sums a run of blocks; the sums of the rows are scanned in shared memory.
__global__ void __launch_bounds__(scan_threads)
    scan_blocks(const __grid_constant__ WaveletMatrix matrix, int level) {
  __shared__ std::uint32_t sums[scan_rows][scan_columns];
  const std::uint32_t column = threadIdx.x % scan_columns;
  const std::uint32_t row = threadIdx.x / scan_columns;
  const std::uint32_t blocks_per_row = (matrix.blocks + scan_rows - 1) / scan_rows;
  const std::uint32_t first = min(row * blocks_per_row, matrix.blocks);
  const std::uint32_t end = min(first + blocks_per_row, matrix.blocks);
  std::uint32_t* counts = matrix.block_counts +
                          blockIdx.y * static_cast<std::size_t>(matrix.blocks) * digits +
                          blockIdx.x * scan_columns + column;
  std::uint32_t sum = 0;
#pragma unroll 8
  for (std::uint32_t i = first; i < end; ++i) sum += counts[static_cast<std::size_t>(i) * digits];
  sums[row][column] = sum;
  for (std::uint32_t distance = 1; distance < scan_rows; distance *= 2) {
    __syncthreads();
    const std::uint32_t before = row >= distance ? sums[row - distance][column] : 0;
    __syncthreads();
    sums[row][column] += before;
  }
  std::uint32_t before = sums[row][column] - sum;
#pragma unroll 8
  for (std::uint32_t i = first; i < end; ++i) {
    std::uint32_t& count = counts[static_cast<std::size_t>(i) * digits];
    const std::uint32_t own = count;
    count = before;
    before += own;
  }
  const bool of_zeros = blockIdx.x == 0 && blockIdx.y == 0 && column == 0 && row == scan_rows - 1;
  if (of_zeros) matrix.zeros[level] = before;
}

/// Writes the groups and tables of a level, and its elements in the order of the next one.
template <class Element>
__global__ void __launch_bounds__(build_threads)
    partition_tiles(const __grid_constant__ WaveletMatrix matrix, int level) {
  const WarpTile tile(matrix);
  const LevelElements<Element> elements(matrix, level, tile.order);
  auto* to = reinterpret_cast<Element*>(matrix.to[tile.order]);
  const int lane = lane_index();
  const std::uint32_t all_zeros = matrix.zeros[level];
  const std::uint32_t before_lane = (1U << lane) - 1;
  const std::uint32_t* before = tile.counts + tile.warp * digits;
  DigitCounts counts;
  counts.low = lane == 0 ? 0 : before[lane] + tile.block[lane];
  counts.high = before[lane + warp_size] + tile.block[lane + warp_size];
  std::uint32_t zeros = before[0] + tile.block[0];
  std::size_t index = matrix.group_of(level, tile.order) + tile.first / element_group;
  for (std::uint32_t first = tile.first; first < tile.first + tile_elements;
       first += batch_groups * element_group) {
    Element batch[batch_groups];
#pragma unroll
    for (int i = 0; i < batch_groups; ++i) batch[i] = elements.at(first + i * element_group + lane);
#pragma unroll
    for (int i = 0; i < batch_groups; ++i, ++index) {
      const std::uint32_t position = first + i * element_group + lane;
      if (position - lane > matrix.elements) return;
      const bool zero = elements.is_zero(batch[i]);
      ElementGroup group;
      group.zero_bits = __ballot_sync(whole_warp, zero);
      group.zeros = zeros;
      matrix.below[index * digits + lane] = counts.low;
      matrix.below[index * digits + lane + warp_size] = counts.high;
      counts.add(static_cast<std::uint32_t>(batch[i]), group);
      if (lane == 0) matrix.element_groups[index] = group;
      const std::uint32_t zeros_before = zeros + __popc(group.zero_bits & before_lane);
      if (position < matrix.elements)
        to[zero ? zeros_before : all_zeros + position - zeros_before] = batch[i];
      zeros += __popc(group.zero_bits);
    }
  }
}

// Looking up the rank of a window's pixels, bit by bit: if at least `rank` of the window's elements have a 0,
// the bit of the wanted key is 0 and these elements remain; otherwise the others do.

constexpr int query_rows = 4;  ///< rows per block, one per warp

struct LevelTables {
  const ElementGroup* groups;
  const std::uint32_t* below;

  __device__ LevelTables(const WaveletMatrix& matrix, int level, int order)
      : groups(matrix.element_groups + matrix.group_of(level, order)),
        below(matrix.below + matrix.group_of(level, order) * digits) {}

  __device__ std::uint32_t zeros_before(std::uint32_t position) const {
    const uint2 group = __ldg(reinterpret_cast<const uint2*>(groups + position / element_group));
    return group.y + __popc(group.x & ((1U << position % element_group) - 1));
  }
};

class LevelPosition {
 public:
  __device__ LevelPosition(const LevelTables& tables, std::uint32_t position)
      : below_(tables.below + static_cast<std::size_t>(position / element_group) * digits) {
    const auto* words = reinterpret_cast<const uint4*>(tables.groups + position / element_group);
    low_ = __ldg(words);
    high_ = __ldg(words + 1);
    zeros_here_ = low_.x & ((1U << position % element_group) - 1);
  }

  __device__ std::uint32_t zeros() const { return low_.y + __popc(zeros_here_); }

  /// Number of zeros before this position whose digit is smaller than the edge's.
  __device__ std::uint32_t smaller(const Edge& edge) const {
    const std::uint32_t(&bound)[digit_bits] = edge.bound;
    std::uint32_t less = ~low_.z & bound[0];
    less = less_with_bit(less, low_.w, bound[1]);
    less = less_with_bit(less, high_.x, bound[2]);
    less = less_with_bit(less, high_.y, bound[3]);
    less = less_with_bit(less, high_.z, bound[4]);
    less = less_with_bit(less, high_.w, bound[5]);
    return __ldg(below_ + edge.digit) + __popc(less & zeros_here_);
  }

 private:
  const std::uint32_t* below_;
  uint4 low_;
  uint4 high_;
  std::uint32_t zeros_here_;
};

/// Rows of a window as a range of a level's order: rows of one block, or whole rows in raster order.
struct ElementRange {
  std::uint32_t low = 0;
  std::uint32_t high = 0;

  [[nodiscard]] __device__ std::uint32_t size() const { return high - low; }
  [[nodiscard]] __device__ ElementRange ones(const ElementRange& zeros, std::uint32_t all_zeros) const {
    return {all_zeros + low - zeros.low, all_zeros + high - zeros.high};
  }
};

/// Returns the number of zeros of a range that are left of an edge. `zeros` gets the range of all its zeros
/// on the next level.
__device__ std::uint32_t zeros_left_of(const LevelTables& tables, const ElementRange& range, const Edge& edge,
                                       ElementRange& zeros) {
  const LevelPosition low(tables, range.low);
  const LevelPosition high(tables, range.high);
  zeros = {low.zeros(), high.zeros()};
  return high.smaller(edge) - low.smaller(edge);
}

/// A window in coordinates of the chunk; right and bottom are one past the last column and row.
struct ChunkWindow {
  std::uint32_t left, right, top, bottom;
};

/// The elements of a window that remain on a level, as ranges of the blocks of its edges and of what lies
/// between.
template <bool Wide>
class WindowRanges {
 public:
  __device__ WindowRanges(const ChunkWindow& window, const WaveletChunk& chunk)
      : left_edge_(window.left % digits),
        right_edge_(window.right % digits),
        left_block_(Wide ? window.left / digits : 0),
        right_block_(Wide ? window.right / digits : 0) {
    const std::uint32_t left = window.left / digits;
    const std::uint32_t right = window.right / digits;
    const auto rows_of = [&](std::uint32_t block) {
      const std::uint32_t first = block * chunk.rows;
      return ElementRange{(first + window.top) * digits, (first + window.bottom) * digits};
    };
    left_ = rows_of(left);
    // There is no block after the last one, and no column in it would count.
    right_ = rows_of(min(right, static_cast<std::uint32_t>(chunk.columns) / digits - 1));
    several_ = left != right;
    if constexpr (Wide)
      middle_ = {window.top * chunk.columns, window.bottom * chunk.columns};
    else if (right - left > 1)
      middle_ = rows_of(left + 1);
  }

  struct Zeros {
    ElementRange left, middle, right;
  };

  /// Returns the number of zeros, and their ranges on the next level.
  __device__ std::uint32_t count_zeros(const WaveletMatrix& matrix, int level, Zeros& zeros) const {
    const LevelTables blocks(matrix, level, block_order);
    std::uint32_t count = zeros_left_of(blocks, right_, right_edge_, zeros.right);
    count -= zeros_left_of(blocks, left_, left_edge_, zeros.left);
    if constexpr (Wide) {
      const LevelTables raster(matrix, level, raster_order);
      const LevelPosition low(raster, middle_.low);
      const LevelPosition high(raster, middle_.high);
      zeros.middle = {low.zeros(), high.zeros()};
      count += high.smaller(right_block_) - high.smaller(left_block_);
      count -= low.smaller(right_block_) - low.smaller(left_block_);
    } else {
      zeros.middle = {blocks.zeros_before(middle_.low), blocks.zeros_before(middle_.high)};
      count += zeros.middle.size() + (several_ ? zeros.left.size() : 0);
    }
    return count;
  }
  __device__ void take_zeros(const Zeros& zeros) {
    left_ = zeros.left;
    middle_ = zeros.middle;
    right_ = zeros.right;
  }
  __device__ void take_ones(const Zeros& zeros, std::uint32_t all_zeros) {
    left_ = left_.ones(zeros.left, all_zeros);
    middle_ = middle_.ones(zeros.middle, all_zeros);
    right_ = right_.ones(zeros.right, all_zeros);
  }

 private:
  Edge left_edge_, right_edge_, left_block_, right_block_;
  ElementRange left_, middle_, right_;
  bool several_;
};

__device__ int2 reach_at(const RankArguments& run, int x, int y) {
  const ReachField& field = run.job.reach;
  if (!field.from_map) return {field.x, field.y};
  int reach = 0;
  if (field.map_type == Type::u8)
    reach = reach_from_map(row_of<std::uint8_t>(run.radius_map, y)[x], 0xFF, field.low, field.high);
  else if (field.map_type == Type::u16)
    reach = reach_from_map(row_of<std::uint16_t>(run.radius_map, y)[x], 0xFFFF, field.low, field.high);
  else
    reach = reach_from_map(row_of<float>(run.radius_map, y)[x], field.low, field.high);
  return {reach, reach};
}

__device__ ChunkWindow window_of(const WaveletArguments& run, int x, int y) {
  const RankJob& job = run.job;
  const int2 reach = reach_at(run, x, y);
  int left = x - reach.x;
  int right = x + reach.x;
  int top = y - reach.y;
  int bottom = y + reach.y;
  if (job.border == Border::shrink) {
    left = max(left, 0);
    right = min(right, static_cast<int>(job.width) - 1);
    top = max(top, 0);
    bottom = min(bottom, static_cast<int>(job.height) - 1);
  }
  const WaveletChunk& chunk = run.chunk;
  return {
      static_cast<std::uint32_t>(left - chunk.from_x), static_cast<std::uint32_t>(right + 1 - chunk.from_x),
      static_cast<std::uint32_t>(top - chunk.from_y), static_cast<std::uint32_t>(bottom + 1 - chunk.from_y)};
}

/// Finds the bits of the wanted key. Returns false if no pixel counts. The first level is that of hidden
/// elements if there are any.
template <bool Wide>
__device__ bool find_rank(const WaveletArguments& run, const WaveletMatrix& matrix, const ChunkWindow& window,
                          std::uint32_t& bits) {
  WindowRanges<Wide> ranges(window, run.chunk);
  typename WindowRanges<Wide>::Zeros zeros;
  std::uint32_t count = (window.right - window.left) * (window.bottom - window.top);
  int level = 0;
  if (hides(run.job)) {
    count = ranges.count_zeros(matrix, level++, zeros);
    if (count == 0) return false;
    ranges.take_zeros(zeros);
  }
  std::uint32_t rank = rank_of(run.job.percent, count);
  bits = 0;
  for (; level < matrix.levels; ++level) {
    const std::uint32_t in_zeros = ranges.count_zeros(matrix, level, zeros);
    const bool one = rank > in_zeros;
    bits = 2 * bits + (one ? 1 : 0);
    if (one) {
      rank -= in_zeros;
      ranges.take_ones(zeros, __ldg(matrix.zeros + level));
    } else {
      ranges.take_zeros(zeros);
    }
  }
  return true;
}

template <class Key, bool Wide>
__global__ void __launch_bounds__(query_rows* warp_size)
    query_windows(const __grid_constant__ WaveletArguments run,
                  const __grid_constant__ WaveletMatrix matrix) {
  const int column = static_cast<int>(blockIdx.x) * warp_size + lane_index();
  const int row = static_cast<int>(blockIdx.y) * query_rows + static_cast<int>(threadIdx.x) / warp_size;
  if (column >= run.chunk.width || row >= run.chunk.height) return;
  const int x = run.chunk.x + column;
  const int y = run.chunk.y + row;
  std::uint32_t bits = 0;
  const bool found = find_rank<Wide>(run, matrix, window_of(run, x, y), bits);
  store_key(run, x, y, run.channel, found ? key_of_bits<Key>(bits) : key_at<Key>(run, x, y, run.channel));
}

// Cutting a picture into chunks, and the launches for one of them.

/// Blocks are digits where windows are wide, and one number is needed for the end of the last block.
constexpr std::int64_t most_columns = (digits - 1) * digits;
constexpr std::size_t alignment = 256;

/// Largest number of elements per chunk. For 8 and 16 bits these are the pixels of 3840 x 2160, for which the
/// workspace has 0.7 and 1.3 GB, and twice that for wide windows.
std::int64_t most_elements(const RankJob& job) { return job.type == Type::f32 ? 1 << 22 : 1 << 23; }

std::int64_t chunks_for(std::int64_t count, std::int64_t size) { return (count + size - 1) / size; }
std::int64_t whole_blocks(std::int64_t columns) { return chunks_for(columns, digits) * digits; }

/// Returns how many columns or rows the windows of `inner` neighbouring outputs see.
std::int64_t seen(const RankJob& job, std::int64_t inner, std::int64_t reach, std::int64_t size) {
  const std::int64_t all = inner + 2 * reach;
  return job.border == Border::shrink && all > size ? size : all;
}

/// Lays arrays out in the workspace one after the other. Without memory it only adds up their bytes.
class WorkspaceLayout {
 public:
  explicit WorkspaceLayout(std::byte* memory) : memory_(memory) {}

  template <class T>
  T* take(std::size_t count) {
    std::byte* array = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += (count * sizeof(T) + alignment - 1) / alignment * alignment;
    return reinterpret_cast<T*>(array);
  }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  std::byte* memory_;
  std::size_t used_ = 0;
};

WaveletMatrix lay_out(const RankJob& job, std::int64_t elements, WorkspaceLayout& layout) {
  WaveletMatrix matrix;
  matrix.levels = wavelet_levels(job);
  matrix.orders = is_wide(job) ? 2 : 1;
  matrix.elements = static_cast<std::uint32_t>(elements);
  matrix.groups = matrix.elements / element_group + 1;
  matrix.blocks = matrix.elements / (tile_elements * block_tiles) + 1;
  matrix.tiles = matrix.blocks * block_tiles;
  const std::size_t element_bytes = static_cast<std::size_t>(key_bits(job)) / 8 * 2;
  const auto orders = static_cast<std::size_t>(matrix.orders);
  for (int order = 0; order < matrix.orders; ++order) {
    matrix.from[order] = layout.take<std::byte>(matrix.elements * element_bytes);
    matrix.to[order] = layout.take<std::byte>(matrix.elements * element_bytes);
  }
  matrix.zeros = layout.take<std::uint32_t>(static_cast<std::size_t>(matrix.levels));
  matrix.tile_counts = layout.take<std::uint32_t>(orders * matrix.tiles * digits);
  matrix.block_counts = layout.take<std::uint32_t>(orders * matrix.blocks * digits);
  const std::size_t groups = matrix.group_of(matrix.levels, 0);
  matrix.element_groups = layout.take<ElementGroup>(groups);
  matrix.below = layout.take<std::uint32_t>(groups * digits);
  return matrix;
}

template <class Key>
void build(const WaveletArguments& arguments, WaveletMatrix& matrix, StreamHandle stream) {
  const WaveletChunk& chunk = arguments.chunk;
  write_elements<Key><<<plane_grid(chunk.columns, chunk.rows), plane_threads, 0, stream>>>(arguments, matrix);
  const auto orders = static_cast<unsigned>(matrix.orders);
  const dim3 blocks(matrix.blocks, orders);
  for (int level = 0; level < matrix.levels; ++level) {
    count_tiles<Element<Key>><<<blocks, build_threads, 0, stream>>>(matrix, level);
    scan_blocks<<<dim3(digits / scan_columns, orders), scan_threads, 0, stream>>>(matrix, level);
    partition_tiles<Element<Key>><<<blocks, build_threads, 0, stream>>>(matrix, level);
    std::swap(matrix.from, matrix.to);
  }
}

}  // namespace

WaveletChunkSize wavelet_chunk_size(const RankJob& job) {
  const LargestReach reach = largest_reach(job.reach);
  // Widths are the picture's, halved again and again. The one with the fewest elements in all chunks wins.
  WaveletChunkSize best;
  std::int64_t fewest = INT64_MAX;
  for (std::int64_t width = job.width; width > 0; width /= 2) {
    const std::int64_t columns = whole_blocks(seen(job, width, reach.x, job.width));
    if (is_wide(job) && columns > most_columns) continue;
    const std::int64_t most_rows = most_elements(job) / columns;
    std::int64_t height = job.height;
    if (seen(job, height, reach.y, job.height) > most_rows) height = most_rows - 2 * reach.y;
    if (height < 1) continue;
    const std::int64_t elements = columns * seen(job, height, reach.y, job.height);
    const std::int64_t all = chunks_for(job.width, width) * chunks_for(job.height, height) * elements;
    if (all >= fewest) continue;
    fewest = all;
    best = {static_cast<int>(width), static_cast<int>(height), elements};
  }
  return best;
}

WaveletChunk wavelet_chunk(const RankJob& job, const WaveletChunkSize& size, int x, int y) {
  const LargestReach reach = largest_reach(job.reach);
  WaveletChunk chunk;
  chunk.x = x;
  chunk.y = y;
  chunk.width = std::min(size.width, static_cast<int>(job.width) - x);
  chunk.height = std::min(size.height, static_cast<int>(job.height) - y);
  chunk.from_x = x - static_cast<int>(reach.x);
  chunk.from_y = y - static_cast<int>(reach.y);
  int end_x = x + chunk.width + static_cast<int>(reach.x);
  int end_y = y + chunk.height + static_cast<int>(reach.y);
  if (job.border == Border::shrink) {
    chunk.from_x = std::max(chunk.from_x, 0);
    chunk.from_y = std::max(chunk.from_y, 0);
    end_x = std::min(end_x, static_cast<int>(job.width));
    end_y = std::min(end_y, static_cast<int>(job.height));
  }
  chunk.columns = static_cast<int>(whole_blocks(end_x - chunk.from_x));
  chunk.rows = end_y - chunk.from_y;
  return chunk;
}

std::size_t wavelet_bytes(const RankJob& job, std::int64_t elements) {
  WorkspaceLayout layout(nullptr);
  lay_out(job, elements, layout);
  return layout.used();
}

void ranks_by_wavelet_matrix(const WaveletArguments& arguments, StreamHandle stream) {
  const WaveletChunk& chunk = arguments.chunk;
  WorkspaceLayout layout(arguments.workspace);
  WaveletMatrix matrix = lay_out(arguments.job, std::int64_t{chunk.columns} * chunk.rows, layout);
  with_key(arguments.job.type, [&]<class Key>() {
    build<Key>(arguments, matrix, stream);
    const dim3 blocks(block_count(chunk.width, warp_size), block_count(chunk.height, query_rows));
    if (is_wide(arguments.job))
      query_windows<Key, true><<<blocks, query_rows * warp_size, 0, stream>>>(arguments, matrix);
    else
      query_windows<Key, false><<<blocks, query_rows * warp_size, 0, stream>>>(arguments, matrix);
  });
}

}  // namespace satin::kernels
