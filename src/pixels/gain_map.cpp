#include "satin/gain_map.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "satin/error.h"
#include "satin/param.h"

namespace satin {
namespace {

constexpr double most_stops = 24;  // 2^24 is the precision of a float

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::input, "its gain map cannot be used: " + what + ".");
}

/// Refuses numbers outside a range, and NaN.
void check_range(const char* name, double value, double least, double most) {
  if (!(value >= least && value <= most))
    refuse(std::string(name) + " is " + print_real(value) + ", which is not from " + print_real(least) +
           " to " + print_real(most));
}

void check_pixels(const Image& pixels) {
  const Shape& map = pixels.shape();
  if (pixels.empty()) refuse("it has no pixels");
  if (map.type != Type::u8 || map.alpha != Alpha::none || (map.channels != 1 && map.channels != 3))
    refuse("its pixels are " + describe(map) + ", not u8 of 1 or 3 channels");
}

void check(const GainMapChannel& channel) {
  check_range("the smallest gain (GainMapMin)", channel.min, -most_stops, most_stops);
  check_range("the largest gain (GainMapMax)", channel.max, -most_stops, most_stops);
  if (channel.min > channel.max)
    refuse("the smallest gain, " + print_real(channel.min) + ", is above the largest, " +
           print_real(channel.max));
  check_range("the gamma", channel.gamma, 1.0 / 64, 64);
  check_range("the offset of SDR", channel.offset_sdr, -1, 1);
  check_range("the offset of HDR", channel.offset_hdr, -1, 1);
}

/// Returns the light of a code by Rec. ITU-R BT.709-6, item 1.2, inverted.
double rec709_light(double code) {
  return code < 0.081 ? code / 4.5 : std::pow((code + 0.099) / 1.099, 1 / 0.45);
}

}  // namespace

void GainMapMetadata::check() const {
  for (const GainMapChannel& channel : channels) satin::check(channel);
  check_range("the headroom of the base", base_headroom, 0, most_stops);
  check_range("the headroom of the restored picture", alternate_headroom, 0, most_stops);
  constexpr double least_difference = 1.0 / 1024;
  if (std::abs(base_headroom - alternate_headroom) < least_difference)
    refuse("both of its pictures are for a headroom of " + print_real(base_headroom) + " stops");
}

void GainMap::check(const Shape& picture) const {
  metadata.check();
  check_pixels(pixels);
  const Shape& map = pixels.shape();
  const auto width = static_cast<double>(map.width), height = static_cast<double>(map.height);
  const double ratio = static_cast<double>(picture.width) / static_cast<double>(picture.height);
  if (std::abs(width - height * ratio) > 2 && std::abs(height - width / ratio) > 2)
    refuse("its " + std::to_string(map.width) + " x " + std::to_string(map.height) +
           " pixels do not have the ratio of the picture's " + std::to_string(picture.width) + " x " +
           std::to_string(picture.height));
}

double apple_headroom(double tag_21, double tag_30) {
  const bool dim = tag_21 < 1, steep = tag_30 <= 0.01;
  double stops = 0;
  if (dim)
    stops = steep ? -20 * tag_30 + 1.8 : -0.101 * tag_30 + 1.601;
  else
    stops = steep ? -70 * tag_30 + 3 : -0.303 * tag_30 + 2.303;
  return std::exp2(std::max(stops, 0.0));
}

GainMap apple_gain_map(Image codes, double headroom) {
  if (!(headroom > 1 && headroom <= std::exp2(most_stops)))
    refuse("its headroom is " + print_real(headroom) + ", which is not above 1 and at most 2^24");
  check_pixels(codes);
  GainMap map;
  const double stops = std::log2(headroom);
  map.metadata.channels.fill({0, stops, 1, 0, 0});
  map.metadata.alternate_headroom = stops;
  map.origin = GainMapOrigin::apple;
  std::array<std::byte, 256> converted{};
  for (std::size_t code = 0; code < converted.size(); ++code) {
    const double gain = 1 + (headroom - 1) * rec709_light(static_cast<double>(code) / 255);
    converted[code] = static_cast<std::byte>(std::lround(255 * std::min(std::log2(gain) / stops, 1.0)));
  }
  map.pixels = std::move(codes);
  const Shape& shape = map.pixels.shape();
  std::byte* pixel = map.pixels.data();
  for (std::int64_t i = 0; i < shape.width * shape.height * shape.channels; ++i)
    pixel[i] = converted[std::to_integer<std::size_t>(pixel[i])];
  return map;
}

}  // namespace satin
