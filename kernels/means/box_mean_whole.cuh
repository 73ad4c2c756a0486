#pragma once
// Box mean with one whole radius and running sums, as box_mean_running.cuh, for means of 8 and 16 bits from
// 32-bit prefixes. Most jobs have two warps a span: one slides the sums of the columns down and scans them,
// the other divides a row while the next one is summed. Each needs half the registers, so that twice as many
// warps wait for tables and for each other. Tiles too wide for that have one warp a span, which does both.

#include <cstdint>

#include "kernels/means/running_columns.cuh"
#include "kernels/means/running_scan.cuh"
#include "kernels/means/whole_means.cuh"

namespace satin::kernels {

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
