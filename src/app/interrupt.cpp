#include "app/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "app/terminal.h"

namespace satin::app {
namespace {

std::atomic<int> signals{0};
std::atomic<int> writing{0};  // stages under way with endless patience
std::atomic<int> working{0};  // with a short one
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may touch nothing else");

std::atomic<int>* counter_of(Patience patience) {
  if (patience == Patience::endless) return &writing;
  return patience == Patience::short_one ? &working : nullptr;
}

Patience present_patience() {
  if (writing > 0) return Patience::endless;
  return working > 0 ? Patience::short_one : Patience::none;
}

void end_if_due() {
  if (signals >= static_cast<int>(present_patience())) ::_exit(exit_interrupted);
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

void enter_stage(Patience patience) noexcept {
  if (std::atomic<int>* counter = counter_of(patience)) ++*counter;
  if (signals > 0) end_if_due();
}

void leave_stage(Patience patience) noexcept {
  if (std::atomic<int>* counter = counter_of(patience)) --*counter;
}

}  // namespace satin::app
