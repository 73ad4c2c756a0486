#pragma once
// The rows of the table: every way to make depth of field from one picture and its disparity.

#include <functional>
#include <string>
#include <vector>

#include "layers.h"
#include "satin/image.h"

namespace lens {

struct Input {
  const Scene& scene;
  satin::Image picture;
  satin::Image disparity;
  satin::Image hidden;            ///< the truth behind what is visible; only one method looks at it
  satin::Image hidden_disparity;  ///< likewise; -1 where nothing is hidden
  bool clipped;                   ///< lamps were cut to 1
};

struct Method {
  std::string name;
  std::function<satin::Image(const Input&)> run;
};

[[nodiscard]] const std::vector<Method>& methods();
[[nodiscard]] const Method* find_method(const std::string& name);

/// u8, encoded by the sRGB curve.
[[nodiscard]] satin::Image shown_picture(const satin::Image& picture);

}  // namespace lens
