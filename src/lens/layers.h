#pragma once
// The operations around the splat. LensLayersOperation turns a picture and the signed radius of each pixel
// into samples: ramp sharpening, grouping, unmixing, disocclusion fill and non-local fill. LensStoreJob turns
// the linear integers of the result into pixels.

#include <cstdint>

#include "core/maths/fixed_point.h"
#include "core/operation.h"
#include "core/with_type.h"
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
  int float_bits = lens_float_bits;  ///< floats: bits of the largest magnitude
  int most_groups = lens_most_groups;
  int offset_pairs = most_offset_pairs;  ///< most offset pairs of the non-local fill
  float merged_radius = 2;               ///< more blurred hidden samples are merged 2 x 2, pixels

  /// Capacity of the list of samples: half the number of pixels, and more for small pictures.
  [[nodiscard]] std::uint32_t list_capacity() const noexcept {
    return static_cast<std::uint32_t>(width * height / 2 + (std::int64_t{1} << 16));
  }
};

/// A debug picture of what run() found.
struct LensShow {
  LensDebug what = LensDebug::off;
  bool opacity = false;             ///< the last channel is opacity
  Order order = Order::rgb;         ///< order of the colours
  std::uint32_t* values = nullptr;  ///< dense, `channels` interleaved linear integers
};

/// Samples and work of one picture, in the backend's memory, which the filter owns (LensMemory). The filter
/// fills in `planes.radii`; LensLayersOperation::run() makes all else, and the splat reads it.
struct LensScene {
  LensPlanes planes;
  LensList list;
  LensUnit* unit = nullptr;
  GroupWork* work = nullptr;
  const std::uint32_t* soft = nullptr;  ///< 1: the depth is soft; null: it is not
};

struct LensLayersOperation : Operation {
  /// Only floats need `measured`, whose magnitudes are at least lens_least_magnitude.
  virtual void run(const ImageView& picture, const Measured* measured, const LensScene& scene,
                   Stream stream) = 0;
  /// Makes the debug picture of the last run().
  virtual void show(const LensScene& scene, const LensShow& shown, Stream stream) = 0;
};

/// Bits of the integers of a picture without highlights.
[[nodiscard]] inline int lens_colour_bits(const LensLayersJob& job) noexcept {
  return job.type == Type::f32 ? job.float_bits : job.type == Type::u16 || job.weighted ? 24 : 16;
}

/// The picture as the steps read it, with the backend's transfer tables.
template <class T>
[[nodiscard]] LensPicture<T> lens_picture(const LensLayersJob& job, const ImageView& picture,
                                          const TransferView& transfer) {
  return {picture.data, picture.strides.row, job.channels, job.weighted, job.float_bits, transfer};
}

/// Arguments of the non-local fill. Its words lie in `sharpened`, which is not needed any more.
[[nodiscard]] inline NonlocalFill nonlocal_fill(const LensLayersJob& job, const LensScene& scene,
                                                NonlocalWork* work) {
  const int opacity = job.weighted || job.channels == 2 || job.channels == 4 ? 1 : 0;
  return {scene.planes,
          scene.list,
          scene.unit,
          work,
          reinterpret_cast<std::uint32_t*>(scene.planes.sharpened),
          job.channels - opacity};
}

// Debug pictures (`--debug`): the radii, the groups of depth, or the disocclusion fill, as linear integers
// like the result.

/// Linear colours of the groups, the nearest first.
SATIN_HD float group_shade(int group, int channel) {
  constexpr float shades[lens_most_groups][3] = {{1.0F, 0.05F, 0.05F},
                                                 {1.0F, 0.45F, 0.0F},
                                                 {0.1F, 0.7F, 0.1F},
                                                 {0.0F, 0.4F, 1.0F},
                                                 {0.25F, 0.05F, 0.6F}};
  return shades[group][channel];
}

/// White and full opacity of a debug picture.
struct ShadeUnit {
  const LensUnit* unit = nullptr;
  bool opacity = false;       ///< the last channel is opacity
  bool own_exponent = false;  ///< opacity has an exponent of its own: floats with straight alpha

  SATIN_HD std::uint32_t opaque() const {
    if (!own_exponent) return unit->brightest;
    return static_cast<std::uint32_t>(power_of_two(unit->alpha_exponent));
  }
};

/// Returns 1 nearer than the focus, -1 beyond it, 0 in focus.
SATIN_HD int side_of_focus(std::int32_t radius) {
  return magnitude_of(radius) <= lens_focus_radius ? 0 : radius > 0 ? 1 : -1;
}

/// Shows the radii, with the outline of what is in focus, or the groups. A last channel that is neither
/// colour nor opacity keeps its values.
struct ShowShades {
  LensPlanes planes;
  const GroupWork* work;
  ShadeUnit shade;
  bool groups = false;              ///< shows groups instead of radii
  bool blue_first = false;          ///< BGR order
  std::uint32_t* values = nullptr;  ///< dense, interleaved

  SATIN_HD void operator()(int x, int y) const {
    const std::int64_t at = planes.place(x, y);
    const std::uint32_t* own = planes.colours + at * planes.channels;
    const int last = planes.channels - 1;
    const int colours = planes.channels % 2 == 0 ? last : planes.channels;
    const double white = static_cast<double>(shade.unit->white);
    for (int c = 0; c < colours; ++c)
      values[at * planes.channels + c] =
          static_cast<std::uint32_t>(shade_of(x, y, blue_first ? 2 - c : c, colours) * white + 0.5);
    if (colours == last) values[at * planes.channels + last] = shade.opacity ? shade.opaque() : own[last];
  }

 private:
  [[nodiscard]] SATIN_HD double shade_of(int x, int y, int channel, int colours) const {
    const std::int64_t at = planes.place(x, y);
    if (groups) {
      const int group = planes.groups[at];
      if (colours == 1) return 1 - static_cast<double>(group) / lens_most_groups;
      return static_cast<double>(group_shade(group, channel));
    }
    const std::int32_t radius = planes.radii[at];
    if (is_outline(x, y)) return colours == 1 || channel == 1 ? 1 : 0;
    if (colours != 1 && channel != (radius > 0 ? 0 : 2)) return 0;
    const double share = static_cast<double>(magnitude_of(radius)) / largest();
    return share < 1 ? share : 1;
  }
  /// Whether the pixel to the right or below is on another side of the focus.
  [[nodiscard]] SATIN_HD bool is_outline(int x, int y) const {
    const std::int32_t* own = planes.radii + planes.place(x, y);
    const int side = side_of_focus(*own);
    return (x + 1 < planes.width && side_of_focus(own[1]) != side) ||
           (y + 1 < planes.height && side_of_focus(own[planes.width]) != side);
  }
  /// Returns the largest radius of the picture, at least 1.
  [[nodiscard]] SATIN_HD double largest() const {
    const std::uint32_t near = magnitude_of(work->highest);
    const std::uint32_t far = magnitude_of(work->lowest());
    return static_cast<double>(near > far ? near : far > 0 ? far : 1);
  }
};

struct ShowNothing {
  LensPlanes planes;
  ShadeUnit shade;
  std::uint32_t* values;

  SATIN_HD void operator()(int x, int y) const {
    std::uint32_t* to = values + planes.place(x, y) * planes.channels;
    for (int c = 0; c < planes.channels; ++c) to[c] = 0;
    if (shade.opacity) to[planes.channels - 1] = shade.opaque();
  }
};

inline constexpr int listed_columns = 4096;

/// Shows the hidden samples of one group. Place (x, y) is entry y * listed_columns + x of the list. Listed
/// samples of silhouettes are of their pixel's group or a nearer one, and are not shown.
struct ShowHidden {
  LensPlanes planes;
  LensList list;
  int group;
  std::uint32_t* values;

  SATIN_HD void operator()(int x, int y) const {
    const std::int64_t i = static_cast<std::int64_t>(y) * listed_columns + x;
    if (i >= static_cast<std::int64_t>(*list.count)) return;
    const LensSample& sample = list.samples[i];
    if (sample.group != group) return;
    for (int v = sample.y; v < sample.y + sample.block; ++v)
      for (int u = sample.x; u < sample.x + sample.block; ++u) {
        const std::int64_t at = planes.place(u, v);
        if (planes.groups[at] >= group) continue;
        for (int c = 0; c < planes.channels; ++c) values[at * planes.channels + c] = sample.colour[c];
      }
  }
};

/// Shows the hidden samples of all groups, the nearest last.
template <class Launch>
void show_hidden(Launch& launch, const LensPlanes& planes, const ShadeUnit& shade, const LensList& list,
                 int groups, std::uint32_t* values) {
  launch(planes.width, planes.height, ShowNothing{planes, shade, values});
  const int rows = static_cast<int>((std::int64_t{list.capacity} + listed_columns - 1) / listed_columns);
  for (int group = groups - 1; group > 0; --group)
    launch(listed_columns, rows, ShowHidden{planes, list, group, values});
}

template <class Launch>
void show_lens(const Launch& launch, const LensLayersJob& job, const LensScene& scene,
               const LensShow& shown) {
  const LensPlanes& planes = scene.planes;
  const ShadeUnit shade{scene.unit, shown.opacity, job.weighted && job.type == Type::f32};
  if (shown.what == LensDebug::hidden)
    return show_hidden(launch, planes, shade, scene.list, job.most_groups, shown.values);
  launch(planes.width, planes.height,
         ShowShades{planes, scene.work, shade, shown.what == LensDebug::groups, shown.order == Order::bgr,
                    shown.values});
}

struct LensStoreJob {
  using Operation = PixelwiseOperation<LensStoreJob>;
  static constexpr const char* doing = "storing depth of field";

  LensLayersJob picture;
  std::uint32_t mask_maximum = 0;  ///< 255 or 65535; 0 without a mask
  bool keeps_last = false;         ///< the last channel is data and keeps its bytes

  struct Images {
    const std::uint32_t* values = nullptr;  ///< dense, interleaved
    ImageView picture;
    ImageView mask;
    MutableImageView output;  ///< overlaps no input, but may be `values` if the picture is f32
    const Measured* measured = nullptr;
  };

  [[nodiscard]] StoredCodes codes() const { return {picture.type, picture.transfer}; }

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
