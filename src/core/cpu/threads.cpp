#include "core/cpu/threads.h"

#include <atomic>
#include <thread>

#include "core/watch.h"

namespace satin::cpu {

void Threads::for_rows(std::int64_t rows, std::int64_t grain, const RowRange& body) {
  if (rows <= 0) return;
  const auto run = [&](const RowRange& work) {
    if (rows <= grain) return work(0, rows, 0);  // on this thread: no other one is woken, or waits
    run_rows(rows, grain, work);
  };
  Watch* const watch = Watch::of_this_thread();
  if (watch == nullptr) return run(body);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> cancelled = false;
  run([&](std::int64_t first, std::int64_t last, int slot) {
    if (std::this_thread::get_id() == caller && !watch->goes_on()) cancelled = true;
    if (!cancelled) body(first, last, slot);
  });
  if (cancelled) Watch::throw_cancelled();
}

}  // namespace satin::cpu
