// Box mean with one whole radius of those pixels alone whose mask is not 0, blended with the picture by the
// mask: the running sums of box_mean_running.cuh with one more, of how many pixels count. Bytes of 1 or 3
// channels as they are stored or in linear light.
//
// Sums over a box fit 32 bits, as the host checks; counts of a column fit a byte, as windows have at most 255
// rows. A window without pixels that count is that of a pixel whose own mask is 0, which keeps its value.
//
// Bytes moved per pixel: as box_mean_running.cuh, with the mask as one channel more.

#include <cstdint>

#include "kernels/device/exact_division.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/means/counted_columns.cuh"
#include "kernels/means/running_store.cuh"
#include "kernels/means/running_windows.cuh"

namespace satin::kernels {
namespace {

using Memory = TileMemory<std::uint32_t>;

/// A lane's part of the prefixes of one row: prefixes of colours, and prefixes of counts.
template <int Channels>
class CountedScan {
 public:
  static constexpr int pixels = running_elements / Channels;

  __device__ explicit CountedScan(const CountedColumns<Channels>& columns) {
#pragma unroll
    for (int e = 0; e < running_elements; ++e)
      colours_[e] = columns.colours()[e] + (e < Channels ? 0 : colours_[e - Channels]);
#pragma unroll
    for (int p = 0; p < pixels; ++p)
      counts_[p] = __dp4a(columns.counts()[p / 4], 0x01010101U >> (24 - p % 4 * 8),
                          p < 4 ? 0 : counts_[p / 4 * 4 - 1]);
  }

  /// Leaves the prefixes over the tile in its memory, as RowScan::publish().
  __device__ void publish(const TileWarps& tile, const Memory& memory, int counts, int warp) {
    scan_lanes(memory.totals() + totals * warp * static_cast<int>(sizeof(std::uint32_t)));
    tile.synchronize();
    add_warps_before(memory.totals(), warp);
    const int lane = warp * warp_size + lane_index();
    store(memory.prefixes() + lane * running_elements * 4, colours_);
    store(counts + lane * pixels * 4, counts_);
    tile.synchronize();
  }

 private:
  static constexpr int sums = Channels + 1;
  static constexpr int totals = 4;  ///< places for those of a warp
  static_assert(sums <= totals);

  __device__ void scan_lanes(int total) {
    std::uint32_t own[sums];
#pragma unroll
    for (int c = 0; c < Channels; ++c) own[c] = colours_[running_elements - Channels + c];
    own[Channels] = counts_[pixels - 1];
    std::uint32_t inclusive[sums];
#pragma unroll
    for (int c = 0; c < sums; ++c) inclusive[c] = own[c];
    inclusive_scans(inclusive);
#pragma unroll
    for (int c = 0; c < sums; ++c) {
      before_[c] = inclusive[c] - own[c];
      if (lane_index() == warp_size - 1) shared_at<std::uint32_t>(total)[c] = inclusive[c];
    }
  }

  __device__ void add_warps_before(int of_warps, int warp) {
    const std::uint32_t* sums_of = shared_at<std::uint32_t>(of_warps) + totals * lane_index();
#pragma unroll
    for (int c = 0; c < sums; ++c) before_[c] += sum_of_lanes(lane_index() < warp ? sums_of[c] : 0);
#pragma unroll
    for (int e = 0; e < running_elements; ++e) colours_[e] += before_[e % Channels];
#pragma unroll
    for (std::uint32_t& count : counts_) count += before_[Channels];
  }

  template <int Count>
  __device__ static void store(int to, const std::uint32_t (&values)[Count]) {
#pragma unroll
    for (int i = 0; i < Count; i += 4)
      *shared_at<uint4>(to + i * 4) = make_uint4(values[i], values[i + 1], values[i + 2], values[i + 3]);
  }

  std::uint32_t colours_[running_elements];
  std::uint32_t counts_[pixels];
  std::uint32_t before_[sums];  ///< of the lanes and warps to the left
};

/// Pixels that count in the windows of a lane.
template <int Pixels>
struct WindowCounts {
  std::uint32_t of[Pixels];

  __device__ void set(int p, std::uint32_t count) { of[p] = count; }
  __device__ void mix(int p, std::uint32_t inner, std::uint32_t, const RunningWindow&) { of[p] = inner; }
};

/// The means of a lane's own columns, blended by the mask.
template <int Channels>
class CountedMeans : public LaneOfWindows<Channels, std::uint32_t> {
  using Base = LaneOfWindows<Channels, std::uint32_t>;
  using Base::any_, Base::arguments_, Base::valid_, Base::elements, Base::pixels, Base::windows_;

 public:
  using Row = CountedRow<Channels>;

  __device__ CountedMeans(const RunningMeanArguments& arguments, const RunningPart& part,
                          const Memory& memory, int counts, int thread, int threads, int x)
      : Base(arguments, part, memory, thread, threads, x),
        count_windows_(arguments.job, memory, thread, threads),
        prefixes_(memory.prefixes()),
        counts_(counts) {}

  /// All lanes of a warp call this together. `own`: the pixels of row y.
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
  /// Whether the masks of all lanes that write something consist of this word.
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

  RunningWindows<1, std::uint32_t, pixels> count_windows_;
  EncodeTable<std::uint8_t> encode_table_;
  int prefixes_;
  int counts_;
};

template <int Channels>
__global__ void __launch_bounds__(tuning::running_counted_warps* warp_size, 1)
    average_counted(const __grid_constant__ CountedMeanArguments arguments) {
  using Row = CountedRow<Channels>;
  using Tables = RunningTables<std::uint8_t, std::uint8_t>;
  const RunningMeanJob& job = arguments.job;
  const SlidingTiles& tiles = arguments.tiles;
  const int table_bytes = Tables::fill(arguments);
  const PlaceInTiles place(tiles);
  if (place.tile >= tiles.columns * tiles.rows) return;
  const int colour_bytes = Memory::bytes(tiles.spans);
  const int tile_bytes = colour_bytes + count_memory_bytes(tiles.spans, Channels);
  const Memory memory(table_bytes + place.index * tile_bytes, tiles.spans);
  memory.clear_margins(place.thread);
  const int counts = memory.totals() + colour_bytes + count_margin * 4;
  if (place.thread < count_margin) shared_at<std::uint32_t>(counts)[place.thread - count_margin] = 0;

  const RunningPart part = running_part(arguments, Row::pixels, place.tile);
  const int x = part.origin + place.thread * Row::pixels;
  const typename Row::Rows rows(arguments.source, x, part.last_needed, job.width, job.clipped,
                                arguments.columns);
  const typename Row::MaskRows mask_rows(arguments.mask, x, part.last_needed, job.width, job.clipped,
                                         arguments.columns);
  CountedColumns<Channels> columns(arguments, rows, mask_rows);
  const CountedMeans<Channels> means(arguments, part, memory, counts, place.thread, place.threads, x);
  const int last = part.last_y - 1;
  columns.start(part.first_y);
  columns.fetch(min(part.first_y + 1, last));
#pragma unroll 1
  for (int y = part.first_y; y <= last; ++y) {
    Row own{};
    if (means.any()) own = columns.load(y);
    columns.advance();
    columns.fetch(min(y + 2, last));
    CountedScan<Channels> scan(columns);
    scan.publish(place.warps(), memory, counts, place.warp());
    if (means.any()) means.write(y, own);
  }
}

auto kernel_of(const CountedMeanArguments& arguments) {
  return arguments.job.channels == 1 ? average_counted<1> : average_counted<3>;
}

}  // namespace

int prepare_mean(const CountedMeanArguments& arguments) {
  return allow_all_shared_memory(kernel_of(arguments));
}

void launch_mean(const CountedMeanArguments& arguments, StreamHandle stream) {
  const SlidingTiles& tiles = arguments.tiles;
  const auto blocks =
      static_cast<unsigned>((tiles.columns * tiles.rows + tiles.together - 1) / tiles.together);
  const auto threads = static_cast<unsigned>(tiles.together * tiles.spans * warp_size);
  kernel_of(arguments)<<<blocks, threads, tiles.shared_bytes, stream>>>(arguments);
}

}  // namespace satin::kernels
