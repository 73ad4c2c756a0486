#pragma once
// Examples of every command.

#include <string>
#include <string_view>
#include <vector>

namespace satin::app {

/// Two command lines that show what the command is for; none of a command that needs none.
[[nodiscard]] std::vector<std::string> examples_of(std::string_view command);

}  // namespace satin::app
