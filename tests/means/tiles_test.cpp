// Tiles of sliding windows cover the picture, obey the rules, and are the cheapest by the rules' costs.

#include <gtest/gtest.h>

#include <limits>

#include "means/tiling.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

constexpr auto without_memory = [](const SlidingTiles&) { return std::size_t{0}; };

SlidingTileRules random_rules(Random& random) {
  SlidingTileRules rules;
  rules.width = random.between(1, random.one_in(2) ? 50 : 9000);
  rules.height = random.between(1, random.one_in(2) ? 50 : 9000);
  rules.multiprocessors = random.between(1, 200);
  rules.pixels = random.between(1, 16);
  rules.most_rows = random.one_in(4) ? random.between(1, 40) : 65535;
  rules.fewest_rows = random.one_in(2);
  rules.start_cost = random.between(0, 600);
  rules.row_cost = random.between(1, 40);
  rules.fewest_spans = random.between(0, 16);
  return rules;
}

/// Returns the time of the best tiles of any height with at most `most` tiles per multiprocessor, or one
/// row of tiles.
std::int64_t least_cost(const SlidingTiler& tiler, const SlidingTileRules& rules, const SlidingTiles& found,
                        int most) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  SlidingTiles tiles = found;
  for (tiles.rows = 1; tiles.rows <= std::min(rules.height, rules.most_rows); ++tiles.rows) {
    if (tiles.rows > 1 &&
        std::int64_t{tiles.rows} * tiles.columns > std::int64_t{most} * rules.multiprocessors)
      break;
    least = std::min(least, tiler.cost_of(tiles));
  }
  return least;
}

TEST(SlidingTiles, CoverThePictureInTheLeastTime) {
  Random random(0x711E);
  for (int turn = 0; turn < 3000; ++turn) {
    const SlidingTileRules rules = random_rules(random);
    const int spans = random.between(1, 20);
    const int usable = rules.pixels * random.between(1, 300);
    const int most = random.between(1, 20);
    SlidingTiler tiler(rules);
    tiler.consider(spans, usable, most, without_memory, 0);
    const SlidingTiles& tiles = tiler.best();
    ASSERT_EQ(tiles.spans, spans);
    ASSERT_EQ(tiles.width % rules.pixels, 0);
    ASSERT_LE(tiles.width, usable);
    ASSERT_GE(tiles.columns * tiles.width, rules.width);
    ASSERT_LT((tiles.columns - 1) * tiles.width, rules.width);
    ASSERT_GE(tiles.rows, 1);
    ASSERT_LE(tiles.rows, std::min(rules.height, rules.most_rows));
    ASSERT_LE(tiles.together, most);
    ASSERT_EQ(tiler.cost_of(tiles), least_cost(tiler, rules, tiles, most)) << "turn " << turn;
  }
}

TEST(SlidingTiles, BestOfAllThatFitWins) {
  Random random(0x711F);
  for (int turn = 0; turn < 1000; ++turn) {
    const SlidingTileRules rules = random_rules(random);
    SlidingTiler all(rules);
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    const auto limit = static_cast<std::size_t>(random.between(0, 20));
    const auto bytes = [](const SlidingTiles& tiles) {
      return static_cast<std::size_t>(tiles.spans * tiles.together);
    };
    for (int spans = 1; spans <= 8; ++spans) {
      SlidingTiler alone(rules);
      const int usable = rules.pixels * 32 * spans;
      all.consider(spans, usable, 4, bytes, limit);
      alone.consider(spans, usable, 4, bytes, limit);
      if (alone.best().spans != 0) least = std::min(least, alone.cost_of(alone.best()));
    }
    if (limit == 0) {
      ASSERT_EQ(all.best().spans, 0);
    } else {
      ASSERT_LE(all.best().shared_bytes, limit);
      ASSERT_EQ(all.cost_of(all.best()), least) << "turn " << turn;
    }
  }
}

// Among equal costs the first choice wins, but the last of those with at most the wished spans.
TEST(SlidingTiles, TiesFollowTheStatedOrder) {
  SlidingTileRules rules;
  rules.width = rules.height = 100;
  rules.pixels = 4;
  rules.fewest_spans = 64;
  for (const auto& [wished, taken] : {std::pair{0, 1}, {2, 2}, {4, 3}}) {
    rules.wished_spans = wished;
    SlidingTiler tiler(rules);
    for (int spans = 1; spans <= 3; ++spans) tiler.consider(spans, 100, 1, without_memory, 0);
    EXPECT_EQ(tiler.best().spans, taken);
  }
}

// A picture of one pixel, and one that cannot be cut.
TEST(SlidingTiles, FitTheSmallestPictures) {
  SlidingTileRules rules;
  rules.width = rules.height = 1;
  rules.multiprocessors = 132;
  rules.pixels = 12;
  SlidingTiler tiler(rules);
  tiler.consider(16, 1, 16, without_memory, 0);
  EXPECT_EQ(tiler.best().columns, 1);
  EXPECT_EQ(tiler.best().rows, 1);
}

}  // namespace
}  // namespace satin::test
