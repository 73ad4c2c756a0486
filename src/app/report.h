#pragma once
// What a run says about itself.

#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "satin/batch.h"
#include "satin/device.h"
#include "satin/error.h"
#include "satin/json.h"
#include "satin/pipeline.h"

namespace satin::app {

// Keys of the object that is being written: what was filtered, how, and where.
void add_filter(JsonWriter& json, const Parameters& parameters);
void add_device(JsonWriter& json, const DeviceInfo& device);

void add_file(JsonWriter& json, const FileResult& file);        ///< a whole object
void add_outcome(JsonWriter& json, const BatchResult& result);  ///< status and exit code
void add_summary(JsonWriter& json, const BatchResult& result);
void add_unread(JsonWriter& json, const std::vector<std::filesystem::path>& files);

/// The object that --json prints after a run.
class JsonReport {
 public:
  JsonReport(const Pipeline& pipeline, std::span<const Device> devices);
  void add(const FileResult& file) { add_file(json_, file); }
  [[nodiscard]] std::string finish(const BatchResult& result);

 private:
  JsonWriter json_;
};

/// --report: what became of every file, a line of JSON each, written while the batch runs.
class JsonLines {
 public:
  /// Throws Error(usage) if the file exists and is not to be replaced, Error(input) if it cannot be written.
  /// With `resume` lines are added to those of earlier runs.
  JsonLines(const std::filesystem::path& path, bool overwrite, bool resume);

  /// Both functions throw Error(environment) if the disk is full, otherwise Error(input).
  void add(const FileResult& file);
  void finish(const BatchResult& result);

 private:
  struct Close {
    void operator()(std::FILE* stream) const noexcept { std::fclose(stream); }
  };

  void write(const std::string& line);

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> stream_;
};

/// The object that --json prints if no run came about.
[[nodiscard]] std::string json_report(const Error& error);

/// The last line of a run that did not do everything; empty for one that did.
[[nodiscard]] std::string summary_of_failure(const BatchResult& result);

}  // namespace satin::app
