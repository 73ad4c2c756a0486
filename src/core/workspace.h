#pragma once
// The memory in which filters work, which is counted before it is allocated, so that a plan never exceeds its
// limit; host memory by the caller's allocator; and copies between views in host memory.

#include <cstddef>
#include <new>
#include <type_traits>
#include <vector>

#include "satin/image.h"

namespace satin {

struct Backend;

/// Bounds the workspace that its thread allocates during its lifetime: by the backend's memory limit minus
/// the bytes `held` already, or without a limit on the CPU by the free memory. Budgets nest: memory counts in
/// each.
class WorkspaceBudget {
 public:
  explicit WorkspaceBudget(const Backend& backend, std::size_t held = 0) noexcept;
  ~WorkspaceBudget();
  WorkspaceBudget(const WorkspaceBudget&) = delete;
  WorkspaceBudget& operator=(const WorkspaceBudget&) = delete;

  /// Called by the owner when all counted memory has been freed.
  void clear() noexcept { reduce(taken_); }

  /// Called by allocators before they allocate and after they free. take() throws NoMemory above a bound.
  static void take(std::size_t bytes);
  static void give_back(std::size_t bytes) noexcept;

 private:
  void check(std::size_t bytes);
  void reduce(std::size_t bytes) noexcept;

  WorkspaceBudget* around_;
  std::size_t bound_;
  std::size_t held_;
  std::size_t taken_ = 0;
  bool limited_;      ///< whether the caller set a limit
  bool knows_bound_;  ///< false until free memory has been asked for, which large workspaces do
};

/// Allocates memory aligned to a cache line. Null if there is none.
[[nodiscard]] void* new_lines(std::size_t bytes) noexcept;
/// Allocates zeros aligned to a cache line. (Large blocks of calloc() begin 16 bytes after a line's start, so
/// that every vector of 64 bytes would straddle two lines.)
[[nodiscard]] void* zeroed_lines(std::size_t bytes) noexcept;
void free_lines(void* lines) noexcept;

/// Gives a vector new elements that are zero without being written, so that memory becomes resident only when
/// it is used: a plan that turns out to be too large has cost nothing.
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

template <class T>
using WorkspaceVector = std::vector<T, WorkspaceAllocator<T>>;

/// Allocates by the caller's allocator, which also frees the memory; an empty buffer if it has none. Throws
/// Error(usage) for memory that is not aligned and for half an allocator.
[[nodiscard]] Buffer allocated(const Allocator& allocator, std::size_t bytes);

/// Throws Error(usage) if the allocator has only one of its two functions.
void require_whole(const Allocator& allocator);

/// Copies pixels between two views of host memory of one shape and any strides.
void copy_pixels(const ImageView& from, const MutableImageView& to);

}  // namespace satin
