#include "app/list_command.h"

#include <algorithm>

#include "app/help.h"
#include "app/json.h"
#include "satin/device.h"

namespace satin::app {
namespace {

const char* name_of_kind(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::real:
      return "real";
    case ParameterKind::integer:
      return "integer";
    case ParameterKind::flag:
      return "flag";
    case ParameterKind::choice:
      return "choice";
    case ParameterKind::radius:
      return "radius";
    case ParameterKind::boxes:
      return "boxes";
    case ParameterKind::colour:
      return "colour";
    case ParameterKind::point:
      return "point";
  }
  return "?";
}

void add_strings(JsonWriter& json, const std::string& key, const std::vector<std::string>& texts) {
  json.key(key).begin_array();
  for (const std::string& text : texts) json.string(text);
  json.end_array();
}

void add_parameter(JsonWriter& json, const ParameterRecord& parameter) {
  json.begin_object();
  json.key("name").string(parameter.name);
  json.key("kind").string(name_of_kind(parameter.kind));
  json.key("help").string(parameter.help);
  json.key("unit").string(parameter.unit);
  json.key("default").string(parameter.default_text);
  json.key("minimum").real(parameter.minimum);
  json.key("maximum").real(parameter.maximum);
  add_strings(json, "choices", parameter.choices);
  json.end_object();
}

void add_input(JsonWriter& json, const InputRecord& input) {
  json.begin_object();
  json.key("name").string(input.name);
  json.key("help").string(input.help);
  json.key("required").boolean(input.required);
  json.end_object();
}

void add_filter(JsonWriter& json, const FilterRecord& filter) {
  json.begin_object();
  json.key("name").string(filter.name);
  json.key("category").string(filter.category);
  json.key("help").string(filter.help);
  json.key("paper").string(filter.paper);
  json.key("output").string(filter.output == OutputKind::table ? "table" : "image");
  json.key("parameters").begin_array();
  for (const ParameterRecord& parameter : filter.parameters) add_parameter(json, parameter);
  json.end_array();
  json.key("inputs").begin_array();
  for (const InputRecord& input : filter.inputs) add_input(json, input);
  json.end_array().end_object();
}

void add_device(JsonWriter& json, const DeviceInfo& device) {
  json.begin_object();
  json.key("id").string(device.id);
  json.key("name").string(device.name);
  json.key("memory").integer(static_cast<long long>(device.memory));
  json.key("usable").boolean(device.usable);
  json.key("reason").string(device.reason);
  json.end_object();
}

std::string memory_text(std::size_t bytes) {
  return bytes == 0 ? "" : ", " + std::to_string(bytes >> 20U) + " MiB";
}

}  // namespace

std::string filter_table(const std::vector<CommandSpec>& all, std::size_t columns) {
  std::size_t width = 0;
  for (const CommandSpec& command : all)
    if (command.filter != nullptr) width = std::max(width, command.name.size());
  std::string text;
  std::string category;
  for (const CommandSpec& command : all) {
    if (command.filter == nullptr) continue;
    if (command.filter->category != category) {
      category = command.filter->category;
      text += (text.empty() ? "" : "\n") + category + "\n";
    }
    text += table_row(command.name, command.help, width, columns);
  }
  return text;
}

std::string filter_json(const std::vector<CommandSpec>& all) {
  JsonWriter json;
  json.begin_object().key("filters").begin_array();
  for (const CommandSpec& command : all)
    if (command.filter != nullptr) add_filter(json, *command.filter);
  json.end_array().end_object();
  return json.text() + "\n";
}

std::string filter_markdown() {
  std::string text = "| filter | what it does | options | after |\n|---|---|---|---|\n";
  for (const FilterRecord& filter : filters()) {
    std::string options;
    for (const ParameterRecord& parameter : filter.parameters) options += "`--" + parameter.name + "` ";
    for (const InputRecord& input : filter.inputs) options += "`--" + input.name + "` ";
    if (!options.empty()) options.pop_back();
    text += "| **" + filter.name + "** | " + filter.help + " | " + options + " | " + filter.paper + " |\n";
  }
  return text;
}

std::string device_table() {
  std::string text;
  for (const DeviceInfo& device : devices()) {
    text += device.id + "  ";
    text += device.usable ? device.name + memory_text(device.memory) : "not usable: " + device.reason;
    text += '\n';
  }
  return text;
}

std::string device_json() {
  JsonWriter json;
  json.begin_object().key("devices").begin_array();
  for (const DeviceInfo& device : devices()) add_device(json, device);
  json.end_array().end_object();
  return json.text() + "\n";
}

}  // namespace satin::app
