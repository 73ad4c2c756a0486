#pragma once

namespace [[gnu::visibility("default")]] satin {

/// Values that a window reads outside the picture.
enum class Border {
  shrink,   ///< none: the window holds only the pixels that exist
  clamp,    ///< the nearest edge pixel
  reflect,  ///< the picture mirrored, the edge pixel repeated: c b a | a b c
  mirror,   ///< the picture mirrored, the edge pixel not repeated: c b | a b c
  wrap,     ///< the opposite side of the picture
  constant  ///< one fixed value
};

}  // namespace satin
