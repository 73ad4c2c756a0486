#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "satin/filters.h"

using namespace satin;

TEST(Smoke, Blur) {
  const Device device = Device::open("cpu");
  for (const Type type : {Type::u8, Type::u16, Type::f32}) {
    Image image(Shape{64, 48, 3, type});
    std::fill_n(image.data(), byte_size(image.shape()), std::byte{0x3A});
    const Image box = blur(device, image, {.radius = 2.5});
    const Image gauss = blur(device, image, {.sigma = 3.0});
    const Image table = integral(device, image);
    std::printf("%s %s %d %d\n", describe(table.shape()).c_str(), device.info().name.c_str(),
                std::memcmp(box.data(), image.data(), byte_size(image.shape())),
                std::memcmp(gauss.data(), image.data(), byte_size(image.shape())));
  }
}
