#pragma once
// The manual page.

#include <string>
#include <vector>

#include "app/commands.h"

namespace satin::app {

/// satin(1) as troff with the man macros.
[[nodiscard]] std::string manual_page(const std::vector<CommandSpec>& all);

}  // namespace satin::app
