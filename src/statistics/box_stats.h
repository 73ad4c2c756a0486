#pragma once
// Mean and standard deviation of one plane over a window around every pixel, and what is made of them.

#include <cstdint>

#include "core/maths/rectangle.h"
#include "core/operation.h"
#include "pixels/maths/plane.h"
#include "satin/border.h"
#include "statistics/maths/local_statistics.h"

namespace satin {

struct QuickNumber;

/// What is written for every pixel.
enum class LocalResult : std::uint8_t {
  binary,  ///< u8: 255 where the plane's value is above the threshold, otherwise 0
  deviation,
  normalised  ///< by a NormaliseRule
};

struct BoxStatsOperation;

struct BoxStatsJob {
  using Operation = BoxStatsOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  PlaneRead plane;
  std::int64_t reach_x = 0;  ///< the window is 2 reach + 1 wide
  std::int64_t reach_y = 0;
  Border border = Border::shrink;  ///< all but constant
  LocalResult result = LocalResult::binary;
  ThresholdRule rule;
  NormaliseRule normalise;
  bool inverted = false;   ///< 0 and 255 exchanged
  int output_channel = 0;  ///< all but binary: of an output of the plane's type and channels
  int colours = 1;         ///< all but binary: results of so many channels, the first ones if more than one
  std::uint32_t mask_maximum = 0;  ///< all but binary: 255 or 65535; 0: no mask
};

/// 255 where the value is above its threshold, otherwise 0.
SATIN_HD std::uint8_t binary_result(const BoxStatsJob& job, const PictureExtremes& extremes, double value,
                                    LocalStatistics at) {
  return (value > local_threshold(job.rule, extremes, at)) != job.inverted ? 255 : 0;
}

/// All other results, before they are rounded.
SATIN_HD double number_result(const BoxStatsJob& job, double value, LocalStatistics at) {
  return job.result == LocalResult::deviation ? at.deviation : normalised(job.normalise, value, at);
}

/// Views of one run. `extremes` is memory of the backend; only wolf reads it.
struct BoxStatsImages {
  ImageView picture;
  ImageView mask;
  MutableImageView output;
  const Measured* measured = nullptr;  ///< floats
  const PictureExtremes* extremes = nullptr;
};

struct BoxStatsOperation : Operation {
  /// Sets *extremes to those of no pixel.
  virtual void clear_extremes(PictureExtremes* extremes, Stream stream) = 0;
  /// Adds to *extremes the largest deviation and the smallest value of the plane at the pixels of `inner`.
  virtual void find_extremes(const ImageView& picture, const Rectangle& inner, const Measured* measured,
                             PictureExtremes* extremes, Stream stream) = 0;
  virtual void run(const BoxStatsImages& images, Stream stream) = 0;
  /// run() also writes the channels that are no colours, as they are in the picture.
  [[nodiscard]] virtual bool keeps_other_channels() const noexcept { return false; }
};

/// The one place that decides how finely floats are cut, so that the sum of squares over `area` pixels stays
/// below 2^64: area * (2^(bits + 1))^2 < 2^64, and at most 30 bits. Throws Error(usage) if less than 8 bits
/// remain, or if the squares of integers do not fit.
[[nodiscard]] int float_bits_for_squares(Type type, std::uint64_t area);

/// What floats find the job's deviations or normalised values by; `largest` is the plane's largest value.
[[nodiscard]] QuickNumber quick_number(const BoxStatsJob& job, double largest);

/// Pixels of the largest window of the job.
[[nodiscard]] std::uint64_t largest_window_of(const BoxStatsJob& job);

/// The one place that decides whether 32 bits hold the sum of squares of u8 over `area` pixels.
[[nodiscard]] constexpr bool narrow_squares(std::uint64_t area) {
  return area <= 0xFFFFFFFFU / (0xFFU * 0xFFU);
}

}  // namespace satin
