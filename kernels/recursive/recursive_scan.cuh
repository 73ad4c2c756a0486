#pragma once
// One pass of recursive smoothing, forward and backward along one axis (recursive/maths/recursive.h).
//
// A block of threads has whole lines: one row of up to three channels, or as many columns of one channel
// after the other as a sector has values. A thread has a block of 32 pixels in registers. It scans them by
// itself, a warp takes the carries from block to block of a line, and the thread adds what these leave:
// forward, then backward. So a value is read once and written once. Longer lines are cut into segments, whose
// forward results wait in the planes.
//
// Rows come and go through shared memory, which has quad g of block k at [g][k]; columns are read as they lie
// in squares (kernels/recursive/squares.cuh).

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/device/shared_memory.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/pixels/byte_light.cuh"
#include "kernels/pixels/plane.cuh"
#include "kernels/recursive/launch.h"
#include "kernels/recursive/recursive_block.cuh"
#include "kernels/recursive/recursive_carries.cuh"
#include "kernels/recursive/squares.cuh"
#include "pixels/maths/real_pixel.h"

namespace satin::kernels {

/// What a block of threads takes.
template <class Real, Axis axis>
struct LineShape {
  static constexpr bool rows = axis == Axis::x;
  static constexpr int lines = rows ? 1 : 32 / static_cast<int>(sizeof(Real));
  static constexpr int most_blocks = rows ? 128 : 72;
  static constexpr int lane_blocks = (most_blocks + warp_size - 1) / warp_size;
  static constexpr int most_channels = rows ? 3 : 1;  ///< side by side
  static constexpr int most_threads = lines * most_blocks * most_channels;
  static constexpr int groups = sizeof(Real) == 4 ? (rows ? 3 : 2) : (rows ? 1 : 2);  ///< of a multiprocessor
  static constexpr int ends_pitch = most_blocks + 4;  ///< spreads columns over the banks
};

/// Where things lie in the shared memory of a block of threads.
struct LineMemory {
  int coefficients = 0;
  int staged = 0;
  int products = 0;
  int ends = 0;
  int light = 0;
  int bytes = 0;
  int pitch = 0;  ///< from quad to quad of a block

  template <class Real, Axis axis>
  static SATIN_HD LineMemory of(bool guided, bool encodes, int blocks, int side_by_side) {
    using Shape = LineShape<Real, axis>;
    constexpr int quad_bytes = static_cast<int>(sizeof(Quad<Real>));
    LineMemory memory;
    memory.pitch = Shape::rows ? blocks + 1 : blocks * Shape::lines;
    const int plane = quads<Real> * memory.pitch * quad_bytes;
    memory.staged = guided ? plane : 0;
    memory.products = memory.staged + (Shape::rows ? side_by_side * plane : 0);
    memory.light = memory.products + 2 * quads<Real> * quad_bytes;
    memory.ends = memory.light + (encodes ? ByteLight::bytes : 0);
    const int chains = Shape::rows ? side_by_side : Shape::lines;
    memory.bytes = memory.ends + chains * (3 * Shape::ends_pitch + 1) * static_cast<int>(sizeof(Real));
    return memory;
  }
};

template <class Real, Axis axis, bool guided>
class Lines {
  using Shape = LineShape<Real, axis>;
  static constexpr bool rows = Shape::rows;
  static constexpr int quad_values = Quad<Real>::count;
  static constexpr bool bytes = sizeof(Real) == 4;  ///< whether stored pixels can be read and written

 public:
  __device__ Lines(const RecursiveScan<Real>& scan, unsigned char* memory)
      : scan_(scan),
        squares_(scan.width, scan.height),
        places_(LineMemory::of<Real, axis>(guided, encodes(scan), blocks_at_once(), rows ? blockDim.y : 1)),
        memory_(memory) {
    if constexpr (bytes)
      if (encodes(scan)) light().fill(scan.transfer, thread(), threads());
    if constexpr (!guided) fill_products();
  }

  __device__ void scan_channel(int channel) {
    channel_ = channel;
    Real values[block_length];
    Real last = 0;
    if (chain_start()) *ends(chain()).carry = 0;
    const int segments = (blocks_in_line() + blocks_at_once() - 1) / blocks_at_once();
    for (int s = 0; s < segments; ++s) {
      begin(s);
      scan_.source.data != nullptr&& bytes ? read_stored(values) : read_plane(values);
      repeat_last(positions_, values);
      last = values[block_length - 1];
      scan<false>(values, first_block() == 0 && block() == 0 ? Real{0} : values[0], s == 0);
      if (s + 1 < segments) write_plane(values);
    }
    if (chain_start()) *ends(chain()).carry = 0;
    for (int s = segments - 1; s >= 0; --s) {
      if (s + 1 < segments) {
        begin(s);
        read_plane(values);
      }
      repeat_last(positions_, values);
      const Real end = values[block_length - 1];
      scan<true>(values, ends_line() ? end_difference(last, end, scan_.constants.end_share) : end,
                 s + 1 == segments);
      scan_.output.data != nullptr&& bytes ? write_stored(values) : write_plane(values);
    }
  }

 private:
  [[nodiscard]] static __device__ bool encodes(const RecursiveScan<Real>& scan) {
    return bytes && scan.output.data != nullptr && scan.transfer.encode8 != nullptr;
  }

  // --- Who a thread is ---

  [[nodiscard]] __device__ int thread() const { return threadIdx.y * blockDim.x + threadIdx.x; }
  [[nodiscard]] __device__ int threads() const { return blockDim.x * blockDim.y; }
  [[nodiscard]] __device__ int blocks_at_once() const { return rows ? blockDim.x : blockDim.y; }
  [[nodiscard]] __device__ int block() const { return rows ? threadIdx.x : threadIdx.y; }
  [[nodiscard]] __device__ int chain() const { return rows ? threadIdx.y : threadIdx.x; }
  [[nodiscard]] __device__ int chains() const { return rows ? blockDim.y : Shape::lines; }
  [[nodiscard]] __device__ bool chain_start() const { return block() == 0; }
  [[nodiscard]] __device__ std::int64_t length() const { return rows ? scan_.width : scan_.height; }
  [[nodiscard]] __device__ int blocks_in_line() const {
    return static_cast<int>((length() + block_length - 1) / block_length);
  }
  /// Row, or column, which may lie beyond the picture within its square.
  [[nodiscard]] __device__ std::int64_t line() const {
    return rows ? blockIdx.x : static_cast<std::int64_t>(blockIdx.x) * Shape::lines + threadIdx.x;
  }
  [[nodiscard]] __device__ int first_block() const { return segment_ * blocks_at_once(); }
  [[nodiscard]] __device__ std::int64_t first() const {
    return static_cast<std::int64_t>(first_block()) * block_length;
  }
  /// Blocks of this segment.
  [[nodiscard]] __device__ int count() const {
    return min(blocks_at_once(), blocks_in_line() - first_block());
  }
  [[nodiscard]] __device__ bool ends_line() const { return first_block() + block() + 1 == blocks_in_line(); }

  // --- Shared memory ---

  template <class T>
  [[nodiscard]] __device__ T* shared(int place) const {
    return reinterpret_cast<T*>(memory_ + place);
  }
  [[nodiscard]] __device__ ByteLight light() const { return ByteLight(memory_ + places_.light); }
  [[nodiscard]] __device__ Quad<Real>* staged(int side = 0) const {
    return shared<Quad<Real>>(places_.staged) + (rows ? threadIdx.y * quads<Real> * places_.pitch : side);
  }
  [[nodiscard]] __device__ int own_place() const { return rows ? block() : thread(); }
  [[nodiscard]] __device__ BlockEnds<Real> ends(int chain) const {
    constexpr int pitch = Shape::ends_pitch;
    Real* own = shared<Real>(places_.ends) + chain * (3 * pitch + 1);
    return {own, own + pitch, own + 2 * pitch, own + 3 * pitch};
  }

  /// Products of one coefficient backward: of a block, and of the line's last one.
  __device__ void fill_products() const {
    Real* products = shared<Real>(places_.products);
    const auto count = static_cast<int>(length() - (length() - 1) / block_length * block_length);
    for (int i = thread(); i < 2 * block_length; i += threads()) {
      const int position = i % block_length;
      products[i] =
          scan_.constants.products[i < block_length ? block_length - position : max(count - 1 - position, 0)];
    }
    __syncthreads();
  }

  // --- Segments and their coefficients ---

  __device__ void begin(int segment) {
    if (segment == segment_) return;
    if (segment_ >= 0) __syncthreads();
    segment_ = segment;
    const std::int64_t left = length() - first() - static_cast<std::int64_t>(block()) * block_length;
    positions_ = static_cast<int>(left < 0 ? 0 : left < block_length ? left : block_length);
    if constexpr (guided) {
      rows ? fill_row_coefficients() : fill_own_coefficients();
      if (rows) __syncthreads();
      behind_ = 1;
      if (block() + 1 < count())
        behind_is_shared_ = true;
      else {
        behind_is_shared_ = false;
        if (!ends_line() && block() < count())
          behind_ = coefficient_at(first() + (block() + 1) * block_length);
      }
    }
  }

  /// Behind the line's end coefficients are 1: there the scan backward stays at the last pixel, and its
  /// products at 1.
  [[nodiscard]] __device__ Real coefficient(float distance) const {
    return decay(scan_.constants.rate * static_cast<Real>(distance));
  }
  [[nodiscard]] __device__ Real coefficient_at(std::int64_t position) const {
    return coefficient(scan_.distances[rows ? squares_.at(position, line()) : squares_.at(line(), position)]);
  }

  __device__ void fill_row_coefficients() const {
    constexpr int step = 4;  // of 16 bytes of distances
    auto* quads_of = shared<Quad<Real>>(places_.coefficients);
    const float* row = scan_.distances + squares_.at(first(), line());
    const auto left = static_cast<int>(min(length() - first(), std::int64_t{count()} * block_length));
    for (int x = thread() * step; x < count() * block_length; x += threads() * step) {
      const auto distances = x < left
                                 ? *reinterpret_cast<const Vector<float, step>*>(
                                       row + x / Squares::columns * Squares::values + x % Squares::columns)
                                 : Vector<float, step>{};
#pragma unroll
      for (int q = 0; q < step / quad_values; ++q) {
        Quad<Real> quad;
#pragma unroll
        for (int j = 0; j < quad_values; ++j) {
          const int i = q * quad_values + j;
          quad.of[j] = x + i < left ? coefficient(distances.of[i]) : Real{1};
        }
        quads_of[(x % block_length / quad_values + q) * places_.pitch + x / block_length] = quad;
      }
    }
  }

  __device__ void fill_own_coefficients() const {
    auto* quads_of = shared<Quad<Real>>(places_.coefficients) + own_place();
    const float* column = scan_.distances + column_place();
#pragma unroll
    for (int g = 0; g < quads<Real>; ++g) {
      Quad<Real> quad;
#pragma unroll
      for (int j = 0; j < quad_values; ++j) {
        const int i = g * quad_values + j;
        quad.of[j] = i < positions_ ? coefficient(column[i * Squares::columns]) : Real{1};
      }
      quads_of[g * places_.pitch] = quad;
    }
  }

  [[nodiscard]] __device__ auto coefficients() const {
    if constexpr (guided) {
      const auto* own = shared<Quad<Real>>(places_.coefficients) + own_place();
      return OwnCoefficients<Real>{own, places_.pitch,
                                   behind_is_shared_ ? own[rows ? 1 : Shape::lines].of[0] : behind_};
    } else {
      return OneCoefficient<Real>{scan_.constants,
                                  shared<Quad<Real>>(places_.products) + (ends_line() ? quads<Real> : 0)};
    }
  }

  // --- The scan ---

  /// `given`: the first value that the scan meets, or the difference before the line's first block (`starts`:
  /// of this segment).
  template <bool backward>
  __device__ void scan(Real (&values)[block_length], Real given, bool starts) const {
    const auto own = coefficients();
    const Real product = own.template alone<backward>(values);
    const BlockEnds<Real> mine = ends(chain());
    mine.alone[block()] = values[backward ? 0 : block_length - 1];
    mine.products[block()] = product;
    mine.differences[block()] = given;
    __syncthreads();
    for (int c = thread() / warp_size; c < chains(); c += threads() / warp_size)
      pass_carries<backward, Shape::lane_blocks>(ends(c), count(), starts);
    __syncthreads();
    own.template add<backward>(mine.differences[block()], values);
  }

  // --- Values to registers and back ---

  [[nodiscard]] __device__ Real* plane() const { return scan_.planes + channel_ * squares_.size(); }
  [[nodiscard]] __device__ std::int64_t column_place() const {
    return squares_.at(line(), first() + block() * block_length);
  }
  /// Positions of this segment that exist.
  [[nodiscard]] __device__ int positions_in_segment() const {
    return static_cast<int>(min(length() - first(), static_cast<std::int64_t>(count()) * block_length));
  }

  __device__ void to_registers(Real (&values)[block_length]) const {
    __syncthreads();
#pragma unroll
    for (int g = 0; g < quads<Real>; ++g) {
      const Quad<Real> quad = staged()[g * places_.pitch + block()];
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
      staged()[g * places_.pitch + block()] = quad;
    }
    __syncthreads();
  }

  /// Calls move(quad in the plane, quad in shared memory) for the row's values of this segment.
  template <class Move>
  __device__ void for_each_quad(const Move& move) const {
    Real* row = plane() + squares_.at(first(), line());
    const int end = positions_in_segment();
#pragma unroll 8
    for (int x = threadIdx.x * quad_values; x < end; x += blockDim.x * quad_values)
      move(
          *reinterpret_cast<Quad<Real>*>(row + x / Squares::columns * Squares::values + x % Squares::columns),
          staged()[x % block_length / quad_values * places_.pitch + x / block_length]);
  }
  [[nodiscard]] __device__ Real& staged_value(int x) const {
    return staged()[x % block_length / quad_values * places_.pitch + x / block_length].of[x % quad_values];
  }

  __device__ void read_plane(Real (&values)[block_length]) const {
    if constexpr (rows) {
      for_each_quad([](const Quad<Real>& stored, Quad<Real>& here) { here = stored; });
      return to_registers(values);
    }
    if (positions_ == 0) return clear(values);
    const Real* column = plane() + column_place();
#pragma unroll
    for (int i = 0; i < block_length; ++i) values[i] = column[i * Squares::columns];
  }

  __device__ void write_plane(const Real (&values)[block_length]) const {
    if constexpr (rows) {
      from_registers(values);
      for_each_quad([](Quad<Real>& stored, const Quad<Real>& here) { stored = here; });
      __syncthreads();
      return;
    }
    if (positions_ == 0) return;
    Real* column = plane() + column_place();
#pragma unroll
    for (int i = 0; i < block_length; ++i) column[i * Squares::columns] = values[i];
  }

  static __device__ void clear(Real (&values)[block_length]) {
#pragma unroll
    for (Real& value : values) value = 0;
  }

  [[nodiscard]] __device__ Real stored_value(std::int64_t x, std::int64_t y) const {
    const auto* pixel = row_of<std::uint8_t>(scan_.source, y) + x * scan_.channels;
    return static_cast<Real>(read_real(pixel, channel_, scan_.channels, scan_.weighted, scan_.transfer));
  }

  __device__ void read_stored(Real (&values)[block_length]) const {
    if constexpr (rows) {
#pragma unroll 8
      for (int x = threadIdx.x; x < positions_in_segment(); x += blockDim.x)
        staged_value(x) = stored_value(first() + x, line());
      return to_registers(values);
    }
    if (positions_ == 0) return clear(values);
    const std::int64_t x = min(line(), scan_.width - 1);
    const std::int64_t y = first() + block() * block_length;
#pragma unroll
    for (int i = 0; i < block_length; ++i) values[i] = stored_value(x, min(y + i, scan_.height - 1));
  }

  [[nodiscard]] __device__ std::uint8_t code_of(Real value) const {
    if (scan_.transfer.encode8 == nullptr) return static_cast<std::uint8_t>(nearest_integer(value, 0xFF));
    return static_cast<std::uint8_t>(light().encoded(nearest_integer(value, 0xFFFF)));
  }

  __device__ void write_stored(const Real (&values)[block_length]) const {
    if constexpr (rows) {
      from_registers(values);
      auto* out = row_of<std::uint8_t>(scan_.output, line()) + first() * scan_.channels + channel_;
      for (int x = threadIdx.x; x < positions_in_segment(); x += blockDim.x)
        out[x * scan_.channels] = code_of(staged_value(x));
      __syncthreads();
      return;
    }
    if (line() >= scan_.width) return;
    const std::int64_t y = first() + block() * block_length;
    auto* out = row_of<std::uint8_t>(scan_.output, y) + line() * scan_.channels + channel_;
#pragma unroll
    for (int i = 0; i < block_length; ++i, out += scan_.output.row)
      if (i < positions_) *out = code_of(values[i]);
  }

  const RecursiveScan<Real>& scan_;
  Squares squares_;
  LineMemory places_;
  unsigned char* memory_;
  int channel_ = 0;
  int segment_ = -1;
  int positions_ = 0;  ///< of the thread's block that exist
  bool behind_is_shared_ = false;
  Real behind_ = 1;  ///< the coefficient behind the block
};

template <class Real, Axis axis, bool guided>
__global__ void __launch_bounds__(LineShape<Real, axis>::most_threads, LineShape<Real, axis>::groups)
    scan_lines(const __grid_constant__ RecursiveScan<Real> scan) {
  extern __shared__ __align__(16) unsigned char memory[];
  Lines<Real, axis, guided> lines(scan, memory);
  if constexpr (axis == Axis::x) {
    lines.scan_channel(static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y));
  } else {
    for (int channel = 0; channel < scan.channels; ++channel) lines.scan_channel(channel);
  }
}

template <class Real, Axis axis, bool guided>
void launch_lines(const RecursiveScan<Real>& scan, StreamHandle stream) {
  using Shape = LineShape<Real, axis>;
  constexpr int step = warp_size / Shape::lines;
  const std::int64_t length = Shape::rows ? scan.width : scan.height;
  const std::int64_t wanted = (length + block_length - 1) / block_length;
  const int blocks =
      static_cast<int>(std::min<std::int64_t>(Shape::most_blocks, (wanted + step - 1) / step * step));
  const int side_by_side = !Shape::rows ? 1 : scan.channels == 4 ? 2 : scan.channels;
  const bool encodes = scan.output.data != nullptr && scan.transfer.encode8 != nullptr;
  const LineMemory memory = LineMemory::of<Real, axis>(guided, encodes, blocks, side_by_side);
  const auto lines =
      static_cast<unsigned>(((Shape::rows ? scan.height : scan.width) + Shape::lines - 1) / Shape::lines);
  const dim3 grid(lines, Shape::rows ? scan.channels / side_by_side : 1);
  const dim3 threads = Shape::rows ? dim3(blocks, side_by_side) : dim3(Shape::lines, blocks);
  scan_lines<Real, axis, guided><<<grid, threads, memory.bytes, stream>>>(scan);
}

/// Calls use(axis, guided) with the constants of a pass.
template <class Real, class Use>
auto with_pass(const RecursiveScan<Real>& scan, const Use& use) {
  using X = std::integral_constant<Axis, Axis::x>;
  using Y = std::integral_constant<Axis, Axis::y>;
  const bool guided = scan.distances != nullptr;
  if (scan.axis == Axis::x) return guided ? use(X{}, std::true_type{}) : use(X{}, std::false_type{});
  return guided ? use(Y{}, std::true_type{}) : use(Y{}, std::false_type{});
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
    launch_lines<Real, decltype(axis)::value, decltype(guided)::value>(scan, stream);
  });
}

}  // namespace satin::kernels
