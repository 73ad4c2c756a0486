#pragma once
// Statistics of pictures, and pixels sorted by tone, computed with the scan functions (satin/scan.h). The
// filters `stats` and `bins` print them as JSON.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "satin/array.h"
#include "satin/device.h"
#include "satin/image.h"
#include "satin/json.h"
#include "satin/scan.h"

namespace [[gnu::visibility("default")]] satin {

struct FilterRecord;

/// Statistics of one channel, on stored values; NaN if there is no value.
struct ChannelStatistics {
  std::int64_t count = 0;           ///< number of finite values
  std::int64_t nan = 0;             ///< number of NaN, which are not in `count`
  std::int64_t infinite = 0;        ///< number of infinite values, which are not in `count`
  double minimum = 0;               ///< smallest value
  double maximum = 0;               ///< largest value
  double mean = 0;                  ///< mean of the finite values
  double deviation = 0;             ///< population standard deviation
  std::vector<double> percentiles;  ///< one for each of StatisticsOptions::percents; see percentile()
  double lower = 0;                 ///< lower end of the histogram
  double upper = 0;                 ///< upper end of the histogram
  std::vector<std::uint64_t>
      histogram;  ///< counts in bins of equal width; values beyond the ends are in the outer bins
};

/// Options of statistics().
struct StatisticsOptions {
  std::vector<double> percents = {1, 5, 25, 50, 75, 95, 99};  ///< percentiles to compute, 0 to 100
  std::int64_t bins =
      256;  ///< number of bins, 1 to 65536; bins need not hold a whole number of u8 or u16 codes
  std::optional<double>
      lower{};  ///< lower end of the histogram; unset: 0 for u8 and u16, the smallest value for f32
  std::optional<double>
      upper{};  ///< upper end of the histogram; unset: 256 or 65536, the largest value for f32
};

/// Computes one entry per channel of a picture of u8, u16 or f32. The optional mask (u8, one channel, of the
/// picture's size) selects the pixels where it is not 0. Views are one interleaved frame in host memory.
///
/// Counts, minimum, maximum and percentiles are exact; mean and deviation are correct to about 1e-15 of the
/// largest magnitude. Results are the same on every device. Throws Error(usage) for shapes, percents, bins
/// and bounds that do not fit.
[[nodiscard]] std::vector<ChannelStatistics> statistics(const Device& device, const ImageView& image,
                                                        const ImageView& mask = {},
                                                        const StatisticsOptions& options = {});

/// Returns "grey", or "red", "green", "blue", and "alpha" for the last of 2 or 4 channels.
[[nodiscard]] std::vector<std::string> channel_names(const Shape& shape);

/// Writes the member "statistics", with an object for each channel of a picture of this shape.
void add_statistics(JsonWriter& json, const Shape& shape, std::span<const ChannelStatistics> channels);

/// Bins of tone of equal width.
struct ToneBins {
  std::int64_t bins = 8;          ///< number of bins, 1 to 256
  double lower = 0;               ///< lower end of the first bin
  std::optional<double> upper{};  ///< upper end of the last bin; unset: 256 or 65536, 1 for f32

  /// Returns the bins for pixels of this type. Throws Error(usage) for an empty range.
  [[nodiscard]] Bins of(Type type) const;
};

/// Returns the lower end of a bin of equal width, or the upper end of the last bin for `edge` = count.
[[nodiscard]] double edge_of(const Bins& bins, std::size_t edge);

/// The pixels of a picture, sorted by tone.
struct ToneZones {
  Image zones;                       ///< bin of each pixel, u16, one channel
  std::vector<std::int64_t> counts;  ///< number of pixels in each bin
  Image pixels;  ///< pixels bin after bin, each in raster order; height = number of pixels, width = channels
  Image positions;  ///< x and y of each of `pixels`, u32, width 2
};

/// Sorts the pixels into bins by luminance() if there are colours, otherwise by the first channel; alpha is
/// ignored. The image is u8, u16 or f32, one interleaved frame in host memory with fewer than 2^32 pixels.
/// NaN falls into the last bin.
[[nodiscard]] ToneZones tone_zones(const Device& device, const ImageView& image, const Bins& bins);

/// Writes the member "bins": the ends of each bin, the index of its first pixel in ToneZones::pixels, its
/// number of pixels and, if `masks` is not empty, the name of its mask.
void add_bins(JsonWriter& json, const Bins& bins, std::span<const std::int64_t> counts,
              std::span<const std::string> masks = {});

/// Returns one channel of the same type: the Rec. 709 sum 0.2126 R + 0.7152 G + 0.0722 B of the stored
/// values, rounded to nearest for integers, or the first channel of grey pictures. The image is one
/// interleaved frame in host memory.
[[nodiscard]] Image luminance(const ImageView& image);

/// Returns the record of the filter `stats`.
[[nodiscard]] const FilterRecord& stats_record();
/// Returns the record of the filter `bins`.
[[nodiscard]] const FilterRecord& bins_record();

}  // namespace satin
