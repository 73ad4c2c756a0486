#pragma once
// SIGINT and SIGTERM end the work between two stages or soon inside of a filter, so that no temporary file is
// left.

namespace satin::app {

/// How many signals it takes to end the process without waiting for the stage to end.
enum class Patience : int {
  none = 1,       ///< nothing is on disk, and the stage may wait for ever: a pipe
  short_one = 2,  ///< nothing is on disk
  endless = 1 << 30
};

/// Catches both signals, and ignores SIGPIPE so that a closed pipe is an error like others.
void catch_signals();

/// True once a signal came that did not end the process.
[[nodiscard]] bool interrupted() noexcept;

/// Work of this patience begins or ends, on any thread. What is under way needs the most patience of all
/// counts.
void enter_stage(Patience patience) noexcept;
void leave_stage(Patience patience) noexcept;

/// A stage that is under way as long as the object lives.
class PatientWork {
 public:
  explicit PatientWork(Patience patience) noexcept : patience_(patience) { enter_stage(patience_); }
  ~PatientWork() { leave_stage(patience_); }
  PatientWork(const PatientWork&) = delete;
  PatientWork& operator=(const PatientWork&) = delete;

 private:
  Patience patience_;
};

}  // namespace satin::app
