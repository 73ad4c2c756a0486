#pragma once
// Timing on the CPU: Satin, a peer and a copy of the same bytes in turn, so that all three see the same
// machine.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "satin/filters.h"

#ifdef SATIN_BENCH_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace satin::bench {

inline Image random_image(const Shape& shape) {
  Image image(shape);
  std::uint32_t state = 1;
  std::generate_n(image.data(), byte_size(shape), [&state] {
    state = state * 1664525U + 1013904223U;
    return static_cast<std::byte>(state >> 24);
  });
  return image;
}

/// Milliseconds of the call.
inline double time_of(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

struct Case {
  std::string name;
  std::size_t bytes;  ///< that must move: input read, output written
  std::function<void()> ours;
  std::string peer_name;
  std::function<void()> peer;  ///< may be empty
};

inline void report(const Case& test, int repeats) {
  const Buffer from = allocate_host(test.bytes / 2);
  const Buffer to = allocate_host(test.bytes / 2);
  std::memset(from.get(), 1, from.size);
  std::vector<double> ours;
  std::vector<double> peer;
  std::vector<double> copy;
  for (int i = -2; i < repeats; ++i) {
    const double a = time_of(test.ours);
    const double b = test.peer ? time_of(test.peer) : 0;
    const double c = time_of([&] { std::memcpy(to.get(), from.get(), from.size); });
    if (i < 0) continue;
    ours.push_back(a);
    peer.push_back(b);
    copy.push_back(c);
  }
  const double t = median(ours);
  std::printf("| %s | %.2f | %.2f | %.2f |", test.name.c_str(), t, median(copy), median(copy) / t);
  if (test.peer) {
    std::printf(" %s %.2f | %.2f |\n", test.peer_name.c_str(), median(peer), median(peer) / t);
  } else {
    std::printf(" | |\n");
  }
  std::fflush(stdout);
}

/// A number on the command line, at least `least`; ends the program otherwise.
inline int number_of(const char* text, int least) {
  int number = 0;
  const char* end = text + std::strlen(text);
  const auto [read, code] = std::from_chars(text, end, number);
  if (code == std::errc{} && read == end && number >= least) return number;
  std::fprintf(stderr, "\"%s\" is not a number of at least %d.\n", text, least);
  std::exit(2);
}

/// What every bench of cases takes: [repeats [threads [part of a case's name]]].
struct Arguments {
  int repeats = 15;
  int threads = 0;
  std::string part{};
};

inline Arguments arguments_of(int argc, char** argv, Arguments arguments) {
  if (argc > 1) arguments.repeats = number_of(argv[1], 1);
  if (argc > 2) arguments.threads = number_of(argv[2], 0);
  if (argc > 3) arguments.part = argv[3];
  return arguments;
}

/// The CPU with as many threads for Satin as for OpenCV.
inline Device open_cpu(const Arguments& arguments) {
#ifdef SATIN_BENCH_OPENCV
  if (arguments.threads > 0) cv::setNumThreads(arguments.threads);
#endif
  return Device::open("cpu", {arguments.threads});
}

inline void report_all(const Device& device, const std::string& pictures, const std::vector<Case>& cases,
                       const Arguments& arguments) {
  std::printf("%s, medians of %d, %s\n\n", device.info().name.c_str(), arguments.repeats, pictures.c_str());
  std::printf(
      "| case | ms | copy ms | share of the copy | peer ms | times the peer |\n|---|---|---|---|---|---|\n");
  for (const Case& test : cases)
    if (test.name.find(arguments.part) != std::string::npos) report(test, arguments.repeats);
}

/// Plans once and runs into the same picture; for filters without side inputs.
template <class Parameters>
std::function<void()> planned(const Device& device, const Image& image, const Parameters& parameters) {
  auto plan = std::make_shared<Plan>(satin::plan(device, image.shape(), parameters));
  auto out = std::make_shared<Image>(plan->output_shape());
  return [plan, out, view = image.view()] { plan->run(view, out->view()); };
}

#ifdef SATIN_BENCH_OPENCV
inline cv::Mat mat_of(const Image& image) {
  return {static_cast<int>(image.shape().height), static_cast<int>(image.shape().width),
          CV_MAKETYPE(image.shape().type == Type::u8 ? CV_8U : CV_16U, image.shape().channels),
          const_cast<std::byte*>(image.data())};
}

/// A peer's output lies in memory from where ours comes too, so that pages of one size serve both.
inline std::function<void()> into_own_memory(const Shape& shape, int type,
                                             const std::function<void(cv::Mat&)>& call) {
  auto memory = std::make_shared<Image>(shape);
  return [memory, type, call] {
    cv::Mat out(static_cast<int>(memory->shape().height), static_cast<int>(memory->shape().width), type,
                memory->data());
    call(out);
    if (out.data != reinterpret_cast<unsigned char*>(memory->data())) std::abort();
  };
}
#endif

}  // namespace satin::bench
