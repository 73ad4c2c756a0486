#include "batch/filtered_light.h"

#include <memory>
#include <optional>
#include <utility>

#include "satin/restored_light.h"

namespace satin::batch {
namespace {

Image on_host(const Device& device, Image image) {
  return image.memory() == Memory::host ? std::move(image) : device.download(image.view());
}

/// Returns the new map of a result if its light can be filtered row by row, on the CPU: it then stays in the
/// cache, and no memory for the light of the whole picture is cleared and filled.
std::optional<GainMap> map_by_rows(FilterChain& chain, const ChainInput& input, const ImageView& before,
                                   const GainMap& map, const ImageView& result, const Progress& progress) {
  const Device& device = chain.device();
  if (device.is_cuda() || map.pixels.shape().height > before.shape.height) return std::nullopt;
  LightRows light(device, before, map);
  const std::unique_ptr<ChainRows> filtered = chain.rows(input, light, before);
  if (filtered == nullptr) return std::nullopt;
  filtered->pipeline->watch(progress);
  GainMap made = gain_map_of(device, result, *filtered->pipeline, before, map);
  static_cast<void>(filtered->pipeline->check());
  return made;
}

}  // namespace

FilteredLight filter_light(FilterChain& chain, const ChainInput& input, const LinearLight& base,
                           const GainMap& map, const Image& result, bool keeps_light,
                           const Progress& progress) {
  const Device& device = chain.device();
  const ImageView before = base.picture().view();
  Image linear;
  const ImageView after = base.decoded(result, linear);
  if (!keeps_light)
    if (auto made = map_by_rows(chain, input, before, map, after, progress)) return {{}, std::move(*made)};
  const Image light = restore_light(device, before, map);
  Image filtered = device.allocate(chain.plan(input, light.shape(), before));
  static_cast<void>(chain.run(light, filtered.view(), progress));
  GainMap made = gain_map_of(device, Renderings{after, filtered.view()}, {before, light.view()}, map);
  return {keeps_light ? on_host(device, std::move(filtered)) : Image(), std::move(made)};
}

Image light_of_result(const Device& device, const LinearLight& base, const Image& result,
                      const GainMap& map) {
  Image linear;
  return on_host(device, restore_light(device, base.decoded(result, linear), map));
}

}  // namespace satin::batch
