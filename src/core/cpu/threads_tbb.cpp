#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>

#include "core/cpu/threads.h"

namespace satin::cpu {

struct Threads::Implementation {
  tbb::task_arena arena;
};

Threads::Threads(int wanted)
    : implementation_(std::make_unique<Implementation>(Implementation{tbb::task_arena(
          wanted > 0 ? std::min(wanted, tbb::info::default_concurrency()) : tbb::task_arena::automatic)})) {}

Threads::~Threads() = default;

int Threads::count() const noexcept { return implementation_->arena.max_concurrency(); }

void Threads::run_rows(std::int64_t rows, std::int64_t grain, const RowRange& body) {
  implementation_->arena.execute([&] {
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, rows, static_cast<std::size_t>(grain)),
                      [&](const tbb::blocked_range<std::int64_t>& range) {
                        body(range.begin(), range.end(), tbb::this_task_arena::current_thread_index());
                      });
  });
}

}  // namespace satin::cpu
