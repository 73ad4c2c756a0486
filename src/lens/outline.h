#pragma once
// Staircases of an opening that is no upright disc, hexagon or square.
//
// A staircase made from the rows of an outline has some boxes below each other, whose sides are the means of
// the outline's sides. A box of height h with sides of slope s misplaces light in proportion to h^2 s, so all
// boxes get the same integral of sqrt(s) over their rows.
//
// A staircase made from the cells of a picture has bands of rows. Each band has a box for every run of
// columns that are open in at least half of its rows, or one box around these. The division into bands is the
// one with the fewest wrong cells among all that have at most the allowed number of boxes.
//
// Rounding to pixels would move the centroid by up to 0.4 pixels. The boxes are therefore shifted against
// that and rounded again, and single sides move by a pixel while that helps, until at most 0.05 pixels are
// left.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lens/splat.h"

namespace satin {

/// A box whose sides are given in radii.
struct OutlineBox {
  double left, right, top, bottom;
};

/// Divides the open cells of a picture into boxes, from above and from left to right.
class OpeningBoxes {
 public:
  OpeningBoxes(const Opening& opening, int most)
      : most_(most), best_(static_cast<std::size_t>((side + 1) * (most + 1))) {
    for (std::size_t row = 0; row < side; ++row)
      for (std::size_t c = 0; c < side; ++c)
        above_[row + 1][c] = above_[row][c] + static_cast<int>(opening[row] >> c & 1);
    for (int count = 0; count <= most; ++count) best(0, count).wrong = 0;
    for (int bottom = 1; bottom <= side; ++bottom) find_best(bottom);
    add_bands(side, most);
  }

  std::vector<OutlineBox> boxes;

 private:
  static constexpr int side = aperture_picture_side;

  struct Band {
    std::array<int, side> open{};  ///< number of open cells in each column
    std::uint64_t columns = 0;     ///< bit per column: whether boxes cover it
    int wrong = 0;                 ///< number of open cells beside the boxes, and of others in them

    [[nodiscard]] int boxes() const { return std::popcount(columns & ~(columns << 1)); }
  };
  /// The best division of the rows above some row is known by its last band and its number of wrong cells.
  struct Division {
    int top = 0;
    bool filled = false;
    int wrong = side * side + 1;
  };

  /// Returns the band of these rows, with one box around its open columns if `filled`.
  [[nodiscard]] Band band_of(int top, int bottom, bool filled) const {
    const int height = bottom - top;
    Band band;
    for (std::size_t c = 0; c < side; ++c) {
      band.open[c] = above_[static_cast<std::size_t>(bottom)][c] - above_[static_cast<std::size_t>(top)][c];
      if (2 * band.open[c] >= height) band.columns |= std::uint64_t{1} << c;
    }
    if (filled && band.columns != 0)
      band.columns = ~std::uint64_t{0} << std::countr_zero(band.columns) &
                     ~std::uint64_t{0} >> std::countl_zero(band.columns);
    for (std::size_t c = 0; c < side; ++c) {
      const bool covered = (band.columns >> c & 1) != 0;
      band.wrong += covered ? height - band.open[c] : band.open[c];
      if (covered && filled) band.open[c] = height;
    }
    return band;
  }

  /// Returns the best division of the rows above `bottom` into at most `count` boxes.
  [[nodiscard]] Division& best(int bottom, int count) {
    return best_[static_cast<std::size_t>(bottom * (most_ + 1) + count)];
  }

  void find_best(int bottom) {
    for (int top = 0; top < bottom; ++top)
      for (const bool filled : {false, true}) {
        const Band band = band_of(top, bottom, filled);
        for (int count = band.boxes(); count <= most_; ++count) {
          const int wrong = band.wrong + best(top, count - band.boxes()).wrong;
          if (wrong < best(bottom, count).wrong) best(bottom, count) = {top, filled, wrong};
        }
      }
  }

  /// Adds the boxes of the best division. Their sides are the means of the cells' sides.
  void add_bands(int bottom, int count) {
    if (bottom == 0) return;
    const auto [top, filled, wrong] = best(bottom, count);
    const Band band = band_of(top, bottom, filled);
    add_bands(top, count - band.boxes());
    std::uint64_t columns = band.columns;
    for (int begin = 0, next = 0; columns != 0; begin = next) {
      const int first = std::countr_zero(columns);
      const int end = first + std::countr_one(columns >> first);
      columns = end < side ? columns >> end << end : 0;
      next = columns == 0 ? side : (end + std::countr_zero(columns)) / 2;
      const int middle = (first + end) / 2;
      double left = middle, right = middle;
      for (int c = begin; c < next; ++c)
        (c < middle ? left : right) +=
            (c < middle ? -1. : 1.) * band.open[static_cast<std::size_t>(c)] / (bottom - top);
      constexpr double radius = side / 2.;
      boxes.push_back({left / radius, right / radius, top / radius, bottom / radius});
    }
  }

  int most_;
  std::array<std::array<int, side>, side + 1> above_{};  ///< [row][column]: number of open cells above
  std::vector<Division> best_;                           ///< [row][number of boxes]
};

/// The boxes of an opening, which boxes() rounds to pixels for any radius.
class OutlineStairs {
 public:
  /// Makes boxes below each other. `rows` lie between -reach and reach; those that transmit light are
  /// neighbours.
  OutlineStairs(std::vector<OutlineRow> rows, double reach, int boxes)
      : rows_(std::move(rows)), reach_(reach), step_(2 * reach / static_cast<double>(rows_.size())) {
    std::vector<double> turns{0};  // integral of sqrt(slope) above each row
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      double turn = is_open(i) ? least_turn : 0;
      if (is_open(i) && i > 0 && is_open(i - 1))
        turn += std::sqrt(static_cast<double>(std::abs(rows_[i].left - rows_[i - 1].left) +
                                              std::abs(rows_[i].right - rows_[i - 1].right)));
      turns.push_back(turns.back() + turn);
      area_ += static_cast<double>(rows_[i].right - rows_[i].left) * step_;
    }
    const auto begin = std::upper_bound(turns.begin(), turns.end(), 0.0) - 1;
    double top = 0;
    for (int k = 0; k <= boxes; ++k) {
      const auto at =
          std::lower_bound(begin, turns.end() - 1, turns.back() * (static_cast<double>(k) / boxes));
      const double end = static_cast<double>(at - turns.begin()) * step_ - reach_;
      if (k > 0) boxes_.push_back({0, 0, top, end});
      top = end;
    }
  }

  /// `boxes` are in order from above, and from left to right.
  explicit OutlineStairs(std::vector<OutlineBox> boxes) : boxes_(std::move(boxes)) {
    double squares = 0;
    for (const auto& [left, right, top, bottom] : boxes_) {
      const double own = (right - left) * (bottom - top);
      area_ += own;
      x_ += own * (left + right) / 2;
      y_ += own * (top + bottom) / 2;
      squares +=
          own * (left * left + left * right + right * right + top * top + top * bottom + bottom * bottom);
    }
    if (area_ == 0) return;
    x_ /= area_;
    y_ /= area_;
    spread_ = 2 * (squares / (3 * area_) - x_ * x_ - y_ * y_);
  }

  static constexpr double usual_off = 0.05;  ///< pixels

  [[nodiscard]] double area() const { return area_; }  ///< in radii^2
  /// Returns the variance of boxes given to the constructor over that of a disc.
  [[nodiscard]] double spread() const { return spread_; }

  /// Returns the boxes for the outline times `rho`, around the centre of a pixel or of a block; none if their
  /// centroid is farther from it than `most_off`.
  [[nodiscard]] std::vector<KernelBox> boxes(double rho, bool block, double most_off) const {
    Boxes best;
    double least = most_off * most_off;
    const int more = block ? 2 : 1;
    double x = more / 2. - x_ * rho;
    double y = more / 2. - y_ * rho;
    for (int i = 0; i < shifts && least > enough_off * enough_off; ++i) {
      Boxes found = rounded(rho, x, y, more);
      if (found.boxes.empty()) break;
      x -= found.x();
      y -= found.y();
      while (found.off() > enough_off * enough_off && move_side(found)) {
      }
      if (found.off() > least) continue;
      least = found.off();
      best = std::move(found);
    }
    return best.boxes;
  }

 private:
  static constexpr double least_turn = 1e-4;
  static constexpr int shifts = 4;
  static constexpr double enough_off = 0.02;  ///< pixels
  static constexpr double most_moved = 1.5;   ///< pixels
  static constexpr double move_cost = 0.01;

  /// Boxes and their centroid. All sums are of integers, and so exact.
  struct Boxes {
    int more = 1;  ///< 2 around a block, or 1
    std::vector<KernelBox> boxes;
    std::vector<std::array<double, 2>> sides;          ///< before rounding
    double area = 0, twice_along = 0, twice_down = 0;  ///< first moments around the centre

    void add(const KernelBox& box, int sign) {
      const double own = sign * (box.right - box.left) * (box.bottom - box.top);
      area += own;
      twice_along += own * (box.left + box.right - more);
      twice_down += own * (box.top + box.bottom - more);
    }
    /// Adds a box whose top and bottom are rounded. It overlaps none on its left.
    void add_rounded(KernelBox box, double left, double right) {
      sides.push_back({left, right});
      box.left = nearest(left);
      if (!boxes.empty() && boxes.back().top == box.top) box.left = std::max(box.left, boxes.back().right);
      box.right = std::max(nearest(right), static_cast<std::int16_t>(box.left + 1));
      boxes.push_back(box);
      add(box, 1);
    }
    /// Whether box `k` may be this one without overlapping those beside it.
    [[nodiscard]] bool has_room(std::size_t k, const KernelBox& box) const {
      return (k == 0 || boxes[k - 1].top != box.top || boxes[k - 1].right <= box.left) &&
             (k + 1 == boxes.size() || boxes[k + 1].top != box.top || boxes[k + 1].left >= box.right);
    }
    void replace(std::size_t k, const KernelBox& box) {
      add(boxes[k], -1);
      add(box, 1);
      boxes[k] = box;
    }
    [[nodiscard]] double x() const { return twice_along / (2 * area); }
    [[nodiscard]] double y() const { return twice_down / (2 * area); }
    [[nodiscard]] double off() const { return x() * x() + y() * y(); }
  };

  static std::int16_t nearest(double value) { return static_cast<std::int16_t>(std::floor(value + .5)); }

  [[nodiscard]] bool is_open(std::size_t row) const { return rows_[row].left < rows_[row].right; }

  /// Returns the first row whose middle is not above `y`.
  [[nodiscard]] std::size_t row_at(double y) const {
    return static_cast<std::size_t>(
        std::clamp(std::ceil((y + reach_) / step_ - .5), 0.0, static_cast<double>(rows_.size())));
  }

  /// Sets the sides to the means of those of the rows [first, last) that transmit light, if there are any.
  void set_sides(OutlineBox& box, std::size_t first, std::size_t last) const {
    double left = 0, right = 0, open = 0;
    for (std::size_t i = first; i < last; ++i) {
      if (!is_open(i)) continue;
      left += static_cast<double>(rows_[i].left);
      right += static_cast<double>(rows_[i].right);
      ++open;
    }
    if (open > 0) box = {left / open, right / open, box.top, box.bottom};
  }

  /// Rounds the outline times `rho` around (x, y) to boxes.
  [[nodiscard]] Boxes rounded(double rho, double x, double y, int more) const {
    Boxes found;
    found.more = more;
    for (OutlineBox own : boxes_) {
      const KernelBox box{0, 0, nearest(own.top * rho + y), nearest(own.bottom * rho + y)};
      if (box.top >= box.bottom) continue;
      if (!rows_.empty()) set_sides(own, row_at((box.top - y) / rho), row_at((box.bottom - y) / rho));
      if (own.left < own.right) found.add_rounded(box, own.left * rho + x, own.right * rho + x);
    }
    return found;
  }

  /// Moves the side that brings the centroid nearest to the centre; false if none does.
  static bool move_side(Boxes& found) {
    const double before = found.off();
    double least = HUGE_VAL;
    std::size_t place = 0;
    KernelBox best{};
    for (std::size_t i = 0; i < 4 * found.boxes.size(); ++i) {
      const KernelBox own = found.boxes[i / 4];
      KernelBox box = own;
      std::int16_t& side = i % 2 == 0 ? box.left : box.right;
      side = static_cast<std::int16_t>(side + (i % 4 < 2 ? -1 : 1));
      const double moved = side - found.sides[i / 4][i % 2];
      if (box.left >= box.right || std::abs(moved) > most_moved || !found.has_room(i / 4, box)) continue;
      found.replace(i / 4, box);
      const double off = found.off();
      found.replace(i / 4, own);
      if (off >= before || off + move_cost * moved * moved >= least) continue;
      least = off + move_cost * moved * moved;
      place = i / 4;
      best = box;
    }
    if (best.left == best.right) return false;
    found.replace(place, best);
    return true;
  }

  std::vector<OutlineBox> boxes_;
  double area_ = 0, spread_ = 1;
  double x_ = 0, y_ = 0;          ///< centroid, in radii
  std::vector<OutlineRow> rows_;  ///< rows that the sides of the boxes are computed from; may be empty
  double reach_ = 1;
  double step_ = 1;  ///< height of a row, in radii
};

}  // namespace satin
