#pragma once
// Gain maps in a batch: what becomes of them, and how they follow a result of another size or one that is
// covered.

#include <functional>
#include <string>

#include "satin/batch.h"

namespace satin::batch {

/// Returns what becomes of gain maps, by the options or else by the pipeline. Pipelines with a filter in
/// linear light use them (uses_restored_light()). Filters that change the size, and filters of stored values
/// that keep constant pictures, keep them; all others drop them, as does --strip. Where no step is in linear
/// light, maps that are to be used are kept: they lead to the light of the result.
[[nodiscard]] GainMapUse gain_map_use_of(const Pipeline& pipeline, const BatchOptions& options);

/// Returns the warning about a gain map that was dropped because the result is no photograph; empty for none.
[[nodiscard]] std::string gain_map_warning(const Pipeline& pipeline, const BatchOptions& options,
                                           const Picture& source);

/// Returns the box of a map that a result shows, at the map's own resolution: each code is the mean over the
/// area that it covers, rounded to nearest, ties up. A result that was reduced has a map that was reduced as
/// much; the map of one that was enlarged keeps its size.
[[nodiscard]] GainMap framed(const GainMap& map, const Framing& framing);

/// Returns the map after a pipeline that covers parts of the picture. `run` applies the pipeline to the
/// codes, enlarged to the picture's size.
[[nodiscard]] GainMap covered(const Device& device, const GainMap& map, const Shape& picture,
                              const Framing& framing, const std::function<Image(const Image& codes)>& run);

/// Whether the restored light of a picture is filtered beside its base.
[[nodiscard]] bool uses_light(const Picture& picture, const Pipeline& pipeline, const BatchOptions& options);

/// Drops a gain map whose light is to be used, but cannot be restored.
void drop_unusable_map(Picture& picture, const Pipeline& pipeline, const BatchOptions& options);

/// Whether an output of this format gets the restored light of a picture in place of its base and gain map:
/// formats that hold floats alone always do, those that hold floats but no gain maps by --gain-map use.
[[nodiscard]] bool writes_light(const Picture& picture, const BatchOptions& options,
                                const std::string& extension);

/// Whether files of this format hold a gain map.
[[nodiscard]] bool holds_gain_map(const std::string& extension);

/// Throws Error(usage) if light is to be used by a pipeline that cannot.
void check_gain_map_use(const Pipeline& pipeline, const BatchOptions& options);

}  // namespace satin::batch
