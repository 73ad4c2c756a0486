// Operations of the lens on each pixel alone.

#include "pixels/cpu/pixelwise.h"

#include <algorithm>
#include <array>

#include "lens/circle_of_confusion.h"
#include "lens/cpu/depth_steps_simd.h"
#include "lens/cpu/lens_rows_simd.h"
#include "lens/enlarge_radii.h"
#include "lens/fill_radii.h"
#include "lens/lens_store.h"
#include "lens/planar_radii.h"
#include "pixels/cpu/transfer_simd.h"

namespace satin::cpu {
namespace {

/// A row of bytes in linear light, without alpha and mask: what the picture has there is encoded to its
/// bytes.
void store_row(const std::uint32_t* values, std::size_t entries, const TransferView& transfer,
               std::uint8_t* out) {
  constexpr std::size_t at_once = 4096;
  std::array<std::uint16_t, at_once> light;
  for (std::size_t i = 0; i < entries; i += at_once) {
    const std::size_t count = std::min(at_once, entries - i);
    hold_light(values + i, count, light.data());
    encode_row(light.data(), count, transfer, out + i);
  }
}

struct LensRows : EachRow {
  using EachRow::EachRow;
  using EachRow::operator();

  void operator()(std::int64_t width, std::int64_t height, const RadiiOfPlane& step) const {
    rows(height, [&](int y) { find_planar_radii(y, width, step.focus, step.radii.row(y)); });
  }
  template <class T>
  void operator()(std::int64_t width, std::int64_t height, const RadiiOfDepth<T>& step) const {
    if (step.depth.channels != 1) return each(width, height, step);
    rows(height,
         [&](int y) { find_circles(step.depth.row(y), width, step.rule, *step.state, step.radii.row(y)); });
  }
  template <int Channels>
  void operator()(std::int64_t width, std::int64_t height,
                  const StoreLens<Channels, std::uint8_t>& step) const {
    const LensStoreRule& rule = step.rule;
    if (rule.weighted || rule.keeps_last || rule.mask_maximum != 0 || rule.transfer.decode == nullptr)
      return each(width, height, step);
    rows(height, [&](int y) {
      store_row(step.values + y * width * Channels, static_cast<std::size_t>(width * Channels), rule.transfer,
                step.output.row(y));
    });
  }
};

}  // namespace

void add_lens_pixelwise(Operations& operations) {
  add_pixelwise<LensRows, CircleOfConfusionJob, CountUnknownJob, EnlargeRadiiJob, FillUnknownJob,
                LensStoreJob, PlanarRadiiJob, SplitRadiiJob>(operations);
}

}  // namespace satin::cpu
