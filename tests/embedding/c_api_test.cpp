// The C functions give the results of the C++ functions, and refuse invalid arguments.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "satin/c_api.h"
#include "satin/filter.h"
#include "satin/filters.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

class FromC : public testing::Test {
 protected:
  FromC() { EXPECT_EQ(satin_open(device_under_test().info().id.c_str(), &device_), SATIN_OK); }
  ~FromC() override { satin_close(device_); }

  void expect_refused(satin_status status, satin_status kind, const std::string& piece) {
    EXPECT_EQ(status, kind) << piece;
    EXPECT_NE(std::string(satin_last_error()).find(piece), std::string::npos)
        << "'" << satin_last_error() << "' lacks '" << piece << "'";
  }

  satin_status run(const char* pipeline) {
    return satin_run(device_, pipeline, &picture_, nullptr, 0, &output_, nullptr);
  }

  satin_device* device_ = nullptr;
  Image pixels_ = random_picture({31, 17, 3, Type::u16}, 1);
  Image room_ = poisoned(pixels_.shape());
  satin_view picture_ = satin_view_of(pixels_.data(), 31, 17, 3, SATIN_U16);
  satin_view output_ = satin_view_of(room_.data(), 31, 17, 3, SATIN_U16);
};

TEST_F(FromC, RunsAPipelineWithAMask) {
  Image mask = random_map(31, 17, Type::u8, 2);
  const satin_named_view side{"soft", satin_view_of(mask.data(), 31, 17, 1, SATIN_U8)};
  ASSERT_EQ(satin_run(device_, "dilate radius=1 | blur radius=3.5 mask=soft", &picture_, &side, 1, &output_,
                      nullptr),
            SATIN_OK)
      << satin_last_error();
  const Device& device = device_under_test();
  EXPECT_EQ(
      difference(room_, blur(device, dilate(device, pixels_, {.radius = 1}), {.radius = 3.5, .mask = mask})),
      "");
}

TEST_F(FromC, TakesAnyStridesAndMeanings) {
  Shape shape{31, 17, 4, Type::u8, Alpha::straight, Order::bgr, 2};
  const Image pixels = random_picture(shape, 3);
  std::vector<std::byte> planes(byte_size(shape));
  Image room = poisoned(shape);
  satin_view in = satin_view_of(const_cast<std::byte*>(pixels.data()), 31, 17, 4, SATIN_U8);
  in.alpha = SATIN_ALPHA_STRAIGHT;
  in.order = SATIN_BGR;
  in.frames = 2;
  satin_view out = in;
  out.data = planes.data();
  const Strides strides = planar_strides(shape);
  out.pixel_stride = strides.pixel;
  out.row_stride = strides.row;
  out.channel_stride = strides.channel;
  out.frame_stride = strides.frame;
  ASSERT_EQ(satin_run(device_, "blur radius=2", &in, nullptr, 0, &out, nullptr), SATIN_OK)
      << satin_last_error();
  MutableImageView found = mutable_view_of(planes.data(), shape);
  found.strides = strides;
  EXPECT_EQ(difference(found, blur(device_under_test(), pixels, {.radius = 2})), "");
}

TEST_F(FromC, ReturnsTheShapeOfTheOutputBeforeRunning) {
  satin_view output;
  ASSERT_EQ(satin_output_view(device_, "integral", &picture_, nullptr, 0, &output), SATIN_OK);
  EXPECT_EQ(output.data, nullptr);
  EXPECT_EQ(output.width, 31);
  EXPECT_EQ(output.height, 17);
  EXPECT_EQ(output.frames, 1);
  EXPECT_EQ(output.channels, 3);
  EXPECT_EQ(static_cast<Type>(output.type), integral(device_under_test(), pixels_).shape().type);
  EXPECT_EQ(output.row_stride, 31 * 3 * static_cast<std::int64_t>(size_of(static_cast<Type>(output.type))));
}

TEST_F(FromC, DescribesWhatTheRegistryHolds) {
  std::int32_t count = 0;
  const satin_filter* list = satin_filters(&count);
  ASSERT_EQ(static_cast<std::size_t>(count), filters().size());
  for (std::size_t i = 0; i < filters().size(); ++i) {
    const FilterRecord& record = filters()[i];
    EXPECT_EQ(list[i].name, record.name);
    EXPECT_EQ(list[i].help, record.help);
    ASSERT_EQ(static_cast<std::size_t>(list[i].parameter_count), record.parameters.size());
    for (std::size_t p = 0; p < record.parameters.size(); ++p) {
      EXPECT_EQ(list[i].parameters[p].name, record.parameters[p].name);
      EXPECT_EQ(list[i].parameters[p].default_text, record.parameters[p].default_text);
      EXPECT_EQ(list[i].parameters[p].minimum, record.parameters[p].minimum);
      ASSERT_EQ(static_cast<std::size_t>(list[i].parameters[p].choice_count),
                record.parameters[p].choices.size());
      for (std::size_t c = 0; c < record.parameters[p].choices.size(); ++c)
        EXPECT_EQ(list[i].parameters[p].choices[c], record.parameters[p].choices[c]);
    }
    ASSERT_EQ(static_cast<std::size_t>(list[i].input_count), record.inputs.size());
    for (std::size_t p = 0; p < record.inputs.size(); ++p)
      EXPECT_EQ(list[i].inputs[p].name, record.inputs[p].name);
  }
}

const satin_filter& described(const std::string& name) {
  std::int32_t count = 0;
  const satin_filter* list = satin_filters(&count);
  return *std::find_if(list, list + count, [&](const satin_filter& filter) { return filter.name == name; });
}

const satin_parameter& described(const std::string& filter, const std::string& name) {
  const satin_filter& found = described(filter);
  return *std::find_if(found.parameters, found.parameters + found.parameter_count,
                       [&](const satin_parameter& parameter) { return parameter.name == name; });
}

TEST_F(FromC, SaysHowAProgramShowsAParameter) {
  const satin_parameter& sigma = described("blur", "sigma");
  EXPECT_EQ(sigma.kind, SATIN_REAL);
  EXPECT_EQ(sigma.role, SATIN_ROLE_STRENGTH);
  EXPECT_STREQ(sigma.instead_of, "radius");
  EXPECT_EQ(sigma.may_be_unset, 1);
  EXPECT_EQ(sigma.unset_number, -1);
  EXPECT_EQ(sigma.usual_minimum, 0);
  EXPECT_EQ(sigma.usual_maximum, 100);
  EXPECT_EQ(sigma.scale, SATIN_SCALE_LOGARITHMIC);
  EXPECT_STREQ(described("blur", "border").group, "more");
  EXPECT_EQ(described("blur", "space").role, SATIN_ROLE_SPACE);
  EXPECT_EQ(described("median", "radius").whole, 1);
  EXPECT_EQ(described("median", "radius").kind, SATIN_RADIUS);
  EXPECT_EQ(described("threshold", "window").odd, 1);
  EXPECT_EQ(described("unsharp", "amount").usual_maximum, 3);
  EXPECT_EQ(described("crop", "box").kind, SATIN_PICTURE_BOX);
  EXPECT_EQ(described("dof", "depth-range").kind, SATIN_RANGE);
  EXPECT_EQ(described("dof", "depth-unit").rank, 1);
  EXPECT_EQ(described("dof").inputs[0].role, SATIN_INPUT_DEPTH);
  EXPECT_STREQ(described("dof").inputs[0].group, "main");
  EXPECT_EQ(described("blur").space, SATIN_LINEAR);
  EXPECT_EQ(described("median").space, SATIN_ENCODED);
  EXPECT_EQ(described("threshold").shape, SATIN_SHAPE_GREY);
  EXPECT_EQ(described("crop").shape, SATIN_SHAPE_OTHER);
  EXPECT_EQ(described("integral").output, SATIN_OUTPUT_TABLE);
  EXPECT_EQ(described("stats").output, SATIN_OUTPUT_JSON);
}

TEST_F(FromC, FindsTheReachAndOpensWithThreads) {
  std::int64_t x = 0, y = 0;
  ASSERT_EQ(satin_reach(device_, "dilate radius=7x2 | median radius=1", &picture_, nullptr, 0, &x, &y),
            SATIN_OK)
      << satin_last_error();
  EXPECT_EQ(x, 8);
  EXPECT_EQ(y, 3);
  expect_refused(satin_reach(device_, "smooth", &picture_, nullptr, 0, &x, &y), SATIN_USAGE, "'smooth'");
  expect_refused(satin_reach(device_, "blur", &picture_, nullptr, 0, nullptr, &y), SATIN_USAGE, "x is null");
  satin_device* one = nullptr;
  ASSERT_EQ(satin_open_threads("cpu", 1, &one), SATIN_OK);
  EXPECT_EQ(satin_run(one, "blur radius=2", &picture_, nullptr, 0, &output_, nullptr), SATIN_OK);
  EXPECT_EQ(difference(room_, blur(device_under_test(), pixels_, {.radius = 2})), "");
  satin_close(one);
  expect_refused(satin_open_threads("cpu", -1, &one), SATIN_USAGE, "negative");
}

class PlanFromC : public FromC {
 protected:
  ~PlanFromC() override { satin_plan_destroy(plan_); }

  satin_status run_plan() { return satin_plan_run(plan_, &picture_, &side_, 1, &output_, nullptr); }
  /// Fails unless the plan gives the bytes of dof() with this strength and bokeh.
  void expect_dof(double strength, Bokeh bokeh = Bokeh::disc) {
    ASSERT_EQ(run_plan(), SATIN_OK) << satin_last_error();
    Dof expected{.depth = depth_};
    expected.lens.strength = strength;
    expected.style.bokeh = bokeh;
    EXPECT_EQ(difference(room_, dof(device_under_test(), pixels_, expected)), "");
  }

  Image depth_ = random_map(31, 17, Type::u8, 2);
  satin_named_view side_{"z", satin_view_of(depth_.data(), 31, 17, 1, SATIN_U8)};
  satin_plan* plan_ = nullptr;
};

TEST_F(PlanFromC, RunsOftenWithChangedSettings) {
  satin_view shape_only = picture_;
  shape_only.data = nullptr;
  ASSERT_EQ(satin_plan_make(device_, "dof depth=z strength=6", &shape_only, &side_, 1, &plan_), SATIN_OK)
      << satin_last_error();
  satin_close(device_);
  device_ = nullptr;
  satin_view output;
  ASSERT_EQ(satin_plan_output(plan_, &output), SATIN_OK);
  EXPECT_EQ(output.width, 31);
  EXPECT_EQ(output.type, SATIN_U16);
  EXPECT_EQ(output.data, nullptr);
  expect_dof(6);
  expect_dof(6);
  ASSERT_EQ(satin_plan_set(plan_, "dof depth=z strength=2.5"), SATIN_OK) << satin_last_error();
  expect_dof(2.5);
  ASSERT_EQ(satin_plan_set(plan_, "dof depth=z strength=9 bokeh=square"), SATIN_OK) << satin_last_error();
  expect_dof(9, Bokeh::square);
  expect_refused(satin_plan_set(plan_, "dof depth=z strength=-1"), SATIN_USAGE, "strength");
  expect_refused(satin_plan_set(plan_, "blur"), SATIN_USAGE, "other filters");
  expect_refused(satin_plan_set(plan_, "dof depth=y"), SATIN_USAGE, "side inputs");
  expect_dof(9, Bokeh::square);
  expect_refused(satin_plan_run(plan_, &picture_, nullptr, 0, &output_, nullptr), SATIN_USAGE, "z");
}

TEST_F(PlanFromC, IsCancelledByItsProgress) {
  ASSERT_EQ(satin_plan_make(device_, "dof depth=z strength=6", &picture_, &side_, 1, &plan_), SATIN_OK);
  struct Seen {
    int calls = 0;
    std::int32_t answer = 0;
  } seen;
  const satin_progress progress = [](double done, void* context) -> std::int32_t {
    EXPECT_TRUE(done > 0 && done <= 1) << done;
    ++static_cast<Seen*>(context)->calls;
    return static_cast<Seen*>(context)->answer;
  };
  ASSERT_EQ(satin_plan_watch(plan_, progress, &seen), SATIN_OK);
  EXPECT_EQ(run_plan(), SATIN_CANCELLED);
  EXPECT_GT(seen.calls, 0);
  seen = {0, 1};
  expect_dof(6);
  EXPECT_GT(seen.calls, 0);
  ASSERT_EQ(satin_plan_set(plan_, "dof depth=z strength=6 bokeh=square"), SATIN_OK);
  seen = {};
  EXPECT_EQ(run_plan(), SATIN_CANCELLED);
  ASSERT_EQ(satin_plan_watch(plan_, nullptr, nullptr), SATIN_OK);
  expect_dof(6, Bokeh::square);
  expect_refused(satin_plan_watch(nullptr, progress, &seen), SATIN_USAGE, "plan is null");
  satin_plan* none = plan_;
  expect_refused(satin_plan_make(device_, "stats", &picture_, nullptr, 0, &none), SATIN_USAGE, "JSON");
  EXPECT_EQ(none, nullptr);
  satin_plan_destroy(nullptr);
}

TEST_F(FromC, RefusesWithAKindAndAMessage) {
  satin_device* none = device_;
  expect_refused(satin_open("gpu", &none), SATIN_USAGE, "There is no device 'gpu'");
  EXPECT_EQ(none, nullptr);
  expect_refused(satin_open("cuda:99", &none), SATIN_ENVIRONMENT, "cuda:99");
  expect_refused(satin_open(nullptr, &none), SATIN_USAGE, "name is null");
  expect_refused(satin_open("cpu", nullptr), SATIN_USAGE, "device is null");
  expect_refused(run("blur radius=x"), SATIN_USAGE, "radius 'x'");
  expect_refused(run("blur | stats"), SATIN_USAGE, "JSON");
  expect_refused(run(nullptr), SATIN_USAGE, "pipeline is null");
  expect_refused(satin_run(nullptr, "blur", &picture_, nullptr, 0, &output_, nullptr), SATIN_USAGE,
                 "device is null");
  expect_refused(satin_run(device_, "blur", nullptr, nullptr, 0, &output_, nullptr), SATIN_USAGE,
                 "picture is null");
  expect_refused(satin_run(device_, "blur", &picture_, nullptr, 1, &output_, nullptr), SATIN_USAGE,
                 "sides is null");
  expect_refused(satin_run(device_, "blur", &picture_, nullptr, -1, &output_, nullptr), SATIN_USAGE,
                 "negative");
  expect_refused(satin_run(device_, "blur", &picture_, nullptr, 0, nullptr, nullptr), SATIN_USAGE,
                 "output is null");
  output_.width = 30;
  expect_refused(run("blur"), SATIN_USAGE, "output has 30 x 17");
  output_.width = 31;
  output_.type = 9;
  expect_refused(run("blur"), SATIN_USAGE, "type is 9");
  output_ = satin_view_of(room_.data(), 31, 17, 3, SATIN_U16);
  picture_.channels = 5;
  expect_refused(run("blur"), SATIN_USAGE, "5 x u16");
  picture_.channels = 3;
  picture_.height = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(run("blur"), SATIN_USAGE);
  picture_.height = 17;
  picture_.data = nullptr;
  expect_refused(run("blur"), SATIN_USAGE, "picture->data is null");
  satin_close(nullptr);
  EXPECT_STREQ(satin_device_name(nullptr), "");
  EXPECT_EQ(std::string(satin_device_name(device_)), device_under_test().info().id);
}

}  // namespace
}  // namespace satin::test
