#pragma once
// Prefix sums along a row of column sums, in shared memory, and sums over windows as their differences: the
// second half of the box filter. The warps of a tile scan a row together (RowScan). Then every lane reads,
// for each of its elements, the prefixes at both ends of the window (WindowEnds).

#include <cstdint>
#include <type_traits>

#include "kernels/device/exact_division.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/means/by_radius/column_sums.cuh"
#include "kernels/means/launch.h"
#include "means/tiling.h"

namespace satin::kernels {

// --- Tiles of a block ---

/// Shared memory of one tile: the totals of its warps, a margin of zeros for windows that begin before the
/// first column, and the prefixes of a row. Prefixes of 64 bits are stored as an array of low words and
/// one of high words, each with its margin: lanes are then 48 bytes apart, without bank conflicts.
template <class Sum>
struct TileMemory {
  static constexpr int margin = 32;  ///< elements
  static constexpr int size = static_cast<int>(sizeof(Sum));

  [[nodiscard]] SATIN_HD static int bytes(int warps) {
    return (4 * warps + margin + warps * warp_elements) * size;
  }
  __device__ TileMemory(int first_byte, int warps) : first_(first_byte), warps_(warps) {}

  [[nodiscard]] __device__ int totals() const { return first_; }
  /// Offset of the first prefix (its low word) in shared memory.
  [[nodiscard]] __device__ int prefixes() const { return first_ + 4 * warps_ * size + margin * 4; }
  /// Distance of a high word from its low word, in bytes.
  [[nodiscard]] __device__ int to_high_words() const { return (margin + warps_ * warp_elements) * 4; }

  __device__ void clear_margins(int thread) const {
    if (thread >= margin) return;
#pragma unroll
    for (int word = 0; word < size / 4; ++word)
      shared_at<std::uint32_t>(prefixes() + word * to_high_words())[thread - margin] = 0;
  }

 private:
  int first_;
  int warps_;
};

inline constexpr int count_margin = TileMemory<std::uint32_t>::margin;

/// Size of a tile's prefixes of counts in masked_box_filter.cu: a margin of zeros, then one per column.
[[nodiscard]] SATIN_HD int count_memory_bytes(int warps, int channels) {
  return (count_margin + warps * warp_elements / channels) * static_cast<int>(sizeof(std::uint32_t));
}

inline constexpr int most_tile_barriers = 15;  ///< named barriers of a block, without __syncthreads()

// Limits of box_filter_two_warps.cuh.
inline constexpr int paired_warps = 32;  ///< most warps of a block
// Blocks for values of 32 bits have fewer warps, those with sums in doubles fewer still: more would spill
// registers.
inline constexpr int paired_warps_of_light = 24;
inline constexpr int paired_warps_of_alpha = 20;
[[nodiscard]] inline int most_paired_warps(const BoxFilterJob& job) {
  if (job.type != Type::u32) return paired_warps;
  return job.light == LightBox::unpremultiplies ? paired_warps_of_alpha : paired_warps_of_light;
}
inline constexpr int paired_rows = 2;                        ///< rows of prefixes that a tile holds
inline constexpr int paired_barriers = 1 + 2 * paired_rows;  ///< barriers of a tile

/// A barrier for some threads of a block: those of one tile, whom the other tiles need not wait for.
struct NamedBarrier {
  int index;  ///< from 1 on; 0 is that of __syncthreads()
  int threads;

  __device__ void synchronize() const {
    asm volatile("bar.sync %0, %1;" ::"r"(index), "r"(threads) : "memory");
  }
  /// Counts the thread without waiting. Racecheck of compute-sanitizer reports a false race between a write
  /// before arrive() and a read after synchronize(); see kernels/NOTEBOOK.md.
  __device__ void arrive() const { asm volatile("bar.arrive %0, %1;" ::"r"(index), "r"(threads) : "memory"); }
};

struct TileThread {
  int threads;  ///< number of threads per tile
  int index;    ///< index of the tile in the block
  int tile;     ///< index of the tile in the picture
  int thread;   ///< index of the thread in the tile

  __device__ explicit TileThread(const SlidingTiles& tiles, int warps_per_span = 1)
      : threads(tiles.spans * warp_size * warps_per_span),
        index(static_cast<int>(threadIdx.x) / threads),
        tile(static_cast<int>(blockIdx.x) * tiles.together + index),
        thread(static_cast<int>(threadIdx.x) - index * threads) {}

  [[nodiscard]] __device__ int warp() const { return thread / warp_size; }
  [[nodiscard]] __device__ NamedBarrier barrier() const { return {index + 1, threads}; }
};

/// Most warps of a block under LongPolicy; `weighted`: by alpha. With column sums of 64 bits, 16 warps have
/// enough registers only if the next rows are loaded after the means. 16 such warps against 12 that load
/// before (H200, UHD RGB f32): radius 16 0.186 and 0.189 ms, radius 64 0.286 and 0.248, sigma 8 0.755 and
/// 0.655, radius 16.5 0.285 and 0.335.
[[nodiscard]] constexpr int long_policy_warps(Type type, bool weighted, bool by_boxes) {
  return type == Type::u64 || weighted || (type == Type::f32 && !by_boxes) ? 12 : 16;
}

/// A tile and the columns that its windows cover.
struct SummedTile : TileRect {
  int origin;       ///< first column of the first lane; may lie outside the picture
  int last_needed;  ///< last column that a window covers
};

__device__ inline SummedTile summed_tile(const BoxFilterArguments& arguments, int pixels, int tile) {
  const BoxFilterJob& job = arguments.job;
  const SlidingTiles& tiles = arguments.tiles;
  SummedTile result{tile_rect(tiles, job.width, job.height, tile % tiles.columns, tile / tiles.columns)};
  int origin = result.first_x - job.x.outer_reach() - 1;
  result.last_needed = result.last_x - 1 + job.x.outer_reach();
  if (job.clipped) {
    origin = max(origin, 0);
    result.last_needed = min(result.last_needed, job.width - 1);
  }
  const int behind = (origin % pixels + pixels) % pixels;
  result.origin = origin - behind;
  return result;
}

// --- Prefixes of one row ---

/// The sums over the lanes and warps of a tile to the left of a lane, for `Count` independent sums.
template <int Count, class Sum>
class SumsBefore {
 public:
  /// Scans the lanes' own sums over the warp, and stores the warp's totals.
  __device__ void scan_lanes(const Sum (&own)[Count], const TileMemory<Sum>& memory, int warp) {
    Sum inclusive[groups * Group::count] = {};
#pragma unroll
    for (int c = 0; c < Count; ++c) before_[c] = own[c];
    inclusive_scans(before_);
#pragma unroll
    for (int c = 0; c < Count; ++c) {
      inclusive[c] = before_[c];
      before_[c] -= own[c];
    }
    if (lane_index() != warp_size - 1) return;
    auto* const totals = shared_at<Group>(memory.totals() + 4 * warp * static_cast<int>(sizeof(Sum)));
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      Group group;
#pragma unroll
      for (int k = 0; k < Group::count; ++k) group.of[k] = inclusive[g * Group::count + k];
      totals[g] = group;
    }
  }

  /// Adds the totals of the warps to the left, after all warps have stored theirs.
  __device__ void add_warps(const TileMemory<Sum>& memory, int warp) {
    const auto* const totals = shared_at<Group>(memory.totals());
    if constexpr (sizeof(Sum) == 4) {
      Group of_warp{};
      if (lane_index() < warp) of_warp = totals[lane_index()];
#pragma unroll
      for (int c = 0; c < Count; ++c) before_[c] += sum_of_lanes(of_warp.of[c]);
    } else {
#pragma unroll 1
      for (int w = 0; w < warp; ++w) {
#pragma unroll
        for (int c = 0; c < Count; ++c)
          before_[c] += totals[stride * w + c / Group::count].of[c % Group::count];
      }
    }
  }

  [[nodiscard]] __device__ Sum operator[](int c) const { return before_[c]; }

 private:
  using Group = Vector<Sum, 16 / sizeof(Sum)>;
  static constexpr int stride = 4 / Group::count;  ///< groups per warp
  static constexpr int groups = (Count + Group::count - 1) / Group::count;
  static_assert(groups <= stride);

  Sum before_[Count];
};

/// A lane's share of the prefixes of one row.
template <int Channels, class SumOfRow>
class RowScan {
 public:
  using Sum = SumOfRow;

  template <class Column>
  __device__ void begin(const Column (&sums)[lane_elements]) {
#pragma unroll
    for (int e = 0; e < lane_elements; ++e) {
      prefixes_[e] = sum_of(sums[e]);
      if (e >= Channels) prefixes_[e] += prefixes_[e - Channels];
    }
  }

  /// Stores the prefixes over the tile in its memory. All warps of the tile call this together. They wait for
  /// each other twice: before the totals of warps are read, and before the prefixes are.
  __device__ void publish(const NamedBarrier& tile, const TileMemory<Sum>& memory, int warp) {
    add_warps_before([&] { tile.synchronize(); }, memory, warp);
    store(memory, warp);
    tile.synchronize();
  }

  /// Completes the prefixes by the sums of the lanes and warps to the left. All warps of the tile call this;
  /// wait() returns when all have stored their totals.
  template <class Wait>
  __device__ void add_warps_before(const Wait& wait, const TileMemory<Sum>& memory, int warp) {
    Sum own[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) own[c] = prefixes_[lane_elements - Channels + c];
    SumsBefore<Channels, Sum> before;
    before.scan_lanes(own, memory, warp);
    wait();
    before.add_warps(memory, warp);
#pragma unroll
    for (int e = 0; e < lane_elements; ++e) prefixes_[e] += before[e % Channels];
  }

  __device__ void store(const TileMemory<Sum>& memory, int warp) const {
    const int to = memory.prefixes() + (warp * warp_size + lane_index()) * lane_elements * 4;
    store_words<0>(to);
    if constexpr (sizeof(Sum) == 8) store_words<32>(to + memory.to_high_words());
  }

 private:
  template <class Column>
  [[nodiscard]] __device__ static Sum sum_of(Column column) {
    if constexpr (std::is_same_v<Sum, double>)
      return exact_double(column);
    else
      return column;
  }

  template <int Bit>
  __device__ void store_words(int to) const {
    const auto word = [this](int e) {
      if constexpr (std::is_same_v<Sum, double>)
        return static_cast<std::uint32_t>(Bit == 0 ? __double2loint(prefixes_[e])
                                                   : __double2hiint(prefixes_[e]));
      else
        return static_cast<std::uint32_t>(prefixes_[e] >> Bit);
    };
#pragma unroll
    for (int e = 0; e < lane_elements; e += 4)
      *shared_at<uint4>(to + e * 4) = make_uint4(word(e), word(e + 1), word(e + 2), word(e + 3));
  }

  Sum prefixes_[lane_elements];
};

// --- Sums over windows ---

/// Window sums of one lane's elements: over the inner and the outer window along x as 32 bits, or their
/// weighted sum as 64 bits. Other receivers of WindowEnds::sum() provide the same two functions.
template <class Sum>
struct WindowSums;

template <>
struct WindowSums<std::uint32_t> {
  std::uint32_t inner[lane_elements];
  std::uint32_t outer[lane_elements];

  __device__ void set(int e, std::uint32_t sum) { inner[e] = sum; }
  __device__ void mix(int e, std::uint32_t inner_sum, std::uint32_t outer_sum, const AxisWindow&) {
    inner[e] = inner_sum;
    outer[e] = outer_sum;
  }
};

template <>
struct WindowSums<std::uint64_t> {
  std::uint64_t total[lane_elements];

  __device__ void set(int e, std::uint64_t sum) { total[e] = sum; }
  __device__ void mix(int e, std::uint64_t inner_sum, std::uint64_t outer_sum, const AxisWindow& window) {
    total[e] = inner_sum * window.inner + outer_sum * window.outer;
  }
};

/// Calls use(element, sum over the inner window along x, sum over the outer one). They are equal for a whole
/// radius, where the outer weight is 0.
template <class Use>
struct EachSum {
  Use use;

  template <class Sum>
  __device__ void set(int e, Sum sum) {
    use(e, sum, sum);
  }
  template <class Sum>
  __device__ void mix(int e, Sum inner, Sum outer, const AxisWindow&) {
    use(e, inner, outer);
  }
};

/// Positions at which the windows of a lane's elements begin and end in a row of prefixes, the same for all
/// rows. Prefixes are read by aligned accesses of 16 bytes. The offset of a window's end from such an address
/// follows from the reach modulo 4, which is therefore a template parameter of the inner loop.
template <int Channels, class Sum, int Elements = lane_elements>
class WindowEnds {
 public:
  /// `thread` is one of the tile's `threads` threads, each with `Elements` prefixes.
  __device__ WindowEnds(const BoxFilterJob& job, const TileMemory<Sum>& memory, int thread, int threads)
      : window_(job.x), to_high_words_(memory.to_high_words()) {
    constexpr int size = Elements;
    const int fraction = window_.outer != 0 ? Channels : 0;
    int high = thread * size + window_.reach * Channels;
    int low = thread * size - (window_.reach + 1) * Channels - fraction;
    // A window that ends left of all columns reads any zero of the margin. One that ends right of them reads
    // any prefix behind the last column that counts, where all are the total.
    const int least = -TileMemory<Sum>::margin + 4;
    if (low < least) low += (least - low + size - 1) / size * size;
    const int most = threads * size - size - fraction - 4;
    if (high > most) high -= (high - most + size - 1) / size * size;
    high_ = high / 4 * 16;
    low_ = (low - (low & 3)) * 4;
  }

  /// Calls sums.set() or, for a fractional radius, sums.mix() for every element. `prefixes`: offset of the
  /// row's prefixes. `Fractions`: whether the radius may be fractional.
  template <bool Fractions = true, class Sums>
  __device__ void sum(int prefixes, Sums& sums) const {
    const int reach = window_.reach % (Channels == 4 ? 1 : Channels == 2 ? 2 : 4);
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

  /// Reads `Count` prefixes, the first of them `Shift` elements behind an aligned address.
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
  template <int Shift, int Count, class Wide>
  __device__ void load(int from, Wide (&prefixes)[Count]) const {
    std::uint32_t low[Count];
    std::uint32_t high[Count];
    load<Shift>(from, low);
    load<Shift>(from + to_high_words_, high);
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      if constexpr (std::is_same_v<Wide, double>)
        prefixes[i] = __hiloint2double(static_cast<int>(high[i]), static_cast<int>(low[i]));
      else
        prefixes[i] = static_cast<std::uint64_t>(high[i]) << 32 | low[i];
    }
  }

  const AxisWindow& window_;
  int high_;  ///< aligned byte offset of the end of the first element's window
  int low_;   ///< aligned byte offset of its beginning
  int to_high_words_;
};

}  // namespace satin::kernels
