#include "app/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "app/exit_code.h"

namespace satin::app {
namespace {

std::atomic<int> signals{0};
std::atomic<int> signals_to_end{static_cast<int>(Patience::none)};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may touch nothing else");

void end_if_due() {
  if (signals >= signals_to_end) ::_exit(exit_interrupted);
}

void on_signal(int) {
  ++signals;
  end_if_due();
}

}  // namespace

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

bool interrupted() noexcept { return signals > 0; }

void set_patience(Patience patience) noexcept {
  signals_to_end = static_cast<int>(patience);
  end_if_due();
}

}  // namespace satin::app
