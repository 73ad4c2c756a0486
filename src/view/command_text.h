#pragma once
// Command lines for POSIX shells. Satin never runs them.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "view/settings.h"
#include "view/view.h"

namespace satin::view {

/// The word as a shell reads it back, byte for byte. Bytes that are no UTF-8 go through printf.
[[nodiscard]] std::string quoted_word(const std::string& word);

/// The words of a line without expansions, assignments and operators: quotes and backslashes are taken as
/// shells take them. Throws Error(usage) for what only a shell can do, and for a quote that is open.
[[nodiscard]] std::vector<std::string> shell_words(std::string_view line);

/// `satin FILTER INPUT -o OUTPUT --name value ...`, or `satin run` for several filters. `inputs` are words of
/// their own, options too.
[[nodiscard]] std::string command_line(const Pipeline& pipeline, const std::vector<std::string>& inputs,
                                       const std::string& output, const LineOptions& kept);

/// The name as an argument that is no option.
[[nodiscard]] std::string argument_of(const std::filesystem::path& name);

}  // namespace satin::view
