#pragma once
// Lamps are taken out of the samples: what the splat draws by the aperture of the lens.

#include "core/with_type.h"
#include "lens/lens_layers.h"
#include "lens/maths/lamps.h"
#include "pixels/pixelwise.h"

namespace satin {

struct LampsJob {
  using Operation = PixelwiseOperation<LampsJob>;
  static constexpr const char* doing = "looking for lamps";

  int channels = 3;
  int colours = 3;                ///< without alpha
  float highlights = 1;           ///< LensStyle::highlights
  bool clipped_if_white = false;  ///< floats: only where the picture has nothing above white
  std::uint32_t full = 0;         ///< the weight of a sample that covers its pixel

  struct Images {
    LensScene scene;
    const Measured* measured = nullptr;  ///< of floats
    LampCell* cells = nullptr;           ///< this and the next one: in the backend's memory
    LampList lamps;
    Aperture aperture;
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    with_channels(channels, [&]<int Channels>() {
      const LampScene<Channels> scene{images.scene.planes,
                                      images.scene.list,
                                      images.scene.unit,
                                      images.cells,
                                      images.lamps,
                                      images.aperture,
                                      colours,
                                      highlights,
                                      clipped_if_white,
                                      images.measured,
                                      full};
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
