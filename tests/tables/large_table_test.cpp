// Tables of many tiles, with sums that wrap, at every alignment, and built repeatedly by one plan.

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tables/table.h"
#include "tests/tables/table_case.h"

namespace satin::test {
namespace {

/// The table as filters use it.
class TableRun {
 public:
  explicit TableRun(const Layout& layout, const TableFormat& format = {}) : case_(layout, format) {
    TableJob job;
    job.width = layout.width;
    job.height = layout.height;
    job.read = format.read();
    job.squared = format.squared;
    job.accumulator = format.accumulator;
    Backend& backend = device_under_test().backend();
    operation_ = backend.prepare(job);
  }
  [[nodiscard]] bool is_right(std::uint64_t seed) {
    return case_.is_right(seed, [this](const ImageView& picture, const MutableImageView& table) {
      operation_->run(picture, nullptr, table, {});
    });
  }

 private:
  TableCase case_;
  std::unique_ptr<TableOperation> operation_;
};

TEST(LargeTable, HandlesSizesAroundTheEdgesOfTiles) {
  std::uint64_t seed = 1;
  for (const std::int64_t width : {1, 3, 4, 5, 127, 128, 129, 255, 256, 257, 511, 513})
    for (const std::int64_t height : {1, 31, 32, 33, 127, 128, 129, 257}) {
      const Layout layout{width, height};
      ASSERT_TRUE(TableRun(layout).is_right(++seed)) << layout;
    }
}

TEST(LargeTable, HandlesManyTilesAlongBothAxes) {
  const std::vector<Layout> layouts = {{4099, 1291}, {300, 20000}, {20000, 300}, {8191, 1500},
                                       {6200, 4100}, {1, 40000},   {70000, 1},   {4096, 2048},
                                       {2815, 1665}, {2817, 1663}, {2946, 1696}, {40000, 129}};
  for (const Layout& layout : layouts) {
    if (slow_build() && layout.width * layout.height > 1'000'000) continue;
    TableRun run(layout);
    ASSERT_TRUE(run.is_right(77)) << layout;
    ASSERT_TRUE(run.is_right(0)) << layout << ", white";
  }
}

TEST(LargeTable, HandlesRowsOfEveryAlignment) {
  for (const std::int64_t width : {9, 386, 770})
    for (const std::int64_t height : {150, 260})
      for (std::int64_t offset = 0; offset < 4; ++offset)
        for (std::int64_t gap = 0; gap < 4; ++gap) {
          const Layout layout{width, height, gap, offset, (gap + offset) % 4, (offset + 2) % 4};
          ASSERT_TRUE(TableRun(layout).is_right(static_cast<std::uint64_t>(10 * offset + gap))) << layout;
        }
  // Pictures with aligned rows that use tiles of both sizes.
  for (const Layout& layout :
       std::vector<Layout>{{2300, 2200, 4, 0, 4, 0}, {2303, 2200, 1, 4, 1, 4}, {2301, 2200, 1, 3, 2, 1}}) {
    if (slow_build()) continue;
    ASSERT_TRUE(TableRun(layout).is_right(5)) << layout;
  }
}

TEST(LargeTable, HandlesEveryFormat) {
  const std::vector<Layout> layouts = {{1, 1},
                                       {1, 140},
                                       {63, 33},
                                       {64, 129},
                                       {65, 127},
                                       {97, 260},
                                       {128, 5, 1},
                                       {193, 131, 3, 1, 1, 1},
                                       {700, 257},
                                       {701, 140, 0, 0, 3},
                                       {331, 390, 2, 1, 2, 3}};
  std::uint64_t seed = 0;
  for (const TableFormat& format : table_formats())
    for (const Layout& layout : layouts) {
      if (slow_build() && layout.width * layout.height > 50'000) continue;
      ASSERT_TRUE(TableRun(layout, format).is_right(seed % 5)) << format << ", " << layout;
      ++seed;
    }
}

TEST(LargeTable, HandlesEveryFormatWithManyTilesAlongBothAxes) {
  if (slow_build()) GTEST_SKIP() << "large";
  std::vector<Layout> layouts = {{131, 1801}, {1301, 150}};
  if (device_under_test().is_cuda()) layouts = {{700, 1801}, {6401, 1301}};
  for (const TableFormat& format : table_formats())
    for (const Layout& layout : layouts) {
      TableRun run(layout, format);
      ASSERT_TRUE(run.is_right(3)) << format << ", " << layout;
      if (layout.width >= 1000) continue;
      ASSERT_TRUE(run.is_right(0)) << format << ", " << layout << ", white";
    }
}

TEST(LargeTable, RepeatedRunsOfOnePlanAgree) {
  struct Repeats {
    Layout layout;
    std::uint64_t count;
  };
  for (const Repeats& repeats :
       std::vector<Repeats>{{{1283, 1410}, 100}, {{2816, 1664}, 100}, {{300, 17000}, 50}}) {
    TableRun run(repeats.layout);
    for (std::uint64_t seed = 0; seed < (slow_build() ? 3 : repeats.count); ++seed)
      ASSERT_TRUE(run.is_right(seed)) << repeats.layout << ", run " << seed;
  }
}

}  // namespace
}  // namespace satin::test
