#pragma once
// What a run says about itself.

#include <span>
#include <string>

#include "satin/batch.h"
#include "satin/batch_report.h"
#include "satin/device.h"
#include "satin/error.h"
#include "satin/json.h"
#include "satin/pipeline.h"

namespace satin::app {

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
