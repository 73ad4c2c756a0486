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

/// A row of sums in shared memory, with one more prefix than threads. 16 free bytes follow every 16 elements,
/// so that lanes that each read 16 neighbours use different banks.
template <class Sum, int Threads>
struct PrefixPlane {
  static constexpr int padding = 16 / static_cast<int>(sizeof(Sum));

  [[nodiscard]] __host__ __device__ static constexpr int index(int i) {
    return i + i / lane_elements * padding;
  }
  static constexpr int size = index(Threads) + padding;
};

/// Replaces the sums of a plane by their exclusive prefix sums, followed by the sum of all. Called by
/// neighbouring lanes of a warp, each of which has lane_elements. Lanes without a plane take part, too.
template <int Threads, class Sum>
__device__ void scan_plane(Sum* plane, bool exists) {
  using Plane = PrefixPlane<Sum, Threads>;
  constexpr int lanes = Threads / lane_elements;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  constexpr int vector_size = Plane::padding;
  struct alignas(16) Vector {
    Sum of[vector_size];
  };
  auto* own = reinterpret_cast<Vector*>(plane + Plane::index(lane * lane_elements));
  Vector values[lane_elements / vector_size] = {};
  Sum total = 0;
#pragma unroll
  for (int i = 0; i < lane_elements / vector_size; ++i) {
    if (exists) values[i] = own[i];
#pragma unroll
    for (int k = 0; k < vector_size; ++k) total += values[i].of[k];
  }
  Sum sums[] = {total};
  inclusive_scans<lanes>(sums);
  if (!exists) return;
  if (lane == lanes - 1) plane[Plane::index(Threads)] = sums[0];
  Sum before = sums[0] - total;
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

/// Pixels of the type `Stored`, the layout of their sums, and the threads of a block that sums them.
/// `Weighted`: the picture's colours, and maybe the guide's, are summed times alpha.
template <class L, class Stored, bool Weighted, int Threads>
struct Sliding {
  using Layout = L;
  using T = Stored;
  static constexpr bool weighted = Weighted;
  static constexpr int threads = Threads;
  static constexpr bool narrow = sizeof(T) == 1 && !weighted;
  using Value = std::conditional_t<narrow, std::uint8_t, std::uint16_t>;
  using Sum = std::conditional_t<narrow, std::uint32_t, std::uint64_t>;  ///< of moments: narrow ones are
                                                                         ///< below 2^32, others below 2^53

  static constexpr int sums = L::sums;
  static constexpr int coefficients = L::coefficients;
  static constexpr int pairs = coefficients / 2;
  using MomentPlane = PrefixPlane<Sum, Threads>;
  using CoefficientPlane = PrefixPlane<std::uint64_t, Threads>;

  /// Shared memory of a block.
  struct Memory {
    alignas(16) std::uint64_t coefficients[L::coefficients][CoefficientPlane::size];  ///< prefixes
    CoefficientPair leaving[pairs][Threads];              ///< coefficients that leave the window
    alignas(16) Sum moments[L::sums][MomentPlane::size];  ///< prefixes
  };
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

/// Returns source_of() for positions outside the picture. A call, because few threads need its many
/// instructions.
__device__ __noinline__ int place_beyond(int position, int size, Border border) {
  return static_cast<int>(source_of(position, size, border));
}
__device__ int place_at(int position, int size, Border border) {
  return position >= 0 && position < size ? position : place_beyond(position, size, border);
}

/// Returns the number of pixels that count in a window along one axis.
__device__ int counted_around(int centre, int reach, int size, Border border) {
  if (border != Border::shrink) return 2 * reach + 1;
  return min(centre + reach, size - 1) - max(centre - reach, 0) + 1;
}

/// The number of pixels that count in windows of a column, which is the same for most rows.
class PixelCount {
 public:
  double count = 0;
  double inverse = 0;

  __device__ PixelCount(const RunningLinearArguments& arguments, int centre_x)
      : arguments_(arguments),
        columns_(counted_around(centre_x, static_cast<int>(arguments.job.reach_x),
                                static_cast<int>(arguments.job.width), arguments.job.border)) {}

  __device__ void at_row(int y) {
    const LocalLinearJob& job = arguments_.job;
    const int rows =
        counted_around(y, static_cast<int>(job.reach_y), static_cast<int>(job.height), job.border);
    if (rows == rows_) return;
    rows_ = rows;
    count = static_cast<double>(columns_) * static_cast<double>(rows);
    inverse = 1.0 / count;
  }

 private:
  const RunningLinearArguments& arguments_;
  int columns_;
  int rows_ = 0;
};

/// Reads channels [First, First + Count) of a pixel as integers that are summed.
template <class S, int First, int Count, class Value>
__device__ void read_values(const typename S::T* pixel, const LinearRead& read, Value* values) {
  const int red = read.order == Order::bgr && read.channels >= 3 ? 2 : 0;
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    constexpr int green = 1;
    const int c = First + i;
    const int at = c == 0 ? red : c == 2 ? (read.channels >= 3 ? 2 - red : 2) : c == green ? green : c;
    std::uint32_t value = pixel[at];
    if (S::weighted && read.weighted && at != read.channels - 1) value *= pixel[read.channels - 1];
    values[i] = static_cast<Value>(value);
  }
}

/// Sums of moments over the window's rows, in a thread's column.
template <class S>
class MomentColumn {
  using L = typename S::Layout;
  using T = typename S::T;

 public:
  using Sum = typename S::Sum;

  __device__ MomentColumn(const RunningLinearArguments& arguments, const LinearTile& tile)
      : arguments_(arguments),
        column_(tile.has_moments()
                    ? place_at(tile.x, static_cast<int>(arguments.job.width), arguments.job.border)
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
  __device__ void stage(typename S::Memory& memory) const {
    const int at = S::MomentPlane::index(static_cast<int>(threadIdx.x));
#pragma unroll
    for (int i = 0; i < L::sums; ++i) memory.moments[i][at] = sums_[i];
  }

 private:
  static constexpr int own = L::channels - L::first_own;
  struct Pixel {
    typename S::Value of[L::guides + own] = {};
  };

  [[nodiscard]] __device__ Pixel read(int position) const {
    Pixel pixel;
    const LocalLinearJob& job = arguments_.job;
    const int row = place_at(position, static_cast<int>(job.height), job.border);
    if (row < 0 || column_ < 0) return pixel;
    read_values<S, 0, L::guides>(row_of<T>(arguments_.guide, row) + column_ * job.guide.channels, job.guide,
                                 pixel.of);
    if constexpr (own > 0)
      read_values<S, L::first_own, own>(row_of<T>(arguments_.picture, row) + column_ * job.picture.channels,
                                        job.picture, pixel.of + L::guides);
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
template <class S>
class CoefficientColumn {
  using L = typename S::Layout;
  using Memory = typename S::Memory;
  using Sum = typename S::Sum;
  static constexpr int pairs = S::pairs;

 public:
  __device__ CoefficientColumn(const RunningLinearArguments& arguments, const LinearTile& tile,
                               Memory& memory)
      : arguments_(arguments), tile_(tile), memory_(memory), thread_(static_cast<int>(threadIdx.x)) {
    const auto block = static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
    kept_ = reinterpret_cast<CoefficientPair*>(arguments.kept) + block * window_rows() * pairs * S::threads +
            thread_;
    const LocalLinearJob& job = arguments.job;
    centre_x_ = centre_of(tile.x, static_cast<int>(job.width), job.border);
    exists_ =
        tile.has_coefficients() && (job.border != Border::shrink || (tile.x >= 0 && tile.x < job.width));
#pragma unroll
    for (int i = 0; i < L::coefficients; ++i) sums_[i] = 0;
  }

  /// Starts to read the row that leaves when the next one enters.
  __device__ void fetch() {
    if (!exists_ || filled_ < window_rows()) return;
#pragma unroll
    for (int i = 0; i < pairs; ++i)
      __pipeline_memcpy_async(&memory_.leaving[i][thread_], kept_row() + i * S::threads,
                              sizeof(CoefficientPair));
    __pipeline_commit();
  }

  /// Moves the window so that its last row is at position y, whose prefixes of moments are in shared memory.
  /// Below the picture nothing enters if windows shrink.
  __device__ void advance(int y, PixelCount& pixels) {
    if (exists_) {
      const LocalLinearJob& job = arguments_.job;
      if (filled_ >= window_rows()) leave();
      if (job.border != Border::shrink || y < job.height) enter(y, pixels);
    }
    filled_ = min(filled_ + 1, window_rows());
    if (++next_ == window_rows()) next_ = 0;
  }

  __device__ void stage() const {
    const int at = S::CoefficientPlane::index(thread_);
#pragma unroll
    for (int i = 0; i < L::coefficients; ++i) memory_.coefficients[i][at] = sums_[i];
  }

 private:
  [[nodiscard]] __device__ int window_rows() const { return 2 * tile_.reach_y + 1; }
  [[nodiscard]] __device__ CoefficientPair* kept_row() const {
    return kept_ + static_cast<std::int64_t>(next_) * pairs * S::threads;
  }

  __device__ void leave() {
    __pipeline_wait_prior(0);
#pragma unroll
    for (int i = 0; i < pairs; ++i) {
      const CoefficientPair pair = memory_.leaving[i][thread_];
      sums_[2 * i] -= pair.x;
      sums_[2 * i + 1] -= pair.y;
    }
  }

  __device__ void enter(int y, PixelCount& pixels) {
    const LocalLinearJob& job = arguments_.job;
    pixels.at_row(centre_of(y, static_cast<int>(job.height), job.border));
    const int centre = thread_ + centre_x_ - tile_.x;
    const int high = S::MomentPlane::index(centre + tile_.reach_x + 1);
    const int low = S::MomentPlane::index(centre - tile_.reach_x);
    Sum moments[L::sums];
#pragma unroll
    for (int i = 0; i < L::sums; ++i) moments[i] = memory_.moments[i][high] - memory_.moments[i][low];
    std::uint64_t coefficients[L::coefficients];
    solve<L, true>(arguments_.scales, arguments_.eps, pixels.count, pixels.inverse, moments, coefficients);
    CoefficientPair* to = kept_row();
#pragma unroll
    for (int i = 0; i < pairs; ++i) {
      __stcg(to + i * S::threads, make_ulonglong2(coefficients[2 * i], coefficients[2 * i + 1]));
      sums_[2 * i] += coefficients[2 * i];
      sums_[2 * i + 1] += coefficients[2 * i + 1];
    }
  }

  const RunningLinearArguments& arguments_;
  const LinearTile& tile_;
  Memory& memory_;
  int thread_;
  int centre_x_;
  bool exists_;  ///< the column has coefficients
  CoefficientPair* kept_;
  int next_ = 0;    ///< index of the kept row that leaves next and is replaced by the one that enters
  int filled_ = 0;  ///< rows that have entered, at most window_rows()
  std::uint64_t sums_[L::coefficients];
};

/// Blends a result under a mask: a call, because most jobs have none.
template <class S>
__device__ __noinline__ void store_masked(const RunningLinearArguments& arguments, int x, int y,
                                          const double* values) {
  constexpr int channels = S::Layout::channels;
  const StoreRule rule{S::weighted, arguments.job.mask_maximum, {}};
  store_real_pixel<channels>(values, row_of<typename S::T>(arguments.picture, y) + x * channels,
                             mask_at(rule.mask_maximum, arguments.mask, x, y), rule,
                             row_of<typename S::T>(arguments.output, y) + x * channels);
}

/// Stores the pixel of a thread's column in row y, whose prefixes of coefficients are in shared memory.
template <class S>
__device__ void store_result(const RunningLinearArguments& arguments, const LinearTile& tile,
                             const typename S::Memory& memory, PixelCount& pixels, int y) {
  using L = typename S::Layout;
  using T = typename S::T;
  if (!tile.has_results()) return;
  const LocalLinearJob& job = arguments.job;
  const int thread = static_cast<int>(threadIdx.x);
  const int high = S::CoefficientPlane::index(thread + tile.reach_x + 1);
  const int low = S::CoefficientPlane::index(thread - tile.reach_x);
  pixels.at_row(y);
  std::uint32_t whole_guide[L::guides];
  read_values<S, 0, L::guides>(row_of<T>(arguments.guide, y) + tile.x * job.guide.channels, job.guide,
                               whole_guide);
  double guide[L::guides];
#pragma unroll
  for (int i = 0; i < L::guides; ++i) guide[i] = static_cast<double>(whole_guide[i]);
  double values[L::channels];
#pragma unroll
  for (int c = 0; c < L::channels; ++c) {
    std::uint64_t sums[L::guides + 1];
#pragma unroll
    for (int i = 0; i <= L::guides; ++i) {
      const std::uint64_t* plane = memory.coefficients[c * (L::guides + 1) + i];
      sums[i] = plane[high] - plane[low];
    }
    values[c] = result_of<L::guides>(arguments.scales, sums, guide, pixels.inverse);
  }
  if (L::channels >= 3 && job.picture.order == Order::bgr) {
    const double red = values[0];
    values[0] = values[2];
    values[2] = red;
  }
  if (job.mask_maximum != 0) return store_masked<S>(arguments, tile.x, y, values);
  const auto at = tile.x * L::channels;
  store_real_pixel<L::channels>(values, row_of<T>(arguments.picture, y) + at, 0,
                                StoreRule{S::weighted, 0, {}}, row_of<T>(arguments.output, y) + at);
}

template <class S>
__device__ void scan_planes(typename S::Memory& memory, bool coefficients, bool moments) {
  constexpr int lanes = S::threads / planes_at_once;
  constexpr int planes_of_warp = warp_size / lanes;
  const int first = coefficients ? 0 : S::coefficients;
  const int last = S::coefficients + (moments ? S::sums : 0);
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int part = lane_index() / lanes;
  for (int base = first + warp * planes_of_warp; base < last; base += planes_at_once) {
    const int plane = base + part;
    const bool exists = planes_of_warp == 1 || plane < last;
    const bool of_moments = plane >= S::coefficients;
    if (planes_of_warp == 1 ? !of_moments : __any_sync(whole_warp, !of_moments))
      scan_plane<S::threads>(memory.coefficients[plane], planes_of_warp == 1 || (exists && !of_moments));
    if (planes_of_warp == 1 ? of_moments : __any_sync(whole_warp, of_moments))
      scan_plane<S::threads>(memory.moments[plane - S::coefficients],
                             planes_of_warp == 1 || (exists && of_moments));
  }
}

template <class S>
__global__ void __launch_bounds__(S::threads, most_threads / S::threads)
    slide_linear(const __grid_constant__ RunningLinearArguments arguments) {
  extern __shared__ uint4 shared[];
  auto& memory = *reinterpret_cast<typename S::Memory*>(shared);
  const LocalLinearJob& job = arguments.job;
  const LinearTile tile(arguments);
  const int height = static_cast<int>(job.height);
  int y = tile.first_y - tile.reach_y;
  if (job.border == Border::shrink) y = max(y, 0);
  int centre = centre_of(y, height, job.border);
  MomentColumn<S> moments(arguments, tile);
  CoefficientColumn<S> coefficients(arguments, tile, memory);
  PixelCount pixels(arguments, centre_of(tile.x, static_cast<int>(job.width), job.border));
  moments.start(centre);
  moments.stage(memory);
  __syncthreads();
  scan_planes<S>(memory, false, true);
  __syncthreads();
  for (const int end = tile.last_y + tile.reach_y;; ++y) {
    const int next = centre_of(y + 1, height, job.border);
    if (next != centre) moments.fetch(centre);
    if (y < end) coefficients.fetch();
    if (const int above = y - 1 - tile.reach_y; above >= tile.first_y)
      store_result<S>(arguments, tile, memory, pixels, above);
    if (y == end) return;
    coefficients.advance(y, pixels);
    __syncthreads();
    const bool gives_results = y - tile.reach_y >= tile.first_y;
    if (gives_results) coefficients.stage();
    if (next != centre) moments.advance();
    centre = next;
    moments.stage(memory);
    __syncthreads();
    scan_planes<S>(memory, gives_results, true);
    __syncthreads();
  }
}

/// Calls launch(Sliding{}) with the kinds of picture and sums of the job, for blocks of 256 or 512 threads.
template <class Launch>
void with_sliding(const LocalLinearJob& job, int threads, const Launch& launch) {
  with_layout(job.layout, [&]<class L>(L) {
    const auto with_pixels = [&]<class T, bool Weighted>(T, std::bool_constant<Weighted>) {
      if (threads == most_threads)
        launch(Sliding<L, T, Weighted, most_threads>{});
      else
        launch(Sliding<L, T, Weighted, most_threads / 2>{});
    };
    if constexpr (L::channels % 2 == 0)
      if (job.picture.weighted) return with_pixels(std::uint8_t{}, std::true_type{});
    if (job.picture.type == Type::u8)
      with_pixels(std::uint8_t{}, std::false_type{});
    else
      with_pixels(std::uint16_t{}, std::false_type{});
  });
}

}  // namespace

RunningLinearBlock running_linear_block(const LocalLinearJob& job, int threads) {
  RunningLinearBlock block;
  with_sliding(job, threads, [&]<class S>(S) {
    block.shared_bytes = sizeof(typename S::Memory);
    if (allow_all_shared_memory(slide_linear<S>) != 0 ||
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&block.blocks_per_multiprocessor, slide_linear<S>,
                                                      threads, block.shared_bytes) != cudaSuccess)
      block.blocks_per_multiprocessor = 0;
  });
  return block;
}

void running_linear(const RunningLinearArguments& arguments, StreamHandle stream) {
  const SlidingTiles& tiles = arguments.tiles;
  with_sliding(arguments.job, tiles.spans * warp_size, [&]<class S>(S) {
    const dim3 blocks(static_cast<unsigned>(tiles.columns), static_cast<unsigned>(tiles.rows));
    slide_linear<S><<<blocks, S::threads, tiles.shared_bytes, stream>>>(arguments);
  });
}

}  // namespace satin::kernels
