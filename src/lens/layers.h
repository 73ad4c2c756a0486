#pragma once
// From a picture and the signed radius of every pixel to what a lens sees of the scene, group by group:
// visible samples, and the disocclusion fill behind them (steps 0 to 3 of depth of field).

#include <cstdint>

#include "core/maths/fixed_point.h"
#include "core/operation.h"
#include "core/with_type.h"
#include "lens/maths/debug.h"
#include "lens/maths/depth_groups.h"
#include "lens/maths/nonlocal_fill.h"
#include "lens/maths/picture.h"
#include "lens/maths/samples.h"
#include "pixels/pixels.h"
#include "pixels/pixelwise.h"
#include "satin/lens_style.h"

namespace satin {

struct LensLayersOperation;

struct LensLayersJob {
  using Operation = LensLayersOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  Type type = Type::u8;  ///< u8, u16 or f32
  int channels = 1;
  bool weighted = false;  ///< the last channel is straight alpha
  Transfer transfer = Transfer::srgb;
  int float_bits = lens_float_bits;  ///< of the largest magnitude of floats
  int most_groups = lens_most_groups;
  int offset_pairs = most_offset_pairs;  ///< of the non-local fill

  /// Samples beside the visible ones: half as many as pixels, and every one of small pictures.
  [[nodiscard]] std::uint32_t list_capacity() const noexcept {
    return static_cast<std::uint32_t>(width * height / 2 + (std::int64_t{1} << 16));
  }
};

/// A picture of what run() saw.
struct LensShow {
  LensDebug what = LensDebug::off;
  double largest_radius = 0;        ///< 1/256 pixel
  bool opacity = false;             ///< the picture's last channel is opacity
  Order order = Order::rgb;         ///< of the picture's colours
  std::uint32_t* values = nullptr;  ///< dense, `channels` interleaved linear integers
};

/// What the steps make of one picture, in the backend's memory, which the filter owns (LensMemory). `radii`
/// of the planes is filled in before; all else is made by LensLayersOperation::run() and read by the splat.
struct LensScene {
  LensPlanes planes;
  LensList list;
  LensUnit* unit = nullptr;
  GroupWork* work = nullptr;
  const std::uint32_t* soft = nullptr;  ///< 1 there: the depth is soft; null: it is not
};

struct LensLayersOperation : Operation {
  /// `measured` of the picture, for floats, with lens_least_magnitude at least.
  virtual void run(const ImageView& picture, const Measured* measured, const LensScene& scene,
                   Stream stream) = 0;
  /// What run() saw, by lens/maths/debug.h.
  virtual void show(const LensScene& scene, const LensShow& shown, Stream stream) = 0;
};

/// Integers of pictures without highlights are below 2^bits.
[[nodiscard]] inline int lens_colour_bits(const LensLayersJob& job) noexcept {
  return job.type == Type::f32 ? job.float_bits : job.type == Type::u16 || job.weighted ? 24 : 16;
}

/// The picture as the steps read it; the transfer tables are those of the backend.
template <class T>
[[nodiscard]] LensPicture<T> lens_picture(const LensLayersJob& job, const ImageView& picture,
                                          const TransferView& transfer) {
  return {picture.data, picture.strides.row, job.channels, job.weighted, job.float_bits, transfer};
}

/// The non-local fill of what run() made so far. Its words are in the plane of the ramps, which holds nothing
/// by then. Its places are in that of the magnitudes, which are made again where there are samples: in few
/// tiles.
[[nodiscard]] inline NonlocalFill nonlocal_fill(const LensLayersJob& job, const LensScene& scene,
                                                NonlocalWork* work, std::uint8_t* tiles, int tile_side) {
  const int opacity = job.weighted || job.channels == 2 || job.channels == 4 ? 1 : 0;
  return {scene.planes,
          scene.list,
          scene.unit,
          work,
          reinterpret_cast<std::uint32_t*>(scene.planes.sharpened),
          scene.planes.magnitudes,
          tiles,
          tile_side,
          job.channels - opacity};
}

/// LensLayersOperation::show() by launch(width, height, step).
template <class Launch>
void show_lens(const Launch& launch, const LensLayersJob& job, const LensScene& scene,
               const LensShow& shown) {
  const LensPlanes& planes = scene.planes;
  const ShadeUnit shade{scene.unit, shown.opacity, job.weighted && job.type == Type::f32};
  if (shown.what == LensDebug::hidden)
    return show_hidden(launch, planes, shade, scene.list, job.most_groups, shown.values);
  launch(planes.width, planes.height,
         ShowShades{planes, shade, shown.what == LensDebug::groups, shown.order == Order::bgr,
                    shown.largest_radius, shown.values});
}

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
