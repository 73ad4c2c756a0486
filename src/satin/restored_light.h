#pragma once
// The light that a gain map restores. Photographic filters work on a photograph's base picture and, in the
// same way, on its restored light; a new gain map then leads from one result to the other.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "satin/device.h"
#include "satin/filter.h"
#include "satin/gain_map.h"
#include "satin/image.h"
#include "satin/pipeline.h"
#include "satin/rows.h"

namespace [[gnu::visibility("default")]] satin {

/// Whether a filter works in linear light and keeps the size of what it shows.
[[nodiscard]] inline bool is_photographic(const PipelineStep& step) {
  const FilterRecord& filter = step.parameters.filter();
  return step.parameters.get(ParameterRole::space) == "linear" && !filter.frame && !filter.traits.covers;
}

/// Whether the result of a filter is the picture that its gain map belongs to, without regard to the map.
[[nodiscard]] inline bool keeps_gain_map(const PipelineStep& step) {
  const FilterRecord& filter = step.parameters.filter();
  if (filter.output != OutputKind::image || filter.traits.covers) return false;
  return filter.frame || (!is_photographic(step) && filter.traits.keeps_constant);
}

/// Whether a pipeline works on restored light where a picture has a gain map: at least one filter is
/// photographic, and all others would keep the map.
[[nodiscard]] inline bool uses_restored_light(std::span<const PipelineStep> steps) {
  return std::ranges::any_of(steps, is_photographic) &&
         std::ranges::all_of(
             steps, [](const PipelineStep& step) { return is_photographic(step) || keeps_gain_map(step); });
}

/// Whether restore_light() accepts a map: it leads from a base for SDR to HDR, in the primaries of the base.
[[nodiscard]] inline bool restores_light(const GainMap& map) {
  return !map.metadata.base_is_hdr() && (map.metadata.use_base_colour_space || map.alternate_icc.empty());
}

/// Returns the restored light of a picture as f32 in linear light, in the device's memory: 0 or more, where
/// the base's white is 1. Alpha becomes 0 to 1. `base` is u8 or u16, encoded by sRGB's curve, or f32 in
/// linear light. Views may be in any memory, and must be interleaved. The map is enlarged bilinearly, to
/// 1/256 of a code. Throws Error(usage) for other shapes, and for a map that does not restore light.
[[nodiscard]] Image restore_light(const Device& device, const ImageView& base, const GainMap& map);

/// The restored light of a picture row by row, with the values of restore_light(), so that filters of it need
/// little memory.
class LightRows final : public RowSource {
 public:
  /// `base` and `map` must outlive the object. Throws as restore_light(), and Error(usage) unless the device
  /// is the CPU and the base in host memory.
  LightRows(const Device& device, const ImageView& base, const GainMap& map);
  ~LightRows() override;

  [[nodiscard]] const Shape& shape() const noexcept override;  ///< that of the base, as f32
  void rewind() override { skip_to(0); }                       ///< starts again at the top
  void read(const MutableImageView& rows) override;            ///< restores the next rows
  void skip_to(std::int64_t row);                              ///< makes a row the next one
  /// Known for integers without alpha and maps whose offsets of the base are 0 or more.
  [[nodiscard]] std::optional<double> largest() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A base picture and its light, as restore_light() returns it. They have one size.
struct Renderings {
  ImageView base;   ///< u8 or u16, encoded by sRGB's curve, or f32 in linear light
  ImageView light;  ///< f32 in linear light
};

/// Returns a gain map that leads from a base picture to its light, in host memory, with half of their width
/// and height. It has three channels if one would change colours visibly.
[[nodiscard]] GainMap gain_map_of(const Device& device, const Renderings& result);

/// Returns the gain map of the results of filters, for pictures that had the gain map `map`. It has the size
/// of `map` where they keep their size, and otherwise the same number of pixels for each of its own. It keeps
/// the parameters of `map`, unless its range is too small, and its number of channels, unless one would
/// change colours visibly. Codes of `map` stay where all pixels under them stayed, as long as its range does;
/// where the whole picture stayed, the result is `map`.
[[nodiscard]] GainMap gain_map_of(const Device& device, const Renderings& result, const Renderings& before,
                                  const GainMap& map);

/// Returns the gain map as above, where the light of the result is read row by row, from the top and in most
/// cases once. The light before is what `map` restores in `before`, which is in host memory, as the result.
/// Throws Error(usage) if the map has more rows than a picture that keeps its size.
[[nodiscard]] GainMap gain_map_of(const Device& device, const ImageView& result, RowSource& light,
                                  const ImageView& before, const GainMap& map);

}  // namespace satin
