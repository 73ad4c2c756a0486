#pragma once
// Printed text for the textures: a bitmap font of 5 x 7 cells, rounded at its corners.

#include <span>
#include <string_view>

namespace scene {

/// Whether a line of text has ink at a point. `x` and `y` are in cells of the font from the top left corner
/// of the line; a character has 6 x 7 cells.
[[nodiscard]] bool has_ink(std::string_view text, double x, double y);

/// Whether one of several lines has ink at a point. Lines are `spacing` cells apart.
[[nodiscard]] bool has_ink(std::span<const std::string_view> lines, double spacing, double x, double y);

}  // namespace scene
