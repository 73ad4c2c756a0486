#pragma once
// Statistics of pictures, and their pixels by tone. Both are made of the scan family (satin/scan.h). The
// filters `stats` and `bins` make JSON of them.

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

/// What is known about one channel. Numbers are values as stored; NaN where there is no value.
struct ChannelStatistics {
  std::int64_t count = 0;           ///< of the pixels that were looked at and are finite
  std::int64_t nan = 0;             ///< of those that are NaN; they count nowhere else
  std::int64_t infinite = 0;        ///< of those that are infinite; they count nowhere else
  double minimum = 0;               ///< smallest value
  double maximum = 0;               ///< largest value
  double mean = 0;                  ///< of all values
  double deviation = 0;             ///< of the population: the root of the mean square of value - mean
  std::vector<double> percentiles;  ///< one for each that was asked for; see percentile()
  double lower = 0;                 ///< where the histogram begins,
  double upper = 0;                 ///< and where it ends
  std::vector<std::uint64_t>
      histogram;  ///< bins of equal width; values beyond the ends are in the outer bins
};

/// What is asked for.
struct StatisticsOptions {
  std::vector<double> percents = {1, 5, 25, 50, 75, 95, 99};  ///< 0 to 100
  std::int64_t bins = 256;        ///< 1 to 65536; a whole number of u8 and u16 codes need not fall into each
  std::optional<double> lower{};  ///< 0 for u8 and u16, the smallest value for f32
  std::optional<double> upper{};  ///< 256 or 65536, the largest value for f32
};

/// One entry for each channel of a picture of u8, u16 or f32. Only pixels where `mask` (one channel of u8, of
/// the picture's size, optional) is not 0 are looked at. Views are host memory, interleaved, of one frame.
///
/// Counts, minimum, maximum and percentiles are exact; mean and deviation are correct to about 1e-15 of the
/// largest magnitude. The same on every device. Throws Error(usage) for shapes, percents, bins and bounds
/// that do not fit.
[[nodiscard]] std::vector<ChannelStatistics> statistics(const Device& device, const ImageView& image,
                                                        const ImageView& mask = {},
                                                        const StatisticsOptions& options = {});

/// "grey", or "red", "green", "blue", and "alpha" for the last of 2 or 4.
[[nodiscard]] std::vector<std::string> channel_names(const Shape& shape);

/// Writes the member "statistics": an object for each channel of a picture of this shape.
void add_statistics(JsonWriter& json, const Shape& shape, std::span<const ChannelStatistics> channels);

/// Bins of tone, of equal width.
struct ToneBins {
  std::int64_t bins = 8;          ///< 1 to 256
  double lower = 0;               ///< where the first begins
  std::optional<double> upper{};  ///< where the last ends: 256 or 65536, 1 for f32

  /// The bins for pixels of this type. Throws Error(usage) for an empty range.
  [[nodiscard]] Bins of(Type type) const;
};

/// Where a bin of equal width begins; that of the last and 1 is where the last ends.
[[nodiscard]] double edge_of(const Bins& bins, std::size_t edge);

/// The pixels of a picture by tone.
struct ToneZones {
  Image zones;                       ///< u16, one channel: the bin of each pixel
  std::vector<std::int64_t> counts;  ///< pixels in each bin
  Image pixels;     ///< bin after bin, each in raster order: height = number of pixels, width = channels
  Image positions;  ///< u32, width 2: x and y of each of them
};

/// Sorts the pixels into bins by luminance() if there are colours, otherwise by the first channel; alpha
/// takes no part. u8, u16 or f32, host memory, interleaved, one frame, fewer than 2^32 pixels. NaN belongs to
/// the last bin.
[[nodiscard]] ToneZones tone_zones(const Device& device, const ImageView& image, const Bins& bins);

/// Writes the member "bins": the ends of each bin, the index of its first pixel in ToneZones::pixels, how
/// many it has and, where they are told, the name of its mask.
void add_bins(JsonWriter& json, const Bins& bins, std::span<const std::int64_t> counts,
              std::span<const std::string> masks = {});

/// One channel of the same type: the Rec. 709 weighting 0.2126 R + 0.7152 G + 0.0722 B of the values as
/// stored, rounded to nearest for integers; the first channel of grey pictures. Interleaved host picture of
/// one frame.
[[nodiscard]] Image luminance(const ImageView& image);

/// What `stats` is: parameters, inputs, output, reach (satin/filter.h).
[[nodiscard]] const FilterRecord& stats_record();
/// What `bins` is: parameters, inputs, output, reach (satin/filter.h).
[[nodiscard]] const FilterRecord& bins_record();

}  // namespace satin
