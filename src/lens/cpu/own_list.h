#pragma once
// Samples of one thread on their way into the list of all: they are added a few hundred at once, as threads
// that count one number in turns wait for each other.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/workspace.h"
#include "lens/maths/lens_planes.h"

namespace satin::cpu {

class OwnList {
 public:
  /// As many samples as are added between two flushes.
  explicit OwnList(std::size_t most) : samples_(most) {}

  [[nodiscard]] LensList list() {
    return {samples_.data(), &none_, &attempted_, static_cast<std::uint32_t>(samples_.size())};
  }
  void flush(const LensList& to) {
    if (attempted_ == 0) return;
    const std::uint64_t first = std::uint64_t{*to.count} + add_shared(to.attempted, attempted_);
    if (first < to.capacity)
      std::copy_n(samples_.data(), std::min<std::uint64_t>(attempted_, to.capacity - first),
                  to.samples + first);
    attempted_ = 0;
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return samples_.size() * sizeof(LensSample); }

 private:
  WorkspaceVector<LensSample> samples_;
  std::uint32_t none_ = 0;
  std::uint32_t attempted_ = 0;
};

}  // namespace satin::cpu
