// Pixels with alpha to premultiplied values and back, on every SIMD target, against the definition.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/pixels/premultiplied_test.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "pixels/cpu/premultiplied-inl.h"
#include "pixels/transfer.h"
#include "tests/oracles/forced_target.h"
#include "tests/oracles/pictures.h"

HWY_BEFORE_NAMESPACE();
namespace satin::test::HWY_NAMESPACE {
namespace {

using cpu::HWY_NAMESPACE::StorePixels;
using cpu::HWY_NAMESPACE::WeighPixels;

PremultiplyRule rule_of(bool linear) {
  PremultiplyRule rule;
  rule.weighted = true;
  rule.transfer = host_transfer(Type::u8, linear);
  rule.white = linear ? 65535 : 255;
  return rule;
}

/// Values as means have them: colours up to the limit of their alpha, and slightly above.
template <int Channels, class Value>
std::vector<Value> random_values(std::size_t pixels, std::uint64_t white, Random& random) {
  std::vector<Value> values;
  for (std::size_t p = 0; p < pixels; ++p) {
    const std::uint64_t alpha = random.below(random.one_in(4) ? 3 * white : 255 * white + 1);
    const std::uint64_t most = std::min(255 * white, alpha + 2);
    for (int c = 0; c + 1 < Channels; ++c)
      values.push_back(static_cast<Value>(random.one_in(8) ? most : random.below(most + 1)));
    values.push_back(static_cast<Value>(alpha));
  }
  return values;
}

template <int Channels, class Value>
void check_rows(std::size_t pixels, Random& random) {
  const PremultiplyRule rule = rule_of(sizeof(Value) == 4);
  std::vector<std::uint8_t> stored(pixels * Channels);
  for (std::uint8_t& value : stored)
    value = static_cast<std::uint8_t>(random.one_in(4) ? 255 * random.below(2) : random.below(256));
  std::vector<std::uint16_t> scratch(stored.size());
  std::vector<Value> values(stored.size(), 0xABCD);
  std::vector<Value> expected_values(stored.size());
  WeighPixels<Channels>(stored.data(), pixels, rule.transfer, scratch.data(), rule.white, values.data());
  for (std::size_t i = 0; i < stored.size(); i += Channels)
    premultiply<Channels>(stored.data() + i, rule, expected_values.data() + i);
  ASSERT_EQ(values, expected_values);

  values = random_values<Channels, Value>(pixels, rule.white, random);
  std::vector<std::uint8_t> out(stored.size(), 0xCD);
  std::vector<std::uint8_t> expected(stored.size());
  StorePixels<Channels>(values.data(), stored.data(), pixels, rule, scratch.data(), out.data());
  for (std::size_t i = 0; i < stored.size(); i += Channels)
    store_premultiplied<Channels>(values.data() + i, stored.data() + i, 0, rule, expected.data() + i);
  ASSERT_EQ(out, expected);
}

void CheckAllRows() {
  Random random(41);
  for (const std::size_t pixels : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 15U, 16U, 17U, 31U, 33U, 1025U}) {
    ASSERT_NO_FATAL_FAILURE((check_rows<2, std::uint16_t>(pixels, random))) << pixels;
    ASSERT_NO_FATAL_FAILURE((check_rows<4, std::uint16_t>(pixels, random))) << pixels;
    ASSERT_NO_FATAL_FAILURE((check_rows<2, std::uint32_t>(pixels, random))) << pixels;
    ASSERT_NO_FATAL_FAILURE((check_rows<4, std::uint32_t>(pixels, random))) << pixels;
  }
}

}  // namespace
}  // namespace satin::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::test {
namespace {

/// Tries every colour up to alpha and slightly above, as rounding may leave it.
TEST(Premultiplied, QuotientsAreExactAndRoundTiesUp) {
  for (const std::uint64_t white : {255U, 65535U})
    for (std::uint64_t alpha = 1; alpha <= 255 * white; alpha += 1 + alpha * alpha / (90000 * white))
      for (std::uint64_t colour = 0; colour <= std::min(255 * white, alpha + 2); colour += 1 + alpha / 90) {
        const std::uint64_t found =
            unpremultiplied(colour, static_cast<std::uint32_t>(alpha), static_cast<std::uint32_t>(white));
        ASSERT_LE(2 * found * alpha, 2 * colour * white + alpha);
        ASSERT_GT(2 * (found + 1) * alpha, 2 * colour * white + alpha);
      }
  EXPECT_EQ(unpremultiplied(1234, 0, 255), 0U);
}

/// A constant picture is its own mean, so every pixel must survive the round trip.
template <class Value>
void expect_every_pixel_comes_back(bool linear) {
  const PremultiplyRule rule = HWY_NAMESPACE::rule_of(linear);
  for (int alpha = 0; alpha <= 255; ++alpha)
    for (int colour = 0; colour <= 255; ++colour) {
      const std::uint8_t pixel[2] = {static_cast<std::uint8_t>(colour), static_cast<std::uint8_t>(alpha)};
      Value values[2];
      std::uint8_t back[2] = {0xCD, 0xCD};
      premultiply<2>(pixel, rule, values);
      store_premultiplied<2>(values, pixel, 0, rule, back);
      ASSERT_EQ(back[0], colour) << alpha;
      ASSERT_EQ(back[1], alpha) << colour;
    }
}

TEST(Premultiplied, EveryPixelSurvivesTheRoundTrip) {
  expect_every_pixel_comes_back<std::uint16_t>(false);
  expect_every_pixel_comes_back<std::uint32_t>(true);
}

HWY_EXPORT(CheckAllRows);

TEST(Premultiplied, RowsOfEverySimdTargetFollowTheDefinition) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckAllRows)(); });
}

}  // namespace
}  // namespace satin::test
#endif
