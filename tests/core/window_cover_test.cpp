// Windows that suffice for some pixels of a picture, and the choice of windows for active tiles.

#include "core/window_cover.h"

#include <gtest/gtest.h>

#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

TEST(WindowAround, HoldsTheReachAndEndsWithTheLine) {
  for (const std::int64_t line : {1, 2, 5, 9, 16})
    for (std::int64_t reach = 0; reach <= 10; ++reach)
      for (std::int64_t inner = 1; inner <= line; ++inner)
        for (std::int64_t spare = 0; spare < 3; ++spare)
          for (std::int64_t first = 0; first + inner <= line; ++first)
            for (const bool wraps : {false, true}) {
              const std::int64_t size = window_size(inner + spare, line, reach);
              const auto window = window_around({first, first + inner}, size, line, reach, wraps);
              const bool over = first < reach || first + inner + reach > line;
              ASSERT_EQ(window.has_value(), size == line || !(wraps && over));
              if (!window) continue;
              ASSERT_EQ(window->size(), size);
              ASSERT_GE(window->first, 0);
              ASSERT_LE(window->last, line);
              ASSERT_LE(window->first, std::max<std::int64_t>(first - reach, 0));
              ASSERT_GE(window->last, std::min(first + inner + reach, line));
              if (!wraps && first < reach) {
                ASSERT_EQ(window->first, 0);
              }
              if (!wraps && first + inner + reach > line) {
                ASSERT_EQ(window->last, line);
              }
            }
  EXPECT_FALSE(window_around({2, 8}, window_size(4, 40, 3), 40, 3, false)) << "too small";
}

/// Returns the active tiles of a cover at these positions.
class Tiles {
 public:
  explicit Tiles(const WindowCover& cover)
      : active(static_cast<std::size_t>(cover.columns() * cover.rows()), 0), columns_(cover.columns()) {}
  void set(std::int64_t column, std::int64_t row) {
    active[static_cast<std::size_t>(row * columns_ + column)] = 1;
  }

  std::vector<std::uint8_t> active;

 private:
  std::int64_t columns_;
};

void expect_a_cover(WindowCover& cover, const std::vector<std::uint8_t>& active, std::int64_t width,
                    std::int64_t height) {
  std::vector<int> times(static_cast<std::size_t>(width * height), 0);
  for (const WindowCover::Run& run : cover.of(active)) {
    const Rectangle window = cover.window_of(run);
    ASSERT_EQ(window.x.size(), cover.sizes()[run.size].width);
    ASSERT_EQ(window.y.size(), cover.sizes()[run.size].height);
    for (std::int64_t y = run.inner.y.first; y < run.inner.y.last; ++y)
      for (std::int64_t x = run.inner.x.first; x < run.inner.x.last; ++x)
        ++times.at(static_cast<std::size_t>(y * width + x));
  }
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const int done = times[static_cast<std::size_t>(y * width + x)];
      const std::int64_t tile = y / cover.tile() * cover.columns() + x / cover.tile();
      ASSERT_LE(done, 1) << x << ", " << y;
      if (active[static_cast<std::size_t>(tile)] != 0) {
        ASSERT_EQ(done, 1) << x << ", " << y;
      }
    }
}

TEST(WindowCover, HoldsEveryActiveTileOnce) {
  Random random(7);
  for (int turn = 0; turn < 60; ++turn) {
    const std::int64_t width = random.between(1, 900);
    const std::int64_t height = random.between(1, 900);
    const Reach reach{random.between(0, 70), random.between(0, 70), random.one_in(3)};
    WindowCover cover({width, height}, reach, {random.between(0, 20000)});
    std::vector<std::uint8_t> active(static_cast<std::size_t>(cover.columns() * cover.rows()));
    const std::uint64_t rarity = 1 + random.below(40);
    for (std::uint8_t& tile : active) tile = random.one_in(rarity) ? 1 : 0;
    SCOPED_TRACE(std::to_string(width) + " x " + std::to_string(height) + ", turn " + std::to_string(turn));
    expect_a_cover(cover, active, width, height);
    if (HasFatalFailure()) return;
  }
}

constexpr WindowCover::Size uhd{3840, 2160};

TEST(WindowCover, DoesNothingWhereNothingIsActive) {
  WindowCover cover(uhd, {16, 16}, {8000});
  EXPECT_TRUE(cover.of(Tiles(cover).active).empty());
}

TEST(WindowCover, ChoosesTheWholePictureWhereAlmostAllIsActive) {
  WindowCover cover(uhd, {16, 16}, {8000});
  const std::vector<std::uint8_t> all(static_cast<std::size_t>(cover.columns() * cover.rows()), 1);
  ASSERT_EQ(cover.of(all).size(), 1U);
  EXPECT_TRUE(cover.is_whole(cover.of(all).front()));
  Tiles board(cover);  // every other tile: their windows together are larger than the picture
  for (std::int64_t row = 0; row < cover.rows(); ++row)
    for (std::int64_t column = row % 2; column < cover.columns(); column += 2) board.set(column, row);
  ASSERT_EQ(cover.of(board.active).size(), 1U);
  EXPECT_TRUE(cover.is_whole(cover.of(board.active).front()));
}

TEST(WindowCover, ChoosesOneSmallWindowForOneTileAnywhere) {
  for (const bool wraps : {false, true}) {
    WindowCover cover(uhd, {16, 16, wraps}, {8000});
    for (std::int64_t row = 0; row < cover.rows(); ++row)
      for (std::int64_t column = 0; column < cover.columns(); ++column) {
        Tiles tiles(cover);
        tiles.set(column, row);
        const auto runs = cover.of(tiles.active);
        ASSERT_EQ(runs.size(), 1U);
        const bool edge = column == 0 || row == 0 || column + 1 == cover.columns() || row + 1 == cover.rows();
        ASSERT_EQ(runs.front().size, wraps && edge ? cover.sizes().size() - 1 : 0U) << column << ", " << row;
      }
  }
}

TEST(WindowCover, ChoosesOneWindowAcrossTheMiddle) {
  WindowCover cover(uhd, {16, 16}, {8000});
  Tiles tiles(cover);
  for (std::int64_t row = 15; row < 17; ++row)
    for (std::int64_t column = 31; column < 33; ++column) tiles.set(column, row);
  const auto runs = cover.of(tiles.active);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs.front().size, 1U);
  EXPECT_EQ(runs.front().inner, (Rectangle{{31 * 64, 33 * 64}, {15 * 64, 17 * 64}}));
}

TEST(WindowCover, SplitsTilesThatAreFarApart) {
  WindowCover cover(uhd, {16, 16}, {8000});
  Tiles tiles(cover);
  tiles.set(1, 1);
  tiles.set(55, 30);
  EXPECT_EQ(cover.of(tiles.active).size(), 2U);
}

TEST(WindowCover, JoinsTilesWhereWindowsAreExpensive) {
  WindowCover cover(uhd, {16, 16}, {1'000'000});
  EXPECT_GT(cover.tile(), 64);
  Tiles tiles(cover);
  tiles.set(1, 1);
  tiles.set(3, 3);
  EXPECT_EQ(cover.of(tiles.active).size(), 1U);
}

TEST(WindowCover, HasNoWindowsForAReachAsLargeAsThePicture) {
  WindowCover cover(uhd, {3000, 3000}, {8000});
  ASSERT_EQ(cover.sizes().size(), 1U);
  Tiles tiles(cover);
  tiles.set(5, 5);
  ASSERT_EQ(cover.of(tiles.active).size(), 1U);
  EXPECT_TRUE(cover.is_whole(cover.of(tiles.active).front()));
}

TEST(WindowCover, KeepsTheNumberOfTilesSmall) {
  const WindowCover cover({100'000, 90'000}, {16, 16}, {8000});
  EXPECT_LE(cover.columns(), 128);
  EXPECT_LE(cover.rows(), 128);
}

}  // namespace
}  // namespace satin::test
