// satin_lens: depth of field against a ray-traced lens. README.md beside this file is its page.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "damage.h"
#include "layers.h"
#include "methods.h"
#include "render.h"
#include "satin/error.h"
#include "satin/io.h"
#include "scores.h"

namespace {

namespace fs = std::filesystem;

struct Options {
  std::uint32_t first_seed = 101;
  std::uint32_t seeds = 8;
  std::uint32_t samples = 256;
  std::vector<std::string> kinds;
  std::vector<std::string> damages{"exact"};
  std::vector<std::string> methods;
  std::string cache;
  std::string pictures;
  double highlights = 4;
  bool noise = false;
};

/// Input of a method: clipped to 1 like an 8-bit file, or not. `damage` applies unless another one is
/// requested.
struct Case {
  std::string name;
  lens::Kind kind;
  bool clipped;
  lens::Damage damage = lens::Damage::none;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const lens::Kind kind : lens::all_kinds) {
    const bool phone = kind == lens::Kind::portrait;
    cases.push_back({lens::name_of(kind), kind, phone, phone ? lens::Damage::phone : lens::Damage::none});
    if (kind == lens::Kind::lights) cases.push_back({"clipped", kind, true});
    if (kind == lens::Kind::lamps_behind_fence) cases.push_back({"lamps clipped", kind, true});
    if (kind == lens::Kind::lights_on_wires) cases.push_back({"wires clipped", kind, true});
  }
  return cases;
}

/// Scenes with lamps get this many times the rays, as few rays hit a lamp.
constexpr std::uint32_t rays_for_lamps = 8;
bool has_lamps(lens::Kind kind) {
  return kind == lens::Kind::lights || kind == lens::Kind::lamps_behind_fence ||
         kind == lens::Kind::lights_on_wires;
}

/// Rendered views of one scene, kept as PFM files in a folder if one is given.
class Rendered {
 public:
  Rendered(const Options& options, lens::Kind kind, std::uint32_t seed)
      : scene(lens::make_scene(kind, seed)),
        samples_(has_lamps(kind) ? rays_for_lamps * options.samples : options.samples),
        folder_(options.cache),
        name_(std::string(lens::name_of(kind)) + "_" + std::to_string(seed) + "_" + std::to_string(samples_) +
              "_") {
    if (!folder_.empty()) fs::create_directories(folder_);
  }

  [[nodiscard]] lens::Views views() const {
    if (!folder_.empty() && fs::exists(path("lens_2"))) {
      lens::Views views{satin::read_image(path("pinhole")),
                        satin::read_image(path("disparity")),
                        {},
                        {satin::read_image(path("lens_1")), satin::read_image(path("lens_2"))}};
      views.truth = lens::mean_of(views.samplings[0], views.samplings[1]);
      return views;
    }
    lens::Views views = lens::render_views(scene, samples_);
    keep("pinhole", views.pinhole);
    keep("disparity", views.disparity);
    keep("lens_1", views.samplings[0]);
    keep("lens_2", views.samplings[1]);
    return views;
  }

  const lens::Scene scene;

 private:
  [[nodiscard]] fs::path path(const char* part) const { return folder_ / (name_ + part + ".pfm"); }
  void keep(const char* part, const satin::Image& picture) const {
    if (!folder_.empty()) satin::write_image(path(part), picture, {.overwrite = true});
  }

  std::uint32_t samples_;
  fs::path folder_;
  std::string name_;
};

satin::Image clipped(const satin::Image& picture) {
  satin::Image result = picture.clone();
  for (int y = 0; y < lens::height; ++y)
    for (int x = 0; x < lens::width; ++x) {
      const lens::Vec3 c = lens::pixel_of(picture, x, y);
      lens::set_pixel(result, x, y, {std::min(c.x, 1.0), std::min(c.y, 1.0), std::min(c.z, 1.0)});
    }
  return result;
}

/// Sums of scores over seeds.
struct Row {
  std::map<std::string, lens::Scores> sums;
  void add(const std::string& name, const lens::Scores& scores) {
    lens::Scores& sum = sums[name];
    sum.psnr += scores.psnr;
    sum.edge_psnr += scores.edge_psnr;
    sum.ssim += scores.ssim;
    sum.specks += scores.specks;
    sum.border_psnr += scores.border_psnr;
    sum.whole_psnr += scores.whole_psnr;
  }
};

bool chosen(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

void print_cell(const lens::Scores& sum, double count) {
  std::printf(" %.2f / %.2f / %.4f / %.2f / %.2f / %.2f |", sum.psnr / count, sum.edge_psnr / count,
              sum.ssim / count, sum.specks / count, sum.border_psnr / count, sum.whole_psnr / count);
}

void print_table(const std::string& title, const std::vector<Case>& cases,
                 const std::vector<std::pair<std::string, Row>>& rows, double seeds) {
  std::printf("\n%s\n\n| method |", title.c_str());
  for (const Case& c : cases) std::printf(" %s |", c.name.c_str());
  std::printf(" mean |\n|---|");
  for (std::size_t i = 0; i <= cases.size(); ++i) std::printf("---|");
  std::printf("\n");
  for (const auto& [name, row] : rows) {
    std::printf("| %s |", name.c_str());
    lens::Scores mean;
    const auto count = static_cast<double>(cases.size());
    for (const Case& c : cases) {
      const lens::Scores& sum = row.sums.at(c.name);
      print_cell(sum, seeds);
      mean.psnr += sum.psnr / seeds / count;
      mean.edge_psnr += sum.edge_psnr / seeds / count;
      mean.ssim += sum.ssim / seeds / count;
      mean.specks += sum.specks / seeds / count;
      mean.border_psnr += sum.border_psnr / seeds / count;
      mean.whole_psnr += sum.whole_psnr / seeds / count;
    }
    print_cell(mean, 1);
    std::printf("\n");
  }
}

void write_pictures(const Options& options, const std::string& name, const satin::Image& picture) {
  if (options.pictures.empty()) return;
  fs::create_directories(options.pictures);
  satin::write_image(fs::path(options.pictures) / (name + ".png"), lens::shown_picture(picture),
                     {.overwrite = true});
}

constexpr const char* noise_row = "noise of the truth";

/// Scores of a perfect picture. The truth is the mean of two samplings, so its error is half of their
/// difference.
lens::Scores scores_of_truth(const lens::Views& views, const lens::Scene& scene) {
  lens::Scores scores = lens::scores_of(views.samplings[0], views.samplings[1], scene, views.disparity);
  const double halved = 20 * std::log10(2);
  scores.psnr += halved;
  scores.edge_psnr += halved;
  scores.border_psnr += halved;
  scores.whole_psnr += halved;
  scores.ssim = 1 - (1 - scores.ssim) / 4;
  return scores;
}

void study(const Options& options, lens::Damage damage) {
  std::vector<Case> cases;
  for (const Case& c : all_cases())
    if (chosen(options.kinds, c.name)) cases.push_back(c);
  std::vector<std::pair<std::string, Row>> rows;
  for (const lens::Method& method : lens::methods())
    if (chosen(options.methods, method.name)) rows.emplace_back(method.name, Row{});
  if (options.noise) rows.emplace_back(noise_row, Row{});
  for (std::uint32_t seed = options.first_seed; seed < options.first_seed + options.seeds; ++seed)
    for (const Case& c : cases) {
      const Rendered rendered(options, c.kind, seed);
      const lens::Views views = rendered.views();
      const std::string tag = c.name + "_" + std::to_string(seed) + "_";
      write_pictures(options, tag + "truth", views.truth);
      const satin::Image disparity =
          lens::damaged(views.disparity, damage == lens::Damage::none ? c.damage : damage, seed);
      const lens::Input input{rendered.scene, c.clipped ? clipped(views.pinhole) : views.pinhole.clone(),
                              disparity.clone(), lens::plain(disparity), c.clipped ? options.highlights : 1};
      const auto score = [&](const satin::Image& result) {
        return lens::scores_of(result, views.truth, rendered.scene, views.disparity);
      };
      for (auto& [name, row] : rows) {
        const lens::Method* method = lens::find_method(name);
        if (method == nullptr) {
          row.add(c.name, scores_of_truth(views, rendered.scene));
          continue;
        }
        const satin::Image result = method->run(input);
        row.add(c.name, score(result));
        write_pictures(options, tag + name, result);
      }
      std::fprintf(stderr, ".");
    }
  std::fprintf(stderr, "\n");
  print_table(std::string("Disparity: ") + lens::name_of(damage) +
                  ". PSNR in dB, the same near edges, SSIM, specks along silhouettes, and PSNR at the "
                  "picture's border and of all of it.",
              cases, rows, options.seeds);
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  CLI::App app{"Depth of field against a ray-traced lens, by kind of scene"};
  app.add_option("--first-seed", options.first_seed, "1 to 99 are for tuning, others for reports")
      ->capture_default_str();
  app.add_option("--seeds", options.seeds, "scenes of each kind")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--samples", options.samples,
                 "rays a pixel in each of two samplings of the lens; eight times as many for lamps")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  app.add_option(
         "--kinds", options.kinds,
         "near fence lights clipped floor bars layers black foliage lamps 'lamps clipped' wires 'wires "
         "clipped' page phone; default all")
      ->delimiter(',');
  app.add_option("--damages", options.damages,
                 "exact eroded dilated 'blurred 3' 'blurred 5' noisy shifted 'half size' '8 bits' holes "
                 "phone, or all")
      ->delimiter(',');
  app.add_option("--methods", options.methods, "names of the table's rows; default all")->delimiter(',');
  app.add_option("--cache", options.cache, "folder that keeps what was rendered");
  app.add_option("--pictures", options.pictures, "folder for every result as PNG");
  app.add_option("--highlights", options.highlights,
                 "what Satin takes clipped lamps to have been brighter by; 4 is what it does for 8 bits")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_flag("--noise", options.noise, "a row with the noise of the truth");
  CLI11_PARSE(app, count, arguments);
  try {
    for (const lens::Damage damage : lens::all_damages)
      if (options.damages == std::vector<std::string>{"all"} ||
          chosen(options.damages, lens::name_of(damage)))
        study(options, damage);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "satin_lens: %s\n", error.what());
    return 1;
  }
}
