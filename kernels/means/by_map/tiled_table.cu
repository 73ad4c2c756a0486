// Box mean of pixels in linear light by a radius map, with a summed-area table in shared memory (Crow 1984).
// table_values.cuh defines the entries of the table and their arithmetic, for each kind of pixel.
//
// A block slides down a tile and keeps the last rows of the tile's own table in a ring. The warps of a block
// have three roles and work on batches of four rows, one behind the other: the first scan source rows, a warp
// each, into a staging buffer; the second add them down the columns into the ring; the third write the means
// whose windows are complete. BatchGates order them: staging has two buffers, and the ring has room for two
// batches beside the rows that are being read.
//
// The table covers the picture extended by its border. With Border::shrink the extension is 0, and only the
// divisor is clipped.
//
// Bytes moved per pixel: the output, the map, and each pixel of the source (width + 2 reach) / width times
// (height + 2 reach) / height of the tile, all but once from the L2. Shared memory: two accesses per entry to
// build it, four reads for a whole box and sixteen for a fractional one, which bound the time.

#include <algorithm>
#include <cstdint>
#include <cuda/barrier>
#include <cuda/ptx>
#include <limits>

#include "core/maths/window.h"
#include "kernels/device/shared_memory.cuh"
#include "kernels/device/tuning.h"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/means/by_map/table_values.cuh"
#include "kernels/means/launch.h"
#include "kernels/pixels/lane.cuh"
#include "means/box_mean.h"
#include "means/tiling.h"

namespace satin::kernels {

// --- Sizes ---

inline constexpr int column_warps = tuning::tiled_table_column_warps;
inline constexpr int batch_rows = 4;  ///< rows that the warps of a block hand over at once

// --- Shared memory of a block ---

/// Signals from the warps of one role to those of the next that a batch is done: one barrier for even
/// batches, one for odd ones.
class BatchGate {
 public:
  using Barrier = cuda::barrier<cuda::thread_scope_block>;

  /// A single thread calls this. Every lane of `warps` warps arrives: with one lane per warp after
  /// __syncwarp() a batch took 2 % longer, and racecheck did not understand that order.
  __device__ void prepare(int warps) {
    for (Barrier& barrier : barriers_) init(&barrier, warps * warp_size);
  }
  /// All lanes of a warp call this.
  __device__ void done(int batch) { static_cast<void>(barriers_[batch & 1].arrive()); }
  __device__ void wait_for(int batch) {
    Barrier& barrier = barriers_[batch & 1];
    const bool parity = (batch >> 1 & 1) != 0;
#if __CUDA_ARCH__ >= 900
    // This loop does what wait_parity() does, in fewer instructions.
    std::uint64_t* native = cuda::device::barrier_native_handle(barrier);
    while (!cuda::ptx::mbarrier_try_wait_parity(native, parity ? 1U : 0U)) {
    }
#else
    barrier.wait_parity(parity);
#endif
  }

 private:
  Barrier barriers_[2];
};

struct BatchGates {
  BatchGate scanned;   ///< the rows are in the staging buffer
  BatchGate added;     ///< the buffer has been read, and the rows are in the ring
  BatchGate gathered;  ///< the means are written
};

struct TableTile : TileRect {
  int origin;        ///< first column of the table
  int start;         ///< first row of the table
  int batches;       ///< number of batches of source rows, from `start` on
  int skipped;       ///< number of batches before the one that completes the windows of row first_y
  int warps_across;  ///< number of warps side by side, each with 32 columns of results
};

__device__ inline TableTile table_tile(const TiledTableArguments& arguments, int pixels) {
  const TiledTableJob& job = arguments.job;
  TableTile tile{tile_rect(arguments.tiles, job.width, job.height, static_cast<int>(blockIdx.x),
                           static_cast<int>(blockIdx.y))};
  tile.origin = tile.first_x - (job.reach + pixels - 1) / pixels * pixels;
  tile.skipped = (2 * job.reach + batch_rows - 1) / batch_rows;
  tile.start = tile.first_y + job.reach - tile.skipped * batch_rows;
  tile.batches = tile.skipped + (tile.last_y - tile.first_y + batch_rows - 1) / batch_rows;
  tile.warps_across = (tile.last_x - tile.first_x + warp_size - 1) / warp_size;
  return tile;
}

/// Arguments of all warps, in shared memory to save registers.
struct alignas(16) TiledTableHead {
  BatchGates gates;
  TableTile tile;
};

template <class Values>
struct TiledTableShape {
  using Sum = typename Values::Sum;
  static constexpr int largest_reach = Values::largest_reach;
  static constexpr int ring_step = Values::ring_step;
  static constexpr int threads = (Values::row_warps + column_warps + Values::gather_warps) * warp_size;
  static constexpr int pixels = Values::Rows::pixels;
  static constexpr int columns = warp_size * pixels;
  /// Entries per row of the ring, one more than a multiple of 32: the corners of windows around neighbouring
  /// pixels then lie in different banks for two of the four corners, whatever the radii.
  static constexpr int pitch = columns + 1;
  static constexpr int row_bytes = pitch * static_cast<int>(sizeof(Sum));
  static constexpr int origin = 1;  ///< index of the first column in a row of the ring; the entry before is 0
  static constexpr int codes = 256;              ///< values of an 8-bit map
  static constexpr int shares = Values::shares;  ///< warps that write the same 32 columns, in turn
  static constexpr int share_rows = batch_rows / shares;
  static constexpr int most_width = Values::gather_warps / shares * warp_size;  ///< most columns of a tile

  __host__ __device__ static std::size_t bytes(int ring_rows) {
    return sizeof(TiledTableHead) + codes * sizeof(Radius256) + Values::table_bytes +
           static_cast<std::size_t>(2 * batch_rows * Values::staged_columns + ring_rows * pitch) *
               sizeof(Sum);
  }
};

template <class Values>
struct TiledTableShared {
  using Shape = TiledTableShape<Values>;
  using Sum = typename Shape::Sum;
  BatchGates& gates;
  TableTile& tile;
  Radius256* radii;  ///< [codes]: radii for the values of an 8-bit map
  Values values;
  Sum* staging;  ///< [2][batch_rows][staged_columns], in the order of Values::staged()
  Sum* ring;     ///< [ring_rows][pitch]

  __device__ TiledTableShared(const TiledTableArguments& arguments, void* memory)
      : gates(static_cast<TiledTableHead*>(memory)->gates),
        tile(static_cast<TiledTableHead*>(memory)->tile),
        radii(reinterpret_cast<Radius256*>(static_cast<TiledTableHead*>(memory) + 1)),
        values(arguments, radii + Shape::codes),
        staging(
            reinterpret_cast<Sum*>(reinterpret_cast<std::byte*>(radii + Shape::codes) + Values::table_bytes)),
        ring(staging + 2 * batch_rows * Values::staged_columns) {}
};

// --- The warps that build the table ---

/// Scans one row of every batch, or of every second one if there are twice as many warps as rows in a batch.
template <class Values, bool Aligned>
__device__ void scan_rows(const TiledTableArguments& arguments, const TiledTableShared<Values>& shared,
                          typename Values::Rows reader, int warp) {
  constexpr int row_warps = Values::row_warps;
  constexpr int turns = row_warps / batch_rows;
  reader.aligned = Aligned;
  const int batches = shared.tile.batches;
  const int last = shared.tile.last_y - 1 + arguments.job.reach;
  int y = shared.tile.start + warp;
  const auto row_at = [&](int position) { return position <= last ? __ldg(arguments.rows + position) : -1; };
  typename Values::Words words;
  reader.load(row_at(y), words);
  int next_row = row_at(y + row_warps);
  for (int batch = warp / batch_rows; batch < batches; batch += turns) {
    typename Values::LaneSums sums(shared.values, words);
    reader.load(next_row, words);
    y += row_warps;
    next_row = row_at(y + row_warps);
    sums.scan();
    if (batch >= 2) shared.gates.added.wait_for(batch - 2);
    const int staged_row = (batch & 1) * batch_rows + warp % batch_rows;
    sums.stage(shared.staging + staged_row * Values::staged_columns);
    shared.gates.scanned.done(batch);
  }
}

template <class Values>
__device__ void scan_rows(const TiledTableArguments& arguments, const TiledTableShared<Values>& shared,
                          int warp) {
  using Rows = typename Values::Rows;
  // Tiles begin at even columns, as their widths and the distance to the table's first column are even.
  static_assert(Rows::pixels % 2 == 0 && 2 * Rows::pixel_bytes % Rows::access == 0 || Rows::pixels == 8);
  const TiledTableJob& job = arguments.job;
  const Rows reader(arguments.source, shared.tile.origin + lane_index() * Rows::pixels,
                    shared.tile.last_x - 1 + job.reach, job.width, job.clipped, arguments.columns);
  if (reader.aligned) return scan_rows<Values, true>(arguments, shared, reader, warp);
  scan_rows<Values, false>(arguments, shared, reader, warp);
}

template <class Values>
__device__ void add_columns(const TiledTableArguments& arguments, const TiledTableShared<Values>& shared,
                            int thread) {
  using Shape = TiledTableShape<Values>;
  using Sum = typename Values::Sum;
  constexpr int threads = column_warps * warp_size;
  constexpr int per_thread = Shape::columns / threads;
  static_assert(per_thread * threads == Shape::columns);
  Sum sums[per_thread] = {};
  int ring_row = 0;
  for (int batch = 0; batch < shared.tile.batches; ++batch) {
    shared.gates.scanned.wait_for(batch);
    if (batch >= 2) shared.gates.gathered.wait_for(batch - 2);
    const auto* const from = shared.staging + (batch & 1) * batch_rows * Values::staged_columns;
    auto* const to = shared.ring + ring_row * Shape::pitch + Shape::origin;
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
      const int column = thread + k * threads;
      Sum values[batch_rows];
#pragma unroll
      for (int row = 0; row < batch_rows; ++row)
        values[row] = Values::staged(from + row * Values::staged_columns, column);
#pragma unroll
      for (int row = 0; row < batch_rows; ++row) {
        Values::add(sums[k], values[row]);
        to[row * Shape::pitch + column] = sums[k];
      }
    }
    shared.gates.added.done(batch);
    ring_row += batch_rows;  // the ring is a multiple of it
    if (ring_row == arguments.ring_rows) ring_row = 0;
  }
}

// --- The warps that write means ---

/// Writes the means of one warp: 32 columns, every `shares`-th row of a batch. If boxes are whole, the loads
/// of all its rows are in flight together.
template <class Values>
class TableGather {
 public:
  using Shape = TiledTableShape<Values>;
  using Sum = typename Shape::Sum;
  using Box = typename Values::Box;
  using Means = typename Values::Means;

  __device__ TableGather(const TiledTableArguments& arguments, const TiledTableShared<Values>& shared,
                         int warp)
      : arguments_(arguments),
        job_(arguments.job),
        shared_(shared),
        ring_(reinterpret_cast<const std::byte*>(shared.ring)),
        share_(warp / shared.tile.warps_across) {
    const TableTile& tile = shared.tile;
    const int first_x = tile.first_x + warp % tile.warps_across * warp_size;
    x_ = first_x + lane_index();
    exists_ = x_ < tile.last_x;
    clipped_in_row_ = job_.clipped && !fits(first_x, warp_size, job_.width);
    stores_words_ = pixel_bytes >= 3 && first_x + warp_size <= tile.last_x && is_aligned();
    if constexpr (pixel_bytes == 3) {
      lane_of_four_ = opaque(lane_index() % 4);
      byte_selector_ = opaque(lane_of_four_ == 0 ? 0x4210 : lane_of_four_ == 1 ? 0x5421 : 0x6542);
    }

    y_ = tile.first_y;
    // After b + 1 batches the windows of batch_rows more rows are complete, `reach` rows above the newest.
    const int ring_row = (tile.skipped * batch_rows - job_.reach) % arguments.ring_rows;
    offset_ = wrapped_below(static_cast<unsigned>((ring_row + share_) * row_bytes +
                                                  (Shape::origin - 1 + x_ - tile.origin) * entry));
    from_ = arguments.radius_map.data + (y_ + share_) * arguments.radius_map.row +
            min(x_, job_.width - 1) * code_size();
    to_ = arguments.output.data + (y_ + share_) * arguments.output.row + first_x * pixel_bytes +
          (stores_words_ ? first_word() : lane_index() * pixel_bytes);
  }

  __device__ void run() {
    if (share_ >= Shape::shares) return;
    int batch = 0;
    for (; batch < shared_.tile.skipped; ++batch) {
      shared_.gates.added.wait_for(batch);
      shared_.gates.gathered.done(batch);
    }
    const int batches = shared_.tile.batches;
    std::uint32_t codes[share_rows];
    fetch(0, batch + 1 < batches, codes);
    for (; batch < batches; ++batch) {
      Radius256 radii[share_rows];
      convert(codes, radii);
      if (batch + 1 < batches) fetch(batch_rows, batch + 2 < batches, codes);
      shared_.gates.added.wait_for(batch);
      write(batch + 1 < batches, radii);
      shared_.gates.gathered.done(batch);
      y_ += batch_rows;
      offset_ = wrapped_below(offset_ + batch_rows * row_bytes);
    }
  }

 private:
  using Element = typename Values::Element;
  static constexpr int channels = Values::channels;
  static constexpr int pixel_bytes = Values::Rows::pixel_bytes;
  static constexpr int share_rows = Shape::share_rows;
  static constexpr int entry = sizeof(Sum);
  static constexpr int row_bytes = Shape::row_bytes;

  [[nodiscard]] __device__ bool is_aligned() const {
    const Target& out = arguments_.output;
    return (reinterpret_cast<std::uintptr_t>(out.data) | static_cast<std::uintptr_t>(out.row)) % 4 == 0;
  }

  /// Whether the windows around `count` positions of a line lie inside it.
  [[nodiscard]] __device__ bool fits(int first, int count, int size) const {
    return first >= job_.reach && first + count - 1 + job_.reach < size;
  }

  /// Returns the row in the batch that is the warp's row k.
  [[nodiscard]] __device__ int row_of(int k) const { return share_ + k * Shape::shares; }

  /// Reads the map for the batch `below` rows below y_. Unless `whole`, rows below the picture read its last
  /// row.
  __device__ void fetch(int below, bool whole, std::uint32_t (&codes)[share_rows]) {
    switch (job_.radius.map_type) {
      case Type::u8:
        return fetch_as<std::uint8_t>(below, whole, codes);
      case Type::u16:
        return fetch_as<std::uint16_t>(below, whole, codes);
      default:
        return fetch_as<std::uint32_t>(below, whole, codes);
    }
  }

  [[nodiscard]] __device__ int code_size() const {
    return job_.radius.map_type == Type::u8 ? 1 : job_.radius.map_type == Type::u16 ? 2 : 4;
  }

  template <class Code>
  __device__ void fetch_as(int below, bool whole, std::uint32_t (&codes)[share_rows]) {
    if (whole) {
#pragma unroll
      for (int k = 0; k < share_rows; ++k) {
        codes[k] = load_code<Code>(from_);
        from_ += arguments_.map_step;
      }
    } else {
      const int y = y_ + below + share_;
#pragma unroll
      for (int k = 0; k < share_rows; ++k)
        codes[k] = load_code<Code>(from_ + (min(y + k * Shape::shares, job_.height - 1) - y) *
                                               arguments_.radius_map.row);
    }
  }

  /// Loads a code into a whole register, so that no conversion waits for the load.
  template <class Code>
  [[nodiscard]] __device__ static std::uint32_t load_code(const std::byte* from) {
    std::uint32_t code = 0;
    if constexpr (sizeof(Code) == 1) {
      asm("ld.global.nc.u8 %0, [%1];" : "=r"(code) : "l"(from));
    } else if constexpr (sizeof(Code) == 2) {
      asm("ld.global.nc.u16 %0, [%1];" : "=r"(code) : "l"(from));
    } else {
      code = __ldg(reinterpret_cast<const std::uint32_t*>(from));
    }
    return code;
  }

  /// Converts the map's values to radii.
  __device__ void convert(const std::uint32_t (&codes)[share_rows], Radius256 (&radii)[share_rows]) const {
    const RadiusField& field = job_.radius;
    if (field.map_type == Type::u8) {
#pragma unroll
      for (int k = 0; k < share_rows; ++k) radii[k] = shared_.radii[codes[k]];
    } else if (field.map_type == Type::u16) {
#pragma unroll
      for (int k = 0; k < share_rows; ++k)
        radii[k] = radius_from_map(codes[k], 0xFFFFU, field.low, field.high);
    } else {
#pragma unroll
      for (int k = 0; k < share_rows; ++k)
        radii[k] = radius_from_map(__uint_as_float(codes[k]), field.low, field.high);
    }
  }

  __device__ void write(bool whole, Radius256 (&radii)[share_rows]) {
    const bool clipped = clipped_in_row_ || (job_.clipped && !fits(y_, batch_rows, job_.height));
    Radius256 bits = 0;
#pragma unroll
    for (const Radius256 radius : radii) bits |= radius;
    Means means[share_rows] = {};
    if (__any_sync(whole_warp, bits % radius_one) != 0) {
      if (clipped) {
        covered_means<true>(radii, means);
      } else {
        covered_means<false>(radii, means);
      }
    } else if (clipped) {
      whole_means<true>(radii, means);
    } else {
      whole_means<false>(radii, means);
    }
    if constexpr (Values::has_alpha) keep_transparent(means);
    store(whole, means);
  }

  /// Gives pixels whose alpha is 0 the colours of the source.
  __device__ void keep_transparent(Means (&means)[share_rows]) const {
#pragma unroll
    for (int k = 0; k < share_rows; ++k) {
      const int y = y_ + row_of(k);
      if (Values::alpha_of(means[k]) != 0 || !exists_ || y >= shared_.tile.last_y) continue;
      const std::byte* from = arguments_.source.data + y * arguments_.source.row + x_ * channels;
      means[k].of[0] = 0;
#pragma unroll
      for (int c = 0; c < channels - 1; ++c) means[k].of[0] |= static_cast<std::uint32_t>(from[c]) << 8 * c;
    }
  }

  template <bool Clipped>
  __device__ void whole_means(const Radius256 (&radii)[share_rows], Means (&means)[share_rows]) const {
    Box sums[share_rows];
#pragma unroll
    for (int k = 0; k < share_rows; ++k) {
      const int reach = whole_pixels(radii[k]);
      const int aside = reach * entry;
      const unsigned centre = centre_of(k);
      const unsigned last = below_by(centre, reach);
      const unsigned before = above_by(centre, reach + 1);
      sums[k] = box(last, before, aside, 0);
    }
#pragma unroll
    for (int k = 0; k < share_rows; ++k) {
      const int reach = whole_pixels(radii[k]);
      const std::uint32_t pixels =
          Clipped ? count(x_, reach, job_.width) * count(y_ + row_of(k), reach, job_.height)
                  : static_cast<std::uint32_t>((2 * reach + 1) * (2 * reach + 1));
      means[k] = shared_.values.whole_means(sums[k], pixels);
    }
  }

  /// Computes clipped boxes row after row, as they need many registers; radii and means shift through the
  /// arrays, so that all indices are constants.
  template <bool Clipped>
  __device__ void covered_means(Radius256 (&radii)[share_rows], Means (&means)[share_rows]) const {
#pragma unroll(Clipped ? 1 : share_rows)
    for (int k = 0; k < share_rows; ++k) {
      const Means mean = covered_mean<Clipped>(y_ + row_of(k), centre_of(k), radii[0]);
#pragma unroll
      for (int i = 0; i + 1 < share_rows; ++i) {
        radii[i] = radii[i + 1];
        means[i] = means[i + 1];
      }
      means[share_rows - 1] = mean;
    }
  }

  template <bool Clipped>
  [[nodiscard]] __device__ Means covered_mean(int y, unsigned centre, Radius256 radius) const {
    const int reach =
        whole_pixels(max(radius - 1, 0));  // a whole radius is the outer one, which is in the ring
    const auto outer = static_cast<std::uint32_t>(radius - reach * radius_one);
    const std::uint32_t inner = radius_one - outer;
    std::uint32_t area = 0;
    if constexpr (Clipped) {
      area = (inner * count(x_, reach, job_.width) + outer * count(x_, reach + 1, job_.width)) *
             (inner * count(y, reach, job_.height) + outer * count(y, reach + 1, job_.height));
    } else {
      const std::uint32_t side = radius_one + 2 * static_cast<std::uint32_t>(radius);
      area = side * side;
    }
    const int aside = reach * entry;
    const unsigned last = below_by(centre, reach);
    const unsigned before = above_by(centre, reach + 1);
    const unsigned farther_last = below_by(last, 1);
    const unsigned farther_before = above_by(before, 1);
    return shared_.values.covered_means(area, inner, outer, [&](int outer_x, int outer_y) {
      return box(outer_y == 0 ? last : farther_last, outer_y == 0 ? before : farther_before, aside,
                 outer_x * entry);
    });
  }

  /// Returns the sum over the rows after `before` up to `last`, of columns up to `aside` and `more` bytes of
  /// entries away.
  [[nodiscard]] __device__ Box box(unsigned last, unsigned before, int aside, int more) const {
    return Values::box(at(last, aside + more + entry), at(last, -aside - more),
                       at(before, aside + more + entry), at(before, -aside - more));
  }

  [[nodiscard]] __device__ static int whole_pixels(Radius256 radius) {
    return static_cast<int>(static_cast<unsigned>(radius) / radius_one);
  }

  /// Wraps an offset in the ring, in bytes. One beyond either end is, as an unsigned number, larger than the
  /// right one.
  [[nodiscard]] __device__ unsigned wrapped_below(unsigned offset) const {
    return min(offset, offset - arguments_.ring_bytes);
  }
  [[nodiscard]] __device__ unsigned wrapped_above(unsigned offset) const {
    return min(offset, offset + arguments_.ring_bytes);
  }
  /// Returns the offset of the entry to the left of the pixel's own, in row k of the warp.
  [[nodiscard]] __device__ unsigned centre_of(int k) const {
    return wrapped_below(offset_ + static_cast<unsigned>(k * Shape::shares * row_bytes));
  }
  [[nodiscard]] __device__ unsigned below_by(unsigned offset, int rows) const {
    return wrapped_below(offset + static_cast<unsigned>(rows * row_bytes));
  }
  [[nodiscard]] __device__ unsigned above_by(unsigned offset, int rows) const {
    return wrapped_above(offset - static_cast<unsigned>(rows * row_bytes));
  }
  [[nodiscard]] __device__ Sum at(unsigned offset, int bytes) const {
    return *reinterpret_cast<const Sum*>(ring_ + static_cast<int>(offset) + bytes);
  }

  [[nodiscard]] __device__ static std::uint32_t count(int centre, int reach, int size) {
    return static_cast<std::uint32_t>(min(reach, centre) + min(reach, size - 1 - centre) + 1);
  }

  /// Returns the offset of the first word that a lane stores, in the bytes of its warp.
  [[nodiscard]] __device__ int first_word() const {
    if constexpr (pixel_bytes == 3) return lane_index() / 4 * 12 + lane_of_four_ * 4;
    if constexpr (pixel_bytes == 6) return lane_index() / 2 * 12 + lane_index() % 2 * 8;
    return lane_index() * pixel_bytes;
  }

  /// Stores the means. `whole`: all rows exist.
  __device__ void store(bool whole, Means (&means)[share_rows]) {
    if (stores_words_) {
#pragma unroll
      for (Means& mean : means) join_words(mean);
      if (whole) {
        std::byte* to = to_;
#pragma unroll
        for (int k = 0; k < share_rows; ++k) {
          store_words(to, means[k]);
          to += arguments_.output_step;
        }
        to_ += share_rows * arguments_.output_step;
        return;
      }
    }
#pragma unroll
    for (int k = 0; k < share_rows; ++k) {
      if (y_ + row_of(k) < shared_.tile.last_y) {
        if (stores_words_) {
          store_words(to_, means[k]);
        } else if (exists_) {
          store_elements(to_, means[k]);
        }
      }
      to_ += arguments_.output_step;
    }
  }

  /// Turns the means of pixels into the words that store_words() stores. All lanes of a warp call this.
  __device__ void join_words(Means& means) const {
    if constexpr (pixel_bytes == 3)
      means.of[0] = __byte_perm(means.of[0], __shfl_down_sync(whole_warp, means.of[0], 1),
                                static_cast<unsigned>(byte_selector_));
    if constexpr (pixel_bytes == 6) {
      const std::uint32_t next = __shfl_down_sync(whole_warp, means.of[0], 1);
      const bool odd = lane_index() % 2 != 0;
      means.of[0] = odd ? __byte_perm(means.of[0], means.of[1], 0x5432) : means.of[0];
      means.of[1] = __byte_perm(means.of[1], next, 0x5410);
    }
  }

  /// Stores the words of a warp. With pixels of three bytes the first three of every four lanes store a word
  /// each; with pixels of six bytes even lanes store two words and odd lanes one.
  __device__ void store_words(std::byte* to, const Means& means) const {
    auto* words = reinterpret_cast<std::uint32_t*>(to);
    if constexpr (pixel_bytes == 3) {
      if (lane_of_four_ < 3) __stcs(words, means.of[0]);
    } else {
      __stcs(words, means.of[0]);
      if constexpr (pixel_bytes == 6)
        if (lane_index() % 2 == 0) __stcs(words + 1, means.of[1]);
    }
  }

  __device__ void store_elements(std::byte* to, const Means& means) const {
#pragma unroll
    for (int c = 0; c < channels; ++c) reinterpret_cast<Element*>(to)[c] = element<Element>(means.of, c);
  }

  const TiledTableArguments& arguments_;
  const TiledTableJob& job_;
  const TiledTableShared<Values>& shared_;
  const std::byte* ring_;
  int share_;  ///< first of the warp's rows in a batch
  int x_;
  bool exists_;
  bool clipped_in_row_;
  bool stores_words_;
  int lane_of_four_ = 0;
  int byte_selector_ = 0;  ///< permutation that joins the lane's means and those of the next to a word
  // State of the current batch, for the warp's first row:
  int y_;
  unsigned offset_;        ///< in the ring
  const std::byte* from_;  ///< address in the map, one batch ahead
  std::byte* to_;
};

namespace {

/// Clears the column to the left of the tile and the row above it.
template <class Values>
__device__ void clear_frame(const TiledTableArguments& arguments, const TiledTableShared<Values>& shared,
                            int thread) {
  using Shape = TiledTableShape<Values>;
  const int rows = arguments.ring_rows;
  for (int row = thread; row < rows; row += Shape::threads)
    shared.ring[row * Shape::pitch + Shape::origin - 1] = {};
  for (int i = thread; i < Shape::pitch; i += Shape::threads) shared.ring[(rows - 1) * Shape::pitch + i] = {};
}

template <class Values>
__global__ void __launch_bounds__(TiledTableShape<Values>::threads, 1)
    average_in_tiles(const __grid_constant__ TiledTableArguments arguments) {
  using Shape = TiledTableShape<Values>;
  extern __shared__ uint4 memory[];
  const TiledTableJob& job = arguments.job;
  const auto thread = static_cast<int>(threadIdx.x);
  const int warp = thread / warp_size;
  const TiledTableShared<Values> shared(arguments, memory);
  clear_frame(arguments, shared, thread);
  shared.values.prepare(arguments, thread, Shape::threads);
  if (thread < Shape::codes)
    shared.radii[thread] =
        radius_from_map(static_cast<std::uint32_t>(thread), 0xFFU, job.radius.low, job.radius.high);
  if (thread == 0) {
    shared.tile = table_tile(arguments, Shape::pixels);
    shared.gates.scanned.prepare(batch_rows);
    shared.gates.added.prepare(column_warps);
    shared.gates.gathered.prepare(shared.tile.warps_across * Shape::shares);
  }
  __syncthreads();
  constexpr int row_warps = Values::row_warps;
  if (warp < row_warps) {
    scan_rows<Values>(arguments, shared, warp);
  } else if (warp < row_warps + column_warps) {
    add_columns<Values>(arguments, shared, thread - row_warps * warp_size);
  } else {
    TableGather<Values>(arguments, shared, warp - row_warps - column_warps).run();
  }
}

/// Calls action(TiledTableShape, kernel) for the job's pixels.
template <class Action>
auto with_kernel(const TiledTableJob& job, const Action& action) {
  const auto of = [&]<class Values>() { return action(TiledTableShape<Values>{}, average_in_tiles<Values>); };
  if (job.type == Type::u16) {
    if (job.channels == 1) return of.template operator()<WideLight<std::uint16_t, 1>>();
    return of.template operator()<WideLight<std::uint16_t, 3>>();
  }
  if (job.weights_by_alpha) {
    if (job.channels == 2) return of.template operator()<WideLight<std::uint8_t, 2>>();
    return of.template operator()<WideLight<std::uint8_t, 4>>();
  }
  if (job.channels == 1) return of.template operator()<LinearBytes<1>>();
  if (job.channels == 2) return of.template operator()<LinearBytes<2>>();
  return of.template operator()<LinearBytes<3>>();
}

template <class Shape>
int ring_rows_of(const TiledTableJob& job) {
  constexpr int step = Shape::ring_step;
  return (2 * job.reach + 1 + 2 * batch_rows + step - 1) / step * step;
}

}  // namespace

SlidingTiles tiles_of(const TiledTableArguments& arguments, int multiprocessors, std::size_t shared_limit) {
  const TiledTableJob& job = arguments.job;
  return with_kernel(job, [&](auto shape, auto*) {
    using Shape = decltype(shape);
    if (job.reach > Shape::largest_reach) return SlidingTiles{};
    const int before = (job.reach + Shape::pixels - 1) / Shape::pixels * Shape::pixels;
    const int usable =
        std::min(Shape::most_width, (Shape::columns - before - job.reach) / warp_size * warp_size);
    if (usable < Shape::columns / 2) return SlidingTiles{};
    SlidingTileRules rules{job.width, job.height, multiprocessors, usable};
    rules.fewest_rows = true;
    rules.most_rows = std::min(std::max(1, job.height / batch_rows), multiprocessors);
    rules.start_cost = 2 * job.reach + 2 * batch_rows;
    SlidingTiler tiler(rules);
    tiler.consider(
        1, usable, std::numeric_limits<int>::max(),
        [&](const SlidingTiles&) { return Shape::bytes(ring_rows_of<Shape>(job)); }, shared_limit);
    return tiler.best();
  });
}

int prepare_mean(const TiledTableArguments& arguments) {
  return with_kernel(arguments.job, [&](auto, auto* kernel) { return allow_all_shared_memory(kernel); });
}

void launch_mean(const TiledTableArguments& arguments, StreamHandle stream) {
  with_kernel(arguments.job, [&](auto shape, auto* kernel) {
    TiledTableArguments stepping = arguments;
    using Shape = decltype(shape);
    stepping.map_step = Shape::shares * arguments.radius_map.row;
    stepping.output_step = Shape::shares * arguments.output.row;
    stepping.ring_rows = ring_rows_of<Shape>(arguments.job);
    stepping.ring_bytes = static_cast<unsigned>(stepping.ring_rows * Shape::row_bytes);
    const dim3 blocks(static_cast<unsigned>(arguments.tiles.columns),
                      static_cast<unsigned>(arguments.tiles.rows));
    kernel<<<blocks, Shape::threads, arguments.tiles.shared_bytes, stream>>>(stepping);
  });
}

}  // namespace satin::kernels
