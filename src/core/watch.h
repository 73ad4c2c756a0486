#pragma once
// A run that tells a caller how far it is, and ends when the caller says so.

#include <cstdint>
#include <utility>

#include "satin/error.h"
#include "satin/plan.h"

namespace satin {

class Watch {
 public:
  Watch() = default;
  explicit Watch(Progress progress) : progress_(std::move(progress)) {}

  /// A run of so many steps.
  void begin(std::int64_t steps) noexcept {
    steps_ = steps;
    done_ = 0;
  }
  /// One of them is done. Throws Error(cancelled).
  void step() {
    ++done_;
    if (progress_ && !progress_(static_cast<double>(done_) / static_cast<double>(steps_)))
      throw Error(ErrorKind::cancelled, "The work was cancelled.");
  }

 private:
  Progress progress_;
  std::int64_t steps_ = 1;
  std::int64_t done_ = 0;
};

}  // namespace satin
