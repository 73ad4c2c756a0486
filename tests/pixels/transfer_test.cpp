// The transfer tables against a long double formula, and the round trip of every code.

#include "pixels/transfer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "pixels/light_tables.h"
#include "tests/oracles/oracle_transfer.h"

namespace satin::test {
namespace {

template <class Code>
void expect_transfer(Type type, std::uint32_t largest_value, std::uint32_t step) {
  const OracleTransfer& oracle = oracle_srgb(type);
  const TransferView view = host_transfer(type, true);
  for (std::uint32_t code = 0; code < oracle.linear.size(); ++code) {
    const std::uint32_t linear = decode(code, view);
    ASSERT_EQ(linear, static_cast<std::uint32_t>(oracle.linear[code])) << code;
    ASSERT_EQ(encode(linear, view, Code{}), code) << "round trip";
    if (code == 0) continue;
    ASSERT_LT(oracle.threshold[code - 1], oracle.threshold[code]) << "thresholds ascend";
    const auto threshold = static_cast<std::uint32_t>(oracle.threshold[code]);
    ASSERT_EQ(encode(threshold, view, Code{}), code) << "at the threshold";
    ASSERT_EQ(encode(threshold - 1, view, Code{}), code - 1) << "below the threshold";
  }
  for (std::uint32_t value = 0; value <= largest_value; value += step)
    ASSERT_EQ(encode(value, view, Code{}), static_cast<Code>(oracle.encode(value))) << value;
  ASSERT_EQ(encode(largest_value, view, Code{}), static_cast<Code>(~Code{0}));
}

TEST(Transfer, TablesOfEightBitsFollowTheFormula) { expect_transfer<std::uint8_t>(Type::u8, 0xFFFF, 1); }
TEST(Transfer, TablesOfSixteenBitsFollowTheFormula) {
  expect_transfer<std::uint16_t>(Type::u16, 0xFFFFFF, 61);
}

TEST(Transfer, RootCellsEncodeEveryValue) {
  const std::vector<std::uint8_t>& codes = srgb_tables8().encode8;
  const std::vector<std::uint32_t> cells = cells_of(codes);
  ASSERT_EQ(cells.size(), std::size_t{RootCells::count});
  for (std::uint32_t value = 0; value < codes.size(); ++value)
    for (const double error : {-1.0 / 1024, 0.0, 1.0 / 1024}) {  // error of the approximate root
      const double place = RootCells::per_root * std::sqrt(static_cast<double>(value)) + error;
      const auto cell = std::min(static_cast<std::size_t>(std::max(place, 0.0)), cells.size() - 1);
      ASSERT_EQ((cells[cell] + value) >> 16, codes[value]) << value;
    }
}

TEST(Transfer, ThresholdsFollowTheFormula) {
  const OracleTransfer& oracle = oracle_srgb(Type::u16);
  for (std::size_t code = 0; code < 65536; ++code)
    ASSERT_EQ(srgb_tables16().thresholds16[code], static_cast<std::uint32_t>(oracle.threshold[code])) << code;
}

/// kernels/means/by_radius/column_sums.cuh keeps 16 bits for each code.
TEST(Transfer, SixtyFourCodesSpanLessThanSixteenBits) {
  const std::vector<std::uint32_t>& decode = srgb_tables16().decode16;
  std::uint32_t largest = 0;
  for (std::size_t code = 0; code < decode.size(); ++code)
    largest = std::max(largest, decode[code] - decode[code / 64 * 64]);
  EXPECT_LE(largest, 0xFFFFU);
}

TEST(Transfer, EncodedValuesAreUnchanged) {
  const TransferView view = host_transfer(Type::u16, false);
  EXPECT_EQ(decode(12345, view), 12345U);
  EXPECT_EQ(encode(54321, view, std::uint16_t{}), 54321U);
}

}  // namespace
}  // namespace satin::test
