// Rows of codes and of working values on every SIMD target beside the transfer tables.

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
HWY_EXPORT(CheckLargestCodes);

TEST(Rows, OfLightAreTheTables) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckTransfer)(); });
}

TEST(Rows, ValuesAboveTheLargestCodeAreHeldToIt) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckLargestCodes)(); });
}

}  // namespace
}  // namespace satin::test
#endif
