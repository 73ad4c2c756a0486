#include "tests/oracles/signed_radii.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "depth/signed_radii.h"
#include "satin/error.h"
#include "tests/oracles/device_under_test.h"

namespace satin::test {
namespace {

constexpr std::ptrdiff_t padding = 12;  ///< bytes between rows

RadiiResult run_on(const Device& device, const Image& picture, const Image& depth, const LensFocus& focus) {
  Backend& backend = device.backend();
  const Shape depth_shape = depth.empty() ? Shape{} : depth.shape();
  SignedRadii lens(backend, picture.shape(), depth_shape, focus);
  const Image picture_there = device.upload(picture);
  const Image depth_there = depth.empty() ? Image() : device.upload(depth);
  const Shape shape{picture.shape().width, picture.shape().height, 1, Type::i32};
  const std::ptrdiff_t row = shape.width * 4 + padding;
  std::vector<std::byte> bytes(static_cast<std::size_t>(row * shape.height), std::byte{0xCD});
  const Buffer there = backend.allocate(bytes.size());
  backend.upload(there.get(), bytes.data(), bytes.size(), {});
  const MutableImageView radii{
      there.get(), shape, {4, row, 4, 0}, backend.host_memory ? Memory::host : Memory::device};
  const Buffer spare = backend.allocate(static_cast<std::size_t>(byte_size(shape)));
  lens.run(picture_there, depth.empty() ? ImageView{} : depth_there.view(), radii,
           {spare.get(), shape, interleaved_strides(shape), radii.memory}, {});
  RadiiResult result{Image({shape.width, shape.height, 1, Type::u32}), {}, {}};
  try {
    lens.check(result.warnings, {});
  } catch (const Error& error) {
    result.refused = error.what();
    if (result.refused.rfind("focus ", 0) != 0) throw;
  }
  result.strength = lens.found().front().value;
  result.focus = lens.found()[1].value;
  backend.download(bytes.data(), there.get(), bytes.size(), {});
  for (std::int64_t y = 0; y < shape.height; ++y) {
    const std::byte* from = bytes.data() + y * row;
    std::memcpy(result.radii.data() + y * shape.width * 4, from, static_cast<std::size_t>(shape.width) * 4);
    for (std::ptrdiff_t i = shape.width * 4; i < row; ++i)
      EXPECT_EQ(from[i], std::byte{0xCD}) << "behind row " << y;
  }
  return result;
}

}  // namespace

RadiiResult radii_of(const Image& picture, const Image& depth, const LensFocus& focus) {
  RadiiResult result = run_on(device_under_test(), picture, depth, focus);
  if (device_under_test().is_cuda()) {
    const RadiiResult on_cpu = run_on(Device::open("cpu"), picture, depth, focus);
    EXPECT_EQ(difference(result.radii, on_cpu.radii), "") << "GPU and CPU";
    EXPECT_EQ(result.warnings, on_cpu.warnings);
    EXPECT_EQ(result.refused, on_cpu.refused);
    EXPECT_EQ(result.strength, on_cpu.strength);
    EXPECT_EQ(result.focus, on_cpu.focus);
  }
  return result;
}

Image plane_of(std::int64_t width, std::int64_t height, Type type,
               const std::function<double(std::int64_t x, std::int64_t y)>& value) {
  Image image({width, height, 1, type});
  const MutableImageView view = image.view();
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const double v = value(x, y);
      if (type == Type::u8) view.value<std::uint8_t>(x, y) = static_cast<std::uint8_t>(std::lround(v));
      if (type == Type::u16) view.value<std::uint16_t>(x, y) = static_cast<std::uint16_t>(std::lround(v));
      if (type == Type::f32) view.value<float>(x, y) = static_cast<float>(v);
    }
  return image;
}

Image dark_picture(std::int64_t width, std::int64_t height) {
  Image image({width, height, 3, Type::u8});
  std::memset(image.data(), 0, byte_size(image.shape()));
  return image;
}

}  // namespace satin::test
