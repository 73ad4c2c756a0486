#pragma once
// Printed text for the textures: a bitmap font of 5 x 7 cells, rounded at its corners.

#include <span>
#include <string_view>

namespace scene {

/// True where a line of text has ink. `x` and `y` count cells of the font from the top left corner of the
/// line; a character takes 6 x 7 of them.
[[nodiscard]] bool has_ink(std::string_view text, double x, double y);

/// True where one of several lines has ink; each begins `spacing` cells below the one before.
[[nodiscard]] bool has_ink(std::span<const std::string_view> lines, double spacing, double x, double y);

}  // namespace scene
