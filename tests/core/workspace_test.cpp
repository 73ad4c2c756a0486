#include "core/workspace.h"

#include <gtest/gtest.h>

#include <string>

#include "core/backend.h"
#include "core/kept_blocks.h"
#include "satin/device.h"
#include "satin/plan.h"

namespace satin::test {
namespace {

Device limited_cpu(std::size_t limit) {
  Device device = Device::open("cpu");
  limit_memory(device, limit);
  return device;
}

TEST(WorkspaceBudget, RefusesMemoryAboveTheLimitBeforeItIsAllocated) {
  const Device device = limited_cpu(1000);
  const WorkspaceBudget budget(device.backend(), 100);
  const WorkspaceVector<std::uint32_t> taken(150);
  EXPECT_NO_THROW(WorkspaceVector<std::byte>(300));  // given back at once
  EXPECT_NO_THROW(WorkspaceVector<std::byte>(300));
  try {
    const Buffer buffer = device.backend().allocate(301);
    ADD_FAILURE() << "above the limit";
  } catch (const NoMemory& error) {
    EXPECT_NE(std::string(error.what()).find("1001 bytes or more"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("limit of 1000 bytes"), std::string::npos) << error.what();
  }
}

TEST(WorkspaceBudget, CountsMemoryOfInnerBudgets) {
  const Device device = limited_cpu(1000);
  WorkspaceBudget outer(device.backend());
  {
    WorkspaceBudget inner(device.backend());
    WorkspaceBudget::take(700);
    inner.clear();
    WorkspaceBudget::take(600);
  }
  EXPECT_THROW(WorkspaceBudget::take(401), NoMemory);
  EXPECT_NO_THROW(WorkspaceBudget::take(400));
  outer.clear();
  EXPECT_NO_THROW(WorkspaceBudget::take(1000));
}

TEST(WorkspaceBudget, WithoutALimitIsTheFreeMemory) {
  const Device device = Device::open("cpu");
  const WorkspaceBudget budget(device.backend());
  EXPECT_GT(free_memory(), std::size_t{1} << 20);
  EXPECT_LE(free_memory(), device.info().memory);
  EXPECT_THROW(WorkspaceBudget::take(std::size_t{1} << 60), NoMemory);
}

TEST(WorkspaceVector, IsZero) {
  WorkspaceVector<double> values(1000);
  for (const double value : values) ASSERT_EQ(value, 0);
  values.resize(5000);
  for (const double value : values) ASSERT_EQ(value, 0);
}

TEST(WorkspaceVector, IsAlignedToACacheLine) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{63},
                                 std::size_t{100000}}) {  // a heap's own blocks, and pages of the system
    const WorkspaceVector<std::byte> bytes(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % 64, 0U);
    const WorkspaceVector<double> values(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values.data()) % 64, 0U);
  }
}

TEST(HostMemory, IsUsedAgainForBuffersOfItsSize) {
  constexpr std::size_t bytes = std::size_t{40} << 20;
  if (KeptBlocks::most_held < bytes) GTEST_SKIP() << "AddressSanitizer looks for uses of freed memory.";
  const std::size_t held = KeptBlocks::of_process().held();
  const std::byte* place = nullptr;
  {
    const Buffer first = allocate_host(bytes);
    place = first.get();
  }
  EXPECT_EQ(KeptBlocks::of_process().held(), held + bytes);
  {
    const Buffer larger = allocate_host(bytes + (std::size_t{8} << 20));  // frees the block that does not fit
    EXPECT_LE(KeptBlocks::of_process().held(), held);
  }
  {
    const Buffer first = allocate_host(bytes);
    place = first.get();
  }
  const Buffer smaller = allocate_host(bytes - (std::size_t{1} << 20));
  EXPECT_EQ(smaller.get(), place);
  EXPECT_EQ(smaller.size, bytes - (std::size_t{1} << 20));
}

}  // namespace
}  // namespace satin::test
