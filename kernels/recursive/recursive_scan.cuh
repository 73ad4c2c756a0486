#pragma once
// One pass of recursive smoothing, forward and backward along one axis (recursive/maths/recursive.h): a block
// of threads has one row of up to three channels, or as many columns as a sector has values, one channel
// after the other. A value is read once and written once.

#include <cstdint>
#include <type_traits>

#include "kernels/device/shared_memory.cuh"
#include "kernels/pixels/plane.cuh"
#include "kernels/recursive/recursive_job.cuh"
#include "pixels/maths/real_pixel.h"

namespace satin::kernels {

// Whole lines in the registers of a block of threads.
//
// A thread has a block of 32 pixels. It scans them by itself, a warp takes the carries from block to block of
// a line, and the thread adds what these leave: forward, then backward. Lines longer than what the threads
// have are cut into segments, whose forward results wait in the planes.
//
// Rows come and go through shared memory, which has quad g of block k at [g][k]; columns are read as they lie
// in squares (kernels/recursive/squares.cuh).

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
    if constexpr (guided)
      fill_table();
    else
      fill_products();
    __syncthreads();
  }

  /// `group`: a row, or LineShape::lines columns.
  __device__ void scan_channel(unsigned group, int channel) {
    group_ = group;
    channel_ = channel;
    Real values[block_length];
    Real last = 0;
    if (block() == 0) ends(chain()).carry() = 0;
    for (int s = 0; s < job_.segments; ++s) {
      begin(s);
      read(values);
      repeat_last(positions(), values);
      last = values[block_length - 1];
      scan<false>(values, first_block() + block() == 0 ? Real{0} : values[0], s == 0);
      if (s + 1 < job_.segments) write_plane(values);
    }
    if (block() == 0) ends(chain()).carry() = 0;
    for (int s = job_.segments - 1; s >= 0; --s) {
      if (s + 1 < job_.segments) {
        begin(s);
        read_plane(values);
      }
      repeat_last(positions(), values);
      const Real end = values[block_length - 1];
      scan<true>(values, ends_line() ? end_difference(last, end, scan_.constants.end_share) : end,
                 s + 1 == job_.segments);
      write(values);
    }
  }

 private:
  // --- Who a thread is ---

  [[nodiscard]] static __device__ int thread() { return threadIdx.y * blockDim.x + threadIdx.x; }
  [[nodiscard]] static __device__ int threads() { return blockDim.x * blockDim.y; }
  [[nodiscard]] static __device__ int block() { return rows ? threadIdx.x : threadIdx.y; }
  [[nodiscard]] static __device__ int chain() { return rows ? threadIdx.y : threadIdx.x; }
  [[nodiscard]] static __device__ int chains() { return rows ? blockDim.y : Shape::lines; }
  /// Row, or column, which may lie beyond the picture within its square.
  [[nodiscard]] __device__ std::int64_t line() const {
    return rows ? group_ : static_cast<std::int64_t>(group_) * Shape::lines + threadIdx.x;
  }

  [[nodiscard]] __device__ int first_block() const { return segment_ * job_.blocks_at_once; }
  [[nodiscard]] __device__ std::int64_t first() const {
    return static_cast<std::int64_t>(first_block()) * block_length;
  }
  /// Blocks of this segment.
  [[nodiscard]] __device__ int count() const { return min(job_.blocks_at_once, job_.blocks - first_block()); }
  [[nodiscard]] __device__ bool exists() const { return block() < count(); }
  [[nodiscard]] __device__ bool ends_line() const { return first_block() + block() + 1 == job_.blocks; }
  /// Positions of the thread's block that exist.
  [[nodiscard]] __device__ int positions() const {
    const std::int64_t left = job_.length - first() - block() * block_length;
    return left < 0 ? 0 : left < block_length ? static_cast<int>(left) : block_length;
  }
  /// Positions of this segment that exist.
  [[nodiscard]] __device__ int positions_in_segment() const {
    return static_cast<int>(min(job_.length - first(), static_cast<std::int64_t>(count()) * block_length));
  }

  // --- Shared memory ---

  template <class T>
  [[nodiscard]] __device__ T* shared(int place) const {
    return reinterpret_cast<T*>(memory_ + place);
  }
  [[nodiscard]] __device__ ByteLight light() const { return ByteLight(memory_ + job_.memory.light); }
  [[nodiscard]] __device__ Quad<Real>* filled() const { return shared<Quad<Real>>(job_.memory.coefficients); }
  [[nodiscard]] __device__ Quad<Real>* staged() const {
    return shared<Quad<Real>>(job_.memory.staged) + threadIdx.y * quads<Real> * job_.memory.pitch;
  }
  /// The place of quad 0 of the thread's block.
  [[nodiscard]] static __device__ int own_place() { return rows ? block() : thread(); }
  /// The places of position x of a row: in shared memory, and in the squares.
  [[nodiscard]] __device__ unsigned quad_place(unsigned x) const {
    return x % block_length / quad_values * job_.memory.pitch + x / block_length;
  }
  [[nodiscard]] static __device__ unsigned in_row(unsigned x) {
    return x / Squares::columns * Squares::values + x % Squares::columns;
  }
  [[nodiscard]] __device__ typename Shape::Ends ends(int chain) const {
    return {shared<Real>(job_.memory.ends) + chain * Shape::Ends::values};
  }

  /// Fills the products of one coefficient backward: those of a block, and those of the line's last block.
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

  __device__ void fill_table() const {
    Real* table = shared<Real>(job_.memory.table);
    for (int i = thread(); i < scan_.table_size; i += threads()) table[i] = scan_.table[i];
  }

  // --- Segments and their coefficients ---

  __device__ void begin(int segment) {
    if (segment == segment_) return;
    if (segment_ >= 0) __syncthreads();
    segment_ = segment;
    if constexpr (guided) {
      with_couplings([&](const auto* couplings, const auto& coefficient) {
        rows ? fill_row(couplings, coefficient) : fill_block(couplings, coefficient);
      });
      __syncthreads();
    }
  }

  /// Calls use(codes or distances in squares, the coefficient of one of them).
  template <class Use>
  __device__ void with_couplings(const Use& use) const {
    if (bytes && scan_.codes != nullptr) {
      const Real* table = shared<Real>(job_.memory.table);
      return use(scan_.codes, [&](std::uint16_t code) { return table[code]; });
    }
    use(scan_.distances,
        [&](float distance) { return decay(scan_.constants.rate * static_cast<Real>(distance)); });
  }

  template <class Coupling, class Coefficient>
  __device__ void fill_row(const Coupling* couplings, const Coefficient& coefficient) const {
    constexpr int step = 16 / sizeof(Coupling);
    const Coupling* row = couplings + job_.squares.at(first(), line());
    const unsigned end = count() * block_length;
    for (unsigned x = thread() * step; x < end; x += threads() * step) {
      const auto here = *reinterpret_cast<const Vector<Coupling, step>*>(row + in_row(x));
#pragma unroll
      for (int q = 0; q < step; q += quad_values) {
        Quad<Real> quad;
#pragma unroll
        for (int j = 0; j < quad_values; ++j) quad.of[j] = coefficient(here.of[q + j]);
        filled()[quad_place(x + q)] = quad;
      }
    }
  }

  template <class Coupling, class Coefficient>
  __device__ void fill_block(const Coupling* couplings, const Coefficient& coefficient) const {
    if (!exists()) return;
    const Coupling* column = couplings + column_place();
#pragma unroll
    for (int g = 0; g < quads<Real>; ++g) {
      Quad<Real> quad;
#pragma unroll
      for (int j = 0; j < quad_values; ++j)
        quad.of[j] = coefficient(column[(g * quad_values + j) * Squares::columns]);
      filled()[g * job_.memory.pitch + own_place()] = quad;
    }
  }

  /// The coefficient behind the thread's block. Behind the line's end it is 1, as couplings beyond the
  /// picture give it: there the scan backward stays at the last pixel, and its products at 1.
  [[nodiscard]] __device__ Real coefficient_behind() const {
    if (block() + 1 < count()) return filled()[own_place() + (rows ? 1 : Shape::lines)].of[0];
    Real result = 1;
    if (!exists() || ends_line()) return result;
    const std::int64_t position = first() + (block() + 1) * block_length;
    const std::int64_t place = rows ? job_.squares.at(position, line()) : job_.squares.at(line(), position);
    with_couplings(
        [&](const auto* couplings, const auto& coefficient) { result = coefficient(couplings[place]); });
    return result;
  }

  template <bool backward>
  [[nodiscard]] __device__ auto coefficients() const {
    if constexpr (guided) {
      return OwnCoefficients<Real>{filled() + own_place(), job_.memory.pitch,
                                   backward ? coefficient_behind() : Real{1}};
    } else {
      return OneCoefficient<Real>{scan_.constants,
                                  shared<Quad<Real>>(job_.memory.products) + (ends_line() ? quads<Real> : 0)};
    }
  }

  // --- The scan ---

  /// `given`: the first value that the scan meets, or the difference before the line's first block, which
  /// this segment `starts` with.
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

  // --- Values to registers and back ---

  [[nodiscard]] __device__ Real* plane() const { return scan_.planes + channel_ * job_.squares.size(); }
  [[nodiscard]] __device__ std::int64_t column_place() const {
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

  /// A row is cut into quads, which threads take in turns: turn t takes quad threadIdx.x + t * blockDim.x,
  /// and as many turns as a block has quads take all. Blocks of threads have a multiple of 32 blocks, so that
  /// from turn to turn addresses grow by the same.
  [[nodiscard]] static __device__ unsigned first_position() { return threadIdx.x * quad_values; }
  [[nodiscard]] static __device__ unsigned turn_positions() { return blockDim.x * quad_values; }
  /// Turns in which the thread's quad exists.
  [[nodiscard]] __device__ int whole_turns() const {
    const int left = positions_in_segment() - static_cast<int>(first_position());
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
    Quad<Real>* to = staged() + quad_place(first_position());
    const unsigned to_step = quad_place(turn_positions());
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
    const Quad<Real>* from = staged() + quad_place(first_position());
    const unsigned from_step = quad_place(turn_positions());
#pragma unroll
    for (int t = 0; t < quads<Real>; ++t, to += step, from += from_step)
      if (t < turns) *reinterpret_cast<Quad<Real>*>(to) = *from;
  }

  __device__ void read_plane(Real (&values)[block_length]) const {
    if constexpr (rows) {
      stage_plane();
      to_registers(values);
    } else {
      const Real* column = plane() + column_place();
#pragma unroll
      for (int i = 0; i < block_length; ++i) values[i] = exists() ? column[i * Squares::columns] : 0;
    }
  }

  __device__ void write_plane(const Real (&values)[block_length]) const {
    if constexpr (rows) {
      from_registers(values);
      unstage_plane();
      if (job_.segments > 1) __syncthreads();
    } else {
      if (!exists()) return;
      Real* column = plane() + column_place();
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

  /// As read_real() has them, pixel threadIdx.x + t * blockDim.x in turn t. Alpha is not decoded.
  template <bool times_alpha>
  __device__ void stage_bytes() const {
    constexpr int batch = 8;
    const bool raw = scan_.weighted && !times_alpha;
    const Real* decoded = shared<Real>(job_.memory.decoded);
    const unsigned end = positions_in_segment();
    const std::uint8_t* pixel =
        row_of<std::uint8_t>(scan_.source, line()) + (first() + threadIdx.x) * scan_.channels;
    const int to_alpha = scan_.channels - 1 - channel_;
    Real* to = &staged()[quad_place(threadIdx.x)].of[threadIdx.x % quad_values];
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
        to += quad_place(blockDim.x) * quad_values;
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
  unsigned group_ = 0;
  int channel_ = 0;
  int segment_ = -1;
};

template <class Real, Axis axis, bool guided>
__global__ void __launch_bounds__(LineShape<Real, axis>::most_threads, LineShape<Real, axis>::groups)
    scan_lines(const __grid_constant__ LineJob<Real, axis> job) {
  extern __shared__ __align__(16) unsigned char memory[];
  Lines<Real, axis, guided> lines(job, memory);
  const unsigned group = blockIdx.x / job.parts;
  const int first = static_cast<int>(blockIdx.x % job.parts) * job.channels_in_turn;
  if constexpr (axis == Axis::x) {
    lines.scan_channel(group, first + static_cast<int>(threadIdx.y));
  } else {
    for (int i = 0; i < job.channels_in_turn; ++i) lines.scan_channel(group, first + i);
  }
}

template <class Real, Axis axis, bool guided>
void launch_lines(const LineJob<Real, axis>& job, StreamHandle stream) {
  using Shape = LineShape<Real, axis>;
  const std::int64_t lines = Shape::rows ? job.scan.height : job.scan.width;
  const auto groups = static_cast<unsigned>((lines + Shape::lines - 1) / Shape::lines);
  const dim3 threads =
      Shape::rows ? dim3(job.blocks_at_once, job.side_by_side) : dim3(Shape::lines, job.blocks_at_once);
  scan_lines<Real, axis, guided><<<groups * job.parts, threads, job.memory.bytes, stream>>>(job);
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
