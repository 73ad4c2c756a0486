// Unsharp by windows of a few pixels on a GPU: the bytes of the CPU, at the widths where the columns of a
// warp end.

#include <gtest/gtest.h>

#include <string>

#include "satin/filters/unsharp.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

constexpr std::int64_t widths[] = {1, 5, 16, 239, 240, 241, 256, 257, 264, 500, 768, 1031};
constexpr std::int64_t heights[] = {1, 9, 33, 150};

class UnsharpSizes : public testing::Test {
 protected:
  void SetUp() override {
    if (!device_under_test().is_cuda()) GTEST_SKIP() << "compares a GPU with the CPU";
  }

  /// compare(picture, what it is) for noise and white of every size.
  template <class Compare>
  void for_pictures(const Compare& compare) {
    std::uint64_t seed = 0x5A11;
    for (const std::int64_t width : widths)
      for (const std::int64_t height : heights)
        for (const int channels : {1, 3}) {
          const Shape shape{width, height, channels, Type::u8};
          const std::string name =
              std::to_string(width) + " x " + std::to_string(height) + " x " + std::to_string(channels);
          compare(random_picture(shape, ++seed), name);
          if (height == 33) compare(constant_picture(shape, 1), "white of " + name);
          if (HasFatalFailure()) return;
        }
  }

  const Device cpu_ = Device::open("cpu");
};

TEST_F(UnsharpSizes, GiveTheBytesOfTheCpu) {
  int turn = 0;
  for_pictures([&](const Image& picture, const std::string& name) {
    for (const double amount : {0.5, 0.3, 3.0}) {
      Unsharp rule{.amount = amount, .radius = 1.0 + ++turn % 7};
      rule.threshold = turn % 2 == 0 ? 0 : 0.02;
      ASSERT_EQ(difference(unsharp(device_under_test(), picture, rule), unsharp(cpu_, picture, rule)), "")
          << name << ", amount " << amount << ", turn " << turn;
    }
  });
}

}  // namespace
}  // namespace satin::test
