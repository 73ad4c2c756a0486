#pragma once
// Memory that filters work in, counted before it is taken, so that a plan never takes more than it may.

#include <cstddef>
#include <new>
#include <type_traits>
#include <vector>

namespace satin {

struct Backend;

/// Bounds the workspace that its thread takes while it lives: by the backend's memory limit less what is
/// `held`, and without a limit on the CPU by what is free. Budgets nest: what is taken counts in each.
class WorkspaceBudget {
 public:
  explicit WorkspaceBudget(const Backend& backend, std::size_t held = 0) noexcept;
  ~WorkspaceBudget();
  WorkspaceBudget(const WorkspaceBudget&) = delete;
  WorkspaceBudget& operator=(const WorkspaceBudget&) = delete;

  /// The owner calls this when everything that was taken has been freed.
  void clear() noexcept { reduce(taken_); }

  /// Allocators call this before they take memory, and when they give it back. Throws NoMemory above a bound.
  static void take(std::size_t bytes);
  static void give_back(std::size_t bytes) noexcept;

 private:
  void check(std::size_t bytes);
  void reduce(std::size_t bytes) noexcept;

  WorkspaceBudget* around_;
  std::size_t bound_;
  std::size_t held_;
  std::size_t taken_ = 0;
  bool limited_;      ///< by the caller
  bool knows_bound_;  ///< what is free is asked for only when much is taken
};

/// Zeros that start with a line of the cache: calloc() has what is large begin 16 bytes behind the start of a
/// line, so that each vector of 64 bytes would lie in two lines. Null if there is no memory.
[[nodiscard]] void* zeroed_lines(std::size_t bytes) noexcept;
void free_lines(void* lines) noexcept;

/// New elements are zero, as the system gives them, so that memory is resident only once it is used: a plan
/// that turns out to be too large has cost nothing. Elements that a vector had before keep their values.
template <class T>
struct WorkspaceAllocator {
  static_assert(alignof(T) <= alignof(std::max_align_t));
  using value_type = T;

  WorkspaceAllocator() = default;
  template <class Other>
  explicit WorkspaceAllocator(const WorkspaceAllocator<Other>& /*other*/) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) {
    WorkspaceBudget::take(count * sizeof(T));
    if (void* memory = zeroed_lines(count * sizeof(T))) return static_cast<T*>(memory);
    throw std::bad_alloc();
  }
  void deallocate(T* values, std::size_t count) noexcept {
    WorkspaceBudget::give_back(count * sizeof(T));
    free_lines(values);
  }
  template <class Element>
  void construct(Element* element) {
    if constexpr (!std::is_trivially_default_constructible_v<Element>) new (element) Element();
  }
  bool operator==(const WorkspaceAllocator& /*other*/) const = default;
};

/// What an operation works in, where that is no Buffer of its backend.
template <class T>
using WorkspaceVector = std::vector<T, WorkspaceAllocator<T>>;

}  // namespace satin
