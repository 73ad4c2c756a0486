// Loops over rows: every row runs once, and calls that run at the same time have different slots.

#include "core/cpu/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "tests/oracles/device_under_test.h"

namespace satin::test {
namespace {

/// A loop that checks its rows and slots.
class Loop {
 public:
  explicit Loop(cpu::Threads& threads)
      : threads_(threads), busy_(static_cast<std::size_t>(threads.count())) {}

  /// Runs the loop; if `nested`, with another loop in each call.
  void run(std::int64_t rows, std::int64_t grain, bool nested) {
    std::vector<std::atomic<int>> done(static_cast<std::size_t>(rows));
    threads_.for_rows(rows, grain, [&](std::int64_t first, std::int64_t last, int slot) {
      ASSERT_TRUE(slot >= 0 && slot < threads_.count()) << slot;
      ASSERT_FALSE(busy_[static_cast<std::size_t>(slot)].exchange(true)) << slot;
      ASSERT_TRUE(last == rows || (last - first) % grain == 0);
      if (nested) Loop(threads_).run(3, 1, false);
      for (std::int64_t row = first; row < last; ++row) {
        ++done[static_cast<std::size_t>(row)];
        for (int i = 0; i < 300; ++i) work_ = work_ + 1;
      }
      busy_[static_cast<std::size_t>(slot)] = false;
    });
    for (const std::atomic<int>& times : done) ASSERT_EQ(times, 1);
  }

 private:
  cpu::Threads& threads_;
  std::vector<std::atomic<bool>> busy_;
  std::atomic<int> work_ = 0;
};

TEST(Threads, ConcurrentCallsOfALoopHaveDifferentSlots) {
  constexpr int turns = slow_build() ? 2 : 20;
  for (const int count : {1, 2, 3, 64}) {
    cpu::Threads threads(count);
    EXPECT_EQ(threads.count(), count);
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller)
      callers.emplace_back([&threads, caller] {
        Loop loop(threads);
        for (int turn = 0; turn < turns; ++turn)
          for (const std::int64_t rows : {1, 2, 7, 500}) loop.run(rows, 1 + turn % 3, caller % 2 == 1);
      });
    for (std::thread& caller : callers) caller.join();
  }
}

TEST(Threads, OneWorkerRunsOnTheCallersThread) {
  cpu::Threads threads(1);
  threads.for_rows(1000, 1, [caller = std::this_thread::get_id()](std::int64_t, std::int64_t, int slot) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(slot, 0);
  });
}

}  // namespace
}  // namespace satin::test
