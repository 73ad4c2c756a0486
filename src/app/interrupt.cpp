#include "app/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <system_error>

namespace satin::app {
namespace {

std::atomic<int> signals{0};
std::atomic<int> last_signal{SIGINT};
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
  if (signals >= static_cast<int>(present_patience())) ::_exit(exit_interrupted());
}

void on_signal(int number) {
  last_signal = number;
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
  if (::signal(SIGHUP, SIG_IGN) != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
}

int exit_interrupted() noexcept { return 128 + last_signal; }

bool interrupted() noexcept { return signals > 0; }

void enter_stage(Patience patience) noexcept {
  if (std::atomic<int>* counter = counter_of(patience)) ++*counter;
  if (signals > 0) end_if_due();
}

void leave_stage(Patience patience) noexcept {
  if (std::atomic<int>* counter = counter_of(patience)) --*counter;
}

bool may_wait(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  return path == "-" || (exists(status) && !is_regular_file(status));
}

Patience patience_to_write(const std::filesystem::path& path) {
  return may_wait(path) ? Patience::none : Patience::endless;
}

PatientWork::~PatientWork() {
  leave_stage(patience_);
  if (signals > 0) end_if_due();
}

}  // namespace satin::app
