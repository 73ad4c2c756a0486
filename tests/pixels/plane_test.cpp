// Planes of pictures on every SIMD target, against plane_value().

#include <gtest/gtest.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/pixels/plane_test.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "pixels/cpu/plane_rows-inl.h"
#include "tests/oracles/forced_target.h"
#include "tests/oracles/pictures.h"

HWY_BEFORE_NAMESPACE();
namespace satin::test::HWY_NAMESPACE {
namespace {

PlaneRead plane_read(int channels, int channel, Order order) {
  PlaneRead plane;
  plane.channels = channels;
  plane.channel = channel;
  plane.order = order;
  return plane;
}

template <class T>
void expect_plane(const std::vector<T>& pixels, const PlaneRead& plane) {
  const auto channels = static_cast<std::size_t>(plane.channels);
  const std::size_t count = pixels.size() / channels;
  constexpr T untouched = 0xA5;
  std::vector<T> expected;
  for (std::size_t i = 0; i < count; ++i)
    expected.push_back(static_cast<T>(plane_value(pixels.data() + i * channels, plane)));
  expected.push_back(untouched);
  std::vector<T> found(count + 1, untouched);
  cpu::HWY_NAMESPACE::TakePlane(pixels.data(), count, plane, found.data());
  const auto differing = std::ranges::mismatch(found, expected).in1 - found.begin();
  ASSERT_EQ(differing, static_cast<std::ptrdiff_t>(found.size())) << "of " << count;
}

template <class T>
void check_every_length(double step) {
  Random random(1);
  for (std::size_t count = 0; count < 150; ++count)
    for (const int channels : {3, 4}) {
      std::vector<T> pixels(count * static_cast<std::size_t>(channels));
      for (T& value : pixels)
        value = static_cast<T>(static_cast<double>(random.below(sizeof(T) == 1 ? 256 : 65536)) * step);
      for (int channel = PlaneRead::weighted; channel < channels; ++channel)
        for (const Order order : {Order::rgb, Order::bgr})
          ASSERT_NO_FATAL_FAILURE(expect_plane(pixels, plane_read(channels, channel, order)));
    }
}

void CheckEveryLength() {
  check_every_length<std::uint8_t>(1);
  check_every_length<std::uint16_t>(1);
  check_every_length<float>(0.37);
}

/// Every colour with one value that is a multiple of 5, which include many sums next to every rounding.
void CheckEveryColour() {
  std::vector<std::uint8_t> pixels;
  for (int red = 0; red < 256; red += 5)
    for (int green = 0; green < 256; ++green)
      for (int blue = 0; blue < 256; ++blue)
        pixels.insert(pixels.end(), {static_cast<std::uint8_t>(red), static_cast<std::uint8_t>(green),
                                     static_cast<std::uint8_t>(blue)});
  expect_plane(pixels, plane_read(3, PlaneRead::weighted, Order::rgb));
  expect_plane(pixels, plane_read(3, PlaneRead::weighted, Order::bgr));
}

}  // namespace
}  // namespace satin::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::test {
namespace {

HWY_EXPORT(CheckEveryLength);
HWY_EXPORT(CheckEveryColour);

TEST(TakenPlane, HasTheValuesOfPixelsForRowsOfEveryLength) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckEveryLength)(); });
}

TEST(TakenPlane, HasTheLuminanceOfEveryColour) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckEveryColour)(); });
}

}  // namespace
}  // namespace satin::test
#endif
