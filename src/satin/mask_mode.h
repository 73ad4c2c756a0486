#pragma once

namespace [[gnu::visibility("default")]] satin {

/// What a mask does.
enum class MaskMode {
  blend,   ///< it weights the result against the input; every pixel counts in the windows of others
  exclude  ///< the same, and pixels where it is 0 count in no window
};

}  // namespace satin
