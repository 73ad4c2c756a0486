#pragma once
// Rows of the table: methods that make depth of field from a picture and its disparity.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "layers.h"
#include "satin/image.h"

namespace lens {

struct Input {
  const Scene& scene;
  satin::Image picture;
  satin::Image disparity;  ///< as given: any size and type, with holes
  satin::Image plain;      ///< f32 of the picture's size, for methods that accept nothing else
  double highlights;       ///< LensStyle::highlights if lamps were clipped to 1, otherwise 1
};

struct Method {
  std::string name;
  std::function<satin::Image(const Input&)> run;
};

[[nodiscard]] const std::vector<Method>& methods();

/// The steps of `dof high` with the true hidden surfaces instead of a fill. Needs the inside of the library:
/// there is none except in the study that the tests build.
[[nodiscard]] std::optional<Method> method_with_true_hidden();
[[nodiscard]] const Method* find_method(const std::string& name);

/// Converts to u8 with the sRGB curve.
[[nodiscard]] satin::Image shown_picture(const satin::Image& picture);

}  // namespace lens
