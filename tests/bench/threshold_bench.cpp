// Filters from local statistics on the CPU beside what is written with OpenCV, and a copy of the same bytes,
// in one run. Prints the rows of RESULTS.md.
//   threshold_bench [REPEATS] [THREADS] [PART OF A CASE'S NAME]

#include "tests/bench/cpu_timing.h"

namespace {

using namespace satin::bench;
using satin::Binarisation;
using satin::Image;
using satin::Shape;
using satin::Threshold;
using satin::Type;

constexpr std::int64_t width = 4000;
constexpr std::int64_t height = 3000;

/// Paper with ink, a shadow and noise.
Image page(int channels) {
  Image image(Shape{width, height, channels, Type::u8});
  const Image noise = random_image(image.shape());
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) {
        const std::int64_t paper = 230 - x * 90 / width - y * 50 / height;
        const bool ink = y % 48 > 20 && (x * 7 + y / 48 * 31) % 37 < 13 && (x + y) % 29 < 23;
        const std::int64_t grain = noise.view().value<std::uint8_t>(x, y, c) % 16;
        image.view().value<std::uint8_t>(x, y, c) =
            static_cast<std::uint8_t>((ink ? paper / 4 : paper) + grain);
      }
  return image;
}

Threshold with(Binarisation method, int window) {
  Threshold threshold;
  threshold.method = method;
  threshold.window = window;
  return threshold;
}

#ifdef SATIN_BENCH_OPENCV
/// T = m (1 + k (s / R - 1)) with m and s from two box filters of numbers of `depth`: the shortest way that
/// the library offers, squares included.
std::function<void()> cv_sauvola(const Image& image, int window, int depth) {
  return [in = mat_of(image), size = cv::Size(window, window), depth, grey = cv::Mat(), m = cv::Mat(),
          q = cv::Mat(), out = cv::Mat()]() mutable {
    if (in.channels() == 1) {
      grey = in;
    } else {
      cv::cvtColor(in, grey, cv::COLOR_RGB2GRAY);
    }
    cv::boxFilter(grey, m, depth, size, cv::Point(-1, -1), true, cv::BORDER_REFLECT);
    cv::sqrBoxFilter(grey, q, depth, size, cv::Point(-1, -1), true, cv::BORDER_REFLECT);
    cv::Mat s = q - m.mul(m);
    cv::sqrt(s, s);
    cv::Mat level = m.mul(0.8 + (0.2 / 128) * s);
    cv::Mat values;
    grey.convertTo(values, depth);
    cv::compare(values, level, out, cv::CMP_GT);
  };
}

std::function<void()> cv_adaptive(const Image& image, int window) {
  return [in = mat_of(image), window, out = cv::Mat()]() mutable {
    cv::adaptiveThreshold(in, out, 255, cv::ADAPTIVE_THRESH_MEAN_C, cv::THRESH_BINARY, window, 10);
  };
}

std::function<void()> cv_mean(const Image& image, int window) {
  return [in = mat_of(image), size = cv::Size(window, window), out = cv::Mat()]() mutable {
    cv::blur(in, out, size, cv::Point(-1, -1), cv::BORDER_REFLECT);
  };
}

std::function<void()> cv_deviation(const Image& image, int window) {
  return [in = mat_of(image), size = cv::Size(window, window), m = cv::Mat(), q = cv::Mat(),
          out = cv::Mat()]() mutable {
    cv::boxFilter(in, m, CV_32F, size, cv::Point(-1, -1), true, cv::BORDER_REFLECT);
    cv::sqrBoxFilter(in, q, CV_32F, size, cv::Point(-1, -1), true, cv::BORDER_REFLECT);
    cv::Mat s = q - m.mul(m);
    cv::sqrt(s, s);
    s.convertTo(out, CV_8U);
  };
}
#else
constexpr int CV_32F = 0;
constexpr int CV_64F = 0;
std::function<void()> cv_sauvola(const Image&, int, int) { return {}; }
std::function<void()> cv_adaptive(const Image&, int) { return {}; }
std::function<void()> cv_mean(const Image&, int) { return {}; }
std::function<void()> cv_deviation(const Image&, int) { return {}; }
#endif

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = satin::bench::arguments_of(argc, argv, {});
  const satin::Device device = satin::bench::open_cpu(arguments);
  const Image grey = page(1);
  const Image rgb = page(3);
  const Image noise = random_image({width, height, 1, Type::u8});
  const Image deep = random_image({width, height, 1, Type::u16});
  const std::size_t pixels = static_cast<std::size_t>(width * height);

  const auto ours = [&](const Image& image, Binarisation method, int window) {
    return planned(device, image, with(method, window));
  };
  std::vector<Case> cases;
  for (const int window : {31, 101, 1001}) {
    const std::string name = " " + std::to_string(window);
    cases.push_back({"sauvola" + name + " grey", 2 * pixels, ours(grey, Binarisation::sauvola, window),
                     "boxFilter f32", cv_sauvola(grey, window, CV_32F)});
  }
  cases.push_back({"sauvola 31 grey", 2 * pixels, ours(grey, Binarisation::sauvola, 31), "boxFilter f64",
                   cv_sauvola(grey, 31, CV_64F)});
  cases.push_back({"sauvola 31 noise", 2 * pixels, ours(noise, Binarisation::sauvola, 31), "boxFilter f32",
                   cv_sauvola(noise, 31, CV_32F)});
  cases.push_back({"sauvola 31 RGB", 4 * pixels, ours(rgb, Binarisation::sauvola, 31), "boxFilter f32",
                   cv_sauvola(rgb, 31, CV_32F)});
  cases.push_back({"sauvola 31 grey u16", 3 * pixels, ours(deep, Binarisation::sauvola, 31), "boxFilter f64",
                   cv_sauvola(deep, 31, CV_64F)});
  cases.push_back({"niblack 31 grey", 2 * pixels, ours(grey, Binarisation::niblack, 31), "", {}});
  cases.push_back({"wolf 31 grey", 2 * pixels, ours(grey, Binarisation::wolf, 31), "", {}});
  cases.push_back({"nick 31 grey", 2 * pixels, ours(grey, Binarisation::nick, 31), "", {}});
  cases.push_back({"bradley 31 grey", 2 * pixels, ours(grey, Binarisation::bradley, 31), "adaptiveThreshold",
                   cv_adaptive(grey, 31)});
  cases.push_back({"local-mean 31 grey", 2 * pixels, planned(device, grey, satin::LocalMean{}), "blur",
                   cv_mean(grey, 31)});
  cases.push_back({"local-deviation 31 grey", 2 * pixels, planned(device, grey, satin::LocalDeviation{}),
                   "boxFilter f32", cv_deviation(grey, 31)});
  cases.push_back({"local-deviation 31 RGB", 6 * pixels, planned(device, rgb, satin::LocalDeviation{}),
                   "boxFilter f32", cv_deviation(rgb, 31)});
  report_all(device, "4000 x 3000", cases, arguments);
}
