// unsharp() against its definition, with means in exact integers, pixel by pixel; against means that are
// stored first; and the GPU against the CPU.

#include "satin/filters/unsharp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "core/backend.h"
#include "means/unsharp_residual.h"
#include "satin/filters.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/oracle_blur.h"
#include "tests/oracles/oracle_line.h"
#include "tests/oracles/oracle_local.h"
#include "tests/oracles/oracle_transfer.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

std::int64_t largest_of(Type type) { return type == Type::u8 ? 0xFF : 0xFFFF; }

/// Decodes stored integers to the values that the filter computes with.
struct Codes {
  const OracleTransfer* transfer;  ///< null for stored values
  std::int64_t white;

  Codes(Type type, Space space)
      : transfer(space == Space::linear ? &oracle_srgb(type) : nullptr),
        white(transfer == nullptr ? largest_of(type) : transfer->linear.back()) {}
  [[nodiscard]] std::int64_t decode(std::int64_t code) const {
    return transfer == nullptr ? code : transfer->linear[static_cast<std::size_t>(code)];
  }
  [[nodiscard]] std::int64_t encode(std::int64_t value) const {
    return transfer == nullptr ? value : transfer->encode(value);
  }
};

/// Exact means over one box of a picture of integers.
class Box {
 public:
  Box(const ImageView& picture, const Unsharp& unsharp, const Codes& codes)
      : picture_(picture),
        codes_(codes),
        radius_(static_cast<int>(std::lround(unsharp.radius.x.value * 256))),
        columns_(static_cast<int>(picture.shape.width), radius_ / 256 + 1, unsharp.border),
        rows_(static_cast<int>(picture.shape.height), radius_ / 256 + 1, unsharp.border) {}

  /// Returns the mean of channel c's working values, times alpha if weighted, in 1/256, ties up.
  [[nodiscard]] std::int64_t mean256(int x, int y, int c, bool weighted) const {
    const LineWeights columns = covered_length(columns_, x, radius_);
    const LineWeights rows = covered_length(rows_, y, radius_);
    const int alpha = picture_.shape.channels - 1;
    __extension__ using Exact = __int128;
    Exact sum = 0;
    Exact weight = 0;
    for (const auto& row : rows.terms)
      for (const auto& column : columns.terms) {
        const auto value = [&](int channel) {
          return static_cast<std::int64_t>(stored(picture_, column.index, row.index, channel));
        };
        Exact working = weighted && c == alpha ? value(c) : codes_.decode(value(c));
        if (weighted && c != alpha) working *= value(alpha);
        sum += working * (row.weight * column.weight);
        weight += row.weight * column.weight;
      }
    return static_cast<std::int64_t>((2 * 256 * sum + weight) / (2 * weight));
  }

 private:
  const ImageView& picture_;
  const Codes& codes_;
  int radius_;
  ExtendedLine columns_;
  ExtendedLine rows_;
};

void check(const Shape& shape, Unsharp unsharp, std::uint64_t seed) {
  SCOPED_TRACE(describe(shape) + ", seed " + std::to_string(seed));
  unsharp.kernel = Kernel::box;
  const Image image = random_picture(shape, seed);
  const ImageView picture = image.view();
  Plan plan = satin::plan(device_under_test(), shape, unsharp);
  const ImageView inputs[] = {picture};
  const Image found = run_plan(device_under_test(), plan, inputs);
  const Codes codes(shape.type, unsharp.space);
  const Box box(picture, unsharp, codes);
  const bool weighted = shape.alpha == Alpha::straight;
  const int last = shape.channels - 1;
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x) {
      const std::int64_t alpha_mean = weighted ? box.mean256(x, y, last, true) : 0;
      for (int c = 0; c < shape.channels; ++c) {
        const auto code = static_cast<std::int64_t>(stored(picture, x, y, c));
        const auto result = static_cast<std::int64_t>(stored(found, x, y, c));
        const bool kept =
            (shape.alpha != Alpha::none && c == last) ||
            (weighted && (alpha_mean == 0 || static_cast<int>(stored(picture, x, y, last)) == 0));
        if (kept) {
          ASSERT_EQ(result, code) << x << ", " << y << ", " << c;
          continue;
        }
        const auto own = static_cast<Real>(codes.decode(code));
        const auto mean = static_cast<Real>(box.mean256(x, y, c, weighted));
        const Real difference = own - (weighted ? mean / static_cast<Real>(alpha_mean) : mean / 256);
        const Real limit = static_cast<Real>(unsharp.threshold) * static_cast<Real>(codes.white);
        if (weighted && std::fabs(std::fabs(difference) - limit) < 1e-6L && limit > 0) continue;
        const Real wanted =
            std::fabs(difference) > limit ? own + static_cast<Real>(unsharp.amount) * difference : own;
        const Real bounded = std::fmin(std::fmax(wanted, 0), static_cast<Real>(codes.white)) + 0.5L;
        const auto expected = static_cast<std::int64_t>(std::floor(bounded));
        // The filter uses doubles: a quotient may fall on the other side of a tie.
        const bool tie = weighted && std::fabs(bounded - std::round(bounded)) < 1e-6L;
        if (result == codes.encode(expected)) continue;
        ASSERT_TRUE(tie) << x << ", " << y << ", " << c << ": " << result << ", not "
                         << codes.encode(expected) << ", of " << static_cast<double>(wanted);
      }
    }
}

TEST(Unsharp, EqualsItsDefinitionForEveryFormat) {
  std::uint64_t seed = 1;
  for (const Type type : {Type::u8, Type::u16})
    for (const Space space : {Space::encoded, Space::linear})
      for (const int channels : {1, 2, 3, 4})
        for (const Alpha alpha : {Alpha::none, Alpha::straight, Alpha::premultiplied}) {
          if (alpha != Alpha::none && channels % 2 != 0) continue;
          if (alpha == Alpha::premultiplied && space == Space::linear) continue;
          check({23, 17, channels, type, alpha}, {.amount = 0.75, .radius = 2, .space = space}, ++seed);
        }
}

/// Returns unrounded means of all pixels over successive boxes, with colours times alpha if weighted.
std::vector<Real> successive_means(const ImageView& picture, const Unsharp& unsharp, const Codes& codes) {
  Working<Real> working;
  working.width = static_cast<int>(picture.shape.width);
  working.height = static_cast<int>(picture.shape.height);
  working.channels = picture.shape.channels;
  const bool weighted = picture.shape.alpha == Alpha::straight;
  const int last = working.channels - 1;
  for (int y = 0; y < working.height; ++y)
    for (int x = 0; x < working.width; ++x)
      for (int c = 0; c < working.channels; ++c) {
        const auto code = static_cast<std::int64_t>(stored(picture, x, y, c));
        const bool alpha = weighted && c == last;
        const Real weight = weighted && !alpha ? static_cast<Real>(stored(picture, x, y, last)) : 1;
        working.values.push_back(static_cast<Real>(alpha ? code : codes.decode(code)) * weight);
      }
  for (const int radius : radii_of_sigma(static_cast<Real>(unsharp.sigma.value()), 3)) {
    std::size_t i = 0;
    for (const BoxTotal<Real>& total : covered_totals(working, {radius, radius, {}}, unsharp.border))
      for (int c = 0; c < working.channels; ++c)
        working.values[i++] = total.sum[static_cast<std::size_t>(c)] / total.count;
  }
  return working.values;
}

/// Three boxes round intermediate means to 16 bits, which may move a result by one code.
TEST(Unsharp, GaussianIsWithinOneCodeOfItsDefinition) {
  std::uint64_t seed = 300;
  for (const Type type : {Type::u8, Type::u16})
    for (const Space space : {Space::encoded, Space::linear})
      for (const auto& [channels, alpha] : {std::pair{1, Alpha::none},
                                            {3, Alpha::none},
                                            {2, Alpha::straight},
                                            {4, Alpha::straight},
                                            {4, Alpha::premultiplied}}) {
        if (alpha == Alpha::premultiplied && space == Space::linear) continue;
        const Shape shape{70, 61, channels, type, alpha};
        SCOPED_TRACE(describe(shape) + ", seed " + std::to_string(++seed));
        const Image image = random_picture(shape, seed);
        const ImageView picture = image.view();
        const Unsharp parameters{.amount = 0.5, .sigma = 5.3, .space = space};
        const Image found = unsharp(device_under_test(), picture, parameters);
        const Codes codes(type, space);
        const std::vector<Real> means = successive_means(picture, parameters, codes);
        const bool weighted = alpha == Alpha::straight;
        const int last = channels - 1;
        for (int y = 0; y < shape.height; ++y)
          for (int x = 0; x < shape.width; ++x)
            for (int c = 0; c < (alpha == Alpha::none ? channels : last); ++c) {
              if (weighted && stored(picture, x, y, last) == 0.0) continue;
              const Real* pixel = means.data() + (y * shape.width + x) * channels;
              const Real mean = weighted ? pixel[c] / pixel[last] : pixel[c];
              const auto own =
                  static_cast<Real>(codes.decode(static_cast<std::int64_t>(stored(picture, x, y, c))));
              const Real wanted =
                  std::fmin(std::fmax(own + (own - mean) / 2, 0), static_cast<Real>(codes.white));
              const std::int64_t code = codes.encode(static_cast<std::int64_t>(std::floor(wanted + 0.5L)));
              ASSERT_NEAR(stored(found, x, y, c), static_cast<double>(code), 1)
                  << x << ", " << y << ", " << c;
            }
      }
}

/// With amount 100, a mean that is rounded to the picture's type instead of 1/256 would be visible.
TEST(Unsharp, EqualsItsDefinitionForEveryAmountRadiusThresholdAndBorder) {
  std::uint64_t seed = 100;
  for (const double amount : {0.5, 2.0, 100.0})
    for (const double radius : {0.25, 1.0, 3.5, 40.0})
      check({19, 21, 1, Type::u8}, {.amount = amount, .radius = radius}, ++seed);
  for (const double threshold : {0.01, 0.2, 1.0})
    check({19, 21, 3, Type::u8}, {.amount = 1, .radius = 2, .threshold = threshold}, ++seed);
  for (const Border border : {Border::shrink, Border::clamp, Border::reflect, Border::mirror, Border::wrap})
    check({13, 9, 1, Type::u16}, {.amount = 1.5, .radius = 3, .border = border}, ++seed);
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 40}, {40, 1}, {700, 3}})
    check({width, height, 1, Type::u8}, {.amount = 1, .radius = 2}, ++seed);
}

TEST(Unsharp, FloatsAreThePicturePlusItsDifferenceFromTheBlur) {
  for (const Alpha alpha : {Alpha::none, Alpha::straight}) {
    const Shape shape{45, 33, alpha == Alpha::none ? 3 : 4, Type::f32, alpha};
    const Image picture = random_picture(shape, 3);
    const Image mean = blur(device_under_test(), picture, {.sigma = 3.0});
    const Image found = unsharp(device_under_test(), picture, {.amount = 0.5, .sigma = 3.0});
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t x = 0; x < shape.width; ++x)
        for (int c = 0; c < 3; ++c) {
          if (alpha != Alpha::none && stored(picture, x, y, 3) == 0.0) continue;
          const double own = stored(picture, x, y, c);
          ASSERT_NEAR(stored(found, x, y, c), own + 0.5 * (own - stored(mean, x, y, c)), 4e-6)
              << x << ", " << y;
        }
  }
}

TEST(Unsharp, AmountOrRadiusZeroIsTheIdentity) {
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const Space space : {Space::encoded, Space::linear})
      for (const Alpha alpha : {Alpha::none, Alpha::straight}) {
        Image picture = random_picture({40, 30, 4, type, alpha}, 9);
        if (type == Type::f32) picture.view().value<float>(3, 3) = -0.0F;
        EXPECT_EQ(difference(unsharp(device_under_test(), picture, {.amount = 0, .space = space}), picture),
                  "");
        EXPECT_EQ(
            difference(unsharp(device_under_test(), picture, {.amount = 3, .radius = 0, .space = space}),
                       picture),
            "");
      }
}

/// The halos of a step and of its negative are equally strong.
TEST(Unsharp, TreatsLightAndDarkAlike) {
  Image step({60, 8, 1, Type::u8});
  Image negative({60, 8, 1, Type::u8});
  for (std::int64_t y = 0; y < 8; ++y)
    for (std::int64_t x = 0; x < 60; ++x) {
      step.view().value<std::uint8_t>(x, y) = x < 30 ? 80 : 175;
      negative.view().value<std::uint8_t>(x, y) = x < 30 ? 175 : 80;
    }
  const Image a = unsharp(device_under_test(), step);
  const Image b = unsharp(device_under_test(), negative);
  EXPECT_LT(stored(a, 29, 4, 0), 80);
  EXPECT_GT(stored(a, 30, 4, 0), 175);
  for (std::int64_t x = 0; x < 60; ++x) ASSERT_NEAR(stored(a, x, 4, 0) + stored(b, x, 4, 0), 255, 1);
}

TEST(Unsharp, RefusesWhatItCannotDo) {
  const Device& device = device_under_test();
  const auto with = [&](const Unsharp& parameters) {
    return [=, &device] { return plan(device, {8, 8, 1, Type::u8}, parameters); };
  };
  expect_error(ErrorKind::usage, "amount -1", with({.amount = -1}));
  expect_error(ErrorKind::usage, "amount", with({.amount = std::nan("")}));
  expect_error(ErrorKind::usage, "radius -1", with({.radius = -1}));
  expect_error(ErrorKind::usage, "sigma 5000", with({.sigma = 5000}));
  expect_error(ErrorKind::usage, "threshold -0.5", with({.threshold = -0.5}));
  expect_error(ErrorKind::usage, "constant", with({.border = Border::constant}));
  expect_error(ErrorKind::usage, "u32", [&] { return plan(device, {8, 8, 1, Type::u32}, Unsharp{}); });
  Image bad = constant_picture({3, 3, 1, Type::f32}, 1);
  bad.view().value<float>(1, 1) = NAN;
  expect_error(ErrorKind::input, "NaN", [&] { return unsharp(device, bad); });
}

/// Opens a device that stores the means before it adds the residual.
Device device_without_chains() {
  Device device = Device::open("cpu", {.threads = 2});
  device.backend().operations.add<UnsharpResidualChainJob>(
      [](Backend&, const UnsharpResidualChainJob&) { return Prepared<UnsharpResidualChainJob>(); });
  return device;
}

TEST(UnsharpResidualChain, EqualsUnsharpOfStoredMeans) {
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

// Sizes around the ends of a warp's columns.
constexpr std::int64_t widths[] = {1, 5, 16, 239, 240, 241, 256, 257, 264, 500, 768, 1031};
constexpr std::int64_t heights[] = {1, 9, 33, 150};

class UnsharpSizes : public testing::Test {
 protected:
  void SetUp() override {
    if (!device_under_test().is_cuda()) GTEST_SKIP() << "compares a GPU with the CPU";
  }

  /// Calls compare(picture, description) for noise and white of every size.
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

TEST_F(UnsharpSizes, GpuEqualsCpu) {
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
