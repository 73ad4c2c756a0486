// Resampling in two passes: along x into rows of global memory, then along y. Sums are in the order of the
// pixels, and a product is fused with a sum only where it is exact, so they are those of the CPU.
//
// Along x a block makes `x_results` results of `x_rows` rows. It decodes the pixels that they depend on once,
// into shared memory, `staged_pixels` at a time; a thread sums one result of each row. Along y a thread sums
// `y_rows` results of one column, which share the rows that they read. The rows between the passes are planes
// of channels, so that neighbouring threads read neighbouring values.

#include "kernels/device/vector.cuh"
#include "kernels/pixels/each_place.cuh"
#include "kernels/resample/launch.h"

namespace satin::kernels {
namespace {

constexpr int x_threads = 128;
constexpr int x_results = 120;  ///< results of a block in a row; at half the size 250 pixels, two a thread
constexpr int x_rows = 4;       ///< rows of a block along x, in one vector of shared memory
constexpr int x_turns = 2;      ///< times x_rows rows of a block, which fills its table once
constexpr int x_batch = 2;      ///< pixels of each row that a thread decodes together
constexpr int staged_pixels = x_batch * x_threads;
constexpr int y_threads = 128;
constexpr int y_rows = 4;
constexpr int y_batch = 6;          ///< rows that a thread loads together
constexpr int staged_weights = 48;  ///< rows whose weights are in shared memory, a multiple of y_batch

/// Returns sum + value * weight. A fused sum has the same value if the product is exact.
template <bool IsExact, class Sum>
__device__ Sum add_product(Sum sum, Sum value, Sum weight) {
  if constexpr (IsExact && std::is_same_v<Sum, double>)
    return __fma_rn(value, weight, sum);
  else
    return sum + value * weight;
}

/// Values of x_rows rows in shared memory: working values, or for bytes without alpha the light alone, 16
/// bits of a word each.
template <class Sum>
using WorkingValues = Vector<Sum, x_rows>;
using LightAlone = Vector<std::uint32_t, x_rows / 2>;

constexpr double light_base = 1 << 20;

template <class Sum>
__device__ Sum value_of(const WorkingValues<Sum>& values, int row) {
  return values.of[row];
}

/// Returns light_base + light. Conversions to double are slow, but the last 16 bits of the high word of such
/// a double are the light. Its sums are exact: 21 and 28 bits for lanczos, 21 and 30 for area.
template <class Sum>
__device__ double value_of(const LightAlone& values, int row) {
  const std::uint32_t high = __byte_perm(values.of[row / 2], 0x4130, row % 2 == 0 ? 0x5410 : 0x5432);
  return __hiloint2double(static_cast<int>(high), 0);
}

/// Returns the place of a pixel in shared memory. Every second one, from any pixel on, is in another bank.
__device__ unsigned place_of(unsigned pixel) { return pixel ^ (pixel / 16 % 2); }

template <class T, class Sum, class Between, class Values, int Channels>
__global__ void __launch_bounds__(x_threads) along_x(const __grid_constant__ ResampleArguments arguments) {
  constexpr bool light_alone = std::is_same_v<Values, LightAlone>;
  __shared__ Values staged[Channels][staged_pixels];
  __shared__ std::uint16_t light[light_alone ? 256 : 1];
  const ResampleRule& rule = arguments.rule;
  const DeviceWeights& axis = arguments.x;
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t width = arguments.job.result_width;
  const std::int64_t block = std::int64_t{blockIdx.x} * x_results;
  const std::int64_t block_last = min(block + x_results, width) - 1;
  const int block_first = axis.first[block];
  const int block_end = axis.first[block_last] + axis.count[block_last];
  const std::int64_t x = min(block + thread, block_last);
  const int first = axis.first[x];
  const int end = first + axis.count[x];
  const double* weights = axis.weights + axis.row[x] * axis.most;
  const std::int64_t pitch = arguments.picture.row / static_cast<std::int64_t>(sizeof(T));
  if constexpr (light_alone)
    for (unsigned code = threadIdx.x; code < 256; code += x_threads)
      light[code] = static_cast<std::uint16_t>(decode(code, rule.transfer));

  for (std::int64_t y = std::int64_t{blockIdx.y} * x_rows; y < arguments.read_rows;
       y += std::int64_t{gridDim.y} * x_rows) {
    const int own_rows = static_cast<int>(min(std::int64_t{x_rows}, arguments.read_rows - y));
    const T* from =
        row_of<T>(arguments.picture, arguments.job.box.y.first + arguments.read + y - arguments.first_read) +
        arguments.job.box.x.first * Channels;
    Sum sums[x_rows][Channels] = {};
    for (int begin = block_first; begin < block_end; begin += staged_pixels) {
      const int pixels = min(staged_pixels, block_end - begin);
      T stored[x_batch][x_rows][Channels];
      for (int b = 0; b < x_batch; ++b) {
        const std::int64_t entry = std::int64_t{begin + min(thread + b * x_threads, pixels - 1)} * Channels;
        for (int r = 0; r < x_rows; ++r)
          for (int c = 0; c < Channels; ++c) stored[b][r][c] = from[min(r, own_rows - 1) * pitch + entry + c];
      }
      __syncthreads();  // the pixels before these are summed, and the table is there
      for (int b = 0; b < x_batch; ++b)
        for (int c = 0; c < Channels; ++c) {
          Values values{};
          for (int r = 0; r < x_rows; ++r)
            if constexpr (light_alone)
              values.of[r / 2] |= std::uint32_t{light[stored[b][r][c]]} << r % 2 * 16;
            else
              values.of[r] = resample_value<Sum>(stored[b][r], c, Channels, rule);
          if (const int pixel = thread + b * x_threads; pixel < pixels) staged[c][place_of(pixel)] = values;
        }
      __syncthreads();
      const int own_end = min(end, begin + pixels);
#pragma unroll 4
      for (int pixel = max(first, begin); pixel < own_end; ++pixel) {
        const Sum weight = static_cast<Sum>(weights[pixel - first]);
        const unsigned place = place_of(pixel - begin);
        for (int c = 0; c < Channels; ++c) {
          const Values values = staged[c][place];
          for (int r = 0; r < x_rows; ++r)
            sums[r][c] = add_product<sizeof(T) == 1>(sums[r][c], value_of<Sum>(values, r), weight);
        }
      }
    }
    if (block + thread > block_last) continue;
    Between* to = reinterpret_cast<Between*>(arguments.between) + y * Channels * width + x;
    for (int r = 0; r < x_rows; ++r)
      for (int c = 0; c < Channels; ++c, to += width)
        if (r < own_rows) {
          Sum sum = sums[r][c];
          if constexpr (light_alone) sum = (sum - light_base * axis.total) * static_cast<Sum>(rule.unit);
          *to = static_cast<Between>(sum);
        }
  }
}

/// Returns resample_quotient(sum, divisor, largest) with the roundings of a division: `inverse` is 1 / (2
/// divisor) to nearest, and the remainder corrects the quotient (Markstein, 1990). The conversion saturates.
__device__ std::uint32_t quotient_by(double inverse, double sum, double divisor, std::uint32_t largest) {
  const double dividend = sum + sum + divisor;
  const double near = dividend * inverse;
  const double rest = __fma_rn(-near, divisor + divisor, dividend);
  return min(__double2uint_rz(__fma_rn(rest, inverse, near)), largest);
}

template <class T, class Sum, class Between, int Channels>
__global__ void __launch_bounds__(y_threads) along_y(const __grid_constant__ ResampleArguments arguments) {
  constexpr bool exact = !std::is_same_v<T, float>;        // 24 or fewer bits by 28, or integers below 2^51
  __shared__ Vector<Sum, y_rows> weights[staged_weights];  // 0 where a result does not read the row
  const ResampleJob& job = arguments.job;
  const DeviceWeights& axis = arguments.y;
  const ResampleRule& rule = arguments.rule;
  const double divisor = static_cast<double>(rule.total) * static_cast<double>(rule.unit);
  const double inverse = 1 / (divisor + divisor);
  std::uint32_t white = 0;
  if constexpr (exact) white = decode(static_cast<T>(~T{0}), rule.transfer);
  const std::int64_t width = job.result_width;
  const std::int64_t x = std::int64_t{blockIdx.x} * y_threads + threadIdx.x;
  const int lane = static_cast<int>(threadIdx.x) % y_rows;  // result whose weights the thread copies
  for (std::int64_t y = std::int64_t{blockIdx.y} * y_rows; y < arguments.rows;
       y += std::int64_t{gridDim.y} * y_rows) {
    const std::int64_t result = arguments.first + y;
    const std::int64_t last = min(result + y_rows, arguments.first + arguments.rows) - 1;
    const int first = axis.first[result];
    const int end = axis.first[last] + axis.count[last];
    const std::int64_t own = min(result + lane, last);
    const int own_first = axis.first[own];
    const int own_count = axis.count[own];
    const double* own_weights = axis.weights + axis.row[own] * axis.most;
    const Between* from = reinterpret_cast<const Between*>(arguments.between) +
                          (first - arguments.read) * Channels * width + min(x, width - 1);
    Sum sums[y_rows][Channels] = {};
    for (int begin = first; begin < end; begin += staged_weights) {
      const int rows = min(staged_weights, end - begin);
      __syncthreads();
      for (int i = static_cast<int>(threadIdx.x) / y_rows; i < staged_weights; i += y_threads / y_rows) {
        const int t = begin + i - own_first;
        weights[i].of[lane] = t >= 0 && t < own_count ? static_cast<Sum>(own_weights[t]) : Sum{};
      }
      __syncthreads();
      for (int i = 0; i < rows; i += y_batch) {
        Between values[y_batch][Channels];
        for (int b = 0; b < y_batch; ++b) {
          for (int c = 0; c < Channels; ++c) values[b][c] = from[c * width];
          if (begin + i + b + 1 < end) from += Channels * width;  // weights beyond the last row are 0
        }
        for (int b = 0; b < y_batch; ++b) {
          const Vector<Sum, y_rows> weight = weights[i + b];
          for (int c = 0; c < Channels; ++c)
            for (int r = 0; r < y_rows; ++r)
              sums[r][c] = add_product<exact>(sums[r][c], static_cast<Sum>(values[b][c]), weight.of[r]);
        }
      }
    }
    if (x >= width) continue;
#pragma unroll
    for (int r = 0; r < y_rows; ++r) {
      const auto original = [&] {
        const NearestAxis across{job.box.x.last - job.box.x.first, width, 0, job.box.x.first};
        const NearestAxis down{job.box.y.last - job.box.y.first, job.result_height, 0,
                               job.box.y.first - arguments.first_read};
        return row_of<T>(arguments.picture, down.pixel(result + r)) + across.pixel(x) * Channels;
      };
      if (result + r > last) break;
      T* to = row_of<T>(arguments.output, y + r) + x * Channels;
      if constexpr (exact && std::is_same_v<Sum, double>)
        if (!rule.weighted) {
          for (int c = 0; c < Channels; ++c)
            to[c] = encode(quotient_by(inverse, sums[r][c], divisor, white), rule.transfer, T{});
          continue;
        }
      store_resampled<Channels>(sums[r], original, rule, to);
    }
  }
}

}  // namespace

void resample(const ResampleArguments& arguments, StreamHandle stream) {
  const auto grid = [&](int results, std::int64_t rows, int rows_of_block) {
    return dim3{block_count(arguments.job.result_width, results),
                blocks_down(block_count(rows, rows_of_block))};
  };
  const dim3 across = grid(x_results, arguments.read_rows, x_rows * x_turns);
  const dim3 down = grid(y_threads, arguments.rows, y_rows);
  with_resample_types(arguments.job.read.type, arguments.sums, [&]<class T, class Sum, class Between>() {
    with_channels(arguments.job.read.channels, [&]<int Channels>() {
      const auto run = [&]<class Values>() {
        along_x<T, Sum, Between, Values, Channels><<<across, x_threads, 0, stream>>>(arguments);
        along_y<T, Sum, Between, Channels><<<down, y_threads, 0, stream>>>(arguments);
      };
      if constexpr (sizeof(T) == 1 && std::is_same_v<Sum, double>)
        if (!arguments.rule.weighted) return run.template operator()<LightAlone>();
      run.template operator()<WorkingValues<Sum>>();
    });
  });
}

template void run_pixelwise(const NearestPixelsJob&, const NearestPixelsJob::Images&, const TransferView&,
                            StreamHandle);

}  // namespace satin::kernels
