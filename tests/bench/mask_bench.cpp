// Masks on the CPU beside OpenCV and a copy, in one run: 12 megapixels, blobs with holes and specks.
//   mask_bench [REPEATS] [THREADS] [PART OF A CASE'S NAME]
//
// The operation `distance` alone is timed beside cv::distanceTransform: it has no public name.

#include "core/backend.h"
#include "masks/distance.h"
#include "tests/bench/cpu_timing.h"

namespace {

using namespace satin::bench;
using satin::Image;
using satin::Mask;
using satin::MaskShape;
using satin::Shape;
using satin::Type;

constexpr std::int64_t width = 4000;
constexpr std::int64_t height = 3000;
constexpr Shape grey{width, height, 1, Type::u8};

/// Discs of radius 8 to 200, every third of them a hole, and one pixel in 4000 turned over.
Image blobs() {
  Image image(grey);
  std::fill_n(image.data(), satin::byte_size(grey), std::byte{0});
  std::uint32_t state = 7;
  const auto random = [&state](std::int64_t below) {
    state = state * 1664525U + 1013904223U;
    return static_cast<std::int64_t>((std::uint64_t{state} * static_cast<std::uint64_t>(below)) >> 32);
  };
  for (int i = 0; i < 300; ++i) {
    const std::int64_t cx = random(width);
    const std::int64_t cy = random(height);
    const std::int64_t radius = 8 + random(193);
    const auto value = static_cast<std::uint8_t>(i % 3 == 2 ? 0 : 255);
    for (std::int64_t y = std::max<std::int64_t>(cy - radius, 0); y < std::min(cy + radius, height); ++y)
      for (std::int64_t x = std::max<std::int64_t>(cx - radius, 0); x < std::min(cx + radius, width); ++x)
        if ((x - cx) * (x - cx) + (y - cy) * (y - cy) <= radius * radius)
          image.view().value<std::uint8_t>(x, y) = value;
  }
  for (std::int64_t i = 0; i < width * height / 4000; ++i) {
    std::uint8_t& value = image.view().value<std::uint8_t>(random(width), random(height));
    value = static_cast<std::uint8_t>(255 - value);
  }
  return image;
}

/// Squared distances to what is outside, up to `reach` pixels; the mask is black and white.
std::function<void()> distances(const satin::Device& device, const Image& image, std::uint32_t reach) {
  satin::DistanceJob job;
  job.width = width;
  job.height = height;
  job.side = satin::MaskSide::inside;
  job.most = reach * reach + 1;
  std::shared_ptr<satin::DistanceOperation> operation = device.backend().prepare(job);
  auto out = std::make_shared<Image>(Shape{width, height, 1, Type::u32});
  return [operation, out, view = image.view()] { operation->run(view, out->view(), {}); };
}

#ifdef SATIN_BENCH_OPENCV
std::function<void()> cv_dilate(const Image& image, int shape, int radius) {
  const int side = 2 * radius + 1;
  return [in = mat_of(image), out = cv::Mat(),
          window = cv::getStructuringElement(shape, cv::Size(side, side))]() mutable {
    cv::dilate(in, out, window);
  };
}
std::function<void()> cv_disc(const Image& image, int radius) {
  return cv_dilate(image, cv::MORPH_ELLIPSE, radius);
}
std::function<void()> cv_box(const Image& image, int radius) {
  return cv_dilate(image, cv::MORPH_RECT, radius);
}
std::function<void()> cv_distance(const Image& image) {
  return [in = mat_of(image), out = cv::Mat()]() mutable {
    cv::distanceTransform(in, out, cv::DIST_L2, cv::DIST_MASK_PRECISE, CV_32F);
  };
}
std::function<void()> cv_components(const Image& image) {
  return [in = mat_of(image), labels = cv::Mat(), stats = cv::Mat(), centres = cv::Mat()]() mutable {
    cv::connectedComponentsWithStats(in, labels, stats, centres, 8, CV_32S);
  };
}
#else
std::function<void()> cv_disc(const Image&, int) { return {}; }
std::function<void()> cv_box(const Image&, int) { return {}; }
std::function<void()> cv_distance(const Image&) { return {}; }
std::function<void()> cv_components(const Image&) { return {}; }
#endif

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = satin::bench::arguments_of(argc, argv, {.repeats = 11});
  const satin::Device device = satin::bench::open_cpu(arguments);
  const Image image = blobs();
  const auto ours = [&](const Mask& parameters) { return planned(device, image, parameters); };
  const char* distance = "OpenCV distanceTransform";
  const std::size_t bytes = 2 * satin::byte_size(grey);
  const std::vector<Case> cases = {
      {"level alone", bytes, ours({}), "", {}},
      {"grow, disc 16", bytes, ours({.grow = 16}), "OpenCV dilate, ellipse", cv_disc(image, 16)},
      {"grow, disc 100", bytes, ours({.grow = 100}), "OpenCV dilate, ellipse", cv_disc(image, 100)},
      {"grow, disc 1000", bytes, ours({.grow = 1000}), "", {}},
      {"grow, box 16", bytes, ours({.grow = 16, .shape = MaskShape::box}), "OpenCV dilate, rect",
       cv_box(image, 16)},
      {"open, disc 5", bytes, ours({.open = 5}), "", {}},
      {"feather 8", bytes, ours({.feather = 8}), distance, cv_distance(image)},
      {"feather 32", bytes, ours({.feather = 32}), distance, cv_distance(image)},
      {"feather 400", bytes, ours({.feather = 400}), distance, cv_distance(image)},
      {"squared distance to 32", bytes, distances(device, image, 32), distance, cv_distance(image)},
      {"squared distance to 16384", bytes, distances(device, image, 16384), distance, cv_distance(image)},
      {"min-area 10", bytes, ours({.min_area = 10}), "OpenCV connectedComponentsWithStats",
       cv_components(image)},
      {"fill-all-holes", bytes, ours({.fill_all_holes = true}), "OpenCV connectedComponentsWithStats",
       cv_components(image)},
  };
  report_all(device, "4000 x 3000 u8", cases, arguments);
}
