#pragma once
// One line on the terminal that says how far a batch is.

#include <chrono>
#include <cstddef>
#include <string>

#include "satin/batch.h"

namespace satin::app {

/// "[=====>    ]  41 of 120, 3.5/s, 23 s left, 2 failed" after so many seconds of work.
[[nodiscard]] std::string progress_line(const BatchResult& so_far, double seconds);

class Progress {
 public:
  explicit Progress(bool enabled) : enabled_(enabled) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  /// Shows nothing in the first second.
  void show(const BatchResult& so_far);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool enabled_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_ + std::chrono::seconds(1);
  std::size_t width_ = 0;
};

}  // namespace satin::app
