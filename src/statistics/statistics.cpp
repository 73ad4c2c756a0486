// Statistics of whole pictures, and pixels sorted into zones of tone, both from the scan family
// (satin/scan.h).

#include "satin/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/with_type.h"
#include "pixels/maths/plane.h"
#include "satin/error.h"

namespace satin {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

/// Throws Error(usage) unless the image is one interleaved frame of u8, u16 or f32 in host memory.
void check(const ImageView& image, const std::string& what) {
  const Shape& shape = image.shape;
  validate(shape);
  if (shape.type != Type::u8 && shape.type != Type::u16 && shape.type != Type::f32)
    refuse(what + " of " + name_of(shape.type) + ": u8, u16 and f32 are possible.");
  if (image.memory != Memory::host || !image.interleaved() || shape.frames != 1)
    refuse(what + " need one interleaved frame in host memory.");
}

void check_mask(const ImageView& mask, const Shape& shape) {
  if (mask.empty()) return;
  if (mask.shape.channels != 1 || mask.shape.type != Type::u8)
    refuse("The mask is " + describe(mask.shape) + ": give one channel of u8.");
  if (mask.shape.width != shape.width || mask.shape.height != shape.height)
    refuse("The mask is " + describe(mask.shape) + ", but the picture is " + describe(shape) +
           ": they must have one size.");
}

template <class T>
std::vector<T> plane_of(const ImageView& image, int channel) {
  std::vector<T> plane;
  plane.reserve(static_cast<std::size_t>(image.shape.width * image.shape.height));
  for (std::int64_t y = 0; y < image.shape.height; ++y) {
    const T* row = image.row<T>(y) + channel;
    for (std::int64_t x = 0; x < image.shape.width; ++x) plane.push_back(row[x * image.shape.channels]);
  }
  return plane;
}

template <class T>
void keep_masked(const Device& device, std::vector<T>& values, const std::vector<std::uint8_t>& mask) {
  std::vector<T> kept(values.size());
  kept.resize(static_cast<std::size_t>(compact(device, values, ArrayView(mask), kept)));
  values = std::move(kept);
}

/// Keeps the values that meet the predicate and returns the number of the others.
std::int64_t keep_where(const Device& device, std::vector<float>& values, const Predicate& predicate) {
  std::vector<float> kept(values.size());
  kept.resize(static_cast<std::size_t>(compact(device, values, predicate, kept)));
  const std::size_t others = values.size() - kept.size();
  values = std::move(kept);
  return static_cast<std::int64_t>(others);
}

void keep_finite(const Device& device, std::vector<float>& values, ChannelStatistics& result) {
  using Float = std::numeric_limits<float>;
  result.nan = keep_where(device, values, {Comparison::less_equal, Float::infinity()});
  if (std::none_of(values.begin(), values.end(), [](float value) { return std::isinf(value); })) return;
  result.infinite = keep_where(device, values, {Comparison::less_equal, Float::max()}) +
                    keep_where(device, values, {Comparison::greater_equal, Float::lowest()});
}

/// Returns the root of the mean of squared_distance(i). Blocks are summed by themselves and then added, in
/// order, for accuracy.
template <class Values, class Distance>
double deviation_of(const Values& values, std::int64_t count, const Distance& squared_distance) {
  constexpr std::size_t block = 4096;
  double total = 0;
  for (std::size_t first = 0; first < values.size(); first += block) {
    double sum = 0;
    for (std::size_t i = first; i < std::min(first + block, values.size()); ++i) sum += squared_distance(i);
    total += sum;
  }
  return std::sqrt(total / static_cast<double>(count));
}

/// Computes extremes, mean and deviation from the number of pixels of each code.
void describe_codes(const std::vector<std::uint64_t>& codes, ChannelStatistics& result) {
  std::uint64_t sum = 0;  // codes below 2^16, fewer than 2^47 pixels
  result.minimum = nan;
  for (std::size_t code = 0; code < codes.size(); ++code) {
    if (codes[code] == 0) continue;
    if (std::isnan(result.minimum)) result.minimum = static_cast<double>(code);
    result.maximum = static_cast<double>(code);
    sum += code * codes[code];
  }
  result.mean = static_cast<double>(sum) / static_cast<double>(result.count);
  result.deviation = deviation_of(codes, result.count, [&](std::size_t code) {
    const double distance = static_cast<double>(code) - result.mean;
    return distance * distance * static_cast<double>(codes[code]);
  });
}

void describe_floats(const Device& device, const std::vector<float>& values, ChannelStatistics& result) {
  result.minimum = reduce<float>(device, values, Operator::min);
  result.maximum = reduce<float>(device, values, Operator::max);
  double sum = 0;
  for (const float value : values) sum += value;
  result.mean = sum / static_cast<double>(values.size());
  result.deviation = deviation_of(values, result.count, [&](std::size_t i) {
    const double distance = values[i] - result.mean;
    return distance * distance;
  });
}

template <class T>
void describe_values(const Device& device, const std::vector<T>& values, ChannelStatistics& result) {
  if constexpr (std::is_same_v<T, float>) {
    describe_floats(device, values, result);
  } else {
    constexpr std::int64_t all = std::int64_t{1} << (8 * sizeof(T));
    std::vector<std::uint64_t> codes(static_cast<std::size_t>(all));
    histogram(device, values, Bins::even(0, static_cast<double>(all), all), codes);
    describe_codes(codes, result);
  }
}

/// Sets the ends of the histogram. If all floats are equal, it ends at the next float.
template <class T>
void set_bounds(const StatisticsOptions& options, ChannelStatistics& result) {
  constexpr bool floats = std::is_same_v<T, float>;
  constexpr double codes = floats ? 0 : static_cast<double>(std::uint64_t{1} << (8 * sizeof(T)));
  const bool known = result.count > 0;
  result.lower = options.lower.value_or(floats && known ? result.minimum : 0);
  result.upper = options.upper.value_or(floats ? (known ? result.maximum : 1) : codes);
  if (!options.upper && !(result.upper > result.lower))
    result.upper = std::nextafter(static_cast<float>(result.lower), std::numeric_limits<float>::infinity());
}

template <class T>
ChannelStatistics channel_statistics(const Device& device, std::vector<T> values,
                                     const std::vector<std::uint8_t>& mask,
                                     const StatisticsOptions& options) {
  ChannelStatistics result;
  if (!mask.empty()) keep_masked(device, values, mask);
  if constexpr (std::is_same_v<T, float>) keep_finite(device, values, result);
  result.count = static_cast<std::int64_t>(values.size());
  if (result.count > 0) {
    describe_values(device, values, result);
  } else {
    result.minimum = result.maximum = result.mean = result.deviation = nan;
  }
  result.percentiles = percentiles(device, values, options.percents);
  set_bounds<T>(options, result);
  result.histogram.resize(static_cast<std::size_t>(options.bins));
  histogram(device, values, Bins::even(result.lower, result.upper, options.bins), result.histogram);
  return result;
}

template <class T>
std::vector<ChannelStatistics> all_channels(const Device& device, const ImageView& image,
                                            const ImageView& mask, const StatisticsOptions& options) {
  const std::vector<std::uint8_t> selected =
      mask.empty() ? std::vector<std::uint8_t>() : plane_of<std::uint8_t>(mask, 0);
  std::vector<ChannelStatistics> result;
  result.reserve(static_cast<std::size_t>(image.shape.channels));
  for (int c = 0; c < image.shape.channels; ++c)
    result.push_back(channel_statistics(device, plane_of<T>(image, c), selected, options));
  return result;
}

template <class T>
void weigh_rows(const ImageView& image, const MutableImageView& result) {
  const int channels = image.shape.channels;
  const int red = image.shape.order == Order::rgb ? 0 : 2;
  const int blue = 2 - red;
  for (std::int64_t y = 0; y < image.shape.height; ++y) {
    const T* pixel = image.row<T>(y);
    T* to = result.row<T>(y);
    for (std::int64_t x = 0; x < image.shape.width; ++x, pixel += channels)
      to[x] = channels < 3 ? pixel[0] : luminance709(pixel[red], pixel[1], pixel[blue]);
  }
}

template <class T>
void gather_pixels(const ImageView& image, const std::vector<std::uint32_t>& order, ToneZones& zones) {
  const MutableImageView pixels = zones.pixels.view();
  const MutableImageView positions = zones.positions.view();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    const std::int64_t x = order[i] % image.shape.width;
    const std::int64_t y = order[i] / image.shape.width;
    std::copy_n(&image.value<T>(x, y), image.shape.channels, pixels.row<T>(row));
    positions.value<std::uint32_t>(0, row) = static_cast<std::uint32_t>(x);
    positions.value<std::uint32_t>(1, row) = static_cast<std::uint32_t>(y);
  }
}

}  // namespace

std::vector<ChannelStatistics> statistics(const Device& device, const ImageView& image, const ImageView& mask,
                                          const StatisticsOptions& options) {
  check(image, "Statistics");
  check_mask(mask, image.shape);
  if (options.bins < 1 || options.bins > 65536)
    refuse(std::to_string(options.bins) + " bins: from 1 to 65536 are possible.");
  return with_pixel_type(image.shape.type,
                         [&]<class T>() { return all_channels<T>(device, image, mask, options); });
}

Image luminance(const ImageView& image) {
  check(image, "Tones");
  Shape grey = image.shape;
  grey.channels = 1;
  grey.alpha = Alpha::none;
  grey.order = Order::rgb;
  Image result(grey);
  with_pixel_type(image.shape.type, [&]<class T>() { weigh_rows<T>(image, result.view()); });
  return result;
}

ToneZones tone_zones(const Device& device, const ImageView& image, const Bins& bins) {
  const Image tone = luminance(image);
  const std::int64_t pixels = image.shape.width * image.shape.height;
  if (pixels > std::int64_t{0xFFFFFFFF})
    refuse("A picture of " + describe(image.shape) + " has too many pixels for zones.");

  const ArrayView tones(tone.data(), pixels, image.shape.type);
  Buffer sorted_tones = allocate_host(byte_size(tone.shape()));
  std::vector<std::uint32_t> order(static_cast<std::size_t>(pixels));
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(bins.count()));
  extract_bins(device, tones, bins, MutableArrayView(sorted_tones.get(), pixels, image.shape.type), counts,
               order);

  ToneZones result{Image(Shape{image.shape.width, image.shape.height, 1, Type::u16}),
                   {counts.begin(), counts.end()},
                   Image(Shape{image.shape.channels, pixels, 1, image.shape.type}),
                   Image(Shape{2, pixels, 1, Type::u32})};
  auto* zone = reinterpret_cast<std::uint16_t*>(result.zones.data());
  auto next = order.begin();
  for (std::size_t bin = 0; bin < counts.size(); ++bin)
    for (std::uint64_t i = 0; i < counts[bin]; ++i) zone[*next++] = static_cast<std::uint16_t>(bin);
  with_pixel_type(image.shape.type, [&]<class T>() { gather_pixels<T>(image, order, result); });
  return result;
}

}  // namespace satin
