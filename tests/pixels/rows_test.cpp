// Rows of codes and working values on every SIMD target, against the transfer tables and blend().

#include <gtest/gtest.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/pixels/rows_test.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "pixels/cpu/rows-inl.h"
#include "pixels/transfer.h"
#include "tests/oracles/forced_target.h"
#include "tests/oracles/pictures.h"

HWY_BEFORE_NAMESPACE();
namespace satin::test::HWY_NAMESPACE {
namespace {

namespace rows = cpu::HWY_NAMESPACE;

void check_transfer(const std::vector<std::uint16_t>& values) {
  const TransferView transfer = host_transfer(Type::u8, true);
  std::vector<std::uint8_t> codes(values.size() + 1, 0xAA);
  rows::EncodeRow(values.data(), values.size(), transfer, codes.data());
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(codes[i], srgb_tables8().encode8[values[i]]) << values[i];
  EXPECT_EQ(codes.back(), 0xAA);
  std::vector<std::uint16_t> decoded(codes.size() + 1, 0xAAAA);
  rows::DecodeRow(codes.data(), codes.size(), transfer, decoded.data());
  for (std::size_t i = 0; i < codes.size(); ++i)
    ASSERT_EQ(decoded[i], srgb_tables8().decode8[codes[i]]) << +codes[i];
  EXPECT_EQ(decoded.back(), 0xAAAA);
}

void CheckTransfer() {
  std::vector<std::uint16_t> values(65536 + 7);
  std::iota(values.begin(), values.end(), std::uint16_t{0});
  check_transfer(values);
  for (std::size_t count = 1; count < 70; ++count)
    check_transfer({values.end() - static_cast<std::ptrdiff_t>(count + 7), values.end() - 7});
}

/// Encodes every value of 24 bits, in rows that no vector fills.
void CheckSixteenBits() {
  const TransferView transfer = host_transfer(Type::u16, true);
  const std::vector<std::uint32_t>& thresholds = srgb_tables16().thresholds16;
  std::vector<std::uint32_t> values(1021);
  std::vector<std::uint16_t> codes(values.size());
  std::uint32_t code = 0;
  for (std::uint32_t first = 0; first <= 0xFFFFFF; first += static_cast<std::uint32_t>(values.size())) {
    values.resize(std::min<std::size_t>(values.size(), 0x1000000 - first));
    std::iota(values.begin(), values.end(), first);
    rows::EncodeRow16(values.data(), values.size(), transfer, codes.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      while (code < 0xFFFF && thresholds[code + 1] <= values[i]) ++code;
      ASSERT_EQ(codes[i], code) << values[i];
    }
  }
}

template <class Code>
void check_largest_code() {
  constexpr std::uint32_t largest = std::numeric_limits<Code>::max();
  for (const std::size_t count : {1U, 5U, 64U, 131U}) {
    Random random(count);
    std::vector<std::uint32_t> values;
    for (std::size_t i = 0; i < count; ++i)
      values.push_back(i % 3 == 0 ? largest - 5 + static_cast<std::uint32_t>(i)
                                  : static_cast<std::uint32_t>(random.below(std::uint64_t{1} << 31)));
    std::vector<Code> codes(count);
    rows::EncodeWorking(values.data(), count, TransferView{}, codes.data());
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(codes[i], std::min(values[i], largest));
  }
}

/// Blends the ends of the range and random values, with every weight and rows of every width.
void CheckBlends() {
  Random random(7);
  const auto value = [&] {
    constexpr std::uint16_t ends[] = {0, 1, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF};
    return random.one_in(2) ? ends[random.below(6)] : static_cast<std::uint16_t>(random.below(0x10000));
  };
  for (std::size_t channels = 1; channels <= 4; ++channels)
    for (std::size_t pixels = 1; pixels <= 300; ++pixels) {
      const std::size_t count = pixels * channels;
      std::vector<std::uint16_t> own(count);
      std::vector<std::uint16_t> means(count);
      std::vector<std::uint8_t> mask(pixels);
      std::generate(own.begin(), own.end(), value);
      std::generate(means.begin(), means.end(), value);
      for (std::size_t x = 0; x < pixels; ++x) mask[x] = static_cast<std::uint8_t>(x + pixels);
      std::vector<std::uint16_t> blended(count + 1, 0xAAAA);
      rows::BlendPixels(own.data(), means.data(), mask.data(), pixels, channels, blended.data());
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(blended[i], blend(own[i], means[i], mask[i / channels], 255)) << own[i] << " " << means[i];
      ASSERT_EQ(blended.back(), 0xAAAA);
    }
}

/// Checks that the runs cover the row, and that each has the cover that it was reported with.
void CheckCover() {
  Random random(9);
  for (std::size_t pixels = 1; pixels <= 700; pixels += 3) {
    std::vector<std::uint8_t> mask(pixels, random.one_in(2) ? 0 : 255);
    for (std::uint64_t n = random.below(4); n > 0; --n) {
      const std::size_t first = random.below(pixels);
      const auto weight = static_cast<std::uint8_t>(random.one_in(2) ? 255 : random.below(256));
      std::fill(mask.begin() + static_cast<std::ptrdiff_t>(first), mask.end(), weight);
    }
    std::size_t next = 0;
    rows::ByCover(mask.data(), pixels, [&](rows::Cover cover, std::size_t first, std::size_t count) {
      ASSERT_EQ(first, next);
      next += count;
      const auto is = [&](std::uint8_t weight) {
        return std::all_of(mask.data() + first, mask.data() + next, [&](auto w) { return w == weight; });
      };
      ASSERT_TRUE(cover == rows::Cover::part || is(cover == rows::Cover::none ? 0 : 255));
    });
    ASSERT_EQ(next, pixels);
  }
}

void CheckLargestCodes() {
  check_largest_code<std::uint8_t>();
  check_largest_code<std::uint16_t>();
}

}  // namespace
}  // namespace satin::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::test {
namespace {

HWY_EXPORT(CheckTransfer);
HWY_EXPORT(CheckSixteenBits);
HWY_EXPORT(CheckLargestCodes);
HWY_EXPORT(CheckBlends);
HWY_EXPORT(CheckCover);

TEST(Rows, LightFollowsTheTables) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckTransfer)(); });
}

TEST(Rows, LightOfSixteenBitsFollowsTheThresholds) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckSixteenBits)(); });
}

TEST(Rows, BlendsFollowTheDefinition) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckBlends)(); });
}

TEST(Rows, RunsFollowTheCoverOfTheMask) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckCover)(); });
}

TEST(Rows, ValuesAboveTheLargestCodeAreClamped) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckLargestCodes)(); });
}

}  // namespace
}  // namespace satin::test
#endif
