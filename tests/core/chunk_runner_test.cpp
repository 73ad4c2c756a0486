// Filters under memory limits: chunks give the bytes of the whole picture.

#include "core/chunk_runner.h"

#include <gtest/gtest.h>

#include <map>

#include "satin/error.h"
#include "satin/filters.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/filter_case.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

/// The device under test, opened again, with a limit that tests set.
const Device& limited_device(std::size_t limit) {
  static const Device device = Device::open(device_under_test().info().id);
  limit_memory(device, limit);
  return device;
}

TEST(ChunkGrid, ChunksCoverThePictureOnceAndAreasHoldTheReach) {
  constexpr std::int64_t width = 53;
  constexpr std::int64_t height = 37;
  for (const bool wraps : {false, true})
    for (const std::int64_t part : {1, 7, 16, 30})
      for (const std::int64_t reach : {0, 1, 9, 40}) {
        const ChunkGrid grid({width, height}, {reach, reach / 2, wraps}, part, part + 2);
        std::map<std::pair<std::int64_t, std::int64_t>, int> covered;
        for (std::int64_t i = 0; i < grid.count(); ++i) {
          const Chunk each = grid.chunk(i);
          ASSERT_EQ(each.area.x.size(), grid.x.area());
          ASSERT_EQ(each.area.y.size(), grid.y.area());
          const auto holds = [&](const Stretch& area, std::int64_t line, std::int64_t position) {
            if (!wraps && (position < 0 || position >= line)) return true;  // a matter of the border
            if (area == Stretch{0, line}) return true;
            return area.first <= position && position < area.last;
          };
          for (std::int64_t y = each.inner.y.first; y < each.inner.y.last; ++y)
            for (std::int64_t x = each.inner.x.first; x < each.inner.x.last; ++x) {
              ++covered[{x, y}];
              for (const std::int64_t d : {-1, 1}) {
                ASSERT_TRUE(holds(each.area.x, width, x + d * reach)) << x << " " << part << " " << reach;
                ASSERT_TRUE(holds(each.area.y, height, y + d * (reach / 2))) << y;
              }
            }
          if (wraps) continue;
          ASSERT_GE(each.area.x.first, 0);
          ASSERT_LE(each.area.x.last, width);
        }
        ASSERT_EQ(covered.size(), static_cast<std::size_t>(width * height));
        for (const auto& [pixel, times] : covered) ASSERT_EQ(times, 1);
      }
}

/// Returns how many plans of this filter run on chunks, under limits of 1/2 and 1/6 of the memory for the
/// whole picture.
int plans_in_chunks(const FilterRecord& filter) {
  int count = 0;
  for_each_filter_case(filter, [&](FilterCase filter_case) {
    if (filter_case.shape.width != 33 || filter_case.shape.height != 31) return;
    filter_case.shape.width = 171;
    filter_case.shape.height = 147;
    if (!accepted(filter_case)) return;
    const std::size_t whole = filter_case.plan(device_under_test(), filter_case.shape).workspace_bytes();
    for (const std::size_t part : {2U, 6U}) try {
        const Device& device = limited_device(whole / part);
        if (whole >= part && filter_case.plan(device, filter_case.shape).in_windows()) ++count;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::environment) << error.what();
      }
  });
  return count;
}

TEST(Chunks, ServeFiltersWithAReach) {
  if (slow_build()) GTEST_SKIP() << "too few cases to meet every filter";
  for (const char* name : {"blur", "dilate", "erode", "guided", "local-deviation", "local-mean", "mask",
                           "median", "normalize", "stretch", "threshold", "unsharp"})
    EXPECT_GT(plans_in_chunks(find_filter(name)), 0) << name;
  for (const char* name : {"integral", "smooth", "edge-smooth"})
    EXPECT_EQ(plans_in_chunks(find_filter(name)), 0) << name;
}

/// Returns a picture that is dark and flat except for one corner, which other chunks cannot see.
Image uneven_picture(Type type) {
  const Shape shape{230, 190, 1, type};
  const Image noise = random_picture(shape, 5);
  Image picture = constant_picture(shape, 0.25);
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      if (x > 170 && y > 150) {
        const std::size_t size = size_of(type);
        std::copy_n(noise.view().at(x, y), size, picture.view().at(x, y));
      } else if ((x + y) % 5 == 0) {
        set_fraction(picture.view(), x, y, 0, 0.3);
      }
  return picture;
}

/// The same pixels with gaps between them, which a plan must copy.
MutableImageView spread(const Image& picture, Image& memory) {
  Shape shape = picture.shape();
  shape.channels = 2;
  memory = poisoned(shape);
  MutableImageView view = memory.view();
  view.shape.channels = 1;
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      std::copy_n(picture.view().at(x, y), size_of(shape.type), view.at(x, y));
  return view;
}

TEST(Chunks, UseMeasuresOfTheWholePicture) {
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const Binarisation method : {Binarisation::otsu, Binarisation::wolf, Binarisation::fixed}) {
      const Image picture = uneven_picture(type);
      Threshold parameters;
      parameters.method = method;
      parameters.window = 9;
      parameters.level = 0.27;
      const Image expected = threshold(device_under_test(), picture, parameters);
      Image memory;
      const ImageView gaps = spread(picture, memory);
      Plan whole = satin::plan(device_under_test(), picture.shape(), parameters);
      const std::size_t limit = whole.workspace_bytes() + 30000;  // the copy has 43700 pixels
      Plan plan = satin::plan(limited_device(limit), picture.shape(), parameters);
      Image result = poisoned(plan.output_shape());
      plan.run(gaps, result.view());
      EXPECT_LE(plan.workspace_bytes(), limit);
      EXPECT_EQ(difference(result, expected), "") << name_of(type) << ", method " << static_cast<int>(method);
    }
}

TEST(Chunks, CanRunInPlace) {
  const Image picture = random_picture({300, 260, 3, Type::u8}, 3);
  Unsharp parameters;  // keeps means of the whole picture on every device
  parameters.radius = 5;
  const Image expected = unsharp(device_under_test(), picture, parameters);
  Plan whole = plan(device_under_test(), picture.shape(), parameters);
  EXPECT_FALSE(whole.in_windows());
  const std::size_t limit = whole.workspace_bytes() / 2;
  Plan plan = satin::plan(limited_device(limit), picture.shape(), parameters);
  EXPECT_EQ(memory_limit(limited_device(limit)), limit);
  EXPECT_TRUE(plan.in_windows());
  ASSERT_LE(plan.workspace_bytes(), limit);
  Image result = picture.clone();
  plan.run(result.view(), result.view());
  EXPECT_EQ(difference(result, expected), "");
}

TEST(Chunks, AreRefusedForFiltersOfTheWholePicture) {
  const Shape shape{200, 200, 1, Type::u8};
  expect_error(ErrorKind::environment, "cannot run on chunks",
               [&] { static_cast<void>(plan(limited_device(100), shape, Smooth{})); });
  expect_error(ErrorKind::environment, "memory limit of 100 bytes",
               [&] { static_cast<void>(plan(limited_device(100), shape, Blur{})); });
}

}  // namespace
}  // namespace satin::test
