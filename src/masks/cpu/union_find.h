#pragma once
// Disjoint sets of 0, 1 ... as trees of smaller and smaller numbers, so that a root is the least of its set
// (Rem's rule of linking by index; Tarjan and van Leeuwen 1984).

#include <cstdint>

#include "core/workspace.h"

namespace satin::cpu {

class DisjointSets {
 public:
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(parents_.size()); }
  [[nodiscard]] std::uint32_t parent(std::uint32_t i) const { return parents_[i]; }
  void resize(std::uint32_t count) {
    parents_.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) parents_[i] = i;
  }

  std::uint32_t add() {
    parents_.push_back(size());
    return parents_.back();
  }

  /// Halves the path that it goes.
  std::uint32_t root_of(std::uint32_t i) {
    while (parents_[i] != i) {
      parents_[i] = parents_[parents_[i]];
      i = parents_[i];
    }
    return i;
  }

  /// Returns the root of both.
  std::uint32_t join(std::uint32_t a, std::uint32_t b) {
    a = root_of(a);
    b = root_of(b);
    if (a > b) return parents_[a] = b;
    return parents_[b] = a;
  }

 private:
  WorkspaceVector<std::uint32_t> parents_;
};

}  // namespace satin::cpu
