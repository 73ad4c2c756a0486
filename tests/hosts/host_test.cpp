// The adapter of all plug-ins: every filter's parameters as controls, and filters that keep their plans.

#include "hosts/host.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <thread>

#include "tests/oracles/device_under_test.h"
#include "tests/oracles/filter_case.h"
#include "tests/oracles/pictures.h"

namespace satin::host {
namespace {

using test::device_under_test;
using test::difference;
using test::random_map;
using test::random_picture;

const ParameterRecord& record_of(const char* filter, const char* parameter) {
  return *find_filter(filter).find_parameter(parameter);
}

Image run_command(const std::string& name, const std::vector<std::pair<std::string, std::string>>& settings,
                  std::span<const ImageView> inputs) {
  Parameters parameters(find_filter(name));
  for (const auto& [parameter, text] : settings) parameters.set(parameter, text);
  std::vector<ImageView> all(inputs.begin(), inputs.end());
  all.resize(1 + parameters.filter().inputs.size());
  std::vector<Shape> shapes;
  for (const ImageView& view : all) shapes.push_back(view.empty() ? Shape{0, 0} : view.shape);
  Plan plan = satin::plan(device_under_test(), parameters, shapes);
  Image result(plan.output_shape());
  plan.run(all, result.view());
  return result;
}

TEST(HostParameters, EveryControlGivesItsTextBack) {
  std::set<Control> seen;
  for (const FilterRecord& filter : filters())
    for (const Parameter& parameter : parameters_of(filter)) {
      SCOPED_TRACE(filter.name + " " + parameter.record->name);
      seen.insert(parameter.control);
      EXPECT_FALSE(explanation_of(parameter).empty());
      if (parameter.control == Control::text) continue;
      EXPECT_GE(parameter.initial, parameter.minimum);
      EXPECT_LE(parameter.initial, parameter.maximum);
      EXPECT_EQ(text_of(parameter, parameter.initial), parameter.record->default_text);
      EXPECT_EQ(text_of(parameter, std::nan("")), "");
      Parameters settings(filter);
      for (const double number : {parameter.minimum, parameter.maximum, parameter.initial}) {
        const std::string text = text_of(parameter, number);
        settings.set(parameter.record->name, text);
        EXPECT_EQ(settings.get(parameter.record->name), text.empty() ? parameter.record->default_text : text);
        EXPECT_EQ(number_of(parameter, text), number);
      }
    }
  EXPECT_EQ(seen.size(), 5U);
}

TEST(HostParameters, AreReadAsHostsGiveThem) {
  const Parameter sigma = parameter_of(record_of("blur", "sigma"));
  EXPECT_EQ(sigma.minimum, -1);
  EXPECT_EQ(text_of(sigma, -1), "");
  EXPECT_EQ(text_of(sigma, 0), "0");
  EXPECT_EQ(text_of(sigma, 2.5), "2.5");
  EXPECT_TRUE(std::isnan(number_of(parameter_of(record_of("blur", "radius")), "8x2")));
  EXPECT_EQ(text_of(parameter_of(record_of("median", "radius")), 2.6), "3");
  const Parameter window = parameter_of(record_of("threshold", "window"));
  EXPECT_EQ(text_of(window, 30), "31");
  EXPECT_EQ(text_of(window, 31.2), "31");
  const Parameter kernel = parameter_of(record_of("blur", "kernel"));
  EXPECT_EQ(kernel.choices.front(), "auto");
  EXPECT_EQ(text_of(kernel, 0), "");
  EXPECT_EQ(text_of(kernel, 3), "gaussian");
  EXPECT_EQ(text_of(parameter_of(record_of("threshold", "invert")), 1), "true");
}

TEST(HostParameters, SlidersCoverTheUsualRange) {
  for (const FilterRecord& filter : filters())
    for (const ParameterRecord& record : filter.parameters) {
      if (!record.is_number()) continue;
      SCOPED_TRACE(filter.name + " " + record.name);
      EXPECT_EQ(record.slider_value(0), record.usual_minimum);
      EXPECT_NEAR(record.slider_value(1), record.usual_maximum, record.odd ? 1 : 1e-9 * record.usual_maximum);
      EXPECT_EQ(record.slider_position(record.usual_minimum - 1), 0);
      EXPECT_EQ(record.slider_position(record.usual_maximum + 1), 1);
      for (const double position : {0.25, 0.5, 0.75})
        EXPECT_NEAR(record.slider_position(record.slider_value(position)), position,
                    record.whole ? 0.2 : 1e-9);
    }
  EXPECT_NEAR(record_of("guided", "eps").slider_value(0.5), std::sqrt(1e-5), 1e-9);
  EXPECT_NEAR(record_of("blur", "radius").slider_value(0.5), std::sqrt(101.0) - 1, 1e-9);
  EXPECT_EQ(record_of("unsharp", "amount").slider_value(0.5), 1.5);
}

TEST(HostRunner, GivesTheBytesOfTheFilterAndKeepsItsPlan) {
  const Image picture = random_picture({70, 50, 3, Type::u8}, 1);
  const ImageView input = picture.view();
  Image result(picture.shape());
  Runner runner(find_filter("blur"), device_under_test());
  for (int frame = 0; frame < 3; ++frame) {
    EXPECT_EQ(runner.set("radius", "3.50"), "");
    EXPECT_EQ(runner.set("sigma", ""), "");
    EXPECT_EQ(runner.run({&input, 1}, result.view()), "");
  }
  EXPECT_EQ(runner.plans_made(), 1);
  EXPECT_EQ(difference(result, run_command("blur", {{"radius", "3.5"}}, {&input, 1})), "");
  EXPECT_EQ(runner.set("radius", ""), "");
  EXPECT_EQ(runner.set("sigma", "2"), "");
  EXPECT_EQ(runner.run({&input, 1}, result.view()), "");
  EXPECT_EQ(runner.plans_made(), 2);
  EXPECT_EQ(difference(result, run_command("blur", {{"sigma", "2"}}, {&input, 1})), "");
}

TEST(HostRunner, VariesAPlanWhereItCan) {
  const Image picture = random_picture({70, 50, 3, Type::u8}, 1);
  const Image depth = random_map(70, 50, Type::u8, 2);
  const std::vector<ImageView> inputs = {picture, depth};
  Image result(picture.shape());
  Runner runner(find_filter("dof"), device_under_test());
  for (const char* strength : {"4", "9", "2.5"}) {
    EXPECT_EQ(runner.set("strength", strength), "");
    EXPECT_EQ(runner.run(inputs, result.view()), "");
    EXPECT_EQ(difference(result, run_command("dof", {{"strength", strength}}, inputs)), "");
  }
  EXPECT_EQ(runner.plans_made(), 1);
  EXPECT_EQ(runner.set("bokeh", "square"), "");
  EXPECT_EQ(runner.run(inputs, result.view()), "");
  EXPECT_EQ(runner.plans_made(), 2);
}

TEST(HostRunner, SaysWhatIsWrongAndGoesOn) {
  const Image picture = random_picture({20, 20, 3, Type::u8}, 1);
  const ImageView input = picture.view();
  Image result(picture.shape());
  Runner runner(find_filter("blur"), device_under_test());
  EXPECT_NE(runner.set("radus", "3").find("Did you mean 'radius'?"), std::string::npos);
  EXPECT_NE(runner.set("radius", "-1").find("radius"), std::string::npos);
  EXPECT_EQ(runner.set("radius", "2"), "");
  EXPECT_EQ(runner.set("sigma", "2"), "");
  const std::string both = runner.run({&input, 1}, result.view());
  EXPECT_NE(both.find("sigma"), std::string::npos);
  EXPECT_NE(both.find("radius"), std::string::npos);
  EXPECT_EQ(runner.set("sigma", ""), "");
  EXPECT_EQ(runner.run({&input, 1}, result.view()), "");
  Image small({10, 20, 3, Type::u8});
  EXPECT_NE(runner.run({&input, 1}, small.view()), "");
  runner.watch([](double) { return false; });
  EXPECT_NE(runner.run({&input, 1}, result.view()), "");
}

TEST(HostRunner, ReadsDepthInAlphaAndLeavesAlphaAlone) {
  const Image rgba = random_picture({40, 30, 4, Type::u8}, 3);
  constexpr std::ptrdiff_t row = 40 * 4 + 12;
  std::vector<std::byte> from(row * 30), to(row * 30, std::byte{77});
  const MutableImageView pixels = rows_of(from.data(), rgba.shape(), row);
  const MutableImageView results = rows_of(to.data(), rgba.shape(), row);
  device_under_test().copy(rgba.view(), pixels);
  const std::vector<ImageView> inputs = {channels_of(pixels, 0, 3), channels_of(pixels, 3, 1)};
  Runner runner(find_filter("dof"), device_under_test());
  EXPECT_EQ(runner.set("strength", "6"), "");
  ASSERT_EQ(runner.run(inputs, channels_of(results, 0, 3)), "");
  const Image packed = copy_of(inputs[0]), depth = copy_of(inputs[1]);
  const std::vector<ImageView> dense = {packed, depth};
  EXPECT_EQ(difference(copy_of(channels_of(results, 0, 3)), run_command("dof", {{"strength", "6"}}, dense)),
            "");
  for (std::int64_t y = 0; y < 30; ++y)
    for (std::int64_t x = 0; x < 40; ++x) ASSERT_EQ(*results.at(x, y, 3), std::byte{77});
  for (std::int64_t y = 0; y < 30; ++y) ASSERT_EQ(to[static_cast<std::size_t>(y * row + 160)], std::byte{77});
}

/// Returns the picture's result, made from chunks of `rows` rows that overlap by the reach.
Image by_chunks(Runner& runner, const ImageView& picture, const PlanOutline& outline, std::int64_t rows) {
  Image result(outline.output);
  for (std::int64_t first = 0; first < picture.shape.height; first += rows) {
    const std::int64_t last = std::min(first + rows, picture.shape.height);
    const std::int64_t top = std::max<std::int64_t>(first - outline.reach->y, 0);
    const std::int64_t bottom = std::min(last + outline.reach->y, picture.shape.height);
    ImageView chunk = picture;
    chunk.data = picture.at(0, top);
    chunk.shape.height = bottom - top;
    Shape shape = outline.output;
    shape.height = chunk.shape.height;
    Image made(shape);
    EXPECT_EQ(runner.run({&chunk, 1}, made.view()), "");
    for (std::int64_t y = first; y < last; ++y)
      std::copy_n(made.view().at(0, y - top), made.view().strides.row, result.view().at(0, y));
  }
  return result;
}

TEST(HostRunner, ChunksThatOverlapByTheReachGiveTheSameBytes) {
  const Image picture = random_picture({90, 140, 1, Type::u8}, 5);
  const ImageView input = picture.view();
  std::set<std::string> local, whole;
  const auto check = [&](const std::string& name, const std::string& parameter, const std::string& text) {
    const FilterRecord& filter = find_filter(name);
    Runner runner(filter, device_under_test());
    if (!parameter.empty()) {
      EXPECT_EQ(runner.set(parameter, text), "");
    }
    const Shape shape = picture.shape();
    const std::optional<LocalReach> reach = runner.reach_of_chunks({&shape, 1});
    (reach ? local : whole).insert(name + (parameter.empty() ? "" : " " + text));
    if (!reach) return;
    const PlanOutline outline = runner.outline({&shape, 1});
    Image expected(outline.output);
    ASSERT_EQ(runner.run({&input, 1}, expected.view()), "");
    EXPECT_EQ(difference(by_chunks(runner, input, outline, 33), expected), "") << name << " " << text;
  };
  for (const FilterRecord& filter : filters()) {
    const bool needs_side = std::ranges::any_of(filter.inputs, &InputRecord::required);
    if (keeps_size(filter) && !needs_side && filter.name != "dof" && filter.name != "redact")
      check(filter.name, "", "");
  }
  check("blur", "radius", "2.5");
  check("blur", "radius", "2%");
  check("blur", "sigma", "3");
  check("threshold", "method", "sauvola");
  check("threshold", "method", "wolf");
  check("threshold", "method", "otsu");
  for (const char* name : {"blur", "blur 2.5", "blur 3", "median", "dilate", "closing", "unsharp", "guided",
                           "local-mean", "threshold sauvola"})
    EXPECT_TRUE(local.contains(name)) << name;
  for (const char* name :
       {"smooth", "edge-smooth", "threshold otsu", "threshold wolf", "blur 2%", "tilt-shift"})
    EXPECT_TRUE(whole.contains(name)) << name;
}

TEST(HostRunner, RunsForSeveralThreadsOnOneDevice) {
  if (device_under_test().is_cuda()) GTEST_SKIP() << "threads are the CPU's";
  const Device one = test::cpu_of_threads(1);
  const Image picture = random_picture({211, 157, 3, Type::u8}, 7);
  const ImageView input = picture.view();
  const Image expected = run_command("median", {{"radius", "4"}}, {&input, 1});
  std::vector<std::thread> threads;
  std::vector<std::string> wrong(4);
  for (std::string& told : wrong)
    threads.emplace_back([&] {
      Runner runner(find_filter("median"), one);
      told = runner.set("radius", "4");
      for (int frame = 0; frame < 10; ++frame) {
        Image result(picture.shape());
        told += runner.run({&input, 1}, result.view());
        told += difference(result, expected);
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& told : wrong) EXPECT_EQ(told, "");
}

TEST(HostDevice, IsNamedByTheEnvironment) {
  ::setenv("SATIN_DEVICE", "toaster", 1);
  EXPECT_NE(sentence_of([] { static_cast<void>(device()); }).find("toaster"), std::string::npos);
  ::setenv("SATIN_DEVICE", "cpu", 1);
  ::setenv("SATIN_THREADS", "many", 1);
  EXPECT_NE(sentence_of([] { static_cast<void>(device()); }).find("SATIN_THREADS"), std::string::npos);
  ::setenv("SATIN_THREADS", "1", 1);
  EXPECT_EQ(device().info().id, "cpu");
}

}  // namespace
}  // namespace satin::host
