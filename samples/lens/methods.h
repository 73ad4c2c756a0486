#pragma once
// The rows of the table: every way to make depth of field from one picture and its disparity.

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
  satin::Image disparity;  ///< as it is given: of any size and type, with holes
  satin::Image plain;      ///< the same for methods that take nothing but f32 of the picture's size
  double highlights;       ///< LensStyle::highlights for lamps that were cut to 1; otherwise 1
};

struct Method {
  std::string name;
  std::function<satin::Image(const Input&)> run;
};

[[nodiscard]] const std::vector<Method>& methods();

/// The steps of `dof high` that are given what really is behind instead of making it up. Needs the inside of
/// the library: there is none but in the study that tests build.
[[nodiscard]] std::optional<Method> method_with_true_hidden();
[[nodiscard]] const Method* find_method(const std::string& name);

/// u8, encoded by the sRGB curve.
[[nodiscard]] satin::Image shown_picture(const satin::Image& picture);

}  // namespace lens
