// Box filter with one whole radius over the pixels alone whose mask is not 0; the mask then blends the means
// with the picture. Bytes of 1 or 3 channels, as they are stored or in linear light.
//
// The kernel is that of box_filter.cuh with one more sum: the number of pixels that count. Box sums fit 32
// bits, as the host checks; the counts of a column fit a byte, as windows have at most 255 rows. A window
// without any pixel that counts belongs to a pixel whose own mask is 0, which keeps its value.
//
// Bytes moved per pixel: as in box_filter.cuh, with the mask as one more channel.

#include <cstdint>

#include "kernels/device/exact_division.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/means/by_radius/column_sums.cuh"
#include "kernels/means/by_radius/row_means.cuh"
#include "kernels/means/by_radius/row_prefixes.cuh"
#include "kernels/means/launch.h"
#include "kernels/pixels/lane.cuh"

namespace satin::kernels {
namespace {

/// Returns a word with a 1 in every byte that is not 0.
__device__ inline std::uint32_t ones_of(std::uint32_t bytes) {
  constexpr std::uint32_t low = 0x7F7F7F7FU;
  return ((((bytes & low) + low) | bytes) >> 7) & 0x01010101U;
}

/// A lane's pixels of one row with their mask, packed as in memory.
template <int Channels>
struct MaskedRow {
  static constexpr int pixels = lane_elements / Channels;
  static constexpr int mask_words = pixels / 4;
  using Rows = LaneRows<std::uint8_t, Channels, std::uint32_t, lane_elements>;
  using MaskRows = LaneRows<std::uint8_t, 1, std::uint32_t, pixels>;

  typename Rows::Words picture;
  typename MaskRows::Words mask;

  /// Clears colours where the mask is 0, and sets the mask to 1 elsewhere.
  __device__ void count() {
#pragma unroll
    for (int i = 0; i < mask_words; ++i) {
      const std::uint32_t ones = ones_of(mask.words[i]);
      const std::uint32_t whole = ones * 0xFFU;
      mask.words[i] = ones;
      if constexpr (Channels == 1) {
        picture.words[i] &= whole;
      } else {
        static_assert(Channels == 3 && mask_words == 1);
        picture.words[0] &= __byte_perm(whole, 0, 0x1000);
        picture.words[1] &= __byte_perm(whole, 0, 0x2211);
        picture.words[2] &= __byte_perm(whole, 0, 0x3332);
      }
    }
  }
};

/// Sums of the included pixels of a lane's columns and their number, over the rows of a sliding window.
template <int Channels>
class MaskedColumnSums {
 public:
  using Row = MaskedRow<Channels>;
  static_assert(2 * tuning::running_largest_direct_reach + 1 <= 0xFF, "counts of columns are bytes");

  __device__ MaskedColumnSums(const BoxFilterArguments& arguments, const typename Row::Rows& rows,
                              const typename Row::MaskRows& mask_rows)
      : arguments_(arguments), picture_(arguments, rows), mask_(arguments, mask_rows), values_(arguments) {}

  /// Sums the rows before row y, whose rows the next fetch() loads.
  __device__ void start(int y) {
    const int reach = arguments_.job.y.reach;
    look_up(y);
    int first = y - reach - 1;
    int end = y + reach;
    if (arguments_.job.clipped) {
      first = max(first, 0);
      end = min(end, arguments_.job.height);
    }
    add_rows(first, end);
  }

  /// Loads the rows that advance() will add and subtract, and looks up those of the step after, for row
  /// `next`.
  __device__ void fetch(int next) {
    enters_ = load(enters_at_);
    leaves_ = load(leaves_at_);
    look_up(next);
  }

  /// Moves the window to the next row, with the rows that fetch() loaded.
  __device__ void advance() {
    enters_.count();
    leaves_.count();
    values_.template add<-1>(enters_.picture, leaves_.picture, colours_);
#pragma unroll
    for (int i = 0; i < Row::mask_words; ++i) counts_[i] += enters_.mask.words[i] - leaves_.mask.words[i];
  }

  [[nodiscard]] __device__ Row load(int row) const { return {picture_.load(row), mask_.load(row)}; }
  [[nodiscard]] __device__ const std::uint32_t (&colours() const)[lane_elements] { return colours_; }
  /// Returns one byte per column.
  [[nodiscard]] __device__ const std::uint32_t (&counts() const)[Row::mask_words] { return counts_; }

 private:
  static constexpr int batch = 4;  ///< rows in flight at the start of a tile

  __device__ void look_up(int y) {
    const int reach = arguments_.job.y.reach;
    enters_at_ = picture_.at(y + reach);
    leaves_at_ = picture_.at(y - reach - 1);
  }

  __device__ void add_rows(int first, int end) {
    const auto row_at = [this](int position) { return picture_.start_at(position); };
    for_batches<batch, Row>(
        first, end, row_at, [this](int y) { return load(y); },
        [this](Row(&rows)[batch]) {
#pragma unroll
          for (Row& row : rows) {
            row.count();
#pragma unroll
            for (int i = 0; i < Row::mask_words; ++i) counts_[i] += row.mask.words[i];
          }
#pragma unroll
          for (int i = 0; i < batch; i += 2)
            values_.template add<1>(rows[i].picture, rows[i + 1].picture, colours_);
        });
  }

  const BoxFilterArguments& arguments_;
  SlidingRows<typename Row::Rows> picture_;
  SlidingRows<typename Row::MaskRows> mask_;
  LaneValues<std::uint8_t, Channels, std::uint32_t> values_;
  int enters_at_ = -1;
  int leaves_at_ = -1;
  Row enters_;
  Row leaves_;
  std::uint32_t colours_[lane_elements] = {};
  std::uint32_t counts_[Row::mask_words] = {};
};

using Memory = TileMemory<std::uint32_t>;

/// A lane's share of the prefixes of one row, of colours and of counts.
template <int Channels>
class MaskedRowScan {
 public:
  static constexpr int pixels = lane_elements / Channels;

  __device__ explicit MaskedRowScan(const MaskedColumnSums<Channels>& columns) {
#pragma unroll
    for (int e = 0; e < lane_elements; ++e)
      colours_[e] = columns.colours()[e] + (e < Channels ? 0 : colours_[e - Channels]);
#pragma unroll
    for (int p = 0; p < pixels; ++p)
      counts_[p] = __dp4a(columns.counts()[p / 4], 0x01010101U >> (24 - p % 4 * 8),
                          p < 4 ? 0 : counts_[p / 4 * 4 - 1]);
  }

  /// Stores the prefixes over the tile in its memory, like RowScan::publish().
  __device__ void publish(const NamedBarrier& tile, const Memory& memory, int counts, int warp) {
    std::uint32_t own[Channels + 1];
#pragma unroll
    for (int c = 0; c < Channels; ++c) own[c] = colours_[lane_elements - Channels + c];
    own[Channels] = counts_[pixels - 1];
    SumsBefore<Channels + 1, std::uint32_t> before;
    before.scan_lanes(own, memory, warp);
    tile.synchronize();
    before.add_warps(memory, warp);
#pragma unroll
    for (int e = 0; e < lane_elements; ++e) colours_[e] += before[e % Channels];
#pragma unroll
    for (std::uint32_t& count : counts_) count += before[Channels];
    const int lane = warp * warp_size + lane_index();
    store(memory.prefixes() + lane * lane_elements * 4, colours_);
    store(counts + lane * pixels * 4, counts_);
    tile.synchronize();
  }

 private:
  template <int Count>
  __device__ static void store(int to, const std::uint32_t (&values)[Count]) {
#pragma unroll
    for (int i = 0; i < Count; i += 4)
      *shared_at<uint4>(to + i * 4) = make_uint4(values[i], values[i + 1], values[i + 2], values[i + 3]);
  }

  std::uint32_t colours_[lane_elements];
  std::uint32_t counts_[pixels];
};

/// Number of pixels that count in each window of a lane.
template <int Pixels>
struct WindowCounts {
  std::uint32_t of[Pixels];

  __device__ void set(int p, std::uint32_t count) { of[p] = count; }
  __device__ void mix(int p, std::uint32_t inner, std::uint32_t, const AxisWindow&) { of[p] = inner; }
};

/// Means of a lane's own columns, blended by the mask.
template <int Channels>
class MaskedMeans : public WindowLane<Channels, std::uint32_t> {
  using Base = WindowLane<Channels, std::uint32_t>;
  using Base::any_, Base::arguments_, Base::valid_, Base::elements, Base::pixels, Base::windows_;

 public:
  using Row = MaskedRow<Channels>;

  __device__ MaskedMeans(const BoxFilterArguments& arguments, const SummedTile& area, const Memory& memory,
                         int counts, int thread, int threads, int x)
      : Base(arguments, area, memory, thread, threads, x),
        count_windows_(arguments.job, memory, thread, threads),
        prefixes_(memory.prefixes()),
        counts_(counts) {}

  /// Writes row y, whose own pixels and mask are `own`. All lanes of a warp call this together.
  __device__ void write(int y, const Row& own) const {
    std::uint32_t codes[elements];
    if (!all_weights_are(0, own)) {
      mean_light(codes);
      if (!all_weights_are(0xFFFFFFFFU, own)) blend(own, codes);
      if (arguments_.cells8 != nullptr) {
        encode_table_.raise_codes<1, 0>(codes);
#pragma unroll
        for (std::uint32_t& code : codes) code >>= 16;
      }
    } else {
#pragma unroll
      for (int e = 0; e < elements; ++e) codes[e] = element<std::uint8_t>(own.picture.words, e);
    }
    StoredLane<std::uint8_t, Channels> lane;
    lane.pack(codes);
    lane.store(this->template target_of<std::uint8_t>(y), valid_, pixels);
  }

 private:
  /// Whether the masks of all lanes that write anything consist of this word.
  [[nodiscard]] __device__ bool all_weights_are(std::uint32_t word, const Row& own) const {
    bool same = true;
#pragma unroll
    for (const std::uint32_t weights : own.mask.words) same = same && weights == word;
    return __all_sync(whole_warp, same || valid_ == 0) != 0;
  }

  __device__ void mean_light(std::uint32_t (&values)[elements]) const {
    WindowSums<std::uint32_t> sums;
    WindowCounts<pixels> counts;
    windows_.template sum<false>(prefixes_, sums);
    count_windows_.template sum<false>(counts_, counts);
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      const MixedDivision<std::uint32_t> division(max(counts.of[p], 1U), 1, 0);
#pragma unroll
      for (int c = 0; c < Channels; ++c) values[p * Channels + c] = division(sums.inner[p * Channels + c]);
    }
  }

  __device__ void blend(const Row& own, std::uint32_t (&values)[elements]) const {
    constexpr std::uint32_t whole = 0xFF;
    const bool decoded = arguments_.transfer.decode != nullptr;
#pragma unroll
    for (int e = 0; e < elements; ++e) {
      const std::uint32_t weight = element<std::uint8_t>(own.mask.words, e / Channels);
      const std::uint32_t light = decoded ? DecodeTable::value(own.picture.words[e / 4], e % 4)
                                          : element<std::uint8_t>(own.picture.words, e);
      values[e] = (light * (whole - weight) + values[e] * weight + whole / 2) / whole;
    }
  }

  WindowEnds<1, std::uint32_t, pixels> count_windows_;
  EncodeTable<std::uint8_t> encode_table_;
  int prefixes_;
  int counts_;
};

template <int Channels>
__global__ void __launch_bounds__(tuning::running_counted_warps* warp_size, 1)
    filter_unmasked(const __grid_constant__ MaskedFilterArguments arguments) {
  using Row = MaskedRow<Channels>;
  using Tables = LightTables<std::uint8_t, std::uint8_t>;
  const BoxFilterJob& job = arguments.job;
  const SlidingTiles& tiles = arguments.tiles;
  const int table_bytes = Tables::fill(arguments);
  const TileThread tile(tiles);
  if (tile.tile >= tiles.columns * tiles.rows) return;
  const int colour_bytes = Memory::bytes(tiles.spans);
  const int tile_bytes = colour_bytes + count_memory_bytes(tiles.spans, Channels);
  const Memory memory(table_bytes + tile.index * tile_bytes, tiles.spans);
  memory.clear_margins(tile.thread);
  const int counts = memory.totals() + colour_bytes + count_margin * 4;
  if (tile.thread < count_margin) shared_at<std::uint32_t>(counts)[tile.thread - count_margin] = 0;

  const SummedTile area = summed_tile(arguments, Row::pixels, tile.tile);
  const int x = area.origin + tile.thread * Row::pixels;
  const typename Row::Rows rows(arguments.source, x, area.last_needed, job.width, job.clipped,
                                arguments.columns);
  const typename Row::MaskRows mask_rows(arguments.mask, x, area.last_needed, job.width, job.clipped,
                                         arguments.columns);
  MaskedColumnSums<Channels> columns(arguments, rows, mask_rows);
  const MaskedMeans<Channels> means(arguments, area, memory, counts, tile.thread, tile.threads, x);
  const int last = area.last_y - 1;
  columns.start(area.first_y);
  columns.fetch(min(area.first_y + 1, last));
#pragma unroll 1
  for (int y = area.first_y; y <= last; ++y) {
    Row own{};
    if (means.any()) own = columns.load(y);
    columns.advance();
    columns.fetch(min(y + 2, last));
    MaskedRowScan<Channels> scan(columns);
    scan.publish(tile.barrier(), memory, counts, tile.warp());
    if (means.any()) means.write(y, own);
  }
}

auto kernel_of(const MaskedFilterArguments& arguments) {
  return arguments.job.channels == 1 ? filter_unmasked<1> : filter_unmasked<3>;
}

}  // namespace

int prepare_mean(const MaskedFilterArguments& arguments) {
  return allow_all_shared_memory(kernel_of(arguments));
}

void launch_mean(const MaskedFilterArguments& arguments, StreamHandle stream) {
  const SlidingTiles& tiles = arguments.tiles;
  const auto blocks =
      static_cast<unsigned>((tiles.columns * tiles.rows + tiles.together - 1) / tiles.together);
  const auto threads = static_cast<unsigned>(tiles.together * tiles.spans * warp_size);
  kernel_of(arguments)<<<blocks, threads, tiles.shared_bytes, stream>>>(arguments);
}

}  // namespace satin::kernels
