#pragma once
// Signals. SIGINT, SIGTERM and SIGHUP end the process without leaving temporary files.
//
// The work counts its stages by their patience: how many signals it takes to end the process at once, without
// waiting for the stage. A signal that arrives earlier only sets interrupted(), which the work polls between
// stages and inside filters.

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <system_error>

namespace satin::app {

/// Number of signals that end the process without waiting for the stage to end.
enum class Patience : int {
  none = 1,          ///< no temporary file exists, and the stage may wait forever, as on a pipe
  short_one = 2,     ///< no temporary file exists
  endless = 1 << 30  ///< a temporary file exists, which must be renamed or removed
};

namespace signals {

inline std::atomic<int> count{0};
inline std::atomic<int> last{SIGINT};
inline std::atomic<int> endless_stages{0};  ///< stages in progress with Patience::endless
inline std::atomic<int> short_stages{0};    ///< stages in progress with Patience::short_one
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may access only lock-free atomics");

inline std::atomic<int>* stages_of(Patience patience) {
  if (patience == Patience::endless) return &endless_stages;
  return patience == Patience::short_one ? &short_stages : nullptr;
}

/// The largest patience of all stages in progress.
inline Patience present_patience() {
  if (endless_stages > 0) return Patience::endless;
  return short_stages > 0 ? Patience::short_one : Patience::none;
}

}  // namespace signals

/// Returns the exit code of an interrupted command as shells count it: 128 and the number of the last signal,
/// or of SIGINT if there was none.
[[nodiscard]] inline int exit_interrupted() noexcept { return 128 + signals::last; }

/// Whether a signal arrived that did not end the process.
[[nodiscard]] inline bool interrupted() noexcept { return signals::count > 0; }

/// Ends the process if enough signals arrived for the stages in progress.
inline void end_if_due() {
  if (signals::count >= static_cast<int>(signals::present_patience())) ::_exit(exit_interrupted());
}

/// Catches the signals (SIGHUP not under nohup), and ignores SIGPIPE and SIGXFSZ, so that a closed pipe and a
/// file above the shell's limit are ordinary errors.
inline void catch_signals() {
  struct sigaction action {};
  action.sa_handler = [](int number) {
    signals::last = number;
    ++signals::count;
    end_if_due();
  };
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  if (::signal(SIGHUP, SIG_IGN) != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
}

/// Begins a stage, on any thread.
inline void enter_stage(Patience patience) noexcept {
  if (std::atomic<int>* stages = signals::stages_of(patience)) ++*stages;
  if (interrupted()) end_if_due();
}

/// Ends a stage, on any thread.
inline void leave_stage(Patience patience) noexcept {
  if (std::atomic<int>* stages = signals::stages_of(patience)) --*stages;
}

/// Whether reading or writing may block: standard streams, pipes and devices.
[[nodiscard]] inline bool may_wait(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  return path == "-" || (exists(status) && !is_regular_file(status));
}

/// Returns the patience for writing to `path`: a regular file is written beside its target and then renamed.
[[nodiscard]] inline Patience patience_to_write(const std::filesystem::path& path) {
  return may_wait(path) ? Patience::none : Patience::endless;
}

/// A stage that lasts as long as the object. Signals that arrive meanwhile may end the process afterwards.
class PatientWork {
 public:
  explicit PatientWork(Patience patience) noexcept : patience_(patience) { enter_stage(patience_); }
  ~PatientWork() {
    leave_stage(patience_);
    if (interrupted()) end_if_due();
  }
  PatientWork(const PatientWork&) = delete;
  PatientWork& operator=(const PatientWork&) = delete;

 private:
  Patience patience_;
};

}  // namespace satin::app
