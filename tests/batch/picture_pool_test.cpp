#include "batch/picture_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/oracles/ledger.h"

namespace satin::test {
namespace {

using batch::pooled;

constexpr std::size_t block = std::size_t{1} << 20;

TEST(PicturePool, BlocksAreUsedAgain) {
  Ledger source;
  {
    const Allocator pool = pooled(source.allocator(), 10 * block, 10 * block);
    const void* first = nullptr;
    for (int i = 0; i < 5; ++i) {
      const Buffer buffer = allocate_host(block, pool);
      if (i == 0) first = buffer.get();
      EXPECT_EQ(buffer.get(), first);
      std::memset(buffer.get(), i, block);
    }
    EXPECT_EQ(source.calls, 1U);
    const Buffer one = allocate_host(block, pool);
    const Buffer two = allocate_host(block, pool);
    EXPECT_NE(one.get(), two.get());
    EXPECT_EQ(source.calls, 2U);
  }
  EXPECT_TRUE(source.taken.empty());
}

TEST(PicturePool, SizesThatAreNearlyTheSameShareBlocks) {
  Ledger source;
  const Allocator pool = pooled(source.allocator(), 10 * block, 10 * block);
  for (const std::size_t bytes : {block + 1, block + block / 8, block + 77})
    static_cast<void>(allocate_host(bytes, pool));
  EXPECT_EQ(source.calls, 1U);
  EXPECT_LE(source.bytes, block + block / 8);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4096}})
    static_cast<void>(allocate_host(bytes, pool));
  EXPECT_EQ(source.calls, 2U);
}

TEST(PicturePool, KeepsToItsBound) {
  Ledger source;
  const Allocator pool = pooled(source.allocator(), 3 * block, 3 * block);
  std::vector<Buffer> buffers;
  for (int i = 0; i < 5; ++i) {
    buffers.push_back(allocate_host(block, pool));
    std::memset(buffers.back().get(), i, block);
  }
  EXPECT_EQ(source.taken.size(), 3U);
  EXPECT_TRUE(source.holds(buffers[2].get()));
  EXPECT_FALSE(source.holds(buffers[3].get())) << "the system's";
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(buffers[static_cast<std::size_t>(i)].get()[block - 1], static_cast<std::byte>(i));
  buffers.clear();
  EXPECT_EQ(source.taken.size(), 3U) << "kept";

  const Buffer other = allocate_host(2 * block, pool);  // in place of two that nobody uses
  EXPECT_TRUE(source.holds(other.get()));
  EXPECT_EQ(source.most, 3 * block);
  const Buffer larger = allocate_host(4 * block, pool);
  EXPECT_FALSE(source.holds(larger.get()));
  EXPECT_EQ(source.most, 3 * block);
}

TEST(PicturePool, GrowsByAnEighthOfWhatItHandsOut) {
  Ledger source;
  const Allocator pool = pooled(source.allocator(), 2 * block, 4 * block);
  std::vector<std::size_t> held;
  std::vector<Buffer> buffers;
  for (int i = 0; i < 40; ++i) {
    buffers.push_back(allocate_host(block, pool));
    held.push_back(source.taken.size());
  }
  EXPECT_EQ(held[1], 2U);
  EXPECT_EQ(held[6], 2U);
  EXPECT_EQ(held[7], 3U) << "the eighth block";
  EXPECT_EQ(held[14], 3U);
  EXPECT_EQ(held[15], 4U);
  EXPECT_EQ(held[39], 4U) << "no more than the bound";
}

TEST(PicturePool, HandsOutOrdinaryMemoryWhereTheSourceHasNone) {
  Ledger source;
  source.limit = 0;
  std::size_t asked = 0;
  const Allocator counted{[&, inner = source.allocator()](std::size_t bytes) {
                            ++asked;
                            return inner.allocate(bytes);
                          },
                          source.allocator().free};
  const Allocator pool = pooled(counted, 10 * block, 10 * block);
  for (int i = 0; i < 5; ++i) {
    const Buffer buffer = allocate_host(block, pool);
    std::memset(buffer.get(), 1, block);
  }
  EXPECT_EQ(asked, 1U) << "so much at once is not asked for again";
  source.limit = SIZE_MAX;
  const Buffer smaller = allocate_host(block / 2, pool);
  EXPECT_EQ(asked, 2U);
  EXPECT_TRUE(source.holds(smaller.get()));
}

TEST(PicturePool, MemoryMayOutliveThePool) {
  Ledger source;
  Image picture;
  {
    const Allocator pool = pooled(source.allocator(), 10 * block, 10 * block);
    picture = Image({100, 100, 3, Type::u8}, pool);
    static_cast<void>(allocate_host(block, pool));
  }
  EXPECT_EQ(source.taken.size(), 2U);
  std::memset(picture.data(), 1, byte_size(picture.shape()));
  picture = Image();
  EXPECT_TRUE(source.taken.empty());
}

TEST(PicturePool, ServesManyThreads) {
  Ledger source;
  {
    const Allocator pool = pooled(source.allocator(), 6 * block, 6 * block);
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&pool, t] {
        for (int i = 0; i < 200; ++i) {
          const std::size_t bytes = block / 4 + static_cast<std::size_t>(i % 7) * (block / 8);
          const Buffer buffer = allocate_host(bytes, pool);
          std::memset(buffer.get(), t, bytes);
          for (const std::size_t at : {std::size_t{0}, bytes / 2, bytes - 1})
            EXPECT_EQ(buffer.get()[at], static_cast<std::byte>(t));
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_LE(source.most, 6 * block);
  }
  EXPECT_TRUE(source.taken.empty());
}

}  // namespace
}  // namespace satin::test
