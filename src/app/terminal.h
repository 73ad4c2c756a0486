#pragma once
// Standard output and standard error.

#include <cstddef>
#include <string>
#include <string_view>

namespace satin::app {

/// Writes all of it to standard output. Throws Error(environment) if the disk is full, otherwise
/// Error(input).
void print(std::string_view text);

/// "satin: message" on standard error; the prefix is coloured on a terminal unless NO_COLOR is set.
void print_error(std::string_view message);

/// A name on one line, with nothing that a terminal would obey.
[[nodiscard]] std::string shown(std::string_view name);

[[nodiscard]] bool output_is_terminal();
[[nodiscard]] bool error_is_terminal();

/// Columns to write help pages in.
[[nodiscard]] std::size_t output_columns();

}  // namespace satin::app
