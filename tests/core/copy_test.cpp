// Copies between views of any strides, beside a loop over their elements.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/workspace.h"
#include "satin/device.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/forced_target.h"
#include "tests/oracles/loose_image.h"

namespace satin::test {
namespace {

constexpr std::byte canary{0xA5};

struct Arrangement {
  const char* name;
  Strides (*strides)(const Shape& shape, std::ptrdiff_t size);
};

Strides spaced(const Shape& shape, std::ptrdiff_t pixel, std::ptrdiff_t channel) {
  Strides strides{.pixel = pixel, .row = pixel * shape.width + 5 * channel, .channel = channel};
  strides.frame = strides.row * shape.height + 3 * channel;
  return strides;
}

const Arrangement arrangements[] = {
    {"dense", [](const Shape& s, std::ptrdiff_t) { return interleaved_strides(s); }},
    {"planar", [](const Shape& s, std::ptrdiff_t) { return planar_strides(s); }},
    {"loose rows", [](const Shape& s, std::ptrdiff_t size) { return spaced(s, s.channels * size, size); }},
    {"one more channel",
     [](const Shape& s, std::ptrdiff_t size) { return spaced(s, (s.channels + 1) * size, size); }},
    {"five channels", [](const Shape& s, std::ptrdiff_t size) { return spaced(s, 5 * size, size); }},
    {"every second column",
     [](const Shape& s, std::ptrdiff_t size) { return spaced(s, 2 * s.channels * size, size); }},
    {"every second channel",
     [](const Shape& s, std::ptrdiff_t size) { return spaced(s, 2 * s.channels * size, 2 * size); }},
    {"far pixels", [](const Shape& s, std::ptrdiff_t size) { return spaced(s, 24 * size, size); }},
    {"channels backwards",
     [](const Shape& s, std::ptrdiff_t size) {
       Strides strides = interleaved_strides(s);
       strides.channel = -size;
       return strides;
     }},
    {"channels of four bytes backwards",
     [](const Shape& s, std::ptrdiff_t size) {
       Strides strides = spaced(s, 4 * size, size);
       strides.channel = -size;
       return strides;
     }},
    {"columns backwards",
     [](const Shape& s, std::ptrdiff_t size) {
       Strides strides = spaced(s, s.channels * size, size);
       strides.pixel = -strides.pixel;
       return strides;
     }},
    {"rows backwards",
     [](const Shape& s, std::ptrdiff_t size) {
       Strides strides = spaced(s, (s.channels + 1) * size, size);
       strides.row = -strides.row;
       return strides;
     }},
    {"rows as columns",
     [](const Shape& s, std::ptrdiff_t size) {
       Strides strides{.pixel = s.height * s.channels * size, .row = s.channels * size, .channel = size};
       strides.frame = strides.pixel * s.width;
       return strides;
     }},
};

/// Memory that a view of any strides covers exactly, so that sanitizers see what is read beyond it.
struct Memories {
  std::vector<std::byte> bytes;
  MutableImageView view;

  Memories(const Shape& shape, const Strides& strides) {
    std::ptrdiff_t before = 0, after = static_cast<std::ptrdiff_t>(size_of(shape.type));
    for (const std::ptrdiff_t step :
         {strides.pixel * (shape.width - 1), strides.row * (shape.height - 1),
          strides.channel * (shape.channels - 1), strides.frame * (shape.frames - 1)})
      step < 0 ? before -= step : after += step;
    bytes.assign(static_cast<std::size_t>(before + after), canary);
    view = {bytes.data() + before, shape, strides, Memory::host};
  }
};

void expect_copied(const Shape& shape, const Arrangement& in, const Arrangement& out, const Device& device) {
  const auto size = static_cast<std::ptrdiff_t>(size_of(shape.type));
  Memories source(shape, in.strides(shape, size));
  std::uint8_t next = 1;
  for (std::byte& byte : source.bytes)
    byte = static_cast<std::byte>(next = static_cast<std::uint8_t>(next * 5 + 3));
  Memories expected(shape, out.strides(shape, size)), copied = expected, found = expected;
  copied.view.data = copied.bytes.data() + (expected.view.data - expected.bytes.data());
  found.view.data = found.bytes.data() + (expected.view.data - expected.bytes.data());
  for_each_element(shape, [&](std::int64_t x, std::int64_t y, int c, std::int64_t frame) {
    std::memcpy(expected.view.at(x, y, c, frame), source.view.at(x, y, c, frame),
                static_cast<std::size_t>(size));
  });
  copy_pixels(source.view, copied.view);
  device.copy(source.view, found.view);
  const std::string what = std::string(in.name) + " to " + out.name + ", " + describe(shape);
  ASSERT_TRUE(copied.bytes == expected.bytes) << what;
  ASSERT_TRUE(found.bytes == expected.bytes) << what << ", on threads";
}

TEST(Copies, AreThoseOfALoopOverElements) {
  const Device device = Device::open("cpu", {.threads = 3});
  on_every_target([&] {
    for (const Type type : {Type::u8, Type::u16, Type::f32, Type::f64})
      for (int channels = 1; channels <= 4; ++channels)
        for (const Arrangement& in : arrangements)
          for (const Arrangement& out : arrangements)
            for (const std::int64_t width : {1, 2, 5, 17, 70}) {
              const Shape shape{width, 5, channels, type, Alpha::none, Order::rgb, 1 + width % 2};
              ASSERT_NO_FATAL_FAILURE(expect_copied(shape, in, out, device));
            }
  });
}

TEST(Copies, OfLargePicturesUseSeveralThreads) {
  const Device device = Device::open("cpu", {.threads = 3});
  for (const Arrangement& in : arrangements)
    for (const Arrangement& out : arrangements)
      ASSERT_NO_FATAL_FAILURE(expect_copied({401, 307, 3, Type::u8}, in, out, device));
}

/// Copies in the memory of the device under test, of rows whose words are aligned or not.
TEST(Copies, OnTheDeviceAreThoseOfALoopOverElements) {
  const Device& device = device_under_test();
  const auto on_device = [&](const Memories& memories) {
    const std::int64_t count = static_cast<std::int64_t>(memories.bytes.size());
    const Shape shape{count, 1, 1, Type::u8};
    return device.upload({memories.bytes.data(), shape, interleaved_strides(shape), Memory::host});
  };
  const auto view_in = [&](Image& image, const Memories& memories) {
    MutableImageView view = memories.view;
    view.data = image.view().data + (memories.view.data - memories.bytes.data());
    view.memory = image.view().memory;
    return view;
  };
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const int channels : {1, 3, 4})
      for (const Arrangement& in : arrangements)
        for (const Arrangement& out : arrangements)
          for (const std::int64_t width : {3, 64, 70}) {
            const Shape shape{width, 5, channels, type};
            const auto size = static_cast<std::ptrdiff_t>(size_of(type));
            const auto aligned = [&](Strides strides) {
              const std::ptrdiff_t row = std::abs(strides.row);
              if (width == 64 && row > std::abs(strides.pixel))
                strides.row += (strides.row < 0 ? -1 : 1) * ((row + 63) / 64 * 64 - row);
              return strides;
            };
            Memories source(shape, aligned(in.strides(shape, size)));
            std::uint8_t next = 1;
            for (std::byte& byte : source.bytes)
              byte = static_cast<std::byte>(next = static_cast<std::uint8_t>(next * 5 + 3));
            Memories expected(shape, aligned(out.strides(shape, size)));
            Image from = on_device(source);
            Image to = on_device(expected);
            for_each_element(shape, [&](std::int64_t x, std::int64_t y, int c, std::int64_t frame) {
              std::memcpy(expected.view.at(x, y, c, frame), source.view.at(x, y, c, frame),
                          static_cast<std::size_t>(size));
            });
            device.copy(view_in(from, source), view_in(to, expected));
            const Image found = device.download(to.view());
            ASSERT_TRUE(
                std::equal(expected.bytes.begin(), expected.bytes.end(), found.view().row<std::byte>(0)))
                << in.name << " to " << out.name << ", " << describe(shape);
          }
}

TEST(Views, OfVectorsAndSpansHaveTheirBytes) {
  const Shape shape{5, 3, 2, Type::u16};
  const std::vector<std::uint16_t> numbers(30);
  EXPECT_EQ(view_of(numbers, shape).data, static_cast<const void*>(numbers.data()));
  EXPECT_EQ(view_of(std::as_bytes(std::span(numbers)), shape).data, static_cast<const void*>(numbers.data()));
  expect_error(ErrorKind::usage, "58 bytes, but 60",
               [&] { return view_of(std::span(numbers).first(29), shape); });
  expect_error(ErrorKind::usage, "60 bytes, but 120", [&] { return view_of(numbers, {5, 3, 2, Type::f32}); });
}

}  // namespace
}  // namespace satin::test
