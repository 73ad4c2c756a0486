#pragma once
// Vectors that begin on a cache line, so that whole cells and SIMD vectors never lie across two lines.

#include <cstddef>
#include <new>
#include <vector>

#include "core/workspace.h"

namespace satin::cpu {

inline constexpr std::size_t cache_line_bytes = 64;

template <class T>
struct CacheLineAllocator {
  using value_type = T;

  CacheLineAllocator() = default;
  template <class Other>
  explicit CacheLineAllocator(const CacheLineAllocator<Other>& /*other*/) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) {
    WorkspaceBudget::take(count * sizeof(T));
    return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{cache_line_bytes}));
  }
  void deallocate(T* values, std::size_t count) noexcept {
    WorkspaceBudget::give_back(count * sizeof(T));
    ::operator delete (values, std::align_val_t{cache_line_bytes});
  }
  bool operator==(const CacheLineAllocator& /*other*/) const = default;
};

template <class T>
using CacheLines = std::vector<T, CacheLineAllocator<T>>;

/// The next count that fills whole cache lines.
template <class T>
constexpr std::size_t whole_cache_lines(std::size_t count) {
  constexpr std::size_t values = cache_line_bytes / sizeof(T);
  return (count + values - 1) / values * values;
}

}  // namespace satin::cpu
