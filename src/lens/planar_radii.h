#pragma once
// Signed radii of a plane, without a depth image.

#include <cstdint>

#include "lens/maths/planar_radius.h"
#include "pixels/pixelwise.h"

namespace satin {

struct PlanarRadiiJob {
  using Operation = PixelwiseOperation<PlanarRadiiJob>;
  static constexpr const char* doing = "making radii of a plane";

  std::int64_t width = 0;
  std::int64_t height = 0;
  PlanarFocus focus;

  struct Images {
    MutableImageView radii;  ///< one channel, i32
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    launch(width, height, RadiiOfPlane{focus, Rows<SignedRadius256>(images.radii)});
  }
};

}  // namespace satin
