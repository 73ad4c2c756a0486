// satin list and satin devices.

#include <algorithm>

#include "app/command_line.h"
#include "app/help.h"
#include "app/report.h"
#include "satin/device.h"
#include "satin/json.h"

namespace satin::app {
namespace {

void write_device(JsonWriter& json, const DeviceInfo& device) {
  json.begin_object();
  json.key("id").string(device.id);
  json.key("name").string(device.name);
  json.key("memory").integer(static_cast<long long>(device.memory));
  json.key("usable").boolean(device.usable);
  json.key("reason").string(device.reason);
  json.key("simd").strings(device.simd);
  json.end_object();
}

std::string memory_text(std::size_t bytes) {
  return bytes == 0 ? "" : ", " + std::to_string(bytes >> 20U) + " MiB";
}

std::string filter_table() {
  std::size_t width = 0;
  for (const FilterRecord& filter : filters()) width = std::max(width, filter.name.size());
  std::string text;
  std::string category;
  for (const FilterRecord& filter : filters()) {
    if (filter.category != category) {
      category = filter.category;
      text += (text.empty() ? "" : "\n") + category + "\n";
    }
    text += table_row(filter.name, filter.help, width, output_columns());
  }
  return text;
}

/// The README's table.
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
    if (device.simd.empty()) continue;
    text += "     SIMD: ";
    for (std::size_t i = 0; i < device.simd.size(); ++i)
      text += (i == 0 ? "" : ", ") + device.simd[i] + (i == 0 ? " (in use)" : "");
    text += '\n';
  }
  return text;
}

std::string device_json() {
  JsonWriter json;
  json.begin_object().key("devices").array(devices(), [&](const auto& each) { write_device(json, each); });
  return json.end_object().text();
}

}  // namespace

int run_list(const CommandSpec& command, const ParsedLine& line) {
  refuse_arguments(command, line);
  if (line.flag("markdown"))
    print(filter_markdown());
  else
    print(line.flag("json") ? describe_filters() + "\n" : filter_table());
  return exit_good;
}

int run_devices(const CommandSpec& command, const ParsedLine& line) {
  refuse_arguments(command, line);
  print(line.flag("json") ? device_json() + "\n" : device_table());
  return exit_good;
}

}  // namespace satin::app
