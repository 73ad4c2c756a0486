// Means over lobes, the operation of gloss(): in exact integers, pixel by pixel.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/backend.h"
#include "lobes/lobe_mean.h"
#include "lobes/maths/lobe_cells.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

__extension__ using Exact = __int128;

/// A row of random boxes, among them some as wide as the circle. Where cells are pixels, a row may have none.
LobeRow random_row(LobeMeanJob& job, std::int64_t cell, Random& random) {
  const int width = static_cast<int>(job.width / cell);
  const int height = static_cast<int>(job.height / cell);
  const int fewest = cell > 1 ? 1 : 0;
  LobeRow row{static_cast<std::uint32_t>(job.boxes.size()),
              static_cast<std::uint32_t>(random.between(fewest, 3)), 0};
  for (std::uint32_t i = 0; i < row.boxes; ++i) {
    LobeBox box;
    box.first_row = random.between(0, height - 1);
    box.last_row = random.between(box.first_row, height - 1);
    box.inner = static_cast<std::uint32_t>(random.between(1, 1 << 22));
    const int most = (width - 1) / 2;
    box.reach = random.one_in(4) ? LobeBox::whole_circle : random.one_in(3) ? most : random.between(0, most);
    if (box.reach >= 0 && box.reach < most && random.one_in(2))
      box.outer = static_cast<std::uint32_t>(random.between(1, 1 << 22));
    std::uint64_t rows = 0;
    for (std::int64_t v = box.first_row * cell; v < (box.last_row + 1) * cell; ++v)
      rows += job.row_weights[static_cast<std::size_t>(v)];
    const auto pixels = rows * static_cast<std::uint64_t>(cell);
    row.weight += pixels * box.inner * static_cast<std::uint64_t>(box.reach < 0 ? width : 2 * box.reach + 1);
    row.weight += pixels * box.outer * static_cast<std::uint64_t>(2 * box.reach + 3);
    job.boxes.push_back(box);
  }
  return row;
}

LobeMeanJob random_job(const Shape& shape, Transfer transfer, const std::vector<std::int64_t>& cells,
                       Random& random) {
  LobeMeanJob job;
  job.width = shape.width;
  job.height = shape.height;
  job.read = read_for_lobes(shape, transfer);
  job.write = {shape.type, transfer, 0};
  for (std::int64_t y = 0; y < shape.height; ++y)
    job.row_weights.push_back(static_cast<std::uint32_t>(random.one_in(4) ? 4096 : random.between(1, 4096)));
  for (const std::int64_t cell : cells) {
    job.levels.push_back({cell, job.rows.size()});
    for (std::int64_t y = 0; y < shape.height / cell; ++y) job.rows.push_back(random_row(job, cell, random));
  }
  return job;
}

/// Weight of a column of a box that is `distance` columns away, at most half the circle.
std::uint64_t column_weight(const LobeBox& box, std::int64_t distance) {
  if (box.reach == LobeBox::whole_circle) return box.inner;
  return (distance <= box.reach ? box.inner : 0) + (distance <= box.reach + 1 ? box.outer : 0);
}

std::int64_t around_circle(std::int64_t a, std::int64_t b, std::int64_t width) {
  const std::int64_t distance = std::abs(a - b);
  return std::min(distance, width - distance);
}

std::int64_t stored_integer(const ImageView& view, std::int64_t x, std::int64_t y, int c) {
  return view.shape.type == Type::u8 ? view.value<std::uint8_t>(x, y, c) : view.value<std::uint16_t>(x, y, c);
}

/// Sum of channel c over the lobe around cell (x, y), times alpha if `by_alpha`.
Exact lobe_sum(const LobeMeanJob& job, const LobeLevel& level, const ImageView& map, std::int64_t x,
               std::int64_t y, int c, bool by_alpha) {
  const LobeRow& row = job.rows[level.first_row + static_cast<std::size_t>(y)];
  Exact sum = 0;
  for (std::uint32_t i = 0; i < row.boxes; ++i) {
    const LobeBox& box = job.boxes[row.first_box + i];
    for (std::int64_t v = box.first_row * level.cell; v < (box.last_row + 1) * level.cell; ++v)
      for (std::int64_t u = 0; u < job.width; ++u) {
        const std::int64_t distance = around_circle(x, u / level.cell, job.width / level.cell);
        const Exact weight =
            static_cast<Exact>(column_weight(box, distance)) * job.row_weights[static_cast<std::size_t>(v)];
        sum += weight * stored_integer(map, u, v, c) *
               (by_alpha ? stored_integer(map, u, v, map.shape.channels - 1) : 1);
      }
  }
  return sum;
}

std::int64_t rounded(Exact sum, Exact divisor) {
  return static_cast<std::int64_t>((2 * sum + divisor) / (2 * divisor));
}

/// A sum over one or more lobes, and its divisor.
struct Sum {
  Exact value = 0;
  Exact weight = 0;
};

/// Weight of a cell at a pixel's centre, times 2 `cell`: a tent that is two cells wide.
std::int64_t tent(std::int64_t pixel, std::int64_t of_cell, std::int64_t cell) {
  return std::max<std::int64_t>(0, 2 * cell - std::abs(2 * pixel + 1 - (2 * of_cell + 1) * cell));
}

/// Expected values of a level: means over the pixel's own lobe, or means of cells in 1/256 interpolated by
/// tents.
class LevelOracle {
 public:
  LevelOracle(const LobeMeanJob& job, const LobeLevel& level, const ImageView& map)
      : job_(job),
        level_(level),
        map_(map),
        width_(job.width / level.cell),
        height_(job.height / level.cell) {
    if (level.cell == 1) return;
    for (std::int64_t y = 0; y < height_; ++y)
      for (std::int64_t x = 0; x < width_; ++x)
        for (int c = 0; c < map.shape.channels; ++c) {
          const Exact sum = lobe_sum(job, level, map, x, y, c, by_alpha(c));
          means_.push_back(rounded(256 * sum, static_cast<Exact>(row(y).weight)));
        }
  }

  [[nodiscard]] std::int64_t value(std::int64_t x, std::int64_t y, int c) const {
    const std::int64_t own = stored_integer(map_, x, y, c);
    if (level_.cell == 1 && row(y).boxes == 0) return own;
    const Sum sum = sum_at(x, y, c);
    if (!by_alpha(c)) return rounded(sum.value, sum.weight);
    const Sum alpha = sum_at(x, y, map_.shape.channels - 1);
    if (rounded(alpha.value, alpha.weight) == 0) return own;
    const std::int64_t white = map_.shape.type == Type::u8 ? 0xFF : 0xFFFF;
    return std::min(white, rounded(sum.value, alpha.value));
  }

 private:
  [[nodiscard]] bool by_alpha(int c) const {
    return map_.shape.alpha == Alpha::straight && c != map_.shape.channels - 1;
  }
  [[nodiscard]] const LobeRow& row(std::int64_t y) const {
    return job_.rows[level_.first_row + static_cast<std::size_t>(y)];
  }
  [[nodiscard]] Sum sum_at(std::int64_t x, std::int64_t y, int c) const {
    if (level_.cell == 1)
      return {lobe_sum(job_, level_, map_, x, y, c, by_alpha(c)), static_cast<Exact>(row(y).weight)};
    Sum sum;
    for (std::int64_t j = -1; j <= height_; ++j) {
      const bool inside = j >= 0 && j < height_;
      const std::int64_t row = inside ? j : j < 0 ? 0 : height_ - 1;
      const std::int64_t column = inside ? x : (x + job_.width / 2) % job_.width;  // behind the pole
      for (std::int64_t i = -1; i <= width_; ++i) {
        const Exact weight = tent(column, i, level_.cell) * tent(y, j, level_.cell);
        const std::int64_t at = (row * width_ + (i + width_) % width_) * map_.shape.channels + c;
        sum.value += weight * means_[static_cast<std::size_t>(at)];
        sum.weight += 256 * weight;
      }
    }
    return sum;
  }

  const LobeMeanJob& job_;
  const LobeLevel& level_;
  const ImageView& map_;
  std::int64_t width_;  ///< columns of cells
  std::int64_t height_;
  std::vector<std::int64_t> means_;
};

Image run(const LobeMeanJob& job, const Image& map) {
  const Device& device = device_under_test();
  Shape shape = map.shape();
  shape.height *= static_cast<std::int64_t>(job.levels.size());
  const auto operation = device.backend().prepare(job);
  const Image on_device = device.upload(map);
  Image result = device.upload(poisoned(shape));
  operation->run(on_device.view(), nullptr, result.view(), {});
  device.synchronize();
  return device.download(result.view());
}

void expect_sums(const LobeMeanJob& job, const Image& map) {
  const Image result = run(job, map);
  const Shape& shape = map.shape();
  for (std::size_t level = 0; level < job.levels.size(); ++level) {
    const ImageView source = map.view();
    const LevelOracle oracle(job, job.levels[level], source);
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t x = 0; x < shape.width; ++x)
        for (int c = 0; c < shape.channels; ++c)
          ASSERT_EQ(stored_integer(result.view(), x, static_cast<std::int64_t>(level) * shape.height + y, c),
                    oracle.value(x, y, c))
              << x << ", " << y << ", channel " << c << ", level " << level << " of cells of "
              << job.levels[level].cell;
  }
}

TEST(LobeMean, EqualsTheSumsPixelByPixel) {
  Random random(11);
  std::uint64_t seed = 1;
  for (const auto& [width, height] :
       {std::pair{1, 1}, {2, 2}, {3, 1}, {1, 5}, {7, 4}, {12, 6}, {33, 9}, {300, 3}})
    for (const Type type : {Type::u8, Type::u16})
      for (const int channels : {1, 2, 3, 4}) {
        const Alpha alpha = channels % 2 == 0 && random.one_in(2) ? Alpha::straight : Alpha::none;
        const Shape shape{width, height, channels, type, alpha};
        SCOPED_TRACE(describe(shape) + (alpha == Alpha::straight ? ", alpha" : ""));
        const std::vector<std::int64_t> cells(static_cast<std::size_t>(random.between(1, 3)), 1);
        expect_sums(random_job(shape, Transfer::identity, cells, random), random_picture(shape, seed++));
      }
}

TEST(LobeMean, CellsEqualTheSumsPixelByPixel) {
  Random random(12);
  std::uint64_t seed = 1;
  struct Case {
    std::int64_t width, height;
    std::vector<std::int64_t> cells;
  };
  for (const Case& of : {Case{2, 2, {2}}, Case{6, 4, {1, 2, 2}}, Case{20, 8, {4, 2, 1}}, Case{24, 8, {8, 8}},
                         Case{48, 16, {1, 16, 4}}, Case{520, 4, {2}}})
    for (const Type type : {Type::u8, Type::u16})
      for (const int channels : {1, 2, 3, 4}) {
        const Alpha alpha = channels % 2 == 0 ? Alpha::straight : Alpha::none;
        const Shape shape{of.width, of.height, channels, type, alpha};
        SCOPED_TRACE(describe(shape));
        expect_sums(random_job(shape, Transfer::identity, of.cells, random), random_picture(shape, seed++));
      }
}

/// White gives the largest sums of a cell, means and interpolated values: 40, 48 and 58 bits.
TEST(LobeMean, WhiteCellsStayWhite) {
  Random random(13);
  for (const int channels : {1, 3, 4}) {
    const Shape shape{64, 32, channels, Type::u16, channels == 4 ? Alpha::straight : Alpha::none};
    const Image map = constant_picture(shape, 1);
    const Image result = run(random_job(shape, Transfer::srgb, {16}, random), map);
    EXPECT_EQ(difference(result.view(), map.view()), "") << channels;
  }
}

TEST(LobeMean, MeansOfCellsAreExact) {
  Random random(14);
  const std::uint64_t most_weight = ((std::uint64_t{1} << 61) - 1) / 0xFFFF;
  const std::uint64_t most_value = std::uint64_t{0xFFFFFF} * 0xFFFF;
  for (int i = 0; i < 2000; ++i) {
    WideSum total;
    Exact exact = 0;
    std::uint64_t weights = 0;
    for (int box = 0; box < 511; ++box) {
      const std::uint64_t weight = 1 + random.below(most_weight / 511 / 2) * (i % 3 == 0 ? 1 : 2);
      const std::uint64_t value = i % 2 == 0 ? most_value : random.below(most_value + 1);
      // as many pixels as the table's bound leaves, so that the double of their sum is rounded too
      const std::uint64_t pixels = std::min<std::uint64_t>(weight, (std::uint64_t{1} << 63) / most_value - 1);
      add_weighted(total, weight / pixels, value * pixels, true);
      exact += static_cast<Exact>(weight / pixels) * value * pixels;
      weights += weight / pixels * pixels;
    }
    ASSERT_EQ(static_cast<std::int64_t>(cell_mean(total, weights, false)),
              rounded(256 * exact, static_cast<Exact>(weights)));
  }
}

TEST(LobeMean, BoundsOfSumsAndWeights) {
  constexpr Exact largest_sum = (Exact{1} << 63) - 1;
  const auto pixels = static_cast<std::int64_t>(largest_sum / 4096 / 0xFFFFFF);
  const Shape fits{pixels, 1, 3, Type::u16};
  Shape one_more = fits;
  ++one_more.width;
  EXPECT_EQ(read_for_lobes(fits, Transfer::srgb).maximum, 0xFFFFFFU);
  expect_error(ErrorKind::usage, "63 bits", [&] { return read_for_lobes(one_more, Transfer::srgb); });
  // Floats lose bits instead: 4096 * 2^20 values of 30 bits stay below 2^63, one more bit does not.
  EXPECT_EQ(read_for_lobes({1 << 10, 1 << 10, 3, Type::f32}, Transfer::identity).fixed_bits, 30);

  LobeMeanJob job;
  job.rows.push_back({0, 1, (std::uint64_t{1} << 61) - 1});
  EXPECT_NO_THROW(check_lobe_weights(job));
  job.rows.back().weight += 1;
  expect_error(ErrorKind::usage, "too large", [&] { return check_lobe_weights(job), 0; });
  job.read.alpha_maximum = 255;
  job.rows.back().weight = (std::uint64_t{1} << 61) / 255;
  EXPECT_NO_THROW(check_lobe_weights(job));
  job.rows.back().weight += 1;
  expect_error(ErrorKind::usage, "too large", [&] { return check_lobe_weights(job), 0; });
}

}  // namespace
}  // namespace satin::test
