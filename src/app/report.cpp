#include "app/report.h"

#include <cerrno>
#include <utility>

#include "app/terminal.h"

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
    case ErrorKind::cancelled:
      return "cancelled";
  }
  return "input";
}

void add_error(JsonWriter& json, const Error& error) {
  json.key("error").begin_object();
  json.key("kind").string(name_of_kind(error.kind()));
  json.key("message").string(error.what());
  json.end_object();
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// A name that is no UTF-8 as hexadecimal bytes: as text it would lose some.
void add_bytes(JsonWriter& json, const char* key, const std::filesystem::path& path) {
  if (is_utf8(path.native())) return;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char c : path.native()) {
    text += digits[static_cast<unsigned char>(c) / 16];
    text += digits[static_cast<unsigned char>(c) % 16];
  }
  json.key(key).string(text);
}

void add_photo(JsonWriter& json, const PhotoReport& photo) {
  const bool disparity = photo.kind == DepthKind::disparity;
  json.key("photo").begin_object();
  json.key("depth").begin_object();
  json.key("format").string(photo.format).key("place").string(photo.place);
  json.key("kind").string(disparity ? "disparity" : "depth");
  if (photo.metric) json.key("unit").string(disparity ? "1/m" : "m");
  json.key("width").integer(photo.depth.width).key("height").integer(photo.depth.height);
  json.key("lowest").real(photo.lowest).key("highest").real(photo.highest);
  if (!photo.depth_out.empty()) json.key("written").string(photo.depth_out.string());
  json.end_object();
  if (!photo.original.empty()) json.key("original").string(photo.original);
  json.key("focus").begin_object();
  json.key("source").string(photo.blur.source).key("disparity").real(photo.blur.disparity);
  if (photo.blur.place) json.key("place").string(print_point(*photo.blur.place));
  json.end_object().end_object();
}

void add_step(JsonWriter& json, const PipelineStep& step) {
  json.begin_object();
  add_filter(json, step.parameters);
  json.key("inputs").begin_object();
  for (const SideInput& side : step.side_inputs) json.key(side.name).string(side.path.string());
  json.end_object().end_object();
}

const char* status_of(const BatchResult& result) {
  if (result.cancelled) return "interrupted";
  return result.failed == 0 ? "done" : "failed";
}

const char* status_of(const FileResult& file) {
  switch (file.status) {
    case FileStatus::done:
      return "done";
    case FileStatus::failed:
      return "failed";
    case FileStatus::exists:
      return "exists";
    case FileStatus::unchanged:
      return "unchanged";
  }
  return "failed";
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

void add_file(JsonWriter& json, const FileResult& file) {
  json.begin_object();
  json.key("input").string(file.input.string());
  json.key("output").string(file.output.string());
  json.key("status").string(status_of(file));
  add_bytes(json, "input_bytes", file.input);
  add_bytes(json, "output_bytes", file.output);
  if (file.index != 0)
    json.key("index").integer(static_cast<long long>(file.index)).key("pipeline").string(file.pipeline);
  if (file.shape.width != 0) json.shape(file.shape);
  if (file.pages > 1) json.key("pages").integer(static_cast<long long>(file.pages));
  if (file.output_shape.width != 0) json.key("output_type").string(name_of(file.output_shape.type));
  json.key("seconds").real(file.time.count());
  if (!file.found.empty()) {
    json.key("found").begin_object();
    for (const FoundValue& found : file.found) json.key(found.parameter).real(found.value);
    json.end_object();
  }
  if (file.error) add_error(json, *file.error);
  if (file.photo) add_photo(json, *file.photo);
  if (!file.warnings.empty()) json.key("warnings").strings(file.warnings);
  json.end_object();
}

void add_unread(JsonWriter& json, const std::vector<std::filesystem::path>& files) {
  json.key("unread").begin_array();
  for (const std::filesystem::path& file : files) json.string(file.string());
  json.end_array();
}

void add_outcome(JsonWriter& json, const BatchResult& result) {
  json.key("status").string(status_of(result));
  json.key("exit_code").integer(exit_code(result));
}

void add_summary(JsonWriter& json, const BatchResult& result) {
  json.key("summary").begin_object();
  json.key("total").integer(static_cast<long long>(result.total));
  json.key("done").integer(static_cast<long long>(result.done));
  json.key("skipped").integer(static_cast<long long>(result.skipped));
  json.key("failed").integer(static_cast<long long>(result.failed));
  json.key("not_started").integer(static_cast<long long>(result.not_started()));
  add_unread(json, result.unread);
  json.key("seconds").real(result.time.count());
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
  add_outcome(json_, result);
  add_summary(json_, result);
  json_.end_object();
  return json_.text() + "\n";
}

JsonLines::JsonLines(const std::filesystem::path& path, bool overwrite, bool resume) : path_(path) {
  const char* mode = resume ? "ae" : overwrite ? "we" : "wxe";
  stream_.reset(std::fopen(path.c_str(), mode));
  if (stream_) return;
  const int code = errno;
  if (code == EEXIST)
    throw Error(ErrorKind::usage, "The report '" + path.string() + "' exists. --overwrite replaces it.");
  throw write_failure("The report '" + path_.string() + "'", code);
}

void JsonLines::add(const FileResult& file) {
  JsonWriter json;
  add_file(json, file);
  write(json.text());
}

void JsonLines::finish(const BatchResult& result) {
  JsonWriter json;
  json.begin_object();
  add_outcome(json, result);
  add_summary(json, result);
  json.end_object();
  write(json.text());
}

void JsonLines::write(const std::string& line) {
  const std::string text = line + "\n";
  const bool written = std::fwrite(text.data(), 1, text.size(), stream_.get()) == text.size() &&
                       std::fflush(stream_.get()) == 0;
  if (!written) throw write_failure("The report '" + path_.string() + "'", errno);
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
