// satin_render_scene: renders a still life with its depth, radius map and mask, as input for the filters.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "satin/error.h"
#include "satin/image.h"
#include "satin/io.h"
#include "satin/restored_light.h"
#include "scene_render.h"
#include "scene_tone.h"

namespace {

using scene::Picture;
using scene::Vec3;

constexpr std::string_view usage = R"(Usage: satin_render_scene -o DIR [options]

Renders an evening still life and writes to DIR, which is created if need be:

  scene.png            8 bits, sRGB, tone-mapped
  scene.pfm            linear light, float, not clipped
  scene_hdr.jpg        scene.png with a gain map that restores the linear light (Ultra HDR)
  scene_depth.pfm      depth along the view axis in metres, float
  scene_disparity.png  16 bits, proportional to 1 / depth; the nearest point is white
  scene_radius.png     8 bits: 0 on the subject, growing with its distance in 1 / depth; 255 farthest from it
  scene_mask.png       8 bits: share of each pixel that the subject covers

Files of these names are overwritten. The focus values of the subject are printed.

Options:
  -o, --output DIR   folder to write to
  --width W          default 960
  --height H         default 640
  --threads N        default: all cores; the pictures do not depend on it
  --help             this text
)";

struct Options {
  std::filesystem::path folder;
  int width = 960;
  int height = 640;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
};

[[noreturn]] void refuse(const std::string& message) {
  throw satin::Error(satin::ErrorKind::usage, message + "\nTry: satin_render_scene --help");
}

int parse_number(std::string_view option, std::string_view text, int largest) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > largest) {
    refuse(std::string(option) + " takes a whole number from 1 to " + std::to_string(largest) + ", not '" +
           std::string(text) + "'.");
  }
  return value;
}

/// Returns nothing if help was requested.
std::optional<Options> parse(std::span<char*> arguments) {
  Options options;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view name = arguments[i];
    if (name == "--help" || name == "-h") return std::nullopt;
    const bool known =
        name == "-o" || name == "--output" || name == "--width" || name == "--height" || name == "--threads";
    if (!known) refuse("Unknown argument '" + std::string(name) + "'.");
    if (++i == arguments.size()) refuse(std::string(name) + " needs a value.");
    const std::string_view value = arguments[i];
    if (name == "--width") options.width = parse_number(name, value, 16384);
    if (name == "--height") options.height = parse_number(name, value, 16384);
    if (name == "--threads") options.threads = static_cast<unsigned>(parse_number(name, value, 1024));
    if (name == "-o" || name == "--output") options.folder = value;
  }
  if (options.folder.empty()) refuse("-o DIR is missing: the folder to write to.");
  return options;
}

/// Returns the defocus of a depth in 1 / m, to which the radius of the circle of confusion is proportional.
/// The subject is sharp throughout its thickness.
double defocus(double depth, double focus) {
  constexpr double half_thickness = 0.03;
  const double sharp = 1 / (focus - half_thickness) - 1 / focus;
  return std::max(0.0, std::abs(1 / depth - 1 / focus) - sharp);
}

/// Returns an image with the values of `value(pixel index, channel)`.
template <class T, class Value>
satin::Image make_image(const Picture& picture, int channels, satin::Type type, Value value) {
  satin::Image image(
      satin::Shape{.width = picture.width, .height = picture.height, .channels = channels, .type = type});
  const satin::MutableImageView view = image.view();
  std::size_t pixel = 0;
  for (int y = 0; y < picture.height; ++y) {
    T* row = view.row<T>(y);
    for (int x = 0; x < picture.width; ++x, ++pixel) {
      for (int channel = 0; channel < channels; ++channel) *row++ = value(pixel, channel);
    }
  }
  return image;
}

double component(Vec3 v, int channel) { return channel == 0 ? v.x : channel == 1 ? v.y : v.z; }

template <class T>
T quantize(double unit) {
  return static_cast<T>(std::lround(scene::saturate(unit) * std::numeric_limits<T>::max()));
}

void write_all(const Picture& picture, double focus, const std::filesystem::path& folder) {
  using satin::Type;
  const satin::WriteOptions overwrite{.overwrite = true, .format = {}};
  const auto write = [&](const char* name, const satin::Image& image) {
    satin::write_image(folder / name, image, overwrite);
  };

  std::vector<Vec3> shown(picture.radiance.size());
  std::transform(picture.radiance.begin(), picture.radiance.end(), shown.begin(), scene::tone_map);
  const double nearest = *std::min_element(picture.depth.begin(), picture.depth.end());
  double most = 1e-9;
  for (const double depth : picture.depth) most = std::max(most, defocus(depth, focus));

  const satin::Image base = make_image<std::uint8_t>(picture, 3, Type::u8, [&](std::size_t i, int c) {
    return quantize<std::uint8_t>(component(shown[i], c));
  });
  const satin::Image light = make_image<float>(picture, 3, Type::f32, [&](std::size_t i, int c) {
    return static_cast<float>(component(picture.radiance[i], c));
  });
  write("scene.png", base);
  write("scene.pfm", light);
  if (satin::what_is_lost(".jpg", {}, {}, true).empty()) {
    const satin::GainMap map = satin::gain_map_of(satin::Device::open("cpu"), {base, light});
    satin::WriteOptions options{.overwrite = true, .format = {}};
    options.gain_map = &map;
    satin::write_image(folder / "scene_hdr.jpg", base, options);
  }
  write("scene_depth.pfm", make_image<float>(picture, 1, Type::f32, [&](std::size_t i, int) {
          return static_cast<float>(picture.depth[i]);
        }));
  write("scene_disparity.png", make_image<std::uint16_t>(picture, 1, Type::u16, [&](std::size_t i, int) {
          return quantize<std::uint16_t>(nearest / picture.depth[i]);
        }));
  write("scene_radius.png", make_image<std::uint8_t>(picture, 1, Type::u8, [&](std::size_t i, int) {
          return quantize<std::uint8_t>(defocus(picture.depth[i], focus) / most);
        }));
  write("scene_mask.png", make_image<std::uint8_t>(picture, 1, Type::u8, [&](std::size_t i, int) {
          return quantize<std::uint8_t>(picture.subject[i]);
        }));
  std::cout << "focus depth " << focus << " m, focus disparity " << quantize<std::uint16_t>(nearest / focus)
            << " of 65535\n";
}

void run(const Options& options) {
  std::filesystem::create_directories(options.folder);
  const scene::Scene scene = scene::make_scene();
  const scene::Camera camera(options.width, options.height);
  const Picture picture = scene::render(scene, camera, options.width, options.height, options.threads);
  write_all(picture, camera.depth(scene.subject_centre), options.folder);
}

int exit_code(satin::ErrorKind kind) {
  switch (kind) {
    case satin::ErrorKind::input:
      return 1;
    case satin::ErrorKind::usage:
      return 2;
    case satin::ErrorKind::environment:
    case satin::ErrorKind::cancelled:
      break;
  }
  return 3;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto options = parse({argv, static_cast<std::size_t>(argc)});
    if (!options) {
      std::cout << usage;
      return 0;
    }
    run(*options);
    return 0;
  } catch (const satin::Error& error) {
    std::cerr << "satin_render_scene: " << error.what() << '\n';
    return exit_code(error.kind());
  } catch (const std::exception& error) {
    std::cerr << "satin_render_scene: " << error.what() << '\n';
    return 1;
  }
}
