// What the system and the control groups of this process leave (man 7 cgroups).

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include "satin/plan.h"

namespace satin {
namespace {

/// The number behind this word at the start of a line: "MemAvailable: 123 kB".
std::optional<std::uint64_t> number_in(const std::string& file, const std::string& word) {
  std::ifstream in(file);
  std::string found;
  std::uint64_t number = 0;
  for (std::string line; in >> found; std::getline(in, line))
    if (found == word && in >> number) return number;
  return std::nullopt;
}

/// None if it is "max", or there is no such file.
std::optional<std::uint64_t> number_of(const std::string& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  return in >> number ? std::optional(number) : std::nullopt;
}

struct GroupFiles {
  const char* limit;
  const char* usage;
  const char* reclaimable;  ///< a word of memory.stat: pages of files, which the kernel drops when asked
};

constexpr GroupFiles version_1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"};
constexpr GroupFiles version_2{"/memory.max", "/memory.current", "inactive_file"};

/// What the group in this folder leaves.
std::uint64_t left_by(const std::string& folder, const GroupFiles& files) {
  const std::optional<std::uint64_t> limit = number_of(folder + files.limit);
  const std::optional<std::uint64_t> usage = number_of(folder + files.usage);
  if (!limit || !usage) return UINT64_MAX;
  const std::uint64_t used =
      *usage - std::min(*usage, number_in(folder + "/memory.stat", files.reclaimable).value_or(0));
  return *limit - std::min(*limit, used);
}

/// What the group of this name and those around it leave. In a container the name may be one outside of it,
/// whose folders are not there, but the root is the container's own.
std::uint64_t left_by_groups(const std::string& root, std::string name, const GroupFiles& files) {
  std::uint64_t left = left_by(root, files);
  for (; name.size() > 1; name.resize(name.rfind('/'))) left = std::min(left, left_by(root + name, files));
  return left;
}

std::uint64_t left_by_groups() {
  std::uint64_t left = UINT64_MAX;
  std::ifstream groups("/proc/self/cgroup");  // lines "4:memory:/name" of version 1, "0::/name" of version 2
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string name = line.substr(second + 1);
    if (controllers == ",,") left = std::min(left, left_by_groups("/sys/fs/cgroup", name, version_2));
    if (controllers.find(",memory,") != std::string::npos)
      left = std::min(left, left_by_groups("/sys/fs/cgroup/memory", name, version_1));
  }
  return left;
}

}  // namespace

std::size_t free_memory() {
  constexpr std::uint64_t kilobyte = 1024;
  const std::optional<std::uint64_t> available = number_in("/proc/meminfo", "MemAvailable:");
  return std::min(available ? *available * kilobyte : UINT64_MAX, left_by_groups());
}

}  // namespace satin
