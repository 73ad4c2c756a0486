// Unsharp masking in rows whose means are never stored.

#include <gtest/gtest.h>

#include <cstdint>

#include "core/backend.h"
#include "means/unsharp_residual.h"
#include "satin/filters.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

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
