#include "batch/file_names.h"

#include <gtest/gtest.h>

#include "satin/error.h"

namespace satin::test {
namespace {

using batch::NamePattern;

const batch::NameFields fields = {
    {"dir", "photos/2024"}, {"sub", "2024"}, {"name", "a.b.jpg"}, {"stem", "a.b"}, {"ext", "png"}};

std::string filled(const std::string& text) { return NamePattern(text).fill(fields).string(); }

TEST(NamePattern, FillsPlaceholders) {
  EXPECT_EQ(filled("{dir}/{stem}_soft.{ext}"), "photos/2024/a.b_soft.png");
  EXPECT_EQ(filled("out/{sub}/{name}"), "out/2024/a.b.jpg");
  EXPECT_EQ(filled("{{{stem}}}.{ext}{ext}"), "{a.b}.pngpng");
  EXPECT_EQ(NamePattern("out/{sub}/{stem}.png").fill({{"sub", "."}, {"stem", "a"}}).string(), "out/a.png");
}

TEST(NamePattern, FixedFolder) {
  EXPECT_EQ(NamePattern("{dir}/x").fixed_folder(), ".");
  EXPECT_EQ(NamePattern("out{stem}").fixed_folder(), ".");
  EXPECT_EQ(NamePattern("out/deep/x{stem}").fixed_folder(), "out/deep");
  EXPECT_EQ(NamePattern("/{stem}").fixed_folder(), "/");
}

TEST(NamePattern, RefusesInvalidPlaceholders) {
  for (const char* text : {"{", "}", "{stem", "stem}", "{}", "{Stem}", "{stem}}", "{{stem}", "{ stem}"})
    EXPECT_THROW(NamePattern{text}, Error) << text;
  EXPECT_FALSE(NamePattern::is_one("plain.png"));
  EXPECT_TRUE(NamePattern::is_one("{stem}.png"));
}

}  // namespace
}  // namespace satin::test
