#pragma once

namespace [[gnu::visibility("default")]] satin {

/// How a mask acts on a filter.
enum class MaskMode {
  blend,   ///< the mask weights the result against the input; windows read every pixel
  exclude  ///< as `blend`, and windows ignore the pixels where the mask is 0
};

}  // namespace satin
