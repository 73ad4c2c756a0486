// One case of the CPU backend, for valgrind to count the instructions of.
//   count_case        prints the names of the cases
//   count_case CASE   prepares the case, runs it twice and prints its pixels; the second run is counted_run()
// One thread and one SIMD target, so that the counts of two machines can be compared. Exit code 77: this
// processor does not have the target.

#include <hwy/targets.h>

#include <functional>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "satin/filters.h"
#include "tests/oracles/pictures.h"

/// What valgrind counts, found by its name.
extern "C" [[gnu::noinline]] void counted_run(satin::Plan& plan, std::span<const satin::ImageView> inputs,
                                              const satin::MutableImageView& output) {
  plan.run(inputs, output);
}

namespace {

using satin::Blur;
using satin::Image;
using satin::ImageView;
using satin::Integral;
using satin::Plan;
using satin::Shape;
using satin::Type;

constexpr std::int64_t side = 512;
constexpr int exit_skipped = 77;

struct Case {
  std::string name;
  Shape shape;
  std::function<Plan(const satin::Device&, const Shape&)> plan;
  bool mapped = false;
};

Shape picture_of(Type type, int channels) {
  return {side, side, channels, type, channels == 4 ? satin::Alpha::straight : satin::Alpha::none};
}

/// A radius map of soft patches that hold every value.
Image patches() {
  Image map(Shape{side, side, 1, Type::u8});
  for (std::int64_t y = 0; y < side; ++y)
    for (std::int64_t x = 0; x < side; ++x)
      map.view().value<std::uint8_t>(x, y) = static_cast<std::uint8_t>(x / 16 + y / 9);
  return map;
}

Case integral_case(const std::string& name, Type type, int channels) {
  return {name, picture_of(type, channels),
          [](const satin::Device& device, const Shape& shape) { return plan(device, shape, Integral{}); }};
}

Case blur_case(const std::string& name, Type type, int channels, const Blur& blur) {
  return {name, picture_of(type, channels),
          [blur](const satin::Device& device, const Shape& shape) { return plan(device, shape, blur); }};
}

Case mapped_case(const std::string& name, satin::Space space) {
  const auto make_plan = [space](const satin::Device& device, const Shape& shape) {
    const Image map = patches();
    return plan(device, shape, Blur{.space = space, .radius_max = 31.875, .radius_map = map.view()});
  };
  return {name, picture_of(Type::u8, 3), make_plan, true};
}

std::vector<Case> cases() {
  const auto encoded = satin::Space::encoded;
  return {
      integral_case("integral_u8", Type::u8, 1),
      integral_case("integral_u8_rgb", Type::u8, 3),
      integral_case("integral_u16", Type::u16, 1),
      blur_case("blur_16_u8_rgb_encoded", Type::u8, 3, {.radius = 16, .space = encoded}),
      blur_case("blur_16_u8_rgb_linear", Type::u8, 3, {.radius = 16}),
      blur_case("blur_16_u8_rgba_linear", Type::u8, 4, {.radius = 16}),
      blur_case("blur_16_u16_rgb_encoded", Type::u16, 3, {.radius = 16, .space = encoded}),
      blur_case("blur_16.5_u8_rgb_encoded", Type::u8, 3, {.radius = 16.5, .space = encoded}),
      blur_case("gaussian_8_u8_rgb_encoded", Type::u8, 3, {.sigma = 8.0, .space = encoded}),
      mapped_case("map_32_u8_rgb_encoded", encoded),
      mapped_case("map_32_u8_rgb_linear", satin::Space::linear),
  };
}

void run(const Case& test) {
  const satin::Device device = satin::Device::open("cpu", {.threads = 1});
  const Image picture = satin::test::random_picture(test.shape, 1);
  const Image map = test.mapped ? patches() : Image();
  Plan plan = test.plan(device, test.shape);
  Image output(plan.output_shape());
  const std::vector<ImageView> inputs = {picture.view(), test.mapped ? map.view() : ImageView(), ImageView()};
  plan.run(inputs, output.view());  // what only a first run costs: symbols are bound, pages are touched
  counted_run(plan, inputs, output.view());
  std::cout << test.shape.width * test.shape.height << '\n';
}

int run_named(const std::string& name) {
  for (const Case& test : cases()) {
    if (test.name != name) continue;
    run(test);
    return 0;
  }
  std::cerr << "There is no case " << name << ".\n";
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    for (const Case& test : cases()) std::cout << test.name << '\n';
    return 0;
  }
  if ((hwy::SupportedTargets() & HWY_AVX2) == 0) {
    std::cerr << "Skipped: the counts are for AVX2, which this processor lacks.\n";
    return exit_skipped;
  }
  hwy::SetSupportedTargetsForTest(HWY_AVX2);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return run_named(arguments[1]);
}
