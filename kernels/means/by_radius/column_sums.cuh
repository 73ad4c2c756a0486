#pragma once
// Column sums of a window that slides down a tile: the first half of the box filter.
//
// A lane keeps the sums of its own columns in registers. They cover the rows that the windows around two
// neighbouring rows share. Adding the row that enters gives the sums over the outer window of rows,
// subtracting the row that leaves gives those over the inner one, and for a whole radius doing both gives the
// sums of the next row. So a row costs two loads and two additions per value, whatever the radius.
//
// The file holds, in this order: the block's shared memory and the tables that decode pixels, the values that
// pixels add to the sums, the rows that enter and leave, sums over groups of rows for radii above
// running_largest_direct_reach, and ColumnSums.

#include <cuda_pipeline.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/maths/fixed_point.h"
#include "kernels/device/exact_division.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/device/tuning.h"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/means/by_radius/packed_values.cuh"
#include "kernels/means/launch.h"
#include "kernels/pixels/lane.cuh"
#include "means/maths/mean.h"
#include "pixels/light_tables.h"
#include "pixels/maths/pixel.h"

namespace satin::kernels {

// --- Shared memory and the tables that decode pixels ---

inline constexpr int warp_elements = warp_size * lane_elements;

extern __shared__ uint4 block_memory[];

/// Returns the address of byte `byte` of the block's shared memory.
template <class Value>
__device__ Value* shared_at(int byte) {
  return reinterpret_cast<Value*>(reinterpret_cast<std::byte*>(block_memory) + byte);
}

/// Returns that address as the 32-bit number that inline assembly takes. The compiler would otherwise add the
/// start of shared memory to every index.
__device__ inline std::uint32_t shared_address(int byte) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(block_memory)) + static_cast<unsigned>(byte);
}

/// Linear values of the 256 codes of 8 bits, one copy for each lane, so that no bank conflicts occur. The
/// offset of an entry is its code times 256 plus 4 times the lane: one byte permutation builds it.
struct DecodeTable {
  static constexpr int first_byte = 0;
  static constexpr int entry_bytes = 256;  // half of it unused
  static constexpr int bytes = 256 * entry_bytes;

  /// All threads of a one-dimensional block call this together. A barrier must follow before the first read.
  __device__ static void fill(const std::uint32_t* of_codes) {
    constexpr int vectors = warp_size * 4 / 16;  // accesses of 16 bytes per entry
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < 256 * vectors; i += static_cast<int>(blockDim.x)) {
      const std::uint32_t value = __ldg(of_codes + i / vectors);
      *shared_at<uint4>(i / vectors * entry_bytes + i % vectors * 16) =
          make_uint4(value, value, value, value);
    }
  }

  __device__ static std::uint32_t value(std::uint32_t word, int byte) {
    const auto lane = static_cast<std::uint32_t>(lane_index() * 4);
    const auto bytes = static_cast<unsigned>(0x5504 | byte << 4);
    return *shared_at<std::uint32_t>(static_cast<int>(__byte_perm(word, lane, bytes)));
  }
};

/// 24-bit linear values of the 65536 codes of 16 bits. Words would not fit into shared memory: the table
/// holds the difference from the estimate of pixels/light_tables.h in 16 bits.
struct WideDecodeTable {
  static constexpr int bytes = 2 << 16;

  /// Starts the copy. wait() and then a barrier must precede the first read.
  __device__ static void fill(const std::int16_t* more_than_rough) {
    const auto* from = reinterpret_cast<const std::byte*>(more_than_rough);
    for (int i = static_cast<int>(threadIdx.x) * 16; i < bytes; i += static_cast<int>(blockDim.x) * 16)
      __pipeline_memcpy_async(shared_at<uint4>(i), from + i, 16);
    __pipeline_commit();
  }
  __device__ static void wait() { __pipeline_wait_prior(0); }

  __device__ static std::uint32_t value(std::uint32_t code) {
    float whole_code = 0;  // the compiler would choose the slow conversion from 16 bits
    asm("cvt.rn.f32.u32 %0, %1;" : "=f"(whole_code) : "r"(code));
    const float quarter = rough_quarter_light(whole_code);
    const std::uint32_t rough = 4 * (__float_as_uint(quarter) - __float_as_uint(rough_light_base));
    const std::int16_t more = *shared_at<std::int16_t>(2 * static_cast<int>(code));
    return rough + static_cast<std::uint32_t>(std::int32_t{more});
  }
};

// --- Values of pixels ---

/// The values that the pixels of a lane add to its column sums: stored codes or their linear light, times
/// alpha for `Weighted`; floats in fixed point; working values. `WideInShared`: 16-bit codes are decoded by a
/// table in shared memory, like 8-bit codes, instead of one in global memory. `AlphaUnit`: the factor of a
/// weighted pixel's alpha.
template <class T, int Channels, class Column, bool Weighted = false, bool WideInShared = true,
          std::uint32_t AlphaUnit = 1>
class LaneValues {
 public:
  static constexpr int elements = lane_elements;
  static constexpr bool byte_codes = sizeof(T) == 1;
  using Sum = Column;
  using Rows = LaneRows<T, Channels, Column, elements>;
  using Words = typename Rows::Words;
  using WithoutWideTable = LaneValues<T, Channels, Column, Weighted, false>;

  __device__ explicit LaneValues(const BoxFilterArguments& arguments) : of_codes_(arguments.transfer.decode) {
    if constexpr (is_packed<T>) high_bits_ = arguments.job.fixed_bits != 0 ? 0xFFFFFFFFU : 0xFFFFU;
    if constexpr (std::is_same_v<T, float>) {
      const FixedExponents exponents = fixed_exponents(*arguments.measured, arguments.job.fixed_bits);
      factor_ = power_of_two(exponents.colour);
      if constexpr (Weighted) alpha_factor_ = power_of_two(exponents.alpha);
    }
  }

  /// Adds a + Sign * b to the sums.
  template <int Sign>
  __device__ void add(const Words& a, const Words& b, Column (&sums)[elements]) const {
    if constexpr (sizeof(T) <= 2 && sizeof(Column) == 4 && !Weighted) {
      if (of_codes_ == nullptr) return add_codes<Sign>(a, b, sums);
    }
    if constexpr (Weighted && sizeof(Column) == 4) {
      if (of_codes_ == nullptr) {
        add_weighted<false, 1>(a, sums);
        return add_weighted<false, Sign>(b, sums);
      }
      add_weighted<true, 1>(a, sums);
      return add_weighted<true, Sign>(b, sums);
    }
    for_each<Sign>(a, b, [&](int e, Column of_a, Column of_b) {
      sums[e] += of_a;
      sums[e] += of_b;
    });
  }

  /// Calls use(e, value of a, Sign * value of b) for every element e.
  template <int Sign, class Use>
  __device__ void for_each(const Words& a, const Words& b, const Use& use) const {
    if constexpr (sizeof(T) <= 2) {
      if (of_codes_ != nullptr) return for_each_value<true, Sign>(a, b, use);
    }
    for_each_value<false, Sign>(a, b, use);
  }

 private:
  template <bool Decoded, int Sign, class Use>
  __device__ void for_each_value(const Words& a, const Words& b, const Use& use) const {
#pragma unroll
    for (int e = 0; e < elements; ++e) use(e, value<Decoded, 1>(a, e), value<Decoded, Sign>(b, e));
  }

  template <bool Decoded, int Sign>
  [[nodiscard]] __device__ Column value(const Words& row, int e) const {
    if constexpr (Weighted) {
      const int alpha_at = e / Channels * Channels + Channels - 1;
      const T alpha = element<T>(row.words, alpha_at);
      Column product = 0;
      if constexpr (std::is_same_v<T, float>) {
        const double finite = finite_or_zero(alpha);
        product = e == alpha_at ? fixed(finite, alpha_factor_)
                                : fixed(finite_or_zero(element<T>(row.words, e)) * finite, factor_);
      } else {
        const auto other =
            static_cast<std::uint32_t>(e == alpha_at ? AlphaUnit : unweighted<Decoded>(row, e));
        product = static_cast<Column>(other) * alpha;
      }
      return Sign > 0 ? product : 0 - product;
    } else {
      return Sign > 0 ? unweighted<Decoded>(row, e) : 0 - unweighted<Decoded>(row, e);
    }
  }

  template <bool Decoded>
  [[nodiscard]] __device__ Column unweighted(const Words& row, int e) const {
    if constexpr (is_packed<T>) {
      return T::value([&](int w) { return row.words[w]; }, e, high_bits_);
    } else if constexpr (std::is_same_v<T, float>) {
      return fixed(finite_or_zero(element<T>(row.words, e)), factor_);
    } else if constexpr (!Decoded) {
      return element<T>(row.words, e);
    } else if constexpr (sizeof(T) == 1) {
      return DecodeTable::value(row.words[e / 4], e % 4);
    } else if constexpr (WideInShared) {
      return WideDecodeTable::value(element<T>(row.words, e));
    } else {
      return __ldg(of_codes_ + element<T>(row.words, e));
    }
  }

  /// Adds Sign * row to the sums. One instruction multiplies and adds; the compiler would add the products
  /// first.
  template <bool Decoded, int Sign>
  __device__ void add_weighted(const Words& row, std::uint32_t (&sums)[elements]) const {
#pragma unroll
    for (int e = 0; e < elements; ++e) {
      const int alpha_at = e / Channels * Channels + Channels - 1;
      const std::uint32_t alpha = element<T>(row.words, alpha_at);
      if (e == alpha_at) {
        sums[e] += AlphaUnit * (Sign > 0 ? alpha : 0 - alpha);
      } else {
        asm("mad.lo.u32 %0, %1, %2, %0;"
            : "+r"(sums[e])
            : "r"(unweighted<Decoded>(row, e)), "r"(Sign > 0 ? alpha : 0 - alpha));
      }
    }
  }

  /// Returns to_fixed() of core/maths/fixed_point.h. The product is exact, and the sum with 1/2 is exact
  /// unless its floor is 0 or -1 in any case.
  [[nodiscard]] __device__ static std::uint64_t fixed(double value, double factor) {
    return static_cast<std::uint64_t>(floor_of(__fma_rn(value, factor, 0.5)));
  }

  /// Is add() for stored codes. One dot product instruction adds two values.
  template <int Sign>
  __device__ static void add_codes(const Words& a, const Words& b, std::uint32_t (&sums)[elements]) {
    if constexpr (sizeof(T) == 1) {
      constexpr std::uint32_t weights = Sign > 0 ? 0x00010001U : 0xFFFF0001U;
#pragma unroll
      for (int i = 0; i < Rows::word_count; ++i) {
        const std::uint32_t lower = __byte_perm(a.words[i], b.words[i], 0x5140);  // a0 b0 a1 b1
        const std::uint32_t upper = __byte_perm(a.words[i], b.words[i], 0x7362);  // a2 b2 a3 b3
        add_pair(weights, lower, sums[4 * i], sums[4 * i + 1]);
        add_pair(weights, upper, sums[4 * i + 2], sums[4 * i + 3]);
      }
    } else {
      constexpr std::uint32_t weights = Sign > 0 ? 0x0101U : 0xFF01U;
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        const std::uint32_t pair = __byte_perm(a.words[e / 2], b.words[e / 2], e % 2 == 0 ? 0x5410 : 0x7632);
        sums[e] = add_pair_weighted(pair, weights, sums[e]);
      }
    }
  }

  __device__ static void add_pair(std::uint32_t weights, std::uint32_t bytes, std::uint32_t& first,
                                  std::uint32_t& second) {
    first = static_cast<std::uint32_t>(add_weighted_low(weights, bytes, static_cast<int>(first)));
    second = static_cast<std::uint32_t>(add_weighted_high(weights, bytes, static_cast<int>(second)));
  }

  const std::uint32_t* of_codes_;  ///< null if stored values are summed
  std::uint32_t high_bits_ = 0;    ///< as in PackedValues::value()
  double factor_ = 1;              ///< scale of floats in fixed point
  double alpha_factor_ = 1;
};

// --- Rows that enter and leave ---

/// Returns first + y * stride by one instruction; the compiler would multiply by a 64-bit stride.
__device__ inline const std::byte* row_at(const std::byte* first, int y, int stride) {
  const std::byte* at = nullptr;
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(at) : "r"(y), "r"(stride), "l"(first));
  return at;
}

/// Knowledge about the lanes of a warp: nothing; that all_plain() holds; or that it holds and that pixels
/// have an unused value, which leaves a row's words with the loaded ones until they are used.
enum class LanesAre { any, plain, plain_and_padded };

/// The rows of one lane's columns that a sliding window meets. Rows: a LaneRows.
template <class Rows, LanesAre Known = LanesAre::any>
class SlidingRows {
  static constexpr bool padded = Known == LanesAre::plain_and_padded;

 public:
  using Words = typename Rows::Words;
  using Loaded = std::conditional_t<padded, typename Rows::PaddedWords, Words>;

  /// All lanes of a warp call the constructor together.
  __device__ SlidingRows(const BoxFilterArguments& arguments, const Rows& rows)
      : arguments_(arguments),
        rows_(rows),
        exist_(rows.place != Rows::Place::nowhere),
        plain_(Known != LanesAre::any || all_plain(arguments, rows)),
        first_(rows.data + rows.offset),
        stride_(static_cast<int>(rows.row)) {}

  /// Whether every lane of the warp has all its pixels inside the picture, or none that counts. All lanes
  /// call this together.
  [[nodiscard]] __device__ static bool all_plain(const BoxFilterArguments& arguments, const Rows& rows) {
    const bool near = rows.row == static_cast<int>(rows.row);
    const bool exists = rows.place != Rows::Place::nowhere;
    return __all_sync(whole_warp, near && (!exists || is_plain(arguments, rows)));
  }

  /// Returns the row of the picture at a position of the extended picture, or -1.
  [[nodiscard]] __device__ int at(int position) const { return __ldg(arguments_.rows + position); }

  /// Is at() for the rows summed at the start of a tile, which clipped jobs never read outside the picture.
  [[nodiscard]] __device__ int start_at(int position) const {
    return arguments_.job.clipped ? position : at(position);
  }

  [[nodiscard]] __device__ bool exist() const { return exist_; }

  /// Looks up the rows that load_next() will load for the window around row y.
  __device__ void look_up(int y, int outer_reach) {
    enters_at_ = at(y + outer_reach);
    leaves_at_ = at(y - arguments_.job.y.reach - 1);
  }
  /// Loads the rows that enter and leave the window, as look_up() found them.
  __device__ void load_next() {
    enters_ = load(enters_at_);
    leaves_ = load(leaves_at_);
  }
  [[nodiscard]] __device__ Words enters() const { return words_of(enters_); }
  [[nodiscard]] __device__ Words leaves() const { return words_of(leaves_); }

  [[nodiscard]] __device__ static Words words_of(const Loaded& loaded) {
    if constexpr (padded)
      return Rows::without_padding(loaded);
    else
      return loaded;
  }

  /// Loads row y of the picture; zeros if y is negative.
  [[nodiscard]] __device__ Loaded load(int y) const {
    if constexpr (Known == LanesAre::any) {
      if (!plain_) return load_anywhere(rows_, y);
    }
    Loaded loaded{};
    if (!exist_ || y < 0) return loaded;
    const std::byte* from = row_at(first_, y, stride_);
    if constexpr (padded) {
      if (rows_.aligned) {
        Rows::template load_padded<16>(from, loaded);
      } else {
        Rows::template load_padded<4>(from, loaded);
      }
    } else if (!whole_words || rows_.aligned) {
      rows_.template load_aligned<Rows::access>(from, loaded);
    } else {
      rows_.template load_aligned<4>(from, loaded);
    }
    return loaded;
  }

 private:
  static constexpr bool whole_words =
      !is_packed<Words> && Rows::pixel_bytes % 4 == 0 && Rows::bytes / Rows::elements >= 4;

  [[nodiscard]] __device__ static bool is_plain(const BoxFilterArguments& arguments, const Rows& rows) {
    if constexpr (whole_words)
      return rows.offset >= 0 && rows.offset + Rows::bytes <= arguments.job.width * Rows::pixel_bytes;
    if constexpr (Rows::may_be_padded)
      if (padded) return rows.place == Rows::Place::inside;
    return rows.place == Rows::Place::inside && rows.aligned && rows.pixel == Rows::pixel_bytes;
  }

  [[nodiscard]] __noinline__ __device__ static Words load_anywhere(const Rows& rows, int y) {
    Words loaded;
    rows.load(y, loaded);
    return loaded;
  }

  const BoxFilterArguments& arguments_;
  const Rows& rows_;
  bool exist_;
  bool plain_;
  const std::byte* first_;
  int stride_;
  int enters_at_;
  int leaves_at_;
  Loaded enters_;
  Loaded leaves_;
};

/// Calls use(`Batch` rows) for rows [first, end), with row -1 from `end` on. Each is load(row_at(position)).
/// A batch is loaded while the one before is used.
template <int Batch, class Row, class RowAt, class Load, class Use>
__device__ void for_batches(int first, int end, const RowAt& row_at, const Load& load, const Use& use) {
  const auto load_batch = [&](int begin, Row(&rows)[Batch]) {
    int at[Batch];
#pragma unroll
    for (int i = 0; i < Batch; ++i) at[i] = begin + i < end ? row_at(begin + i) : -1;
#pragma unroll
    for (int i = 0; i < Batch; ++i) rows[i] = load(at[i]);
  };
  Row next[Batch];
  load_batch(first, next);
  for (int y = first; y < end; y += Batch) {
    Row rows[Batch];
#pragma unroll
    for (int i = 0; i < Batch; ++i) rows[i] = next[i];
    load_batch(y + Batch, next);
    use(rows);
  }
}

/// Adds rows [first, end) to the sums, with up to 2 * Batch of them in flight.
template <int Batch, class Rows, LanesAre Known, class Values, class Column>
__device__ void add_rows(const SlidingRows<Rows, Known>& rows, const Values& values, int first, int end,
                         Column (&sums)[Rows::elements]) {
  using Loaded = typename SlidingRows<Rows, Known>::Loaded;
  const auto row_at = [&](int position) { return rows.start_at(position); };
  const auto load = [&](int y) { return rows.load(y); };
  for_batches<Batch, Loaded>(first, end, row_at, load, [&](const Loaded(&loaded)[Batch]) {
#pragma unroll
    for (int i = 0; i < Batch; i += 2)
      values.template add<1>(rows.words_of(loaded[i]),
                             rows.words_of(i + 1 < Batch ? loaded[i + 1] : Loaded{}), sums);
  });
}

// --- Sums over groups of rows ---

// A group is the sum of every column over all positions before a multiple of running_group_rows: a prefix sum
// down the columns, sampled. The sum over a window of any height is the difference of two groups and a few
// rows. The rows are those of the picture, extended by its border unless windows are clipped.
//
// Bytes per pixel: the pixel once, and for every running_group_rows rows one sum, written, read and written.

/// Group g holds the positions before first + g * rows. The sums of a row of groups are interleaved like
/// pixels and padded to whole lanes.
struct GroupLayout {
  static constexpr int rows = tuning::running_group_rows;
  int first = 0;
  int end = 0;  ///< one past the last position of any group
  int count = 0;
  int lanes = 0;

  [[nodiscard]] SATIN_HD static GroupLayout of(const BoxFilterJob& job) {
    const int pixels_per_lane = lane_elements / job.channels;
    GroupLayout layout;
    const int beyond = job.clipped ? 0 : job.y.outer_reach() + 1;
    layout.first = -beyond;
    layout.end = job.height + (job.clipped ? 0 : beyond);
    layout.count = (job.height + 2 * beyond + rows - 1) / rows + 1;
    layout.lanes = (job.width + pixels_per_lane - 1) / pixels_per_lane;
    return layout;
  }

  [[nodiscard]] __device__ int begin_of(int group) const { return first + group * rows; }
  /// Returns the group whose boundary is nearest to a position.
  [[nodiscard]] __device__ int nearest(int position) const { return (position - first + rows / 2) / rows; }
};

template <class Column>
struct alignas(16) GroupSums {
  Column sums[lane_elements];
};

/// Replaces the sums of every column in each share of the groups by their exclusive scan. All threads of the
/// block call this.
template <class Column>
__device__ void scan_shares(Column* of_first_share) {
  constexpr int columns = tuning::running_group_lanes * lane_elements;
  for (auto column = static_cast<int>(threadIdx.x); column < columns;
       column += static_cast<int>(blockDim.x)) {
    Column* of_shares = of_first_share + column;
    Column before = 0;
#pragma unroll 8
    for (int s = 0; s < tuning::running_group_shares; ++s) {
      const Column own = of_shares[s * columns];
      of_shares[s * columns] = before;
      before += own;
    }
  }
}

/// Writes the groups of every column. A block covers the columns of a few lanes. Each of the
/// running_group_shares threads of a lane sums its share of the rows, then adds the sums of the shares
/// before. Values: LaneValues without the shared table for 16-bit codes.
template <class Values>
__global__ void __launch_bounds__(tuning::running_group_lanes* tuning::running_group_shares, 1)
    scan_row_groups(const __grid_constant__ BoxFilterArguments arguments) {
  constexpr int lanes = tuning::running_group_lanes;
  constexpr int shares = tuning::running_group_shares;
  int table_bytes = 0;
  if (Values::byte_codes && arguments.transfer.decode != nullptr) {
    DecodeTable::fill(arguments.transfer.decode);
    table_bytes = DecodeTable::bytes;
    __syncthreads();
  }
  const GroupLayout layout = GroupLayout::of(arguments.job);
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = static_cast<int>(blockIdx.x) * lanes + thread % lanes;
  const int share = thread / lanes;
  const int length = (layout.count + shares - 1) / shares;
  const int begin = min(share * length, layout.count);
  const int end = lane < layout.lanes ? min(begin + length, layout.count) : begin;

  using Sums = GroupSums<typename Values::Sum>;
  Sums* groups = static_cast<Sums*>(arguments.groups) + lane;
  Sums sums{};
  using Rows = typename Values::Rows;
  const int width = arguments.job.width;
  const Rows columns(arguments.source, lane * Rows::pixels, width, width, true, arguments.columns);
  const SlidingRows<Rows> rows(arguments, columns);
  const Values values(arguments);
  constexpr int batch = tuning::running_group_batch_words / Rows::word_count;
  for (int group = begin; group < end; ++group) {
    groups[static_cast<std::int64_t>(group) * layout.lanes] = sums;
    const int first = layout.begin_of(group);
    add_rows<batch>(rows, values, first, min(first + layout.rows, layout.end), sums.sums);
  }

  shared_at<Sums>(table_bytes)[thread] = sums;
  __syncthreads();
  scan_shares(shared_at<typename Values::Sum>(table_bytes));
  __syncthreads();
  const Sums before = shared_at<Sums>(table_bytes)[thread];
  for (int group = begin; group < end; ++group) {
    Sums& to = groups[static_cast<std::int64_t>(group) * layout.lanes];
    sums = to;
#pragma unroll
    for (int e = 0; e < lane_elements; ++e) sums.sums[e] += before.sums[e];
    to = sums;
  }
}

// --- Column sums ---

/// The sliding column sums of one lane. Rows are loaded one step before they are needed. `Policy`: one of
/// box_filter.cuh or box_filter_two_warps.cuh.
template <class Policy, LanesAre Known = LanesAre::any>
class ColumnSums {
 public:
  using Values = typename Policy::Values;
  using Rows = typename Values::Rows;
  using Words = typename Rows::Words;
  using Column = typename Values::Sum;
  static constexpr int elements = lane_elements;

  __device__ ColumnSums(const BoxFilterArguments& arguments, const Rows& rows)
      : arguments_(arguments),
        window_(arguments.job.y),
        rows_(arguments, rows),
        columns_(rows.columns),
        values_(arguments) {}

  /// Sums the rows before row y, whose rows the next fetch() loads.
  __device__ void start(int y) { start_share(y, 0, 1); }

  /// Is start() for several warps that each sum a share of the rows; more() adds the shares of the others.
  __device__ void start_share(int y, int share, int shares) {
    rows_.look_up(y, outer_reach());
#pragma unroll
    for (Column& sum : shared_) sum = 0;
    int first = y - window_.reach - 1;
    int end = y + outer_reach();
    if (arguments_.job.clipped) {
      first = max(first, 0);
      end = min(end, arguments_.job.height);
    }
    if constexpr (Policy::may_use_groups) {
      if (arguments_.job.starts_from_groups()) {
        if (share == 0) add_by_groups(first, end);
        return;
      }
    }
    const int rows = max(end - first, 0);
    add_rows(first + rows * share / shares, first + rows * (share + 1) / shares);
  }

  /// Stores the sums in shared memory, for more() of the lane with the same columns.
  __device__ void store(int to) const {
    static_assert(sizeof(Column) == 4);
#pragma unroll
    for (int e = 0; e < elements; e += 4)
      *shared_at<uint4>(to + e * 4) = make_uint4(shared_[e], shared_[e + 1], shared_[e + 2], shared_[e + 3]);
  }
  __device__ void more(int from) {
#pragma unroll
    for (int e = 0; e < elements; e += 4) {
      const uint4 sums = *shared_at<uint4>(from + e * 4);
      shared_[e] += sums.x;
      shared_[e + 1] += sums.y;
      shared_[e + 2] += sums.z;
      shared_[e + 3] += sums.w;
    }
  }

  /// Loads the rows that advance() will add and subtract, and looks up those of the step after, for row
  /// `next`.
  __device__ void fetch(int next) {
    rows_.load_next();
    rows_.look_up(next, outer_reach());
  }

  /// Moves the window to the next row, with the rows that fetch() loaded.
  __device__ void advance() { values_.template add<-1>(rows_.enters(), rows_.leaves(), shared_); }

  /// Calls advance() and ask(), and begins the scan of the row's column sums, weighted by the rows' coverage
  /// if the radius is fractional.
  template <class Scan, class AskForRows>
  __device__ void advance(Scan& scan, const AskForRows& ask) {
    using Sum =
        std::conditional_t<std::is_same_v<typename Scan::Sum, double>, std::uint64_t, typename Scan::Sum>;
    if (!Policy::may_be_fractional || window_.outer == 0) {
      advance();
      ask();
      scan.begin(shared_);
    } else {
      Sum sums[elements];
      values_.template for_each<1>(rows_.enters(), rows_.leaves(), [&](int e, Column enters, Column leaves) {
        sums[e] = static_cast<Sum>(shared_[e] - leaves) * window_.inner +
                  static_cast<Sum>(shared_[e] + enters) * window_.outer;
        shared_[e] += enters - leaves;
      });
      ask();
      scan.begin(sums);
    }
  }

  /// Begins the scan of the sums over the shared rows, shifted right by low_bits.
  template <class Scan>
  __device__ void begin_shared(int low_bits, Scan& scan) const {
    Column sums[elements];
#pragma unroll
    for (int e = 0; e < elements; ++e) sums[e] = shared_[e] >> low_bits;
    scan.begin(sums);
  }

  /// Begins the scan of the unweighted sums over the inner or the outer window of the next row.
  template <class Scan>
  __device__ void begin_box(bool without_leaving, bool with_entering, Scan& scan) const {
    Column sums[elements];
    const auto each = [&](const auto& sum) {
      values_.template for_each<1>(rows_.enters(), rows_.leaves(), [&](int e, Column enters, Column leaves) {
        sums[e] = sum(shared_[e], enters, leaves);
      });
    };
    if (!without_leaving) {
      each([](Column shared, Column enters, Column) { return shared + enters; });
    } else if (!with_entering) {
      each([](Column shared, Column, Column leaves) { return shared - leaves; });
    } else {
      each([](Column shared, Column enters, Column leaves) { return shared + (enters - leaves); });
    }
    scan.begin(sums);
  }

 private:
  [[nodiscard]] __device__ int outer_reach() const {
    return Policy::may_be_fractional || Policy::scans_each_box ? window_.outer_reach() : window_.reach;
  }

  /// Adds the difference of the groups nearest to both ends, adds the rows that it lacks and subtracts the
  /// rows in excess.
  __device__ void add_by_groups(int first, int end) {
    const GroupLayout layout = GroupLayout::of(arguments_.job);
    const int first_group = layout.nearest(first);
    const int end_group = layout.nearest(end);
    const int begins = layout.begin_of(first_group);
    const int ends = min(layout.begin_of(end_group), layout.end);
#pragma unroll 1
    for (int lacking = 0; lacking < 2; ++lacking) {
#pragma unroll
      for (Column& sum : shared_) sum = 0 - sum;
      add_rows(lacking != 0 ? first : begins, lacking != 0 ? begins : first);
      add_rows(lacking != 0 ? ends : end, lacking != 0 ? end : ends);
    }
    add_groups(layout, first_group, end_group);
  }

  __device__ void add_rows(int first, int end) {
    kernels::add_rows<Policy::start_batch>(rows_, values_, first, end, shared_);
  }

  __device__ void add_groups(const GroupLayout& layout, int first, int end) {
    if (!rows_.exist()) return;
    const std::int64_t row = static_cast<std::int64_t>(layout.lanes) * elements;
    const Column* groups = static_cast<const Column*>(arguments_.groups);
    constexpr int channels = elements / Rows::pixels;
    const int left = __ldg(columns_);
    const bool lane_of_groups =
        left >= 0 && left % Rows::pixels == 0 &&
        (Rows::pixels == 1 || __ldg(columns_ + Rows::pixels - 1) == left + Rows::pixels - 1);
    if (lane_of_groups) {
      using Group = Vector<Column, 16 / sizeof(Column)>;
      const Column* entries = groups + static_cast<std::int64_t>(left) * channels;
#pragma unroll
      for (int e = 0; e < elements; e += Group::count) {
        const Group sums = *reinterpret_cast<const Group*>(entries + end * row + e) -
                           *reinterpret_cast<const Group*>(entries + first * row + e);
#pragma unroll
        for (int k = 0; k < Group::count; ++k) shared_[e + k] += sums.of[k];
      }
      return;
    }
#pragma unroll
    for (int p = 0; p < Rows::pixels; ++p) {
      const int column = __ldg(columns_ + p);
      if (column < 0) continue;
#pragma unroll
      for (int c = 0; c < channels; ++c) {
        const Column* entry = groups + static_cast<std::int64_t>(column) * channels + c;
        shared_[p * channels + c] += __ldg(entry + end * row) - __ldg(entry + first * row);
      }
    }
  }

  const BoxFilterArguments& arguments_;
  const AxisWindow& window_;
  SlidingRows<Rows, Known> rows_;
  const int* columns_;  ///< column of the picture for each of the lane's pixels
  Values values_;
  Column shared_[elements];
};

}  // namespace satin::kernels
