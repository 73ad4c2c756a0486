// Loops over rows on the threads of a CPU device.
//
// Rows are cut into shares, one for each worker. A worker takes ranges from its own share, then helps with
// the others; ranges shrink as a share empties, so that all workers end at the same time. Workers are tasks
// of oneTBB, or plain threads for ThreadSanitizer (SATIN_PLAIN_THREADS), which cannot follow a oneTBB that
// was built without it.

#include "core/cpu/threads.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#ifndef SATIN_PLAIN_THREADS
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#endif

#include "core/watch.h"

namespace satin::cpu {
namespace {

/// A range has the remaining rows of a share divided by this, so that workers end at the same time.
constexpr std::int64_t ranges_of_share = 4;
constexpr int most_shares = 64;

/// Neighbouring rows that one worker begins with and the others help to finish. Aligned to a cache line of
/// its own.
struct alignas(64) Share {
  std::atomic<std::int64_t> next = 0;
  std::int64_t end = 0;
};

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

// A slot belongs to a worker, not to a thread: a thread that waits in one worker and meanwhile runs another
// one has another slot there.
void Threads::run_rows(std::int64_t rows, std::int64_t grain, const RowRange& body) {
  if (rows <= 0) return;
  const std::int64_t grains = (rows + grain - 1) / grain;
  const auto workers = static_cast<int>(std::min<std::int64_t>(count_, grains));
  const int count = std::min(workers, most_shares);
  std::array<Share, most_shares> shares;
  for (int i = 0; i < count; ++i) {
    shares[static_cast<std::size_t>(i)].next = grains * i / count * grain;
    shares[static_cast<std::size_t>(i)].end = std::min(grains * (i + 1) / count * grain, rows);
  }
  const auto worker = [&](int slot) {
    for (int i = 0; i < count; ++i) {
      Share& share = shares[static_cast<std::size_t>((slot + i) % count)];
      for (std::int64_t first = share.next; first < share.end;) {
        const std::int64_t grains_taken =
            std::max<std::int64_t>((share.end - first) / (grain * ranges_of_share), 1);
        const std::int64_t last = std::min(first + grains_taken * grain, share.end);
        if (!share.next.compare_exchange_weak(first, last)) continue;
        body(first, last, slot);
        first = share.next;
      }
    }
  };
  if (workers == 1) return worker(0);      // on this thread, so that no other is woken
  run_workers(workers, std::ref(worker));  // a reference needs no allocation
}

#ifdef SATIN_PLAIN_THREADS
struct Threads::Implementation {};

Threads::Threads(int count) : count_(count) {}

int Threads::usable(int wanted) {
  const int available = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return wanted > 0 ? std::min(wanted, available) : available;
}

void Threads::run_workers(int workers, const std::function<void(int)>& worker) {
  std::vector<std::thread> others;
  for (int i = 1; i < workers; ++i) others.emplace_back(worker, i);
  worker(0);
  for (std::thread& other : others) other.join();
}
#else
struct Threads::Implementation {
  tbb::task_arena arena;
};

Threads::Threads(int count)
    : count_(count),
      implementation_(std::make_unique<Implementation>(Implementation{tbb::task_arena(count)})) {}

int Threads::usable(int wanted) {
  const int available = tbb::info::default_concurrency();
  return wanted > 0 ? std::min(wanted, available) : available;
}

void Threads::run_workers(int workers, const std::function<void(int)>& worker) {
  implementation_->arena.execute([&] {
    // Isolated, so that a caller that waits for its own loop does not start a worker of another caller's
    // loop.
    tbb::this_task_arena::isolate([&] { tbb::parallel_for(0, workers, worker, tbb::simple_partitioner()); });
  });
}
#endif

Threads::~Threads() = default;

}  // namespace satin::cpu
