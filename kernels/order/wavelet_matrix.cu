// How a picture is cut into parts, and the launches for one of them.

#include <cstdint>
#include <utility>

#include "kernels/order/wavelet_build.cuh"
#include "kernels/order/wavelet_query.cuh"

namespace satin::kernels {
namespace {

/// The blocks of wide windows, and the place behind the last one, are digits.
constexpr std::int64_t most_columns = (digits - 1) * digits;
constexpr std::size_t alignment = 256;

/// Elements of a part: of 8 and 16 bits the pixels of 3840 x 2160, which take 0.7 and 1.3 GB, twice
/// that for wide windows.
std::int64_t most_elements(const RankJob& job) { return job.type == Type::f32 ? 1 << 22 : 1 << 23; }

std::int64_t parts_of(std::int64_t count, std::int64_t size) { return (count + size - 1) / size; }
std::int64_t whole_blocks(std::int64_t columns) { return parts_of(columns, digits) * digits; }

/// Columns or rows that the windows of `inner` neighbouring outputs see.
std::int64_t seen(const RankJob& job, std::int64_t inner, std::int64_t reach, std::int64_t size) {
  const std::int64_t all = inner + 2 * reach;
  return job.border == Border::shrink && all > size ? size : all;
}

/// Gives the workspace out, piece by piece.
class Pieces {
 public:
  explicit Pieces(std::byte* memory) : memory_(memory) {}

  template <class T>
  T* take(std::size_t count) {
    std::byte* piece = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += (count * sizeof(T) + alignment - 1) / alignment * alignment;
    return reinterpret_cast<T*>(piece);
  }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  std::byte* memory_;
  std::size_t used_ = 0;
};

WaveletMatrix lay_out(const RankJob& job, std::int64_t elements, Pieces& pieces) {
  WaveletMatrix matrix;
  matrix.levels = wavelet_levels(job);
  matrix.orders = is_wide(job) ? 2 : 1;
  matrix.elements = static_cast<std::uint32_t>(elements);
  matrix.groups = matrix.elements / element_group + 1;
  matrix.blocks = matrix.elements / (chunk_elements * block_chunks) + 1;
  matrix.chunks = matrix.blocks * block_chunks;
  const std::size_t element_bytes = static_cast<std::size_t>(key_bits(job)) / 8 * 2;
  const auto orders = static_cast<std::size_t>(matrix.orders);
  for (int order = 0; order < matrix.orders; ++order) {
    matrix.from[order] = pieces.take<std::byte>(matrix.elements * element_bytes);
    matrix.to[order] = pieces.take<std::byte>(matrix.elements * element_bytes);
  }
  matrix.zeros = pieces.take<std::uint32_t>(static_cast<std::size_t>(matrix.levels));
  matrix.chunk_counts = pieces.take<std::uint32_t>(orders * matrix.chunks * digits);
  matrix.block_counts = pieces.take<std::uint32_t>(orders * matrix.blocks * digits);
  const std::size_t groups = matrix.group_of(matrix.levels, 0);
  matrix.element_groups = pieces.take<ElementGroup>(groups);
  matrix.below = pieces.take<std::uint32_t>(groups * digits);
  return matrix;
}

template <class Key>
void build(const WaveletArguments& arguments, WaveletMatrix& matrix, StreamHandle stream) {
  const WaveletPart& part = arguments.part;
  place_elements<Key><<<plane_grid(part.columns, part.rows), plane_threads, 0, stream>>>(arguments, matrix);
  const auto orders = static_cast<unsigned>(matrix.orders);
  const dim3 blocks(matrix.blocks, orders);
  for (int level = 0; level < matrix.levels; ++level) {
    count_chunks<Element<Key>><<<blocks, build_threads, 0, stream>>>(matrix, level);
    scan_blocks<<<dim3(digits / scan_columns, orders), scan_threads, 0, stream>>>(matrix, level);
    partition_chunks<Element<Key>><<<blocks, build_threads, 0, stream>>>(matrix, level);
    std::swap(matrix.from, matrix.to);
  }
}

}  // namespace

/// The parts' width is one that halves the picture's: that with the fewest elements in all parts is taken.
WaveletTiling wavelet_tiling(const RankJob& job) {
  const LargestReach reach = largest_reach(job.reach);
  WaveletTiling best;
  std::int64_t fewest = INT64_MAX;
  for (std::int64_t width = job.width; width > 0; width /= 2) {
    const std::int64_t columns = whole_blocks(seen(job, width, reach.x, job.width));
    if (is_wide(job) && columns > most_columns) continue;
    const std::int64_t most_rows = most_elements(job) / columns;
    std::int64_t height = job.height;
    if (seen(job, height, reach.y, job.height) > most_rows) height = most_rows - 2 * reach.y;
    if (height < 1) continue;
    const std::int64_t elements = columns * seen(job, height, reach.y, job.height);
    const std::int64_t all = parts_of(job.width, width) * parts_of(job.height, height) * elements;
    if (all >= fewest) continue;
    fewest = all;
    best = {static_cast<int>(width), static_cast<int>(height), elements};
  }
  return best;
}

WaveletPart wavelet_part(const RankJob& job, const WaveletTiling& tiling, int x, int y) {
  const LargestReach reach = largest_reach(job.reach);
  WaveletPart part;
  part.x = x;
  part.y = y;
  part.width = std::min(tiling.width, static_cast<int>(job.width) - x);
  part.height = std::min(tiling.height, static_cast<int>(job.height) - y);
  part.from_x = x - static_cast<int>(reach.x);
  part.from_y = y - static_cast<int>(reach.y);
  int end_x = x + part.width + static_cast<int>(reach.x);
  int end_y = y + part.height + static_cast<int>(reach.y);
  if (job.border == Border::shrink) {
    part.from_x = std::max(part.from_x, 0);
    part.from_y = std::max(part.from_y, 0);
    end_x = std::min(end_x, static_cast<int>(job.width));
    end_y = std::min(end_y, static_cast<int>(job.height));
  }
  part.columns = static_cast<int>(whole_blocks(end_x - part.from_x));
  part.rows = end_y - part.from_y;
  return part;
}

std::size_t wavelet_bytes(const RankJob& job, std::int64_t elements) {
  Pieces pieces(nullptr);
  lay_out(job, elements, pieces);
  return pieces.used();
}

void ranks_by_wavelet_matrix(const WaveletArguments& arguments, StreamHandle stream) {
  const WaveletPart& part = arguments.part;
  Pieces pieces(arguments.workspace);
  WaveletMatrix matrix = lay_out(arguments.job, std::int64_t{part.columns} * part.rows, pieces);
  with_key(arguments.job.type, [&]<class Key>() {
    build<Key>(arguments, matrix, stream);
    const dim3 blocks(static_cast<unsigned>((part.width + warp_size - 1) / warp_size),
                      static_cast<unsigned>((part.height + query_rows - 1) / query_rows));
    if (is_wide(arguments.job))
      query_windows<Key, true><<<blocks, query_rows * warp_size, 0, stream>>>(arguments, matrix);
    else
      query_windows<Key, false><<<blocks, query_rows * warp_size, 0, stream>>>(arguments, matrix);
  });
}

}  // namespace satin::kernels
