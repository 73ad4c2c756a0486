#include "scene_materials.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace scene {
namespace {

// Printed text: a bitmap font of 5 x 7 cells, rounded at its corners.

using Rows = std::array<std::uint8_t, 7>;  // top to bottom; bit 4 is the leftmost cell

struct Glyph {
  char character;
  Rows rows;
};

constexpr std::array glyphs{
    Glyph{'A', {0x0e, 0x11, 0x11, 0x1f, 0x11, 0x11, 0x11}},
    Glyph{'B', {0x1e, 0x11, 0x11, 0x1e, 0x11, 0x11, 0x1e}},
    Glyph{'C', {0x0e, 0x11, 0x10, 0x10, 0x10, 0x11, 0x0e}},
    Glyph{'D', {0x1e, 0x11, 0x11, 0x11, 0x11, 0x11, 0x1e}},
    Glyph{'E', {0x1f, 0x10, 0x10, 0x1e, 0x10, 0x10, 0x1f}},
    Glyph{'F', {0x1f, 0x10, 0x10, 0x1e, 0x10, 0x10, 0x10}},
    Glyph{'G', {0x0e, 0x11, 0x10, 0x17, 0x11, 0x11, 0x0e}},
    Glyph{'H', {0x11, 0x11, 0x11, 0x1f, 0x11, 0x11, 0x11}},
    Glyph{'I', {0x0e, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0e}},
    Glyph{'K', {0x11, 0x12, 0x14, 0x18, 0x14, 0x12, 0x11}},
    Glyph{'L', {0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x1f}},
    Glyph{'M', {0x11, 0x1b, 0x15, 0x15, 0x11, 0x11, 0x11}},
    Glyph{'N', {0x11, 0x19, 0x15, 0x13, 0x11, 0x11, 0x11}},
    Glyph{'O', {0x0e, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e}},
    Glyph{'P', {0x1e, 0x11, 0x11, 0x1e, 0x10, 0x10, 0x10}},
    Glyph{'Q', {0x0e, 0x11, 0x11, 0x11, 0x15, 0x12, 0x0d}},
    Glyph{'R', {0x1e, 0x11, 0x11, 0x1e, 0x14, 0x12, 0x11}},
    Glyph{'S', {0x0f, 0x10, 0x10, 0x0e, 0x01, 0x01, 0x1e}},
    Glyph{'T', {0x1f, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04}},
    Glyph{'U', {0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e}},
    Glyph{'V', {0x11, 0x11, 0x11, 0x11, 0x11, 0x0a, 0x04}},
    Glyph{'W', {0x11, 0x11, 0x11, 0x15, 0x15, 0x1b, 0x11}},
    Glyph{'Y', {0x11, 0x11, 0x0a, 0x04, 0x04, 0x04, 0x04}},
    Glyph{'0', {0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e}},
    Glyph{'1', {0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e}},
    Glyph{'2', {0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f}},
    Glyph{'3', {0x0e, 0x11, 0x01, 0x06, 0x01, 0x11, 0x0e}},
    Glyph{'4', {0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02}},
    Glyph{'5', {0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e}},
    Glyph{'6', {0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e}},
    Glyph{'7', {0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08}},
    Glyph{'8', {0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e}},
    Glyph{'9', {0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c}},
    Glyph{'a', {0x00, 0x00, 0x0e, 0x01, 0x0f, 0x11, 0x0f}},
    Glyph{'b', {0x10, 0x10, 0x1e, 0x11, 0x11, 0x11, 0x1e}},
    Glyph{'c', {0x00, 0x00, 0x0e, 0x11, 0x10, 0x11, 0x0e}},
    Glyph{'d', {0x01, 0x01, 0x0f, 0x11, 0x11, 0x11, 0x0f}},
    Glyph{'e', {0x00, 0x00, 0x0e, 0x11, 0x1f, 0x10, 0x0e}},
    Glyph{'f', {0x06, 0x08, 0x1c, 0x08, 0x08, 0x08, 0x08}},
    Glyph{'g', {0x00, 0x0f, 0x11, 0x0f, 0x01, 0x11, 0x0e}},
    Glyph{'h', {0x10, 0x10, 0x16, 0x19, 0x11, 0x11, 0x11}},
    Glyph{'x', {0x00, 0x00, 0x11, 0x0a, 0x04, 0x0a, 0x11}},
    Glyph{'+', {0x00, 0x04, 0x04, 0x1f, 0x04, 0x04, 0x00}},
    Glyph{'.', {0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04}},
    Glyph{'-', {0x00, 0x00, 0x00, 0x0e, 0x00, 0x00, 0x00}},
    Glyph{'#', {0x0a, 0x0a, 0x1f, 0x0a, 0x1f, 0x0a, 0x0a}},
};

constexpr auto font = [] {
  std::array<Rows, 128> table{};
  for (const Glyph& glyph : glyphs) table[static_cast<std::size_t>(glyph.character)] = glyph.rows;
  return table;
}();

double cell(std::string_view text, int x, int y) {
  if (x < 0 || y < 0 || y > 6) return 0;
  const auto index = static_cast<std::size_t>(x / 6);
  const int column = x % 6;
  if (index >= text.size() || column == 5) return 0;
  const auto code = static_cast<std::size_t>(static_cast<unsigned char>(text[index]));
  if (code >= font.size()) return 0;
  return (font[code][static_cast<std::size_t>(y)] >> (4 - column)) & 1;
}

/// Whether a line of text has ink at a point. `x` and `y` are in cells of the font from the top left
/// corner of the line; a character has 6 x 7 cells.
bool has_ink(std::string_view text, double x, double y) {
  if (y < -0.5 || y > 7.5 || x < -0.5 || x > 6.0 * static_cast<double>(text.size())) return false;
  // Bilinear between the centres of the cells, with a threshold of about one half: strokes keep their width
  // and get round corners
  const double u = x - 0.5, v = y - 0.5;
  const int i = static_cast<int>(std::floor(u)), j = static_cast<int>(std::floor(v));
  const double a = u - i, b = v - j;
  const double above = cell(text, i, j) * (1 - a) + cell(text, i + 1, j) * a;
  const double below = cell(text, i, j + 1) * (1 - a) + cell(text, i + 1, j + 1) * a;
  return above * (1 - b) + below * b >= 0.48;
}

/// Whether one of several lines has ink at a point. Lines are `spacing` cells apart.
bool has_ink(std::span<const std::string_view> lines, double spacing, double x, double y) {
  const double line = std::floor(y / spacing);
  if (line < 0 || line >= static_cast<double>(lines.size())) return false;
  return has_ink(lines[static_cast<std::size_t>(line)], x, y - line * spacing);
}

// Patterns.

double line(double x, double width) { return std::abs(x) < width / 2 ? 1 : 0; }

/// Returns the share of a pattern of that many periods per metre that pixels still resolve.
double detail(double frequency, double footprint) { return 1 - smoothstep(0.2, 0.6, frequency * footprint); }

/// Wood: rings around a far axis along x, bent by noise, with pores along the grain.
Vec3 wood(Vec3 p, Vec3 light, Vec3 dark, double rings, double footprint) {
  const Vec3 bent = p + Vec3{0, 1, 1} * (0.012 * (fractal_noise(p * Vec3{4, 14, 14}, 3) - 0.5));
  const double ring = fraction(std::hypot(bent.y + 0.11, bent.z) * rings);
  const double grain = smoothstep(0, 0.8, ring) * (1 - smoothstep(0.86, 1, ring));
  const double visible = detail(900, footprint);
  const double pores = visible > 0 ? visible * smoothstep(0.55, 0.85, noise(p * Vec3{90, 900, 900})) : 0;
  const double fleck = mix(0.5, fractal_noise(p * Vec3{10, 160, 160}, 2), detail(220, footprint));
  return mix(light, dark, saturate(0.18 + 0.5 * grain + 0.42 * (fleck - 0.5))) * (1 - 0.32 * pores);
}

Vec3 marble(Vec3 p, Vec3 color) {
  const double warp = fractal_noise(p * 38.0, 4);
  const double vein = std::abs(2 * fraction(p.x * 9 + p.y * 13 + p.z * 7 + 1.7 * warp) - 1);
  const double cloud = fractal_noise(p * 70.0 + Vec3{3, 1, 4}, 3);
  const Vec3 body = mix(color * Vec3{0.90, 0.86, 0.80}, color, smoothstep(0.25, 0.75, cloud));
  return mix(body, color * Vec3{0.40, 0.35, 0.30},
             0.62 * (1 - smoothstep(0, 0.3, vein)) * smoothstep(0.36, 0.66, warp));
}

Vec3 rosewood(Vec3 p) {
  const double grain = fractal_noise(p * Vec3{260, 32, 260}, 3);
  return mix({0.016, 0.007, 0.005}, {0.105, 0.030, 0.016}, smoothstep(0.25, 0.8, grain));
}

constexpr Vec3 maple_light{0.66, 0.46, 0.25}, maple_dark{0.50, 0.31, 0.14};
constexpr Vec3 walnut_light{0.155, 0.066, 0.028}, walnut_dark{0.055, 0.022, 0.010};

/// Letters and figures on the border of the board, read from the two sides.
bool board_label(Vec3 p) {
  constexpr double cell = 0.0022;
  const double edge = 4 * board_square;
  for (const bool far : {false, true}) {
    for (const bool letters : {true, false}) {
      double along = letters ? p.x : p.z, across = letters ? p.z : -p.x;
      if (far) across = -across, along = letters ? -along : along;
      if (across > -edge) continue;
      const double field = std::floor(along / board_square) + 4;
      if (field < 0 || field > 7) continue;
      const double index = letters && far ? 7 - field : field;
      const char text = static_cast<char>((letters ? 'A' : '1') + static_cast<int>(index));
      double x = along - (field - 3.5) * board_square, y = -(across + edge + 0.0145);
      if (!letters) {
        x = far ? p.x - edge - 0.0145 : p.x + edge + 0.0145;
        y = -(p.z - (field - 3.5) * board_square);
      }
      if (has_ink(std::string_view(&text, 1), x / cell + 2.5, y / cell + 3.5)) return true;
    }
  }
  return false;
}

Surface board(Vec3 p, Vec3 normal, double footprint) {
  Surface s{{}, {0.04, 0.04, 0.04}, {}, 0.02, 0.006};
  const double edge = 4 * board_square, reach = std::max(std::abs(p.x), std::abs(p.z));
  if (normal.y < 0.5 || reach > edge) {
    s.albedo = wood(Vec3{p.x, p.y, p.z + 3}, walnut_light * 0.8, walnut_dark * 0.7, 90, footprint);
    if (std::abs(p.x) > std::abs(p.z))
      s.albedo = wood(Vec3{p.z, p.y, p.x + 5}, walnut_light * 0.8, walnut_dark * 0.7, 90, footprint);
    if (normal.y > 0.5 && (board_label(p) || line(reach - edge - 0.0035, 0.0011) > 0 ||
                           line(reach - edge - 0.0255, 0.0007) > 0)) {
      s.albedo = {0.62, 0.43, 0.17};
    }
    return s;
  }
  const double file = std::floor(p.x / board_square), rank = std::floor(p.z / board_square);
  const int i = static_cast<int>(file), j = static_cast<int>(rank);
  const bool dark = ((i + j) & 1) == 0;
  const Vec3 shifted = p + Vec3{random_of(i, j, 1), random_of(i, j, 2) * 0.05, random_of(i, j, 3)} * 3.0;
  s.albedo = dark ? wood(shifted, walnut_light, walnut_dark, 130, footprint)
                  : wood(shifted, maple_light, maple_dark, 150, footprint);
  s.albedo = s.albedo * (0.88 + 0.24 * random_of(i, j, 4));
  const double seam = std::min(std::min(p.x - file * board_square, (file + 1) * board_square - p.x),
                               std::min(p.z - rank * board_square, (rank + 1) * board_square - p.z));
  if (seam < 0.0003) s.albedo = s.albedo * 0.35;
  return s;
}

Surface planks(Vec3 p, double footprint) {
  constexpr double width = 0.135;
  const double index = std::floor(p.z / width);
  const int plank = static_cast<int>(index);
  const double seam = std::min(p.z - index * width, (index + 1) * width - p.z);
  const Vec3 shifted{p.x + 5 * random_of(plank, 1), p.y + 0.06 * random_of(plank, 2),
                     p.z - (index + 0.5) * width + 0.03 * random_of(plank, 3)};
  Vec3 color = wood(shifted, {0.27, 0.118, 0.048}, {0.098, 0.036, 0.014}, 70, footprint) *
               (0.8 + 0.45 * random_of(plank, 4));
  color = color * mix(0.25, 1.0, smoothstep(0.0004, 0.0018, seam));
  return {color, {0.035, 0.035, 0.035}, {}, 0.03, 0.012};
}

/// A painted vase: `v` runs from the foot to the lip, `u` around.
Surface porcelain(Vec3 p, double height) {
  constexpr Vec3 white{0.80, 0.79, 0.74}, cobalt{0.014, 0.040, 0.21}, gold{0.86, 0.55, 0.20};
  const double v = p.y / height, u = std::atan2(p.z, p.x) / (2 * pi) + 0.5;
  Surface s{white, {0.045, 0.045, 0.045}, {}, 0.03};
  const auto band = [v](double from, double to) { return v >= from && v < to; };
  bool painted = false;
  if (band(0.04, 0.10)) painted = fraction(u * 60) < 0.5;
  if (band(0.13, 0.25)) painted = ((static_cast<int>(u * 36) + static_cast<int>((v - 0.13) / 0.03)) & 1) != 0;
  if (band(0.29, 0.57)) {
    const double x = std::abs(fraction(u * 9) - 0.5), y = std::abs((v - 0.43) / 0.28);
    const double lozenge = x + y;
    painted = (lozenge < 0.46 && lozenge > 0.38) || (lozenge < 0.31 && fraction(lozenge * 18) < 0.5) ||
              (lozenge > 0.58 && fraction((u * 9 * 4 + (v - 0.43) * 40)) < 0.28);
  }
  if (band(0.61, 0.67)) painted = fraction(v * 110) < 0.5;
  if (band(0.69, 0.80)) {
    const double wave = 0.745 + 0.028 * std::sin(u * 2 * pi * 16);
    painted = std::abs(v - wave) < 0.009 ||
              std::hypot((fraction(u * 16 + 0.25) - 0.5) * 0.9, (v - 0.745) * 14) < 0.16;
  }
  if (band(0.84, 0.93)) painted = fraction(u * 44 + v * 12) < 0.34;
  if (painted) s.albedo = mix(cobalt, cobalt * 2.6, fractal_noise(p * 160.0, 3));
  for (const double ring : {0.115, 0.27, 0.59, 0.68, 0.815, 0.965}) {
    if (std::abs(v - ring) < 0.006) s = {{}, gold, {}, 0.18};
  }
  return s;
}

Surface glaze(const Material& material, Vec3 p) {
  const double flow = fractal_noise(p * Vec3{60, 22, 60}, 4);
  const double speckle = smoothstep(0.74, 0.8, noise(p * 420.0 + Vec3{7, 7, 7}));
  Vec3 color = mix(material.color * 0.45, material.color * 1.25, smoothstep(0.25, 0.75, flow + 12 * p.y));
  color = mix(color, material.color * 0.12, 0.75 * speckle);
  return {color, {0.05, 0.05, 0.05}, {}, 0.02};
}

Surface book(const Material& material, Vec3 p, Vec3 normal, Vec3 half, double footprint) {
  static constexpr std::array<std::string_view, 4> titles{"THE ENDGAME", "LIGHT AND LENSES", "SUMS AND AREAS",
                                                          "CHESS OPENINGS"};
  constexpr double cover = 0.0028;
  const double weave = 1 + 0.3 * detail(1000, footprint) * (noise(p * 1000.0) - 0.5);
  Surface s{material.color * weave, {0.03, 0.03, 0.03}, {}, 0.45};
  const bool edge = std::abs(normal.y) < 0.5, spine = normal.z < -0.5;
  if (edge && !spine && std::abs(p.y) < half.y - cover) {
    s.albedo = Vec3{0.66, 0.58, 0.44} *
               (0.65 + 0.5 * mix(0.5, noise({3, p.y * 1000, (p.x + p.z) * 9}), detail(700, footprint)));
    s.roughness = 0.7;
  }
  if (spine) {
    const std::string_view title = titles[static_cast<std::size_t>(material.variant) % titles.size()];
    const double cell = half.y / 6.5;
    const double x = p.x / cell + 3.0 * static_cast<double>(title.size()), y = -p.y / cell + 3.5;
    const double from_end = half.x - std::abs(p.x);
    if (has_ink(title, x, y) || line(from_end - 0.012, 0.0022) > 0 || line(from_end - 0.016, 0.0010) > 0) {
      s.albedo = {0.80, 0.55, 0.22};
      s.roughness = 0.3;
    }
  }
  return s;
}

/// Anderssen against Kieseritzky, London 1851.
Surface score(Vec3 p, Vec3 half) {
  static constexpr std::array<std::string_view, 26> lines{"    LONDON 1851",  "",
                                                          " 1. e4     e5",    " 2. f4     exf4",
                                                          " 3. Bc4    Qh4+",  " 4. Kf1    b5",
                                                          " 5. Bxb5   Nf6",   " 6. Nf3    Qh6",
                                                          " 7. d3     Nh5",   " 8. Nh4    Qg5",
                                                          " 9. Nf5    c6",    "10. g4     Nf6",
                                                          "11. Rg1    cxb5",  "12. h4     Qg6",
                                                          "13. h5     Qg5",   "14. Qf3    Ng8",
                                                          "15. Bxf4   Qf6",   "16. Nc3    Bc5",
                                                          "17. Nd5    Qxb2",  "18. Bd6    Bxg1",
                                                          "19. e5     Qxa1+", "20. Ke2    Na6",
                                                          "21. Nxg7+  Kd8",   "22. Qf6+   Nxf6",
                                                          "23. Be7#",         ""};
  constexpr double cell = 0.00092, margin = 0.010, spacing = 9;
  const double x = (p.x + half.x - margin) / cell, y = (half.z - margin - p.z) / cell;
  Surface s{Vec3{0.74, 0.69, 0.58} * (0.94 + 0.12 * fractal_noise(p * 60.0, 3)), {0.02, 0.02, 0.02}, {}, 0.8};
  if (has_ink(lines, spacing, x, y)) s.albedo = {0.035, 0.03, 0.04};
  if (y > 14 && y < 226 && line(fraction((y + 1.6) / spacing) - 0.02, 0.04) > 0)
    s.albedo = s.albedo * Vec3{0.62, 0.72, 0.86};
  return s;
}

Surface wallpaper(const Material& material, Vec3 p) {
  const double x = p.x / 0.16, stripe = fraction(x);
  Vec3 color = material.color * (stripe < 0.5 ? 1.0 : 0.62);
  if (stripe < 0.5 && fraction(x * 14) < 0.3) color = material.color * 1.7;
  return {color * (0.9 + 0.2 * fractal_noise(p * 9.0, 3)), {0.02, 0.02, 0.02}, {}, 0.7};
}

/// Dusk over a town, on a far plane: x and y in metres there.
Surface dusk(Vec3 p) {
  const double height = saturate((p.y + 2.6) / 8.5);
  Vec3 sky = mix({1.75, 0.62, 0.20}, {0.72, 0.30, 0.30}, smoothstep(0, 0.22, height));
  sky = mix(sky, {0.17, 0.19, 0.36}, smoothstep(0.14, 0.50, height));
  sky = mix(sky, {0.045, 0.080, 0.20}, smoothstep(0.42, 1, height));
  const double cloud = smoothstep(0.48, 0.8, fractal_noise({p.x * 0.22, p.y * 1.3, 2}, 4));
  Vec3 light = mix(sky, sky * Vec3{1.6, 1.1, 0.95} + Vec3{0.06, 0.022, 0.02}, cloud);
  // Two rows of houses, the nearer one lower and darker.
  for (const int row : {0, 1}) {
    const double width = row == 0 ? 0.95 : 1.5;
    const int house = static_cast<int>(std::floor(p.x / width + 40)) + 100 * row;
    const double roof =
        row == 0 ? -1.9 + 2.6 * std::pow(random_of(house, 7), 2.0) : -2.5 + 1.2 * random_of(house, 8);
    if (p.y > roof) continue;
    light = row == 0 ? Vec3{0.060, 0.050, 0.085} : Vec3{0.022, 0.022, 0.042};
    const double pitch = row == 0 ? 0.24 : 0.34, x = p.x / pitch, y = (p.y - roof) / pitch;
    const int i = static_cast<int>(std::floor(x)), j = static_cast<int>(std::floor(y));
    const bool pane = std::hypot(fraction(x) - 0.5, fraction(y) - 0.5) < (row == 0 ? 0.24 : 0.22);
    if (j < -1 && pane && random_of(i, j, 11 + row) < 0.24) {
      light = mix({5.5, 2.3, 0.6}, {4.2, 3.2, 1.9}, random_of(i, j, 21)) * (0.3 + 1.7 * random_of(i, j, 31));
    }
  }
  return {{}, {}, light, 1};
}

}  // namespace

Surface surface_at(const Material& material, Vec3 local, Vec3 normal, Vec3 size, const View& view) {
  const Vec3 dielectric{material.reflectance, material.reflectance, material.reflectance};
  switch (material.pattern) {
    case Pattern::plain:
      break;
    case Pattern::marble:
      return {marble(local, material.color), dielectric, {}, material.roughness};
    case Pattern::rosewood:
      return {rosewood(local), dielectric, {}, material.roughness};
    case Pattern::board:
      return board(local, normal, view.footprint);
    case Pattern::planks:
      return planks(local, view.footprint);
    case Pattern::porcelain:
      return porcelain(local, size.y);
    case Pattern::glaze:
      return glaze(material, local);
    case Pattern::book:
      return book(material, local, normal, size, view.footprint);
    case Pattern::score:
      return score(local, size);
    case Pattern::wallpaper:
      return wallpaper(material, local);
    case Pattern::dusk:
      return dusk(local);
    case Pattern::bulb:
      return {{}, {}, material.color * (0.06 + 0.94 * std::pow(saturate(view.facing), 2.5)), 1};
  }
  if (material.metal) return {{}, material.color, {}, material.roughness};
  return {material.color, dielectric, {}, material.roughness};
}

}  // namespace scene
