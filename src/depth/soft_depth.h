#pragma once
// Operations on soft depth (depth/maths/soft_depth.h): told from the ramps of its radii, and snapped to the
// edges of the picture.

#include "depth/maths/soft_depth.h"
#include "depth/radii_steps.h"

namespace satin {

/// Tells if depth is soft; if so, and no sharp range was told, its radii are made again with one.
struct SoftDepthJob {
  using Operation = PixelwiseOperation<SoftDepthJob>;
  static constexpr const char* doing = "looking for soft depth";

  CircleOfConfusionJob circles;

  struct Images {
    ImageView depth;
    DepthSpan* span = nullptr;  ///< this and the next one: in the backend's memory
    LensState* state = nullptr;
    MutableImageView radii;  ///< one channel, i32, made by `circles`
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    const std::int64_t width = circles.width;
    const std::int64_t height = circles.height;
    with_pixel_type(circles.type, [&]<class T>() {
      const DepthRows<T> depth{Rows<const T>(images.depth), circles.channels, circles.channel};
      launch(span_runs(width), (height + soft_stride - 1) / soft_stride,
             CountRamps<T>{circles.rule, depth, width, height, images.state, images.span});
      launch(std::int64_t{1}, std::int64_t{1}, TellSoftness{circles.rule, images.span, images.state});
      if (circles.rule.sharp_range_given || circles.rule.focal_length != 0) return;
      const RadiiOfDepth<T> again{circles.rule, depth, images.state, Rows<SignedRadius256>(images.radii)};
      launch(width, height, RadiiOfSoftDepth<T>{again, images.span});
    });
  }
};

/// Radii of soft depth without thin extremes, and with its silhouettes where the picture's edges are.
struct SnapDepthJob {
  using Operation = PixelwiseOperation<SnapDepthJob>;
  static constexpr const char* doing = "snapping soft depth to the picture";

  EnlargeSizes sizes;
  Type type = Type::u8;  ///< of the picture: u8, u16 or f32
  int channels = 1;
  int colours = 1;  ///< channels that guide: 1 or 3

  struct Images {
    ImageView picture;
    const DepthSpan* span = nullptr;    ///< this and the next one: in the backend's memory
    GuideColour* of_samples = nullptr;  ///< workspace, one a sample; null where the sizes are the same
    MutableImageView radii;             ///< i32, of the depth image's size, no unknown_radius
    MutableImageView spare;             ///< shaped like radii; holds nothing
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    const std::int64_t width = sizes.depth_width;
    const std::int64_t height = sizes.depth_height;
    const ImageView radii = images.radii;
    const ImageView spare = images.spare;
    launch(width, height,
           RejectThinExtremes{Rows<const SignedRadius256>(radii), width, height, images.span,
                              Rows<SignedRadius256>(images.spare)});
    const auto snap = [&]<class Colours>(const Colours& colours_at) {
      launch(width, height,
             SnapToColours<Colours>{Rows<const SignedRadius256>(spare), width, height, colours_at,
                                    images.span, Rows<SignedRadius256>(images.radii)});
    };
    with_pixel_type(type, [&]<class T>() {
      const Rows<const T> picture(images.picture);
      if (images.of_samples == nullptr) return snap(PictureColours<T>{picture, channels, colours});
      const ColourSamples<T> samples{sizes, picture, channels, colours, images.of_samples};
      launch(width, height, ColourSoftSamples<T>{samples, images.span});
      snap(ColoursOfSamples{images.of_samples, width});
    });
  }
};

}  // namespace satin
