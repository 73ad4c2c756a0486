#pragma once
// Progress and cancellation of a run. A Watch calls the caller's listener, which may cancel; WatchedRun makes
// it known to the loops of this thread (Threads::for_rows).

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

  void begin(std::int64_t steps) noexcept {
    steps_ = steps;
    done_ = 0;
    if (listens()) told_ = Clock::now();
  }
  /// Ends a step. Throws Error(cancelled).
  void step() {
    ++done_;
    if (!tell()) throw_cancelled();
  }
  /// Returns false if the run is cancelled. Loops call this often, on the thread of the run; the listener is
  /// called at most every 100 ms.
  [[nodiscard]] bool goes_on() { return Clock::now() - told_ < told_every || tell(); }
  [[noreturn]] static void throw_cancelled() { throw Error(ErrorKind::cancelled, "The work was cancelled."); }

  /// Returns the watch of this thread's run; null without one.
  [[nodiscard]] static Watch*& of_this_thread() noexcept {
    static thread_local Watch* watch = nullptr;
    return watch;
  }
  [[nodiscard]] bool listens() const noexcept { return static_cast<bool>(progress_); }

  /// Interval between calls of the listener. Tests set it to 0.
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

/// Sets the watch of this thread's run during its lifetime. A nested run without a listener keeps the outer
/// watch.
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
