#pragma once
// The restored light of a photograph with a gain map, which is filtered like its base picture.

#include "batch/filter_chains.h"
#include "batch/linear_light.h"
#include "satin/gain_map.h"

namespace satin::batch {

/// The restored light of a result in host memory, and the gain map that leads to it.
struct FilteredLight {
  Image light;
  GainMap map;
};

/// Filters the restored light of a picture by the chain that has filtered its base. `result` is the encoded
/// result of `base`. The light of the result is returned if `keeps_light`, and else is empty.
[[nodiscard]] FilteredLight filter_light(FilterChain& chain, const ChainInput& input, const LinearLight& base,
                                         const GainMap& map, const Image& result, bool keeps_light,
                                         const Progress& progress);

/// Returns the light that a gain map restores in an encoded result of `base`, in host memory.
[[nodiscard]] Image light_of_result(const Device& device, const LinearLight& base, const Image& result,
                                    const GainMap& map);

}  // namespace satin::batch
