// Workspace: budgets, memory aligned to cache lines, and the memory that the system and the control groups of
// this process leave (man 7 cgroups).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "core/backend.h"
#include "core/kept_blocks.h"
#include "core/workspace.h"
#include "satin/plan.h"

namespace satin {
namespace {

thread_local WorkspaceBudget* current = nullptr;

/// Bytes up to which free_memory(), which takes as long as a small filter, is not asked.
constexpr std::size_t always_free = std::size_t{64} << 20;

constexpr std::size_t cache_line_bytes = 64;
constexpr std::size_t most_bytes = SIZE_MAX - cache_line_bytes;
static_assert(cache_line_bytes >=
              alignof(std::max_align_t) + sizeof(void*));  // room for the pointer before the line

/// Bytes up to which memory is zeroed here. calloc() is slower for them, since it does not use the thread's
/// cache of freed blocks.
constexpr std::size_t cleared_here = 2048;

/// Returns the first cache line after the start of this memory, and stores the start before it.
void* line_in(void* memory) noexcept {
  if (memory == nullptr) return nullptr;
  void* const lines = static_cast<std::byte*>(memory) +
                      (cache_line_bytes - reinterpret_cast<std::uintptr_t>(memory) % cache_line_bytes);
  std::memcpy(static_cast<std::byte*>(lines) - sizeof memory, &memory, sizeof memory);
  return lines;
}

}  // namespace

WorkspaceBudget::WorkspaceBudget(const Backend& backend, std::size_t held) noexcept
    : around_(std::exchange(current, this)),
      bound_(backend.memory_limit),
      held_(held),
      limited_(bound_ != 0),
      knows_bound_(limited_ || !backend.host_memory) {
  if (!limited_) bound_ = backend.host_memory ? always_free : SIZE_MAX;
}

WorkspaceBudget::~WorkspaceBudget() { current = around_; }

void WorkspaceBudget::take(std::size_t bytes) {
  for (WorkspaceBudget* budget = current; budget != nullptr; budget = budget->around_) budget->check(bytes);
  for (WorkspaceBudget* budget = current; budget != nullptr; budget = budget->around_)
    budget->taken_ += bytes;
}

void WorkspaceBudget::give_back(std::size_t bytes) noexcept {
  if (current != nullptr) current->reduce(bytes);
}

// calloc(), since its zeros cost nothing before they are used.
// NOLINTBEGIN(cppcoreguidelines-no-malloc,cppcoreguidelines-owning-memory)
void* new_lines(std::size_t bytes) noexcept {
  return bytes > most_bytes ? nullptr : line_in(std::malloc(bytes + cache_line_bytes));
}

void* zeroed_lines(std::size_t bytes) noexcept {
  if (bytes > cleared_here)
    return bytes > most_bytes ? nullptr : line_in(std::calloc(bytes + cache_line_bytes, 1));
  void* const lines = new_lines(bytes);
  return lines == nullptr ? nullptr : std::memset(lines, 0, bytes);
}

void free_lines(void* lines) noexcept {
  if (lines == nullptr) return;
  void* memory = nullptr;
  std::memcpy(&memory, static_cast<std::byte*>(lines) - sizeof memory, sizeof memory);
  std::free(memory);
}
// NOLINTEND(cppcoreguidelines-no-malloc,cppcoreguidelines-owning-memory)

void WorkspaceBudget::reduce(std::size_t bytes) noexcept {
  for (WorkspaceBudget* budget = this; budget != nullptr; budget = budget->around_)
    budget->taken_ -= std::min(bytes, budget->taken_);
}

void WorkspaceBudget::check(std::size_t bytes) {
  const std::size_t wanted = held_ + taken_ + bytes;
  if (wanted <= bound_) return;
  if (!std::exchange(knows_bound_, true)) {
    bound_ = std::max(held_ + always_free, free_memory());
    return check(bytes);
  }
  throw NoMemory("The filter takes " + std::to_string(wanted) +
                 " bytes or more beside the picture, above the " +
                 (limited_ ? "memory limit of " + std::to_string(bound_) + " bytes: raise it."
                           : std::to_string(bound_) + " bytes that are free."));
}

namespace {

/// Returns the number after this word at the start of a line: "MemAvailable: 123 kB".
std::optional<std::uint64_t> number_in(const std::string& file, const std::string& word) {
  std::ifstream in(file);
  std::string found;
  std::uint64_t number = 0;
  for (std::string line; in >> found; std::getline(in, line))
    if (found == word && in >> number) return number;
  return std::nullopt;
}

/// Returns the number in a file; none if it says "max" or does not exist.
std::optional<std::uint64_t> number_of(const std::string& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  return in >> number ? std::optional(number) : std::nullopt;
}

struct GroupFiles {
  const char* limit;
  const char* usage;
  const char* reclaimable;  ///< word of memory.stat: pages of files, which the kernel can drop
};

constexpr GroupFiles version_1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"};
constexpr GroupFiles version_2{"/memory.max", "/memory.current", "inactive_file"};

/// Returns the bytes that the group in this folder may still use.
std::uint64_t left_by(const std::string& folder, const GroupFiles& files) {
  const std::optional<std::uint64_t> limit = number_of(folder + files.limit);
  const std::optional<std::uint64_t> usage = number_of(folder + files.usage);
  if (!limit || !usage) return UINT64_MAX;
  const std::uint64_t used =
      *usage - std::min(*usage, number_in(folder + "/memory.stat", files.reclaimable).value_or(0));
  return *limit - std::min(*limit, used);
}

/// Returns the bytes that a group and its ancestors may still use. In a container the name may belong to the
/// host, so that its folders do not exist; the root is the container's own.
std::uint64_t left_by_groups(const std::string& root, std::string name, const GroupFiles& files) {
  std::uint64_t left = left_by(root, files);
  for (; name.size() > 1; name.resize(name.rfind('/'))) left = std::min(left, left_by(root + name, files));
  return left;
}

std::uint64_t left_by_groups() {
  std::uint64_t left = UINT64_MAX;
  std::ifstream groups("/proc/self/cgroup");  // version 1: "4:memory:/name"; version 2: "0::/name"
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
  const std::uint64_t kept = KeptBlocks::of_process().held();
  constexpr std::uint64_t kilobyte = 1024;
  const std::optional<std::uint64_t> available = number_in("/proc/meminfo", "MemAvailable:");
  // The system counts what it may take back as available. The groups do not.
  const std::uint64_t left = left_by_groups();
  return std::min(available ? *available * kilobyte : UINT64_MAX,
                  left < UINT64_MAX - kept ? left + kept : UINT64_MAX);
}

}  // namespace satin
