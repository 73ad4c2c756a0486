// The guided filter by sliding windows, for integers whose products of sums are exact in double precision and
// windows that fit a block.
//
// A block slides two windows down a tile: one sums moments, the other the coefficients that they give. A
// thread has a column and keeps both column sums. Rows of coefficients are kept in device memory until they
// leave the window. Sums over windows are differences of exclusive prefix sums along the row, in shared
// memory.
//
// Each row of coefficients takes three steps with a barrier after each: solve and exchange, stage, scan. The
// prefixes of the next row's moments and of this row's coefficients are scanned together, because neither
// alone occupies a block.
//
// Bytes moved per pixel, apart from the overlap of tiles: u8 pixels five times, four of them from the L2
// cache, and 8 bytes of every coefficient written and read once, from the L2 cache as far as they fit.

#include <cuda_pipeline.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/maths/window.h"
#include "kernels/device/shared_memory.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/guided/launch.h"
#include "kernels/guided/linear_model.cuh"

namespace satin::kernels {
namespace {

inline constexpr int lane_elements = 16;  ///< elements of a row that a lane scans
using CoefficientPair = ulonglong2;

/// Layout of a row of sums in shared memory. 16 free bytes follow every 16 elements, so that lanes that each
/// read 16 neighbours use different banks.
template <class Sum>
struct PrefixPlane {
  static constexpr int padding = 16 / static_cast<int>(sizeof(Sum));

  [[nodiscard]] __host__ __device__ static int index(int i) { return i + i / lane_elements * padding; }
  /// Returns the size of a plane with one more prefix than threads.
  [[nodiscard]] __host__ __device__ static int size(int threads) { return index(threads) + padding; }
};

/// Replaces the sums of a plane by their exclusive prefix sums, followed by the sum of all. Called by `lanes`
/// neighbouring threads of a warp, whose bits are `mask`.
template <class Sum>
__device__ void scan_plane(Sum* plane, int lane, int lanes, unsigned mask) {
  constexpr int vector_size = PrefixPlane<Sum>::padding;
  struct alignas(16) Vector {
    Sum of[vector_size];
  };
  auto* own = reinterpret_cast<Vector*>(plane + PrefixPlane<Sum>::index(lane * lane_elements));
  Vector values[lane_elements / vector_size];
  Sum total = 0;
#pragma unroll
  for (int i = 0; i < lane_elements / vector_size; ++i) {
    values[i] = own[i];
#pragma unroll
    for (int k = 0; k < vector_size; ++k) total += values[i].of[k];
  }
  Sum before = total;
  for (int distance = 1; distance < lanes; distance *= 2) {
    const Sum other = __shfl_up_sync(mask, before, distance, lanes);
    if (lane >= distance) before += other;
  }
  if (lane == lanes - 1) plane[PrefixPlane<Sum>::index(lanes * lane_elements)] = before;
  before -= total;
#pragma unroll
  for (int i = 0; i < lane_elements / vector_size; ++i) {
#pragma unroll
    for (int k = 0; k < vector_size; ++k) {
      const Sum value = values[i].of[k];
      values[i].of[k] = before;
      before += value;
    }
    own[i] = values[i];
  }
}

/// Type of the sums of moments of pixels of type T: RunningLinear's jobs have sums below 2^32 for bytes, and
/// below 2^53 for 16 bits.
template <class T>
using MomentSum = std::conditional_t<std::is_same_v<T, std::uint8_t>, std::uint32_t, std::uint64_t>;

/// Shared memory of a block: prefixes of coefficients, coefficients that leave the window, prefixes of
/// moments.
template <class L, class T>
struct LinearMemory {
  using Sum = MomentSum<T>;
  using Moments = PrefixPlane<Sum>;
  using Coefficients = PrefixPlane<std::uint64_t>;
  static constexpr int pairs = L::coefficients / 2;

  std::uint64_t* coefficients;
  CoefficientPair* leaving;
  Sum* moments;

  __device__ LinearMemory(std::byte* memory, int threads)
      : coefficients(reinterpret_cast<std::uint64_t*>(memory)),
        leaving(
            reinterpret_cast<CoefficientPair*>(coefficients + L::coefficients * Coefficients::size(threads))),
        moments(reinterpret_cast<Sum*>(leaving + pairs * threads)) {}

  static std::size_t bytes(int threads) {
    const auto count = static_cast<std::size_t>(threads);
    return L::coefficients * static_cast<std::size_t>(Coefficients::size(threads)) * sizeof(std::uint64_t) +
           pairs * count * sizeof(CoefficientPair) +
           L::sums * static_cast<std::size_t>(Moments::size(threads)) * sizeof(Sum);
  }
};

constexpr int most_threads = 512;
constexpr int planes_at_once = lane_elements;  // each is scanned by threads / 16 lanes

/// The rectangle of results [first_x, last_x) x [first_y, last_y) of a block, and the column of this thread.
struct LinearTile : TileRect {
  int x;  ///< position of this thread's column, perhaps outside the picture
  int reach_x, reach_y;

  __device__ explicit LinearTile(const RunningLinearArguments& arguments)
      : TileRect(tile_rect(arguments.tiles, static_cast<int>(arguments.job.width),
                           static_cast<int>(arguments.job.height), static_cast<int>(blockIdx.x),
                           static_cast<int>(blockIdx.y))) {
    reach_x = static_cast<int>(arguments.job.reach_x);
    reach_y = static_cast<int>(arguments.job.reach_y);
    x = first_x - 2 * reach_x + static_cast<int>(threadIdx.x);
  }
  [[nodiscard]] __device__ bool has_moments() const { return x < last_x + 2 * reach_x; }
  [[nodiscard]] __device__ bool has_coefficients() const {
    return x >= first_x - reach_x && x < last_x + reach_x;
  }
  [[nodiscard]] __device__ bool has_results() const { return x >= first_x && x < last_x; }
};

/// Returns the position whose window gives the coefficients of `position`. Borders that mirror or wrap the
/// picture mirror or wrap its windows too, so it is `position` itself. Border::clamp repeats the
/// coefficients of the edge.
__device__ int centre_of(int position, int size, Border border) {
  return border == Border::clamp ? min(max(position, 0), size - 1) : position;
}

/// Sums of moments over the window's rows, in a thread's column.
template <class L, class T>
class MomentColumn {
 public:
  using Sum = MomentSum<T>;

  __device__ MomentColumn(const RunningLinearArguments& arguments, const LinearTile& tile)
      : arguments_(arguments),
        column_(tile.has_moments()
                    ? static_cast<int>(source_of(tile.x, arguments.job.width, arguments.job.border))
                    : -1) {}

  /// Sums the window around row `centre`.
  __device__ void start(int centre) {
    const int reach = static_cast<int>(arguments_.job.reach_y);
#pragma unroll
    for (int i = 0; i < L::sums; ++i) sums_[i] = 0;
#pragma unroll 4
    for (int row = centre - reach; row <= centre + reach; ++row) add(read(row), 1);
  }
  /// Reads the pixels that advance() from row `centre` to the next needs.
  __device__ void fetch(int centre) {
    const int reach = static_cast<int>(arguments_.job.reach_y);
    enters_ = read(centre + 1 + reach);
    leaves_ = read(centre - reach);
  }
  __device__ void advance() {
    add(enters_, 1);
    add(leaves_, -1);
  }
  __device__ void stage(const LinearMemory<L, T>& memory) const {
    using Plane = PrefixPlane<Sum>;
    const int threads = static_cast<int>(blockDim.x);
    Sum* to = memory.moments + Plane::index(static_cast<int>(threadIdx.x));
#pragma unroll
    for (int i = 0; i < L::sums; ++i) to[i * Plane::size(threads)] = sums_[i];
  }

 private:
  static constexpr int own = L::channels - L::first_own;
  struct Pixel {
    T of[L::guides + own] = {};
  };

  [[nodiscard]] __device__ Pixel read(int position) const {
    Pixel pixel;
    const LocalLinearJob& job = arguments_.job;
    const auto row = source_of(position, job.height, job.border);
    if (row < 0 || column_ < 0) return pixel;
    const T* guide = row_of<T>(arguments_.guide, row) + column_ * job.guide.channels;
#pragma unroll
    for (int i = 0; i < L::guides; ++i) pixel.of[i] = guide[stored_channel(job.guide, i)];
    if constexpr (own > 0) {
      const T* picture = row_of<T>(arguments_.picture, row) + column_ * job.picture.channels;
#pragma unroll
      for (int i = 0; i < own; ++i)
        pixel.of[L::guides + i] = picture[stored_channel(job.picture, L::first_own + i)];
    }
    return pixel;
  }

  __device__ void add(const Pixel& pixel, int sign) {
    constexpr LinearLayout layout = L::layout();
    const auto signed_value = [&](int i) { return static_cast<Sum>(signed_product(sign, pixel.of[i])); };
    const auto product = [&](int i, int j) {
      return static_cast<Sum>(signed_product(sign * static_cast<int>(pixel.of[i]), pixel.of[j]));
    };
#pragma unroll
    for (int i = 0; i < L::guides; ++i) {
      sums_[i] += signed_value(i);
#pragma unroll
      for (int j = i; j < L::guides; ++j) sums_[layout.product(i, j)] += product(i, j);
    }
#pragma unroll
    for (int i = 0; i < own; ++i) {
      const int channel = layout.channel(L::first_own + i);
      sums_[channel] += signed_value(L::guides + i);
#pragma unroll
      for (int j = 0; j < L::guides; ++j) sums_[channel + 1 + j] += product(L::guides + i, j);
    }
  }

  /// Returns a product in as many bits as a sum has.
  static __device__ auto signed_product(int a, int b) {
    return static_cast<std::conditional_t<sizeof(Sum) == 4, int, std::int64_t>>(a) * b;
  }

  const RunningLinearArguments& arguments_;
  int column_;  ///< column of the picture, or -1 if there is none
  Sum sums_[L::sums];
  Pixel enters_;
  Pixel leaves_;
};

/// Sums of coefficients over the window's rows, in a thread's column, and the rows that have yet to leave.
template <class L, class T>
class CoefficientColumn {
 public:
  using Memory = LinearMemory<L, T>;
  using Sum = MomentSum<T>;
  static constexpr int pairs = Memory::pairs;

  __device__ CoefficientColumn(const RunningLinearArguments& arguments, const LinearTile& tile,
                               const Memory& memory)
      : arguments_(arguments),
        tile_(tile),
        memory_(memory),
        thread_(static_cast<int>(threadIdx.x)),
        threads_(static_cast<int>(blockDim.x)) {
    const auto block = static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
    kept_ = reinterpret_cast<CoefficientPair*>(arguments.kept) + block * window_rows() * pairs * threads_ +
            thread_;
    const LocalLinearJob& job = arguments.job;
    centre_x_ = centre_of(tile.x, static_cast<int>(job.width), job.border);
    exists_ =
        tile.has_coefficients() && (job.border != Border::shrink || (tile.x >= 0 && tile.x < job.width));
    columns_ = static_cast<double>(counted(window_around(centre_x_, tile.reach_x), job.width, job.border));
    eps_ = linear_eps(job.eps, job.guide, {});
#pragma unroll
    for (int i = 0; i < L::coefficients; ++i) sums_[i] = 0;
  }

  /// Starts to read the row that leaves when the next one enters.
  __device__ void fetch() {
    if (!exists_ || filled_ < window_rows()) return;
#pragma unroll
    for (int i = 0; i < pairs; ++i)
      __pipeline_memcpy_async(memory_.leaving + i * threads_ + thread_, kept_row() + i * threads_,
                              sizeof(CoefficientPair));
    __pipeline_commit();
  }

  /// Moves the window so that its last row is at position y, whose prefixes of moments are in shared memory.
  /// Below the picture nothing enters if windows shrink.
  __device__ void advance(int y) {
    if (exists_) {
      const LocalLinearJob& job = arguments_.job;
      if (filled_ >= window_rows()) leave();
      if (job.border != Border::shrink || y < job.height) enter(y);
    }
    filled_ = min(filled_ + 1, window_rows());
    if (++next_ == window_rows()) next_ = 0;
  }

  __device__ void stage() const {
    using Plane = PrefixPlane<std::uint64_t>;
    std::uint64_t* to = memory_.coefficients + Plane::index(thread_);
#pragma unroll
    for (int i = 0; i < L::coefficients; ++i) to[i * Plane::size(threads_)] = sums_[i];
  }

 private:
  [[nodiscard]] __device__ int window_rows() const { return 2 * tile_.reach_y + 1; }
  [[nodiscard]] __device__ CoefficientPair* kept_row() const {
    return kept_ + static_cast<std::int64_t>(next_) * pairs * threads_;
  }

  __device__ void leave() {
    __pipeline_wait_prior(0);
#pragma unroll
    for (int i = 0; i < pairs; ++i) {
      const CoefficientPair pair = memory_.leaving[i * threads_ + thread_];
      sums_[2 * i] -= pair.x;
      sums_[2 * i + 1] -= pair.y;
    }
  }

  __device__ void enter(int y) {
    using Plane = PrefixPlane<Sum>;
    const LocalLinearJob& job = arguments_.job;
    const int centre_y = centre_of(y, static_cast<int>(job.height), job.border);
    const double count = columns_ * static_cast<double>(counted(window_around(centre_y, tile_.reach_y),
                                                                job.height, job.border));
    const int centre = thread_ + centre_x_ - tile_.x;
    const Sum* high = memory_.moments + Plane::index(centre + tile_.reach_x + 1);
    const Sum* low = memory_.moments + Plane::index(centre - tile_.reach_x);
    Sum moments[L::sums];
#pragma unroll
    for (int i = 0; i < L::sums; ++i)
      moments[i] = high[i * Plane::size(threads_)] - low[i * Plane::size(threads_)];
    std::uint64_t coefficients[L::coefficients];
    solve<L, true>(job.format, eps_, count, moments, coefficients);
    CoefficientPair* to = kept_row();
#pragma unroll
    for (int i = 0; i < pairs; ++i) {
      __stcg(to + i * threads_, make_ulonglong2(coefficients[2 * i], coefficients[2 * i + 1]));
      sums_[2 * i] += coefficients[2 * i];
      sums_[2 * i + 1] += coefficients[2 * i + 1];
    }
  }

  const RunningLinearArguments& arguments_;
  const LinearTile& tile_;
  const Memory& memory_;
  int thread_;
  int threads_;
  int centre_x_;
  bool exists_;  ///< the column has coefficients
  double columns_;
  double eps_;
  CoefficientPair* kept_;
  int next_ = 0;    ///< index of the kept row that leaves next and is replaced by the one that enters
  int filled_ = 0;  ///< rows that have entered, at most window_rows()
  std::uint64_t sums_[L::coefficients];
};

/// Stores the pixel of a thread's column in row y, whose prefixes of coefficients are in shared memory.
template <class L, class T>
__device__ void store_result(const RunningLinearArguments& arguments, const LinearTile& tile,
                             const LinearMemory<L, T>& memory, int y) {
  using Plane = PrefixPlane<std::uint64_t>;
  if (!tile.has_results()) return;
  const LocalLinearJob& job = arguments.job;
  const int thread = static_cast<int>(threadIdx.x);
  const int size = Plane::size(static_cast<int>(blockDim.x));
  const std::uint64_t* high = memory.coefficients + Plane::index(thread + tile.reach_x + 1);
  const std::uint64_t* low = memory.coefficients + Plane::index(thread - tile.reach_x);
  std::uint64_t sums[L::coefficients];
#pragma unroll
  for (int i = 0; i < L::coefficients; ++i) sums[i] = high[i * size] - low[i * size];
  const double count =
      static_cast<double>(counted(window_around(tile.x, tile.reach_x), job.width, job.border)) *
      static_cast<double>(counted(window_around(y, tile.reach_y), job.height, job.border));
  LinearResults<T, L::guides, L::channels>(arguments).store(tile.x, y, sums, count);
}

template <class L, class T>
__device__ void scan_planes(const LinearMemory<L, T>& memory, bool coefficients, bool moments) {
  const int threads = static_cast<int>(blockDim.x);
  const int lanes = threads / planes_at_once;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const unsigned mask = lanes == warp_size ? whole_warp : 0xFFFFU << (lane_index() / lanes * lanes);
  const int first = coefficients ? 0 : L::coefficients;
  const int last = L::coefficients + (moments ? L::sums : 0);
  for (int plane = first + static_cast<int>(threadIdx.x) / lanes; plane < last; plane += planes_at_once) {
    if (plane < L::coefficients) {
      scan_plane(memory.coefficients + plane * PrefixPlane<std::uint64_t>::size(threads), lane, lanes, mask);
    } else {
      scan_plane(memory.moments + (plane - L::coefficients) * LinearMemory<L, T>::Moments::size(threads),
                 lane, lanes, mask);
    }
  }
}

template <class L, class T>
__global__ void __launch_bounds__(most_threads)
    slide_linear(const __grid_constant__ RunningLinearArguments arguments) {
  extern __shared__ uint4 shared[];
  const LocalLinearJob& job = arguments.job;
  const LinearMemory<L, T> memory(reinterpret_cast<std::byte*>(shared), static_cast<int>(blockDim.x));
  const LinearTile tile(arguments);
  const int height = static_cast<int>(job.height);
  int y = tile.first_y - tile.reach_y;
  if (job.border == Border::shrink) y = max(y, 0);
  int centre = centre_of(y, height, job.border);
  MomentColumn<L, T> moments(arguments, tile);
  CoefficientColumn<L, T> coefficients(arguments, tile, memory);
  moments.start(centre);
  moments.stage(memory);
  __syncthreads();
  scan_planes(memory, false, true);
  __syncthreads();
  for (const int end = tile.last_y + tile.reach_y;; ++y) {
    const int next = centre_of(y + 1, height, job.border);
    if (next != centre) moments.fetch(centre);
    if (y < end) coefficients.fetch();
    if (const int above = y - 1 - tile.reach_y; above >= tile.first_y)
      store_result(arguments, tile, memory, above);
    if (y == end) return;
    coefficients.advance(y);
    __syncthreads();
    const bool gives_results = y - tile.reach_y >= tile.first_y;
    if (gives_results) coefficients.stage();
    if (next != centre) moments.advance();
    centre = next;
    moments.stage(memory);
    __syncthreads();
    scan_planes(memory, gives_results, true);
    __syncthreads();
  }
}

/// Calls launch(Layout{}, T{}) with the layout and the pixel type of the job, u8 or u16.
template <class Launch>
void with_sliding_layout(const LocalLinearJob& job, const Launch& launch) {
  with_layout(job.layout, [&](auto layout) {
    if (job.picture.type == Type::u8)
      launch(layout, std::uint8_t{});
    else
      launch(layout, std::uint16_t{});
  });
}

}  // namespace

RunningLinearBlock running_linear_block(const LocalLinearJob& job, int threads) {
  RunningLinearBlock block;
  with_sliding_layout(job, [&]<class L, class T>(L, T) {
    block.shared_bytes = LinearMemory<L, T>::bytes(threads);
    if (allow_all_shared_memory(slide_linear<L, T>) != 0 ||
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&block.blocks_per_multiprocessor, slide_linear<L, T>,
                                                      threads, block.shared_bytes) != cudaSuccess)
      block.blocks_per_multiprocessor = 0;
  });
  return block;
}

void running_linear(const RunningLinearArguments& arguments, StreamHandle stream) {
  with_sliding_layout(arguments.job, [&]<class L, class T>(L, T) {
    const SlidingTiles& tiles = arguments.tiles;
    const dim3 blocks(static_cast<unsigned>(tiles.columns), static_cast<unsigned>(tiles.rows));
    slide_linear<L, T>
        <<<blocks, static_cast<unsigned>(tiles.spans * warp_size), tiles.shared_bytes, stream>>>(arguments);
  });
}

}  // namespace satin::kernels
