#pragma once
// One pass of recursive smoothing, forward and backward along one axis. Each value is read once and written
// once.
//
// A block of threads has one row of up to three channels, or as many columns as a memory sector has values,
// one channel after the other. Each thread has a block of 32 pixels in registers
// (recursive/maths/recursive.h). It scans them by itself; a warp passes the carries from block to block along
// the line; and the thread adds their share. This is done forward, then backward. Lines that are longer than
// the threads' blocks are cut into chunks, whose forward results wait in the planes.
//
// Rows go through shared memory, which has quad g of block k at [g][k]. Columns are read directly from
// Squares.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/device/shared_memory.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/pixels/byte_light.cuh"
#include "kernels/pixels/plane.cuh"
#include "kernels/recursive/launch.h"
#include "pixels/maths/real_pixel.h"
#include "recursive/maths/recursive.h"

namespace satin::kernels {

inline constexpr int block_length = recursive_block;

/// The values of one access of 16 bytes.
template <class Real>
using Quad = Vector<Real, 16 / sizeof(Real)>;
template <class Real>
inline constexpr int quads = block_length / Quad<Real>::count;

/// Products of coefficients. Those of floats are scaled so that kept_product()'s bound is the smallest normal
/// float: one multiplication that flushes denormals then does its work. `back` undoes the scale.
template <class Real>
struct Products {
  static constexpr Real one = 1;
  static constexpr Real back = 1;
  static __device__ Real next(Real product, Real coefficient) { return kept_product(product * coefficient); }
};
template <>
struct Products<float> {
  static constexpr float one = 0x1p-66F;
  static constexpr float back = 0x1p66F;
  static __device__ float next(float product, float coefficient) {
    float result;
    asm("mul.rn.ftz.f32 %0, %1, %2;" : "=f"(result) : "f"(product), "f"(coefficient));
    return result;
  }
};
static_assert(smallest_product * Products<float>::one == 0x1p-126);

/// Scans with one coefficient for all pairs.
///
/// The product of a pixel only depends on its position in the block, except in the block where the line's
/// scan starts, which leaves out the first factor. Forward, the difference is 0 there; backward, `backward`
/// in shared memory has the products.
template <class Real>
struct OneCoefficient {
  const PassConstants<Real>& constants;
  const Quad<Real>* backward;

  template <bool is_backward>
  __device__ Real alone(Real (&values)[block_length]) const {
    Real before = values[is_backward ? block_length - 1 : 0];
#pragma unroll
    for (int step = 0; step < block_length; ++step) {
      Real& value = values[is_backward ? block_length - 1 - step : step];
      value = before = follow(value, constants.feedback, before);
    }
    return is_backward ? backward[0].of[0] : constants.products[block_length];
  }

  template <bool is_backward>
  __device__ void add(Real difference, Real (&values)[block_length]) const {
#pragma unroll
    for (int g = 0; g < quads<Real>; ++g) {
      Quad<Real> products;
      if constexpr (is_backward) products = backward[g];
#pragma unroll
      for (int j = 0; j < Quad<Real>::count; ++j) {
        const int i = g * Quad<Real>::count + j;
        values[i] =
            with_carry(values[i], is_backward ? products.of[j] : constants.products[i + 1], difference);
      }
    }
  }
};

/// Scans with a coefficient for every pair, in shared memory: quad g of a block is at own[g * pitch].
template <class Real>
struct OwnCoefficients {
  const Quad<Real>* own;
  int pitch;
  Real behind;  ///< coefficient between the block's last pixel and the next

  /// Calls step(i, coefficient) in the direction of the scan.
  template <bool is_backward, class Step>
  __device__ void for_each(const Step& step) const {
    constexpr int count = Quad<Real>::count;
    Real after = behind;
#pragma unroll
    for (int turn = 0; turn < quads<Real>; ++turn) {
      const int g = is_backward ? quads<Real> - 1 - turn : turn;
      const Quad<Real> here = own[g * pitch];
#pragma unroll
      for (int j = 0; j < count; ++j) {
        const int k = is_backward ? count - 1 - j : j;
        step(g * count + k, is_backward ? after : here.of[k]);
        after = here.of[k];
      }
    }
  }

  template <bool is_backward>
  __device__ Real alone(Real (&values)[block_length]) const {
    Real before = values[is_backward ? block_length - 1 : 0];
    Real product = Products<Real>::one;
    for_each<is_backward>([&](int i, Real coefficient) {
      values[i] = before = follow(values[i], coefficient, before);
      product = Products<Real>::next(product, coefficient);
    });
    return product * Products<Real>::back;
  }

  template <bool is_backward>
  __device__ void add(Real difference, Real (&values)[block_length]) const {
    const Real scaled = difference * Products<Real>::back;
    Real product = Products<Real>::one;
    for_each<is_backward>([&](int i, Real coefficient) {
      product = Products<Real>::next(product, coefficient);
      values[i] = with_carry(values[i], product, scaled);
    });
  }
};

/// Fills a block of `count` values with its last one, at which the backward scan then stays.
template <class Real>
__device__ void repeat_last(int count, Real (&values)[block_length]) {
  if (count >= block_length) return;
#pragma unroll
  for (int i = 1; i < block_length; ++i) values[i] = i < count ? values[i] : values[i - 1];
}

/// Data that the blocks of a line exchange in shared memory to pass carries.
template <class Real, int MostBlocks>
struct BlockEnds {
  static constexpr int pitch = MostBlocks + 4;  ///< spreads columns over the banks
  static constexpr int values = 4 * pitch + 1;

  Real* own;

  /// The last result of block k scanned by itself.
  [[nodiscard]] __device__ Real& alone(int k) const { return own[k]; }
  /// The product of the coefficients of block k.
  [[nodiscard]] __device__ Real& product(int k) const { return own[pitch + k]; }
  /// The first value that the scan meets in block k; for the line's first block, the difference c - r.
  [[nodiscard]] __device__ Real& given(int k) const { return own[2 * pitch + k]; }
  /// The difference c - r of block k, which pass_carries() finds.
  [[nodiscard]] __device__ Real& difference(int k) const { return own[3 * pitch + k]; }
  /// The result before the first block; pass_carries() replaces it by the last block's.
  [[nodiscard]] __device__ Real& carry() const { return own[4 * pitch]; }
};

/// Passes carries through a line of `count` blocks, by all lanes of a warp. `starts`: the first of them is
/// the line's first block.
///
/// Each lane has a few consecutive blocks and starts from a guess of the carry before them: the result of the
/// previous block by itself. Lanes then repeat with the carry that the lane before them found, until none
/// changes. The result is the same as that of one lane for all blocks. The guess is off by a product of
/// coefficients, so a few turns are enough except for very wide kernels.
template <bool backward, class Real, int MostBlocks>
__device__ void pass_carries(const BlockEnds<Real, MostBlocks>& ends, int count, bool starts, int lane) {
  constexpr int lane_blocks = (MostBlocks + warp_size - 1) / warp_size;
  const int first = lane * lane_blocks;
  const int mine = min(lane_blocks, count - first);
  const auto block_at = [&](int i) { return backward ? count - 1 - first - i : first + i; };
  Real before = ends.carry();
  if (lane > 0 && mine > 0) before = ends.alone(block_at(-1));
  Real carry = 0;
  for (int turn = 0; turn < warp_size; ++turn) {
    carry = before;
#pragma unroll
    for (int i = 0; i < lane_blocks; ++i) {
      if (i >= mine) break;
      const int k = block_at(i);
      const Real given = ends.given(k);
      const Real difference = starts && first + i == 0 ? given : carried_difference(carry, given);
      carry = with_carry(ends.alone(k), ends.product(k), difference);
      ends.difference(k) = difference;
    }
    const Real found = __shfl_up_sync(whole_warp, carry, 1);
    const bool changed = lane > 0 && mine > 0 && found != before;
    if (changed) before = found;
    if (!__any_sync(whole_warp, changed)) break;
  }
  if (mine > 0 && first + mine == count) ends.carry() = carry;
}

/// The work of a block of threads.
template <class Real, Axis axis>
struct LineShape {
  static constexpr bool rows = axis == Axis::x;
  static constexpr int lines = rows ? 1 : 32 / static_cast<int>(sizeof(Real));
  static constexpr int most_blocks = rows ? 128 : 72;  ///< rows of 4096 pixels, columns of 2304
  static constexpr int most_channels = rows ? 3 : 1;   ///< side by side
  static constexpr int most_threads = lines * most_blocks * most_channels;
  /// Bounds the registers. H100, UHD RGB u8, floats, rows of bytes: 0.138 ms with 3, 0.178 ms with 2.
  static constexpr int blocks_per_multiprocessor = sizeof(Real) == 4 ? (rows ? 3 : 2) : (rows ? 1 : 2);

  using Ends = BlockEnds<Real, most_blocks>;
};

/// Offsets in the shared memory of a block of threads, in bytes.
struct LineMemory {
  int coefficients = 0;
  int staged = 0;
  int products = 0;
  int decoded = 0;
  int light = 0;
  int ends = 0;
  int bytes = 0;
  int pitch = 0;  ///< distance in quads between the quads of a block
};

/// A pass and how it is divided among blocks of threads.
template <class Real, Axis axis>
struct LineJob {
  using Shape = LineShape<Real, axis>;

  RecursiveScan<Real> scan;
  Squares squares;
  LineMemory memory;
  std::int64_t length;
  int blocks;             ///< blocks of a line
  int blocks_at_once;     ///< blocks of a chunk
  int chunks;             ///< chunks of a line
  int side_by_side;       ///< channels that a block of threads scans at once
  int channels_in_turn;   ///< channels that a block of threads scans with the same coefficients
  unsigned channel_sets;  ///< blocks of threads for all channels of a line

  explicit LineJob(const RecursiveScan<Real>& pass)
      : scan(pass), squares(pass.width, pass.height), length(Shape::rows ? pass.width : pass.height) {
    constexpr int step = warp_size / Shape::lines;
    blocks = static_cast<int>((length + block_length - 1) / block_length);
    blocks_at_once = std::min(Shape::most_blocks, (blocks + step - 1) / step * step);
    chunks = (blocks + blocks_at_once - 1) / blocks_at_once;
    side_by_side = !Shape::rows ? 1 : scan.channels == 4 ? 2 : scan.channels;
    // Channels by blocks of their own (apart), or one after the other? H100, UHD RGB u8, columns to bytes:
    // 0.115 ms apart, 0.138 in turn; with a guide 0.154 apart, 0.185 in turn, but to planes 0.135 apart,
    // 0.123 in turn.
    const bool apart = !scan.guided() || scan.output.data != nullptr;
    channels_in_turn = Shape::rows || apart ? side_by_side : scan.channels;
    channel_sets = static_cast<unsigned>(scan.channels / channels_in_turn);
    lay_out_memory();
  }

  [[nodiscard]] SATIN_HD bool encodes() const {
    return scan.output.data != nullptr && scan.transfer.encode8 != nullptr;
  }

  void lay_out_memory() {
    constexpr int quad_bytes = static_cast<int>(sizeof(Quad<Real>));
    const auto reserve = [&](int size) {
      const int at = memory.bytes;
      memory.bytes += (size + quad_bytes - 1) / quad_bytes * quad_bytes;
      return at;
    };
    memory.pitch = Shape::rows ? blocks_at_once + 1 : blocks_at_once * Shape::lines;
    const int plane = quads<Real> * memory.pitch * quad_bytes;
    memory.coefficients = reserve(scan.guided() ? plane : 0);
    memory.staged = reserve(Shape::rows ? side_by_side * plane : 0);
    memory.products = reserve(scan.guided() ? 0 : 2 * quads<Real> * quad_bytes);
    memory.decoded =
        reserve(scan.source.data != nullptr ? ByteLight::codes * static_cast<int>(sizeof(Real)) : 0);
    memory.light = reserve(encodes() ? ByteLight::bytes : 0);
    const int chains = Shape::rows ? side_by_side : Shape::lines;
    memory.ends = reserve(chains * Shape::Ends::values * static_cast<int>(sizeof(Real)));
  }
};

/// Scans lines in registers: the work of one thread. See the head of this file.
template <class Real, Axis axis, bool guided>
class Lines {
  using Shape = LineShape<Real, axis>;
  using Job = LineJob<Real, axis>;
  static constexpr bool rows = Shape::rows;
  static constexpr int quad_values = Quad<Real>::count;
  static constexpr bool bytes = sizeof(Real) == 4;
  static constexpr bool reads_bytes = bytes && rows;    ///< where there is a source
  static constexpr bool writes_bytes = bytes && !rows;  ///< where there is an output

 public:
  __device__ Lines(const Job& job, unsigned char* memory) : job_(job), scan_(job.scan), memory_(memory) {
    if constexpr (reads_bytes)
      if (scan_.source.data != nullptr) fill_decoded();
    if constexpr (writes_bytes)
      if (job_.encodes()) light().fill(scan_.transfer, thread(), threads());
    if constexpr (!guided) fill_products();
    __syncthreads();
  }

  /// Scans one channel of tile `tile`, which is a row or LineShape::lines columns.
  __device__ void scan_channel(unsigned tile, int channel) {
    tile_ = tile;
    channel_ = channel;
    Real values[block_length];
    Real last = 0;
    if (block() == 0) ends(chain()).carry() = 0;
    for (int s = 0; s < job_.chunks; ++s) {
      begin(s);
      read(values);
      repeat_last(positions(), values);
      last = values[block_length - 1];
      scan<false>(values, first_block() + block() == 0 ? Real{0} : values[0], s == 0);
      if (s + 1 < job_.chunks) write_plane(values);
    }
    if (block() == 0) ends(chain()).carry() = 0;
    for (int s = job_.chunks - 1; s >= 0; --s) {
      if (s + 1 < job_.chunks) {
        begin(s);
        read_plane(values);
      }
      repeat_last(positions(), values);
      const Real end = values[block_length - 1];
      scan<true>(values, ends_line() ? end_difference(last, end, scan_.constants.end_share) : end,
                 s + 1 == job_.chunks);
      write(values);
    }
  }

 private:
  // The block and the line of this thread.

  [[nodiscard]] static __device__ int thread() { return threadIdx.y * blockDim.x + threadIdx.x; }
  [[nodiscard]] static __device__ int threads() { return blockDim.x * blockDim.y; }
  [[nodiscard]] static __device__ int block() { return rows ? threadIdx.x : threadIdx.y; }
  [[nodiscard]] static __device__ int chain() { return rows ? threadIdx.y : threadIdx.x; }
  [[nodiscard]] static __device__ int chains() { return rows ? blockDim.y : Shape::lines; }
  /// Returns the row or the column, which may be beyond the picture but within its square.
  [[nodiscard]] __device__ std::int64_t line() const {
    return rows ? tile_ : static_cast<std::int64_t>(tile_) * Shape::lines + threadIdx.x;
  }

  [[nodiscard]] __device__ int first_block() const { return chunk_ * job_.blocks_at_once; }
  [[nodiscard]] __device__ std::int64_t first() const {
    return static_cast<std::int64_t>(first_block()) * block_length;
  }
  [[nodiscard]] __device__ int count() const { return min(job_.blocks_at_once, job_.blocks - first_block()); }
  [[nodiscard]] __device__ bool exists() const { return block() < count(); }
  [[nodiscard]] __device__ bool ends_line() const { return first_block() + block() + 1 == job_.blocks; }
  /// Returns the number of pixels in the thread's block.
  [[nodiscard]] __device__ int positions() const {
    const std::int64_t left = job_.length - first() - block() * block_length;
    return left < 0 ? 0 : left < block_length ? static_cast<int>(left) : block_length;
  }
  /// Returns the number of pixels of a line in this chunk.
  [[nodiscard]] __device__ int positions_in_chunk() const {
    return static_cast<int>(min(job_.length - first(), static_cast<std::int64_t>(count()) * block_length));
  }

  // Shared memory.

  template <class T>
  [[nodiscard]] __device__ T* shared(int offset) const {
    return reinterpret_cast<T*>(memory_ + offset);
  }
  [[nodiscard]] __device__ ByteLight light() const { return ByteLight(memory_ + job_.memory.light); }
  [[nodiscard]] __device__ Quad<Real>* filled() const { return shared<Quad<Real>>(job_.memory.coefficients); }
  [[nodiscard]] __device__ Quad<Real>* staged() const {
    return shared<Quad<Real>>(job_.memory.staged) + threadIdx.y * quads<Real> * job_.memory.pitch;
  }
  /// Returns the index of quad 0 of the thread's block.
  [[nodiscard]] static __device__ int own_index() { return rows ? block() : thread(); }
  /// Returns the index in shared memory of the quad at position x of a row.
  [[nodiscard]] __device__ unsigned quad_index(unsigned x) const {
    return x % block_length / quad_values * job_.memory.pitch + x / block_length;
  }
  /// Returns the offset in the squares of position x of a row.
  [[nodiscard]] static __device__ unsigned in_row(unsigned x) {
    return x / Squares::columns * Squares::values + x % Squares::columns;
  }
  [[nodiscard]] __device__ typename Shape::Ends ends(int chain) const {
    return {shared<Real>(job_.memory.ends) + chain * Shape::Ends::values};
  }

  /// Fills in OneCoefficient::backward: for a block inside the line, then for the line's last block.
  __device__ void fill_products() const {
    Real* products = shared<Real>(job_.memory.products);
    const auto count = static_cast<int>(job_.length - (job_.length - 1) / block_length * block_length);
    for (int i = thread(); i < 2 * block_length; i += threads()) {
      const int position = i % block_length;
      const int factors = i < block_length ? block_length - position : max(count - 1 - position, 0);
      products[i] = scan_.constants.products[factors];
    }
  }

  __device__ void fill_decoded() const {
    Real* decoded = shared<Real>(job_.memory.decoded);
    for (int i = thread(); i < ByteLight::codes; i += threads())
      decoded[i] = static_cast<Real>(decode(i, scan_.transfer));
  }

  // Chunks and their coefficients.

  __device__ void begin(int chunk) {
    if (chunk == chunk_) return;
    if (chunk_ >= 0) __syncthreads();
    chunk_ = chunk;
    if constexpr (guided) {
      rows ? fill_row() : fill_block();
      __syncthreads();
    }
  }

  [[nodiscard]] __device__ Real coefficient(float distance) const {
    return decay(scan_.constants.rate * static_cast<Real>(distance));
  }

  __device__ void fill_row() const {
    const float* row = scan_.distances + job_.squares.at(first(), line());
    const unsigned end = count() * block_length;
    for (unsigned x = thread() * quad_values; x < end; x += threads() * quad_values) {
      const auto here = *reinterpret_cast<const Vector<float, quad_values>*>(row + in_row(x));
      Quad<Real> quad;
#pragma unroll
      for (int j = 0; j < quad_values; ++j) quad.of[j] = coefficient(here.of[j]);
      filled()[quad_index(x)] = quad;
    }
  }

  __device__ void fill_block() const {
    if (!exists()) return;
    const float* column = scan_.distances + column_index();
#pragma unroll
    for (int g = 0; g < quads<Real>; ++g) {
      Quad<Real> quad;
#pragma unroll
      for (int j = 0; j < quad_values; ++j)
        quad.of[j] = coefficient(column[(g * quad_values + j) * Squares::columns]);
      filled()[g * job_.memory.pitch + own_index()] = quad;
    }
  }

  /// Returns the coefficient behind the thread's block. Behind the line's end it is 1, like that of couplings
  /// beyond the picture: the backward scan then stays at the last pixel, and its products at 1.
  [[nodiscard]] __device__ Real coefficient_behind() const {
    if (block() + 1 < count()) return filled()[own_index() + (rows ? 1 : Shape::lines)].of[0];
    if (!exists() || ends_line()) return 1;
    const std::int64_t position = first() + (block() + 1) * block_length;
    return coefficient(
        scan_.distances[rows ? job_.squares.at(position, line()) : job_.squares.at(line(), position)]);
  }

  template <bool backward>
  [[nodiscard]] __device__ auto coefficients() const {
    if constexpr (guided) {
      return OwnCoefficients<Real>{filled() + own_index(), job_.memory.pitch,
                                   backward ? coefficient_behind() : Real{1}};
    } else {
      return OneCoefficient<Real>{scan_.constants,
                                  shared<Quad<Real>>(job_.memory.products) + (ends_line() ? quads<Real> : 0)};
    }
  }

  // The scan.

  /// Scans this chunk. `given` is the first value of the scan in the thread's block, or the difference c - r
  /// for the line's first block. `starts`: the chunk is the first of the line.
  template <bool backward>
  __device__ void scan(Real (&values)[block_length], Real given, bool starts) const {
    const auto own = coefficients<backward>();
    const Real product = own.template alone<backward>(values);
    const auto mine = ends(chain());
    mine.alone(block()) = values[backward ? 0 : block_length - 1];
    mine.product(block()) = product;
    mine.given(block()) = given;
    __syncthreads();
    for (int c = thread() / warp_size; c < chains(); c += threads() / warp_size)
      pass_carries<backward>(ends(c), count(), starts, thread() % warp_size);
    __syncthreads();
    own.template add<backward>(mine.difference(block()), values);
  }

  // Values to registers and back.

  [[nodiscard]] __device__ Real* plane() const { return scan_.planes + channel_ * job_.squares.size(); }
  [[nodiscard]] __device__ std::int64_t column_index() const {
    return job_.squares.at(line(), first() + block() * block_length);
  }

  __device__ void to_registers(Real (&values)[block_length]) const {
    __syncthreads();
#pragma unroll
    for (int g = 0; g < quads<Real>; ++g) {
      const Quad<Real> quad = staged()[g * job_.memory.pitch + block()];
#pragma unroll
      for (int j = 0; j < quad_values; ++j) values[g * quad_values + j] = quad.of[j];
    }
  }
  __device__ void from_registers(const Real (&values)[block_length]) const {
#pragma unroll
    for (int g = 0; g < quads<Real>; ++g) {
      Quad<Real> quad;
#pragma unroll
      for (int j = 0; j < quad_values; ++j) quad.of[j] = values[g * quad_values + j];
      staged()[g * job_.memory.pitch + block()] = quad;
    }
    __syncthreads();
  }

  // Threads move the quads of a row in turns: in turn t each moves quad threadIdx.x + t * blockDim.x. There
  // are as many turns as a block has quads. A row has a multiple of 32 blocks, so addresses grow by a
  // constant from turn to turn.
  [[nodiscard]] static __device__ unsigned first_position() { return threadIdx.x * quad_values; }
  [[nodiscard]] static __device__ unsigned turn_positions() { return blockDim.x * quad_values; }
  /// Returns the number of turns in which the thread's quad exists.
  [[nodiscard]] __device__ int whole_turns() const {
    const int left = positions_in_chunk() - static_cast<int>(first_position());
    const auto turn = static_cast<int>(turn_positions());
    return left <= 0 ? 0 : (left + turn - 1) / turn;
  }
  [[nodiscard]] __device__ Real* row_in_plane() const {
    return plane() + job_.squares.at(first(), line()) + in_row(first_position());
  }

  __device__ void stage_plane() const {
    const Real* from = row_in_plane();
    const unsigned step = in_row(turn_positions());
    const int turns = whole_turns();
    Quad<Real>* to = staged() + quad_index(first_position());
    const unsigned to_step = quad_index(turn_positions());
    constexpr int batch = 4;
    for (int first = 0; first < quads<Real>; first += batch) {
      Quad<Real> read[batch];
#pragma unroll
      for (int t = 0; t < batch; ++t, from += step)
        read[t] = first + t < turns ? *reinterpret_cast<const Quad<Real>*>(from) : Quad<Real>{};
#pragma unroll
      for (int t = 0; t < batch; ++t, to += to_step) *to = read[t];
    }
  }

  __device__ void unstage_plane() const {
    Real* to = row_in_plane();
    const unsigned step = in_row(turn_positions());
    const int turns = whole_turns();
    const Quad<Real>* from = staged() + quad_index(first_position());
    const unsigned from_step = quad_index(turn_positions());
#pragma unroll
    for (int t = 0; t < quads<Real>; ++t, to += step, from += from_step)
      if (t < turns) *reinterpret_cast<Quad<Real>*>(to) = *from;
  }

  __device__ void read_plane(Real (&values)[block_length]) const {
    if constexpr (rows) {
      stage_plane();
      to_registers(values);
    } else {
      const Real* column = plane() + column_index();
#pragma unroll
      for (int i = 0; i < block_length; ++i) values[i] = exists() ? column[i * Squares::columns] : 0;
    }
  }

  __device__ void write_plane(const Real (&values)[block_length]) const {
    if constexpr (rows) {
      from_registers(values);
      unstage_plane();
      if (job_.chunks > 1) __syncthreads();
    } else {
      if (!exists()) return;
      Real* column = plane() + column_index();
#pragma unroll
      for (int i = 0; i < block_length; ++i) column[i * Squares::columns] = values[i];
    }
  }

  __device__ void read(Real (&values)[block_length]) const {
    if constexpr (reads_bytes) {
      if (scan_.source.data != nullptr) {
        scan_.weighted&& channel_ + 1 < scan_.channels ? stage_bytes<true>() : stage_bytes<false>();
        return to_registers(values);
      }
    }
    read_plane(values);
  }

  /// Stages bytes as read_real() reads them: pixel threadIdx.x + t * blockDim.x in turn t. Alpha is not
  /// decoded.
  template <bool times_alpha>
  __device__ void stage_bytes() const {
    constexpr int batch = 8;
    const bool raw = scan_.weighted && !times_alpha;
    const Real* decoded = shared<Real>(job_.memory.decoded);
    const unsigned end = positions_in_chunk();
    const std::uint8_t* pixel =
        row_of<std::uint8_t>(scan_.source, line()) + (first() + threadIdx.x) * scan_.channels;
    const int to_alpha = scan_.channels - 1 - channel_;
    Real* to = &staged()[quad_index(threadIdx.x)].of[threadIdx.x % quad_values];
    pixel += channel_;
#pragma unroll 1
    for (unsigned x = threadIdx.x; x < end; x += batch * blockDim.x) {
      std::uint8_t codes[batch];
      std::uint8_t alphas[batch];
#pragma unroll
      for (int t = 0; t < batch; ++t) {
        const bool exists = x + t * blockDim.x < end;
        codes[t] = exists ? pixel[0] : 0;
        if constexpr (times_alpha) alphas[t] = exists ? pixel[to_alpha] : 0;
        pixel += blockDim.x * scan_.channels;
      }
#pragma unroll
      for (int t = 0; t < batch; ++t) {
        Real value = raw ? static_cast<Real>(codes[t]) : decoded[codes[t]];
        if constexpr (times_alpha) value *= static_cast<Real>(alphas[t]);
        *to = value;
        to += quad_index(blockDim.x) * quad_values;
      }
    }
  }

  __device__ void write(const Real (&values)[block_length]) const {
    if constexpr (writes_bytes) {
      if (job_.encodes())
        return write_bytes(
            values, [table = light()](Real value) { return table.encoded(nearest_integer(value, 0xFFFF)); });
      if (scan_.output.data != nullptr)
        return write_bytes(values, [](Real value) { return nearest_integer(value, 0xFF); });
    }
    write_plane(values);
  }

  template <class Code>
  __device__ void write_bytes(const Real (&values)[block_length], const Code& code) const {
    if (line() >= scan_.width) return;
    const int left = positions();
    auto* out = row_of<std::uint8_t>(scan_.output, first() + block() * block_length) +
                line() * scan_.channels + channel_;
#pragma unroll
    for (int i = 0; i < block_length; ++i, out += scan_.output.row)
      if (i < left) *out = static_cast<std::uint8_t>(code(values[i]));
  }

  const Job& job_;
  const RecursiveScan<Real>& scan_;
  unsigned char* memory_;
  unsigned tile_ = 0;
  int channel_ = 0;
  int chunk_ = -1;
};

template <class Real, Axis axis, bool guided>
__global__ void __launch_bounds__(LineShape<Real, axis>::most_threads,
                                  LineShape<Real, axis>::blocks_per_multiprocessor)
    scan_lines(const __grid_constant__ LineJob<Real, axis> job) {
  extern __shared__ __align__(16) unsigned char memory[];
  Lines<Real, axis, guided> lines(job, memory);
  const unsigned tile = blockIdx.x / job.channel_sets;
  const int first = static_cast<int>(blockIdx.x % job.channel_sets) * job.channels_in_turn;
  if constexpr (axis == Axis::x) {
    lines.scan_channel(tile, first + static_cast<int>(threadIdx.y));
  } else {
    for (int i = 0; i < job.channels_in_turn; ++i) lines.scan_channel(tile, first + i);
  }
}

template <class Real, Axis axis, bool guided>
void launch_lines(const LineJob<Real, axis>& job, StreamHandle stream) {
  using Shape = LineShape<Real, axis>;
  const std::int64_t lines = Shape::rows ? job.scan.height : job.scan.width;
  const auto tiles = static_cast<unsigned>((lines + Shape::lines - 1) / Shape::lines);
  const dim3 threads =
      Shape::rows ? dim3(job.blocks_at_once, job.side_by_side) : dim3(Shape::lines, job.blocks_at_once);
  scan_lines<Real, axis, guided><<<tiles * job.channel_sets, threads, job.memory.bytes, stream>>>(job);
}

/// Calls use(axis, guided) with the constants of a pass.
template <class Real, class Use>
auto with_pass(const RecursiveScan<Real>& scan, const Use& use) {
  using X = std::integral_constant<Axis, Axis::x>;
  using Y = std::integral_constant<Axis, Axis::y>;
  if (scan.axis == Axis::x) return scan.guided() ? use(X{}, std::true_type{}) : use(X{}, std::false_type{});
  return scan.guided() ? use(Y{}, std::true_type{}) : use(Y{}, std::false_type{});
}

template <class Real>
int prepare_lines(const RecursiveScan<Real>& scan) {
  return with_pass(scan, [](auto axis, auto guided) {
    return allow_all_shared_memory(scan_lines<Real, decltype(axis)::value, decltype(guided)::value>);
  });
}

template <class Real>
void scan_along_axis(const RecursiveScan<Real>& scan, StreamHandle stream) {
  with_pass(scan, [&](auto axis, auto guided) {
    constexpr Axis along = decltype(axis)::value;
    launch_lines<Real, along, decltype(guided)::value>(LineJob<Real, along>(scan), stream);
  });
}

}  // namespace satin::kernels
