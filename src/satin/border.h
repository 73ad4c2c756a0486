#pragma once

namespace [[gnu::visibility("default")]] satin {

/// What a window sees outside the picture.
enum class Border {
  shrink,   ///< nothing: the mean of the pixels that exist
  clamp,    ///< the edge pixel, on and on
  reflect,  ///< the picture mirrored, the edge pixel repeated: c b a | a b c
  mirror,   ///< the picture mirrored, the edge pixel not repeated: c b | a b c
  wrap,     ///< the opposite side
  constant  ///< one value everywhere
};

}  // namespace satin
