#include "batch/filtered_light.h"

#include <utility>

#include "satin/restored_light.h"

namespace satin::batch {
namespace {

Image on_host(const Device& device, Image image) {
  return image.memory() == Memory::host ? std::move(image) : device.download(image.view());
}

}  // namespace

FilteredLight filter_light(FilterChain& chain, const ChainInput& input, const LinearLight& base,
                           const GainMap& map, const Image& result, bool keeps_light,
                           const Progress& progress) {
  const Device& device = chain.device();
  const ImageView before = base.picture().view();
  const Image light = restore_light(device, before, map);
  Image filtered = device.allocate(chain.plan(input, light.shape(), before));
  static_cast<void>(chain.run(light, filtered.view(), progress));
  Image linear;
  GainMap made =
      gain_map_of(device, {base.decoded(result, linear), filtered.view()}, {before, light.view()}, map);
  return {keeps_light ? on_host(device, std::move(filtered)) : Image(), std::move(made)};
}

Image light_of_result(const Device& device, const LinearLight& base, const Image& result,
                      const GainMap& map) {
  Image linear;
  return on_host(device, restore_light(device, base.decoded(result, linear), map));
}

}  // namespace satin::batch
