#pragma once
// The pictures that `satin bench` filters: made, and the same on every machine.

#include "satin/filter.h"
#include "satin/image.h"

namespace satin::app {

enum class BenchInput {
  photograph,  ///< areas of every size with shading, edges and grain; maps as depth cameras and hands make
               ///< them
  noise        ///< every value of every picture at random: what no predictor or cache foresees
};

/// A picture to filter, and the side input of u8 for one of its size that has this role.
[[nodiscard]] Image bench_picture(BenchInput input, const Shape& shape);
[[nodiscard]] Image bench_side_input(BenchInput input, Role role, const Shape& picture);

}  // namespace satin::app
