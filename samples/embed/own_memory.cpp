// Satin inside a program with pictures, memory and threads of its own: views of any layout, one plan for many
// pictures, an allocator, cancellation, a device shared by threads, and errors with their kind.

#include <satin/error.h>
#include <satin/filters.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <thread>
#include <vector>

namespace {

constexpr satin::Shape shape{64, 48, 3, satin::Type::u8};

/// Returns a view of planes, blue first and bottom row first, as some cameras and bitmaps store them.
satin::MutableImageView bottom_up_planes(std::vector<std::uint8_t>& bytes) {
  bytes.resize(satin::byte_size(shape));
  satin::Shape planes = shape;
  planes.order = satin::Order::bgr;
  satin::MutableImageView view = satin::mutable_view_of(bytes.data(), planes);
  view.strides = satin::planar_strides(planes);
  view.data += (shape.height - 1) * view.strides.row;
  view.strides.row = -view.strides.row;
  return view;
}

std::atomic<std::size_t> bytes_in_use = 0;

/// Returns the program's own allocator, which counts the bytes in use.
satin::Allocator counted() {
  return {[](std::size_t bytes) {
            bytes_in_use += bytes;
            return std::aligned_alloc(64, (bytes / 64 + 1) * 64);
          },
          [](void* memory, std::size_t bytes) {
            bytes_in_use -= bytes;
            std::free(memory);
          }};
}

bool filters_any_layout(const satin::Device& device) {
  std::vector<std::uint8_t> bytes;
  const satin::MutableImageView picture = bottom_up_planes(bytes);
  std::vector<std::uint8_t> room;
  const satin::MutableImageView result = bottom_up_planes(room);
  satin::Plan blur = satin::plan(device, picture.shape, satin::Blur{.radius = 3});
  for (int level : {0, 100, 255}) {  // one plan, many pictures
    std::fill(bytes.begin(), bytes.end(), static_cast<std::uint8_t>(level));
    blur.run(picture, result);
    if (room != bytes) return false;
  }
  return true;
}

bool uses_our_allocator() {
  {
    const satin::Device device = satin::Device::open("cpu", {.allocator = counted()});
    const satin::Image picture = device.allocate(shape);
    if (bytes_in_use < satin::byte_size(shape)) return false;
  }
  return bytes_in_use == 0;
}

bool can_be_cancelled(const satin::Device& device) {
  satin::Shape film = shape;
  film.frames = 100;
  std::vector<std::uint8_t> bytes(satin::byte_size(film));
  const satin::MutableImageView frames = satin::mutable_view_of(bytes.data(), film);
  satin::Plan blur = satin::plan(device, film, satin::Blur{.radius = 3});
  double reached = 0;
  blur.watch([&](double done) {
    reached = done;
    return done < 0.1;
  });
  try {
    blur.run(frames, frames);
  } catch (const satin::Error& error) {
    return error.kind() == satin::ErrorKind::cancelled && reached < 0.2;
  }
  return false;
}

bool threads_share_a_device(const satin::Device& device) {
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const std::vector<std::uint8_t> grey(satin::byte_size(shape), static_cast<std::uint8_t>(60 * t));
      const satin::Image soft = satin::blur(device, satin::view_of(grey.data(), shape), {.radius = 5});
      if (std::equal(grey.begin(), grey.end(), reinterpret_cast<const std::uint8_t*>(soft.data()))) ++right;
    });
  for (std::thread& thread : threads) thread.join();
  return right == 4;
}

bool reports_errors_by_kind(const satin::Device& device) {
  try {
    static_cast<void>(satin::plan(device, shape, satin::Blur{.radius = -1}));
  } catch (const satin::Error& error) {
    return error.kind() == satin::ErrorKind::usage;
  }
  return false;
}

}  // namespace

int main() {
  const satin::Device device = satin::Device::open("auto");
  const bool results[] = {filters_any_layout(device), uses_our_allocator(), can_be_cancelled(device),
                          threads_share_a_device(device), reports_errors_by_kind(device)};
  for (const bool result : results) std::cout << (result ? "good\n" : "WRONG\n");
  return std::count(std::begin(results), std::end(results), false) == 0 ? 0 : 1;
}
