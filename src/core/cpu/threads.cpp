#include "core/cpu/threads.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "core/watch.h"

namespace satin::cpu {
namespace {

/// A range is this part of a worker's share of the rows that are left, so that workers end at the same time.
constexpr std::int64_t ranges_of_worker = 8;

}  // namespace

int Threads::count() const noexcept { return count_; }

void Threads::for_rows(std::int64_t rows, std::int64_t grain, const RowRange& body) {
  Watch* const watch = Watch::of_this_thread();
  if (watch == nullptr) return run_rows(rows, grain, body);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> cancelled = false;
  run_rows(rows, grain, [&](std::int64_t first, std::int64_t last, int slot) {
    if (std::this_thread::get_id() == caller && !watch->goes_on()) cancelled = true;
    if (!cancelled) body(first, last, slot);
  });
  if (cancelled) Watch::throw_cancelled();
}

// A slot belongs to a worker, not to a thread: a thread that waits for one worker and meanwhile runs another
// one has another slot there, whatever the scheduler does.
void Threads::run_rows(std::int64_t rows, std::int64_t grain, const RowRange& body) {
  if (rows <= 0) return;
  const auto workers = static_cast<int>(std::min<std::int64_t>(count_, (rows + grain - 1) / grain));
  std::atomic<std::int64_t> next = 0;
  const auto worker = [&](int slot) {
    for (std::int64_t first = next; first < rows;) {
      const std::int64_t grains =
          std::max<std::int64_t>((rows - first) / (grain * ranges_of_worker * workers), 1);
      const std::int64_t last = std::min(first + grains * grain, rows);
      if (!next.compare_exchange_weak(first, last)) continue;
      body(first, last, slot);
      first = next;
    }
  };
  if (workers == 1) return worker(0);      // on this thread: no other one is woken, or waits
  run_workers(workers, std::ref(worker));  // a reference takes no memory
}

}  // namespace satin::cpu
