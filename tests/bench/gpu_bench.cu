// Satin on the GPU beside a copy kernel of the same bytes, CUB and NPP, in one run. Prints the rows of
// RESULTS.md.
//
// Medians of 31 event timings. Inputs and outputs rotate over more memory than the L2 holds; all data is
// random. A kernel that spins goes before each timing, so that no launch is waited for inside it.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "satin/error.h"
#include "satin/filters.h"
#include "tests/bench/gpu_rows.cuh"
#include "tests/bench/gpu_tables.cuh"
#include "tests/bench/gpu_timing.cuh"
#include "tests/bench/masks.h"

namespace {

using namespace satin::bench;
using satin::Blur;
using satin::Device;
using satin::Image;
using satin::ImageView;
using satin::Plan;
using satin::Shape;
using satin::Space;
using satin::Type;

enum class Map { none, constant, largest, smooth, random, fractional, slope, every };

/// Radii of an 8-bit map: value / 8 pixels, so that multiples of 8 are whole ones.
constexpr double map_radius = 31.875;

Image radius_map(const Device& device, const Shape& picture, Map kind) {
  const Shape shape = shape_of(picture.width, picture.height, 1, Type::u8);
  Image map(shape);
  std::uint32_t state = 1;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      state = state * 1664525U + 1013904223U;
      const auto patch = static_cast<std::uint32_t>(x / 16 + y / 9);
      const std::uint32_t value = kind == Map::constant  ? 8 * 16
                                  : kind == Map::largest ? 255
                                  : kind == Map::smooth  ? 8 * (patch % 32)
                                  : kind == Map::random  ? 8 * ((state >> 16) % 32)
                                  : kind == Map::slope   ? static_cast<std::uint32_t>(x + 2 * y) / 32 % 256
                                  : kind == Map::every   ? state >> 24
                                                         : patch % 256;
      map.view().value<std::uint8_t>(x, y) = static_cast<std::uint8_t>(value);
    }
  }
  return device.upload(map);
}

void bench_blur(const Device& device, const std::string& name, const Shape& shape, Blur blur, Map kind,
                int npp_radius, double largest_radius = map_radius) {
  if (!is_wanted(name)) return;
  const std::size_t bytes = satin::byte_size(shape);
  const std::size_t map_bytes = kind == Map::none ? 0 : bytes / static_cast<std::size_t>(shape.channels);
  const Rotation in(bytes + map_bytes, 2 * bytes + map_bytes);
  const Rotation out(bytes, 2 * bytes + map_bytes);
  std::vector<Image> maps;
  if (kind != Map::none) {
    const std::size_t count = std::min<std::size_t>(in.buffers.size(), 8);
    while (maps.size() < count) maps.push_back(radius_map(device, shape, kind));
    blur.radius_map = maps[0];
    blur.radius_max = largest_radius;
  }
  Plan plan = satin::plan(device, shape, blur);
  const satin::Stream on{stream()};
  const double ours = time_of([&](int i) {
    const ImageView inputs[] = {
        satin::view_of(in[i], shape, satin::Memory::device),
        maps.empty() ? ImageView{} : maps[static_cast<std::size_t>(i) % maps.size()].view(), ImageView{}};
    plan.run(inputs, satin::mutable_view_of(out[i], shape, satin::Memory::device), on);
  });
  const double copy = time_of_copy(in, bytes + map_bytes, out, bytes);
  const double npp = npp_radius == 0 ? 0
                                     : time_of_npp_box(in, out, static_cast<int>(shape.width),
                                                       static_cast<int>(shape.height), npp_radius);
  print_row(name, ours, copy, 0, npp);
}

void bench_blurs(const Device& device) {
  std::printf(
      "\n| mean, 3840 x 2160 RGB u8 | Satin ms | copy ms | copy / Satin | - | NPP ms "
      "|\n|---|---|---|---|---|---|\n");
  const Shape shape = shape_of(3840, 2160, 3, Type::u8);
  for (const Space space : {Space::encoded, Space::linear}) {
    const std::string suffix = space == Space::encoded ? ", encoded" : ", linear";
    for (const double radius : {16.0, 16.5, 64.0, 1000.0}) {
      Blur blur;
      blur.radius = radius;
      blur.space = space;
      char text[32];
      std::snprintf(text, sizeof text, "radius %g", radius);
      const bool peer = space == Space::encoded && radius == 16.0;
      bench_blur(device, text + suffix, shape, blur, Map::none, peer ? 16 : 0);
    }
    Blur by_map;
    by_map.space = space;
    bench_blur(device, "map, constant 16" + suffix, shape, by_map, Map::constant, 0);
    bench_blur(device, "map, smooth 0..31" + suffix, shape, by_map, Map::smooth, 0);
    bench_blur(device, "map, random 0..31" + suffix, shape, by_map, Map::random, 0);
    bench_blur(device, "map, smooth in 1/8 pixels 0..31.9" + suffix, shape, by_map, Map::fractional, 0);
    bench_blur(device, "map, smooth 0..510" + suffix, shape, by_map, Map::fractional, 0, 510);
    bench_blur(device, "map, constant 510" + suffix, shape, by_map, Map::largest, 0, 510);
  }
  Blur blur;
  bench_blur(device, "map, every value at random, 0..24, linear", shape, blur, Map::every, 0, 24);
  bench_blur(device, "map, a slope of every value, 0..24, linear", shape, blur, Map::slope, 0, 24);
  bench_blur(device, "map, a slope of every value, 0..200, linear", shape, blur, Map::slope, 0, 200);
  blur.radius = 16;
  Shape rgba = shape_of(3840, 2160, 4, Type::u8);
  rgba.alpha = satin::Alpha::straight;
  bench_blur(device, "RGBA u8, radius 16, linear", rgba, blur, Map::none, 0);
  bench_blur(device, "RGB u16, radius 16, linear", shape_of(3840, 2160, 3, Type::u16), blur, Map::none, 0);
  blur.space = Space::encoded;
  bench_blur(device, "RGBA u8 without alpha, radius 16, encoded", shape_of(3840, 2160, 4, Type::u8), blur,
             Map::none, 0);
  bench_blur(device, "RGB u16, radius 16, encoded", shape_of(3840, 2160, 3, Type::u16), blur, Map::none, 0);
  bench_blur(device, "512 x 512 RGB u8, radius 16, encoded", shape_of(512, 512, 3, Type::u8), blur, Map::none,
             0);
  blur.sigma = 8.0;
  bench_blur(device, "RGB u8, gaussian sigma 8, encoded", shape, blur, Map::none, 0);
}

/// One table and two means from small pictures to large ones, for the plot.
void bench_sizes(const Device& device) {
  std::printf(
      "\n| by size | Satin ms | copy ms | copy / Satin | CUB 1-D ms | NPP ms |\n|---|---|---|---|---|---|\n");
  for (const std::int64_t side : {512, 1024, 2048, 4096, 8192, 16384}) {
    const std::string size = std::to_string(side) + " x " + std::to_string(side) + ", ";
    const Shape colours = shape_of(side, side, 3, Type::u8);
    Blur blur;
    blur.space = Space::encoded;
    bench_table(device, shape_of(side, side, 1, Type::u8), Sums::wrapping);
    bench_blur(device, size + "mean by a map, radii to 31", colours, blur, Map::smooth, 0);
    blur.radius = 16;
    bench_blur(device, size + "mean, radius 16", colours, blur, Map::none, 0);
  }
}

template <class Parameters>
void bench_local(const Device& device, const std::string& name, const Shape& shape,
                 const Parameters& parameters) {
  const std::string title = name + ", " + std::to_string(shape.width) + " x " + std::to_string(shape.height) +
                            ", " + std::to_string(shape.channels) + " x " + satin::name_of(shape.type);
  if (!is_wanted(title)) return;
  Plan plan = satin::plan(device, shape, parameters);
  const std::size_t in_bytes = satin::byte_size(shape);
  const std::size_t out_bytes = satin::byte_size(plan.output_shape());
  const Rotation in(in_bytes, in_bytes + out_bytes);
  const Rotation out(out_bytes, in_bytes + out_bytes);
  const double ours = time_of([&](int i) {
    plan.run(satin::view_of(in[i], shape, satin::Memory::device),
             satin::mutable_view_of(out[i], plan.output_shape(), satin::Memory::device),
             satin::Stream{stream()});
  });
  print_row(title, ours, time_of_copy(in, in_bytes, out, out_bytes), 0, 0);
}

void bench_medians(const Device& device) {
  std::printf("\n| median | Satin ms | copy ms | copy / Satin | - | - |\n|---|---|---|---|---|---|\n");
  for (const Type type : {Type::u8, Type::u16})
    for (const double radius : {1.0, 2.0, 5.0, 20.0, 50.0, 200.0, 512.0}) {
      satin::Median median;
      median.radius = radius;
      char text[32];
      std::snprintf(text, sizeof text, "median, radius %g", radius);
      bench_local(device, text, shape_of(3840, 2160, 1, type), median);
    }
}

satin::Threshold threshold_by(satin::Binarisation method, int window) {
  satin::Threshold threshold;
  threshold.method = method;
  threshold.window = window;
  return threshold;
}

void bench_locals(const Device& device) {
  using satin::Binarisation;
  std::printf(
      "\n| local statistics | Satin ms | copy ms | copy / Satin | - | - |\n|---|---|---|---|---|---|\n");
  const auto sauvola = [&](const Shape& shape, int window) {
    bench_local(device, "sauvola " + std::to_string(window), shape,
                threshold_by(Binarisation::sauvola, window));
  };
  for (const auto& [width, height] : {std::pair{3840, 2160}, {8192, 8192}}) {
    sauvola(shape_of(width, height, 1, Type::u8), 31);
    sauvola(shape_of(width, height, 3, Type::u8), 31);
  }
  const Shape grey = shape_of(8192, 8192, 1, Type::u8);
  for (const int window : {5, 101, 255, 501, 1501, 4001}) sauvola(grey, window);
  bench_local(device, "bradley 31", grey, threshold_by(Binarisation::bradley, 31));
  bench_local(device, "niblack 31", grey, threshold_by(Binarisation::niblack, 31));
  bench_local(device, "wolf 31", grey, threshold_by(Binarisation::wolf, 31));
  bench_local(device, "nick 31", grey, threshold_by(Binarisation::nick, 31));
  sauvola(shape_of(8192, 8192, 1, Type::u16), 31);
  sauvola(shape_of(3840, 2160, 1, Type::u16), 31);
  bench_local(device, "local-mean 31", grey, satin::LocalMean{});
  bench_local(device, "local-deviation 31", grey, satin::LocalDeviation{});
  bench_local(device, "local-deviation 31", shape_of(3840, 2160, 3, Type::u8), satin::LocalDeviation{});
}

/// `inputs_of(picture, mask)`: what the plan takes.
template <class InputsOf>
void bench_masked(const std::string& name, Plan plan, const Image& mask, const InputsOf& inputs_of) {
  const Shape& shape = plan.output_shape();
  const std::size_t bytes = satin::byte_size(shape);
  const std::size_t mask_bytes = satin::byte_size(mask.shape());
  const Rotation in(bytes + mask_bytes, 2 * bytes + mask_bytes);
  const Rotation out(bytes, 2 * bytes + mask_bytes);
  const satin::Stream on{stream()};
  const double ours = time_of([&](int i) {
    const std::vector<ImageView> inputs =
        inputs_of(satin::view_of(in[i], shape, satin::Memory::device), mask.view());
    plan.run(inputs, satin::mutable_view_of(out[i], shape, satin::Memory::device), on);
  });
  print_row(name, ours, time_of_copy(in, bytes + mask_bytes, out, bytes), 0, 0);
}

/// Time includes the wait for the active tiles.
void bench_masks(const Device& device) {
  std::printf(
      "\n| under a mask, 3840 x 2160 RGB u8, radius 16 | Satin ms | copy ms | copy / Satin | - | - "
      "|\n|---|---|---|---|---|---|\n");
  const Shape shape = shape_of(3840, 2160, 3, Type::u8);
  const auto bench = [&](double percent, Active where) {
    const Image mask = device.upload(mask_of(shape.width, shape.height, percent, where));
    char text[80];
    std::snprintf(text, sizeof text, "mask, %g %% active, %s", percent,
                  where == Active::together ? "one rectangle" : "scattered squares");
    const auto blur = [&](const char* kind, Blur parameters) {
      const std::string name = std::string(kind) + text;
      if (!is_wanted(name)) return;
      parameters.radius = 16;
      parameters.mask = mask;
      bench_masked(name, satin::plan(device, shape, parameters), mask,
                   [](const ImageView& picture, const ImageView& weights) {
                     return std::vector{picture, ImageView{}, weights};
                   });
    };
    blur("blur linear, ", {});
    blur("blur encoded, ", {.space = Space::encoded});
    blur("blur excluding, ", {.mask_mode = satin::MaskMode::exclude});
    const std::string name = std::string("dilate, ") + text;
    if (is_wanted(name))
      bench_masked(name, satin::plan(device, shape, satin::Dilate{.radius = 16, .mask = mask}), mask,
                   [](const ImageView& picture, const ImageView& weights) {
                     return std::vector{picture, weights};
                   });
  };
  for (const double percent : {0.0, 1.0, 10.0, 50.0, 100.0}) bench(percent, Active::together);
  for (const double percent : {1.0, 10.0}) bench(percent, Active::scattered);
}

}  // namespace

/// Argument: a text that the names of the rows to measure must hold, or "by size" for those of the plot.
int main(int argc, char** argv) {
  if (argc > 1) wanted() = argv[1];
  try {
    const Device device = Device::open("cuda:0");
    std::printf("%s, CUDA %d.%d, medians of %d. Empty kernel %.4f ms.\n", device.info().name.c_str(),
                CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, repeats,
                time_of([](int) { nothing<<<1, 1, 0, stream()>>>(); }));
#if !defined(SATIN_BENCH_NPP)
    std::printf("NPP was not found when this was built.\n");
#endif
    if (wanted() == "by size") {
      wanted().clear();
      bench_sizes(device);
      return 0;
    }
    bench_tables(device);
    bench_blurs(device);
    bench_locals(device);
    bench_medians(device);
    bench_masks(device);
  } catch (const satin::Error& error) {
    std::fprintf(stderr, "gpu_bench: %s\n", error.what());
    return 3;
  }
}
