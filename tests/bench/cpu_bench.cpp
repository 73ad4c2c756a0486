// Satin on the CPU beside OpenCV and a copy of the same bytes, in one run. Prints the rows of RESULTS.md.
//   cpu_bench [REPEATS] [THREADS] [PART OF A CASE'S NAME]

#include "tests/bench/cpu_timing.h"
#include "tests/bench/masks.h"

namespace {

using namespace satin::bench;
using satin::Blur;
using satin::Image;
using satin::ImageView;
using satin::Shape;
using satin::Type;

constexpr std::int64_t width = 3840;
constexpr std::int64_t height = 2160;

/// A radius map of soft patches whose values are multiples of `step`: radii are value / 8 below.
Image smooth_map(int step) {
  Image map(Shape{width, height, 1, Type::u8});
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      map.view().value<std::uint8_t>(x, y) = static_cast<std::uint8_t>((x / 16 + y / 9) % 256 / step * step);
  return map;
}

/// Plans once and runs into the same picture.
std::function<void()> planned(const satin::Device& device, const Image& image, const Blur& blur) {
  auto plan = std::make_shared<satin::Plan>(satin::plan(device, image.shape(), blur));
  auto out = std::make_shared<Image>(plan->output_shape());
  return [plan, out, inputs = std::vector<ImageView>{image.view(), blur.radius_map, blur.mask}] {
    plan->run(inputs, out->view());
  };
}

/// Masked blurs and dilations; the masks are kept alive by the calls.
std::vector<Case> masked_cases(const satin::Device& device, const Image& rgb) {
  std::vector<Case> cases;
  const std::size_t bytes = satin::byte_size(rgb.shape()) / 3 * 7;
  const auto add = [&](double percent, satin::bench::Active where) {
    auto mask = std::make_shared<Image>(satin::bench::mask_of(width, height, percent, where));
    const std::string name =
        " 16 RGB under a mask, " + std::to_string(static_cast<int>(percent)) + " % active, " +
        (where == satin::bench::Active::together ? "one rectangle" : "scattered squares");
    const auto blur = [&](const char* kind, const Blur& parameters) {
      cases.push_back(
          {kind + name, bytes, [mask, run = planned(device, rgb, parameters)] { run(); }, "", {}});
    };
    blur("blur linear", {.radius = 16, .mask = mask->view()});
    blur("blur encoded", {.radius = 16, .space = satin::Space::encoded, .mask = mask->view()});
    blur("blur exclude", {.radius = 16, .mask = mask->view(), .mask_mode = satin::MaskMode::exclude});
    auto plan = std::make_shared<satin::Plan>(
        satin::plan(device, rgb.shape(), satin::Dilate{.radius = 16, .mask = mask->view()}));
    auto out = std::make_shared<Image>(plan->output_shape());
    cases.push_back({"dilate" + name,
                     bytes,
                     [mask, plan, out, in = rgb.view()] {
                       plan->run(std::vector<ImageView>{in, mask->view()}, out->view());
                     },
                     "",
                     {}});
  };
  for (const double percent : {0.0, 1.0, 10.0, 50.0, 100.0}) add(percent, satin::bench::Active::together);
  for (const double percent : {1.0, 10.0}) add(percent, satin::bench::Active::scattered);
  return cases;
}

#ifdef SATIN_BENCH_OPENCV
std::function<void()> cv_integral(const Image& image) {
  const Shape& shape = image.shape();
  return into_own_memory({shape.width + 1, shape.height + 1, shape.channels, Type::u32},
                         CV_32SC(shape.channels),
                         [in = mat_of(image)](cv::Mat& out) { cv::integral(in, out, CV_32S); });
}
std::function<void()> cv_blur(const Image& image, int radius) {
  const cv::Size size(2 * radius + 1, 2 * radius + 1);
  return into_own_memory(image.shape(), CV_8UC(image.shape().channels),
                         [in = mat_of(image), size](cv::Mat& out) {
                           cv::blur(in, out, size, cv::Point(-1, -1), cv::BORDER_REFLECT);
                         });
}
std::function<void()> cv_gaussian(const Image& image, double sigma) {
  return into_own_memory(
      image.shape(), CV_8UC(image.shape().channels),
      [in = mat_of(image), sigma](cv::Mat& out) { cv::GaussianBlur(in, out, cv::Size(), sigma); });
}
std::function<void()> cv_dilate(const Image& image, int radius) {
  const int side = 2 * radius + 1;
  return [in = mat_of(image), out = cv::Mat(),
          window = cv::getStructuringElement(cv::MORPH_RECT, cv::Size(side, side))]() mutable {
    cv::dilate(in, out, window);
  };
}
std::function<void()> cv_median(const Image& image, int radius) {
  return [in = mat_of(image), out = cv::Mat(), radius]() mutable { cv::medianBlur(in, out, 2 * radius + 1); };
}
#else
std::function<void()> cv_median(const Image&, int) { return {}; }
std::function<void()> cv_dilate(const Image&, int) { return {}; }
std::function<void()> cv_integral(const Image&) { return {}; }
std::function<void()> cv_blur(const Image&, int) { return {}; }
std::function<void()> cv_gaussian(const Image&, double) { return {}; }
#endif

/// Medians of one channel; OpenCV has those of 16 bits up to radius 2.
std::vector<Case> median_cases(const satin::Device& device, const Image& grey, const Image& grey16) {
  std::vector<Case> cases;
  const auto add = [&](const Image& image, const char* type, int radius, bool peer) {
    const satin::Median parameters{.radius = static_cast<double>(radius)};
    cases.push_back({"median " + std::to_string(radius) + " grey" + type, 2 * satin::byte_size(image.shape()),
                     satin::bench::planned(device, image, parameters), peer ? "OpenCV" : "",
                     peer ? cv_median(image, radius) : std::function<void()>{}});
  };
  for (const int radius : {1, 2, 3, 4, 5, 20, 100}) add(grey, "", radius, true);
  for (const int radius : {1, 2, 3, 5, 20}) add(grey16, " u16", radius, radius <= 2);
  return cases;
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = satin::bench::arguments_of(argc, argv, {});
  const satin::Device device = satin::bench::open_cpu(arguments);
  const Image grey = random_image({width, height, 1, Type::u8});
  const Image rgb = random_image({width, height, 3, Type::u8});
  const Image rgb16 = random_image({width, height, 3, Type::u16});
  Image rgba = random_image({width, height, 4, Type::u8, satin::Alpha::straight});
  const Image map = smooth_map(1);
  const Image whole_map = smooth_map(8);
  const Image soft = random_image({width, height, 1, Type::u8});
  const Image tiny = random_image({64, 64, 3, Type::u8});
  const std::size_t pixels = static_cast<std::size_t>(width * height);
  const auto encoded = satin::Space::encoded;

  std::vector<Case> cases = {
      {"integral u8", pixels * 5, planned(device, grey, satin::Integral{}), "OpenCV", cv_integral(grey)},
      {"integral u8 RGB", pixels * 15, planned(device, rgb, satin::Integral{}), "OpenCV", cv_integral(rgb)},
      {"blur 16 RGB encoded", pixels * 6, planned(device, rgb, {.radius = 16, .space = encoded}), "OpenCV",
       cv_blur(rgb, 16)},
      {"blur 1000 RGB encoded", pixels * 6, planned(device, rgb, {.radius = 1000, .space = encoded}),
       "OpenCV", cv_blur(rgb, 1000)},
      {"blur 16.5 RGB encoded", pixels * 6, planned(device, rgb, {.radius = 16.5, .space = encoded}), "", {}},
      {"blur 16 RGB linear", pixels * 6, planned(device, rgb, {.radius = 16}), "OpenCV, as stored",
       cv_blur(rgb, 16)},
      {"blur 16 RGBA linear", pixels * 8, planned(device, rgba, {.radius = 16}), "", {}},
      {"blur 16 RGB u16 encoded",
       pixels * 12,
       planned(device, rgb16, {.radius = 16, .space = encoded}),
       "",
       {}},
      {"dilate 1 RGB", pixels * 6, planned(device, rgb, satin::Dilate{.radius = 1}), "OpenCV",
       cv_dilate(rgb, 1)},
      {"dilate 16 RGB", pixels * 6, planned(device, rgb, satin::Dilate{.radius = 16}), "OpenCV",
       cv_dilate(rgb, 16)},
      {"dilate 1000 RGB", pixels * 6, planned(device, rgb, satin::Dilate{.radius = 1000}), "", {}},
      {"dilate 16 grey", pixels * 2, planned(device, grey, satin::Dilate{.radius = 16}), "OpenCV",
       cv_dilate(grey, 16)},
      {"dilate 16 RGB u16", pixels * 12, planned(device, rgb16, satin::Dilate{.radius = 16}), "", {}},
      {"gaussian sigma 8 RGB linear", pixels * 6, planned(device, rgb, {.sigma = 8.0}), "OpenCV, as stored",
       cv_gaussian(rgb, 8)},
      {"gaussian sigma 8 RGB encoded", pixels * 6, planned(device, rgb, {.sigma = 8.0, .space = encoded}),
       "OpenCV", cv_gaussian(rgb, 8)},
      {"smooth sigma 8 RGB encoded", pixels * 6,
       planned(device, rgb, satin::Smooth{.sigma = 8, .space = encoded}), "OpenCV gaussian",
       cv_gaussian(rgb, 8)},
      {"smooth sigma 8 RGB linear", pixels * 6, planned(device, rgb, satin::Smooth{}),
       "OpenCV gaussian, as stored", cv_gaussian(rgb, 8)},
      {"blur 16 RGB linear under a random soft mask",
       pixels * 7,
       planned(device, rgb, {.radius = 16, .mask = soft.view()}),
       "",
       {}},
      {"smooth sigma 8 RGBA linear", pixels * 8, planned(device, rgba, satin::Smooth{}), "", {}},
      {"smooth sigma 8 RGB u16 linear", pixels * 12, planned(device, rgb16, satin::Smooth{}), "", {}},
      {"edge-smooth sigma-s 30 RGB linear", pixels * 6, planned(device, rgb, satin::EdgeSmooth{}), "", {}},
      {"blur by map, whole radii to 31, RGB encoded",
       pixels * 7,
       planned(device, rgb, {.space = encoded, .radius_max = 31.875, .radius_map = whole_map.view()}),
       "",
       {}},
      {"blur by map to 32 RGB encoded",
       pixels * 7,
       planned(device, rgb, {.space = encoded, .radius_max = 31.875, .radius_map = map.view()}),
       "",
       {}},
      {"blur by map to 32 RGB linear",
       pixels * 7,
       planned(device, rgb, {.radius_max = 31.875, .radius_map = map.view()}),
       "",
       {}},
      {"blur 8 of 64 x 64 RGB encoded", 64 * 64 * 6, planned(device, tiny, {.radius = 8, .space = encoded}),
       "OpenCV", cv_blur(tiny, 8)},
      {"blur 8 of 64 x 64 RGB encoded, plain function", 64 * 64 * 6,
       [&] { static_cast<void>(blur(device, tiny.view(), {.radius = 8, .space = encoded})); }, "OpenCV",
       cv_blur(tiny, 8)},
  };
  const Image grey16 = random_image({width, height, 1, Type::u16});
  for (Case& test : median_cases(device, grey, grey16)) cases.push_back(std::move(test));
  for (Case& test : masked_cases(device, rgb)) cases.push_back(std::move(test));
  const std::string part = argc > 3 ? argv[3] : "";
  report_all(device, "3840 x 2160", cases, arguments);
}
