// The guided filter on the CPU beside its formulation by cv::boxFilter in f32 and a copy of the picture, in
// one run.
//   guided_bench [REPEATS] [THREADS]

#include <array>

#include "tests/bench/cpu_timing.h"

namespace {

using namespace satin::bench;
using satin::Guided;
using satin::Image;
using satin::ImageView;
using satin::Type;

constexpr std::int64_t width = 3840;
constexpr std::int64_t height = 2160;

/// Soft patches under noise, so that variances are those of a photograph.
Image picture_of(int channels, std::uint32_t state) {
  Image image({width, height, channels, Type::u8});
  auto* values = reinterpret_cast<std::uint8_t*>(image.data());
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) {
        state = state * 1664525U + 1013904223U;
        const auto patch = static_cast<std::uint32_t>((x / 90 * 37 + y / 70 * 11 + c * 29) % 200);
        *values++ = static_cast<std::uint8_t>(patch + (state >> 27));
      }
  return image;
}

#ifdef SATIN_BENCH_OPENCV
/// The planes of a picture as floats, white 1.
std::vector<cv::Mat> planes_of(const Image& image) {
  cv::Mat floats;
  mat_of(image).convertTo(floats, CV_32F, 1.0 / 255);
  std::vector<cv::Mat> planes;
  cv::split(floats, planes);
  return planes;
}

/// The equations as they are usually written, every mean a cv::boxFilter.
struct ByBoxFilters {
  cv::Size window;
  float eps;

  [[nodiscard]] cv::Mat mean(const cv::Mat& values) const {
    cv::Mat result;
    cv::boxFilter(values, result, CV_32F, window, cv::Point(-1, -1), true, cv::BORDER_REFLECT);
    return result;
  }

  [[nodiscard]] cv::Mat grey(const cv::Mat& guide, const cv::Mat& picture, bool self) const {
    const cv::Mat mean_guide = mean(guide);
    const cv::Mat mean_picture = self ? mean_guide : mean(picture);
    const cv::Mat variance = mean(guide.mul(guide)) - mean_guide.mul(mean_guide);
    const cv::Mat covariance =
        self ? variance : cv::Mat(mean(guide.mul(picture)) - mean_guide.mul(mean_picture));
    const cv::Mat slope = covariance / (variance + eps);
    const cv::Mat offset = mean_picture - slope.mul(mean_guide);
    return mean(slope).mul(guide) + mean(offset);
  }

  /// Inverses of the 3 x 3 matrices by cofactors, once for all channels of the picture.
  [[nodiscard]] std::vector<cv::Mat> colour(const std::vector<cv::Mat>& guide,
                                            const std::vector<cv::Mat>& picture, bool self) const {
    std::array<cv::Mat, 3> means;
    for (std::size_t i = 0; i < 3; ++i) means[i] = mean(guide[i]);
    cv::Mat matrix[3][3];
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = i; j < 3; ++j)
        matrix[i][j] = matrix[j][i] = mean(guide[i].mul(guide[j])) - means[i].mul(means[j]);
    cv::Mat covariances[3][3];
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) covariances[i][j] = matrix[i][j].clone();
    for (std::size_t i = 0; i < 3; ++i) matrix[i][i] = matrix[i][i] + eps;
    cv::Mat inverse[3][3];
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = i; j < 3; ++j) {
        const std::size_t a = (i + 1) % 3;
        const std::size_t b = (i + 2) % 3;
        const std::size_t c = (j + 1) % 3;
        const std::size_t d = (j + 2) % 3;
        inverse[i][j] = inverse[j][i] = matrix[a][c].mul(matrix[b][d]) - matrix[a][d].mul(matrix[b][c]);
      }
    const cv::Mat determinant =
        matrix[0][0].mul(inverse[0][0]) + matrix[0][1].mul(inverse[0][1]) + matrix[0][2].mul(inverse[0][2]);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = i; j < 3; ++j) inverse[i][j] = inverse[j][i] = inverse[i][j] / determinant;
    std::vector<cv::Mat> results;
    for (std::size_t p = 0; p < picture.size(); ++p) {
      const cv::Mat mean_picture = self ? means[p] : mean(picture[p]);
      cv::Mat offset = mean_picture.clone();
      cv::Mat result = cv::Mat::zeros(offset.size(), CV_32F);
      std::array<cv::Mat, 3> cross;
      for (std::size_t j = 0; j < 3; ++j)
        cross[j] =
            self ? covariances[j][p] : cv::Mat(mean(guide[j].mul(picture[p])) - means[j].mul(mean_picture));
      for (std::size_t i = 0; i < 3; ++i) {
        const cv::Mat slope =
            inverse[i][0].mul(cross[0]) + inverse[i][1].mul(cross[1]) + inverse[i][2].mul(cross[2]);
        offset -= slope.mul(means[i]);
        result += mean(slope).mul(guide[i]);
      }
      results.push_back(result + mean(offset));
    }
    return results;
  }
};

/// Bytes in, bytes out.
void filter_by_boxes(const Image& picture, const Image& guide, bool self, int radius, double eps,
                     cv::Mat& out) {
  const ByBoxFilters boxes{{2 * radius + 1, 2 * radius + 1}, static_cast<float>(eps)};
  const std::vector<cv::Mat> p = planes_of(picture);
  const std::vector<cv::Mat> guides = self ? p : planes_of(guide);
  std::vector<cv::Mat> results;
  if (guides.size() == 1) {
    for (const cv::Mat& plane : p) results.push_back(boxes.grey(guides[0], plane, self));
  } else {
    results = boxes.colour(guides, p, self);
  }
  cv::Mat merged;
  cv::merge(results, merged);
  merged.convertTo(out, CV_8U, 255);
}
#endif

void report(const satin::Device& device, const char* name, const Image& picture, const Image& guide,
            int radius, int repeats) {
  const bool self = guide.empty();
  Guided parameters{.radius = radius, .eps = 0.01, .border = satin::Border::reflect};
  if (!self) parameters.guide = guide.view();
  satin::Plan plan = satin::plan(device, picture.shape(), parameters);
  Image out(picture.shape());
  const std::array inputs = {picture.view(), parameters.guide, ImageView{}};
  Image copy(picture.shape());
  std::vector<double> ours;
  std::vector<double> peer;
  std::vector<double> copies;
  int largest_difference = 0;
  for (int i = -1; i < repeats; ++i) {
    const double a = time_of([&] { plan.run(inputs, out.view()); });
    double b = 0;
#ifdef SATIN_BENCH_OPENCV
    cv::Mat result;
    b = time_of([&] { filter_by_boxes(picture, guide, self, radius, parameters.eps, result); });
    const auto* found = reinterpret_cast<const std::uint8_t*>(out.data());
    if (i < 0)
      for (std::size_t k = 0; k < satin::byte_size(out.shape()); ++k)
        largest_difference = std::max(largest_difference, std::abs(found[k] - result.data[k]));
#endif
    const double c =
        time_of([&] { std::memcpy(copy.data(), picture.data(), satin::byte_size(picture.shape())); });
    if (i < 0) continue;
    ours.push_back(a);
    peer.push_back(b);
    copies.push_back(c);
  }
  std::printf("| %s, radius %d | %.1f | %.1f | %.3f | boxFilter %.0f | %.1f | %d |\n", name, radius,
              median(ours), median(copies), median(copies) / median(ours), median(peer),
              median(peer) / median(ours), largest_difference);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? satin::bench::number_of(argv[1], 1) : 5;
  const int threads = argc > 2 ? satin::bench::number_of(argv[2], 0) : 0;
  const satin::Device device = satin::Device::open("cpu", {.threads = threads});
  std::printf("%s; %d x %d u8\n", device.info().name.c_str(), static_cast<int>(width),
              static_cast<int>(height));
  std::printf(
      "| case | Satin ms | copy ms | share of the copy | peer ms | times the peer | largest difference |\n");
  std::printf("|---|---|---|---|---|---|---|\n");
  const Image grey = picture_of(1, 1);
  const Image colours = picture_of(3, 2);
  for (const int radius : {4, 16, 64}) {
    report(device, "grey by itself", grey, {}, radius, repeats);
    report(device, "grey by colours", grey, colours, radius, repeats);
    report(device, "colours by themselves", colours, {}, radius, repeats);
    report(device, "colours by grey", colours, grey, radius, repeats);
  }
}
