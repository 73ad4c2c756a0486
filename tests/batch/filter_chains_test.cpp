// The number of pictures that a device filters at a time. The devices are CPUs that report the properties of
// a GPU.

#include "batch/filter_chains.h"

#include <gtest/gtest.h>

#include <string>

#include "core/backend.h"
#include "satin/plan.h"
#include "tests/oracles/ledger.h"

namespace satin::test {
namespace {

using batch::FilterChain;
using batch::FilterChains;

const Shape shape{200, 150, 3, Type::u8};

class Chains : public ::testing::Test {
 protected:
  /// Returns a device that is kept busy by this many runs.
  static Device device_of(int runs, const Allocator& allocator = {}) {
    Device device = Device::open("cpu", {.threads = 1, .allocator = allocator});
    device.backend().runs_at_once = runs;
    return device;
  }

  /// Returns a batch without files.
  static Batch batch_of(const std::string& pipeline) {
    Batch work;
    work.pipeline = parse_pipeline(pipeline);
    work.side_images.resize(work.pipeline.size());
    return work;
  }

  void run(FilterChain& chain, const Shape& of = shape) {
    const Image picture(of);
    Image output(chain.plan({"picture"}, of));
    static_cast<void>(chain.run(picture, output.view()));
  }

  const Batch work_ = batch_of("blur radius=9");
};

TEST_F(Chains, ADeviceGetsMoreOnceARunHasToldWhatItHolds) {
  const Device devices[] = {device_of(3), device_of(1)};
  FilterChains chains(devices, work_);
  const std::vector<FilterChain*> first = chains.first();
  ASSERT_EQ(first.size(), 2U);
  run(*first[0]);
  const FilterChains::Next next = chains.after_run(*first[0], false);
  ASSERT_EQ(next.free.size(), 3U);
  EXPECT_EQ(next.free[0], first[0]);
  EXPECT_FALSE(next.again);
  for (FilterChain* chain : next.free) {
    run(*chain);
    EXPECT_EQ(chains.after_run(*chain, false).free, std::vector<FilterChain*>{chain});
  }
  run(*first[1]);
  EXPECT_EQ(chains.after_run(*first[1], false).free, std::vector<FilterChain*>{first[1]});
}

TEST_F(Chains, AllTogetherHoldNoMoreThanTheLimit) {
  const Device device = device_of(2);
  FilterChains chains(std::span(&device, 1), work_);
  FilterChain& first = *chains.first().front();
  run(first);
  const std::size_t held = first.held_bytes();
  ASSERT_GT(held, 0U);
  limit_memory(device, 2 * held - 1);
  EXPECT_EQ(chains.after_run(first, false).free.size(), 1U);
  limit_memory(device, 2 * held);
  const std::vector<FilterChain*> both = chains.after_run(first, false).free;
  ASSERT_EQ(both.size(), 2U);

  Shape larger = shape;
  larger.width *= 2;
  limit_memory(device, 3 * held);
  run(*both[1], larger);
  EXPECT_TRUE(chains.after_run(*both[1], false).free.empty()) << "two of the larger size are too many";
  run(first);
  EXPECT_EQ(chains.after_run(first, false).free.size(), 1U) << "and it stays so";
}

TEST_F(Chains, OneThatRunsInWindowsGivesWay) {
  const Device device = device_of(2);
  FilterChains chains(std::span(&device, 1), work_);
  FilterChain& first = *chains.first().front();
  run(first);
  const std::size_t held = first.held_bytes();
  const std::vector<FilterChain*> both = chains.after_run(first, false).free;
  ASSERT_EQ(both.size(), 2U);

  limit_memory(device, held - 1);  // as if others had taken the rest
  run(*both[1]);
  ASSERT_TRUE(both[1]->in_windows());
  const FilterChains::Next next = chains.after_run(*both[1], false);
  EXPECT_TRUE(next.free.empty());
  EXPECT_FALSE(next.again);

  // Planned in windows for lack of memory, while there were two: it is planned again.
  first.forget_plans();
  run(first);
  ASSERT_TRUE(first.in_windows());
  EXPECT_EQ(chains.after_run(first, false).free.size(), 1U);
  EXPECT_EQ(first.held_bytes(), 0U);
  limit_memory(device, 0);
  run(first);
  EXPECT_FALSE(first.in_windows());
  EXPECT_EQ(chains.after_run(first, false).free.size(), 1U);
}

TEST_F(Chains, ARunThatFailsBesideOthersIsDoneAgainByThem) {
  const Device device = device_of(2);
  FilterChains chains(std::span(&device, 1), work_);
  FilterChain& first = *chains.first().front();
  run(first);
  const std::vector<FilterChain*> both = chains.after_run(first, false).free;
  ASSERT_EQ(both.size(), 2U);
  FilterChains::Next next = chains.after_run(first, true);
  EXPECT_TRUE(next.free.empty());
  EXPECT_TRUE(next.again);
  next = chains.after_run(*both[1], true);  // its run began beside the other
  EXPECT_EQ(next.free, std::vector<FilterChain*>{both[1]});
  EXPECT_TRUE(next.again);
  next = chains.after_run(*both[1], true);
  EXPECT_EQ(next.free, std::vector<FilterChain*>{both[1]});
  EXPECT_FALSE(next.again) << "alone";
}

TEST_F(Chains, PicturesBetweenStepsAreKept) {
  Ledger ledger;
  const Batch work = batch_of("blur radius=3 | unsharp amount=0.5 | smooth sigma=2");
  const Device device = device_of(1, ledger.allocator());
  FilterChain chain(device, work);
  run(chain);
  const std::size_t calls = ledger.calls;
  EXPECT_GT(calls, 0U);
  run(chain);
  EXPECT_EQ(ledger.calls, calls);
  chain.forget_plans();
  EXPECT_EQ(chain.held_bytes(), 0U);
  EXPECT_TRUE(ledger.taken.empty());
}

}  // namespace
}  // namespace satin::test
