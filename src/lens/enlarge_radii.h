#pragma once
// Radii of a depth image of another size at the pixels of a picture.

#include <cstdint>

#include "core/with_type.h"
#include "lens/maths/enlarge_radii.h"
#include "pixels/pixelwise.h"

namespace satin {

struct EnlargeRadiiJob {
  using Operation = PixelwiseOperation<EnlargeRadiiJob>;
  static constexpr const char* doing = "enlarging radii";

  EnlargeSizes sizes;
  Type type = Type::u8;  ///< of the picture: u8, u16 or f32
  int channels = 1;
  int colours = 1;  ///< that guide: 1 or 3

  struct Images {
    ImageView picture;
    ImageView samples;                  ///< i32, of the depth image's size, no unknown_radius
    GuideColour* of_samples = nullptr;  ///< workspace in the backend's memory: one a sample
    MutableImageView radii;             ///< i32, of the picture's size
  };

  /// By enlarged_radius(); the sample at the pixel's centre where the depth image is wider than the picture.
  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    const Rows<const SignedRadius256> samples(images.samples);
    const Rows<SignedRadius256> radii(images.radii);
    if (sizes.depth_width > sizes.width)
      return launch(sizes.width, sizes.height, TakeCentres{sizes, samples, radii});
    with_pixel_type(type, [&]<class T>() {
      const Rows<const T> picture(images.picture);
      launch(sizes.depth_width, sizes.depth_height,
             ColourSamples<T>{sizes, picture, channels, colours, images.of_samples});
      launch(sizes.width, sizes.height,
             EnlargeRadii<T>{sizes, picture, channels, colours, images.of_samples, samples, radii});
    });
  }
};

}  // namespace satin
