#pragma once
// SIGINT and SIGTERM end the work between two stages, so that no temporary file is left.

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

void set_patience(Patience patience) noexcept;

}  // namespace satin::app
