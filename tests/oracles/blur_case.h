#pragma once
// A blur of a random picture, compared with the oracle.

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "satin/filters/blur.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/oracle_blur.h"

namespace satin::test {

/// Type, channels and alpha of a picture.
struct Format {
  Type type = Type::u8;
  int channels = 1;
  Alpha alpha = Alpha::none;
};

struct BlurCase {
  Shape shape;
  Blur blur;  ///< without its views
  std::optional<Type> map_type{};
  std::optional<Type>
      mask_type{};  ///< type of a random mask; if it excludes, pixels where it is 0 are not finite
  std::uint64_t seed = 1;
  ImageView mask{};  ///< replaces the random mask
};

std::string describe(const BlurCase& blur_case);

/// Premultiplied integers have no linear light.
bool has_linear_light(const Format& format);

/// Every format that blur() accepts.
std::vector<Format> every_format();
/// Returns the name of a format for tests, such as "u8x4straight".
std::string name_of_format(const testing::TestParamInfo<Format>& tested);

/// Runs the case on the device under test. Fails unless the bytes are the oracle's, and floats also differ
/// from the real mean by at most 1e-6 of the largest value.
void check_against_oracle(const BlurCase& blur_case, const Device& device = device_under_test());

}  // namespace satin::test
