#include "tests/oracles/blur_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

std::vector<BoxRadii> radii_of(const Blur& blur, const Shape& shape) {
  const int boxes = blur.kernel ? static_cast<int>(*blur.kernel) + 1 : blur.sigma ? 3 : 1;
  std::vector<int> x;
  std::vector<int> y;
  if (blur.sigma) {
    x = y = radii_of_sigma(static_cast<long double>(*blur.sigma), boxes);
  } else {
    const auto longer = static_cast<long double>(std::max(shape.width, shape.height));
    const auto radius = [&](const Length& length) {
      const auto value = static_cast<long double>(length.value);
      return radii_of_reach(quantised(length.percent ? value * longer / 100 : value), boxes);
    };
    x = radius(blur.radius.x);
    y = radius(blur.radius.y);
  }
  std::vector<BoxRadii> radii;
  for (std::size_t i = 0; i < x.size(); ++i)  // boxes of radius 0 are not counted
    if (radii.empty() || x[i] != 0 || y[i] != 0) radii.push_back({x[i], y[i], {}});
  return radii;
}

void expect_near_real_means(const OracleBlur& oracle, const ImageView& result) {
  const std::vector<long double> means = real_means(oracle);
  const Shape& shape = result.shape;
  long double largest = 0;
  for (const long double mean : means)
    if (std::isfinite(mean)) largest = std::max(largest, std::fabs(mean));
  std::size_t i = 0;
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      for (int c = 0; c < shape.channels; ++c, ++i) {
        if (!std::isfinite(means[i])) continue;  // excluded: the bytes have been compared
        const auto value = static_cast<long double>(result.value<float>(x, y, c));
        ASSERT_LE(std::fabs(value - means[i]), 1e-6L * largest)
            << "x " << x << ", y " << y << ", channel " << c;
      }
}

/// Replaces values by NaN or infinity where the mask is 0.
void spoil_excluded(const MutableImageView& picture, const ImageView& mask) {
  constexpr std::array spoilt = {std::numeric_limits<float>::quiet_NaN(),
                                 std::numeric_limits<float>::infinity(),
                                 -std::numeric_limits<float>::infinity()};
  for (std::int64_t y = 0; y < picture.shape.height; ++y)
    for (std::int64_t x = 0; x < picture.shape.width; ++x) {
      if (mask_value(mask, static_cast<int>(x), static_cast<int>(y)) != 0) continue;
      for (int c = 0; c < picture.shape.channels; ++c)
        picture.value<float>(x, y, c) = spoilt[static_cast<std::size_t>(x + y + c) % spoilt.size()];
    }
}

const char* name_of_alpha(Alpha alpha) {
  return alpha == Alpha::none ? "no alpha" : alpha == Alpha::straight ? "straight" : "premultiplied";
}

}  // namespace

std::string describe(const BlurCase& blur_case) {
  static constexpr std::array borders = {"shrink", "clamp", "reflect", "mirror", "wrap", "constant"};
  static constexpr std::array kernels = {"box", "tent", "gaussian"};
  const Blur& blur = blur_case.blur;
  std::ostringstream text;
  text << describe(blur_case.shape) << ", " << name_of_alpha(blur_case.shape.alpha) << ", radius "
       << print_radius(blur.radius) << ", " << borders[static_cast<std::size_t>(blur.border)] << ' '
       << blur.border_value << ", " << (blur.space == Space::linear ? "linear" : "encoded");
  if (blur.kernel) text << ", kernel " << kernels[static_cast<std::size_t>(*blur.kernel)];
  if (blur.sigma) text << ", sigma " << *blur.sigma;
  if (blur_case.map_type)
    text << ", map " << name_of(*blur_case.map_type) << ' ' << blur.radius_min << ".."
         << blur.radius_max.value_or(-1);
  if (blur_case.mask_type)
    text << (blur.mask_mode == MaskMode::exclude ? ", excluding mask " : ", mask ")
         << name_of(*blur_case.mask_type);
  text << ", seed " << blur_case.seed;
  return text.str();
}

bool has_linear_light(const Format& format) {
  return format.type == Type::f32 || format.alpha != Alpha::premultiplied;
}

std::vector<Format> every_format() {
  std::vector<Format> formats;
  for (const Type type : {Type::u8, Type::u16, Type::f32}) {
    for (int channels = 1; channels <= 4; ++channels) formats.push_back({type, channels, Alpha::none});
    for (const int channels : {2, 4}) formats.push_back({type, channels, Alpha::straight});
    for (const int channels : {2, 4}) formats.push_back({type, channels, Alpha::premultiplied});
  }
  return formats;
}

std::string name_of_format(const testing::TestParamInfo<Format>& tested) {
  const char* const alpha[] = {"", "straight", "premultiplied"};
  return std::string(name_of(tested.param.type)) + "x" + std::to_string(tested.param.channels) +
         alpha[static_cast<int>(tested.param.alpha)];
}

void check_against_oracle(const BlurCase& blur_case, const Device& device) {
  SCOPED_TRACE(describe(blur_case));
  const Shape& shape = blur_case.shape;
  Image picture = random_picture(shape, blur_case.seed);
  Image map;
  Image mask;
  Blur blur = blur_case.blur;
  OracleBlur oracle;
  oracle.picture = std::as_const(picture).view();
  oracle.border = blur.border;
  oracle.border_value = blur.border_value;
  oracle.space = blur.space;
  if (blur_case.map_type) {
    map = random_map(shape.width, shape.height, *blur_case.map_type, blur_case.seed + 1);
    blur.radius_map = map.view();
    const int low = quantised(static_cast<long double>(blur.radius_min));
    const int high = quantised(static_cast<long double>(blur.radius_max.value()));
    oracle.boxes = {{0, 0, radii_of_map(map.view(), low, high)}};
    oracle.largest_map_radius = std::max(low, high);
  } else {
    oracle.boxes = radii_of(blur, shape);
  }
  if (blur_case.mask_type) {
    mask = random_map(shape.width, shape.height, *blur_case.mask_type, blur_case.seed + 2);
    blur.mask = std::as_const(mask).view();
  } else {
    blur.mask = blur_case.mask;
  }
  if (!blur.mask.empty()) {
    oracle.mask = blur.mask;
    oracle.exclude = blur.mask_mode == MaskMode::exclude;
    if (oracle.exclude && shape.type == Type::f32) spoil_excluded(picture.view(), blur.mask);
  }
  Plan prepared = plan(device, shape, blur);
  const std::array inputs = {oracle.picture, blur.radius_map, blur.mask};
  const Image result = run_plan(device, prepared, inputs);
  const Image expected = shape.type == Type::f32 ? oracle_floats(oracle) : oracle_integers(oracle);
  ASSERT_EQ(difference(result, expected), "");
  if (shape.type == Type::f32) expect_near_real_means(oracle, result);
}

}  // namespace satin::test
