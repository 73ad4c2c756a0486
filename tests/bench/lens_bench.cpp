// Depth of field of a scene without lamps. On the CPU GEGL's lens-blur runs beside it: it is the Debian
// package `gegl`, and its own report (GEGL_DEBUG_TIME) says how long the filter took, without start-up,
// decoding and encoding. On a GPU the pictures lie in its memory.
//   lens_bench [REPEATS] [THREADS] [DEVICE]

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/cpu_timing.h"

namespace {

using namespace satin::bench;
using satin::Image;
using satin::ImageView;
using satin::Type;
namespace fs = std::filesystem;

constexpr std::int64_t width = 3840;
constexpr std::int64_t height = 2160;

/// A floor that recedes, with eight discs on it at eight depths.
Image disparity_of_scene() {
  Image image({width, height, 1, Type::u8});
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      double value = 40 + 120 * static_cast<double>(y) / height;
      for (int i = 0; i < 8; ++i) {
        const double u = static_cast<double>(x) - (250 + 470 * i);
        const double v = static_cast<double>(y) - (500 + 1300 * ((i * 5) % 8) / 8.0);
        if (u * u + v * v < 230 * 230) value = 80 + 22 * i;
      }
      image.view().value<std::uint8_t>(x, y) = static_cast<std::uint8_t>(value);
    }
  return image;
}

/// Soft patches under noise.
Image picture_of_scene() {
  Image image({width, height, 3, Type::u8});
  std::uint32_t state = 1;
  auto* values = reinterpret_cast<std::uint8_t*>(image.data());
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c) {
        state = state * 1664525U + 1013904223U;
        *values++ = static_cast<std::uint8_t>((x / 90 * 37 + y / 70 * 11 + c * 29) % 200 + (state >> 27));
      }
  return image;
}

void write_pnm(const fs::path& path, const Image& image) {
  std::ofstream file(path, std::ios::binary);
  file << (image.shape().channels == 3 ? "P6" : "P5") << '\n' << width << ' ' << height << "\n255\n";
  file.write(reinterpret_cast<const char*>(image.data()),
             static_cast<std::streamsize>(satin::byte_size(image.shape())));
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double user_seconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return seconds(usage.ru_utime);
}

struct Cost {
  double ms = 0;
  double user_ms = 0;  ///< of all threads
  double bytes = 0;    ///< memory beside the pictures
};

/// `inputs`: the picture and its disparity, which is about 0.15 to 0.9.
Cost cost_of_dof(const satin::Device& device, const std::array<ImageView, 3>& inputs, double focus,
                 double radius, satin::LensQuality quality, int repeats) {
  satin::Dof dof;
  dof.depth = inputs[1];
  dof.style.quality = quality;
  dof.lens.focus = focus;
  dof.lens.strength = radius / std::max(0.9 - focus, focus - 0.15);
  satin::Plan plan = satin::plan(device, inputs[0].shape, dof);
  Image result = device.allocate(inputs[0].shape);
  const auto run = [&] {
    plan.run(inputs, result.view());
    device.synchronize();
  };
  run();
  std::vector<double> times;
  std::vector<double> users;
  for (int i = 0; i < repeats; ++i) {
    const double before = user_seconds(RUSAGE_SELF);
    times.push_back(time_of(run));
    users.push_back(1000 * (user_seconds(RUSAGE_SELF) - before));
  }
  return {median(times), median(users), static_cast<double>(plan.workspace_bytes())};
}

/// "gegl:lens-blur  88.4%" in a tree of shares: each is of the line above that is less indented.
double share_in(const std::string& report, const char* name) {
  std::smatch match;
  const std::regex line(std::string(name) + R"(\s+([0-9.]+)%)");
  return std::regex_search(report, match, line) ? std::stod(match[1]) / 100 : 0;
}

/// Nothing if there is no gegl.
std::optional<Cost> cost_of_gegl(const fs::path& folder, double radius) {
  const std::string command = "cd '" + folder.string() +
                              "' && GEGL_DEBUG_TIME=1 gegl in.ppm -o out.ppm -- lens-blur radius=" +
                              std::to_string(std::lround(radius)) + " aux=[ load path=depth.pgm ] 2>&1";
  const double before = user_seconds(RUSAGE_CHILDREN);
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string report;
  std::array<char, 4096> text{};
  while (const std::size_t count = std::fread(text.data(), 1, text.size(), pipe))
    report.append(text.data(), count);
  rusage usage{};
  if (pclose(pipe) != 0) return std::nullopt;
  getrusage(RUSAGE_CHILDREN, &usage);
  std::smatch total;
  if (!std::regex_search(report, total, std::regex(R"(Total time: ([0-9.]+)s)"))) return std::nullopt;
  const double share = share_in(report, "process") * share_in(report, "gegl:lens-blur");
  return Cost{1000 * std::stod(total[1]) * share, 1000 * (user_seconds(RUSAGE_CHILDREN) - before),
              1024.0 * static_cast<double>(usage.ru_maxrss)};
}

/// `peer_ms` 0: there is none.
void print(const std::string& name, const Cost& cost, double peer_ms) {
  const std::string ratio = peer_ms > 0 ? std::to_string(peer_ms / cost.ms).substr(0, 4) : "-";
  std::printf("| %s | %.0f | %.0f | %.0f | %s |\n", name.c_str(), cost.ms, cost.user_ms, cost.bytes / 1e6,
              ratio.c_str());
}

constexpr std::array qualities{std::pair{"dof fast", satin::LensQuality::fast},
                               std::pair{"dof high", satin::LensQuality::high}};
constexpr double focus_on_floor = 0.45;  ///< what the nearer discs hide is sharp
constexpr double focus_on_nearest = 0.9;

void print_costs_beside_gegl(const satin::Device& device, const Image& picture, const Image& disparity,
                             int repeats) {
  const fs::path folder = fs::temp_directory_path() / ("satin_lens_bench_" + std::to_string(::getpid()));
  fs::create_directory(folder);
  write_pnm(folder / "in.ppm", picture);
  write_pnm(folder / "depth.pgm", disparity);
  std::printf("| UHD RGB u8, radius to | ms | user ms | memory MB | GEGL ms / ms |\n|---|---|---|---|---|\n");
  for (const double radius : {8.0, 16.0, 64.0}) {
    const std::string suffix = ", " + std::to_string(std::lround(radius));
    std::vector<Cost> peers;  // before and behind each of ours
    const auto ask_gegl = [&] {
      if (const std::optional<Cost> peer = cost_of_gegl(folder, radius)) peers.push_back(*peer);
    };
    std::vector<std::pair<std::string, Cost>> costs;
    ask_gegl();
    for (const auto& [name, quality] : qualities) {
      costs.emplace_back(name + suffix, cost_of_dof(device, {picture.view(), disparity.view()},
                                                    focus_on_floor, radius, quality, repeats));
      ask_gegl();
    }
    std::sort(peers.begin(), peers.end(), [](const Cost& a, const Cost& b) { return a.ms < b.ms; });
    const double peer_ms = peers.empty() ? 0 : peers[peers.size() / 2].ms;
    for (const auto& [name, cost] : costs) print(name, cost, peer_ms);
    if (!peers.empty())
      print("GEGL lens-blur" + suffix + " (user ms and memory of the whole process)", peers[peers.size() / 2],
            0);
    std::fflush(stdout);
  }
  fs::remove_all(folder);
}

void print_costs(const satin::Device& device, const Image& picture, const Image& disparity, int repeats) {
  std::printf(
      "| UHD RGB u8, radius to | focus on the floor, ms | on the nearest, ms | memory MB "
      "|\n|---|---|---|---|\n");
  for (const double radius : {8.0, 16.0, 32.0, 64.0})
    for (const auto& [name, quality] : qualities) {
      std::printf("| %s, %g |", name, radius);
      double bytes = 0;
      for (const double focus : {focus_on_floor, focus_on_nearest}) {
        const Cost cost =
            cost_of_dof(device, {picture.view(), disparity.view()}, focus, radius, quality, repeats);
        std::printf(" %.3f |", cost.ms);
        bytes = std::max(bytes, cost.bytes);
      }
      std::printf(" %.0f |\n", bytes / 1e6);
    }
}

}  // namespace

int main(int count, char** arguments) try {
  const int repeats = count > 1 ? satin::bench::number_of(arguments[1], 1) : 5;
  const int threads = count > 2 ? satin::bench::number_of(arguments[2], 0) : 0;
  const satin::Device device = satin::Device::open(count > 3 ? arguments[3] : "cpu", {.threads = threads});
  const Image picture = picture_of_scene();
  const Image disparity = disparity_of_scene();
  std::printf("%s\n\n", device.info().name.c_str());
  if (device.is_cuda())
    print_costs(device, device.upload(picture), device.upload(disparity), repeats);
  else
    print_costs_beside_gegl(device, picture, disparity, repeats);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "lens_bench: %s\n", error.what());
  return 1;
}
