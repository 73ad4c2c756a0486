#pragma once
// Describes a benchmark run: its date, the commit of the program and the machine.

#include <sched.h>

#include <array>
#include <cstddef>
#include <ctime>
#include <fstream>
#include <string>

#include "satin/device.h"
#include "satin/json.h"

namespace satin::app {

/// Returns the processor's model as Linux names it; empty where it does not.
inline std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (const std::size_t colon = line.find(": "); line.starts_with("model name") && colon != line.npos)
      return line.substr(colon + 2);
  return {};
}

/// Returns the number of cores that this process may use.
inline int cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/// Writes the members "date" (UTC), "commit" (null in builds that do not know theirs) and "machine".
inline void add_run(JsonWriter& json, const Device& device) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  std::array<char, 32> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  json.key("date").string(date.data());
#ifdef SATIN_COMMIT
  json.key("commit").string(SATIN_COMMIT);
#else
  json.key("commit").null();
#endif
  json.key("machine").begin_object();
  json.key("cpu").string(cpu_model()).key("cores").integer(cores());
  json.key("simd").string(Device::open("cpu", {1}).info().simd.front());
  json.key("gpu");
  device.is_cuda() ? json.string(device.info().name) : json.null();
  json.end_object();
}

}  // namespace satin::app
