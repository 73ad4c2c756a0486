#pragma once
// One line on the terminal that says how far a batch is.

#include <chrono>
#include <cstddef>
#include <string>

namespace satin::app {

class Progress {
 public:
  explicit Progress(bool enabled) : enabled_(enabled) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  /// Shows nothing in the first second.
  void show(std::size_t index, std::size_t total, const std::string& name);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool enabled_;
  Clock::time_point next_ = Clock::now() + std::chrono::seconds(1);
  std::size_t width_ = 0;
};

}  // namespace satin::app
