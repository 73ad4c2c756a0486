// Samples that tiles do not gather: those that reach too far, and lamps. Their second differences are added
// one by one to tiles that are marked and cleared before. Additions modulo 2^64 are atomic, so their order
// does not matter.
//
// Far samples add the corners of their staircases. A lamp is drawn by one block, exactly: it sums what the
// lines of the aperture cover in shared memory, some rows of pixels at a time, and adds the non-zero second
// differences.

#include "core/with_type.h"
#include "depth/maths/signed_radius.h"
#include "kernels/lens/splat_tile.cuh"

namespace satin::kernels {
namespace {

constexpr int threads = 128;

/// Marks the tiles that the samples of a cell may reach, by one thread per cell and group.
__global__ void __launch_bounds__(threads) mark_far(const __grid_constant__ SplatArguments a) {
  const std::int64_t cell = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (cell >= cell_count(a)) return;
  const std::uint32_t group = blockIdx.y;
  const std::int32_t reach = a.sums.cells[group * cell_count(a) + cell].reach;
  if (reach <= splat_reach) return;
  const std::int32_t x = cell_left(a, cell);
  const std::int32_t y = cell_top(a, cell);
  const std::int32_t right = min(x + splat_cell + 1 + reach, a.width - 1) / splat_tile_width;
  const std::int32_t bottom = min(y + splat_cell + 1 + reach, a.height - 1) / splat_tile_height;
  for (std::int32_t row = max(y - reach, 0) / splat_tile_height; row <= bottom; ++row)
    for (std::int32_t column = max(x - reach, 0) / splat_tile_width; column <= right; ++column)
      mark(a, group, column, row);
}

/// Calls step(x, y, height) for the second differences of a staircase on the border that are in the picture.
template <class Step>
__device__ void for_border_steps(const SplatArguments& a, const Staircase& stairs, std::int32_t x,
                                 std::int32_t y, const Step& step) {
  for_boxes(stairs, a.kernels.outlines, 1, [&](const KernelBox& box, std::int32_t sign) {
    const BorderSteps rows(y, box.top, box.bottom - 1, a.height);
    const BorderSteps columns(x, box.left, box.right - 1, a.width);
    for (std::int32_t i = 0; i < rows.count(); ++i)
      for (std::int32_t j = 0; j < columns.count(); ++j)
        if (rows[i].place < a.height && columns[j].place < a.width)
          step(columns[j].place, rows[i].place, sign * rows[i].height * columns[j].height);
  });
}

/// Adds the far staircases of some records, a lane per plane: neighbouring additions are one request. Corners
/// above or left of the picture are moved to its border; those below or right of it are dropped.
template <int Channels>
__device__ void add_far_records(const SplatArguments& a, std::uint32_t group, std::int32_t left,
                                std::int32_t top, const SplatRecords& records, std::uint32_t first,
                                std::uint32_t count) {
  constexpr unsigned lanes = Channels + 1;
  for (std::uint32_t i = threadIdx.x; i < count * lanes; i += threads) {
    const SplatRecord record = record_at(records, first + i / lanes);
    const RecordPlace place(record.place);
    const auto lane = static_cast<int>(i % lanes);
#pragma unroll 1
    for (int k = 0; k < 2; ++k) {
      const std::uint32_t share = k == 0 ? record.share[0] : record.share[1];
      const Staircase& stairs = a.kernels.staircases[k == 0 ? record.staircase[0] : record.staircase[1]];
      if (share == 0 || stairs.reach <= splat_reach) continue;
      const std::uint64_t delta = value_of<Channels, std::uint64_t>(record, lane) * share;
      if (is_repeated(a, place, left, top)) {
        for_border_steps(a, stairs, left + place.x(), top + place.y(),
                         [&](std::int32_t x, std::int32_t y, std::int32_t height) {
                           add_delta(a, group, x, y, lane,
                                     delta * static_cast<std::uint64_t>(std::int64_t{height}));
                         });
        continue;
      }
      for_corners(stairs, a.kernels.outlines, left + place.x(), top + place.y(), place.more(),
                  [&](std::int32_t x, std::int32_t y, bool negative) {
                    if (x < a.width && y < a.height)
                      add_delta(a, group, max(x, 0), max(y, 0), lane, negative ? 0 - delta : delta);
                  });
    }
  }
}

/// A block per cell and group.
template <int Channels>
__global__ void __launch_bounds__(threads) add_far(const __grid_constant__ SplatArguments a) {
  const std::int64_t place = blockIdx.y * cell_count(a) + blockIdx.x;
  const SplatCell cell = a.sums.cells[place];
  if (cell.reach <= splat_reach) return;
  const std::int32_t left = cell_left(a, blockIdx.x);
  const std::int32_t top = cell_top(a, blockIdx.x);
  add_far_records<Channels>(a, blockIdx.y, left, top, a.sums.records, cell.first, cell.count);
  const RecordRun listed = run_of_subcells(a.sums.listed, place, 0, splat_subcells - 1);
  add_far_records<Channels>(a, blockIdx.y, left, top, a.sums.listed_records, listed.first, listed.count);
}

__global__ void __launch_bounds__(threads) clear_marked(const __grid_constant__ SplatArguments a) {
  const std::int64_t tile = blockIdx.x;
  if (a.sums.direct[blockIdx.y * tile_count(a) + tile] == 0) return;
  auto* words = reinterpret_cast<ulonglong2*>(tile_plane(a, blockIdx.y, tile, 0));
  for (int i = static_cast<int>(threadIdx.x); i < (a.channels + 1) * splat_tile_pixels / 2; i += threads)
    words[i] = make_ulonglong2(0, 0);
}

constexpr int warps = threads / warp_size;
constexpr unsigned lamp_blocks = 2048;

__global__ void __launch_bounds__(threads) mark_lamps(const __grid_constant__ SplatArguments a) {
  const std::uint32_t count = min(*a.lamp_count, a.most_lamps);
  for (std::uint32_t i = blockIdx.x * warps + threadIdx.x / warp_size; i < count; i += gridDim.x * warps) {
    const LensSample& sample = a.lamps[i].sample;
    const std::int32_t reach = LampShape(a.aperture, sample).reach();
    const std::uint32_t group = min(std::uint32_t{sample.group}, a.last_group);
    const std::int32_t left = max(sample.x - reach, 0) / splat_tile_width;
    const std::int32_t right = min(sample.x + reach + 1, a.width - 1) / splat_tile_width;
    const std::int32_t top = max(sample.y - reach, 0) / splat_tile_height;
    const std::int32_t bottom = min(sample.y + reach + 1, a.height - 1) / splat_tile_height;
    const std::int32_t columns = right - left + 1;
    for (std::int32_t place = lane_index(); place < columns * (bottom - top + 1); place += warp_size)
      mark(a, group, left + place % columns, top + place / columns);
  }
}

/// Pixels that a block processes at once: at least one row of the largest lamp and the row above it. No
/// aperture reaches farther than two radii.
constexpr int lamp_pixels = 5120;
constexpr int largest_reach = static_cast<int>(largest_lens_radius) * 2 + 2;
static_assert(2 * (2 * largest_reach + 3) <= lamp_pixels);

/// Second differences that a warp has found and not yet added.
struct FoundDeltas {
  static constexpr int most = 2 * warp_size;
  std::int32_t place[most];
  std::int32_t difference[most];
};

/// Draws one lamp, from column -reach to column reach + 2.
template <int Channels>
class LampDrawing {
 public:
  __device__ LampDrawing(const SplatArguments& a, const Lamp& lamp, std::int32_t* pixels, FoundDeltas& found)
      : a_(a),
        lamp_(lamp),
        shape_(a.aperture, lamp.sample),
        reach_(shape_.reach()),
        columns_(2 * reach_ + 3),
        pixels_(pixels),
        found_(found) {}

  __device__ void run() {
    const std::int32_t most_rows = lamp_pixels / columns_ - 1;
    for (std::int32_t first = -reach_; first <= reach_ + 1; first += most_rows) {
      top_ = first - 1;
      rows_ = min(most_rows, reach_ + 2 - first) + 1;
      for (std::int32_t i = thread(); i < rows_ * columns_; i += threads) pixels_[i] = 0;
      __syncthreads();
      for (std::int32_t i = thread(); i < rows_ * lamp_lines; i += threads)
        add_line(i / lamp_lines, i % lamp_lines);
      __syncthreads();
      for (std::int32_t row = thread(); row < rows_; row += threads) differ_along(pixels_ + row * columns_);
      __syncthreads();
      add_differences();
      __syncthreads();
    }
  }

 private:
  [[nodiscard]] __device__ static std::int32_t thread() { return static_cast<std::int32_t>(threadIdx.x); }

  /// Adds the coverage of one line, as differences along the row.
  __device__ void add_line(std::int32_t row, int line) const {
    std::int32_t* pixels = pixels_ + row * columns_;
    for_lamp_edges(shape_, top_ + row, line, [&](std::int32_t place, std::int32_t step) {
      const std::int32_t column = max((place >> 6) + reach_, -1);
      const std::int32_t behind = place & (lamp_places - 1);
      if (column + 1 >= columns_) return;
      if (column < 0) {
        atomicAdd(pixels, step * lamp_places);
      } else {
        atomicAdd(pixels + column, step * (lamp_places - behind));
        atomicAdd(pixels + column + 1, step * behind);
      }
    });
  }

  /// Turns a row of coverage differences into differences of weights.
  __device__ void differ_along(std::int32_t* row) const {
    std::int32_t coverage = 0;
    std::int32_t before = 0;
    for (std::int32_t column = 0; column < columns_; ++column) {
      const std::int32_t more = row[column];
      if (more == 0) continue;
      coverage += more;
      const auto weight = static_cast<std::int32_t>(lamp_weight(coverage, lamp_.share));
      row[column] = weight - before;
      before = weight;
    }
  }

  __device__ void add_differences() {
    const std::int32_t count = (rows_ - 1) * columns_;
    for (std::int32_t first = thread() - lane_index(); first < count; first += threads) {
      const std::int32_t place = first + lane_index();
      const std::int32_t difference = place < count ? pixels_[place + columns_] - pixels_[place] : 0;
      const unsigned found = __ballot_sync(whole_warp, difference != 0);
      if (difference != 0) {
        const int at = held_ + __popc(found & ((1U << lane_index()) - 1));
        found_.place[at] = place;
        found_.difference[at] = difference;
      }
      held_ += __popc(found);
      __syncwarp();
      if (held_ >= warp_size) add_found(held_ - warp_size, warp_size);
    }
    add_found(0, held_);
  }

  /// Adds `count` of the found differences from `first` on. A lane has one plane of one pixel: neighbouring
  /// additions are one request.
  __device__ void add_found(std::int32_t first, std::int32_t count) {
    constexpr int planes = Channels + 1;
    constexpr int at_once = warp_size / planes;
    const std::int32_t plane = lane_index() % planes;
    const std::uint64_t colour = plane < Channels ? lamp_.sample.colour[plane] : std::uint64_t{1};
    const std::uint32_t group = min(std::uint32_t{lamp_.sample.group}, a_.last_group);
    const std::int32_t own = lane_index() / planes < at_once ? lane_index() / planes : count;
    for (std::int32_t i = own; i < count; i += at_once) {
      const std::int32_t place = found_.place[first + i];
      const std::int32_t x = max(lamp_.sample.x - reach_ + place % columns_, 0);
      const std::int32_t y = max(lamp_.sample.y + top_ + 1 + place / columns_, 0);
      const auto difference = static_cast<std::uint64_t>(std::int64_t{found_.difference[first + i]});
      if (x < a_.width && y < a_.height) add_delta(a_, group, x, y, plane, colour * difference);
    }
    held_ = first;
    __syncwarp();
  }

  const SplatArguments& a_;
  const Lamp& lamp_;
  LampShape shape_;
  std::int32_t reach_;
  std::int32_t columns_;
  std::int32_t top_ = 0;   ///< row above the current ones, relative to the lamp
  std::int32_t rows_ = 0;  ///< current rows and the one above them
  std::int32_t held_ = 0;
  std::int32_t* pixels_;
  FoundDeltas& found_;
};

template <int Channels>
__global__ void __launch_bounds__(threads) add_lamps(const __grid_constant__ SplatArguments a) {
  __shared__ std::int32_t pixels[lamp_pixels];
  __shared__ FoundDeltas found[warps];
  const std::uint32_t count = min(*a.lamp_count, a.most_lamps);
  for (std::uint32_t i = blockIdx.x; i < count; i += gridDim.x)
    LampDrawing<Channels>(a, a.lamps[i], pixels, found[threadIdx.x / warp_size]).run();
}

}  // namespace

void splat_direct(const SplatArguments& a, StreamHandle stream) {
  const bool far = a.largest_reach > splat_reach;
  if (!far && a.most_lamps == 0) return;
  const unsigned groups = a.last_group + 1;
  if (a.most_lamps != 0) mark_lamps<<<lamp_blocks, threads, 0, stream>>>(a);
  if (far) mark_far<<<dim3(blocks_for(cell_count(a), threads), groups), threads, 0, stream>>>(a);
  clear_marked<<<dim3(blocks_for(tile_count(a), 1), groups), threads, 0, stream>>>(a);
  with_channels(a.channels, [&]<int Channels>() {
    if (a.most_lamps != 0) add_lamps<Channels><<<lamp_blocks, threads, 0, stream>>>(a);
    if (far) add_far<Channels><<<dim3(blocks_for(cell_count(a), 1), groups), threads, 0, stream>>>(a);
  });
}

}  // namespace satin::kernels
