#pragma once
// A depth image as a plane of signed radii.

#include <cstdint>

#include "core/with_type.h"
#include "lens/maths/circle_of_confusion.h"
#include "pixels/pixelwise.h"

namespace satin {

struct CircleOfConfusionJob {
  using Operation = PixelwiseOperation<CircleOfConfusionJob>;
  static constexpr const char* doing = "making radii of depth";

  std::int64_t width = 0;
  std::int64_t height = 0;
  Type type = Type::u8;  ///< of the depth image: u8, u16 or f32
  int channels = 1;
  int channel = 0;
  DepthRule rule;

  struct Images {
    ImageView depth;
    LensState* state = nullptr;  ///< in the backend's memory
    MutableImageView radii;      ///< one channel, i32; unknown_radius where nothing is known
  };

  /// Finds the focus, then every radius by circle_of_confusion().
  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    with_pixel_type(type, [&]<class T>() {
      const DepthRows<T> depth{Rows<const T>(images.depth), channels, channel};
      launch(std::int64_t{1}, std::int64_t{1}, FindFocus<T>{rule, depth, width, height, images.state});
      launch(width, height, RadiiOfDepth<T>{rule, depth, images.state, Rows<SignedRadius256>(images.radii)});
    });
  }
};

}  // namespace satin
