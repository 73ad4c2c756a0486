// Control of a host program over the library: memory, cancelling long work, pictures of any layout.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "satin/array.h"
#include "satin/filters.h"
#include "satin/regions.h"
#include "satin/scan.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/ledger.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

TEST(CallersMemory, HoldsPicturesArraysAndPlans) {
  const Shape shape{100, 80, 3, Type::u8};
  const Image picture = random_picture(shape, 1);
  const Image mask = random_map(shape.width, shape.height, Type::u8, 2);
  Ledger ledger;
  Image result;
  {
    const Device device = Device::open("cpu", {.allocator = ledger.allocator()});
    auto grows = [&, calls = std::size_t{0}](const char* what) mutable {
      EXPECT_GT(ledger.calls, calls) << what;
      calls = ledger.calls;
    };
    result = blur(device, picture, {.radius = 4});
    grows("a result");
    EXPECT_EQ(ledger.taken.count(result.data()), 1U);
    const Plan steps = plan(device, shape, EdgeSmooth{});
    EXPECT_GE(steps.workspace_bytes(), 100U * 80 * 3);
    grows("a plan");
    const Array array(device, Type::f32, 1000);
    grows("an array");
    EXPECT_GT(find_regions(device, mask).largest, 0U);
    grows("regions");
  }
  EXPECT_EQ(ledger.taken.size(), 1U) << "what outlives the device";
  EXPECT_EQ(difference(result, blur(Device::open("cpu"), picture, {.radius = 4})), "");
  result = Image();
  EXPECT_TRUE(ledger.taken.empty());
}

TEST(CallersMemory, IsRefusedIfExhaustedOrUnaligned) {
  const Allocator none{[](std::size_t) -> void* { return nullptr; }, [](void*, std::size_t) {}};
  const Device poor = Device::open("cpu", {.allocator = none});
  expect_error(ErrorKind::environment, "no 300 bytes for cpu", [&] {
    return poor.allocate({10, 10, 3, Type::u8});
  });

  Ledger crooked;
  crooked.offset = 8;
  const Device device = Device::open("cpu", {.allocator = crooked.allocator()});
  expect_error(ErrorKind::usage, "multiple of 64", [&] { return device.allocate({10, 10, 3, Type::u8}); });
  EXPECT_TRUE(crooked.taken.empty());

  expect_error(ErrorKind::usage, "both, or neither",
               [&] { return Device::open("cpu", {.allocator = {.allocate = none.allocate, .free = {}}}); });
}

TEST(CallersMemory, HoldsHostPictures) {
  Ledger ledger;
  {
    const Image picture({10, 10, 3, Type::u8}, ledger.allocator());
    EXPECT_TRUE(ledger.holds(picture.data()));
    EXPECT_EQ(picture.memory(), Memory::host);
    const Buffer buffer = allocate_host(77, ledger.allocator());
    EXPECT_EQ(ledger.bytes, 377U);
  }
  EXPECT_TRUE(ledger.taken.empty());

  ledger.limit = 299;
  expect_error(ErrorKind::environment, "no 300 bytes", [&] {
    return Image({10, 10, 3, Type::u8}, ledger.allocator());
  });
  ledger.limit = 300;
  ledger.offset = 8;
  expect_error(ErrorKind::usage, "multiple of 64", [&] {
    return Image({10, 10, 3, Type::u8}, ledger.allocator());
  });
  EXPECT_TRUE(ledger.taken.empty());
  expect_error(ErrorKind::usage, "both, or neither",
               [&] { return allocate_host(1, {.allocate = ledger.allocator().allocate, .free = {}}); });
}

TEST(LongWork, ReportsProgressAfterEveryFrame) {
  Shape film{30, 20, 1, Type::f32};
  film.frames = 5;
  const Image frames = random_picture(film, 6);
  Image result(film);
  Plan steps = plan(device_under_test(), film, Blur{.radius = 2});
  std::vector<double> told;
  steps.watch([&](double done) {
    told.push_back(done);
    return true;
  });
  steps.run(frames, result.view());
  // Floats are measured before they are filtered: two steps per frame.
  ASSERT_GE(told.size(), 5U);
  EXPECT_EQ(told.size() % 5, 0U);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_GT(told.front(), 0);
  EXPECT_EQ(told.back(), 1);
  EXPECT_EQ(difference(result, blur(device_under_test(), frames, {.radius = 2})), "");
}

TEST(LongWork, ReportsEveryChunkAndCanBeCancelled) {
  const Device device = Device::open(device_under_test().info().id);
  const Shape shape{600, 500, 1, Type::u8};
  const Image picture = random_picture(shape, 7);
  Image result(shape);
  limit_memory(device, plan(device, shape, Blur{.radius = 4}).workspace_bytes() / 3);
  Plan steps = plan(device, shape, Blur{.radius = 4});
  int windows = 0;
  steps.watch([&](double) { return ++windows < 3; });
  expect_error(ErrorKind::cancelled, "cancelled", [&] {
    steps.run(picture, result.view());
    return 0;
  });
  EXPECT_EQ(windows, 3);

  steps.watch({});  // the plan remains usable
  steps.run(picture, result.view());
  EXPECT_EQ(difference(result, blur(device_under_test(), picture, {.radius = 4})), "");
}

TEST(LongWork, PassesOnExceptionsOfTheCallback) {
  const Shape shape{30, 20, 1, Type::u8};
  const Image picture = random_picture(shape, 8);
  Image result(shape);
  Plan steps = plan(device_under_test(), shape, Blur{.radius = 2});
  steps.watch([](double) -> bool { throw 42; });
  EXPECT_THROW(steps.run(picture, result.view()), int);
}

}  // namespace
}  // namespace satin::test
