// Unsharp masking in rows: single precision where it is exact, and means that are never stored.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/means/unsharp_residual_test.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "core/backend.h"
#include "means/cpu/unsharp_residual-inl.h"
#include "means/unsharp_residual.h"
#include "satin/filters.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/forced_target.h"
#include "tests/oracles/pictures.h"

HWY_BEFORE_NAMESPACE();
namespace satin::test::HWY_NAMESPACE {
namespace {

namespace rows = cpu::HWY_NAMESPACE;

rows::UnsharpResidualLine line_of(double amount, double threshold = 0) {
  return {.amount = amount, .threshold = threshold, .mean_scale = 0x1p-8, .white = 255};
}

void CheckBound() {
  for (const double amount : {0.0, 0.5, 1.0, 1.5, 0.75, 255.0, 127 / 128.0})
    EXPECT_TRUE(rows::ExactInFloat(line_of(amount))) << amount;
  for (const double amount : {0.8, 256.0, 1000.0, 129 / 128.0, 1 / 256.0})
    EXPECT_FALSE(rows::ExactInFloat(line_of(amount))) << amount;
  EXPECT_TRUE(rows::ExactInFloat(line_of(1, 2.5)));
  EXPECT_FALSE(rows::ExactInFloat(line_of(1, 0.1)));
  EXPECT_FALSE(rows::ExactInFloat(line_of(1, std::numeric_limits<double>::max())));
  rows::UnsharpResidualLine words = line_of(1);
  words.white = 65535;
  EXPECT_FALSE(rows::ExactInFloat(words));
}

void CheckBytes() {
  std::vector<std::uint16_t> means;
  for (int mean = 0; mean <= 65280; mean += slow_build() ? 17 : 1)
    means.push_back(static_cast<std::uint16_t>(mean));
  std::vector<std::uint8_t> own(means.size());
  std::vector<std::uint8_t> found(means.size());
  std::vector<std::uint8_t> expected(means.size());
  for (const auto& [amount, threshold] :
       {std::pair{0.5, 0.0}, {1.5, 3.00390625}, {255.0, 0.0}, {127 / 128.0, 0.0}}) {
    rows::UnsharpResidualLine line = line_of(amount, threshold);
    ASSERT_TRUE(rows::ExactInFloat(line));
    for (const int value : {0, 1, 2, 77, 128, 254, 255}) {
      own.assign(own.size(), static_cast<std::uint8_t>(value));
      line.narrow = false;
      rows::AddResidual(own.data(), means.data(), means.size(), line, expected.data());
      line.narrow = true;
      rows::AddResidual(own.data(), means.data(), means.size(), line, found.data());
      ASSERT_EQ(found, expected) << amount << ", " << value;
    }
  }
}

}  // namespace
}  // namespace satin::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::test {
namespace {

HWY_EXPORT(CheckBound);
HWY_EXPORT(CheckBytes);

TEST(UnsharpResidualRows, SinglePrecisionIsTakenUpToItsBound) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckBound)(); });
}

TEST(UnsharpResidualRows, SinglePrecisionGivesTheBytesOfDouble) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckBytes)(); });
}

/// A device that has means and detail one after the other.
Device device_without_chains() {
  Device device = Device::open("cpu", {.threads = 2});
  device.backend().operations.remove<UnsharpResidualChainJob>();
  return device;
}

TEST(UnsharpResidualChain, GivesTheBytesOfMeansThatAreStored) {
  if (device_under_test().is_cuda()) GTEST_SKIP() << "the CPU's";
  const Device stored = device_without_chains();
  const Device device = Device::open("cpu", {.threads = 2});
  ASSERT_NE(device.backend().operations.find<UnsharpResidualChainJob>(), nullptr);
  std::uint64_t seed = 0;
  for (const Shape& shape : {Shape{13400, 40, 3, Type::u8}, Shape{71, 300, 1, Type::u8},
                             Shape{70, 131, 3, Type::u16}, Shape{97, 64, 4, Type::u8, Alpha::straight}})
    for (const Space space : {Space::encoded, Space::linear})
      for (const Border border : {Border::shrink, Border::mirror})
        for (const double amount : {0.5, 0.8}) {
          const Image picture = random_picture(shape, ++seed);
          const Unsharp unsharp{.amount = amount, .radius = 2.5, .border = border, .space = space};
          EXPECT_EQ(
              difference(satin::unsharp(device, picture, unsharp), satin::unsharp(stored, picture, unsharp)),
              "")
              << shape.width << ", " << name_of(shape.type) << " x " << shape.channels << ", " << amount;
        }
}

}  // namespace
}  // namespace satin::test
#endif
