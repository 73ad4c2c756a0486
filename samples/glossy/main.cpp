// satin_glossy: renders balls of increasing roughness by satin::gloss().

#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>
#include <iostream>

#include "balls.h"
#include "satin/error.h"
#include "satin/io.h"

namespace {

void run(const std::filesystem::path& folder, const std::string& device_name) {
  const satin::WriteOptions overwrite{.overwrite = true, .format = {}};
  std::filesystem::create_directories(folder);
  const satin::Device device = satin::Device::open(device_name);
  const satin::Image map = glossy::environment_map(512);
  satin::write_image(folder / "environment.pfm", map, overwrite);
  const glossy::Environment environment(device, map);
  satin::write_image(folder / "environment_levels.pfm", environment.levels(), overwrite);
  satin::write_image(folder / "balls.png", glossy::render_balls(environment, 960, 390), overwrite);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Renders balls before a made-up evening sky and writes balls.png, environment.pfm and "
      "environment_levels.pfm; files of these names are overwritten.");
  std::filesystem::path folder;
  std::string device = "auto";
  app.add_option("-o,--output", folder, "folder to write to; created if need be")->required();
  app.add_option("--device", device, "auto, cpu or cuda:N");
  CLI11_PARSE(app, argc, argv);
  try {
    run(folder, device);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "satin_glossy: " << error.what() << '\n';
    return 1;
  }
}
