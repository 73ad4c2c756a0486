#include "app/report.h"

#include "app/exit_code.h"

namespace satin::app {
namespace {

const char* name_of_kind(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::input:
      return "input";
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::environment:
      return "environment";
  }
  return "input";
}

void add_error(JsonWriter& json, const Error& error) {
  json.key("error").begin_object();
  json.key("kind").string(name_of_kind(error.kind()));
  json.key("message").string(error.what());
  json.end_object();
}

void add_file(JsonWriter& json, const FileResult& file) {
  json.begin_object();
  json.key("input").string(file.input.string());
  json.key("output").string(file.output.string());
  json.key("status").string(file.error ? "failed" : "done");
  if (file.shape.width != 0) add_shape(json, file.shape);
  if (file.output_shape.width != 0) json.key("output_type").string(name_of(file.output_shape.type));
  json.key("seconds").real(file.time.count());
  if (file.error) add_error(json, *file.error);
  if (!file.warnings.empty()) {
    json.key("warnings").begin_array();
    for (const std::string& warning : file.warnings) json.string(warning);
    json.end_array();
  }
  json.end_object();
}

void add_step(JsonWriter& json, const PipelineStep& step) {
  json.begin_object();
  add_filter(json, step.parameters);
  json.key("inputs").begin_object();
  for (const SideInput& side : step.side_inputs) json.key(side.name).string(side.path.string());
  json.end_object().end_object();
}

void add_summary(JsonWriter& json, const BatchResult& result) {
  json.key("summary").begin_object();
  json.key("total").integer(static_cast<long long>(result.total));
  json.key("done").integer(static_cast<long long>(result.files.size() - result.failed));
  json.key("failed").integer(static_cast<long long>(result.failed));
  json.key("not_started").integer(static_cast<long long>(result.total - result.files.size()));
  json.key("seconds").real(result.time.count());
  json.end_object();
}

const char* status_of(const BatchResult& result) {
  if (result.cancelled) return "interrupted";
  return result.failed == 0 ? "done" : "failed";
}

}  // namespace

void add_shape(JsonWriter& json, const Shape& shape) {
  json.key("width").integer(shape.width);
  json.key("height").integer(shape.height);
  json.key("channels").integer(shape.channels);
  json.key("type").string(name_of(shape.type));
}

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

std::string json_report(const Pipeline& pipeline, const DeviceInfo& device, const BatchResult& result) {
  JsonWriter json;
  json.begin_object();
  json.key("status").string(status_of(result));
  json.key("exit_code").integer(exit_code(result));
  json.key("steps").begin_array();
  for (const PipelineStep& step : pipeline) add_step(json, step);
  json.end_array();
  add_device(json, device);
  json.key("files").begin_array();
  for (const FileResult& file : result.files) add_file(json, file);
  json.end_array();
  add_summary(json, result);
  json.end_object();
  return json.text() + "\n";
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
  const std::size_t done = result.files.size() - result.failed;
  const std::string count = std::to_string(done) + " of " + std::to_string(result.total) + " files done";
  if (result.cancelled) return "Interrupted; " + count + ".";
  if (result.failed == 0 || result.total == 1) return "";
  if (result.files.size() < result.total)
    return "Stopped, since the others would fail as well; " + count + ".";
  return std::to_string(result.failed) + " of " + std::to_string(result.total) + " files failed.";
}

}  // namespace satin::app
