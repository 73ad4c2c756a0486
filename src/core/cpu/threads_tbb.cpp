#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>

#include "core/cpu/threads.h"

namespace satin::cpu {

struct Threads::Implementation {
  tbb::task_arena arena;
};

Threads::Threads(int count)
    : count_(count),
      implementation_(std::make_unique<Implementation>(Implementation{tbb::task_arena(count)})) {}

Threads::~Threads() = default;

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

}  // namespace satin::cpu
