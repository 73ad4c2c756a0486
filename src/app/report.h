#pragma once
// Output of a run: text on standard output and standard error, JSON reports, and exit codes.

#include <cstddef>
#include <string>
#include <string_view>

#include "satin/batch.h"
#include "satin/batch_report.h"
#include "satin/device.h"
#include "satin/error.h"
#include "satin/json.h"
#include "satin/pipeline.h"

namespace satin::app {

constexpr int exit_good = 0;

/// Maps a kind of error to its exit code.
[[nodiscard]] int exit_code(ErrorKind kind) noexcept;

/// Returns the exit code of a batch: for one file, that of its error; for several, 1 if any failed, or 3 if
/// one of the errors was of the environment.
[[nodiscard]] int exit_code(const BatchResult& result) noexcept;

/// Writes all of `text` to standard output. A closed pipe is no error. Throws Error(environment) if the disk
/// is full, Error(input) for other failures.
void print(std::string_view text);

/// Whether standard output is a pipe that nobody reads any more.
[[nodiscard]] bool output_is_closed();

/// Writes "satin: message" to standard error, with every line as printable(). The prefix is coloured on a
/// terminal unless NO_COLOR is set.
void print_error(std::string_view message);

[[nodiscard]] bool output_is_terminal();
[[nodiscard]] bool error_is_terminal();

/// Returns the width of help pages in columns.
[[nodiscard]] std::size_t output_columns();

// Write keys into the open object.
void add_filter(JsonWriter& json, const Parameters& parameters);
void add_device(JsonWriter& json, const DeviceInfo& device);

/// Returns the JSON object that --json prints if the run did not start.
[[nodiscard]] std::string json_report(const Error& error);

/// Returns the last line of a run that did not process all files; empty if it did.
[[nodiscard]] std::string summary_of_failure(const BatchResult& result);

}  // namespace satin::app
