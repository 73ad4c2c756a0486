#pragma once
// Box mean with one whole radius and running sums, as box_mean_running.cuh, for means of 8 and 16 bits from
// 32-bit prefixes. Most jobs have two warps a span: one slides the sums of the columns down and scans them,
// the other divides a row while the next one is summed. Each needs half the registers, so that twice as many
// warps wait for tables and for each other. Tiles too wide for that have one warp a span, which does both.

#include <cstdint>

#include "kernels/device/exact_division.cuh"
#include "kernels/means/running_columns.cuh"
#include "kernels/means/running_means.cuh"
#include "kernels/means/running_scan.cuh"

namespace satin::kernels {

// Means of 8 or 16 bits of one row over whole windows, from 32-bit prefixes of its column sums, whose sums
// over windows may need more bits.
//
// A sum of which only the low 32 bits are known follows from another one that differs by less than 2^31. A
// lane keeps that of its middle pixel from row to row: from there it is at most half a lane to its other
// pixels, and two rows of values to the next row.

/// `LowBits`: sums of windows are known modulo 2^32; of pictures with alpha those of colours.
template <class T, class Out, int Channels, bool Weighted, bool LowBits>
class WholeMeans : public StoringLane<T, Out, Channels, std::uint32_t, Weighted> {
  using Base = StoringLane<T, Out, Channels, std::uint32_t, Weighted>;
  using Base::arguments_, Base::any_, Base::valid_, Base::whole_, Base::x_, Base::raised,
      Base::raised_divisor;
  static constexpr int colours = Weighted ? Channels - 1 : Channels;

 public:
  using Base::elements, Base::pixels;

  /// Sums over the windows of one row, with `more` added to each.
  struct Sums {
    std::uint32_t inner[elements];
    std::uint32_t more = 0;

    __device__ void set(int e, std::uint32_t sum) { inner[e] = sum + more; }
  };

  template <class... Others>
  __device__ explicit WholeMeans(const RunningMeanArguments& arguments, const Others&... others)
      : Base(arguments, others...) {
    const RunningMeanJob& job = arguments.job;
    first_whole_ = job.clipped ? job.y.reach : 0;
    whole_rows_ = whole_ && job.whole.divisor != 0 ? max(job.height - 2 * first_whole_, 0) : 0;
#pragma unroll
    for (int p = 0; p < pixels; ++p)
      columns_[p] = window_pixels(x_ + p, job.x.reach, job.width, job.clipped && p < valid_);
  }

  /// For row y.
  __device__ void sum(int y, int prefixes, Sums& sums) const {
    if constexpr (rounds_sums) sums.more = is_whole(y) ? arguments_.job.whole.divisor / 2 : 0;
    Base::template sum<false>(prefixes, sums);
  }

  /// The sums of the row before the first one, without job.low_bits.
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
    this->store(means, y);
  }

 private:
  /// Sums that divide_plain() divides come with half a divisor.
  static constexpr bool rounds_sums = !Weighted && !LowBits && !Base::mixed;

  using Division = LongDivision<sizeof(T) == 2>;
  using ShortDivision = LongDivision<false>;

  /// The element of channel c in the lane's middle pixel.
  [[nodiscard]] __device__ static constexpr int middle_of(int c) { return pixels / 2 * Channels + c; }

  /// The sum of an element less that of the middle pixel.
  [[nodiscard]] __device__ std::int32_t more_than_middle(const Sums& sums, int e) const {
    return static_cast<std::int32_t>(sums.inner[e] - static_cast<std::uint32_t>(middle_[e % Channels]));
  }
  [[nodiscard]] __device__ std::uint64_t total(const Sums& sums, int e) const {
    return middle_[e % Channels] + static_cast<std::uint64_t>(std::int64_t{more_than_middle(sums, e)});
  }

  /// No window of the warp in row y is clipped, and their divisor is job.whole.
  [[nodiscard]] __device__ bool is_whole(int y) const {
    return static_cast<unsigned>(y - first_whole_) < whole_rows_;
  }

  /// The quotient of any 32 bits by job.whole, which is one less where the remainder is negative.
  [[nodiscard]] __device__ std::uint32_t scaled_quotient(std::uint32_t dividend) const {
    const ScaledDivisor& whole = arguments_.job.whole;
    const std::uint32_t quotient = __umulhi(dividend, whole.factor) >> whole.shift;
    const auto remainder = static_cast<std::int32_t>(quotient * (0 - whole.divisor) + dividend);
    return quotient + static_cast<std::uint32_t>(remainder >> 31);
  }

  __device__ void divide_plain(const Sums& sums, std::uint32_t (&means)[elements]) const {
    const ScaledDivisor& whole = arguments_.job.whole;
    const std::uint32_t factor = 1U << max(arguments_.job.more_bits, 0);
    const auto dividend = [&](int e) {
      return rounds_sums ? sums.inner[e] : sums.inner[e] * factor + whole.divisor / 2;
    };
#pragma unroll
    for (int e = 0; e < elements; ++e) means[e] = __umulhi(dividend(e), whole.factor) >> whole.shift;
    if (whole.exact) return;
#pragma unroll
    for (int e = 0; e < elements; ++e)
      means[e] += static_cast<std::uint32_t>(
          static_cast<std::int32_t>(means[e] * (0 - whole.divisor) + dividend(e)) >> 31);
  }

  __device__ void divide_whole(const Sums& sums, std::uint32_t (&means)[elements]) const {
    const std::uint32_t divisor = arguments_.job.whole.divisor;
    if constexpr (!LowBits) {
      divide_plain(sums, means);
    } else {
      // Counted from as many divisors below the middle pixel's quotient as make 2^31.
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
        means[e] = first[c] + scaled_quotient(sums.inner[e] + offset[c]);
      }
    }
  }

  /// The divisors of row y.
  __device__ void find_divisors(int y, std::uint32_t (&divisors)[pixels]) const {
    const RunningMeanJob& job = arguments_.job;
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

  /// Divides the colours by the sum of alphas in their window.
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
      const std::uint32_t half = arguments_.job.whole.divisor / 2;
#pragma unroll
      for (int e = colours; e < elements; e += Channels) means[e] = scaled_quotient(sums.inner[e] + half);
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
  int first_whole_;                 ///< row whose windows are not clipped at the top
  unsigned whole_rows_;             ///< from there on, with windows of job.whole; 0 if the warp has others
  int columns_[pixels];             ///< of the windows
};

template <class T, class Out, int ChannelCount, bool Weighted, bool LowBits>
struct WholeWindow {
  using Values = RunningValues<T, ChannelCount, std::uint32_t, Weighted>;
  using Means = WholeMeans<T, Out, ChannelCount, Weighted, LowBits>;
  using Tables = RunningTables<T, Out>;
  using Scan = RowScan<ChannelCount, std::uint32_t>;
  static constexpr int channels = ChannelCount;
  static constexpr int start_batch = sizeof(T) == 1 ? 4 : 2;  ///< rows in flight at the start of a tile
  static constexpr bool groups = true;
  static constexpr bool fractions = false;
  static constexpr bool by_boxes = false;
  static constexpr bool low_bits = LowBits;
};

/// One barrier of the block: some threads wait there, others only say that they came. Racecheck of
/// compute-sanitizer reports as a race that values which were written before arrive() are read after
/// synchronize(); kernels/NOTEBOOK.md tells why this is an error of the tool.
struct NamedBarrier {
  int index;
  int threads;

  __device__ void synchronize() const {
    asm volatile("bar.sync %0, %1;" ::"r"(index), "r"(threads) : "memory");
  }
  __device__ void arrive() const { asm volatile("bar.arrive %0, %1;" ::"r"(index), "r"(threads) : "memory"); }
};

/// The two warps of a span share rows of prefixes: the summing warps fill them in turn, and the dividing
/// ones read them.
class PairedRows {
 public:
  using Memory = TileMemory<std::uint32_t>;

  __device__ PairedRows(int first_byte, int tile, int spans)
      : first_byte_(first_byte), first_barrier_(1 + tile * paired_barriers), spans_(spans) {}

  [[nodiscard]] __device__ Memory memory(int row) const {
    return Memory(first_byte_ + row % paired_rows * Memory::bytes(spans_), spans_);
  }
  /// The summing warps wait here for the sums that the dividing ones began.
  [[nodiscard]] __device__ NamedBarrier begun() const { return shared(0); }
  /// The summing warps wait here for each other, and for the dividing ones to have read what lay in the
  /// row's place before.
  [[nodiscard]] __device__ NamedBarrier emptied(int row) const { return shared(1 + row % paired_rows); }
  /// The dividing warps wait here for the summing ones.
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

/// One warp's place in a tile.
struct WarpOfTile {
  Source source;
  RunningPart part;
  int thread;   ///< of those with the same task
  int threads;  ///< of them

  [[nodiscard]] __device__ int warp() const { return thread / warp_size; }
  [[nodiscard]] __device__ int last_row() const { return part.last_y - 1; }
};

template <class Window>
__device__ typename Window::Values::Rows rows_of(const RunningMeanArguments& arguments,
                                                 const WarpOfTile& place) {
  using Rows = typename Window::Values::Rows;
  const RunningMeanJob& job = arguments.job;
  return Rows(place.source, place.part.origin + place.thread * Rows::pixels, place.part.last_needed,
              job.width, job.clipped, arguments.columns);
}

/// Calls use<Plain>(): warps that know all their rows to be plain get a loop of their own.
template <class Window, class Use>
__device__ void with_plain(const RunningMeanArguments& arguments, const WarpOfTile& place, const Use& use) {
  using Rows = typename Window::Values::Rows;
  if (RunningRows<Rows>::all_plain(arguments, rows_of<Window>(arguments, place))) {
    use.template operator()<true>();
  } else {
    use.template operator()<false>();
  }
}

/// Calls publish(scan) for every row, from that before the first on if only low bits of sums are known.
/// start(columns) begins them. `Plain`: as RunningRows has it.
template <class Window, bool Plain, class Start, class Publish>
__device__ void sum_rows(const RunningMeanArguments& arguments, const WarpOfTile& place, const Start& start,
                         const Publish& publish) {
  const auto rows = rows_of<Window>(arguments, place);
  RunningColumns<Window, Plain> columns(arguments, rows);
  start(columns);
  columns.fetch(min(place.part.first_y + 1, place.last_row()));
  if constexpr (Window::low_bits) {
    typename Window::Scan scan;
    columns.begin_shared(arguments.job.low_bits, scan);
    publish(scan);
  }
#pragma unroll 1
  for (int y = place.part.first_y; y <= place.last_row(); ++y) {
    typename Window::Scan scan;
    columns.advance(scan, [&] { columns.fetch(min(y + 2, place.last_row())); });
    publish(scan);
  }
}

/// read(y, sums) gives those of one row after another.
template <class Window, class Read>
__device__ void write_rows(typename Window::Means& means, const WarpOfTile& place, const Read& read) {
  typename Window::Means::Sums sums;
  if constexpr (Window::low_bits) {
    read(place.part.first_y - 1, sums);
    means.begin(sums);
  }
#pragma unroll 1
  for (int y = place.part.first_y; y <= place.last_row(); ++y) {
    read(y, sums);
    means.write(y, sums);
  }
}

/// A dividing warp sums half of the rows before the first one.
template <class Window, bool Plain>
__device__ void start_half(const RunningMeanArguments& arguments, const WarpOfTile& place, int to) {
  const auto rows = rows_of<Window>(arguments, place);
  RunningColumns<Window, Plain> columns(arguments, rows);
  columns.start_share(place.part.first_y, 1, 2);
  columns.store(to);
}

template <class Window, bool Plain>
__device__ void sum_paired(const RunningMeanArguments& arguments, const PairedRows& shared,
                           const WarpOfTile& place, int half_start) {
  for (int i = 0; i < paired_rows; ++i) shared.memory(i).clear_margins(place.thread);
  const auto start = [&](auto& columns) {
    columns.start_share(place.part.first_y, 0, 2);
    shared.begun().synchronize();
    columns.more(half_start);
  };
  int row = 0;
  sum_rows<Window, Plain>(arguments, place, start, [&](typename Window::Scan& scan) {
    scan.add_warps_before([&] { shared.emptied(row).synchronize(); }, shared.memory(row), place.warp());
    scan.store(shared.memory(row), place.warp());
    shared.filled(row).arrive();
    ++row;
  });
}

template <class Window>
__device__ void divide_paired(const RunningMeanArguments& arguments, const PairedRows& shared,
                              const WarpOfTile& place) {
  const int rows = place.part.last_y - place.part.first_y + (Window::low_bits ? 1 : 0);
  shared.begun().arrive();
  for (int i = 0; i < min(paired_rows, rows); ++i) shared.emptied(i).arrive();
  constexpr int pixels = Window::Means::pixels;
  typename Window::Means means(arguments, place.part, shared.memory(0), place.thread, place.threads,
                               place.part.origin + place.thread * pixels);
  int row = 0;
  write_rows<Window>(means, place, [&](int y, auto& sums) {
    shared.filled(row).synchronize();
    means.sum(y, shared.memory(row).prefixes(), sums);
    if (row + paired_rows < rows) shared.emptied(row).arrive();
    ++row;
  });
}

template <class Window>
__device__ void average_paired(const RunningMeanArguments& arguments, const PairedRows& shared,
                               const WarpOfTile& place, bool sums_here) {
  const int half_start = shared.memory(0).prefixes() + place.thread * running_elements * 4;
  if (sums_here)
    return with_plain<Window>(arguments, place, [&]<bool Plain>() {
      sum_paired<Window, Plain>(arguments, shared, place, half_start);
    });
  with_plain<Window>(arguments, place,
                     [&]<bool Plain>() { start_half<Window, Plain>(arguments, place, half_start); });
  divide_paired<Window>(arguments, shared, place);
}

template <class Window>
__global__ void __launch_bounds__(paired_warps* warp_size, 1)
    average_whole_paired(const __grid_constant__ RunningMeanArguments arguments) {
  const int table_bytes = Window::Tables::fill(arguments);
  const Source& source = arguments.source;
  const SlidingTiles& tiles = arguments.tiles;
  const PlaceInTiles both(tiles, 2);
  if (both.tile >= tiles.columns * tiles.rows) return;
  const int threads = both.threads / 2;
  const bool sums_here = both.thread < threads;
  const int tile_bytes = paired_rows * PairedRows::Memory::bytes(tiles.spans);
  const PairedRows shared(table_bytes + both.index * tile_bytes, both.index, tiles.spans);
  const WarpOfTile place{source, running_part(arguments, Window::Means::pixels, both.tile),
                         sums_here ? both.thread : both.thread - threads, threads};
  average_paired<Window>(arguments, shared, place, sums_here);
}

/// Here a span has one warp, and a block one tile.
template <class Window>
__global__ void __launch_bounds__(tuning::running_most_warps* warp_size, 1)
    average_whole(const __grid_constant__ RunningMeanArguments arguments) {
  using Means = typename Window::Means;
  const int table_bytes = Window::Tables::fill(arguments);
  const Source& source = arguments.source;
  const int threads = arguments.tiles.spans * warp_size;
  const TileMemory<std::uint32_t> memory(table_bytes, arguments.tiles.spans);
  const WarpOfTile place{source, running_part(arguments, Means::pixels, static_cast<int>(blockIdx.x)),
                         static_cast<int>(threadIdx.x), threads};
  memory.clear_margins(place.thread);
  Means means(arguments, place.part, memory, place.thread, threads,
              place.part.origin + place.thread * Means::pixels);
  int y = place.part.first_y - (Window::low_bits ? 1 : 0);
  const auto start = [&](auto& columns) { columns.start(place.part.first_y); };
  sum_rows<Window, false>(arguments, place, start, [&](typename Window::Scan& scan) {
    scan.publish(TileWarps{0, threads}, memory, place.warp());
    typename Means::Sums sums;
    if (means.any()) {
      means.sum(y, memory.prefixes(), sums);
      if (Window::low_bits && y < place.part.first_y) {
        means.begin(sums);
      } else {
        means.write(y, sums);
      }
    }
    ++y;
  });
}

template <class T, class Out, int Channels, bool Weighted, bool LowBits>
RunningKernels whole_kernels(const SlidingTiles& tiles) {
  using Window = WholeWindow<T, Out, Channels, Weighted, LowBits>;
  return {2 * tiles.spans <= paired_warps ? average_whole_paired<Window> : average_whole<Window>,
          scan_row_groups<typename Window::Values::WithoutWideTable>};
}

}  // namespace satin::kernels
