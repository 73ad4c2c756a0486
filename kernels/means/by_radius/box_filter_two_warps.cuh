#pragma once
// Box filter for whole radii, as box_filter.cuh, with means of 8 to 24 bits from 32-bit prefixes. This is
// the kernel of `satin blur` with a whole radius. The last of successive boxes of bytes with alpha uses it
// for any radius, with prefixes that are integers in doubles (StraightAlphaPolicy).
//
// Each span of a tile has two warps. The summing warp slides the column sums down and scans them; the
// dividing warp divides a row while the next one is summed. Each needs half the registers, so twice as many
// warps are resident and hide the latency of tables and barriers. A tile that is too wide for two warps a
// span has one, which does both.

#include <cstdint>

#include "kernels/device/exact_division.cuh"
#include "kernels/means/by_radius/column_sums.cuh"
#include "kernels/means/by_radius/row_means.cuh"
#include "kernels/means/by_radius/row_prefixes.cuh"

namespace satin::kernels {

/// Means of one row. `LowBits`: window sums (with alpha, those of colours) need more than 32 bits, and only
/// the low 32 are known. Such a sum follows from any known sum that differs by less than 2^31. A lane keeps
/// the sum of its middle pixel from row to row: the other pixels are at most half a lane away, and the next
/// row differs by two rows of values.
template <class T, class Out, int Channels, bool Weighted, bool LowBits>
class WholeRadiusMeans : public MeanLane<T, Out, Channels, std::uint32_t, Weighted> {
  using Base = MeanLane<T, Out, Channels, std::uint32_t, Weighted>;
  using Base::arguments_, Base::any_, Base::valid_, Base::whole_, Base::x_, Base::raised,
      Base::raised_divisor;
  static constexpr int colours = Weighted ? Channels - 1 : Channels;

 public:
  using Base::elements, Base::pixels;
  /// Whether pixels may have an unused value.
  static constexpr bool may_be_padded = Channels == 3 && sizeof(T) == 1 && sizeof(Out) == 1 && !LowBits;

  /// Sums over the windows of one row, each with `more` added.
  struct Sums {
    std::uint32_t inner[elements];
    std::uint32_t more = 0;

    __device__ void set(int e, std::uint32_t sum) { inner[e] = sum + more; }
  };

  template <class... Others>
  __device__ explicit WholeRadiusMeans(const BoxFilterArguments& arguments, const Others&... others)
      : Base(arguments, others...) {
    const BoxFilterJob& job = arguments.job;
    first_whole_ = job.clipped ? job.y.reach : 0;
    whole_rows_ = whole_ && job.unclipped.divisor != 0 ? max(job.height - 2 * first_whole_, 0) : 0;
#pragma unroll
    for (int p = 0; p < pixels; ++p)
      columns_[p] = window_pixels(x_ + p, job.x.reach, job.width, job.clipped && p < valid_);
  }

  __device__ void sum(int y, int prefixes, Sums& sums) const {
    if constexpr (rounds_sums) sums.more = is_whole(y) ? arguments_.job.unclipped.divisor / 2 : 0;
    Base::template sum<false>(y, prefixes, sums);
  }

  /// Takes the sums of the row before the first one, shifted right by job.low_bits.
  __device__ void begin(const Sums& sums) {
#pragma unroll
    for (int c = 0; c < colours; ++c)
      middle_[c] = static_cast<std::uint64_t>(sums.inner[middle_of(c)]) << arguments_.job.low_bits;
  }

  __device__ void write(int y, const Sums& sums) {
    if (!any_) return;
    if constexpr (LowBits) {
#pragma unroll
      for (int c = 0; c < colours; ++c) middle_[c] = total(sums, middle_of(c));
    }
    std::uint32_t means[elements];
    if constexpr (Weighted) {
      divide_colours(sums, means);
      divide_alphas(sums, y, means);
    } else if (is_whole(y)) {
      divide_whole(sums, means);
    } else {
      divide_clipped(sums, y, means);
    }
    this->template store<may_be_padded>(means, y);
  }

 private:
  /// Whether sum() adds half a divisor to the sums of unclipped rows, for divide_plain().
  static constexpr bool rounds_sums = !Weighted && !LowBits && !Base::mixed;

  using Division = LongDivision<(sizeof(T) > 1)>;
  using ShortDivision = LongDivision<false>;

  [[nodiscard]] __device__ static constexpr int middle_of(int c) { return pixels / 2 * Channels + c; }

  /// Returns the sum of an element minus that of the middle pixel.
  [[nodiscard]] __device__ std::int32_t more_than_middle(const Sums& sums, int e) const {
    return static_cast<std::int32_t>(sums.inner[e] - static_cast<std::uint32_t>(middle_[e % Channels]));
  }
  [[nodiscard]] __device__ std::uint64_t total(const Sums& sums, int e) const {
    return middle_[e % Channels] + static_cast<std::uint64_t>(std::int64_t{more_than_middle(sums, e)});
  }

  /// Whether no window of the warp in row y is clipped and job.unclipped divides them.
  [[nodiscard]] __device__ bool is_whole(int y) const {
    return static_cast<unsigned>(y - first_whole_) < whole_rows_;
  }

  /// Returns the quotient of any 32-bit dividend by job.unclipped: the estimate, or one less if its remainder
  /// is negative.
  [[nodiscard]] __device__ std::uint32_t exact_quotient(std::uint32_t dividend) const {
    const ScaledDivisor& whole = arguments_.job.unclipped;
    const std::uint32_t quotient = scaled_quotient(dividend, whole);
    const auto remainder = static_cast<std::int32_t>(quotient * (0 - whole.divisor) + dividend);
    return quotient + static_cast<std::uint32_t>(remainder >> 31);
  }

  __device__ void divide_plain(const Sums& sums, std::uint32_t (&means)[elements]) const {
    const ScaledDivisor& whole = arguments_.job.unclipped;
    const std::uint32_t factor = 1U << max(arguments_.job.more_bits, 0);
    const auto dividend = [&](int e) {
      return rounds_sums ? sums.inner[e] : sums.inner[e] * factor + whole.divisor / 2;
    };
#pragma unroll
    for (int e = 0; e < elements; ++e) means[e] = scaled_quotient(dividend(e), whole);
    if (whole.exact) return;
#pragma unroll
    for (int e = 0; e < elements; ++e)
      means[e] += static_cast<std::uint32_t>(
          static_cast<std::int32_t>(means[e] * (0 - whole.divisor) + dividend(e)) >> 31);
  }

  __device__ void divide_whole(const Sums& sums, std::uint32_t (&means)[elements]) const {
    const std::uint32_t divisor = arguments_.job.unclipped.divisor;
    if constexpr (!LowBits) {
      divide_plain(sums, means);
    } else {
      // Quotients relative to that of the middle pixel minus floor(2^31 / divisor), so that dividends fit 32
      // bits.
      const std::uint32_t below = arguments_.job.quotients_of_half;
      const Division division(divisor);
      std::uint32_t first[Channels];
      std::uint32_t offset[Channels];
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        first[c] = division(middle_[c]) - below;
        offset[c] = divisor / 2 - first[c] * divisor;
      }
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        const int c = e % Channels;
        means[e] = first[c] + exact_quotient(sums.inner[e] + offset[c]);
      }
    }
  }

  __device__ void find_divisors(int y, std::uint32_t (&divisors)[pixels]) const {
    const BoxFilterJob& job = arguments_.job;
    const int rows = window_pixels(y, job.y.reach, job.height, job.clipped);
#pragma unroll
    for (int p = 0; p < pixels; ++p)
      divisors[p] =
          static_cast<std::uint32_t>(raised_divisor(static_cast<std::uint64_t>(columns_[p]) * rows));
  }

  __device__ void divide_clipped(const Sums& sums, int y, std::uint32_t (&means)[elements]) const {
    using Of = std::conditional_t<LowBits, Division, ShortDivision>;
    const auto divide = [&](const Of& division, int e) {
      if constexpr (LowBits) {
        means[e] = division(total(sums, e));
      } else {
        means[e] = division(raised(sums.inner[e]));
      }
    };
    std::uint32_t divisors[pixels];
    find_divisors(y, divisors);
    if (whole_) {
      const Of division(divisors[0]);
#pragma unroll
      for (int e = 0; e < elements; ++e) divide(division, e);
      return;
    }
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      const Of division(divisors[p]);
#pragma unroll
      for (int c = 0; c < Channels; ++c) divide(division, p * Channels + c);
    }
  }

  __device__ void divide_colours(const Sums& sums, std::uint32_t (&means)[elements]) const {
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      const ShortDivision by_alpha(max(sums.inner[p * Channels + colours], 1U));
#pragma unroll
      for (int c = 0; c < colours; ++c) means[p * Channels + c] = by_alpha(total(sums, p * Channels + c));
    }
  }

  __device__ void divide_alphas(const Sums& sums, int y, std::uint32_t (&means)[elements]) const {
    if (is_whole(y)) {
      const std::uint32_t half = arguments_.job.unclipped.divisor / 2;
#pragma unroll
      for (int e = colours; e < elements; e += Channels) means[e] = exact_quotient(sums.inner[e] + half);
      return;
    }
    std::uint32_t divisors[pixels];
    find_divisors(y, divisors);
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      const int e = p * Channels + colours;
      means[e] = ShortDivision(divisors[p])(sums.inner[e]);
    }
  }

  std::uint64_t middle_[Channels];  ///< sums of the middle pixel
  int first_whole_;                 ///< first row whose windows are not clipped
  unsigned whole_rows_;             ///< number of such rows; 0 if windows are clipped along x
  int columns_[pixels];             ///< width of each pixel's window
};

template <class T, class Out, int ChannelCount, bool Weighted, bool LowBits>
struct WholeRadiusPolicy {
  using Values = LaneValues<T, ChannelCount, std::uint32_t, Weighted>;
  using Means = WholeRadiusMeans<T, Out, ChannelCount, Weighted, LowBits>;
  using Tables = LightTables<T, Out>;
  using Scan = RowScan<ChannelCount, std::uint32_t>;
  static constexpr int channels = ChannelCount;
  static constexpr int start_batch = sizeof(T) == 1 ? 4 : 2;  ///< rows in flight at the start of a tile
  static constexpr bool may_use_groups = true;
  static constexpr bool may_be_fractional = false;
  static constexpr bool scans_each_box = false;
  static constexpr bool has_low_bits = LowBits;
  static constexpr bool may_be_padded = Means::may_be_padded;
  static constexpr int most_warps = paired_warps;
};

/// Means of 24 bits between successive boxes: of such means, or of bytes (T) times their alpha as in
/// pixels/premultiplied.h. Out: std::uint32_t, or PackedLight of bytes with alpha.
template <class T, int ChannelCount, class Out>
struct WorkingPolicy : WholeRadiusPolicy<Out, Out, ChannelCount, false, true> {
  static constexpr bool of_bytes = sizeof(T) == 1;
  using Values = LaneValues<T, ChannelCount, std::uint32_t, of_bytes, true, of_bytes ? 0xFFFF : 1>;
  using Tables = LightTables<T, Out>;
  static constexpr int start_batch = of_bytes ? 4 : 1;
  static constexpr bool may_use_groups = false;
  static constexpr int most_warps = of_bytes ? paired_warps : paired_warps_of_light;
};

/// Means of one row of premultiplied light, whose sums are integers below 2^53 in doubles, divided by alpha
/// and stored with straight alpha.
template <int Channels>
class StraightAlphaMeans : public MeanLane<std::uint32_t, std::uint8_t, Channels, double, true> {
  using Base = MeanLane<std::uint32_t, std::uint8_t, Channels, double, true>;
  using Base::arguments_, Base::any_;

 public:
  using Base::Base, Base::elements, Base::pixels;
  /// Sums are divided as soon as they are known, as doubles need many registers.
  struct Sums {
    std::uint32_t means[elements];
  };

  __device__ void sum(int y, int prefixes, Sums& sums) {
    if (!any_) return;
    const std::uint32_t size_y = this->size_y_of(y);
    if (size_y != size_y_) {
      size_y_ = size_y;
#pragma unroll
      for (int p = 0; p < pixels; ++p) divisions_[p] = DoubleDivision(this->divisor_of(p, size_y));
    }
    const AxisWindow& window = arguments_.job.x;
    EachSum divided{[&](int e, double inner, double outer) {
      const DoubleDivision& division = divisions_[e / Channels];
      sums.means[e] =
          division(__fma_rn(inner, window.inner, __fma_rn(outer, window.outer, -division.half())));
    }};
    Base::sum(y, prefixes, divided);
  }

  __device__ void write(int y, Sums& sums) const {
    if (!any_) return;
    unpremultiply(sums.means);
    this->store(sums.means, y);
  }

 private:
  /// Divides colours by alpha, and alpha by white: pixels/premultiplied.h. A colour exceeds alpha only by
  /// rounding, and is then white. An estimate has three roundings of 2^-23, so it errs by less than 1/32.
  __device__ static void unpremultiply(std::uint32_t (&means)[elements]) {
    constexpr std::uint32_t white = 0xFFFF;
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      std::uint32_t& alpha = means[p * Channels + Channels - 1];
      const std::uint32_t divisor = max(alpha, 1U);
      const float factor = __fmul_rn(rough_reciprocal(__uint2float_rn(divisor)), white);
      const EstimatedQuotient quotient(divisor);
#pragma unroll
      for (int c = 0; c + 1 < Channels; ++c) {
        std::uint32_t& colour = means[p * Channels + c];
        const std::uint32_t most = min(colour, alpha);
        colour = quotient(__fmaf_rn(__uint2float_rn(most), factor, 0.4375F), most * white);
      }
      alpha = (alpha + white / 2) / white;
    }
  }

  std::uint32_t size_y_ = 0;  ///< window size along y that divisions_ are for
  DoubleDivision divisions_[pixels];
};

/// Bytes with alpha from premultiplied light of 24 bits: the last of successive boxes, with any radius.
template <int Channels>
struct StraightAlphaPolicy : WorkingPolicy<PackedLight, Channels, PackedLight> {
  using Means = StraightAlphaMeans<Channels>;
  using Tables = LightTables<PackedLight, std::uint8_t>;
  using Scan = RowScan<Channels, double>;
  static constexpr bool may_be_fractional = true;
  static constexpr bool has_low_bits = false;
  static constexpr int most_warps = paired_warps_of_alpha;
};

/// The ring of rows of prefixes in shared memory that summing warps fill and dividing warps read, with its
/// barriers. All warps of a tile take part in each.
template <class Sum>
class SharedPrefixRows {
 public:
  using Memory = TileMemory<Sum>;

  __device__ SharedPrefixRows(int first_byte, int tile, int spans)
      : first_byte_(first_byte), first_barrier_(1 + tile * paired_barriers), spans_(spans) {}

  [[nodiscard]] __device__ Memory memory(int row) const {
    return Memory(first_byte_ + row % paired_rows * Memory::bytes(spans_), spans_);
  }
  /// Barrier at which summing warps wait for the sums that dividing warps have begun.
  [[nodiscard]] __device__ NamedBarrier begun() const { return shared(0); }
  /// Barrier at which summing warps wait for each other, and until the row's memory has been read.
  [[nodiscard]] __device__ NamedBarrier emptied(int row) const { return shared(1 + row % paired_rows); }
  /// Barrier at which dividing warps wait until the row is complete.
  [[nodiscard]] __device__ NamedBarrier filled(int row) const {
    return shared(1 + paired_rows + row % paired_rows);
  }

 private:
  [[nodiscard]] __device__ NamedBarrier shared(int index) const {
    return {first_barrier_ + index, 2 * spans_ * warp_size};
  }

  int first_byte_;
  int first_barrier_;
  int spans_;
};

struct WarpTask {
  Source source;
  SummedTile area;
  int thread;   ///< index among the threads with the same role
  int threads;  ///< number of threads with the same role

  [[nodiscard]] __device__ int warp() const { return thread / warp_size; }
  [[nodiscard]] __device__ int last_row() const { return area.last_y - 1; }
};

template <class Policy>
__device__ typename Policy::Values::Rows rows_of(const BoxFilterArguments& arguments, const WarpTask& task) {
  using Rows = typename Policy::Values::Rows;
  const BoxFilterJob& job = arguments.job;
  return Rows(task.source, task.area.origin + task.thread * Rows::pixels, task.area.last_needed, job.width,
              job.clipped, arguments.columns,
              Policy::may_be_padded ? arguments.source_pixel : Rows::pixel_bytes);
}

/// Calls use<what is known of the warp's lanes>(): warps for which all_plain() holds have a loop of their
/// own.
template <class Policy, class Use>
__device__ void with_known_lanes(const BoxFilterArguments& arguments, const WarpTask& task, const Use& use) {
  using enum LanesAre;
  using Rows = typename Policy::Values::Rows;
  const Rows rows = rows_of<Policy>(arguments, task);
  if (SlidingRows<Rows>::all_plain(arguments, rows)) return use.template operator()<plain>();
  if constexpr (Policy::may_be_padded) {
    if (rows.pixel != Rows::pixel_bytes && SlidingRows<Rows, plain_and_padded>::all_plain(arguments, rows))
      return use.template operator()<plain_and_padded>();
  }
  use.template operator()<any>();
}

/// Calls publish(scan) for every row and, if only low bits of sums are known, for the row before the first
/// one. start(columns) begins the column sums.
template <class Policy, LanesAre Known, class Start, class Publish>
__device__ void sum_rows(const BoxFilterArguments& arguments, const WarpTask& task, const Start& start,
                         const Publish& publish) {
  const auto rows = rows_of<Policy>(arguments, task);
  ColumnSums<Policy, Known> columns(arguments, rows);
  start(columns);
  columns.fetch(min(task.area.first_y + 1, task.last_row()));
  if constexpr (Policy::has_low_bits) {
    typename Policy::Scan scan;
    columns.begin_shared(arguments.job.low_bits, scan);
    publish(scan);
  }
#pragma unroll 1
  for (int y = task.area.first_y; y <= task.last_row(); ++y) {
    typename Policy::Scan scan;
    columns.advance(scan, [&] { columns.fetch(min(y + 2, task.last_row())); });
    publish(scan);
  }
}

/// Writes the means of every row from the sums that read(y, sums) returns.
template <class Policy, class Read>
__device__ void write_rows(typename Policy::Means& means, const WarpTask& task, const Read& read) {
  typename Policy::Means::Sums sums;
  if constexpr (Policy::has_low_bits) {
    read(task.area.first_y - 1, sums);
    means.begin(sums);
  }
#pragma unroll 1
  for (int y = task.area.first_y; y <= task.last_row(); ++y) {
    read(y, sums);
    means.write(y, sums);
  }
}

/// Has a dividing warp sum half of the rows before the first one.
template <class Policy, LanesAre Known>
__device__ void start_half(const BoxFilterArguments& arguments, const WarpTask& task, int to) {
  const auto rows = rows_of<Policy>(arguments, task);
  ColumnSums<Policy, Known> columns(arguments, rows);
  columns.start_share(task.area.first_y, 1, 2);
  columns.store(to);
}

template <class Policy>
using SharedRowsOf = SharedPrefixRows<typename Policy::Scan::Sum>;

template <class Policy, LanesAre Known>
__device__ void run_summing_warp(const BoxFilterArguments& arguments, const SharedRowsOf<Policy>& shared,
                                 const WarpTask& task, int half_start) {
  for (int i = 0; i < paired_rows; ++i) shared.memory(i).clear_margins(task.thread);
  const auto start = [&](auto& columns) {
    columns.start_share(task.area.first_y, 0, 2);
    shared.begun().synchronize();
    columns.more(half_start);
  };
  int row = 0;
  sum_rows<Policy, Known>(arguments, task, start, [&](typename Policy::Scan& scan) {
    scan.add_warps_before([&] { shared.emptied(row).synchronize(); }, shared.memory(row), task.warp());
    scan.store(shared.memory(row), task.warp());
    shared.filled(row).arrive();
    ++row;
  });
}

template <class Policy>
__device__ void run_dividing_warp(const BoxFilterArguments& arguments, const SharedRowsOf<Policy>& shared,
                                  const WarpTask& task) {
  const int rows = task.area.last_y - task.area.first_y + (Policy::has_low_bits ? 1 : 0);
  shared.begun().arrive();
  for (int i = 0; i < min(paired_rows, rows); ++i) shared.emptied(i).arrive();
  constexpr int pixels = Policy::Means::pixels;
  typename Policy::Means means(arguments, task.area, shared.memory(0), task.thread, task.threads,
                               task.area.origin + task.thread * pixels);
  int row = 0;
  write_rows<Policy>(means, task, [&](int y, auto& sums) {
    shared.filled(row).synchronize();
    means.sum(y, shared.memory(row).prefixes(), sums);
    if (row + paired_rows < rows) shared.emptied(row).arrive();
    ++row;
  });
}

template <class Policy>
__global__ void __launch_bounds__(Policy::most_warps* warp_size, 1)
    filter_by_two_warps(const __grid_constant__ BoxFilterArguments arguments) {
  const int table_bytes = Policy::Tables::fill(arguments);
  const Source& source = arguments.source;
  const SlidingTiles& tiles = arguments.tiles;
  const TileThread both(tiles, 2);
  if (both.tile >= tiles.columns * tiles.rows) return;
  const int threads = both.threads / 2;
  const bool sums_here = both.thread < threads;
  const int tile_bytes = paired_rows * SharedRowsOf<Policy>::Memory::bytes(tiles.spans);
  const SharedRowsOf<Policy> shared(table_bytes + both.index * tile_bytes, both.index, tiles.spans);
  const WarpTask task{source, summed_tile(arguments, Policy::Means::pixels, both.tile),
                      sums_here ? both.thread : both.thread - threads, threads};
  const int half_start = shared.memory(0).prefixes() + task.thread * lane_elements * 4;
  if (sums_here)
    return with_known_lanes<Policy>(arguments, task, [&]<LanesAre Known>() {
      run_summing_warp<Policy, Known>(arguments, shared, task, half_start);
    });
  with_known_lanes<Policy>(arguments, task,
                           [&]<LanesAre Known>() { start_half<Policy, Known>(arguments, task, half_start); });
  run_dividing_warp<Policy>(arguments, shared, task);
}

/// Is filter_by_two_warps() with one warp a span and one tile a block.
template <class Policy>
__global__ void __launch_bounds__(tuning::running_most_warps* warp_size, 1)
    filter_by_one_warp(const __grid_constant__ BoxFilterArguments arguments) {
  using Means = typename Policy::Means;
  const int table_bytes = Policy::Tables::fill(arguments);
  const Source& source = arguments.source;
  const int threads = arguments.tiles.spans * warp_size;
  const TileMemory<std::uint32_t> memory(table_bytes, arguments.tiles.spans);
  const WarpTask task{source, summed_tile(arguments, Means::pixels, static_cast<int>(blockIdx.x)),
                      static_cast<int>(threadIdx.x), threads};
  memory.clear_margins(task.thread);
  Means means(arguments, task.area, memory, task.thread, threads,
              task.area.origin + task.thread * Means::pixels);
  int y = task.area.first_y - (Policy::has_low_bits ? 1 : 0);
  const auto start = [&](auto& columns) { columns.start(task.area.first_y); };
  sum_rows<Policy, LanesAre::any>(arguments, task, start, [&](typename Policy::Scan& scan) {
    scan.publish(NamedBarrier{1, threads}, memory, task.warp());
    typename Means::Sums sums;
    if (means.any()) {
      means.sum(y, memory.prefixes(), sums);
      if (Policy::has_low_bits && y < task.area.first_y) {
        means.begin(sums);
      } else {
        means.write(y, sums);
      }
    }
    ++y;
  });
}

template <class T, class Out, int Channels, bool Weighted, bool LowBits>
BoxFilterKernels whole_radius_kernels(const SlidingTiles& tiles) {
  using Policy = WholeRadiusPolicy<T, Out, Channels, Weighted, LowBits>;
  return {2 * tiles.spans <= paired_warps ? filter_by_two_warps<Policy> : filter_by_one_warp<Policy>,
          scan_row_groups<typename Policy::Values::WithoutWideTable>};
}

}  // namespace satin::kernels
