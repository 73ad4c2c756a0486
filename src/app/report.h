#pragma once
// What a run says about itself.

#include <string>

#include "app/json.h"
#include "satin/batch.h"
#include "satin/device.h"
#include "satin/error.h"
#include "satin/pipeline.h"

namespace satin::app {

// Keys of the object that is being written: what was filtered, how, and where.
void add_shape(JsonWriter& json, const Shape& shape);
void add_filter(JsonWriter& json, const Parameters& parameters);
void add_device(JsonWriter& json, const DeviceInfo& device);

/// The object that --json prints after a run.
[[nodiscard]] std::string json_report(const Pipeline& pipeline, const DeviceInfo& device,
                                      const BatchResult& result);

/// The object that --json prints if no run came about.
[[nodiscard]] std::string json_report(const Error& error);

/// The last line of a run that did not do everything; empty for one that did.
[[nodiscard]] std::string summary_of_failure(const BatchResult& result);

}  // namespace satin::app
