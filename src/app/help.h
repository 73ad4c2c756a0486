#pragma once
// Help pages.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/commands.h"

namespace satin::app {

/// The words with this between them.
[[nodiscard]] std::string joined(const std::vector<std::string>& words, const std::string& separator);

/// Throws Error(usage) if there are any.
void refuse_arguments(const CommandSpec& command, const ParsedLine& line);

/// "-o, --output PATH"
[[nodiscard]] std::string signature(const OptionSpec& option);

/// The help of an option with its unit, range, choices and default.
[[nodiscard]] std::string description(const OptionSpec& option);

/// Two command lines that show what the command is for; none of a command that needs none.
[[nodiscard]] std::vector<std::string> examples_of(std::string_view command);

[[nodiscard]] std::string overview(const std::vector<CommandSpec>& all, std::size_t columns);
[[nodiscard]] std::string help_page(const CommandSpec& command, std::size_t columns);

/// "Name   text" with the text wrapped beside the name.
[[nodiscard]] std::string table_row(const std::string& name, const std::string& text, std::size_t name_width,
                                    std::size_t columns);

}  // namespace satin::app
