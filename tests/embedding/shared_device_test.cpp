// Eight threads on one device, and on one device each: the bytes are those of one thread. ThreadSanitizer
// looks at the same in the variant tsan.

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "satin/pipeline.h"
#include "satin/regions.h"
#include "satin/scan.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

constexpr int thread_count = 8;
const Shape shape{211, 157, 3, Type::u8};

/// Filters of every kind of operation, and of what is set up when it is first needed: 16-bit tables.
const char* const pipelines[] = {
    "blur radius=5",
    "blur radius=3 radius-map=map radius-max=9 mask=map",
    "smooth sigma=7 | unsharp amount=0.5",
    "edge-smooth sigma-s=9 iterations=1",
    "guided radius=4",
    "dof depth=map strength=6",
    "dilate radius=3 | erode radius=3 | integral",
    "threshold window=21 | mask grow=3 feather=4",
};

/// Everything that one thread does, as bytes.
std::vector<std::byte> work(const Device& device, int thread) {
  std::vector<std::byte> bytes;
  const auto keep = [&](const Image& image) {
    bytes.insert(bytes.end(), image.data(), image.data() + byte_size(image.shape()));
  };
  Shape own = shape;
  if (thread % 2 == 1) own.type = Type::u16;
  const Image picture = random_picture(own, static_cast<std::uint64_t>(thread));
  const Image map = random_map(shape.width, shape.height, Type::u8, static_cast<std::uint64_t>(thread + 99));
  const NamedView named{"map", map};
  for (std::size_t i = 0; i < std::size(pipelines); ++i) {
    const Pipeline pipeline =
        parse_pipeline(pipelines[(i + static_cast<std::size_t>(thread)) % std::size(pipelines)]);
    const bool sided = print_pipeline(pipeline).find("=map") != std::string::npos;
    keep(run(device, pipeline, picture, std::span(&named, sided ? 1 : 0)));
  }
  const Regions regions = find_regions(device, map);
  keep(regions.labels);
  std::vector<std::uint32_t> sums(10007, 3);
  inclusive_scan(device, sums, sums);
  const std::vector<std::uint32_t> falling(sums.rbegin(), sums.rend());
  radix_sort(device, falling, sums);
  const auto* first = reinterpret_cast<const std::byte*>(sums.data());
  bytes.insert(bytes.end(), first, first + sums.size() * sizeof(sums[0]));
  return bytes;
}

std::vector<std::vector<std::byte>> in_threads(const std::vector<Device>& devices) {
  std::vector<std::vector<std::byte>> results(thread_count);
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t)
    threads.emplace_back([&, t] {
      const auto index = static_cast<std::size_t>(t);
      results[index] = work(devices[index % devices.size()], t);
    });
  for (std::thread& thread : threads) thread.join();
  return results;
}

std::vector<std::vector<std::byte>> serial() {
  std::vector<std::vector<std::byte>> results;
  for (int t = 0; t < thread_count; ++t) results.push_back(work(device_under_test(), t));
  return results;
}

TEST(Threads, ShareADeviceOrHaveOneEach) {
  const std::string id = device_under_test().info().id;
  // The threads go first: what a device sets up when it is first needed is not there yet.
  const auto shared = in_threads({Device::open(id)});
  std::vector<Device> own;
  for (int t = 0; t < thread_count; ++t) own.push_back(Device::open(id, {.threads = 2}));
  const auto apart = in_threads(own);
  const auto expected = serial();
  for (std::size_t t = 0; t < expected.size(); ++t) {
    EXPECT_TRUE(shared[t] == expected[t]) << "thread " << t << " on the one device";
    EXPECT_TRUE(apart[t] == expected[t]) << "thread " << t << " on its own";
  }
}

}  // namespace
}  // namespace satin::test
