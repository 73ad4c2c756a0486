#pragma once
// Masked work: where no tile of the mask is active, nothing is done but that the input's bytes are copied.

#include <cstddef>
#include <memory>

#include "core/backend.h"
#include "core/prepared_filter.h"
#include "core/windows.h"

namespace satin {

/// A filter whose result is the input, byte for byte, wherever its mask is 0.
struct MaskedFilter {
  Shape picture;
  Shape mask;             ///< width 0: none
  std::size_t input = 1;  ///< where the mask stands among the inputs
  SizedFilter filter;
  WindowCosts costs;
};

/// The filter itself if it has no mask, or if the picture is too small for active tiles to be worth the
/// search; otherwise one that gives the same bytes by windows around them.
[[nodiscard]] std::unique_ptr<PreparedFilter> prepare_masked(Backend& backend, const MaskedFilter& masked);

}  // namespace satin
