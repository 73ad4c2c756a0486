#pragma once
// Materials: procedural textures, evaluated in the frame of their object.

#include "scene_math.h"

namespace scene {

enum class Pattern {
  plain,
  marble,     ///< pale stone with veins
  rosewood,   ///< dark turned wood
  board,      ///< chess board: inlaid squares, border with letters and figures
  planks,     ///< the table
  porcelain,  ///< vase painted with bands, checkers, fine lines and lozenges
  glaze,      ///< speckled and crackled glaze
  book,       ///< cloth binding, pages, lettered spine
  score,      ///< a printed sheet of chess notation
  wallpaper,  ///< stripes of fine lines
  dusk,       ///< view through the window: sky, skyline, lit windows; emits light
  bulb,       ///< emits light, most at its centre
};

struct Material {
  Pattern pattern = Pattern::plain;
  Vec3 color{0.5, 0.5, 0.5};
  double roughness = 0.3;
  double reflectance = 0.04;  ///< at normal incidence; metals reflect `color` instead
  bool metal = false;
  int variant = 0;  ///< selects one of several books or tints
};

/// A material at one point.
struct Surface {
  Vec3 albedo;
  Vec3 specular;  ///< reflectance at normal incidence
  Vec3 emission;
  double roughness = 0.3;
  double waviness = 0;  ///< slope of the slow waves in a polished top
};

/// The viewing geometry at a point.
struct View {
  double facing = 1;     ///< cosine between normal and viewer
  double footprint = 0;  ///< size of a pixel there, in metres; textures omit finer detail
};

/// Returns the surface at a point. `size`: half the size of a box, or the height of a lathe in y.
[[nodiscard]] Surface surface_at(const Material& material, Vec3 local, Vec3 normal, Vec3 size,
                                 const View& view);

inline constexpr double board_square = 0.06;  ///< side of a square of the chess board, in metres

}  // namespace scene
