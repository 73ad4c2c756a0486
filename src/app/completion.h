#pragma once
// Completion scripts for shells.

#include <string>
#include <vector>

#include "app/commands.h"

namespace satin::app {

[[nodiscard]] std::string bash_completion(const std::vector<CommandSpec>& all);
[[nodiscard]] std::string zsh_completion(const std::vector<CommandSpec>& all);
[[nodiscard]] std::string fish_completion(const std::vector<CommandSpec>& all);

}  // namespace satin::app
