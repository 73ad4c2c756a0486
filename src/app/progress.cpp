#include "app/progress.h"

#include <iostream>

namespace satin::app {
namespace {

constexpr std::size_t longest_line = 78;

}  // namespace

void Progress::show(std::size_t index, std::size_t total, const std::string& name) {
  if (!enabled_ || Clock::now() < next_) return;
  next_ = Clock::now() + std::chrono::milliseconds(100);
  std::string line = std::to_string(index + 1) + " of " + std::to_string(total) + ": " + name;
  if (line.size() > longest_line) line.resize(longest_line);
  clear();
  width_ = line.size();
  std::cerr << '\r' << line << std::flush;
}

void Progress::clear() {
  if (width_ == 0) return;
  std::cerr << '\r' << std::string(width_, ' ') << '\r' << std::flush;
  width_ = 0;
}

}  // namespace satin::app
