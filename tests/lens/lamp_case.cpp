#include "tests/lens/lamp_case.h"

#include <gtest/gtest.h>

#include "tests/oracles/device_under_test.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

constexpr double strength = 160;

/// One corner has another depth: the focus has to lie within the range of the depth.
Image flat_depth(std::int64_t size, double radius) {
  Image depth({size, size, 1, Type::f32});
  for (std::int64_t y = 0; y < size; ++y)
    for (std::int64_t x = 0; x < size; ++x)
      depth.view().value<float>(x, y) = static_cast<float>(x + y == 0 ? 0.5 : 0.5 - radius / strength);
  return depth;
}

}  // namespace

Image out_of_focus(const Image& picture, double radius, const LensStyle& style, const Image& aperture) {
  const Image depth = flat_depth(picture.shape().width, radius);
  Dof dof;
  dof.lens.focus = 0.5;
  dof.lens.strength = strength;
  dof.lens.max_radius = 65;
  dof.style = style;
  dof.depth = depth.view();
  if (!aperture.empty()) dof.aperture = aperture.view();
  const auto result_on = [&](const Device& device) {
    Plan plan = satin::plan(device, picture.shape(), dof);
    const ImageView inputs[] = {picture.view(), dof.depth, {}, dof.aperture};
    return run_plan(device, plan, inputs);
  };
  Image result = result_on(device_under_test());
  if (device_under_test().is_cuda()) {
    EXPECT_EQ(difference(result, result_on(Device::open("cpu"))), "") << "GPU and CPU";
  }
  return result;
}

Image point_at(std::int64_t size, Type type, std::int64_t x, std::int64_t y) {
  Image picture = constant_picture({size, size, 1, type}, 0);
  set_fraction(picture.view(), x, y, 0, 1);
  return picture;
}

}  // namespace satin::test
