#pragma once
// The operations that draw lamps: AperturePictureJob turns a picture into an aperture, LampsJob takes lamps
// out of the samples, for the splat to draw them. aperture_table() makes the aperture of a LensStyle.

#include "core/with_type.h"
#include "core/workspace.h"
#include "lens/layers.h"
#include "lens/maths/aperture.h"
#include "lens/maths/lamps.h"
#include "pixels/pixelwise.h"
#include "satin/lens_style.h"

namespace satin {

/// Aperture in host memory.
struct ApertureTable {
  WorkspaceVector<ApertureRow> rows;
  WorkspaceVector<ApertureEdge> edges;
  float reach = 1;     ///< Aperture::reach
  bool simple = true;  ///< Aperture::simple
  float cut = 0;       ///< Aperture::cut of a picture whose corner is one pixel from its centre
  int peak_bits = 0;   ///< a pixel gets at most 2^peak_bits times its share of a disc of that reach
};

/// Makes the aperture of a style, with the variance of a disc of radius 1: a disc, or a regular polygon that
/// stands on a side and whose sides are arcs; turned, squeezed to the same area, and with rings. Throws
/// Error(usage) for values out of range.
[[nodiscard]] ApertureTable aperture_table(const LensStyle& style);

[[nodiscard]] int peak_bits_of(const LensStyle& style);

/// Number of blades of the opening, or 0 if it is round.
[[nodiscard]] int blades_of(const LensStyle& style);

struct AperturePictureJob {
  using Operation = PixelwiseOperation<AperturePictureJob>;
  static constexpr const char* doing = "taking a picture for an aperture";

  Shape picture;  ///< one channel of u8, u16 or f32

  struct Images {
    ImageView picture;
    ApertureRow* rows = nullptr;    ///< aperture_picture_side rows, in the backend's memory
    ApertureEdge* edges = nullptr;  ///< most_aperture_edges per row
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

struct LampsJob {
  using Operation = PixelwiseOperation<LampsJob>;
  static constexpr const char* doing = "looking for lamps";

  int channels = 3;
  LampRule rule;

  struct Images {
    LensScene scene;
    const Measured* measured = nullptr;  ///< null for integers
    LampCell* cells = nullptr;           ///< in the backend's memory, as `lamps`
    LampList lamps;
    Aperture aperture;
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    with_channels(channels, [&]<int Channels>() {
      const LampScene<Channels> scene{images.scene.planes, images.scene.list, images.scene.unit, images.cells,
                                      images.lamps,        images.aperture,   images.measured,   rule};
      launch(std::int64_t{1}, std::int64_t{1}, ClearLamps{images.lamps});
      launch(std::int64_t{scene.across()}, std::int64_t{scene.down()}, SumLampCells<Channels>{scene});
      launch(std::int64_t{scene.across()}, std::int64_t{scene.down()}, CountLamps<Channels>{scene});
      launch(std::int64_t{lamp_threads_across}, std::int64_t{lamp_threads_down},
             CountListedLamps<Channels>{scene});
      launch(std::int64_t{scene.across()}, std::int64_t{scene.down()}, TakeLamps<Channels>{scene});
      launch(std::int64_t{lamp_threads_across}, std::int64_t{lamp_threads_down},
             TakeListedLamps<Channels>{scene});
      launch(std::int64_t{lamp_threads_across}, std::int64_t{lamp_threads_down}, ShareLamps<Channels>{scene});
    });
  }
};

}  // namespace satin
