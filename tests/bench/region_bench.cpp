// Connected components with their statistics on the CPU, beside cv::connectedComponentsWithStats in the same
// run: the rows of RESULTS.md. region_bench [WIDTH HEIGHT]

#include "core/backend.h"
#include "masks/label.h"
#include "satin/regions.h"
#include "tests/bench/cpu_timing.h"
#include "tests/bench/region_masks.h"

namespace {

using namespace satin;
using namespace satin::bench;

constexpr int repetitions = 7;

void measure(const Device& device, const NamedMask& mask, int connectivity) {
  const Shape& shape = mask.image.shape();
  Shape labelled = shape;
  labelled.type = Type::u32;
  std::vector<double> ours, whole, peer;
  std::size_t found = 0;
  for (int i = 0; i < repetitions; ++i) {
    ours.push_back(time_of([&] {
      Image labels(labelled);
      const auto label = device.backend().prepare(LabelJob{shape.width, shape.height, connectivity});
      found = label->run(mask.image, labels.view(), {});
      static_cast<void>(label->describe({}));
    }));
    whole.push_back(time_of([&] {
      const Regions regions = find_regions(
          device, mask.image, {.connectivity = connectivity == 4 ? Connectivity::four : Connectivity::eight});
      if (regions.regions.size() != found) std::abort();
    }));
#ifdef SATIN_BENCH_OPENCV
    const cv::Mat picture(static_cast<int>(shape.height), static_cast<int>(shape.width), CV_8U,
                          const_cast<std::byte*>(mask.image.data()));
    peer.push_back(time_of([&] {
      cv::Mat labels, stats, centroids;
      const int count = cv::connectedComponentsWithStats(picture, labels, stats, centroids, connectivity);
      if (static_cast<std::size_t>(count) != found + 1) std::abort();
    }));
#endif
  }
  std::printf("| %lld x %lld %s, %d | %zu | %.1f | %.1f |", static_cast<long long>(shape.width),
              static_cast<long long>(shape.height), mask.name.c_str(), connectivity, found, median(ours),
              median(whole));
  if (!peer.empty())
    std::printf(" %.1f | %.2f | %.2f |", median(peer), median(peer) / median(ours),
                median(peer) / median(whole));
  std::printf("\n");
}

}  // namespace

int main(int count, char** values) {
  const Device device = Device::open("cpu");
  std::vector<Shape> shapes = {mask_shape(3840, 2160), mask_shape(8192, 8192)};
  if (count > 2) shapes = {mask_shape(std::atoll(values[1]), std::atoll(values[2]))};
  std::printf(
      "%s\n| mask | regions | label ms | find_regions ms | OpenCV ms | OpenCV / label | OpenCV / "
      "find_regions |\n",
      device.info().name.c_str());
  std::printf("|---|---|---|---|---|---|---|\n");
  for (const Shape& shape : shapes)
    for (const NamedMask& mask : masks(device, shape))
      for (const int connectivity : {4, 8}) measure(device, mask, connectivity);
  return 0;
}
