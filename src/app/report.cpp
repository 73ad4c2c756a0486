#include "app/report.h"

#include "app/terminal.h"
#include "satin/batch_report.h"

namespace satin::app {
namespace {

void add_step(JsonWriter& json, const PipelineStep& step) {
  json.begin_object();
  add_filter(json, step.parameters);
  json.key("inputs").begin_object();
  for (const SideInput& side : step.side_inputs) json.key(side.name).string(side.path.string());
  json.end_object().end_object();
}

}  // namespace

void add_filter(JsonWriter& json, const Parameters& parameters) {
  json.key("filter").string(parameters.filter().name);
  json.key("parameters").begin_object();
  for (const ParameterRecord& parameter : parameters.filter().parameters) {
    const std::string text = parameters.get(parameter.name);
    if (!text.empty()) json.key(parameter.name).string(text);
  }
  json.end_object();
}

void add_device(JsonWriter& json, const DeviceInfo& device) {
  json.key("device").begin_object();
  json.key("id").string(device.id).key("name").string(device.name);
  json.end_object();
}

JsonReport::JsonReport(const Pipeline& pipeline, std::span<const Device> devices) {
  json_.begin_object();
  json_.key("steps").begin_array();
  for (const PipelineStep& step : pipeline) add_step(json_, step);
  json_.end_array();
  json_.key("pipeline").string(print_pipeline(pipeline));
  add_device(json_, devices.front().info());
  if (devices.size() > 1) {
    json_.key("other_devices").begin_array();
    for (const Device& device : devices.subspan(1)) json_.string(device.info().id);
    json_.end_array();
  }
  json_.key("files").begin_array();
}

std::string JsonReport::finish(const BatchResult& result) {
  json_.end_array();
  add_outcome(json_, result, exit_code(result));
  add_summary(json_, result);
  json_.end_object();
  return json_.text() + "\n";
}

std::string json_report(const Error& error) {
  JsonWriter json;
  json.begin_object();
  json.key("status").string("failed");
  json.key("exit_code").integer(exit_code(error.kind()));
  add_error(json, error);
  json.end_object();
  return json.text() + "\n";
}

std::string summary_of_failure(const BatchResult& result) {
  const std::string count =
      std::to_string(result.done + result.skipped) + " of " + std::to_string(result.total) + " files done";
  if (result.cancelled) return "Interrupted; " + count + ".";
  if (result.failed == 0 || result.total == 1) return "";
  if (result.not_started() != 0)
    return "Stopped early; " + count + ", " + std::to_string(result.failed) + " failed.";
  return std::to_string(result.failed) + " of " + std::to_string(result.total) + " files failed.";
}

}  // namespace satin::app
