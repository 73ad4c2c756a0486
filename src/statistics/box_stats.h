#pragma once
// Mean and standard deviation of one plane over a window around every pixel, and the results computed from
// them: thresholds, deviations and normalised values. The arithmetic is in
// statistics/maths/local_statistics.h.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "core/maths/window.h"
#include "core/operation.h"
#include "core/windows.h"
#include "pixels/maths/plane.h"
#include "satin/border.h"
#include "satin/error.h"
#include "statistics/maths/local_statistics.h"

namespace satin {

enum class LocalResult : std::uint8_t {
  binary,     ///< u8: 255 where the plane's value is above the threshold, otherwise 0
  deviation,  ///< the standard deviation, in the plane's type
  normalised  ///< the value mapped by a NormaliseRule, in the plane's type
};

struct BoxStatsOperation;

struct BoxStatsJob {
  using Operation = BoxStatsOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  PlaneRead plane;
  std::int64_t reach_x = 0;  ///< the window is 2 reach + 1 wide
  std::int64_t reach_y = 0;
  Border border = Border::shrink;  ///< any but constant
  LocalResult result = LocalResult::binary;
  ThresholdRule rule;
  NormaliseRule normalise;
  bool inverted = false;  ///< exchange 0 and 255
  // The rest is for deviations and normalised values, whose output has the plane's type and channels.
  int output_channel = 0;          ///< channel to write if `colours` is 1
  int colours = 1;                 ///< number of channels to compute; several are the first ones
  std::uint32_t mask_maximum = 0;  ///< 255 or 65535; 0: no mask
};

SATIN_HD std::uint8_t binary_result(const BoxStatsJob& job, const PictureExtremes& extremes, double value,
                                    LocalStatistics at) {
  return (value > local_threshold(job.rule, extremes, at)) != job.inverted ? 255 : 0;
}

/// Returns a deviation or a normalised value before rounding.
SATIN_HD double number_result(const BoxStatsJob& job, double value, LocalStatistics at) {
  return job.result == LocalResult::deviation ? at.deviation : normalised(job.normalise, value, at);
}

/// Views of one run.
struct BoxStatsImages {
  ImageView picture;
  ImageView mask;
  MutableImageView output;
  const Measured* measured = nullptr;         ///< measurements of floats
  const PictureExtremes* extremes = nullptr;  ///< for wolf, in the backend's memory
};

struct BoxStatsOperation : Operation {
  virtual void clear_extremes(PictureExtremes* extremes, Stream stream) = 0;
  /// Updates *extremes with the largest deviation and the smallest value of the plane inside `inner`.
  virtual void find_extremes(const ImageView& picture, const Rectangle& inner, const Measured* measured,
                             PictureExtremes* extremes, Stream stream) = 0;
  virtual void run(const BoxStatsImages& images, Stream stream) = 0;
  /// Whether run() also copies the channels that are not colours.
  [[nodiscard]] virtual bool keeps_other_channels() const noexcept { return false; }
};

/// Returns the bits of floats in fixed point, at most 30, so that the sum of squares over `area` pixels fits:
/// area * (2^(bits + 1))^2 < 2^64. Returns 0 for integers. Throws Error(usage) if fewer than 8 bits remain,
/// or if the squares of integers do not fit.
[[nodiscard]] inline int float_bits_for_squares(Type type, std::uint64_t area) {
  constexpr int most_bits = 30;
  constexpr int fewest_bits = 8;
  const int bits = std::min(most_bits, (62 - static_cast<int>(std::bit_width(area))) / 2);  // area < 2^width
  const int area_bits = static_cast<int>(std::bit_width(area - 1));  // area <= 2^area_bits
  const bool fits =
      type == Type::f32 ? bits >= fewest_bits : area_bits + 2 * (type == Type::u8 ? 8 : 16) <= 64;
  if (!fits)
    throw Error(ErrorKind::usage, "A window of " + std::to_string(area) +
                                      " pixels is too large for exact sums of squares: use a smaller one.");
  return type == Type::f32 ? bits : 0;
}

/// Returns the rule for the job's results in single precision, for values up to `largest`.
[[nodiscard]] inline QuickNumber quick_number(const BoxStatsJob& job, double largest) {
  return job.result == LocalResult::deviation ? quick_deviation(largest)
                                              : quick_normalised(job.normalise, largest);
}

/// Returns the number of pixels in the largest window of a job with `reach_x` and `reach_y`.
template <class Job>
[[nodiscard]] std::uint64_t largest_window_of(const Job& job) {
  const auto extent = [&](std::int64_t reach, std::int64_t size) {
    return static_cast<std::uint64_t>(counted(window_around(size / 2, reach), size, job.border));
  };
  return extent(job.reach_x, job.width) * extent(job.reach_y, job.height);
}

/// Whether 32 bits hold the sum of squares of u8 over `area` pixels.
[[nodiscard]] constexpr bool squares_fit_32_bits(std::uint64_t area) {
  return area <= 0xFFFFFFFFU / (0xFFU * 0xFFU);
}

}  // namespace satin
