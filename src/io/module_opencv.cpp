// The OpenCV module (interface: module.h): WebP and JPEG 2000 by imgcodecs, from memory to memory.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <mutex>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <vector>

#include "io/module.h"

namespace {

int fail(SatinOpenCvMessage* message, const char* text) {
  std::snprintf(message->text, sizeof message->text, "%s", text);
  return 0;
}

int ignore_error(int, const char*, const char*, const char*, int, void*) { return 0; }

/// Silences std::cerr, where OpenCV reports damaged files in addition to its result.
class Silence {
 public:
  Silence() : lock_(mutex()), state_(std::cerr.rdstate()) { std::cerr.setstate(std::ios::failbit); }
  ~Silence() { std::cerr.clear(state_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  std::lock_guard<std::mutex> lock_;
  std::ios::iostate state_;
};

template <class Value>
void swap_red_and_blue(Value* values, std::size_t pixels, std::size_t channels) {
  for (std::size_t i = 0; i < pixels; ++i) std::swap(values[i * channels], values[i * channels + 2]);
}

/// Copies rows and swaps red and blue.
void copy_out(const cv::Mat& mat, void* target) {
  const auto channels = static_cast<std::size_t>(mat.channels());
  const auto columns = static_cast<std::size_t>(mat.cols);
  const std::size_t row_bytes = mat.elemSize() * columns;
  auto* bytes = static_cast<unsigned char*>(target);
  for (int y = 0; y < mat.rows; ++y)
    std::memcpy(bytes + row_bytes * static_cast<std::size_t>(y), mat.ptr(y), row_bytes);
  if (channels < 3) return;
  const std::size_t pixels = columns * static_cast<std::size_t>(mat.rows);
  if (mat.depth() == CV_8U) swap_red_and_blue(bytes, pixels, channels);
  if (mat.depth() == CV_16U) swap_red_and_blue(static_cast<std::uint16_t*>(target), pixels, channels);
}

int decode(const unsigned char* data, std::size_t size, SatinOpenCvAllocate allocate, void* user,
           SatinOpenCvMessage* message) try {
  if (size > std::size_t{0x7fffffff}) return fail(message, "OpenCV takes files up to 2 GiB");
  const cv::Mat input(1, static_cast<int>(size), CV_8U, const_cast<unsigned char*>(data));
  cv::Mat mat;
  {
    const Silence silence;
    mat = cv::imdecode(input, cv::IMREAD_UNCHANGED);
  }
  if (mat.empty()) return fail(message, "OpenCV could not decode it");
  if (mat.depth() != CV_8U && mat.depth() != CV_16U)
    return fail(message, "its samples have neither 8 nor 16 bits");
  if (mat.channels() > 4) return fail(message, "it has more than 4 channels");
  void* target = allocate(user, mat.cols, mat.rows, mat.channels(), mat.depth() == CV_8U ? 1 : 2);
  if (target == nullptr) return fail(message, "no memory");
  copy_out(mat, target);
  return 1;
} catch (const std::exception& error) {
  return fail(message, error.what());
}

int encode(const unsigned char* pixels, int width, int height, int channels, const char* extension,
           int quality, SatinOpenCvWrite write, void* user, SatinOpenCvMessage* message) try {
  cv::Mat mat(height, width, CV_MAKETYPE(CV_8U, channels));
  const std::size_t row_bytes = mat.elemSize() * static_cast<std::size_t>(width);
  for (int y = 0; y < height; ++y) {
    std::memcpy(mat.ptr(y), pixels + row_bytes * static_cast<std::size_t>(y), row_bytes);
    if (channels >= 3)
      swap_red_and_blue(mat.ptr(y), static_cast<std::size_t>(width), static_cast<std::size_t>(channels));
  }
  std::vector<unsigned char> file;
  bool good = false;
  {
    const Silence silence;
    good = cv::imencode(extension, mat, file, {cv::IMWRITE_WEBP_QUALITY, quality});
  }
  if (!good || file.empty()) return fail(message, "OpenCV could not encode it");
  return write(user, file.data(), file.size()) != 0 ? 1 : fail(message, "no memory");
} catch (const std::exception& error) {
  return fail(message, error.what());
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const SatinOpenCv* satin_opencv() {
  static const SatinOpenCv table = [] {
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    cv::redirectError(ignore_error);
    return SatinOpenCv{satin::io::opencv_interface_version, decode, encode};
  }();
  return &table;
}
