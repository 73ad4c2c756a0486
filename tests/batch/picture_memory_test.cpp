#include "batch/picture_memory.h"

#include <gtest/gtest.h>

namespace satin::test {
namespace {

using batch::PictureMemory;

TEST(PictureMemory, FillsToTheLimitAndNoFurther) {
  PictureMemory memory(100);
  memory.take(40);
  EXPECT_TRUE(memory.has_room(60));
  EXPECT_FALSE(memory.has_room(61));
  memory.give_back(40);
  EXPECT_TRUE(memory.has_room(61));
}

TEST(PictureMemory, APictureLargerThanTheLimitIsAlone) {
  PictureMemory memory(100);
  EXPECT_TRUE(memory.has_room(1000));
  memory.take(1000);
  EXPECT_FALSE(memory.has_room(0));
  memory.give_back(1000);
  EXPECT_TRUE(memory.has_room(1000));
}

TEST(PictureMemory, ALimitOfAllBitsDoesNotWrap) {
  PictureMemory memory(UINT64_MAX);
  memory.take(UINT64_MAX - 1);
  EXPECT_TRUE(memory.has_room(1));
  EXPECT_FALSE(memory.has_room(2));
}

TEST(PictureMemory, EstimatesFollowTheLargestPicture) {
  PictureMemory memory(1000);
  EXPECT_EQ(memory.estimate(0), 0U);
  EXPECT_EQ(memory.estimate(5), 80U);
  std::uint64_t share = memory.estimate(5);
  memory.take(share);
  memory.correct(share, 300);  // up
  EXPECT_EQ(share, 300U);
  EXPECT_EQ(memory.estimate(5), 300U);
  EXPECT_EQ(memory.estimate(50), 800U);
  EXPECT_FALSE(memory.has_room(701));
  memory.correct(share, 20);  // down
  EXPECT_TRUE(memory.has_room(980));
  EXPECT_EQ(memory.estimate(0), 300U);
  memory.give_back(share);
  EXPECT_TRUE(memory.has_room(1000000));
}

}  // namespace
}  // namespace satin::test
