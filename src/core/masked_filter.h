#pragma once
// Masked work: where no tile of the mask is active, nothing is done but that the input's bytes are copied.

#include <memory>

#include "core/backend.h"
#include "core/prepared_filter.h"

namespace satin {

/// The filter for the whole picture. If it has a mask, a reach and a picture that is large enough for active
/// tiles to be worth the search, it gives the same bytes by windows around them.
[[nodiscard]] std::unique_ptr<PreparedFilter> prepare_whole(Backend& backend, const FilterPlan& filter);

}  // namespace satin
