#pragma once
// SIGINT, SIGTERM and SIGHUP end the work between two stages or soon inside of a filter, so that no temporary
// file is left.

#include <filesystem>

namespace satin::app {

/// How many signals it takes to end the process without waiting for the stage to end.
enum class Patience : int {
  none = 1,       ///< nothing is on disk, and the stage may wait for ever: a pipe
  short_one = 2,  ///< nothing is on disk
  endless = 1 << 30
};

/// Catches these signals (SIGHUP not under nohup), and ignores SIGPIPE and SIGXFSZ so that a closed pipe and
/// a file above the limit of the shell are errors like others.
void catch_signals();

/// 128 and the number of the signal that came last, as shells count; that of SIGINT if none came.
[[nodiscard]] int exit_interrupted() noexcept;

/// True once a signal came that did not end the process.
[[nodiscard]] bool interrupted() noexcept;

/// Work of this patience begins or ends, on any thread. What is under way needs the most patience of all
/// counts.
void enter_stage(Patience patience) noexcept;
void leave_stage(Patience patience) noexcept;

/// True for standard streams, pipes and devices.
[[nodiscard]] bool may_wait(const std::filesystem::path& path);

/// While a file is written beside its target, the temporary file must get its name or go.
[[nodiscard]] Patience patience_to_write(const std::filesystem::path& path);

/// A stage that is under way as long as the object lives. A signal that came meanwhile may end the process
/// afterwards.
class PatientWork {
 public:
  explicit PatientWork(Patience patience) noexcept : patience_(patience) { enter_stage(patience_); }
  ~PatientWork();
  PatientWork(const PatientWork&) = delete;
  PatientWork& operator=(const PatientWork&) = delete;

 private:
  Patience patience_;
};

}  // namespace satin::app
