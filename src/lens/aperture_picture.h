#pragma once
// A picture becomes the aperture that lamps are drawn by.

#include "core/with_type.h"
#include "lens/maths/aperture_picture.h"
#include "pixels/pixelwise.h"

namespace satin {

struct AperturePictureJob {
  using Operation = PixelwiseOperation<AperturePictureJob>;
  static constexpr const char* doing = "taking a picture for an aperture";

  Shape picture;  ///< one channel: u8, u16 or f32

  struct Images {
    ImageView picture;
    ApertureRow* rows = nullptr;    ///< aperture_picture_side, in the backend's memory
    ApertureEdge* edges = nullptr;  ///< most_aperture_edges of each
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    with_pixel_type(picture.type, [&]<class T>() {
      const AperturePicture<T> values{Rows<const T>(images.picture), picture.width, picture.height};
      launch(std::int64_t{aperture_picture_side}, std::int64_t{aperture_picture_side},
             FindApertureMeans<T>{values, images.edges});
    });
    launch(std::int64_t{aperture_picture_side}, std::int64_t{1},
           FindApertureEdges{images.rows, images.edges});
  }
};

}  // namespace satin
