#pragma once
// The arguments of one command, taken apart but not yet understood.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/commands.h"

namespace satin::app {

struct ParsedLine {
  std::vector<std::pair<std::string, std::string>>
      options;                         ///< name and text; "true" for a flag without text
  std::vector<std::string> arguments;  ///< all that are no options

  [[nodiscard]] std::optional<std::string> value(std::string_view name) const;
  /// Throws Error(usage) for a text that is neither true nor false.
  [[nodiscard]] bool flag(std::string_view name) const;
};

/// `arguments` come after the command's name. Throws Error(usage) for an unknown option (with the nearest
/// real one), one without its value and one that is given twice but takes one value.
[[nodiscard]] ParsedLine parse_line(const CommandSpec& command, const std::vector<std::string>& arguments);

}  // namespace satin::app
