#include "scene.h"

#include <array>
#include <span>
#include <utility>

namespace scene {
namespace {

// Profiles (radius, height) in centimetres; a point given twice is a corner.
constexpr std::array<Vec2, 24> pawn_profile{
    {{0, 0},      {1.65, 0},    {1.65, 0},    {1.78, 0.3},  {1.68, 0.75}, {1.3, 1.0},
     {1.3, 1.0},  {1.28, 1.15}, {1.28, 1.15}, {0.98, 1.65}, {0.68, 2.5},  {0.56, 3.3},
     {0.56, 3.3}, {0.98, 3.5},  {1.02, 3.62}, {0.9, 3.75},  {0.55, 3.85}, {0.55, 3.85},
     {0.86, 4.2}, {1.03, 4.75}, {0.88, 5.3},  {0.5, 5.65},  {0.2, 5.76},  {0, 5.78}}};
constexpr std::array<Vec2, 30> bishop_profile{
    {{0, 0},       {1.95, 0},    {1.95, 0},    {2.1, 0.35},  {2.0, 0.8},  {1.6, 1.1},
     {1.6, 1.1},   {1.58, 1.3},  {1.58, 1.3},  {1.2, 1.9},   {0.85, 3.0}, {0.66, 4.4},
     {0.62, 5.0},  {0.62, 5.0},  {1.12, 5.2},  {1.16, 5.32}, {1.0, 5.45}, {0.7, 5.5},
     {0.7, 5.5},   {0.85, 5.65}, {0.85, 5.75}, {0.66, 5.9},  {0.66, 5.9}, {0.95, 6.4},
     {1.04, 6.95}, {0.86, 7.6},  {0.45, 8.2},  {0.2, 8.4},   {0.1, 8.46}, {0, 8.47}}};
constexpr std::array<Vec2, 28> rook_profile{
    {{0, 0},      {2.0, 0},     {2.0, 0},     {2.15, 0.35}, {2.05, 0.8}, {1.65, 1.1}, {1.65, 1.1},
     {1.62, 1.3}, {1.62, 1.3},  {1.3, 1.9},   {1.08, 3.0},  {1.0, 4.2},  {1.0, 4.4},  {1.0, 4.4},
     {1.4, 4.6},  {1.42, 4.72}, {1.25, 4.85}, {1.25, 4.85}, {1.3, 5.0},  {1.48, 5.3}, {1.5, 5.5},
     {1.5, 5.5},  {1.5, 6.1},   {1.5, 6.1},   {1.05, 6.1},  {1.05, 6.1}, {1.05, 5.6}, {1.05, 5.6}}};
constexpr std::array<Vec2, 38> queen_profile{
    {{0, 0},       {2.2, 0},     {2.2, 0},     {2.38, 0.4},  {2.25, 0.95}, {1.85, 1.25}, {1.85, 1.25},
     {1.82, 1.5},  {1.82, 1.5},  {1.4, 2.2},   {1.0, 3.5},   {0.8, 5.2},   {0.74, 6.6},  {0.74, 6.6},
     {1.3, 6.85},  {1.34, 7.0},  {1.15, 7.15}, {0.85, 7.2},  {0.85, 7.2},  {1.05, 7.38}, {1.05, 7.5},
     {0.82, 7.65}, {0.82, 7.65}, {0.9, 8.2},   {1.15, 9.0},  {1.5, 9.7},   {1.5, 9.7},   {1.4, 9.85},
     {1.2, 9.85},  {1.2, 9.85},  {1.05, 9.8},  {0.6, 10.15}, {0.4, 10.2},  {0.4, 10.2},  {0.5, 10.4},
     {0.4, 10.75}, {0.2, 10.88}, {0, 10.9}}};
constexpr std::array<Vec2, 36> king_profile{
    {{0, 0},      {2.25, 0},    {2.25, 0},    {2.45, 0.4},  {2.32, 1.0},  {1.9, 1.3},
     {1.9, 1.3},  {1.86, 1.55}, {1.86, 1.55}, {1.45, 2.3},  {1.05, 3.7},  {0.86, 5.5},
     {0.8, 7.1},  {0.8, 7.1},   {1.4, 7.35},  {1.44, 7.5},  {1.25, 7.66}, {0.9, 7.7},
     {0.9, 7.7},  {1.12, 7.88}, {1.12, 8.0},  {0.88, 8.15}, {0.88, 8.15}, {0.95, 8.8},
     {1.2, 9.7},  {1.5, 10.4},  {1.5, 10.4},  {1.5, 10.6},  {1.5, 10.6},  {1.3, 10.85},
     {0.8, 11.1}, {0.4, 11.2},  {0.4, 11.2},  {0.45, 11.4}, {0.3, 11.6},  {0, 11.65}}};
constexpr std::array<Vec2, 21> vase_profile{
    {{0, 0},      {3.6, 0},    {3.6, 0},    {3.7, 0.3},   {3.6, 0.7},   {3.9, 1.8},  {5.2, 4.6},
     {6.5, 8.0},  {7.1, 11.2}, {6.8, 14.2}, {5.3, 17.2},  {3.5, 19.2},  {2.6, 20.6}, {2.5, 22.0},
     {2.9, 23.2}, {3.5, 23.9}, {3.5, 23.9}, {3.45, 24.1}, {3.2, 24.05}, {2.4, 22.0}, {2.2, 20.0}}};

constexpr double centimetre = 0.01;
constexpr double board_thickness = 0.022;
const Turn board_turn = Turn::degrees(30);
constexpr Vec3 board_centre{-0.03, 0, 0.72};

struct Builder {
  Scene scene;

  int material(const Material& m) {
    scene.materials.push_back(m);
    return static_cast<int>(scene.materials.size()) - 1;
  }
  Object& add(Shape shape, Vec3 position, int material_index, Turn turn = {}) {
    scene.objects.push_back({std::move(shape), position, turn, material_index, false});
    return scene.objects.back();
  }
  Object& lathe(std::span<const Vec2> profile, Vec3 position, int material_index, double scale = 1) {
    return add(Lathe(profile, scale * centimetre), position, material_index);
  }
};

/// The middle of a square of the board; files and ranks count from 0.
Vec3 square(int file, int rank) {
  return board_centre + board_turn.apply({(file - 3.5) * board_square, 0, (rank - 3.5) * board_square}) +
         Vec3{0, board_thickness, 0};
}

void add_room(Builder& b) {
  const int table = b.material({.pattern = Pattern::planks});
  const int wall = b.material({.pattern = Pattern::wallpaper, .color = {0.085, 0.16, 0.155}});
  const int frame = b.material({.color = {0.30, 0.24, 0.17}, .roughness = 0.5});
  const int view = b.material({.pattern = Pattern::dusk});
  const int picture = b.material({.pattern = Pattern::marble, .color = {0.55, 0.42, 0.26}, .roughness = 0.5});
  const int gold = b.material({.color = {0.72, 0.46, 0.18}, .roughness = 0.35, .metal = true});

  b.add(Box{{1.6, 0.02, 0.80}}, {0, -0.02, 0.66}, table);
  b.add(Box{{40, 22, 0.01}}, {0, 0, 40}, view);

  constexpr double z = 2.9, left = -0.02, right = 1.10, bottom = -0.06;  // the window
  b.add(Box{{1.5, 1.5, 0.04}}, {left - 1.5, 0.2, z}, wall);
  b.add(Box{{1.0, 1.5, 0.04}}, {right + 1.0, 0.2, z}, wall);
  b.add(Box{{1.0, 1.0, 0.04}}, {(left + right) / 2, bottom - 1.0, z}, wall);
  b.add(Box{{(right - left) / 2 + 0.06, 0.018, 0.07}}, {(left + right) / 2, bottom, z - 0.07},
        frame);  // sill
  for (const double x : {left, (left + right) / 2, right})
    b.add(Box{{0.022, 1.0, 0.03}}, {x, bottom + 1.0, z - 0.02}, frame);
  b.add(Box{{(right - left) / 2, 0.014, 0.025}}, {(left + right) / 2, 0.42, z - 0.01}, frame);
  b.add(Box{{0.22, 0.17, 0.012}}, {-0.62, 0.24, z - 0.055}, gold);
  b.add(Box{{0.20, 0.15, 0.012}}, {-0.62, 0.24, z - 0.060}, picture);
}

void add_string_of_lamps(Builder& b, Vec3 from, Vec3 to, double sag, int count, int material, int wire) {
  const auto point = [&](double t) { return mix(from, to, t) - Vec3{0, 4 * sag * t * (1 - t), 0}; };
  constexpr double radius = 0.0115;
  for (int i = 0; i < count; ++i) {
    const Vec3 hung = point((i + 0.5) / count), p = hung - Vec3{0, 0.028 + 0.012 * random_of(i, count), 0};
    b.add(Sphere{radius}, p, material);
    b.add(Capsule{hung - p, 0.0022}, p, wire);
    b.scene.bulbs.push_back(
        {p, b.scene.materials[static_cast<std::size_t>(material)].color * (5 * pi * radius * radius)});
  }
  for (int i = 0; i < 3 * count; ++i) {
    const Vec3 start = point(i / (3.0 * count)), end = point((i + 1) / (3.0 * count));
    b.add(Capsule{end - start, 0.0022}, start, wire);
  }
}

void add_lamps(Builder& b) {
  const int amber = b.material({.pattern = Pattern::bulb, .color = {20, 8.6, 2.2}});
  const int pale = b.material({.pattern = Pattern::bulb, .color = {19, 12, 5.6}});
  const int wire = b.material({.color = {0.02, 0.025, 0.02}, .roughness = 0.5});
  add_string_of_lamps(b, {-1.05, 0.50, 2.1}, {0.35, 0.46, 2.5}, 0.17, 10, amber, wire);
  add_string_of_lamps(b, {0.30, 0.47, 2.5}, {1.15, 0.44, 2.2}, 0.14, 7, amber, wire);
  add_string_of_lamps(b, {-0.80, 0.34, 1.75}, {0.85, 0.37, 1.9}, 0.20, 11, pale, wire);
}

void add_rook(Builder& b, Vec3 position, int material) {
  b.lathe(rook_profile, position, material);
  constexpr int merlons = 6;
  for (int i = 0; i < merlons; ++i) {
    const Turn turn = Turn::degrees(360.0 * i / merlons);
    b.add(Box{{0.0023, 0.0035, 0.0052}}, position + turn.apply({0.0126, 0.0643, 0}), material, turn);
  }
}

void add_queen(Builder& b, Vec3 position, int material, int ornament) {
  b.lathe(queen_profile, position, material);
  constexpr int pearls = 10;
  for (int i = 0; i < pearls; ++i) {
    b.add(Sphere{0.0027}, position + Turn::degrees(360.0 * i / pearls).apply({0.0134, 0.1002, 0}), ornament);
  }
}

void add_king(Builder& b, Vec3 position, int material, int ornament, bool subject) {
  const std::size_t first = b.scene.objects.size();
  const Turn turn = Turn::degrees(-14);
  b.lathe(king_profile, position, material);
  b.add(Box{{0.0030, 0.0112, 0.0026}}, position + Vec3{0, 0.1275, 0}, ornament, turn);
  b.add(Box{{0.0082, 0.0030, 0.0026}}, position + Vec3{0, 0.1300, 0}, ornament, turn);
  for (std::size_t i = first; i < b.scene.objects.size(); ++i) b.scene.objects[i].subject = subject;
}

void add_chess(Builder& b) {
  const int board = b.material({.pattern = Pattern::board});
  const int white = b.material({.pattern = Pattern::marble, .color = {0.80, 0.73, 0.60}, .roughness = 0.03});
  const int black = b.material({.pattern = Pattern::rosewood, .roughness = 0.03, .reflectance = 0.05});
  const int gold = b.material({.color = {0.95, 0.66, 0.28}, .roughness = 0.12, .metal = true});
  const double half = 4 * board_square + 0.029;
  b.add(Box{{half, board_thickness / 2, half}}, board_centre + Vec3{0, board_thickness / 2, 0}, board,
        board_turn);

  add_king(b, square(3, 0), white, gold, true);
  b.scene.subject_centre = square(3, 0) + Vec3{0, 0.06, 0};
  for (const auto [file, rank] : {std::array{0, 1}, {1, 2}, {5, 2}, {6, 1}})
    b.lathe(pawn_profile, square(file, rank), white);
  b.lathe(bishop_profile, square(0, 3), white);
  add_rook(b, square(7, 2), white);

  add_queen(b, square(5, 5), black, gold);
  add_king(b, square(4, 7), black, gold, false);
  for (const auto [file, rank] : {std::array{3, 4}, {2, 5}, {1, 6}, {6, 6}, {7, 5}})
    b.lathe(pawn_profile, square(file, rank), black);
  b.lathe(bishop_profile, square(2, 7), black);
  add_rook(b, square(7, 7), black);
  add_rook(b, square(0, 7), black);

  // Taken pieces beside the board; the bishop is near and cut by the edge of the picture.
  b.lathe(bishop_profile, {-0.105, 0, 0.295}, black);
}

void add_branches(Builder& b, Vec3 mouth) {
  const int twig = b.material({.color = {0.10, 0.055, 0.03}, .roughness = 0.7});
  const int berry = b.material({.color = {0.52, 0.035, 0.022}, .roughness = 0.08});
  constexpr std::array<Vec3, 5> directions{
      {{-0.55, 1, 0.1}, {-0.15, 1, -0.2}, {0.28, 1, 0.15}, {0.75, 1, -0.1}, {-0.95, 1, -0.1}}};
  for (int i = 0; i < static_cast<int>(directions.size()); ++i) {
    Vec3 p = mouth - Vec3{0, 0.05, 0};
    Vec3 direction = normalize(directions[static_cast<std::size_t>(i)] * Vec3{0.35, 1, 0.35});
    for (int step = 0; step < 11; ++step) {
      const Vec3 bend = directions[static_cast<std::size_t>(i)] * Vec3{0.06, 0, 0.06};
      const Vec3 jitter{random_of(i, step, 1) - 0.5, 0.4 * (random_of(i, step, 2) - 0.5),
                        random_of(i, step, 3) - 0.5};
      direction = normalize(direction + bend + jitter * 0.34);
      const Vec3 next = p + direction * 0.024;
      b.add(Capsule{next - p, 0.0019 - 0.0001 * step}, p, twig);
      if (step > 2) {
        const double angle = 2 * pi * random_of(i, step, 4);
        const Vec3 side{0.010 * std::cos(angle), 0.006 * (random_of(i, step, 5) - 0.2),
                        0.010 * std::sin(angle)};
        b.add(Sphere{0.0048 + 0.0016 * random_of(i, step, 6)}, next + side, berry);
        b.add(Capsule{side, 0.0008}, next, twig);
      }
      p = next;
    }
  }
}

void add_still_life(Builder& b) {
  const int porcelain = b.material({.pattern = Pattern::porcelain});
  const int celadon = b.material({.pattern = Pattern::glaze, .color = {0.10, 0.34, 0.30}});
  const int ochre = b.material({.pattern = Pattern::glaze, .color = {0.70, 0.26, 0.05}});
  const int silver = b.material({.color = {0.93, 0.91, 0.88}, .roughness = 0.0, .metal = true});
  const int paper = b.material({.pattern = Pattern::score});

  const Vec3 vase{-0.255, 0, 1.08};
  b.lathe(vase_profile, vase, porcelain, 0.74);
  add_branches(b, vase + Vec3{0, 0.175, 0});

  constexpr std::array<Vec3, 3> covers{{{0.30, 0.045, 0.035}, {0.035, 0.12, 0.13}, {0.42, 0.27, 0.08}}};
  double y = 0;
  for (int i = 0; i < static_cast<int>(covers.size()); ++i) {
    const double thick = 0.017 - 0.002 * i;
    const int cover =
        b.material({.pattern = Pattern::book, .color = covers[static_cast<std::size_t>(i)], .variant = i});
    b.add(Box{{0.125 - 0.012 * i, thick, 0.085 - 0.006 * i}}, {0.33 + 0.01 * i, y + thick, 1.16}, cover,
          Turn::degrees(12 - 9.0 * i));
    y += 2 * thick;
  }
  b.add(Sphere{0.042}, {0.34, y + 0.042, 1.15}, celadon);
  b.add(Sphere{0.036}, {0.03, 0.036, 1.20}, silver);
  b.add(Sphere{0.024}, {0.155, 0.024, 0.485}, ochre);
  b.add(Sphere{0.030}, {-0.10, 0.030, 1.16}, celadon);
  b.add(Box{{0.074, 0.0006, 0.110}}, {0.155, 0.0006, 0.383}, paper, Turn::degrees(30));
}

}  // namespace

Camera::Camera(int width, int height) : origin_{0, board_thickness + 0.128, 0} {
  constexpr double tilt = 7.0 * pi / 180, focal_at_960 = 1320;
  axis_ = {0, -std::sin(tilt), std::cos(tilt)};
  up_ = {0, std::cos(tilt), std::sin(tilt)};
  focal_ = focal_at_960 * std::max(width / 960.0, height / 640.0);
  centre_x_ = width / 2.0;
  centre_y_ = height / 2.0;
}

Ray Camera::ray(double x, double y) const {
  const Vec3 right{(x - centre_x_) / focal_, 0, 0};
  return {origin_, normalize(axis_ + right - up_ * ((y - centre_y_) / focal_))};
}

Scene make_scene() {
  Builder b;
  add_room(b);
  add_lamps(b);
  add_chess(b);
  add_still_life(b);
  // A shaded lamp above on the left, and the sky through a second window on the right, behind the camera.
  b.scene.lights.push_back({{-0.62, 0.80, 0.30}, {0, 0.04, -0.07}, {0.06, 0.05, 0}, {150, 102, 58}, false});
  b.scene.lights.push_back({{1.25, 0.65, 0.15}, {0, 0, 0.35}, {0.05, 0.40, 0}, {0.75, 1.15, 1.75}, true});
  return std::move(b.scene);
}

}  // namespace scene
