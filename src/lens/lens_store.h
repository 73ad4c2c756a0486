#pragma once
// The last step of depth of field: linear integers -> the pixels that are stored.

#include "core/with_type.h"
#include "lens/lens_layers.h"
#include "lens/maths/lens_store.h"
#include "pixels/pixelwise.h"

namespace satin {

struct LensStoreJob {
  using Operation = PixelwiseOperation<LensStoreJob>;
  static constexpr const char* doing = "storing depth of field";

  LensLayersJob picture;
  std::uint32_t mask_maximum = 0;  ///< 255 or 65535; 0: no mask
  bool keeps_last = false;         ///< the last channel is data, whose bytes stay

  struct Images {
    const std::uint32_t* values = nullptr;  ///< dense, interleaved
    ImageView picture;
    ImageView mask;
    MutableImageView output;  ///< aliases none of the others
    const Measured* measured = nullptr;
  };

  [[nodiscard]] StoredCodes codes() const { return {picture.type, picture.transfer}; }

  /// Every pixel by store_lens_pixel().
  template <class Launch>
  void each(const Images& images, const TransferView& transfer, const Launch& launch) const {
    const LensStoreRule rule{{picture.weighted, mask_maximum, transfer}, keeps_last};
    with_pixel_type(picture.type, [&]<class T>() {
      const auto stored = lens_picture<T>(picture, images.picture, transfer);
      with_channels(picture.channels, [&]<int Channels>() {
        launch(picture.width, picture.height,
               StoreLens<Channels, T>{stored, rule, images.values, picture.width, images.measured,
                                      MaskRows(images.mask, mask_maximum), Rows<T>(images.output)});
      });
    });
  }
};

}  // namespace satin
