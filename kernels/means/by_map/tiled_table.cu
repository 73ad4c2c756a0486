// Box mean of 8-bit pixels in linear light by a radius map, with a summed-area table in shared memory (Crow
// 1984).
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
#include <type_traits>

#include "core/maths/window.h"
#include "kernels/device/exact_division.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/device/tuning.h"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/means/launch.h"
#include "kernels/pixels/byte_light.cuh"
#include "kernels/pixels/lane.cuh"
#include "means/box_mean.h"
#include "means/tiling.h"

namespace satin::kernels {

// --- Sizes ---

inline constexpr int row_warps = TiledTableJob::most_batch_rows;
inline constexpr int column_warps = tuning::tiled_table_column_warps;
inline constexpr int gather_warps = tuning::tiled_table_gather_warps;
inline constexpr int tile_threads = (row_warps + column_warps + gather_warps) * warp_size;
inline constexpr int batch_rows = 4;  ///< rows that the warps of a block hand over at once
inline constexpr int table_lane_pixels = 8;
inline constexpr int table_columns = warp_size * table_lane_pixels;  ///< columns of a tile's table

// --- Linear light ---

/// Packs the low bytes of all channels' means, the first channel lowest.
template <int Channels>
__device__ std::uint32_t low_bytes(const std::uint32_t (&means)[Channels]) {
  if constexpr (Channels == 1) return means[0];
  std::uint32_t bytes = __byte_perm(means[0], means[1 % Channels], 0x0040);
  if constexpr (Channels == 3) bytes = __byte_perm(bytes, means[2 % Channels], 0x0410);
  return bytes;
}

/// The quotient of a weighted sum by the covered area of a box, in 2^-16 pixel, from 2^16 to below 2^30. The
/// estimate is too small by less than 1: by 2^shift / 2^16 for the bits shifted out, and by less than 2^-20
/// of itself for the conversion and the reciprocal. Its floor is that of the quotient or one less, and the
/// remainder fits 32 bits.
class AreaQuotient {
 public:
  __device__ explicit AreaQuotient(std::uint32_t area) : area_(area) {
    constexpr float too_small = 1.0F - 1.0F / (1U << 21);
    inverse_ = __fmul_rn(rough_reciprocal(__uint2float_rn(area)), (1U << shift) * too_small);
  }

  /// Returns floor(total / area).
  [[nodiscard]] __device__ std::uint32_t operator()(std::uint64_t total) const {
    const std::uint32_t shifted = static_cast<std::uint32_t>(total >> shift);
    const float estimate = __fmaf_rd(__uint2float_rz(shifted), inverse_, FloatInteger::whole);
    const std::uint32_t quotient = __float_as_uint(estimate) - FloatInteger::whole_bits;
    const std::uint32_t remainder = static_cast<std::uint32_t>(total) - quotient * area_;
    return quotient + (remainder >= area_ ? 1U : 0U);
  }

  [[nodiscard]] __device__ std::uint32_t half() const { return area_ / 2; }

 private:
  static constexpr int shift = 14;

  std::uint32_t area_;
  float inverse_ = 0;  ///< at most 2^shift / area
};

template <int Channels>
using TableRows =
    LaneRows<std::uint8_t, Channels, std::conditional_t<Channels == 1, std::uint64_t, std::uint32_t>>;

/// Returns where vector i of a staged row is stored, of which each lane has `LaneVectors`. Neither lanes that
/// store the same one of their vectors nor neighbouring vectors conflict in a bank.
template <int LaneVectors>
__device__ int staged_index(int i) {
  const int lane = i / LaneVectors;
  return lane * LaneVectors + (i ^ lane * LaneVectors / 8) % LaneVectors;
}

/// Values of 16 bits, a word per channel: how a lane sums its pixels, how rows are staged between warps, and
/// how sums become codes. Sums of whole boxes fit a word, as they have less than 2^14 pixels.
template <int Channels>
class LinearBytes {
 public:
  using Sum = Vector<std::uint32_t, Channels>;
  using Words = typename TableRows<Channels>::Words;
  static constexpr int channels = Channels;

  __device__ explicit LinearBytes(void* memory) : light_(memory) {}

  __device__ void prepare(const TiledTableArguments& arguments, int thread, int threads) const {
    light_.fill(arguments.transfer, thread, threads);
  }

  /// A lane's share of a scanned row, staged channel by channel.
  class LaneSums {
   public:
    __device__ LaneSums(const LinearBytes& values, const Words& loaded) {
#pragma unroll
      for (int p = 0; p < table_lane_pixels; ++p)
#pragma unroll
        for (int c = 0; c < Channels; ++c) {
          const int byte = p * Channels + c;
          const std::uint32_t light =
              values.light_.decoded(__byte_perm(loaded.words[byte / 4], 0, 0x4440U + byte % 4));
          prefix_[c][p] = p == 0 ? light : prefix_[c][p == 0 ? 0 : p - 1] + light;
        }
    }

    __device__ void scan() {
#pragma unroll
      for (int c = 0; c < Channels; ++c) before_[c] = prefix_[c][table_lane_pixels - 1];
      inclusive_scans(before_);
#pragma unroll
      for (int c = 0; c < Channels; ++c) before_[c] -= prefix_[c][table_lane_pixels - 1];
    }

    __device__ void stage(Sum* row) {
      using Quad = Vector<std::uint32_t, 4>;
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        const std::uint32_t before = opaque(before_[c]);
        auto* const to = reinterpret_cast<Quad*>(reinterpret_cast<std::uint32_t*>(row) + c * table_columns);
#pragma unroll
        for (int i = 0; i < lane_quads; ++i) {
          Quad quad;
#pragma unroll
          for (int p = 0; p < 4; ++p) quad.of[p] = before + prefix_[c][4 * i + p];
          to[staged_index<lane_quads>(lane_index() * lane_quads + i)] = quad;
        }
      }
    }

   private:
    std::uint32_t prefix_[Channels][table_lane_pixels];
    std::uint32_t before_[Channels];
  };

  /// Returns the sums of a staged row up to a column.
  __device__ static Sum staged(const Sum* row, int column) {
    const int index = staged_index<lane_quads>(column / 4) * 4 + column % 4;
    Sum sums;
#pragma unroll
    for (int c = 0; c < Channels; ++c)
      sums.of[c] = reinterpret_cast<const std::uint32_t*>(row)[c * table_columns + index];
    return sums;
  }

  [[nodiscard]] __device__ std::uint32_t whole_means(const Sum& sum, int reach) const {
    return clipped_means(sum, static_cast<std::uint32_t>((2 * reach + 1) * (2 * reach + 1)));
  }
  [[nodiscard]] __device__ std::uint32_t clipped_means(const Sum& sum, std::uint32_t count) const {
    return means(AreaQuotient(count << 16),
                 [&](int c) { return static_cast<std::uint64_t>(sum.of[c]) << 16; });
  }
  [[nodiscard]] __device__ std::uint32_t covered_means(std::uint32_t area, std::uint32_t inner,
                                                       std::uint32_t outer, const Sum& inner_sum,
                                                       const Sum& outer_sum, const Sum& mixed) const {
    return means(AreaQuotient(area), [&](int c) {
      return static_cast<std::uint64_t>(inner * inner) * inner_sum.of[c] +
             static_cast<std::uint64_t>(inner * outer) * mixed.of[c] +
             static_cast<std::uint64_t>(outer * outer) * outer_sum.of[c];
    });
  }

 private:
  static constexpr int lane_quads = table_lane_pixels / 4;

  template <class Total>
  [[nodiscard]] __device__ std::uint32_t means(const AreaQuotient& quotient, const Total& total) const {
    std::uint32_t means[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) means[c] = light_.encoded(quotient(total(c) + quotient.half()));
    return low_bytes<Channels>(means);
  }

  ByteLight light_;
};

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

__device__ inline TableTile table_tile(const TiledTableArguments& arguments) {
  constexpr int pixels = table_lane_pixels;
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
  static constexpr int channels = Values::channels;
  /// A multiple of 32 rows keeps the banks of a row across the ring's end: UHD RGB, random radii to 24, 0.184
  /// instead of 0.193 ms.
  static constexpr int ring_step = 32;
  static constexpr int pixels = table_lane_pixels;
  static constexpr int columns = table_columns;
  /// Entries per row of the ring, one more than a multiple of 32: the corners of windows around neighbouring
  /// pixels then lie in different banks for two of the four corners, whatever the radii.
  static constexpr int pitch = columns + 1;
  static constexpr int row_bytes = pitch * static_cast<int>(sizeof(Sum));
  static constexpr int origin = 1;  ///< index of the first column in a row of the ring; the entry before is 0
  static constexpr int codes = 256;  ///< values of an 8-bit map
  /// Warps that write the same 32 columns, each every second row of a batch.
  static constexpr int shares = 2;
  static constexpr int share_rows = batch_rows / shares;
  static constexpr int most_width = gather_warps / shares * warp_size;  ///< most columns of a tile

  __host__ __device__ static std::size_t bytes(int ring_rows) {
    return sizeof(TiledTableHead) + codes * sizeof(Radius256) + ByteLight::bytes +
           static_cast<std::size_t>(2 * batch_rows * columns + ring_rows * pitch) * sizeof(Sum);
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
  Sum* staging;  ///< [2][batch_rows][columns], in the order of Values::staged()
  Sum* ring;     ///< [ring_rows][pitch]

  __device__ explicit TiledTableShared(void* memory)
      : gates(static_cast<TiledTableHead*>(memory)->gates),
        tile(static_cast<TiledTableHead*>(memory)->tile),
        radii(reinterpret_cast<Radius256*>(static_cast<TiledTableHead*>(memory) + 1)),
        values(radii + Shape::codes),
        staging(
            reinterpret_cast<Sum*>(reinterpret_cast<std::byte*>(radii + Shape::codes) + ByteLight::bytes)),
        ring(staging + 2 * batch_rows * Shape::columns) {}
};

// --- The warps that build the table ---

/// Scans one row of every second batch, as there are twice as many warps as rows in a batch.
template <class Values, bool Aligned>
__device__ void scan_rows(const TiledTableArguments& arguments, const TiledTableShared<Values>& shared,
                          TableRows<Values::channels> reader, int warp) {
  using Shape = TiledTableShape<Values>;
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
    sums.stage(shared.staging + staged_row * Shape::columns);
    shared.gates.scanned.done(batch);
  }
}

template <class Values>
__device__ void scan_rows(const TiledTableArguments& arguments, const TiledTableShared<Values>& shared,
                          int warp) {
  const TiledTableJob& job = arguments.job;
  const TableRows<Values::channels> reader(
      arguments.source, shared.tile.origin + lane_index() * table_lane_pixels,
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
  constexpr int per_thread = table_columns / threads;
  static_assert(per_thread * threads == table_columns);
  Sum sums[per_thread] = {};
  int ring_row = 0;
  for (int batch = 0; batch < shared.tile.batches; ++batch) {
    shared.gates.scanned.wait_for(batch);
    if (batch >= 2) shared.gates.gathered.wait_for(batch - 2);
    const auto* const from = shared.staging + (batch & 1) * batch_rows * Shape::columns;
    auto* const to = shared.ring + ring_row * Shape::pitch + Shape::origin;
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
      const int column = thread + k * threads;
      Sum values[batch_rows];
#pragma unroll
      for (int row = 0; row < batch_rows; ++row)
        values[row] = Values::staged(from + row * Shape::columns, column);
#pragma unroll
      for (int row = 0; row < batch_rows; ++row) {
        sums[k] = sums[k] + values[row];
        to[row * Shape::pitch + column] = sums[k];
      }
    }
    shared.gates.added.done(batch);
    ring_row += batch_rows;  // the ring is a multiple of it
    if (ring_row == arguments.ring_rows) ring_row = 0;
  }
}

// --- The warps that write means ---

/// Writes the means of one warp: 32 columns, every second row of a batch. If boxes are whole, the loads of
/// all its rows are in flight together.
template <class Values>
class TableGather {
 public:
  using Shape = TiledTableShape<Values>;
  using Sum = typename Shape::Sum;

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
    stores_words_ = channels == 3 && first_x + warp_size <= tile.last_x && is_aligned();
    lane_of_four_ = opaque(lane_index() % 4);
    byte_selector_ = opaque(lane_of_four_ == 0 ? 0x4210 : lane_of_four_ == 1 ? 0x5421 : 0x6542);

    y_ = tile.first_y;
    // After b + 1 batches the windows of batch_rows more rows are complete, `reach` rows above the newest.
    const int ring_row = (tile.skipped * batch_rows - job_.reach) % arguments.ring_rows;
    offset_ = wrapped_below(static_cast<unsigned>((ring_row + share_) * row_bytes +
                                                  (Shape::origin - 1 + x_ - tile.origin) * entry));
    from_ = arguments.radius_map.data + (y_ + share_) * arguments.radius_map.row +
            min(x_, job_.width - 1) * code_size();
    to_ = arguments.output.data + (y_ + share_) * arguments.output.row + first_x * channels +
          (stores_words_ ? lane_index() / 4 * 12 + lane_of_four_ * 4 : lane_index() * channels);
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
  static constexpr int channels = Values::channels;
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
    std::uint32_t means[share_rows] = {};
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
    store(whole, means);
  }

  template <bool Clipped>
  __device__ void whole_means(const Radius256 (&radii)[share_rows],
                              std::uint32_t (&means)[share_rows]) const {
    Sum sums[share_rows];
#pragma unroll
    for (int k = 0; k < share_rows; ++k) {
      const int reach = whole_pixels(radii[k]);
      const int aside = reach * entry;
      const unsigned centre = centre_of(k);
      const unsigned last = below_by(centre, reach);
      const unsigned before = above_by(centre, reach + 1);
      sums[k] =
          (at(last, aside + entry) - at(last, -aside)) - (at(before, aside + entry) - at(before, -aside));
    }
#pragma unroll
    for (int k = 0; k < share_rows; ++k) {
      const int reach = whole_pixels(radii[k]);
      means[k] = Clipped
                     ? shared_.values.clipped_means(
                           sums[k], count(x_, reach, job_.width) * count(y_ + row_of(k), reach, job_.height))
                     : shared_.values.whole_means(sums[k], reach);
    }
  }

  /// Computes clipped boxes row after row, as they need many registers; radii and means shift through the
  /// arrays, so that all indices are constants.
  template <bool Clipped>
  __device__ void covered_means(Radius256 (&radii)[share_rows], std::uint32_t (&means)[share_rows]) const {
#pragma unroll(Clipped ? 1 : share_rows)
    for (int k = 0; k < share_rows; ++k) {
      const std::uint32_t mean = covered_mean<Clipped>(y_ + row_of(k), centre_of(k), radii[0]);
#pragma unroll
      for (int i = 0; i + 1 < share_rows; ++i) {
        radii[i] = radii[i + 1];
        means[i] = means[i + 1];
      }
      means[share_rows - 1] = mean;
    }
  }

  template <bool Clipped>
  [[nodiscard]] __device__ std::uint32_t covered_mean(int y, unsigned centre, Radius256 radius) const {
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
    const auto along = [&](unsigned row) { return at(row, aside + entry) - at(row, -aside); };
    const auto along_wider = [&](unsigned row) {
      return at(row, aside + 2 * entry) - at(row, -aside - entry);
    };
    const unsigned last = below_by(centre, reach);
    const unsigned before = above_by(centre, reach + 1);
    const unsigned farther_last = below_by(last, 1);
    const unsigned farther_before = above_by(before, 1);
    const Sum inner_sum = along(last) - along(before);
    const Sum outer_sum = along_wider(farther_last) - along_wider(farther_before);
    const Sum mixed =
        (along_wider(last) - along_wider(before)) + (along(farther_last) - along(farther_before));
    return shared_.values.covered_means(area, inner, outer, inner_sum, outer_sum, mixed);
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

  /// Stores the means. With three channels a warp stores words: of every four lanes the first three store 12
  /// bytes. `whole`: all rows exist.
  __device__ void store(bool whole, std::uint32_t (&means)[share_rows]) {
    if (stores_words_) {
#pragma unroll
      for (std::uint32_t& mean : means)
        mean =
            __byte_perm(mean, __shfl_down_sync(whole_warp, mean, 1), static_cast<unsigned>(byte_selector_));
      if (whole) {
        if (lane_of_four_ < 3) {
          std::byte* to = to_;
#pragma unroll
          for (int k = 0; k < share_rows; ++k) {
            __stcs(reinterpret_cast<std::uint32_t*>(to), means[k]);
            to += arguments_.output_step;
          }
        }
        to_ += share_rows * arguments_.output_step;
        return;
      }
    }
#pragma unroll
    for (int k = 0; k < share_rows; ++k) {
      if (y_ + row_of(k) < shared_.tile.last_y) store_row(to_, means[k]);
      to_ += arguments_.output_step;
    }
  }

  __device__ void store_row(std::byte* to, std::uint32_t means) const {
    if (stores_words_) {
      if (lane_of_four_ < 3) __stcs(reinterpret_cast<std::uint32_t*>(to), means);
    } else if (exists_) {
#pragma unroll
      for (int c = 0; c < channels; ++c) to[c] = static_cast<std::byte>(means >> (8 * c));
    }
  }

  const TiledTableArguments& arguments_;
  const TiledTableJob& job_;
  const TiledTableShared<Values>& shared_;
  const std::byte* ring_;
  int share_;  ///< 0 or 1: even or odd rows of a batch
  int x_;
  bool exists_;
  bool clipped_in_row_;
  bool stores_words_;
  int lane_of_four_;
  int byte_selector_;  ///< permutation that joins the lane's means and those of the next to a word
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
  for (int row = thread; row < rows; row += tile_threads)
    shared.ring[row * Shape::pitch + Shape::origin - 1] = {};
  for (int i = thread; i < Shape::pitch; i += tile_threads) shared.ring[(rows - 1) * Shape::pitch + i] = {};
}

template <class Values>
__global__ void __launch_bounds__(tile_threads, 1)
    average_in_tiles(const __grid_constant__ TiledTableArguments arguments) {
  using Shape = TiledTableShape<Values>;
  extern __shared__ uint4 memory[];
  const TiledTableJob& job = arguments.job;
  const auto thread = static_cast<int>(threadIdx.x);
  const int warp = thread / warp_size;
  const TiledTableShared<Values> shared(memory);
  clear_frame(arguments, shared, thread);
  shared.values.prepare(arguments, thread, tile_threads);
  if (thread < Shape::codes)
    shared.radii[thread] =
        radius_from_map(static_cast<std::uint32_t>(thread), 0xFFU, job.radius.low, job.radius.high);
  if (thread == 0) {
    shared.tile = table_tile(arguments);
    shared.gates.scanned.prepare(batch_rows);
    shared.gates.added.prepare(column_warps);
    shared.gates.gathered.prepare(shared.tile.warps_across * Shape::shares);
  }
  __syncthreads();
  if (warp < row_warps) {
    scan_rows<Values>(arguments, shared, warp);
  } else if (warp < row_warps + column_warps) {
    add_columns<Values>(arguments, shared, thread - row_warps * warp_size);
  } else {
    TableGather<Values>(arguments, shared, warp - row_warps - column_warps).run();
  }
}

/// Calls action(TiledTableShape, kernel) for the job's channels.
template <class Action>
auto with_kernel(const TiledTableJob& job, const Action& action) {
  const auto of_channels = [&]<int Channels>() {
    using Values = LinearBytes<Channels>;
    return action(TiledTableShape<Values>{}, average_in_tiles<Values>);
  };
  if (job.channels == 1) return of_channels.template operator()<1>();
  if (job.channels == 2) return of_channels.template operator()<2>();
  return of_channels.template operator()<3>();
}

int ring_rows_of(const TiledTableJob& job) {
  constexpr int step = TiledTableShape<LinearBytes<1>>::ring_step;
  return (2 * job.reach + 1 + 2 * batch_rows + step - 1) / step * step;
}

}  // namespace

SlidingTiles tiles_of(const TiledTableArguments& arguments, int multiprocessors, std::size_t shared_limit) {
  const TiledTableJob& job = arguments.job;
  return with_kernel(job, [&](auto shape, auto*) {
    using Shape = decltype(shape);
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
        [&](const SlidingTiles&) { return Shape::bytes(ring_rows_of(job)); }, shared_limit);
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
    stepping.ring_rows = ring_rows_of(arguments.job);
    stepping.ring_bytes = static_cast<unsigned>(stepping.ring_rows * Shape::row_bytes);
    const dim3 blocks(static_cast<unsigned>(arguments.tiles.columns),
                      static_cast<unsigned>(arguments.tiles.rows));
    kernel<<<blocks, tile_threads, arguments.tiles.shared_bytes, stream>>>(stepping);
  });
}

}  // namespace satin::kernels
