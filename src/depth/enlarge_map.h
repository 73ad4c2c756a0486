#pragma once
// Radius maps of another size than the picture, enlarged like radii of depth (enlarge_radii.h).

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/backend.h"
#include "core/maths/window.h"
#include "core/with_type.h"
#include "depth/enlarge_radii.h"
#include "depth/maths/signed_radius.h"
#include "pixels/maths/rows.h"
#include "pixels/pixelwise.h"
#include "satin/image.h"

namespace satin {

class Device;
struct FilterPlan;

/// Radii at the ends of a radius map, in 1/256 pixel.
struct MapRange {
  Radius256 low = 0;   ///< at 0
  Radius256 high = 0;  ///< at white
};

template <class T>
struct RadiiOfMap {
  MapRange range;
  Rows<const T> map;
  Rows<SignedRadius256> radii;

  SATIN_HD void operator()(int x, int y) const {
    const T value = map.row(y)[x];
    if constexpr (sizeof(T) == sizeof(float))
      radii.row(y)[x] = radius_from_map(value, range.low, range.high);
    else
      radii.row(y)[x] = radius_from_map(value, static_cast<T>(-1), range.low, range.high);
  }
};

/// Stores a radius as the nearest value of a 16-bit map.
struct StoreInMap {
  MapRange range;
  Rows<const SignedRadius256> radii;
  Rows<std::uint16_t> map;

  SATIN_HD void operator()(int x, int y) const {
    const std::int64_t whole = range.high - range.low;
    const std::int64_t above = radii.row(y)[x] - range.low;  // not of the other sign
    map.row(y)[x] = whole == 0 ? std::uint16_t{0}
                               : static_cast<std::uint16_t>((2 * above * 0xFFFF + whole) / (2 * whole));
  }
};

/// Enlarges a radius map.
struct EnlargeMapJob {
  using Operation = PixelwiseOperation<EnlargeMapJob>;
  static constexpr const char* doing = "enlarging a radius map";

  EnlargeRadiiJob enlarge;
  Type type = Type::u8;  ///< type of the map: u8, u16 or f32
  MapRange range;

  struct Images {
    ImageView map;
    EnlargeRadiiJob::Images enlarge;
    MutableImageView samples;   ///< the samples of `enlarge`
    MutableImageView enlarged;  ///< u16
  };

  template <class Launch>
  void each(const Images& images, const TransferView& transfer, const Launch& launch) const {
    with_pixel_type(type, [&]<class T>() {
      launch(enlarge.sizes.depth_width, enlarge.sizes.depth_height,
             RadiiOfMap<T>{range, Rows<const T>(images.map), Rows<SignedRadius256>(images.samples)});
    });
    enlarge.each(images.enlarge, transfer, launch);
    launch(enlarge.sizes.width, enlarge.sizes.height,
           StoreInMap{range, Rows<const SignedRadius256>(images.enlarge.radii),
                      Rows<std::uint16_t>(images.enlarged)});
  }
};

/// Returns the shape of the map that the filter itself reads: the map's own, or 16 bits of the picture's
/// size.
[[nodiscard]] Shape enlarged_map_shape(const Shape& map, const Shape& picture);

/// Changes the plan of a filter with a radius map, which is its input `map`, so that a map of another size is
/// enlarged before each run. Such a filter always needs the whole picture.
[[nodiscard]] FilterPlan with_enlarged_map(const Device& device, FilterPlan filter,
                                           std::span<const Shape> shapes, std::size_t map,
                                           const MapRange& range);

}  // namespace satin
