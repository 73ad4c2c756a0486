#include "methods.h"

#include <cmath>

#include "peers.h"
#include "render.h"
#include "satin/filters/dof.h"
#include "true_layers.h"

namespace lens {
namespace {

satin::Image dof_of(const Input& input, satin::LensQuality quality) {
  satin::Dof dof;
  dof.depth = input.disparity.view();
  dof.lens.strength = input.scene.strength;
  dof.lens.focus = input.scene.focus;
  dof.style.quality = quality;
  dof.style.highlights = input.highlights;
  return satin::dof(satin::Device::open("cpu"), input.picture.view(), dof);
}

}  // namespace

const std::vector<Method>& methods() {
  static const std::vector<Method> all = [] {
    std::vector<Method> list{
        {"pinhole", [](const Input& input) { return input.picture.clone(); }},
        {"box gather", [](const Input& input) { return gather(input.scene, input.picture, input.plain); }},
        {"one-layer disc",
         [](const Input& input) { return spread_discs(input.scene, input.picture, input.plain); }},
        {"dof fast", [](const Input& input) { return dof_of(input, satin::LensQuality::fast); }},
        {"dof high", [](const Input& input) { return dof_of(input, satin::LensQuality::high); }},
    };
    if (const auto informed = method_with_true_hidden()) list.push_back(*informed);
    list.push_back({"true layers", [](const Input& input) { return spread_true_layers(input.scene); }});
    return list;
  }();
  return all;
}

const Method* find_method(const std::string& name) {
  for (const Method& method : methods())
    if (method.name == name) return &method;
  return nullptr;
}

satin::Image shown_picture(const satin::Image& picture) {
  satin::Image result({width, height, 3, satin::Type::u8});
  const auto encoded = [](double value) {
    const double v = scene::saturate(value);
    return static_cast<std::uint8_t>(
        std::lround(255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1 / 2.4) - 0.055)));
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const Vec3 c = pixel_of(picture, x, y);
      std::uint8_t* p = result.view().row<std::uint8_t>(y) + 3 * x;
      p[0] = encoded(c.x);
      p[1] = encoded(c.y);
      p[2] = encoded(c.z);
    }
  return result;
}

}  // namespace lens
