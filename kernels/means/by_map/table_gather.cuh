#pragma once
// Box means of any kind, gathered from a table in memory (Crow 1984): four entries per whole box, one thread
// per pixel. This is the general case; faster kernels serve common jobs.
//
// Two kernels share the pixels. The first computes those whose boxes are at most clipped by the picture: all
// of them for Border::shrink. The second computes the frame, as wide as the largest radius, by
// covered_box_sums() for every border. If only some pixels count, a second table holds their number.
//
// Bytes moved per pixel: the output, the maps in use, and the table from one time (small or smooth radii,
// whose windows share entries in the caches) up to four times.

#include <cstdint>
#include <type_traits>

#include "core/maths/window.h"
#include "core/with_type.h"
#include "kernels/device/launch.h"
#include "kernels/device/tuning.h"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/means/launch.h"
#include "kernels/pixels/lane.cuh"
#include "kernels/pixels/plane.cuh"
#include "means/box_mean.h"
#include "means/maths/mean.h"
#include "tables/maths/gather.h"

namespace satin::kernels {

// --- Sums over clipped boxes ---

/// Reads one entry of the table by as few instructions as the channels allow.
template <int Channels, class Sum>
__device__ Vector<Sum, Channels> entry_at(const TableView<Sum>& table, int x, int y) {
  if (x < 0 || y < 0) return {};
  return reinterpret_cast<const Vector<Sum, Channels>*>(table.data + y * table.row)[x];
}

/// A box along one axis.
struct Axis {
  int centre = 0;
  int reach = 0;
  int size = 0;  ///< size of the picture
  std::uint32_t fraction = 0;
};

__device__ inline Axis axis_of(std::int64_t centre, Radius256 radius, std::int64_t size) {
  return {static_cast<int>(centre), radius / radius_one, static_cast<int>(size),
          static_cast<std::uint32_t>(radius) % radius_one};
}

/// Whether the outer window lies inside the picture.
__device__ inline bool fits(const Axis& axis) {
  const int reach = axis.reach + (axis.fraction != 0 ? 1 : 0);
  return axis.centre >= reach && axis.centre + reach < axis.size;
}

/// A window clipped by the picture: pixels before + 1 to last.
struct ClippedWindow {
  int before = 0;
  int last = 0;
};

__device__ inline ClippedWindow clipped_window(const Axis& axis, int outer) {
  const int reach = axis.reach + outer;
  return {max(axis.centre - reach - 1, -1), min(axis.centre + reach, axis.size - 1)};
}

/// Returns the weight of the inner (0) or outer (1) window.
__device__ inline std::uint32_t window_weight(const Axis& axis, int outer) {
  if (outer != 0) return axis.fraction;
  return axis.fraction == 0 ? 1 : radius_one - axis.fraction;
}

/// Returns the weighted number of pixels of the clipped windows along an axis.
__device__ inline std::uint64_t count_along(const Axis& axis) {
  const ClippedWindow inner = clipped_window(axis, 0);
  const ClippedWindow outer = clipped_window(axis, 1);
  return static_cast<std::uint64_t>(window_weight(axis, 0)) *
             static_cast<std::uint32_t>(inner.last - inner.before) +
         static_cast<std::uint64_t>(axis.fraction) * static_cast<std::uint32_t>(outer.last - outer.before);
}

/// Calls add(weight, sums) for every whole box, clipped by the picture, of a fractional box, in the order of
/// covered_box_sums().
template <int Channels, class Sum, class Add>
__device__ void for_clipped_boxes(const TableView<Sum>& table, const Axis& x, const Axis& y, const Add& add) {
  const int outer_x_end = x.fraction != 0 ? 2 : 1;
  const int outer_y_end = y.fraction != 0 ? 2 : 1;
#pragma unroll 1
  for (int outer_y = 0; outer_y < outer_y_end; ++outer_y) {
#pragma unroll 1
    for (int outer_x = 0; outer_x < outer_x_end; ++outer_x) {
      const std::uint32_t weight = window_weight(x, outer_x) * window_weight(y, outer_y);
      const ClippedWindow columns = clipped_window(x, outer_x);
      const ClippedWindow rows = clipped_window(y, outer_y);
      const auto a = entry_at<Channels>(table, columns.before, rows.before);
      const auto b = entry_at<Channels>(table, columns.last, rows.before);
      const auto c = entry_at<Channels>(table, columns.before, rows.last);
      const auto d = entry_at<Channels>(table, columns.last, rows.last);
      Sum sums[Channels];
#pragma unroll
      for (int i = 0; i < Channels; ++i) sums[i] = (d.of[i] - c.of[i]) - (b.of[i] - a.of[i]);
      add(weight, sums);
    }
  }
}

// --- Radius map and mask ---

struct Radii {
  Radius256 x = 0;
  Radius256 y = 0;
};

__device__ inline Radii radii_at(const BoxMeanArguments& arguments, std::int64_t x, std::int64_t y) {
  const RadiusField& field = arguments.radius;
  if (!field.from_map) return {field.x, field.y};
  const Source& map = arguments.radius_map;
  Radius256 radius = 0;
  if (field.map_type == Type::u8) {
    radius = radius_from_map(row_of<std::uint8_t>(map, y)[x], 0xFFU, field.low, field.high);
  } else if (field.map_type == Type::u16) {
    radius = radius_from_map(row_of<std::uint16_t>(map, y)[x], 0xFFFFU, field.low, field.high);
  } else {
    radius = radius_from_map(row_of<float>(map, y)[x], field.low, field.high);
  }
  return {radius, radius};
}

// --- Storing pixels ---

template <int Channels, class T>
__device__ void store_mean(const BoxMeanArguments& arguments, const WideSum* sums, std::uint64_t count,
                           const T* original, std::uint32_t mask, T* out) {
  if constexpr (may_be_working<T>)
    if (arguments.rule.working) return store_working_mean<Channels>(sums, count, arguments.rule, out);
  if constexpr (std::is_same_v<T, float>) {
    const FixedExponents exponents = exponents_of(arguments.read, false, arguments.measured);
    store_float_mean<Channels>(sums, count, original, mask, arguments.rule, exponents, out);
  } else if constexpr (sizeof(T) <= 2) {
    store_integer_mean<Channels>(sums, count, original, mask, arguments.rule, out);
  }
}

template <int Channels, class Stored, class Working>
__device__ void keep_working(const BoxMeanArguments& arguments, std::int64_t x, std::int64_t y,
                             Working* out) {
  const ReadRule rule{arguments.read.weighted, false, arguments.read_transfer.decode,
                      exponents_of(arguments.read, false, arguments.measured)};
  using Wide = std::conditional_t<sizeof(Working) == 8, std::uint64_t, std::uint32_t>;
  Wide values[Channels];
  read_working<Channels>(row_of<Stored>(arguments.source, y) + x * Channels, rule, values);
#pragma unroll
  for (int c = 0; c < Channels; ++c) out[c] = static_cast<Working>(values[c] << arguments.rule.write_shift);
}

/// Stores the working values of a pixel that keeps its value. Outputs are at least as wide as the source.
template <int Channels, class Working>
__device__ void keep_working_pixel(const BoxMeanArguments& arguments, std::int64_t x, std::int64_t y,
                                   Working* out) {
  const Type type = arguments.read.type;
  if (type == Type::u8) return keep_working<Channels, std::uint8_t>(arguments, x, y, out);
  if (type == Type::u16) return keep_working<Channels, std::uint16_t>(arguments, x, y, out);
  if constexpr (sizeof(Working) >= 4)
    if (type == Type::u32) return keep_working<Channels, std::uint32_t>(arguments, x, y, out);
  if constexpr (sizeof(Working) == 8) {
    if (type == Type::f32) return keep_working<Channels, float>(arguments, x, y, out);
    keep_working<Channels, std::uint64_t>(arguments, x, y, out);
  }
}

/// Stores a pixel that keeps its value: radius 0 or mask weight 0.
template <int Channels, class T>
__device__ void keep_pixel(const BoxMeanArguments& arguments, std::int64_t x, std::int64_t y, T* out) {
  if constexpr (may_be_working<T>)
    if (arguments.rule.working) return keep_working_pixel<Channels>(arguments, x, y, out);
  if constexpr (sizeof(T) <= 2 || std::is_same_v<T, float>) {
    const T* original = row_of<T>(arguments.original, y) + x * Channels;
#pragma unroll
    for (int c = 0; c < Channels; ++c) out[c] = original[c];
  }
}

// --- The kernels ---

struct BoxedPixel {
  std::int64_t x = 0;
  std::int64_t y = 0;
  Axis along_x;
  Axis along_y;
  std::uint32_t mask = 0;
  bool kept = false;
  bool clipped = false;  ///< whether no pixel outside the picture counts
};

__device__ inline BoxedPixel boxed_pixel(const BoxMeanArguments& arguments, std::int64_t x, std::int64_t y) {
  const Radii radii = radii_at(arguments, x, y);
  BoxedPixel pixel{x, y, axis_of(x, radii.x, arguments.width), axis_of(y, radii.y, arguments.height),
                   mask_at(arguments.rule.mask_maximum, arguments.mask, x, y)};
  pixel.kept = (radii.x == 0 && radii.y == 0) || (arguments.rule.mask_maximum != 0 && pixel.mask == 0);
  pixel.clipped = arguments.border == Border::shrink || (fits(pixel.along_x) && fits(pixel.along_y));
  return pixel;
}

template <class Sum>
__device__ TableView<Sum> table_of(const BoxMeanArguments& arguments) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Sum));
  return {static_cast<const Sum*>(arguments.table), arguments.table_row / size, arguments.width,
          arguments.height};
}

__device__ inline TableView<std::uint32_t> counts_of(const BoxMeanArguments& arguments) {
  return {arguments.counts, arguments.counts_row / 4, arguments.width, arguments.height};
}

/// Returns the weighted number of the pixels of a clipped box that count.
__device__ inline std::uint64_t clipped_count(const BoxMeanArguments& arguments, const BoxedPixel& pixel) {
  if (arguments.counts == nullptr) return count_along(pixel.along_x) * count_along(pixel.along_y);
  std::uint64_t count = 0;
  for_clipped_boxes<1>(
      counts_of(arguments), pixel.along_x, pixel.along_y,
      [&](std::uint64_t weight, const std::uint32_t* pixels) { count += weight * pixels[0]; });
  return count;
}

template <int Channels, class T>
__device__ T* output_of(const BoxMeanArguments& arguments, const BoxedPixel& pixel) {
  return reinterpret_cast<T*>(arguments.output.data + pixel.y * arguments.output.row) + pixel.x * Channels;
}

template <class T, int Channels, class Sum>
__device__ void average_clipped(const BoxMeanArguments& arguments, const BoxedPixel& pixel) {
  const MeanRule& rule = arguments.rule;
  T* out = output_of<Channels, T>(arguments, pixel);
  const std::uint64_t count = clipped_count(arguments, pixel);
  WideSum sums[Channels];
  for_clipped_boxes<Channels>(table_of<Sum>(arguments), pixel.along_x, pixel.along_y,
                              [&](std::uint64_t weight, const Sum* box) {
#pragma unroll
                                for (int c = 0; c < Channels; ++c)
                                  add_weighted(sums[c], weight, box[c], rule.fixed_point);
                              });
  const T* original = row_of<T>(arguments.original, pixel.y) + pixel.x * Channels;
  store_mean<Channels>(arguments, sums, count, original, pixel.mask, out);
}

template <class T, int Channels, class Sum>
__global__ void __launch_bounds__(warp_size* tuning::box_mean_block_rows,
                                  tuning::box_mean_blocks_per_multiprocessor)
    average_clipped_boxes(const __grid_constant__ BoxMeanArguments arguments) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * warp_size + threadIdx.x;
  if (x >= arguments.width) return;
  for (std::int64_t y = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
       y < arguments.height; y += static_cast<std::int64_t>(gridDim.y) * blockDim.y) {
    const BoxedPixel pixel = boxed_pixel(arguments, x, y);
    if (pixel.kept) {
      keep_pixel<Channels>(arguments, x, y, output_of<Channels, T>(arguments, pixel));
    } else if (pixel.clipped) {
      average_clipped<T, Channels, Sum>(arguments, pixel);
    }
  }
}

/// The pixels whose boxes may reach outside the picture: four rectangles, cut into blocks.
struct Frame {
  static constexpr int count = 4;
  struct Rectangle {
    std::int64_t left, top, right, bottom;
    [[nodiscard]] SATIN_HD std::int64_t columns() const { return (right - left + warp_size - 1) / warp_size; }
    [[nodiscard]] SATIN_HD std::int64_t blocks() const {
      constexpr int rows = tuning::frame_block_rows;
      return right > left && bottom > top ? columns() * ((bottom - top + rows - 1) / rows) : 0;
    }
  };
  Rectangle rectangles[count];
};

inline Frame frame_of(const BoxMeanArguments& arguments) {
  const RadiusField& radius = arguments.radius;
  const Radius256 largest = radius.low > radius.high ? radius.low : radius.high;
  const auto reach = [&](Radius256 r) {
    return (std::int64_t{radius.from_map ? largest : r} + radius_one - 1) / radius_one;
  };
  const std::int64_t width = arguments.width;
  const std::int64_t height = arguments.height;
  const std::int64_t reach_x = reach(radius.x);
  const std::int64_t reach_y = reach(radius.y);
  const std::int64_t left = reach_x + 1 < width ? reach_x + 1 : width;
  const std::int64_t right = width - reach_x > left ? width - reach_x : left;
  const std::int64_t top = reach_y + 1 < height ? reach_y + 1 : height;
  const std::int64_t bottom = height - reach_y > top ? height - reach_y : top;
  return {
      {{0, 0, width, top}, {0, bottom, width, height}, {0, top, left, bottom}, {right, top, width, bottom}}};
}

template <class T, int Channels, class Sum>
__global__ void __launch_bounds__(warp_size* tuning::frame_block_rows,
                                  tuning::frame_blocks_per_multiprocessor)
    average_frame(const __grid_constant__ BoxMeanArguments arguments, const Frame frame) {
  auto block = static_cast<std::int64_t>(blockIdx.x);
  Frame::Rectangle area = frame.rectangles[0];
#pragma unroll
  for (int i = 1; i < Frame::count; ++i) {
    if (block < area.blocks()) break;
    block -= area.blocks();
    area = frame.rectangles[i];
  }
  const std::int64_t row = block / area.columns();
  const std::int64_t x = area.left + (block - row * area.columns()) * warp_size + threadIdx.x;
  const std::int64_t y = area.top + row * tuning::frame_block_rows + threadIdx.y;
  if (x >= area.right || y >= area.bottom) return;
  const BoxedPixel pixel = boxed_pixel(arguments, x, y);
  if (pixel.kept || pixel.clipped) return;  // average_clipped_boxes() stores these

  MeanRule rule = arguments.rule;
  if (rule.fixed_point && arguments.border == Border::constant) {
    const FixedExponents exponents = exponents_of(arguments.read, false, arguments.measured);
#pragma unroll
    for (int c = 0; c < Channels; ++c)
      rule.border_value[c] = fixed_border_value(arguments.border_number, c, Channels, rule.weighted,
                                                arguments.read.fraction, exponents);
  }
  const Radii radii = radii_at(arguments, x, y);
  WideSum sums[Channels];
  std::uint64_t count = covered_box_sums<Channels>(table_of<Sum>(arguments), x, y, radii.x, radii.y,
                                                   arguments.border, rule, sums);
  if (arguments.counts != nullptr)
    count = covered_count(counts_of(arguments), x, y, radii.x, radii.y, arguments.border);
  const T* original = row_of<T>(arguments.original, y) + x * Channels;
  store_mean<Channels>(arguments, sums, count, original, pixel.mask,
                       output_of<Channels, T>(arguments, pixel));
}

template <class T, int Channels, class Sum>
void box_mean_by(const BoxMeanArguments& arguments, StreamHandle stream) {
  constexpr std::int64_t block_rows = tuning::box_mean_block_rows;
  const dim3 blocks(block_count(arguments.width, warp_size),
                    blocks_down(block_count(arguments.height, block_rows)));
  average_clipped_boxes<T, Channels, Sum><<<blocks, dim3(warp_size, block_rows), 0, stream>>>(arguments);
  if (arguments.border == Border::shrink) return;
  const Frame frame = frame_of(arguments);
  std::int64_t frame_blocks = 0;
  for (const Frame::Rectangle& area : frame.rectangles) frame_blocks += area.blocks();
  const dim3 frame_threads(warp_size, tuning::frame_block_rows);
  average_frame<T, Channels, Sum>
      <<<static_cast<unsigned>(frame_blocks), frame_threads, 0, stream>>>(arguments, frame);
}

template <class T>
void box_mean_to(const BoxMeanArguments& arguments, StreamHandle stream) {
  with_channels(arguments.read.channels, [&]<int Channels>() {
    if constexpr (!std::is_same_v<T, float>)
      if (arguments.accumulator == Accumulator::u32)
        return box_mean_by<T, Channels, std::uint32_t>(arguments, stream);
    box_mean_by<T, Channels, std::uint64_t>(arguments, stream);
  });
}

}  // namespace satin::kernels
