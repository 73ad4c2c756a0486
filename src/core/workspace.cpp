#include "core/workspace.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "core/backend.h"
#include "core/host_memory.h"
#include "satin/plan.h"

namespace satin {
namespace {

thread_local WorkspaceBudget* current = nullptr;

/// Below this nobody asks what is free, which takes as long as a small filter.
constexpr std::size_t always_free = std::size_t{64} << 20;

constexpr std::size_t line = 64;
constexpr std::size_t most_bytes = SIZE_MAX - line;
static_assert(line >= alignof(std::max_align_t) + sizeof(void*));  // room for the address before the line

/// So few zeros are written sooner than calloc() finds memory, for which it does not look among the pieces
/// that this thread gave back last.
constexpr std::size_t cleared_here = 2048;

/// The first line after the start of this memory, whose address is kept before it.
void* line_in(void* memory) noexcept {
  if (memory == nullptr) return nullptr;
  void* const lines =
      static_cast<std::byte*>(memory) + (line - reinterpret_cast<std::uintptr_t>(memory) % line);
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

// Only calloc() has zeros that cost nothing before they are used.
// NOLINTBEGIN(cppcoreguidelines-no-malloc,cppcoreguidelines-owning-memory)
void* new_lines(std::size_t bytes) noexcept {
  return bytes > most_bytes ? nullptr : line_in(std::malloc(bytes + line));
}

void* zeroed_lines(std::size_t bytes) noexcept {
  if (bytes > cleared_here) return bytes > most_bytes ? nullptr : line_in(std::calloc(bytes + line, 1));
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

}  // namespace satin
