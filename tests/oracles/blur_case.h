#pragma once
// One blur of a random picture, compared with the oracle.

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
      mask_type{};  ///< of a random mask; with what lies where it is 0 not finite, if it excludes
  std::uint64_t seed = 1;
  ImageView mask{};  ///< instead of a random one
};

std::string describe(const BlurCase& blur_case);

/// Premultiplied integers have no linear light.
bool has_linear_light(const Format& format);

/// Every format that blur() takes.
std::vector<Format> every_format();
/// "u8x4straight", to name tests by.
std::string name_of_format(const testing::TestParamInfo<Format>& tested);

/// Runs it on the device under test. Fails unless the bytes are the oracle's, and floats also within 1e-6 of
/// the largest value from the real mean.
void check_against_oracle(const BlurCase& blur_case, const Device& device = device_under_test());

}  // namespace satin::test
