#pragma once
// Box mean with one radius, without a table: the warps of a tile, one a span (means/tiling.h), slide a window
// down it with running sums of every column in registers (a row enters, a row leaves), scan them along the
// row into shared memory, and every mean is a difference of two prefixes over a divisor.
//
// What differs by the types of values and means is a policy, `Window`: the values, the widths of their sums,
// and how means are divided and stored. NarrowWindow is for means of 8 and 16 bits from such values; colours
// that count times alpha are divided by their window's sum of alphas. WideWindow has 64-bit prefixes for
// floats, their fixed point, and working values of more than 16 bits.
//
// Two barriers of the tile's warps for each row of prefixes: one before their totals are read, one before the
// prefixes are. Tables of linear light are shared by the tiles of a block.
//
// Of a fractional radius the sums over the inner and the outer window of rows follow from those over the rows
// that they share, and two differences of prefixes are mixed along the row. Integers are weighted down the
// columns before they are scanned. All sums are modulo 2^32 or 2^64, and those over one box fit. Floats are
// defined by double arithmetic on the exact sums over up to four whole boxes, so that each window of rows has
// prefixes of its own.
//
// Bytes moved per pixel: the output, and each pixel of the source about 2 + 2 reach / (rows of a tile) times,
// all but the first from the L2.

#include <cstdint>
#include <type_traits>

#include "kernels/device/exact_division.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/means/box_mean_whole.cuh"
#include "kernels/means/encode16.cuh"
#include "kernels/means/row_groups.cuh"
#include "kernels/means/running_columns.cuh"
#include "kernels/means/running_means.cuh"
#include "kernels/means/running_scan.cuh"
#include "kernels/means/running_store.cuh"
#include "kernels/means/running_windows.cuh"

namespace satin::kernels {

// Means of one row from 64-bit sums over windows, as floats, as working values or as 16-bit codes: a lane
// writes the pixels of its own columns.

/// Signed sums over the whole boxes that a box with parts of pixels is mixed from, to double precision: to be
/// added in the order of add_weighted() (means/maths/mean.h).
struct FloatTotals {
  double estimate[running_elements] = {};
  std::uint32_t weight = 1;  ///< of the rows that were summed

  __device__ void set(int e, std::uint64_t sum) { add(e, sum, weight); }
  __device__ void mix(int e, std::uint64_t inner, std::uint64_t outer, const RunningWindow& window) {
    add(e, inner, weight * window.inner);
    add(e, outer, weight * window.outer);
  }

 private:
  __device__ void add(int e, std::uint64_t sum, std::uint32_t weight_of_box) {
    estimate[e] =
        estimate[e] + static_cast<double>(weight_of_box) * __ll2double_rn(static_cast<long long>(sum));
  }
};

/// T: of the values, Out: of the means of floats; others are of 16 or 32 bits. `ByBoxes`: of floats, with a
/// fractional radius.
template <class T, class Out, int Channels, bool ByBoxes>
class WideMeans : public LaneOfWindows<Channels, std::uint64_t> {
  using Base = LaneOfWindows<Channels, std::uint64_t>;
  using Base::arguments_, Base::any_, Base::valid_, Base::whole_, Base::elements, Base::pixels;
  static constexpr bool floats = std::is_same_v<T, float> || sizeof(T) == 8;

 public:
  using Sums = std::conditional_t<ByBoxes, FloatTotals, WindowSums<std::uint64_t>>;

  template <class... Arguments>
  __device__ explicit WideMeans(const RunningMeanArguments& arguments, const Arguments&... others)
      : Base(arguments, others...) {
    if constexpr (floats) exponent_ = fixed_exponents(*arguments.measured, arguments.job.fixed_bits).colour;
  }

  __device__ void sum(int prefixes, Sums& sums) const {
    Base::template sum<!floats || ByBoxes>(prefixes, sums);
  }

  __device__ void write(int y, const Sums& sums) {
    if (!any_) return;
    const std::uint32_t size_y = this->size_y_of(y);
    if (whole_ && size_y != size_y_) {
      size_y_ = size_y;
      whole_division_ = division_by(this->whole_divisor(size_y));
    }
    if constexpr (!floats) {
      write_integers(y, size_y, sums);
    } else if constexpr (ByBoxes) {
      write_floats(y, size_y, [&](int e) { return sums.estimate[e]; });
    } else if constexpr (std::is_same_v<Out, float>) {
      write_floats(y, size_y, [&](int e) { return signed_sum(sums.total[e]); });
    } else {
      std::uint64_t means[elements];
      divide(size_y, [&](const WideDivisor& by, int e) {
        means[e] = by.rounded(sums.total[e], signed_sum(sums.total[e]));
      });
      store(y, means);
    }
  }

 private:
  [[nodiscard]] __device__ static double signed_sum(std::uint64_t sum) {
    return __ll2double_rn(static_cast<long long>(sum));
  }

  template <class Total>
  __device__ void write_floats(int y, std::uint32_t size_y, const Total& total) const {
    float means[elements];
    divide(size_y, [&](const WideDivisor& by, int e) {
      means[e] = static_cast<float>(FloatDivision(by, exponent_)(total(e)));
    });
    store(y, means);
  }

  __device__ void write_integers(int y, std::uint32_t size_y, const WindowSums<std::uint64_t>& sums) const {
    const RunningMeanJob& job = arguments_.job;
    const int more_bits = max(job.more_bits, 0);
    std::uint32_t means[elements];
    divide(size_y, [&](const WideDivisor& by, int e) {
      const std::uint64_t total = sums.total[e] << more_bits;
      means[e] = static_cast<std::uint32_t>(by.rounded(total, __ull2double_rn(total)));
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

  /// use(divisor of the element's pixel, element). That of whole windows is kept from row to row.
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

  int exponent_ = 0;
  std::uint32_t size_y_ = 0;  ///< of the division that is kept
  WideDivisor whole_division_{1};
};

// --- Policies ---

/// When a step asks for the rows of the next one: the later, the fewer registers they take meanwhile.
enum class Ask { before_scan, before_means, after_means };

/// T: of the values, Out: of the means. `MostWarps`: of a block; fewer leave more registers to each.
template <class T, class Out, int ChannelCount, class Column, class SumOfRow, bool Weighted, int MostWarps>
struct NarrowWindow {
  using Values = RunningValues<T, ChannelCount, Column, Weighted>;
  using Sum = SumOfRow;
  using Means = RunningMeans<T, Out, ChannelCount, Sum, Weighted>;
  using Tables = RunningTables<T, Out>;
  static constexpr int channels = ChannelCount;
  static constexpr int most_warps = MostWarps;
  static constexpr int start_batch = 4;    ///< rows in flight at the start of a tile
  static constexpr bool groups = true;     ///< tiles may start from sums over groups of rows
  static constexpr bool fractions = true;  ///< the radius may have parts of pixels
  static constexpr bool by_boxes = false;  ///< each window of rows has prefixes of its own
  static constexpr Ask ask = Ask::before_scan;
};

/// Out: of the means of floats; void for integers. `ByBoxes`: floats with a fractional radius. Floats and
/// their fixed point are signed and take 64 bits; of the others sums over a column take 32.
template <class T, class Out, int ChannelCount, bool ByBoxes>
struct WideWindow {
  static constexpr bool is_float = std::is_same_v<T, float>;
  static constexpr bool wide_columns = is_float || sizeof(T) == 8;
  using Values =
      RunningValues<T, ChannelCount, std::conditional_t<wide_columns, std::uint64_t, std::uint32_t>>;
  using Sum = std::uint64_t;
  using Means = WideMeans<T, Out, ChannelCount, ByBoxes>;
  using Tables = RunningTables<T, std::uint32_t>;
  static constexpr int channels = ChannelCount;
  static constexpr int most_warps = wide_warps(is_float         ? Type::f32
                                               : sizeof(T) == 8 ? Type::u64
                                                                : Type::u32,
                                               ByBoxes);
  static constexpr int start_batch = sizeof(T) == 8 ? 1 : 2;
  static constexpr bool groups = false;
  static constexpr bool fractions = !wide_columns;
  static constexpr bool by_boxes = ByBoxes;
  static constexpr Ask ask = ByBoxes && most_warps > 12 ? Ask::after_means : Ask::before_means;
};

// --- The kernel ---

/// Sums over the boxes of the next row, first those of the inner window of rows; to that row.
template <class Window, class Publish>
__device__ void sum_by_boxes(RunningColumns<Window>& columns, const RunningWindow& window,
                             const Publish& publish, FloatTotals& totals) {
  const int boxes = window.outer != 0 ? 2 : 1;
#pragma unroll 1
  for (int box = 0; box < boxes; ++box) {
    RowScan<Window::channels, typename Window::Sum> scan;
    columns.begin_box(box == 0, box == boxes - 1, scan);
    totals.weight = box == 0 ? window.inner : window.outer;
    publish(scan);
  }
  columns.advance();
}

template <class Window>
__global__ void __launch_bounds__(Window::most_warps* warp_size, 1)
    average_running(const __grid_constant__ RunningMeanArguments arguments) {
  using Memory = TileMemory<typename Window::Sum>;
  using Rows = typename Window::Values::Rows;
  const RunningMeanJob& job = arguments.job;
  const SlidingTiles& tiles = arguments.tiles;
  const int table_bytes = Window::Tables::fill(arguments);
  const Source& source = arguments.source;
  const PlaceInTiles place(tiles);
  if (place.tile >= tiles.columns * tiles.rows) return;
  const Memory memory(table_bytes + place.index * Memory::bytes(tiles.spans), tiles.spans);
  memory.clear_margins(place.thread);

  const RunningPart part = running_part(arguments, Rows::pixels, place.tile);
  const int x = part.origin + place.thread * Rows::pixels;
  const Rows rows(source, x, part.last_needed, job.width, job.clipped, arguments.columns);
  RunningColumns<Window> columns(arguments, rows);
  typename Window::Means means(arguments, part, memory, place.thread, place.threads, x);
  const int last = part.last_y - 1;
  columns.start(part.first_y);
  columns.fetch(min(part.first_y + 1, last));
  const auto ask_at = [&](Ask step, int y) {
    if (step == Window::ask) columns.fetch(min(y + 2, last));
  };
#pragma unroll 1
  for (int y = part.first_y; y <= last; ++y) {
    typename Window::Means::Sums sums;
    if constexpr (Window::by_boxes) {
      const auto publish = [&](auto& scan) {
        scan.publish(place.warps(), memory, place.warp());
        means.sum(memory.prefixes(), sums);
      };
      sum_by_boxes(columns, job.y, publish, sums);
    } else {
      RowScan<Window::channels, typename Window::Sum> scan;
      columns.advance(scan, [&] { ask_at(Ask::before_scan, y); });
      scan.publish(place.warps(), memory, place.warp());
      // One question for what follows, or the compiler keeps the sums in local memory in between.
      if (Window::ask == Ask::before_scan && !means.any()) continue;
      means.sum(memory.prefixes(), sums);
    }
    ask_at(Ask::before_means, y);
    means.write(y, sums);
    ask_at(Ask::after_means, y);
  }
}

// --- The choice of a kernel ---

template <class Window>
RunningKernels kernels_of() {
  if constexpr (Window::groups) {
    return {average_running<Window>, scan_row_groups<typename Window::Values::WithoutWideTable>};
  } else {
    return {average_running<Window>, nullptr};
  }
}

template <class T, class Out, int Channels, class Column, class Sum, bool Weighted = false>
RunningKernels narrow_kernels(const SlidingTiles& tiles) {
  constexpr int usual = tuning::running_warps_per_block;
  constexpr int most = tuning::running_most_warps;
  return tiles.spans * tiles.together <= usual
             ? kernels_of<NarrowWindow<T, Out, Channels, Column, Sum, Weighted, usual>>()
             : kernels_of<NarrowWindow<T, Out, Channels, Column, Sum, Weighted, most>>();
}

template <class T, class Out, int Channels>
RunningKernels narrow_kernels_of(const RunningMeanJob& job, const SlidingTiles& tiles) {
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  if constexpr (sizeof(T) == 1 && sizeof(Out) == 1 && Channels % 2 == 0) {
    if (job.weighted)
      return job.whole_windows() ? whole_kernels<T, Out, Channels, true, true>(tiles)
                                 : narrow_kernels<T, Out, Channels, u32, u64, true>(tiles);
  }
  if constexpr (std::is_same_v<T, Out>) {
    if (job.sums == RunningSums::u32_low) return whole_kernels<T, Out, Channels, false, true>(tiles);
  }
  if (job.whole_windows()) return whole_kernels<T, Out, Channels, false, false>(tiles);
  if (job.sums == RunningSums::u32) return narrow_kernels<T, Out, Channels, u32, u32>(tiles);
  if constexpr (std::is_same_v<T, Out> && sizeof(T) == 2) {
    if (job.sums == RunningSums::u64) return narrow_kernels<T, Out, Channels, u64, u64>(tiles);
  }
  return narrow_kernels<T, Out, Channels, u32, u64>(tiles);
}

template <class T, int Channels>
RunningKernels wide_kernels_of(const RunningMeanJob& job) {
  if constexpr (std::is_same_v<T, float> || sizeof(T) == 8) {
    if (job.output == Type::u64) return kernels_of<WideWindow<T, std::uint64_t, Channels, false>>();
    const bool by_boxes = job.x.outer != 0 || job.y.outer != 0;
    return by_boxes ? kernels_of<WideWindow<T, float, Channels, true>>()
                    : kernels_of<WideWindow<T, float, Channels, false>>();
  } else {
    return kernels_of<WideWindow<T, void, Channels, false>>();
  }
}

template <class T, int Channels>
RunningKernels running_kernels_of(const RunningMeanArguments& arguments) {
  const RunningMeanJob& job = arguments.job;
  if constexpr (sizeof(T) <= 2) {
    if (!job.wide)
      return job.output == Type::u8 ? narrow_kernels_of<T, std::uint8_t, Channels>(job, arguments.tiles)
                                    : narrow_kernels_of<T, std::uint16_t, Channels>(job, arguments.tiles);
  }
  return wide_kernels_of<T, Channels>(job);
}

}  // namespace satin::kernels
