#include "app/settings.h"

#include <string>

#include "satin/error.h"
#include "satin/param.h"

namespace satin::app {
namespace {

constexpr long most_threads = 1024;

/// The library says "radius", the user wrote "--radius".
Error as_option(const Error& error, const std::string& name) {
  const std::string message = error.what();
  return {error.kind(), message.rfind(name, 0) == 0 ? "--" + message : message};
}

}  // namespace

Parameters parameters_of(const FilterRecord& filter, const ParsedLine& line) {
  Parameters parameters(filter);
  for (const auto& [name, text] : line.options) {
    if (filter.find_parameter(name) == nullptr) continue;
    try {
      parameters.set(name, text);
    } catch (const Error& error) {
      throw as_option(error, name);
    }
  }
  return parameters;
}

DeviceOptions device_options_of(const ParsedLine& line) {
  DeviceOptions options;
  if (const auto text = line.value("threads"))
    options.threads = static_cast<int>(parse_integer("--threads", *text, 1, most_threads));
  return options;
}

}  // namespace satin::app
