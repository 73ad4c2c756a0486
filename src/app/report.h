#pragma once
// What a run says about itself: on standard output and standard error, as JSON, and by the exit code.

#include <cstddef>
#include <span>
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

// Keys of the object that is being written: what was filtered, how, and where.
void add_filter(JsonWriter& json, const Parameters& parameters);
void add_device(JsonWriter& json, const DeviceInfo& device);

/// The object that --json prints after a run.
class JsonReport {
 public:
  JsonReport(const Pipeline& pipeline, std::span<const Device> devices);
  void add(const FileResult& file) { add_file(json_, file); }
  [[nodiscard]] std::string finish(const BatchResult& result);

 private:
  JsonWriter json_;
};

/// The object that --json prints if no run came about.
[[nodiscard]] std::string json_report(const Error& error);

/// The last line of a run that did not do everything; empty for one that did.
[[nodiscard]] std::string summary_of_failure(const BatchResult& result);

}  // namespace satin::app
