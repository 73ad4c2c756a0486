// Every SIMD target of this processor gives the bytes of the simplest one.

#include <gtest/gtest.h>

#include <vector>

#include "satin/filters.h"
#include "satin/regions.h"
#include "tests/oracles/blur_case.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/forced_target.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

std::vector<Image> results(const Device& device, const Format& format) {
  std::vector<Image> images;
  for (const auto& [width, height] : {std::pair{1, 1}, {7, 5}, {33, 31}, {70, 40}, {257, 9}}) {
    const Image picture = random_picture({width, height, format.channels, format.type, format.alpha}, 99);
    const Image map = random_map(width, height, Type::u8, 98);
    const Space space = has_linear_light(format) ? Space::linear : Space::encoded;
    for (const Border border : {Border::shrink, Border::clamp, Border::mirror, Border::wrap})
      for (const double radius : {1.0, 2.5, 12.0}) {
        images.push_back(blur(device, picture, {.radius = radius, .border = border, .space = space}));
        images.push_back(
            blur(device, picture, {.radius = radius, .border = border, .space = Space::encoded}));
        Blur mapped{.border = border, .space = Space::encoded};
        mapped.radius_max = radius;
        mapped.radius_map = map.view();
        images.push_back(blur(device, picture, mapped));
      }
    for (const double sigma : {1.1, 3.3})
      images.push_back(blur(device, picture, {.sigma = sigma, .space = space}));
    for (const double amount : {0.5, 40.0})
      images.push_back(unsharp(device, picture, {.amount = amount, .radius = 2.5, .space = space}));
    for (const double radius : {1.0, 2.0, 12.0}) {
      images.push_back(erode(device, picture, {.radius = radius}));
      images.push_back(dilate(device, picture, {.radius = radius, .border = Border::wrap}));
    }
    images.push_back(smooth(device, picture, {.sigma = 2.7, .space = space}));
    EdgeSmooth guided{.sigma_s = 9, .space = space};
    images.push_back(edge_smooth(device, picture, guided));
    guided.guide = map.view();
    images.push_back(edge_smooth(device, picture, guided));
    for (const Connectivity connectivity : {Connectivity::four, Connectivity::eight})
      for (const bool zeros : {false, true})
        images.push_back(find_regions(device, map, {connectivity, zeros}).labels);
    for (const double length : {1.0, 5.5, 120.0, 300.0}) {
      images.push_back(mask(device, picture, {.grow = length}));
      images.push_back(mask(device, picture, {.shrink = length}));
      images.push_back(mask(device, picture, {.feather = length}));
    }
    for (const double radius : {2.0, 20.0}) {
      images.push_back(satin::guided(device, picture, {.radius = radius}));
      images.push_back(satin::guided(device, picture, {.radius = radius, .eps = 1e-4, .guide = map.view()}));
      images.push_back(satin::guided(device, map, {.radius = radius, .guide = picture.view()}));
    }
    for (const int window : {1, 7, 31}) {
      images.push_back(local_deviation(device, picture, {.window = window}));
      images.push_back(normalize(device, picture, {.window = window}));
      images.push_back(threshold(device, picture, {.window = window}));
    }
    images.push_back(integral(device, picture));
    images.push_back(integral(device, picture, {.squared = true}));
  }
  return images;
}

TEST(SimdTargets, GiveTheBytesOfTheBaseline) {
  const Device& device = device_under_test();
  if (device.is_cuda()) GTEST_SKIP() << "SIMD is the CPU's";
  const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  ASSERT_FALSE(targets.empty());
  for (const Format& format : every_format()) {
    if (slow_build() && format.channels != 3) continue;
    std::vector<Image> baseline;
    {
      const ForcedTarget forced(targets.back());  // the least able one comes last
      baseline = results(device, format);
    }
    for (const std::int64_t target : targets) {
      const ForcedTarget forced(target);
      const std::vector<Image> found = results(device, format);
      for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_EQ(difference(found[i], baseline[i]), "")
            << hwy::TargetName(target) << ", result " << i << ", " << name_of(format.type) << " x "
            << format.channels;
    }
  }
}

TEST(SimdTargets, LimitsApplyToDevicesOpenedLater) {
  const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  for (auto target = targets.rbegin(); target != targets.rend(); ++target) {
    limit_simd(hwy::TargetName(*target));
    static_cast<void>(Device::open("cpu"));
    hwy::ChosenTarget expected;
    expected.Update(*target);
    EXPECT_EQ(hwy::GetChosenTarget().GetIndex(), expected.GetIndex()) << hwy::TargetName(*target);
  }
}

TEST(SimdTargets, LimitsChooseTheTarget) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    const ForcedTarget forced(target);
    EXPECT_EQ(hwy::SupportedTargets() & target, target) << hwy::TargetName(target);
    EXPECT_EQ(Device::open("cpu").info().name.find(hwy::TargetName(target)), 0U)
        << Device::open("cpu").info().name;
  }
}

}  // namespace
}  // namespace satin::test
