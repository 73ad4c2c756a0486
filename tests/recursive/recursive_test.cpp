// recursive/maths against the definitions, and the device under test against the CPU.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "recursive/maths/recursive.h"
#include "recursive/recursive.h"
#include "satin/filters.h"
#include "tests/oracles/blur_case.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

template <class Real>
void expect_decay_within(long double bound) {
  Random random(1);
  for (int turn = 0; turn < 400000; ++turn) {
    const Real t = turn < 70 ? static_cast<Real>(turn) / 2
                             : static_cast<Real>(std::ldexp(static_cast<double>(random.below(1U << 30)),
                                                            -random.between(24, 50)));
    const Real value = decay(t);
    if (t >= static_cast<Real>(decay_end)) {
      ASSERT_EQ(value, 0) << t;
      continue;
    }
    const long double exact = std::exp2(-static_cast<long double>(t));
    ASSERT_LE(std::fabs(static_cast<long double>(value) / exact - 1), bound) << t;
    ASSERT_LE(value, 1) << t;
  }
  EXPECT_EQ(decay(Real{0}), 1);
  EXPECT_EQ(decay(std::numeric_limits<Real>::infinity()), 0);
}

TEST(Decay, StaysWithinTheStatedError) {
  expect_decay_within<float>(0x1p-21L);
  expect_decay_within<double>(0x1p-32L);
}

TEST(PassConstants, ProductsEndBeforeTheyAreDenormal) {
  for (const double feedback : {1e-9, 0.01, 0.5, 0.999}) {
    const PassConstants<float> constants = pass_constants<float>({Axis::x, 0, feedback}, false);
    for (int i = 0; i <= recursive_block; ++i) {
      const long double exact = std::pow(static_cast<long double>(feedback), i);
      if (exact < 0.999L * 0x1p-60L) {
        EXPECT_EQ(constants.products[i], 0) << feedback << " to the " << i;
      } else {
        EXPECT_NEAR(static_cast<double>(static_cast<long double>(constants.products[i]) / exact), 1, 1e-5);
      }
    }
  }
}

/// Returns the results of one device for many formats, sizes and parameters.
template <class Check>
void for_each_result(const Device& device, const Check& check) {
  std::uint64_t seed = 700;
  for (const Format& format : every_format())
    for (const auto& [width, height] :
         {std::pair{1, 1}, {1, 70}, {70, 1}, {33, 65}, {129, 31}, {257, 130}, {4130, 2}, {2, 2340}}) {
      const Image picture =
          random_picture({width, height, format.channels, format.type, format.alpha}, ++seed);
      const Image mask = random_map(width, height, Type::u8, seed + 1);
      const Image guide = random_picture({width, height, 3, Type::f32}, seed + 2);
      const Space space = has_linear_light(format) ? Space::linear : Space::encoded;
      for (const double sigma : {0.2, 3.0, 500.0}) {
        check(smooth(device, picture, {.sigma = sigma, .space = space}));
        check(smooth(device, picture, {.sigma = Radius({sigma, false}, {0, false}), .space = space}));
        check(smooth(device, picture, {.sigma = Radius({0, false}, {sigma, false}), .space = space}));
      }
      check(smooth(device, picture, {.sigma = 2, .space = Space::encoded, .mask = mask.view()}));
      for (const double sigma_r : {0.05, 4.0}) {
        EdgeSmooth parameters{.sigma_s = 15, .sigma_r = sigma_r, .space = space};
        check(edge_smooth(device, picture, parameters));
        parameters.mask = mask.view();
        check(edge_smooth(device, picture, parameters));
        parameters.guide = guide.view();
        check(edge_smooth(device, picture, parameters));
      }
    }
}

TEST(RecursiveSmoothing, GivesTheBytesOfTheCpu) {
  if (!device_under_test().is_cuda()) GTEST_SKIP() << "the device under test is the CPU";
  std::vector<Image> expected;
  for_each_result(Device::open("cpu"), [&](Image result) { expected.push_back(std::move(result)); });
  std::size_t i = 0;
  for_each_result(device_under_test(), [&](const Image& result) {
    EXPECT_EQ(difference(result, expected[i]), "") << "result " << i << ", " << describe(result.shape());
    ++i;
  });
}

}  // namespace
}  // namespace satin::test
