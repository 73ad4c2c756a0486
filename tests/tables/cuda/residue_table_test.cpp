// Tables of residues: what is known of a box by the coarse words around it, up to the bound, and the tables
// that the GPU builds.

#include "kernels/tables/residue_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "tables/cuda/residue_table.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

namespace residue = kernels::residue;

constexpr int channels = residue::channels;

/// Windows along both axes: `before` + 1 to `last`.
struct Box {
  int before_x, last_x, before_y, last_y;
  [[nodiscard]] std::uint32_t pixels() const {
    return static_cast<std::uint32_t>((last_x - before_x) * (last_y - before_y));
  }
};

/// Around a pixel, clipped.
Box box_around(int x, int y, int reach, int width, int height) {
  return {std::max(x - reach, 0) - 1, std::min(x + reach, width - 1), std::max(y - reach, 0) - 1,
          std::min(y + reach, height - 1)};
}

using ByteOfPixel = std::function<std::uint8_t(int x, int y, int channel)>;

/// True sums, from -1 on.
class Sums {
 public:
  Sums(int width, int height, const ByteOfPixel& byte)
      : width_(width),
        height_(height),
        sums_(static_cast<std::size_t>(channels) * static_cast<std::size_t>(width + 1) *
              static_cast<std::size_t>(height + 1)) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        for (int c = 0; c < channels; ++c)
          sums_[place(x, y, c)] = byte(x, y, c) + at(x - 1, y, c) + at(x, y - 1, c) - at(x - 1, y - 1, c);
  }

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }
  /// Right of the picture pixels are 0.
  [[nodiscard]] std::uint64_t at(int x, int y, int channel) const {
    return sums_[place(std::min(x, width_ - 1), y, channel)];
  }
  [[nodiscard]] std::uint64_t over(const Box& box, int c) const {
    return at(box.last_x, box.last_y, c) - at(box.before_x, box.last_y, c) - at(box.last_x, box.before_y, c) +
           at(box.before_x, box.before_y, c);
  }

  [[nodiscard]] residue::Entry entry(int x, int y) const { return residue::entry_of(low_words(x, y).of); }
  [[nodiscard]] std::uint32_t coarse(int column, int row) const {
    return residue::coarse_of(low_words(column * residue::column_step - 1, row * residue::row_step - 1).of);
  }

 private:
  struct Words {
    std::uint32_t of[channels];
  };

  [[nodiscard]] std::size_t place(int x, int y, int channel) const {
    return (static_cast<std::size_t>(y + 1) * static_cast<std::size_t>(width_ + 1) +
            static_cast<std::size_t>(x + 1)) *
               channels +
           static_cast<std::size_t>(channel);
  }
  [[nodiscard]] Words low_words(int x, int y) const {
    Words words{};
    for (int c = 0; c < channels; ++c) words.of[c] = static_cast<std::uint32_t>(at(x, y, c));
    return words;
  }

  int width_;
  int height_;
  std::vector<std::uint64_t> sums_;
};

/// What the kernels do.
struct Found {
  std::uint32_t sums[channels] = {};

  Found(const Sums& table, const Box& box) {
    const int left = residue::coarse_column(box.before_x);
    const int right = residue::coarse_column(box.last_x);
    const int top = residue::coarse_row(box.before_y);
    const int bottom = residue::coarse_row(box.last_y);
    std::uint32_t residues[channels];
    residue::residues_of_box(entries(table, box), residues);
    residue::sums_by_coarse(
        residues,
        {table.coarse(left, top), table.coarse(right, top), table.coarse(left, bottom),
         table.coarse(right, bottom)},
        box.pixels(), static_cast<std::uint32_t>((right - left) * (bottom - top) * residue::coarse_area),
        sums);
  }
  /// From the box above to this one.
  void step(const Sums& table, const Box& from, const Box& to) {
    std::uint32_t residues[channels];
    residue::residues_of_box(entries(table, to), residues);
    residue::sums_by_neighbour(residues, to.pixels() - from.pixels(), sums);
  }
  [[nodiscard]] bool is_right(const Sums& table, const Box& box) const {
    for (int c = 0; c < channels; ++c)
      if (sums[c] != table.over(box, c)) return false;
    return true;
  }

 private:
  static residue::Corners<residue::Entry> entries(const Sums& table, const Box& box) {
    return {table.entry(box.before_x, box.before_y), table.entry(box.last_x, box.before_y),
            table.entry(box.before_x, box.last_y), table.entry(box.last_x, box.last_y)};
  }
};

TEST(Residues, SufficeUpToTheBound) {
  EXPECT_TRUE(residue::residues_suffice(1, 1));
  EXPECT_TRUE(residue::residues_suffice(1025, 1026));  // its neighbour's: 8188 * 128 < 2^20
  EXPECT_FALSE(residue::residues_suffice(1026, 1026));
  static_assert(1025 * 1026 < (1 << residue::sum_bits) / 255);
  EXPECT_TRUE(residue::residues_suffice(2050, 1));  // the same
  EXPECT_FALSE(residue::residues_suffice(2051, 1));
  EXPECT_TRUE(residue::residues_suffice(1, 1540));  // moved: 6166 * 127.5 + 2^18 - 2 < 2^20
  EXPECT_FALSE(residue::residues_suffice(1, 1541));
  EXPECT_FALSE(residue::residues_suffice(std::int64_t{1} << 40, std::int64_t{1} << 40));
}

// A box is white and the rest black, or the other way round: moved by coarse places its sum is as far from
// what is expected as it can be. The same of the box below, which reaches two pixels more or less.
TEST(Residues, TheFarthestBoxes) {
  constexpr int size = 1040;
  constexpr int reach = 512;
  for (int place = 0; place < 8; ++place) {
    const int x = 517 + place % 4;
    const int y = 517 + place / 4;
    for (const int inside : {0xFF, 0x00})
      for (const int at_edge : {0, 1}) {
        const Box white = box_around(at_edge != 0 ? x - 6 : x, at_edge != 0 ? y - 6 : y, reach, size, size);
        const Sums table(size, size, [&](int px, int py, int) {
          const bool is_inside =
              px > white.before_x && px <= white.last_x && py > white.before_y && py <= white.last_y;
          return static_cast<std::uint8_t>(is_inside ? inside : 0xFF - inside);
        });
        for (int dy = -1; dy <= 1; ++dy)
          for (int smaller = 0; smaller <= 4; ++smaller) {
            const Box box = box_around(x, y + dy, reach - smaller, size, size);
            Found found(table, box);
            ASSERT_TRUE(found.is_right(table, box)) << place << ", " << dy << ", " << smaller;
            for (int of_below = std::max(0, smaller - 2); of_below <= std::min(4, smaller + 2); ++of_below) {
              Found next = found;
              const Box below = box_around(x, y + dy + 1, reach - of_below, size, size);
              next.step(table, box, below);
              ASSERT_TRUE(next.is_right(table, below)) << place << ", " << dy << ", " << smaller;
            }
          }
      }
  }
}

TEST(Residues, AnyBoxOfNoise) {
  Random random(0x4E51);
  for (const auto& [width, height] : {std::pair{1300, 1200}, {2050, 3}, {5, 1500}, {1, 1}, {3, 2}}) {
    const std::uint64_t kind = random.below(3);
    const Sums table(width, height, [&](int, int, int) {
      return static_cast<std::uint8_t>(kind == 0 ? 0xFF : kind == 1 ? random.next() : random.below(2) * 0xFF);
    });
    for (int turn = 0; turn < 20000; ++turn) {
      const int x = random.between(0, width - 1);
      int y = random.between(0, height - 1);
      int reach = random.between(0, 512);
      Box box = box_around(x, y, reach, width, height);
      Found found(table, box);
      ASSERT_TRUE(found.is_right(table, box)) << x << ", " << y << ", " << reach;
      for (int step = 0; step < 4 && y + 1 < height; ++step) {
        reach = std::clamp(reach + random.between(-2, 2), 0, 512);
        const Box below = box_around(x, ++y, reach, width, height);
        found.step(table, box, below);
        ASSERT_TRUE(found.is_right(table, below)) << x << ", " << y << ", " << reach;
        box = below;
      }
    }
  }
}

// --- On the GPU

struct Layout {
  int width, height;
  int offset = 0;  ///< bytes before the first row
  int gap = 0;     ///< and between rows
  bool upside_down = false;
};

/// One picture after the other, by one table.
class BuiltTable {
 public:
  explicit BuiltTable(const Layout& layout)
      : layout_(layout),
        row_(channels * layout.width + layout.gap),
        bytes_(static_cast<std::size_t>(layout.offset + row_ * layout.height)),
        picture_(backend_.allocate(bytes_.size())),
        table_(cuda::as_cuda(backend_), kernels::residue_tiles(layout.width, layout.height).value()) {}

  /// Seed 0 is white.
  void check(std::uint64_t seed, const kernels::SinglePassTrial& trial) {
    Random random(seed);
    for (std::byte& byte : bytes_) byte = seed == 0 ? std::byte{0xFF} : static_cast<std::byte>(random.next());
    backend_.upload(picture_.get(), bytes_.data(), bytes_.size(), {});
    const Shape shape{layout_.width, layout_.height, channels, Type::u8};
    const std::ptrdiff_t first = layout_.offset + (layout_.upside_down ? row_ * (layout_.height - 1) : 0);
    cuda::as_cuda(backend_).select();
    table_.build(
        {picture_.get() + first, shape, {channels, layout_.upside_down ? -row_ : row_, 1, 0}, Memory::device},
        {}, trial);
    const Sums expected(layout_.width, layout_.height, [&](int x, int y, int c) {
      const int row = layout_.upside_down ? layout_.height - 1 - y : y;
      return static_cast<std::uint8_t>(
          bytes_[static_cast<std::size_t>(layout_.offset + row * row_ + x * channels + c)]);
    });
    expect_entries(expected);
    expect_coarse(expected);
  }

 private:
  void expect_entries(const Sums& expected) {
    std::vector<residue::Entry> row(static_cast<std::size_t>(layout_.width) + 1);
    for (int y = -1; y < layout_.height; ++y) {
      download(row, table_.entries(), table_.entries_row(), y + 1);
      for (int x = 0; x <= layout_.width; ++x) {
        const residue::Entry entry = expected.entry(x - 1, y);
        const residue::Entry& found = row[static_cast<std::size_t>(x)];
        ASSERT_TRUE(found.low == entry.low && found.high == entry.high) << x - 1 << ", " << y;
      }
    }
  }
  void expect_coarse(const Sums& expected) {
    std::vector<std::uint32_t> row(static_cast<std::size_t>(residue::coarse_column(layout_.width + 3)));
    for (int y = 0; y <= residue::coarse_row(layout_.height - 1); ++y) {
      download(row, table_.coarse(), table_.coarse_row(), y);
      for (std::size_t x = 0; x < row.size(); ++x)
        ASSERT_EQ(row[x], expected.coarse(static_cast<int>(x), y)) << x << ", " << y;
    }
  }
  template <class Value>
  void download(std::vector<Value>& values, const Value* plane, int row_bytes, int row) {
    backend_.download(values.data(),
                      reinterpret_cast<const std::byte*>(plane) + std::ptrdiff_t{row} * row_bytes,
                      values.size() * sizeof(Value), {});
  }

  Backend& backend_ = device_under_test().backend();
  Layout layout_;
  std::ptrdiff_t row_;
  std::vector<std::byte> bytes_;
  Buffer picture_;
  cuda::ResidueTable table_;
};

class ResidueTable : public testing::Test {
 protected:
  void SetUp() override {
    if (!device_under_test().is_cuda()) GTEST_SKIP() << "a kernel of the GPU";
  }
};

TEST_F(ResidueTable, EveryPlaceOfRowsAndTiles) {
  for (const Layout& layout : {Layout{1, 1},
                               {2, 3},
                               {3, 130},
                               {4, 2, 1},
                               {5, 1, 3, 1},
                               {127, 16, 0, 3},
                               {128, 128},
                               {129, 129, 2, 2},
                               {130, 17, 0, 0, true},
                               {131, 15, 1, 0, true},
                               {257, 385, 4, 5},
                               {768, 260, 0, 4, true}})
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      BuiltTable table(layout);
      table.check(seed, {});
      if (HasFatalFailure()) FAIL() << layout.width << " x " << layout.height << ", seed " << seed;
    }
}

TEST_F(ResidueTable, BlocksAlone) {
  for (const Layout& layout : {Layout{129, 300}, {1283, 1410}, {300, 3000, 1}, {3000, 300}}) {
    BuiltTable table(layout);
    for (const int looks : {0, 1, 3, 1 << 13, 0}) {
      table.check(static_cast<std::uint64_t>(looks % 5), {.looks = looks});
      if (HasFatalFailure()) FAIL() << layout.width << " x " << layout.height << ", looks " << looks;
    }
  }
}

TEST_F(ResidueTable, ManyTilesInAnyOrder) {
  BuiltTable table({4099, 2500});
  for (const kernels::SinglePassTrial& trial :
       {kernels::SinglePassTrial{}, {.looks = 100, .reversed = true}, {.looks = 2}, {}, {.reversed = true}}) {
    table.check(static_cast<std::uint64_t>(trial.looks % 3), trial);
    if (HasFatalFailure()) FAIL() << trial.looks;
  }
}

}  // namespace
}  // namespace satin::test
