// Tables that take many tiles, with sums that wrap, of every alignment, and again and again: what one picture
// through integral() does not reach.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <ostream>
#include <vector>

#include "core/backend.h"
#include "device_under_test.h"
#include "pictures.h"

namespace satin::test {
namespace {

struct Layout {
  std::int64_t width = 1;
  std::int64_t height = 1;
  std::int64_t picture_gap = 0;  ///< bytes between rows
  std::int64_t picture_offset = 0;
  std::int64_t table_gap = 0;  ///< elements between rows
  std::int64_t table_offset = 0;
};

std::ostream& operator<<(std::ostream& out, const Layout& l) {
  return out << l.width << " x " << l.height << ", picture + " << l.picture_offset << " / " << l.picture_gap
             << ", table + " << l.table_offset << " / " << l.table_gap;
}

constexpr std::uint32_t poison = 0xCDCDCDCD;

/// One u8 channel to sums modulo 2^32 in rows of any distance, in memory of the device.
class TableRun {
 public:
  explicit TableRun(const Layout& layout)
      : layout_(layout),
        picture_row_(layout.width + layout.picture_gap),
        table_row_(layout.width + layout.table_gap),
        picture_(static_cast<std::size_t>(layout.picture_offset + (layout.height - 1) * picture_row_ +
                                          layout.width)),
        table_(
            static_cast<std::size_t>(layout.table_offset + (layout.height - 1) * table_row_ + layout.width)),
        device_picture_(backend_.allocate(picture_.size())),
        device_table_(backend_.allocate(table_.size() * sizeof(std::uint32_t))) {
    TableJob job;
    job.width = layout.width;
    job.height = layout.height;
    job.read.maximum = 255;
    operation_ = backend_.operations.table(backend_, job);
  }

  /// Another picture with every seed; seed 0 is white. What lies between the rows must stay as it was.
  [[nodiscard]] bool is_right(std::uint64_t seed) {
    Random random(seed);
    for (std::size_t i = 0; i < picture_.size(); i += 8) {
      const std::uint64_t values = seed == 0 ? ~std::uint64_t{0} : random.next();
      std::memcpy(&picture_[i], &values, std::min<std::size_t>(8, picture_.size() - i));
    }
    std::fill(table_.begin(), table_.end(), poison);
    backend_.upload(device_picture_.get(), picture_.data(), picture_.size(), {});
    backend_.upload(device_table_.get(), table_.data(), device_table_.size, {});
    operation_->run(picture(), nullptr, table(), {});
    backend_.download(table_.data(), device_table_.get(), device_table_.size, {});
    return table_is_right();
  }

 private:
  [[nodiscard]] ImageView picture() const {
    const Shape shape{layout_.width, layout_.height, 1, Type::u8};
    return {device_picture_.get() + layout_.picture_offset, shape, {1, picture_row_, 1, 0}, Memory::device};
  }
  [[nodiscard]] MutableImageView table() const {
    const Shape shape{layout_.width, layout_.height, 1, Type::u32};
    return {device_table_.get() + 4 * layout_.table_offset, shape, {4, 4 * table_row_, 4, 0}, Memory::device};
  }

  [[nodiscard]] bool table_is_right() const {
    std::vector<std::uint32_t> expected(table_.size(), poison);
    std::vector<std::uint32_t> columns(static_cast<std::size_t>(layout_.width));
    for (std::int64_t y = 0; y < layout_.height; ++y) {
      const std::uint8_t* pixels = picture_.data() + layout_.picture_offset + y * picture_row_;
      std::uint32_t* row = expected.data() + layout_.table_offset + y * table_row_;
      std::uint32_t sum = 0;
      for (std::int64_t x = 0; x < layout_.width; ++x) {
        std::uint32_t& column = columns[static_cast<std::size_t>(x)];
        column += pixels[x];
        sum += column;
        row[x] = sum;
      }
    }
    return expected == table_;
  }

  Backend& backend_ = device_under_test().backend();
  Layout layout_;
  std::int64_t picture_row_;
  std::int64_t table_row_;
  std::vector<std::uint8_t> picture_;
  std::vector<std::uint32_t> table_;
  Buffer device_picture_;
  Buffer device_table_;
  std::unique_ptr<TableOperation> operation_;
};

TEST(LargeTable, SizesAroundTheEdgesOfTiles) {
  std::uint64_t seed = 1;
  for (const std::int64_t width : {1, 3, 4, 5, 127, 128, 129, 255, 256, 257, 511, 513})
    for (const std::int64_t height : {1, 31, 32, 33, 127, 128, 129, 257}) {
      const Layout layout{width, height};
      ASSERT_TRUE(TableRun(layout).is_right(++seed)) << layout;
    }
}

TEST(LargeTable, ManyTilesBothWays) {
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

TEST(LargeTable, RowsOfEveryAlignment) {
  for (const std::int64_t width : {9, 386, 770})
    for (const std::int64_t height : {150, 260})
      for (std::int64_t offset = 0; offset < 4; ++offset)
        for (std::int64_t gap = 0; gap < 4; ++gap) {
          const Layout layout{width, height, gap, offset, (gap + offset) % 4, (offset + 2) % 4};
          ASSERT_TRUE(TableRun(layout).is_right(static_cast<std::uint64_t>(10 * offset + gap))) << layout;
        }
  // Pictures of aligned rows that need tiles of both sizes.
  for (const Layout& layout :
       std::vector<Layout>{{2300, 2200, 4, 0, 4, 0}, {2303, 2200, 1, 4, 1, 4}, {2301, 2200, 1, 3, 2, 1}}) {
    if (slow_build()) continue;
    ASSERT_TRUE(TableRun(layout).is_right(5)) << layout;
  }
}

TEST(LargeTable, TheSamePlanAgainAndAgain) {
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
