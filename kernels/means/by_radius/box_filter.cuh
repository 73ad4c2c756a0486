#pragma once
// Box filter with one radius for the whole picture, without a table in memory.
//
// The warps of a tile, one for each span of 32 lanes (means/tiling.h), slide a window down the tile. For each
// row they update the column sums in registers by the row that enters and the row that leaves
// (column_sums.cuh), scan them along the row into shared memory (row_prefixes.cuh), and divide the difference
// of two prefixes by the number of pixels (row_means.cuh). So the cost does not depend on the radius.
//
// A `Policy` chooses the types: ShortPolicy computes means of 8 and 16 bits from such values, with or without
// alpha as a weight; LongPolicy has 64-bit prefixes for floats, their fixed point and working values above 16
// bits; WholeRadiusPolicy (box_filter_two_warps.cuh) serves whole radii with 32-bit prefixes.
//
// A fractional radius mixes an inner and an outer window. Along y integers are weighted before the scan;
// along x two differences of prefixes are mixed. Sums are modulo 2^32 or 2^64, and those over one box fit.
// Means of floats are defined by double arithmetic on the exact sums over up to four whole boxes, so each
// window of rows has its own prefixes.
//
// Bytes moved per pixel: the output, and each pixel of the source about 2 + 2 reach / (rows of a tile) times,
// all but once from the L2.

#include <cstdint>
#include <type_traits>

#include "kernels/device/exact_division.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/means/by_radius/box_filter_two_warps.cuh"
#include "kernels/means/by_radius/column_sums.cuh"
#include "kernels/means/by_radius/row_means.cuh"
#include "kernels/means/by_radius/row_prefixes.cuh"

namespace satin::kernels {

// --- Means from 64-bit sums ---

/// The weighted sum of a fractional box in double precision, from signed sums over whole boxes, added in the
/// order of add_weighted() (pixels/maths/divide.h).
struct FloatTotals {
  double estimate[lane_elements] = {};
  std::uint32_t weight = 1;  ///< weight of the current window of rows

  __device__ void set(int e, std::uint64_t sum) { add(e, sum, weight); }
  __device__ void mix(int e, std::uint64_t inner, std::uint64_t outer, const AxisWindow& window) {
    add(e, inner, weight * window.inner);
    add(e, outer, weight * window.outer);
  }

 private:
  __device__ void add(int e, std::uint64_t sum, std::uint32_t weight_of_box) {
    estimate[e] =
        estimate[e] + static_cast<double>(weight_of_box) * nearest_double(static_cast<std::int64_t>(sum));
  }
};

/// Means of one row from 64-bit sums: floats, working values or 16-bit codes. T: type of the values. Out:
/// float, std::uint64_t or PackedLong for fixed point and products with alpha, or void for other integers.
/// `ByBoxes`: floats with a fractional radius. `Unweights`: floats whose colours were summed times alpha.
template <class T, class Out, int Channels, bool ByBoxes, bool Unweights>
class LongMeans : public WindowLane<Channels, std::uint64_t> {
  using Base = WindowLane<Channels, std::uint64_t>;
  using Base::arguments_, Base::any_, Base::valid_, Base::whole_, Base::elements, Base::pixels;
  static constexpr bool writes_floats = std::is_same_v<Out, float>;
  static constexpr bool writes_long = std::is_same_v<Out, std::uint64_t> || std::is_same_v<Out, PackedLong>;

 public:
  using Sums = std::conditional_t<ByBoxes, FloatTotals, WindowSums<std::uint64_t>>;

  template <class... Arguments>
  __device__ explicit LongMeans(const BoxFilterArguments& arguments, const Arguments&... others)
      : Base(arguments, others...) {
    if constexpr (writes_floats) exponents_ = fixed_exponents(*arguments.measured, arguments.job.fixed_bits);
  }

  __device__ void sum(int y, int prefixes, Sums& sums) const {
    Base::template sum<(!writes_floats && !writes_long) || ByBoxes>(y, prefixes, sums);
  }

  __device__ void write(int y, const Sums& sums) {
    if (!any_) return;
    const std::uint32_t size_y = this->size_y_of(y);
    if (whole_ && size_y != size_y_) {
      size_y_ = size_y;
      whole_division_ = division_by(this->whole_divisor(size_y));
    }
    if constexpr (ByBoxes) {
      write_floats(y, size_y, [&](int e) { return sums.estimate[e]; });
    } else if constexpr (writes_floats) {
      write_floats(y, size_y, [&](int e) { return signed_sum(sums.total[e]); });
    } else if constexpr (writes_long) {
      std::uint64_t means[elements];
      divide(size_y, [&](const WideDivisor& by, int e) {
        const std::uint64_t total = sums.total[e] << arguments_.job.more_bits;
        means[e] = by.rounded(total, signed_sum(total));
      });
      store(y, means);
    } else {
      write_integers(y, size_y, sums);
    }
  }

 private:
  [[nodiscard]] __device__ static double signed_sum(std::uint64_t sum) {
    return nearest_double(static_cast<std::int64_t>(sum));
  }

  template <class Total>
  __device__ void write_floats(int y, std::uint32_t size_y, const Total& total) const {
    float means[elements];
    divide(size_y, [&](const WideDivisor& by, int e) {
      const int alpha_at = e / Channels * Channels + Channels - 1;
      if (Unweights && e != alpha_at) {
        const double scale = power_of_two(exponents_.alpha - exponents_.colour);
        means[e] = static_cast<float>(total(e) / total(alpha_at) * scale);
      } else {
        means[e] =
            static_cast<float>(FloatDivision(by, Unweights ? exponents_.alpha : exponents_.colour)(total(e)));
      }
    });
    if constexpr (Unweights) {
      const Source& original = arguments_.original;
      const auto* own =
          reinterpret_cast<const float*>(original.data + y * original.row) + this->x_ * Channels;
#pragma unroll
      for (int p = 0; p < pixels; ++p) {
        const bool visible = total((p + 1) * Channels - 1) > 0;
#pragma unroll
        for (int e = p * Channels; e < (p + 1) * Channels; ++e)
          if (!visible && p < valid_) means[e] = __ldg(own + e);
      }
    }
    store(y, means);
  }

  __device__ void write_integers(int y, std::uint32_t size_y, const WindowSums<std::uint64_t>& sums) const {
    const BoxFilterJob& job = arguments_.job;
    const int more_bits = max(job.more_bits, 0);
    std::uint32_t means[elements];
    divide(size_y, [&](const WideDivisor& by, int e) {
      const std::uint64_t total = sums.total[e] << more_bits;
      means[e] = static_cast<std::uint32_t>(by.rounded(total, nearest_double(total)));
    });
    if constexpr (sizeof(T) == 4) {
      if (job.output == Type::u16) return write_codes(y, means);
    }
    store(y, means);
  }

  __device__ void write_codes(int y, std::uint32_t (&means)[elements]) const {
    if (arguments_.transfer.thresholds != nullptr) encode16(means, arguments_.transfer);
    StoredLane<std::uint16_t, Channels> lane;
    lane.pack(means);
    lane.store(this->template target_of<std::uint16_t>(y), valid_, pixels);
  }

  template <class Stored>
  __device__ void store(int y, const Stored (&means)[elements]) const {
    if constexpr (is_packed<Out>) {
      Out packed;
      packed.pack(means);
      return this->store_packed(packed, y);
    }
    using Group = Vector<Stored, 16 / sizeof(Stored)>;
    auto* to = reinterpret_cast<Stored*>(this->template target_of<Stored>(y));
    const int count = valid_ * Channels;
    if (count == elements && reinterpret_cast<std::uintptr_t>(to) % sizeof(Group) == 0) {
#pragma unroll
      for (int e = 0; e < elements; e += Group::count) {
        Group group;
#pragma unroll
        for (int k = 0; k < Group::count; ++k) group.of[k] = means[e + k];
        *reinterpret_cast<Group*>(to + e) = group;
      }
      return;
    }
#pragma unroll
    for (int e = 0; e < elements; ++e)
      if (e < count) to[e] = means[e];
  }

  /// Calls use(divisor of the element's pixel, element). The divisor of unclipped windows is kept between
  /// rows.
  template <class Use>
  __device__ void divide(std::uint32_t size_y, const Use& use) const {
    const auto make = [this](std::uint64_t divisor) {
      return whole_ ? whole_division_ : division_by(divisor);
    };
    this->for_each_element(size_y, make, use);
  }

  [[nodiscard]] __device__ WideDivisor division_by(std::uint64_t divisor) const {
    return WideDivisor(divisor << max(-arguments_.job.more_bits, 0));
  }

  FixedExponents exponents_;
  std::uint32_t size_y_ = 0;  ///< window size along y that whole_division_ is for
  WideDivisor whole_division_{1};
};

/// Codes of 16 bits with straight alpha of one row, from 64-bit sums whose colours were summed times alpha.
/// T: type of the values. The weighted sum of a colour may have 80 bits, of which prefixes give the low 64.
/// That over the inner window along x follows from the pixel to the left or, of a lane's first pixel, from
/// the row above: such sums differ by less than 2^63.
template <class T, int Channels>
class AlphaMeans : public MeanLane<T, std::uint16_t, Channels, std::uint64_t, true> {
  using Base = MeanLane<T, std::uint16_t, Channels, std::uint64_t, true>;
  using Base::arguments_, Base::any_;
  static constexpr int colours = Channels - 1;

 public:
  using Base::Base, Base::elements, Base::pixels;
  static constexpr int start_shift = 16;

  struct Sums {
    std::uint32_t means[elements];
  };

  /// Starts from the sums of the rows that the windows of the first row and the one above share, shifted
  /// right by start_shift.
  __device__ void begin(int prefixes) {
    const std::uint32_t factor = (arguments_.job.y.inner + arguments_.job.y.outer) << start_shift;
    EachSum started{[&](int e, std::uint64_t inner, std::uint64_t) {
      if (e < colours) first_[e] = nearest_double(inner) * factor;
    }};
    Base::sum(0, prefixes, started);
  }

  __device__ void sum(int y, int prefixes, Sums& sums) {
    const AxisWindow& window = arguments_.job.x;
    const std::uint32_t size_y = this->size_y_of(y);
    double near[colours];           // sums of the pixel before over the inner window along x
    double estimates[colours];      // weighted sums
    std::uint64_t totals[colours];  // and their low bits
#pragma unroll
    for (int c = 0; c < colours; ++c) near[c] = first_[c];
    EachSum divided{[&](int e, std::uint64_t inner, std::uint64_t outer) {
      const int c = e % Channels;
      const std::uint64_t total = inner * window.inner + outer * window.outer;
      if (c == colours) return divide(size_y, e / Channels, totals, estimates, total, sums.means);
      near[c] = completed(inner, near[c]);
      if (e < Channels) first_[c] = near[c];
      totals[c] = total;
      estimates[c] =
          __fma_rn(near[c], window.inner + window.outer, nearest_double(outer - inner) * window.outer);
    }};
    Base::sum(y, prefixes, divided);
  }

  __device__ void write(int y, Sums& sums) const {
    if (any_) this->store(sums.means, y);
  }

 private:
  /// Returns the sum with these low bits that differs from another one by less than 2^63.
  [[nodiscard]] __device__ static double completed(std::uint64_t low, double other) {
    const double value = nearest_double(low);
    return __fma_rn(__fma_rn(other - value, 0x1p-64, whole_numbers) - whole_numbers, 0x1p64, value);
  }

  /// Divides the sums of pixel p. Colours without alpha are arbitrary: MeanLane keeps the original's.
  __device__ void divide(std::uint32_t size_y, int p, const std::uint64_t (&totals)[colours],
                         const double (&estimates)[colours], std::uint64_t alpha,
                         std::uint32_t (&means)[elements]) const {
    const std::uint32_t white = arguments_.job.encodes ? 0xFFFFFF : 0xFFFF;
    const WideDivisor by_alpha(max(alpha, std::uint64_t{1}));
#pragma unroll
    for (int c = 0; c < colours; ++c)
      means[p * Channels + c] =
          min(static_cast<std::uint32_t>(by_alpha.rounded(totals[c], estimates[c])), white);
    const WideDivisor by_size(this->divisor_of(p, size_y) << -arguments_.job.more_bits);
    means[p * Channels + colours] = static_cast<std::uint32_t>(by_size.rounded(alpha, nearest_double(alpha)));
  }

  double first_[colours];  ///< sums of the lane's first pixel over the inner window along x
};

// --- Policies ---

/// The point of a step at which it loads the rows of the next one. The later, the fewer registers are in use.
enum class Ask { before_scan, before_means, after_means };

/// Means of 8 or 16 bits (Out) from values of 8 or 16 bits (T). `MostWarps` of a block; fewer leave more
/// registers to each.
template <class T, class Out, int ChannelCount, class Column, class SumOfRow, bool Weighted, int MostWarps>
struct ShortPolicy {
  using Values = LaneValues<T, ChannelCount, Column, Weighted>;
  using Sum = SumOfRow;
  using Means = ShortMeans<T, Out, ChannelCount, Sum, Weighted>;
  using Tables = LightTables<T, Out>;
  static constexpr int channels = ChannelCount;
  static constexpr int most_warps = MostWarps;
  static constexpr int start_batch = 4;            ///< rows in flight at the start of a tile
  static constexpr bool may_use_groups = true;     ///< whether tiles may start from groups of rows
  static constexpr bool may_be_fractional = true;  ///< whether the radius may be fractional
  static constexpr bool scans_each_box = false;    ///< whether each window of rows has its own prefixes
  static constexpr bool sums_low_bits = false;     ///< whether means complete sums whose low bits are known
  static constexpr Ask ask = Ask::before_scan;
};

/// Means from 64-bit prefixes: LongMeans. `WithAlpha`: by the last channel as a weight. Column sums have 64
/// bits for floats, products with alpha, and such values between boxes, else 32.
template <class T, class Out, int ChannelCount, bool ByBoxes, bool WithAlpha = false>
struct LongPolicy {
  static constexpr bool is_float = std::is_same_v<T, float>;
  static constexpr bool is_long = sizeof(T) >= 8;
  static constexpr bool weighted = WithAlpha && !is_long;
  static constexpr bool wide_columns = is_float || is_long || weighted;
  static constexpr bool sums_low_bits = false;
  using Column = std::conditional_t<wide_columns, std::uint64_t, std::uint32_t>;
  using Values = LaneValues<T, ChannelCount, Column, weighted>;
  using Sum = std::uint64_t;
  using Means = LongMeans<T, Out, ChannelCount, ByBoxes, WithAlpha && std::is_same_v<Out, float>>;
  using Tables = LightTables<T, std::uint32_t>;
  static constexpr int channels = ChannelCount;
  static constexpr int most_warps = long_policy_warps(is_float  ? Type::f32
                                                      : is_long ? Type::u64
                                                                : Type::u32,
                                                      weighted, ByBoxes);
  static constexpr int start_batch = is_long ? 1 : 2;
  static constexpr bool may_use_groups = false;
  static constexpr bool may_be_fractional = !wide_columns;
  static constexpr bool scans_each_box = ByBoxes;
  static constexpr Ask ask = ByBoxes && most_warps > 12 ? Ask::after_means : Ask::before_means;
};

/// Codes of 16 bits with straight alpha from such codes or from values between boxes, with any radius.
template <class T, int ChannelCount>
struct AlphaPolicy : LongPolicy<T, T, ChannelCount, false, true> {
  using Means = AlphaMeans<T, ChannelCount>;
  static constexpr bool may_be_fractional = true;
  static constexpr bool sums_low_bits = true;
};

// --- The kernel ---

/// Sums over the boxes of the next row, first with the inner window of rows, and moves to that row.
template <class Policy, class Publish>
__device__ void sum_by_boxes(ColumnSums<Policy>& columns, const AxisWindow& window, const Publish& publish,
                             FloatTotals& totals) {
  const int boxes = window.outer != 0 ? 2 : 1;
#pragma unroll 1
  for (int box = 0; box < boxes; ++box) {
    RowScan<Policy::channels, typename Policy::Sum> scan;
    columns.begin_box(box == 0, box == boxes - 1, scan);
    totals.weight = box == 0 ? window.inner : window.outer;
    publish(scan);
  }
  columns.advance();
}

template <class Policy>
__global__ void __launch_bounds__(Policy::most_warps* warp_size, 1)
    filter_boxes(const __grid_constant__ BoxFilterArguments arguments) {
  using Memory = TileMemory<typename Policy::Sum>;
  using Rows = typename Policy::Values::Rows;
  const BoxFilterJob& job = arguments.job;
  const SlidingTiles& tiles = arguments.tiles;
  const int table_bytes = Policy::Tables::fill(arguments);
  const Source& source = arguments.source;
  const TileThread tile(tiles);
  if (tile.tile >= tiles.columns * tiles.rows) return;
  const Memory memory(table_bytes + tile.index * Memory::bytes(tiles.spans), tiles.spans);
  memory.clear_margins(tile.thread);

  const SummedTile area = summed_tile(arguments, Rows::pixels, tile.tile);
  const int x = area.origin + tile.thread * Rows::pixels;
  const Rows rows(source, x, area.last_needed, job.width, job.clipped, arguments.columns);
  ColumnSums<Policy> columns(arguments, rows);
  typename Policy::Means means(arguments, area, memory, tile.thread, tile.threads, x);
  const int last = area.last_y - 1;
  columns.start(area.first_y);
  columns.fetch(min(area.first_y + 1, last));
  const auto ask_at = [&](Ask step, int y) {
    if (step == Policy::ask) columns.fetch(min(y + 2, last));
  };
  if constexpr (Policy::sums_low_bits) {
    RowScan<Policy::channels, typename Policy::Sum> scan;
    columns.begin_shared(Policy::Means::start_shift, scan);
    scan.publish(tile.barrier(), memory, tile.warp());
    means.begin(memory.prefixes());
  }
#pragma unroll 1
  for (int y = area.first_y; y <= last; ++y) {
    typename Policy::Means::Sums sums;
    if constexpr (Policy::scans_each_box) {
      const auto publish = [&](auto& scan) {
        scan.publish(tile.barrier(), memory, tile.warp());
        means.sum(y, memory.prefixes(), sums);
      };
      sum_by_boxes(columns, job.y, publish, sums);
    } else {
      RowScan<Policy::channels, typename Policy::Sum> scan;
      columns.advance(scan, [&] { ask_at(Ask::before_scan, y); });
      scan.publish(tile.barrier(), memory, tile.warp());
      // A single branch: with two, the compiler keeps the sums in local memory in between.
      if (Policy::ask == Ask::before_scan && !means.any()) continue;
      means.sum(y, memory.prefixes(), sums);
    }
    ask_at(Ask::before_means, y);
    means.write(y, sums);
    ask_at(Ask::after_means, y);
  }
}

// --- The choice of a kernel ---

template <class Policy>
BoxFilterKernels kernels_of() {
  if constexpr (Policy::may_use_groups) {
    return {filter_boxes<Policy>, scan_row_groups<typename Policy::Values::WithoutWideTable>};
  } else {
    return {filter_boxes<Policy>, nullptr};
  }
}

template <class T, class Out, int Channels, class Column, class Sum, bool Weighted = false>
BoxFilterKernels short_kernels(const SlidingTiles& tiles) {
  constexpr int usual = tuning::running_warps_per_block;
  constexpr int most = tuning::running_most_warps;
  return tiles.spans * tiles.together <= usual
             ? kernels_of<ShortPolicy<T, Out, Channels, Column, Sum, Weighted, usual>>()
             : kernels_of<ShortPolicy<T, Out, Channels, Column, Sum, Weighted, most>>();
}

template <class T, class Out, int Channels>
BoxFilterKernels short_kernels_of(const BoxFilterJob& job, const SlidingTiles& tiles) {
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  if constexpr (sizeof(T) == 1 && sizeof(Out) == 1 && Channels % 2 == 0) {
    if (job.weights_by_alpha)
      return job.uses_whole_radius_kernel() ? whole_radius_kernels<T, Out, Channels, true, true>(tiles)
                                            : short_kernels<T, Out, Channels, u32, u64, true>(tiles);
  }
  if constexpr (std::is_same_v<T, Out>) {
    if (job.sums == SumWidths::u32_low) return whole_radius_kernels<T, Out, Channels, false, true>(tiles);
  }
  if (job.uses_whole_radius_kernel()) return whole_radius_kernels<T, Out, Channels, false, false>(tiles);
  if (job.sums == SumWidths::u32) return short_kernels<T, Out, Channels, u32, u32>(tiles);
  if constexpr (std::is_same_v<T, Out> && sizeof(T) == 2) {
    if (job.sums == SumWidths::u64) return short_kernels<T, Out, Channels, u64, u64>(tiles);
  }
  return short_kernels<T, Out, Channels, u32, u64>(tiles);
}

/// Kernels for floats and for values of 64 bits between boxes (Values), which are read or written as Between.
template <class Values, class Between, int Channels, bool WithAlpha>
BoxFilterKernels float_kernels_of(const BoxFilterJob& job) {
  if (job.output == Type::u64)
    return kernels_of<LongPolicy<Values, Between, Channels, false, WithAlpha && sizeof(Values) == 4>>();
  return job.x.outer != 0 || job.y.outer != 0
             ? kernels_of<LongPolicy<Values, float, Channels, true, WithAlpha>>()
             : kernels_of<LongPolicy<Values, float, Channels, false, WithAlpha>>();
}

template <class T, int Channels>
BoxFilterKernels long_kernels_of(const BoxFilterJob& job) {
  constexpr bool between = sizeof(T) == 8;
  using Packed = std::conditional_t<between, PackedLong, T>;
  if constexpr (Channels % 2 == 0 && (between || sizeof(T) == 2)) {
    if (job.weights_by_alpha && job.output == Type::u16) return kernels_of<AlphaPolicy<Packed, Channels>>();
  }
  if constexpr (between || std::is_same_v<T, float>) {
    if constexpr (Channels % 2 == 0) {
      if (job.weights_by_alpha) return float_kernels_of<Packed, PackedLong, Channels, true>(job);
    }
    return job.packed ? float_kernels_of<Packed, PackedLong, Channels, false>(job)
                      : float_kernels_of<T, std::uint64_t, Channels, false>(job);
  } else {
    if constexpr (sizeof(T) == 2 && Channels % 2 == 0) {
      if (job.weights_by_alpha) return kernels_of<LongPolicy<T, PackedLong, Channels, false, true>>();
    }
    return kernels_of<LongPolicy<T, void, Channels, false>>();
  }
}

/// Kernels for light of 24 bits. T: std::uint8_t, or std::uint32_t for light.
template <class T, int Channels>
BoxFilterKernels light_kernels_of(const BoxFilterJob& job) {
  if constexpr (sizeof(T) == 1) {
    return {filter_by_two_warps<WorkingPolicy<T, Channels, PackedLight>>, nullptr};
  } else {
    if constexpr (Channels % 2 == 0) {
      if (job.light == LightBox::unpremultiplies)
        return {filter_by_two_warps<StraightAlphaPolicy<Channels>>, nullptr};
      if (job.packed)
        return {filter_by_two_warps<WorkingPolicy<PackedLight, Channels, PackedLight>>, nullptr};
    }
    return {filter_by_two_warps<WorkingPolicy<T, Channels, T>>, nullptr};
  }
}

template <class T, int Channels>
BoxFilterKernels box_filter_kernels(const BoxFilterArguments& arguments) {
  const BoxFilterJob& job = arguments.job;
  if constexpr ((sizeof(T) == 1 && Channels % 2 == 0) || std::is_same_v<T, std::uint32_t>) {
    if (job.light != LightBox::none) return light_kernels_of<T, Channels>(job);
  }
  if constexpr (sizeof(T) <= 2) {
    if (!job.exceeds_16_bits)
      return job.output == Type::u8 ? short_kernels_of<T, std::uint8_t, Channels>(job, arguments.tiles)
                                    : short_kernels_of<T, std::uint16_t, Channels>(job, arguments.tiles);
  }
  return long_kernels_of<T, Channels>(job);
}

}  // namespace satin::kernels
