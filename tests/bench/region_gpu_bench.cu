// Components, their shapes and their values on the GPU beside a copy of the same bytes, in one run: the rows
// of RESULTS.md. Each number waits for its result.

#include <cstdio>

#include "core/backend.h"
#include "masks/label.h"
#include "masks/region_values.h"
#include "tests/bench/gpu_timing.cuh"
#include "tests/bench/region_masks.h"

namespace {

using namespace satin;
using namespace satin::bench;

Stream bench_stream() { return {stream()}; }

struct Times {
  double label = 0;
  double with_shapes = 0;
  double values = 0;  ///< of a u8 picture of one channel
};

Times times_of(const Device& device, const Image& mask, int connectivity, std::uint32_t& count) {
  Backend& backend = device.backend();
  const Shape shape = mask.shape();
  Shape labelled = shape;
  labelled.type = Type::u32;
  const Image there = device.upload(mask);
  const Image picture = device.upload(noise(shape));
  Image labels = device.allocate(labelled);
  const auto label = backend.prepare(LabelJob{shape.width, shape.height, connectivity});
  count = label->run(there, labels.view(), bench_stream());
  static_cast<void>(label->describe(bench_stream()));
  const auto values = backend.prepare(RegionValuesJob{shape.width, shape.height, 1, Type::u8});
  const Buffer sums = backend.allocate(count * sizeof(RegionSums));

  Times times;
  times.label = time_of([&](int) { label->run(there, labels.view(), bench_stream()); });
  times.with_shapes = time_of([&](int) {
    label->run(there, labels.view(), bench_stream());
    static_cast<void>(label->describe(bench_stream()));
  });
  times.values = time_of([&](int) {
    values->run(labels, picture, nullptr, count, reinterpret_cast<RegionSums*>(sums.get()), bench_stream());
  });
  return times;
}

}  // namespace

int main() {
  const Device device = Device::open("cuda:0");
  const Device host = Device::open("cpu");
  std::printf(
      "| mask | regions | label ms | label and shapes ms | values ms | copy ms | label / copy | label and "
      "shapes / copy |\n|---|---|---|---|---|---|---|---|\n");
  for (const Shape& shape : {mask_shape(3840, 2160), mask_shape(8192, 8192)}) {
    const std::size_t bytes = byte_size(shape);
    double copy = 0;
    {
      const Rotation in(bytes, 5 * bytes);
      const Rotation out(4 * bytes, 5 * bytes);
      copy = time_of_copy(in, bytes, out, 4 * bytes);
    }
    for (const NamedMask& mask : masks(host, shape))
      for (const int connectivity : {4, 8}) {
        std::uint32_t count = 0;
        const Times times = times_of(device, mask.image, connectivity, count);
        std::printf("| %lld x %lld %s, %d | %u | %.4f | %.4f | %.4f | %.4f | %.2f | %.2f |\n",
                    static_cast<long long>(shape.width), static_cast<long long>(shape.height),
                    mask.name.c_str(), connectivity, count, times.label, times.with_shapes, times.values,
                    copy, times.label / copy, times.with_shapes / copy);
      }
  }
  return 0;
}
