#pragma once
// satin list and satin devices

#include <cstddef>
#include <string>
#include <vector>

#include "app/commands.h"

namespace satin::app {

[[nodiscard]] std::string filter_table(const std::vector<CommandSpec>& all, std::size_t columns);
[[nodiscard]] std::string filter_json(const std::vector<CommandSpec>& all);
/// The README's table.
[[nodiscard]] std::string filter_markdown();
[[nodiscard]] std::string device_table();
[[nodiscard]] std::string device_json();

}  // namespace satin::app
