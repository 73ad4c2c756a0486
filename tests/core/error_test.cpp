// Refused arguments: the kind of the error, and the names in its message.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "satin/filter.h"
#include "satin/filters/blur.h"
#include "satin/filters/integral.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class Refused : public testing::Test {
 protected:
  Image picture_ = random_picture({12, 9, 3, Type::u8}, 1);
  Image map_ = random_map(12, 9, Type::u8, 2);
  const Device& device_ = device_under_test();

  void expect_refused(const std::string& piece, const Blur& parameters) {
    expect_error(ErrorKind::usage, piece, [&] { return blur(device_, picture_, parameters); });
  }
};

TEST_F(Refused, Radii) {
  expect_refused("radius -1", {.radius = -1});
  expect_refused("from 0 to 16384", {.radius = 1e9});
  expect_refused("radius", {.radius = nan});
  expect_refused("radius", {.radius = std::numeric_limits<double>::infinity()});
  expect_refused("radius", {.radius = Radius({1, false}, {-0.5, false})});
  expect_refused("sigma", {.sigma = -0.1});
  expect_refused("sigma", {.sigma = nan});
  expect_refused("sigma 5000", {.sigma = 5000});
}

TEST_F(Refused, BorderValues) {
  expect_refused("border-value 1.5", {.border = Border::constant, .border_value = 1.5});
  expect_refused("border-value", {.border = Border::constant, .border_value = nan});
  picture_ = random_picture({12, 9, 3, Type::f32}, 1);
  expect_refused("border-value", {.border = Border::constant, .border_value = nan});
  expect_refused("border-value", {.border = Border::constant, .border_value = 1e300});
}

TEST_F(Refused, RadiusMaps) {
  Blur parameters;
  parameters.radius_map = map_.view();
  expect_refused("radius-max", parameters);
  parameters.radius_max = 1e9;
  expect_refused("radius-max 1e+09", parameters);
  parameters.radius_max = 3;
  parameters.radius_min = -2;
  expect_refused("radius-min -2", parameters);
  parameters.radius_min = 0;
  parameters.sigma = 2;
  expect_refused("radius map works only with the box kernel", parameters);
  parameters.sigma.reset();
  parameters.kernel = Kernel::tent;
  expect_refused("radius map works only with the box kernel", parameters);
  expect_refused("radius-max needs a radius map", {.radius_max = 3});
}

TEST_F(Refused, SideInputsThatDoNotFit) {
  const Image wide = random_map(13, 9, Type::u8, 3);
  const Image colour = random_picture({12, 9, 3, Type::u8}, 4);
  const Image table(Shape{12, 9, 1, Type::u32});
  const Image frames = random_picture({12, 9, 1, Type::u8, Alpha::none, Order::rgb, 2}, 5);
  const Image float_mask = random_map(12, 9, Type::f32, 6);
  const auto with_map = [](const Image& map) {
    Blur parameters;
    parameters.radius_max = 3;
    parameters.radius_map = map.view();
    return parameters;
  };
  const auto with_mask = [](const Image& mask) {
    Blur parameters;
    parameters.mask = mask.view();
    return parameters;
  };
  expect_refused("26 x 9", with_map(random_map(26, 9, Type::u8, 3)));
  expect_refused("3 channels", with_map(colour));
  expect_refused("u32", with_map(table));
  expect_refused("frame", with_map(frames));
  expect_refused("13 x 9", with_mask(wide));
  expect_refused("3 channels", with_mask(colour));
  expect_refused("f32", with_mask(float_mask));
  expect_refused("frame", with_mask(frames));
}

TEST_F(Refused, Pictures) {
  const auto planned = [&](const Shape& shape) {
    return [&, shape] { return plan(device_, shape, Blur{}); };
  };
  expect_error(ErrorKind::usage, "sizes start at 1", planned({0, 5, 1, Type::u8}));
  expect_error(ErrorKind::usage, "sizes start at 1", planned({5, -5, 1, Type::u8}));
  expect_error(ErrorKind::usage, "1 to 4 channels", planned({5, 5, 5, Type::u8}));
  expect_error(ErrorKind::usage, "alpha is the last of 2 or 4",
               planned({5, 5, 3, Type::u8, Alpha::straight}));
  expect_error(ErrorKind::usage, "63 bits",
               planned({std::int64_t{1} << 40, std::int64_t{1} << 40, 1, Type::u8}));
  expect_error(ErrorKind::usage, "u64", planned({5, 5, 1, Type::u64}));
  expect_error(ErrorKind::usage, "Premultiplied 8- and 16-bit",
               planned({5, 5, 4, Type::u8, Alpha::premultiplied}));
  expect_error(ErrorKind::usage, "f64", [&] { return plan(device_, Shape{5, 5, 1, Type::f64}, Integral{}); });
}

TEST_F(Refused, NaNAndInfinity) {
  for (const float value :
       {std::nanf(""), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    Image picture = random_picture({33, 20, 3, Type::f32}, 7);
    picture.view().value<float>(32, 19, 2) = value;
    expect_error(ErrorKind::input, "NaN or infinite", [&] { return blur(device_, picture); });
    expect_error(ErrorKind::input, "NaN or infinite", [&] { return blur(device_, picture, {.sigma = 2.0}); });
    expect_error(ErrorKind::input, "NaN or infinite", [&] { return integral(device_, picture); });
    if (!device_.is_cuda()) continue;
    expect_error(ErrorKind::input, "NaN or infinite", [&] { return blur(device_, device_.upload(picture)); });
  }
}

TEST_F(Refused, MapValuesOutsideTheirRange) {
  for (const float value : {std::nanf(""), -0.01F, 1.0001F}) {
    Image map = random_map(12, 9, Type::f32, 8);
    map.view().value<float>(11, 8) = value;
    Blur parameters;
    parameters.radius_max = 3;
    parameters.radius_map = map.view();
    expect_error(ErrorKind::input, "outside 0..1", [&] { return blur(device_, picture_, parameters); });
  }
}

TEST_F(Refused, AnErrorOfOneRunDoesNotAffectTheNext) {
  Image picture = random_picture({12, 9, 1, Type::f32}, 9);
  Plan prepared = plan(device_, picture.shape(), Blur{});
  Image output = poisoned(picture.shape());
  picture.view().value<float>(3, 3) = std::nanf("");
  expect_error(ErrorKind::input, "NaN", [&] {
    prepared.run(picture.view(), output.view());
    return 0;
  });
  picture.view().value<float>(3, 3) = 0.5F;
  EXPECT_NO_THROW(prepared.run(picture.view(), output.view()));
  EXPECT_TRUE(prepared.check().empty());
}

TEST_F(Refused, TinyValuesBesideHugeOnesAreWarnedAbout) {
  Image picture = constant_picture({4, 4, 1, Type::f32}, 1e6);
  picture.view().value<float>(0, 0) = 1e-9F;
  Plan prepared = plan(device_, picture.shape(), Blur{.radius = 1});
  Image output = poisoned(picture.shape());
  prepared.run(picture.view(), output.view());
  const std::vector<std::string> warnings = prepared.check();
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("2^-40"), std::string::npos);
}

TEST_F(Refused, ViewsThatWereNotPlanned) {
  Plan prepared = plan(device_, picture_.shape(), Blur{});
  Image output = poisoned(picture_.shape());
  const auto run = [&](const ImageView& input, const MutableImageView& target) {
    return [&prepared, input, target] {
      prepared.run(input, target);
      return 0;
    };
  };
  Image other = poisoned({12, 8, 3, Type::u8});
  expect_error(ErrorKind::usage, "plan is for 12 x 9", run(other.view(), output.view()));
  expect_error(ErrorKind::usage, "plan is for 12 x 9", run(picture_.view(), other.view()));
  Image bgr = poisoned({12, 9, 3, Type::u8, Alpha::none, Order::bgr});
  expect_error(ErrorKind::usage, "order of colours", run(bgr.view(), output.view()));
  expect_error(ErrorKind::usage, "missing", run(ImageView{}, output.view()));
  const std::array<ImageView, 3> extra = {picture_.view(), ImageView{}, map_.view()};
  expect_error(ErrorKind::usage, "does not know", [&] {
    prepared.run(std::span<const ImageView>(extra), output.view());
    return 0;
  });
  Plan table = plan(device_, picture_.shape(), Integral{});
  Image sums = poisoned(table.output_shape());
  expect_error(ErrorKind::usage, "does not know", [&] {
    table.run(std::span<const ImageView>(extra), sums.view());
    return 0;
  });
}

TEST_F(Refused, Overlap) {
  const Shape shape{12, 9, 1, Type::u8};
  Plan prepared = plan(device_, shape, Blur{});
  std::vector<std::byte> bytes(400);
  const ImageView input = view_of(bytes.data(), shape);
  const auto run = [&](const MutableImageView& target) {
    return [&, target] {
      prepared.run(input, target);
      return 0;
    };
  };
  expect_error(ErrorKind::usage, "overlap", run(mutable_view_of(bytes.data() + 1, shape)));
  expect_error(ErrorKind::usage, "overlap", run(mutable_view_of(bytes.data() + 107, shape)));
  MutableImageView flipped = mutable_view_of(bytes.data(), shape);
  flipped.data = flipped.at(0, 8);
  flipped.strides.row = -flipped.strides.row;
  expect_error(ErrorKind::usage, "overlap", run(flipped));
  EXPECT_NO_THROW(run(mutable_view_of(bytes.data() + 108, shape))());
  EXPECT_NO_THROW(run(mutable_view_of(bytes.data(), shape))());
}

TEST(UnknownNames, SuggestTheNearestName) {
  expect_error(ErrorKind::usage, "'blur'", [] { return &find_filter("blurr"); });
  expect_error(ErrorKind::usage, "'integral'", [] { return &find_filter("integrel"); });
  expect_error(ErrorKind::usage, "'nothing-like-it'", [] { return &find_filter("nothing-like-it"); });
  Parameters parameters(find_filter("blur"));
  const auto set = [&](const char* name, const char* text) {
    return [&parameters, name, text] {
      parameters.set(name, text);
      return 0;
    };
  };
  expect_error(ErrorKind::usage, "'radius'", set("raduis", "3"));
  expect_error(ErrorKind::usage, "'reflect'", set("border", "reflct"));
  expect_error(ErrorKind::usage, "from 0 to 16384", set("radius", "-1"));
  expect_error(ErrorKind::usage, "from 0 to 16384", set("radius", "1e9"));
  for (const char* text : {"nan", "inf", "3px", "3,", "3,4", "x3", "3x", "3x4x5", "3 ", "0y10"})
    expect_error(ErrorKind::usage, "radius", set("radius", text));
  for (const char* text : {"nan", "-inf", "1.5x", "1e400"})
    expect_error(ErrorKind::usage, "sigma", set("sigma", text));
}

TEST(OpeningDevices, RefusalsSayWhy) {
  const auto open = [](const char* name) { return [name] { return Device::open(name); }; };
  expect_error(ErrorKind::usage, "'gpu'", open("gpu"));
  expect_error(ErrorKind::usage, "''", open(""));
  expect_error(ErrorKind::usage, "a number from 0", open("cuda:x"));
  expect_error(ErrorKind::usage, "a number from 0", open("cuda:"));
  expect_error(ErrorKind::usage, "a number from 0", open("cuda:-1"));
  expect_error(ErrorKind::usage, "a number from 0", open("cuda:0x"));
  expect_error(ErrorKind::environment, "cuda:99", open("cuda:99"));
  expect_error(ErrorKind::usage, "threads", [] { return Device::open("cpu", {.threads = -1}); });
  EXPECT_NO_THROW(static_cast<void>(Device::open("auto")));
  for (const DeviceInfo& info : devices()) EXPECT_EQ(info.usable, info.reason.empty()) << info.id;
}

}  // namespace
}  // namespace satin::test
