// Pictures and windows so large that the GPU works chunk by chunk, or has whole blocks between the edges of a
// window. Brute force would take too long, so the CPU's bytes are expected.

#include <gtest/gtest.h>

#include <vector>

#include "satin/filters/median.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/oracle_rank.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

class RankChunks : public testing::Test {
 protected:
  void SetUp() override {
    if (!device_under_test().is_cuda()) GTEST_SKIP() << "kernels of the GPU";
  }
};

void expect_bytes_of_cpu(const Shape& shape, const Median& median) {
  const Image picture = random_picture(shape, 5);
  const std::vector<ImageView> inputs = {picture.view(), median.radius_map, median.mask};
  const auto result_of = [&](const Device& device) {
    Plan prepared = plan(device, shape, median);
    return run_plan(device, prepared, inputs);
  };
  const Image expected = result_of(Device::open("cpu"));
  EXPECT_EQ(difference(result_of(device_under_test()), expected), "");
}

TEST_F(RankChunks, WideWindowsOfManyColumns) {
  Median median;
  median.radius = pixels(70, 4);
  median.border = Border::reflect;
  expect_bytes_of_cpu({4500, 37, 1, Type::u16}, median);
}

TEST_F(RankChunks, NarrowWindowsOfManyColumns) {
  Median median;
  median.radius = pixels(9, 3);
  median.percent = 30;
  expect_bytes_of_cpu({9000, 21, 1, Type::u16}, median);
}

TEST_F(RankChunks, MoreFloatsThanAChunkHolds) {
  Median median;
  median.radius = pixels(3, 3);
  median.border = Border::wrap;
  expect_bytes_of_cpu({2100, 2050, 1, Type::f32}, median);
}

TEST_F(RankChunks, RadiiOfAMapOnEitherSideOfABlock) {
  const Image map = random_map(600, 300, Type::u8, 8);
  Median median;
  median.radius_map = map.view();
  median.radius_max = 150;
  median.border = Border::mirror;
  expect_bytes_of_cpu({600, 300, 2, Type::u8}, median);
}

TEST_F(RankChunks, BytesInWindowsOfTheLargestReach) {
  Median median;
  median.radius = pixels(512, 512);
  for (const Border border : {Border::shrink, Border::clamp}) {
    median.border = border;
    expect_bytes_of_cpu({1500, 700, 1, Type::u8}, median);
  }
}

TEST_F(RankChunks, BytesOfEveryValue) {
  Median median;
  median.radius = pixels(3, 0);
  expect_bytes_of_cpu({1200, 900, 3, Type::u8}, median);
}

}  // namespace
}  // namespace satin::test
