#pragma once
// Standard output, standard error and the exit code.

#include <cstddef>
#include <string_view>

#include "satin/batch.h"
#include "satin/error.h"

namespace satin::app {

constexpr int exit_good = 0;

/// The one place that maps errors to exit codes.
[[nodiscard]] int exit_code(ErrorKind kind) noexcept;

/// One file: the code of its error. Several: 1 if any failed, 3 if the machine was the reason.
[[nodiscard]] int exit_code(const BatchResult& result) noexcept;

/// Writes all of it to standard output. Throws Error(environment) if the disk is full, otherwise
/// Error(input).
void print(std::string_view text);

/// "satin: message" on standard error, every line as printable(); the prefix is coloured on a terminal unless
/// NO_COLOR is set.
void print_error(std::string_view message);

[[nodiscard]] bool output_is_terminal();
[[nodiscard]] bool error_is_terminal();

/// Columns to write help pages in.
[[nodiscard]] std::size_t output_columns();

}  // namespace satin::app
