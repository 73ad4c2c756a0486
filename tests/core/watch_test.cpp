// Cancellation: loops over rows ask the watch of their run whether to continue.

#include "core/watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "core/cpu/threads.h"

namespace satin::test {
namespace {

using std::chrono::milliseconds;

TEST(Watch, LoopsEndSoonAfterCancellation) {
  cpu::Threads threads(2);
  Watch watch([](double) { return false; });
  watch.begin(1);
  const WatchedRun run(watch);
  std::atomic<int> rows = 0;
  EXPECT_THROW(threads.for_rows(10000, 1,
                                [&](std::int64_t first, std::int64_t last, int) {
                                  rows += static_cast<int>(last - first);
                                  std::this_thread::sleep_for(milliseconds(last - first));
                                }),
               Error);
  EXPECT_GT(rows, 0);
  EXPECT_LT(rows, 5000);
}

TEST(Watch, TheListenerRunsOnTheCallersThreadOnly) {
  cpu::Threads threads(2);
  std::vector<std::thread::id> asked;
  Watch watch([&](double done) {
    EXPECT_EQ(done, 0);
    asked.push_back(std::this_thread::get_id());
    return true;
  });
  watch.begin(1);
  const WatchedRun run(watch);
  std::atomic<int> rows = 0;
  threads.for_rows(1500, 1, [&](std::int64_t first, std::int64_t last, int) {
    rows += static_cast<int>(last - first);
    std::this_thread::sleep_for(milliseconds(last - first));
  });
  EXPECT_EQ(rows, 1500);
  ASSERT_FALSE(asked.empty());
  for (const std::thread::id thread : asked) EXPECT_EQ(thread, std::this_thread::get_id());
}

TEST(Watch, ANestedRunKeepsTheOuterWatch) {
  Watch outer([](double) { return true; }), silent, inner([](double) { return true; });
  EXPECT_EQ(Watch::of_this_thread(), nullptr);
  {
    const WatchedRun run(outer);
    {
      const WatchedRun inside(silent);
      EXPECT_EQ(Watch::of_this_thread(), &outer);
    }
    const WatchedRun inside(inner);
    EXPECT_EQ(Watch::of_this_thread(), &inner);
  }
  EXPECT_EQ(Watch::of_this_thread(), nullptr);
}

}  // namespace
}  // namespace satin::test
