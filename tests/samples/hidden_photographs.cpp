// Photographs as what is hidden: does the non-local fill lose against means of what is around, where textures
// are real and do not repeat?
//
//     satin_hidden_photographs PHOTOGRAPH...
//
// Blurred blobs stand before each photograph, which is in focus; the truth is every layer whole over true
// discs. Prints PSNR in dB; ends with 1 where one loses more than 0.1 dB.

#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "samples/lens/scene_parts.h"
#include "samples/lens/scores.h"
#include "samples/lens/true_layers.h"
#include "satin/io.h"
#include "tests/samples/lens_steps.h"

namespace lens {
namespace {

using namespace satin;

constexpr std::array<std::uint32_t, 3> seeds{201, 202, 203};
constexpr double most_lost = 0.1;

double linear(double encoded) {
  return encoded <= 0.04045 ? encoded / 12.92 : std::pow((encoded + 0.055) / 1.055, 2.4);
}

double stored(const ImageView& view, std::int64_t x, std::int64_t y, int channel) {
  const int own = view.shape.channels < 3 ? 0 : channel;
  if (view.shape.type == Type::u8) return linear(view.value<std::uint8_t>(x, y, own) / 255.0);
  if (view.shape.type == Type::u16) return linear(view.value<std::uint16_t>(x, y, own) / 65535.0);
  return static_cast<double>(view.value<float>(x, y, own));
}

/// The middle of a photograph, made as small as it fills the picture; mirrored beyond.
Texture of_photograph(const Image& photograph) {
  const Shape& shape = photograph.shape();
  const std::int64_t times = std::max<std::int64_t>(1, std::min(shape.width / width, shape.height / height));
  const std::int64_t columns = shape.width / times;
  const std::int64_t rows = shape.height / times;
  std::vector<Vec3> colours;
  for (std::int64_t y = 0; y < rows; ++y)
    for (std::int64_t x = 0; x < columns; ++x) {
      std::array<double, 3> sums{};
      for (std::int64_t i = 0; i < times * times; ++i)
        for (int c = 0; c < 3; ++c)
          sums[static_cast<std::size_t>(c)] +=
              stored(photograph.view(), x * times + i % times, y * times + i / times, c);
      const double part = 1 / static_cast<double>(times * times);
      colours.push_back(Vec3{sums[0], sums[1], sums[2]} * part);
    }
  const auto place = [](double at, std::int64_t picture, std::int64_t count) {
    auto i = static_cast<std::int64_t>(std::floor(at)) + (count - picture) / 2;
    while (i < 0 || i >= count) i = i < 0 ? -1 - i : 2 * count - 1 - i;
    return i;
  };
  return [=](Vec2 p) {
    return colours[static_cast<std::size_t>(place(p.y, height, rows) * columns + place(p.x, width, columns))];
  };
}

Scene scene_before(const Texture& texture, std::uint32_t seed) {
  Random random(seed);
  Scene made;
  made.focus = 0.25;
  for (int i = 0; i < 5; ++i) made.layers.push_back(any_blob(random, 0.7 + 0.06 * i, 35, 85));
  made.layers.push_back(layer(0.25, everywhere(), texture));
  made.strength = strength_for(random.between(13, 20), made.focus, 1, 0.25);
  return made;
}

struct Found {
  double means = 0;
  double nonlocal = 0;
};

Found measure(const Image& photograph) {
  const Texture texture = of_photograph(photograph);
  Found found;
  for (const std::uint32_t seed : seeds) {
    const Scene scene = scene_before(texture, seed);
    const Views views = render_views(scene, 1);  // for the picture without a lens
    const Image truth = spread_true_layers(scene);
    const Input input{scene, views.pinhole.clone(), views.disparity.clone(), views.disparity.clone(), 1};
    const auto score = [&](int offset_pairs) {
      satin::LensSteps steps(input, offset_pairs);
      steps.see(input.picture, input.plain);
      return scores_of(steps.spread(input.picture), truth, scene, views.disparity).psnr /
             static_cast<double>(seeds.size());
    };
    found.means += score(0);
    found.nonlocal += score(most_offset_pairs);
  }
  return found;
}

int run(int count, char** paths) {
  double worst = 0;
  double sum = 0;
  std::printf("| photograph | means alone | non-local fill | gain |\n|---|---|---|---|\n");
  for (int i = 1; i < count; ++i) {
    const auto [means, nonlocal] = measure(read_image(paths[i]));
    std::printf("| %s | %.2f | %.2f | %+.2f |\n", std::filesystem::path(paths[i]).stem().c_str(), means,
                nonlocal, nonlocal - means);
    std::fflush(stdout);
    worst = std::min(worst, nonlocal - means);
    sum += nonlocal - means;
  }
  std::printf("mean gain %+.2f, worst %+.2f\n", sum / (count - 1), worst);
  return worst < -most_lost ? 1 : 0;
}

}  // namespace
}  // namespace lens

int main(int count, char** paths) {
  if (count < 2) {
    std::fprintf(stderr, "satin_hidden_photographs PHOTOGRAPH...\n");
    return 2;
  }
  try {
    return lens::run(count, paths);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "satin_hidden_photographs: %s\n", error.what());
    return 1;
  }
}
