// The operation `deposit` against samples that are spread pixel by pixel.

#include "core/operations/deposit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/backend.h"
#include "core/lens_kernels.h"
#include "device_under_test.h"
#include "forced_target.h"
#include "oracle_lens.h"
#include "pictures.h"

namespace satin::test {
namespace {

/// A plane in the backend's memory whose rows lie further apart than they are long.
class Plane {
 public:
  Plane(Backend& backend, std::int64_t width, std::int64_t height, int channels, Type type)
      : backend_(backend),
        row_bytes_(static_cast<std::size_t>(width * channels) * size_of(type)),
        row_(row_bytes_ + 3 * size_of(type)),
        bytes_(row_ * static_cast<std::size_t>(height), std::byte{0xCD}),
        buffer_(backend.allocate(bytes_.size())) {
    const auto element = static_cast<std::ptrdiff_t>(size_of(type));
    view_ = {buffer_.get(),
             {width, height, channels, type},
             {element * channels, static_cast<std::ptrdiff_t>(row_), element, 0},
             backend.host_memory ? Memory::host : Memory::device};
    backend_.upload(buffer_.get(), bytes_.data(), bytes_.size(), {});
  }

  template <class T>
  Plane& fill(const std::vector<T>& values) {
    for (std::size_t y = 0; y * row_ < bytes_.size(); ++y)
      std::memcpy(bytes_.data() + y * row_,
                  reinterpret_cast<const std::byte*>(values.data()) + y * row_bytes_, row_bytes_);
    backend_.upload(buffer_.get(), bytes_.data(), bytes_.size(), {});
    return *this;
  }

  /// What was written; nothing may be behind the rows.
  std::vector<std::uint32_t> read() {
    backend_.download(bytes_.data(), buffer_.get(), bytes_.size(), {});
    std::vector<std::uint32_t> values(row_bytes_ / 4 * (bytes_.size() / row_));
    for (std::size_t y = 0; y * row_ < bytes_.size(); ++y) {
      std::memcpy(reinterpret_cast<std::byte*>(values.data()) + y * row_bytes_, bytes_.data() + y * row_,
                  row_bytes_);
      for (std::size_t i = row_bytes_; i < row_; ++i)
        EXPECT_EQ(bytes_[y * row_ + i], std::byte{0xCD}) << "behind row " << y;
    }
    return values;
  }

  [[nodiscard]] const MutableImageView& view() const { return view_; }

 private:
  Backend& backend_;
  std::size_t row_bytes_;
  std::size_t row_;
  std::vector<std::byte> bytes_;
  Buffer buffer_;
  MutableImageView view_;
};

/// The result of two runs of one operation, which must be equal. The list says that it has `more` samples
/// more than it has room for.
std::vector<std::uint32_t> run_scene(const LensScene& scene, const Device& device = device_under_test(),
                                     std::uint32_t more = 0, const std::uint32_t* white = nullptr) {
  Backend& backend = device.backend();
  DepositJob job = scene.job;
  job.most_listed = static_cast<std::uint32_t>(scene.listed.size());
  const auto plane = [&](int channels, Type type) {
    return Plane(backend, job.width, job.height, channels, type);
  };
  Plane source = plane(job.channels, Type::u32);
  Plane colours = plane(job.channels, Type::u32);
  Plane radii = plane(1, Type::u32);
  Plane groups = plane(1, Type::u8);
  Plane weights = plane(1, Type::u16);
  Plane output = plane(job.channels, Type::u32);
  source.fill(scene.source);
  colours.fill(scene.colours);
  radii.fill(scene.radii);
  groups.fill(scene.groups);
  weights.fill(scene.weights);
  const std::size_t list_bytes = scene.listed.size() * sizeof(LensSample);
  const Buffer list = backend.allocate(list_bytes + sizeof(LensSample));
  const Buffer count_buffer = backend.allocate(4);
  const std::uint32_t count = job.most_listed + more;
  const Buffer white_buffer = backend.allocate(4);
  if (white != nullptr) backend.upload(white_buffer.get(), white, 4, {});
  if (list_bytes > 0) backend.upload(list.get(), scene.listed.data(), list_bytes, {});
  backend.upload(count_buffer.get(), &count, 4, {});

  const auto operation = backend.operations.deposit(backend, job);
  const DepositImages images{
      source.view(),
      colours.view(),
      radii.view(),
      groups.view(),
      weights.view(),
      reinterpret_cast<const LensSample*>(list.get()),
      reinterpret_cast<const std::uint32_t*>(count_buffer.get()),
      output.view(),
      white == nullptr ? nullptr : reinterpret_cast<const std::uint32_t*>(white_buffer.get())};
  operation->run(images, {});
  std::vector<std::uint32_t> first = output.read();
  operation->run(images, {});
  const std::vector<std::uint32_t> second = output.read();
  EXPECT_EQ(first, second) << "the second run";
  return first;
}

void expect_near(const std::vector<std::uint32_t>& found, const std::vector<long double>& expected,
                 const DepositJob& job) {
  // Half a step is the rounding's, the rest that of the composite.
  const long double error = .5L + (job.colour_bits <= 18 ? .25L : .01L);
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_LE(std::abs(static_cast<long double>(found[i]) - expected[i]), error)
        << "x " << i / static_cast<std::size_t>(job.channels) % static_cast<std::size_t>(job.width) << ", y "
        << i / static_cast<std::size_t>(job.channels * job.width) << ": " << found[i];
}

std::uint32_t random_colour(const DepositJob& job, Random& random) {
  return static_cast<std::uint32_t>(random.below(std::uint64_t{1} << job.colour_bits));
}

/// Patches of one radius and group, with pixels of their own among them, and a list that comes in any order.
LensScene random_scene(DepositJob job, std::size_t listed, std::uint64_t seed) {
  Random random(seed);
  LensScene scene = empty_scene(job.width, job.height, job.channels);
  job.alpha = scene.job.alpha;
  scene.job = job;
  const auto radius = [&] {
    return static_cast<std::uint32_t>(
        random.one_in(4) ? random.below(200) : random.below(job.largest_radius + job.largest_radius / 4 + 1));
  };
  const auto group = [&] {
    return static_cast<std::uint8_t>(random.below(static_cast<std::uint64_t>(job.groups)));
  };
  for (std::uint32_t& colour : scene.source) colour = random_colour(job, random);
  for (std::uint32_t& colour : scene.colours) colour = random_colour(job, random);
  constexpr std::int64_t patch = 16;
  for (std::int64_t top = 0; top < job.height; top += patch)
    for (std::int64_t left = 0; left < job.width; left += patch) {
      const std::uint32_t patch_radius = radius();
      const std::uint8_t patch_group = group();
      for (std::int64_t y = top; y < std::min(job.height, top + patch); ++y)
        for (std::int64_t x = left; x < std::min(job.width, left + patch); ++x) {
          const auto at = static_cast<std::size_t>(y * job.width + x);
          scene.radii[at] = random.one_in(8) ? radius() : patch_radius;
          scene.groups[at] = random.one_in(8) ? group() : patch_group;
          scene.weights[at] = static_cast<std::uint16_t>(random.one_in(4)   ? 0
                                                         : random.one_in(3) ? random.below(lens_full_weight)
                                                                            : lens_full_weight);
        }
    }
  for (std::size_t i = 0; i < listed; ++i) {
    LensSample sample{};
    for (std::uint32_t& colour : sample.colour) colour = random_colour(job, random);
    sample.x = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(job.width)));
    sample.y = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(job.height)));
    sample.radius = radius();
    sample.block = random.one_in(2) ? 2 : 1;
    sample.weight = static_cast<std::uint16_t>(random.below(lens_full_weight * sample.block + 1));
    sample.group = group();
    scene.listed.push_back(sample);
  }
  return scene;
}

DepositJob job_of(std::int64_t width, std::int64_t height, int channels, int groups, double radius) {
  DepositJob job;
  job.width = width;
  job.height = height;
  job.channels = channels;
  job.groups = groups;
  job.largest_radius = static_cast<std::uint32_t>(radius * 256);
  return job;
}

TEST(Deposit, SpreadsEverySampleOverItsShape) {
  std::uint64_t seed = 1;
  for (const Bokeh bokeh : {Bokeh::disc, Bokeh::hexagon, Bokeh::square})
    for (const DepositQuality quality : {DepositQuality::fast, DepositQuality::high})
      for (const int channels : {1, 2, 3, 4})
        for (const int colour_bits : {16, 18, 24, 32}) {
          DepositJob job = job_of(40, 33, channels, 1 + static_cast<int>(seed % 5), 9.5);
          job.bokeh = bokeh;
          job.quality = quality;
          job.colour_bits = colour_bits;
          job.white = static_cast<std::uint32_t>((std::uint64_t{3} << colour_bits) / 4);
          const LensScene scene = random_scene(job, 200, seed++);
          SCOPED_TRACE(seed);
          expect_near(run_scene(scene), expected_composite(scene), job);
        }
}

TEST(Deposit, LongRunsOfNeighboursThatHaveOneShape) {
  std::uint64_t seed = 50;
  for (const int channels : {1, 2, 3, 4})
    for (const std::uint32_t step : {0U, 1U, 9U}) {
      DepositJob job = job_of(201, 24, channels, 2, 14);
      job.white = 50000;
      LensScene scene = random_scene(job, 0, seed++);
      Random random(seed);
      for (std::size_t i = 0; i < scene.pixels(); ++i) {
        const auto x = static_cast<std::uint32_t>(i % 201);
        scene.radii[i] = 1500 + step * x;
        scene.groups[i] = x < 120 ? 0 : 1;
        scene.weights[i] = random.one_in(40) ? lens_full_weight / 3 : lens_full_weight;
        // highlights have shapes of their own
        if (!random.one_in(60))
          for (int c = 0; c < channels; ++c)
            scene.colours[i * static_cast<std::size_t>(channels) + static_cast<std::size_t>(c)] /= 2;
      }
      SCOPED_TRACE(testing::Message() << channels << " channels, step " << step);
      expect_near(run_scene(scene), expected_composite(scene), job);
    }
}

TEST(Deposit, MergesNeighboursThatAreAlike) {
  std::uint64_t seed = 70;
  for (const int channels : {1, 2, 3, 4})
    for (const auto& [width, height] : {std::pair{201, 23}, {64, 32}, {700, 9}, {2, 2}, {33, 1}})
      for (const std::uint32_t step : {0U, 9U, 100U}) {
        DepositJob job = job_of(width, height, channels, 2, 14);
        job.quality = DepositQuality::fast;
        job.colour_bits = channels == 1 ? 32 : 16;
        job.white = 50000;
        job.merge_from = 1500;
        LensScene scene = random_scene(job, 20, seed++);
        Random random(seed);
        for (std::size_t i = 0; i < scene.pixels(); ++i) {
          const auto x = static_cast<std::uint32_t>(i % static_cast<std::size_t>(width));
          scene.radii[i] = 1400 + step * x + static_cast<std::uint32_t>(random.below(x % 64 < 16 ? 200 : 20));
          scene.groups[i] = random.one_in(60) ? 1 : 0;
          scene.weights[i] = random.one_in(60) ? lens_full_weight / 3 : lens_full_weight;
        }
        // most are no highlights
        for (std::uint32_t& colour : scene.colours)
          if (!random.one_in(100)) colour = static_cast<std::uint32_t>(random.below(job.white + 1));
        SCOPED_TRACE(testing::Message()
                     << channels << " channels, " << width << " x " << height << ", step " << step);
        const std::vector<std::uint32_t> found = run_scene(scene);
        expect_near(found, expected_composite(scene), job);
        scene.job.merge_from = never_merged;
        if (height > 2) {
          EXPECT_NE(found, run_scene(scene)) << "nothing was merged";
        }
      }
}

TEST(Deposit, PicturesOfAnySize) {
  std::uint64_t seed = 100;
  for (const auto& [width, height] :
       {std::pair{1, 1}, {1, 70}, {70, 1}, {2, 3}, {31, 33}, {65, 64}, {129, 127}, {300, 20}})
    for (const double radius : {0.0, 0.7, 3.0, 30.0}) {
      const DepositJob job = job_of(width, height, 3, 3, radius);
      const LensScene scene = random_scene(job, static_cast<std::size_t>(width * height / 8), seed++);
      SCOPED_TRACE(testing::Message() << width << " x " << height << ", radius " << radius);
      expect_near(run_scene(scene), expected_composite(scene), job);
    }
}

TEST(Deposit, AConstantPictureStaysConstant) {
  for (const int colour_bits : {16, 18, 24, 32})
    for (const double radius : {4.0, 40.0}) {
      DepositJob job = job_of(150, 97, 3, 4, radius);
      job.colour_bits = colour_bits;
      job.white = ~0U >> (32 - colour_bits);
      LensScene scene = random_scene(job, 500, 7);
      const std::uint32_t colour[3] = {job.white, job.white / 3, 1};
      for (std::size_t i = 0; i < scene.colours.size(); ++i)
        scene.colours[i] = scene.source[i] = colour[i % 3];
      for (LensSample& sample : scene.listed) std::copy_n(colour, 3, sample.colour);
      const std::vector<std::uint32_t> found = run_scene(scene);
      for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], colour[i % 3]) << i;
    }
}

TEST(Deposit, FocusKeepsTheColours) {
  const DepositJob job = job_of(50, 40, 4, 2, 20);
  LensScene scene = random_scene(job, 0, 3);
  for (std::size_t i = 0; i < scene.pixels(); ++i) {
    scene.radii[i] = static_cast<std::uint32_t>(i % (lens_focus_radius + 1));
    scene.weights[i] = lens_full_weight;
  }
  EXPECT_EQ(run_scene(scene), scene.colours);
}

TEST(Deposit, TheSourceShowsWhereNothingArrives) {
  const DepositJob job = job_of(64, 20, 3, 2, 5);
  LensScene scene = random_scene(job, 0, 4);
  std::fill(scene.weights.begin(), scene.weights.end(), std::uint16_t{0});
  EXPECT_EQ(run_scene(scene), scene.source) << "no sample at all";
  scene.weights[10 * 64 + 30] = 1;
  scene.radii[10 * 64 + 30] = 5 * 256;
  const std::vector<std::uint32_t> found = run_scene(scene);
  const auto pixel = [&](const std::vector<std::uint32_t>& picture, std::size_t x, std::size_t y) {
    return std::vector<std::uint32_t>(picture.begin() + static_cast<std::ptrdiff_t>((y * 64 + x) * 3),
                                      picture.begin() + static_cast<std::ptrdiff_t>((y * 64 + x) * 3 + 3));
  };
  EXPECT_EQ(pixel(found, 33, 10), pixel(scene.colours, 30, 10)) << "one light sample covers it alone";
  EXPECT_EQ(pixel(found, 37, 10), pixel(scene.source, 37, 10));
  EXPECT_EQ(pixel(found, 30, 17), pixel(scene.source, 30, 17));
}

TEST(Deposit, NearerGroupsHideFartherOnes) {
  const DepositJob job = job_of(9, 9, 1, 3, 1);
  LensScene scene = random_scene(job, 0, 5);
  std::fill(scene.radii.begin(), scene.radii.end(), 0U);
  std::fill(scene.groups.begin(), scene.groups.end(), std::uint8_t{1});
  std::fill(scene.colours.begin(), scene.colours.end(), 1000U);
  std::fill(scene.weights.begin(), scene.weights.end(), static_cast<std::uint16_t>(lens_full_weight));
  scene.listed = {{{60000}, 4, 4, 0, lens_full_weight / 4, 1, 0}, {{50000}, 4, 4, 0, lens_full_weight, 1, 2}};
  const std::vector<std::uint32_t> found = run_scene(scene);
  EXPECT_EQ(found[4 * 9 + 4], 60000U / 4 + 750U);
  EXPECT_EQ(found[4 * 9 + 5], 1000U);
}

TEST(Deposit, ReadsNoMoreOfTheListThanThereIs) {
  const DepositJob job = job_of(61, 45, 3, 2, 12);
  const LensScene scene = random_scene(job, 300, 6);
  EXPECT_EQ(run_scene(scene, device_under_test(), 1000), run_scene(scene)) << "a count above the capacity";
  LensScene without = scene;
  without.listed.clear();
  LensScene reversed = scene;
  std::reverse(reversed.listed.begin(), reversed.listed.end());
  EXPECT_EQ(run_scene(reversed), run_scene(scene)) << "the order of the list";
  EXPECT_NE(run_scene(without), run_scene(scene));
  expect_near(run_scene(without), expected_composite(without), job);
}

TEST(Deposit, HighlightsAreWhatIsAboveTheWhiteOfTheRun) {
  DepositJob job = job_of(61, 45, 3, 2, 12);
  job.quality = DepositQuality::fast;
  LensScene scene = random_scene(job, 100, 9);
  const std::vector<std::uint32_t> without = run_scene(scene);
  const std::uint32_t white = 40000;
  const std::vector<std::uint32_t> found = run_scene(scene, device_under_test(), 0, &white);
  EXPECT_NE(found, without);
  scene.job.white = white;
  EXPECT_EQ(found, run_scene(scene)) << "as if it were the job's";
}

TEST(Deposit, SumsFitWhereMostMeets) {
  // Every radius reaches just the middle, all colours are the largest, two samples a pixel.
  DepositJob job = job_of(129, 129, 1, 1, 64);
  job.colour_bits = 32;
  job.white = ~0U;
  LensScene scene = random_scene(job, 0, 8);
  for (std::int64_t y = 0; y < 129; ++y)
    for (std::int64_t x = 0; x < 129; ++x) {
      const auto at = static_cast<std::size_t>(y * 129 + x);
      const auto reach = std::hypot(static_cast<double>(x - 64), static_cast<double>(y - 64)) + 1;
      scene.radii[at] = static_cast<std::uint32_t>(std::min(64.0, reach) * 256);
      scene.colours[at] = scene.source[at] = ~0U;
      scene.weights[at] = lens_full_weight;
      scene.listed.push_back({{~0U},
                              static_cast<std::int32_t>(x),
                              static_cast<std::int32_t>(y),
                              scene.radii[at],
                              lens_full_weight,
                              1,
                              0});
    }
  for (const std::uint32_t value : run_scene(scene)) ASSERT_EQ(value, ~0U);
}

TEST(Deposit, LowPartsOfShortSumsFitWhereMostMeet) {
  // All samples that reach the picture's corner have a corner there.
  constexpr int low_bits = 19;
  for (const double radius : {40.0, 64.0}) {
    DepositJob job = job_of(129, 129, 1, 1, radius);
    job.quality = DepositQuality::fast;
    job.white = 0xFFFF;
    const std::uint64_t share = lens_kernels(job).kernels[job.largest_radius].weight[0];
    const auto low_part = [&](std::uint32_t colour) {
      return static_cast<std::int64_t>(colour * share << (64 - low_bits)) >> (64 - low_bits);
    };
    std::uint32_t lowest = 1;
    std::uint32_t highest = 1;
    for (std::uint32_t colour = 2; colour <= job.white; ++colour) {
      if (low_part(colour) < low_part(lowest)) lowest = colour;
      if (low_part(colour) > low_part(highest)) highest = colour;
    }
    for (const std::uint32_t colour : {lowest, highest}) {
      LensScene scene = random_scene(job, 0, 8);
      std::fill(scene.colours.begin(), scene.colours.end(), colour);
      std::fill(scene.radii.begin(), scene.radii.end(), job.largest_radius);
      std::fill(scene.weights.begin(), scene.weights.end(), static_cast<std::uint16_t>(lens_full_weight));
      for (const std::uint32_t value : run_scene(scene)) ASSERT_EQ(value, colour);
    }
  }
}

TEST(Deposit, GivesTheBytesOfTheCpuWithAnyThreads) {
  std::uint64_t seed = 40;
  for (const int groups : {1, 3, 8})
    for (const double radius : {2.0, 17.0, 64.0}) {
      const LensScene scene = random_scene(job_of(700, 391, 3, groups, radius), 20000, seed++);
      const std::vector<std::uint32_t> expected = run_scene(scene, Device::open("cpu", {.threads = 1}));
      EXPECT_TRUE(run_scene(scene) == expected) << radius;
      EXPECT_TRUE(run_scene(scene, Device::open("cpu", {.threads = 5})) == expected) << radius;
    }
}

TEST(Deposit, GivesTheBytesOfTheCpuAroundTiles) {
  // Radii below, at and above what tiles look for, in short and in long sums.
  std::uint64_t seed = 200;
  for (const auto& [width, height] : {std::pair{63, 31}, {64, 32}, {65, 33}, {127, 97}, {257, 160}})
    for (const double radius : {1.5, 32.0, 41.0, 47.0, 64.0, 70.0, 90.0})
      for (const int channels : {1, 2, 3, 4}) {
        DepositJob job = job_of(width, height, channels, 4, radius);
        job.quality = channels == 2 ? DepositQuality::fast : DepositQuality::high;
        job.colour_bits = channels == 4 ? 24 : 16;
        job.merge_from = 10 * 256;
        job.white = channels < 3 ? 0xFFFF : 60000;
        const LensScene scene = random_scene(job, static_cast<std::size_t>(width), seed++);
        EXPECT_TRUE(run_scene(scene) == run_scene(scene, Device::open("cpu")))
            << width << " x " << height << " x " << channels << ", radius " << radius;
      }
}

TEST(Deposit, GivesTheSameBytesFromEverySimdTarget) {
  if (device_under_test().is_cuda()) GTEST_SKIP() << "SIMD is the CPU's";
  const Device device = Device::open("cpu");
  for (const int channels : {1, 2, 3, 4})
    for (const int colour_bits : {18, 32}) {
      DepositJob job = job_of(150, 61, channels, 3, 11);
      job.colour_bits = colour_bits;
      const LensScene scene = random_scene(job, 700, 60);
      const std::vector<std::uint32_t> expected = run_scene(scene, device);
      for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        const ForcedTarget forced(target);
        EXPECT_TRUE(run_scene(scene, device) == expected)
            << hwy::TargetName(target) << ", " << channels << " channels of " << colour_bits << " bits";
      }
    }
}

}  // namespace
}  // namespace satin::test
