#include "app/progress.h"

#include <cmath>
#include <iostream>

#include "app/analysis.h"

namespace satin::app {
namespace {

constexpr std::size_t bar_width = 24;

std::string bar(std::size_t finished, std::size_t total) {
  const std::size_t filled = total == 0 ? bar_width : bar_width * finished / total;
  std::string text(filled, '=');
  if (filled < bar_width) text += '>';
  text.resize(bar_width, ' ');
  return "[" + text + "]";
}

std::string duration(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(seconds));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

}  // namespace

std::string progress_line(const BatchResult& so_far, double seconds) {
  const std::size_t finished = so_far.total - so_far.not_started();
  const std::size_t worked = finished - so_far.skipped;  // files that are left out say nothing about the rate
  std::string line =
      bar(finished, so_far.total) + " " + std::to_string(finished) + " of " + std::to_string(so_far.total);
  if (worked != 0 && seconds > 0) {
    const double rate = static_cast<double>(worked) / seconds;
    line += ", " + short_number(rate, rate < 10 ? 1 : 0) + "/s, " +
            duration(static_cast<double>(so_far.not_started()) / rate) + " left";
  }
  if (so_far.skipped != 0) line += ", " + std::to_string(so_far.skipped) + " left out";
  if (so_far.failed != 0) line += ", " + std::to_string(so_far.failed) + " failed";
  return line;
}

void Progress::show(const BatchResult& so_far) {
  const Clock::time_point now = Clock::now();
  if (!enabled_ || now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  const std::string line = progress_line(so_far, std::chrono::duration<double>(now - start_).count());
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
