// Rows of pixels with alpha to premultiplied values and back: every SIMD target against the definition.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/cpu/premultiplied_simd.h"
#include "core/transfer.h"
#include "device_under_test.h"
#include "forced_target.h"
#include "pictures.h"

namespace satin::test {
namespace {

using cpu::premultiply_row;
using cpu::store_premultiplied_row;

/// From the definition, in real numbers.
TEST(Premultiplied, RoundsToNearest) {
  for (std::uint32_t alpha = 0; alpha <= 255; ++alpha)
    for (std::uint32_t colour = 0; colour <= 65535; colour += 7) {
      const double exact = colour * (alpha / 255.0);
      ASSERT_NEAR(premultiplied(colour, alpha, 0), exact, 0.5 + 1e-9) << colour << ", " << alpha;
      if (colour > 255) continue;
      ASSERT_NEAR(premultiplied(colour, alpha, 8), 256 * exact, 0.5 + 1e-9) << colour << ", " << alpha;
    }
}

/// Of every colour that is left of the largest one, and of a little more, as rounding may leave.
TEST(Premultiplied, QuotientsAreExactAndRoundTiesUp) {
  for (std::uint32_t alpha = 1; alpha <= 65280; alpha += alpha < 600 ? 1 : 97)
    for (std::uint64_t colour = 0; colour <= std::min(65535U, alpha + alpha / 255 + 2);
         colour += 1 + alpha / 90)
      for (const int fraction : {0, 8}) {
        const std::uint64_t white = 0xFF00U >> fraction;
        const std::uint64_t found = unpremultiplied(static_cast<std::uint32_t>(colour), alpha, fraction);
        ASSERT_LE(2 * found * alpha, 2 * colour * white + alpha);
        ASSERT_GT(2 * (found + 1) * alpha, 2 * colour * white + alpha);
      }
  EXPECT_EQ(unpremultiplied(1234, 0, 0), 0U);
}

TEST(Premultiplied, WhatIsOpaqueComesBack) {
  for (std::uint32_t colour = 0; colour <= 65535; ++colour)
    ASSERT_EQ(unpremultiplied(premultiplied(colour, 255, 0), 255U << 8, 0), colour);
  for (std::uint32_t code = 0; code <= 255; ++code)
    ASSERT_EQ(unpremultiplied(premultiplied(code, 255, 8), 255U << 8, 8), code);
}

PremultiplyRule rule_of(bool linear) {
  PremultiplyRule rule;
  rule.weighted = true;
  rule.transfer = host_transfer(Type::u8, linear);
  rule.fraction = linear ? 0 : 8;
  return rule;
}

/// Values such as means leave: colours up to what their alpha allows, and a little more.
template <int Channels>
std::vector<std::uint16_t> random_values(std::size_t pixels, Random& random) {
  std::vector<std::uint16_t> values;
  for (std::size_t p = 0; p < pixels; ++p) {
    const auto alpha = static_cast<std::uint32_t>(random.one_in(4) ? random.below(600) : random.below(65281));
    const std::uint32_t most = std::min(65535U, alpha + alpha / 255 + 2);
    for (int c = 0; c + 1 < Channels; ++c)
      values.push_back(static_cast<std::uint16_t>(random.one_in(8) ? most : random.below(most + 1)));
    values.push_back(static_cast<std::uint16_t>(alpha));
  }
  return values;
}

template <int Channels>
void check_rows(std::size_t pixels, bool linear, Random& random) {
  const PremultiplyRule rule = rule_of(linear);
  std::vector<std::uint8_t> stored(pixels * Channels);
  for (std::uint8_t& value : stored)
    value = static_cast<std::uint8_t>(random.one_in(4) ? 255 * random.below(2) : random.below(256));
  std::vector<std::uint16_t> values(stored.size(), 0xABCD);
  std::vector<std::uint16_t> expected_values(stored.size());
  premultiply_row(stored.data(), pixels, Channels, rule, values.data());
  for (std::size_t i = 0; i < stored.size(); i += Channels)
    premultiply<Channels>(stored.data() + i, rule, expected_values.data() + i);
  ASSERT_EQ(values, expected_values);

  values = random_values<Channels>(pixels, random);
  std::vector<std::uint16_t> light(stored.size());
  std::vector<std::uint8_t> out(stored.size(), 0xCD);
  std::vector<std::uint8_t> expected(stored.size());
  store_premultiplied_row(values.data(), stored.data(), pixels, Channels, rule, light.data(), out.data());
  for (std::size_t i = 0; i < stored.size(); i += Channels)
    store_premultiplied<Channels>(values.data() + i, stored.data() + i, 0, rule, expected.data() + i);
  ASSERT_EQ(out, expected);
}

TEST(Premultiplied, RowsOfEverySimdTargetAreTheDefinition) {
  if (device_under_test().is_cuda()) GTEST_SKIP() << "SIMD is the CPU's";
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    const ForcedTarget forced(target);
    SCOPED_TRACE(hwy::TargetName(target));
    Random random(41);
    for (const bool linear : {false, true})
      for (const std::size_t pixels : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 15U, 16U, 17U, 31U, 33U, 1025U}) {
        ASSERT_NO_FATAL_FAILURE(check_rows<2>(pixels, linear, random)) << pixels;
        ASSERT_NO_FATAL_FAILURE(check_rows<4>(pixels, linear, random)) << pixels;
      }
  }
}

}  // namespace
}  // namespace satin::test
