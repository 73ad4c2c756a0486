#pragma once
// A run that tells a caller how far it is, and ends when the caller says so.

#include <chrono>
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
    if (listens()) told_ = Clock::now();
  }
  /// One of them is done. Throws Error(cancelled).
  void step() {
    ++done_;
    if (!tell()) throw_cancelled();
  }
  /// Steps ask this often, on the thread of the run: it tells the caller at most every 100 ms how far
  /// the run is. False if it is to end.
  [[nodiscard]] bool goes_on() { return Clock::now() - told_ < told_every || tell(); }
  [[noreturn]] static void throw_cancelled() { throw Error(ErrorKind::cancelled, "The work was cancelled."); }

  /// The watch of the run that this thread is in; null if nobody watches it.
  [[nodiscard]] static Watch*& of_this_thread() noexcept {
    static thread_local Watch* watch = nullptr;
    return watch;
  }
  [[nodiscard]] bool listens() const noexcept { return static_cast<bool>(progress_); }

  /// Tests set this to 0, to cancel runs anywhere.
  static inline std::chrono::milliseconds told_every{100};

 private:
  using Clock = std::chrono::steady_clock;

  bool tell() {
    if (!progress_) return true;
    const bool goes_on = progress_(static_cast<double>(done_) / static_cast<double>(steps_));
    told_ = Clock::now();
    return goes_on;
  }

  Progress progress_;
  Clock::time_point told_{};
  std::int64_t steps_ = 1;
  std::int64_t done_ = 0;
};

/// Makes a watch that of this thread's run, until the run ends. A run inside another one that has no listener
/// of its own leaves the other's in place.
class WatchedRun {
 public:
  explicit WatchedRun(Watch& watch) : before_(Watch::of_this_thread()) {
    if (watch.listens()) Watch::of_this_thread() = &watch;
  }
  ~WatchedRun() { Watch::of_this_thread() = before_; }
  WatchedRun(const WatchedRun&) = delete;
  WatchedRun& operator=(const WatchedRun&) = delete;

 private:
  Watch* before_;
};

}  // namespace satin
