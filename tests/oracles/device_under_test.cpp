#include "tests/oracles/device_under_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <utility>

#include "core/cpu/backend.h"
#include "tests/oracles/poisoned_memory.h"

namespace satin::test {
namespace {

std::string print_element(const std::byte* element, Type type) {
  const auto as = [element]<class T>(T value) {
    std::memcpy(&value, element, sizeof value);
    std::ostringstream text;
    text.precision(17);
    text << +value;
    return text.str();
  };
  switch (type) {
    case Type::u8:
      return as(std::uint8_t{});
    case Type::u16:
      return as(std::uint16_t{});
    case Type::u32:
      return as(std::uint32_t{});
    case Type::u64:
      return as(std::uint64_t{});
    case Type::i32:
      return as(std::int32_t{});
    case Type::f32:
      return as(float{});
    case Type::f64:
      return as(double{});
  }
  return {};
}

Image on_device(const Device& device, const ImageView& host) { return device.upload(copy_of(host)); }

Image run_in_device_memory(const Device& device, Plan& plan, std::span<const ImageView> inputs) {
  std::vector<Image> images;
  std::vector<ImageView> views;
  for (const ImageView& input : inputs) {
    images.push_back(input.empty() ? Image() : on_device(device, input));
    views.push_back(images.back().view());
  }
  Image output = on_device(device, poisoned(plan.output_shape()));
  plan.run(views, output.view());
  static_cast<void>(plan.check());
  return device.download(output);
}

}  // namespace

const Device& device_under_test() {
  static const Device device = [] {
    const char* name = std::getenv("SATIN_TEST_DEVICE");  // NOLINT(concurrency-mt-unsafe): before any thread
    const std::string id = name == nullptr ? "cpu" : name;
    return Device::open(id, {.allocator = poisoned_memory(id)});
  }();
  return device;
}

Device cpu_of_threads(int count) {
  auto backend = std::make_shared<cpu::CpuBackend>(count);
  cpu::add_operations(backend->operations);
  return Device(std::move(backend));
}

Image poisoned(const Shape& shape) {
  Image image(shape);
  std::fill_n(image.data(), byte_size(shape), std::byte{0xCD});
  return image;
}

Image run_plan(const Device& device, Plan& plan, std::span<const ImageView> inputs) {
  Image output = poisoned(plan.output_shape());
  plan.run(inputs, output.view());
  if (device.is_cuda()) {
    const Image again = run_in_device_memory(device, plan, inputs);
    EXPECT_EQ(difference(again, output), "") << "pictures in device memory, against pictures in host memory";
  }
  return output;
}

std::string difference(const ImageView& result, const ImageView& expected) {
  if (result.shape != expected.shape)
    return "shape " + describe(result.shape) + ", expected " + describe(expected.shape);
  const Shape& shape = result.shape;
  const std::size_t size = size_of(shape.type);
  for (std::int64_t frame = 0; frame < shape.frames; ++frame)
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t x = 0; x < shape.width; ++x)
        for (int c = 0; c < shape.channels; ++c) {
          const std::byte* got = result.at(x, y, c, frame);
          const std::byte* wanted = expected.at(x, y, c, frame);
          if (std::memcmp(got, wanted, size) == 0) continue;
          std::ostringstream text;
          text << "x " << x << ", y " << y << ", channel " << c << ", frame " << frame << ": "
               << print_element(got, shape.type) << ", expected " << print_element(wanted, shape.type);
          return text.str();
        }
  return {};
}

}  // namespace satin::test
