#include "satin/picture_list.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace satin::test {
namespace {

std::vector<std::string> paths_of(const PictureList& list) {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < list.size(); ++i)
    paths.push_back(list.path(i).string() + " " + list.relative(i).string());
  return paths;
}

TEST(PictureList, KeepsFoldersAndNames) {
  PictureList list;
  list.add("x/a.png");
  list.below("photos");
  list.add("2024/b.png");
  list.below({});
  list.add("/y/c.png");
  EXPECT_EQ(paths_of(list),
            (std::vector<std::string>{"x/a.png a.png", "photos/2024/b.png 2024/b.png", "/y/c.png c.png"}));
}

TEST(PictureList, SortsFromOneOnAndDropsRepetitions) {
  PictureList list;
  list.add("z");
  list.below("f");
  for (const char* name : {"c", "a", "b", "a", "a/b"}) list.add(name);
  list.sort_from(1);
  EXPECT_EQ(paths_of(list), (std::vector<std::string>{"z z", "f/a a", "f/a/b a/b", "f/b b", "f/c c"}));
}

TEST(PictureList, Filters) {
  PictureList list;
  for (const char* name : {"a", "bb", "c", "dd"}) list.add(name);
  list.filter([](std::string_view name) { return name.size() == 2; });
  EXPECT_EQ(paths_of(list), (std::vector<std::string>{"bb bb", "dd dd"}));
}

}  // namespace
}  // namespace satin::test
