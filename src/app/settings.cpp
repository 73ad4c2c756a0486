#include "app/settings.h"

#include <cstdint>
#include <limits>
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

/// "500000", or with a binary multiple: "512K", "200M", "4G".
std::size_t parse_bytes(const std::string& name, std::string text) {
  constexpr double most = 1ULL << 52;
  const std::string multiples = "KMG";
  double unit = 1;
  if (!text.empty())
    if (const std::size_t at = multiples.find(text.back()); at != std::string::npos) {
      unit = static_cast<double>(std::size_t{1} << (10 * (at + 1)));
      text.pop_back();
    }
  return static_cast<std::size_t>(parse_real(name, text, 1, most / unit) * unit);
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

ReadOptions read_options_of(const ParsedLine& line) {
  ReadOptions options;
  constexpr long most = std::numeric_limits<long>::max();
  const auto set = [&](const char* name, std::uint64_t& limit) {
    if (const auto text = line.value(name))
      limit = static_cast<std::uint64_t>(parse_integer("--" + std::string(name), *text, 1, most));
  };
  set("max-pixels", options.limits.pixels);
  set("max-bytes", options.limits.bytes);
  options.allow_partial = line.flag("allow-partial");
  return options;
}

DeviceOptions device_options_of(const ParsedLine& line) {
  DeviceOptions options;
  if (const auto text = line.value("threads"))
    options.threads = static_cast<int>(parse_integer("--threads", *text, 1, most_threads));
  return options;
}

std::size_t memory_limit_of(const ParsedLine& line) {
  const auto text = line.value("memory-limit");
  return text ? parse_bytes("--memory-limit", *text) : 0;
}

}  // namespace satin::app
