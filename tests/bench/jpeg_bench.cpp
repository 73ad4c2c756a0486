// JPEG files decoded by libjpeg and by every engine of nvJPEG: pictures a second, and by how much the pixels
// differ.
//   jpeg_bench DEVICE THREADS TIMES FILE...
// DEVICE is such as cuda:0. THREADS threads decode every file TIMES times into page-locked memory that is
// kept, after each has been decoded once to wake things up.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "batch/picture_memory.h"
#include "satin/device.h"
#include "satin/error.h"
#include "satin/io.h"
#include "satin/nvjpeg_decoder.h"

namespace {

using satin::NvjpegEngine;
using FileBytes = std::vector<std::byte>;

struct Work {
  std::vector<FileBytes> files;
  satin::Device device;
  int threads = 1;
  int times = 1;
};

FileBytes bytes_of(const char* path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

satin::Image decode(const FileBytes& file, const satin::ReadOptions& options) {
  return decode_picture(file, "file", options).image;
}

double seconds_of(const Work& work, const satin::ReadOptions& options, int times) {
  const std::size_t all = work.files.size() * static_cast<std::size_t>(times);
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  const auto start = std::chrono::steady_clock::now();
  for (int t = 0; t < work.threads; ++t)
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < all; i = next++)
        static_cast<void>(decode(work.files[i % work.files.size()], options));
    });
  for (std::thread& thread : threads) thread.join();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Largest and mean difference from libjpeg over all files.
void print_difference(const Work& work, const satin::ReadOptions& options) {
  int largest = 0;
  double sum = 0;
  double count = 0;
  for (const FileBytes& file : work.files) {
    const satin::Image usual = decode(file, {});
    const satin::Image other = decode(file, options);
    for (std::size_t i = 0; i < byte_size(usual.shape()); ++i) {
      const int difference =
          std::abs(std::to_integer<int>(usual.data()[i]) - std::to_integer<int>(other.data()[i]));
      largest = std::max(largest, difference);
      sum += difference;
    }
    count += static_cast<double>(byte_size(usual.shape()));
  }
  std::printf("  differs by %3d at most, %.4f on average\n", largest, sum / count);
}

void time_decoder(const Work& work, const char* name, satin::ReadOptions options) {
  const satin::Allocator page_locked = work.device.page_locked_memory();
  if (page_locked.allocate)
    options.allocator = satin::batch::pooled(page_locked, std::uint64_t{1} << 34, std::uint64_t{1} << 34);
  static_cast<void>(seconds_of(work, options, work.threads));
  const std::uint64_t before = options.nvjpeg ? options.nvjpeg->decoded() : 0;
  const double seconds = seconds_of(work, options, work.times);
  const auto all = static_cast<double>(work.files.size()) * work.times;
  std::printf("%-20s %3d threads %9.1f pictures a second %9.3f ms each", name, work.threads, all / seconds,
              1e3 * seconds * work.threads / all);
  if (options.nvjpeg)
    std::printf("  %5.1f %% on the GPU", 100 * static_cast<double>(options.nvjpeg->decoded() - before) / all);
  print_difference(work, options);
}

void time_engine(const Work& work, const char* name, NvjpegEngine engine) {
  try {
    const int ordinal = std::atoi(work.device.info().id.c_str() + std::string("cuda:").size());
    time_decoder(work, name, {.nvjpeg = satin::NvjpegDecoder::open(ordinal, engine)});
  } catch (const satin::Error& error) {
    std::printf("%-20s %s\n", name, error.what());
  }
}

void run(int count, char** words) {
  Work work{{}, satin::Device::open(words[1]), std::atoi(words[2]), std::atoi(words[3])};
  for (int i = 4; i < count; ++i) work.files.push_back(bytes_of(words[i]));
  time_decoder(work, "libjpeg", {});
  time_engine(work, "nvjpeg", NvjpegEngine::automatic);
  time_engine(work, "nvjpeg, codes on GPU", NvjpegEngine::gpu);
  time_engine(work, "nvjpeg, codes on CPU", NvjpegEngine::cpu);
  time_engine(work, "nvjpeg, JPEG engine", NvjpegEngine::hardware);
}

}  // namespace

int main(int count, char** words) {
  if (count < 5) {
    std::fprintf(stderr, "usage: jpeg_bench DEVICE THREADS TIMES FILE...\n");
    return 2;
  }
  try {
    run(count, words);
    return 0;
  } catch (const satin::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
