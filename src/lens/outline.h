#pragma once
// Staircases of an opening that is no upright disc, hexagon or square, from the rows of its outline.
//
// A staircase has some boxes below each other, whose sides are the means of the outline's sides. A box of
// height h with sides of slope s misplaces light in proportion to h^2 s, so all boxes get the same integral
// of sqrt(s) over their rows. Rounded to pixels, the centroid would be off by up to 0.4 pixels: the outline
// is shifted against that and rounded again, and single sides move by a pixel while that helps, until at most
// 0.05 pixels are left.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lens/splat.h"

namespace satin {

class OutlineStairs {
 public:
  /// `rows`: from -reach to reach; those that transmit light are neighbours.
  OutlineStairs(std::vector<OutlineRow> rows, double reach, int boxes)
      : rows_(std::move(rows)), reach_(reach), step_(2 * reach / static_cast<double>(rows_.size())) {
    std::vector<double> turns{0};  // integral of sqrt(slope) above each row
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      double turn = is_open(i) ? least_turn : 0;
      if (is_open(i) && i > 0 && is_open(i - 1))
        turn += std::sqrt(static_cast<double>(std::abs(rows_[i].left - rows_[i - 1].left) +
                                              std::abs(rows_[i].right - rows_[i - 1].right)));
      turns.push_back(turns.back() + turn);
    }
    const auto begin = std::upper_bound(turns.begin(), turns.end(), 0.0) - 1;
    for (int k = 0; k <= boxes; ++k) {
      const auto at =
          std::lower_bound(begin, turns.end() - 1, turns.back() * (static_cast<double>(k) / boxes));
      ends_.push_back(static_cast<double>(at - turns.begin()) * step_ - reach_);
    }
  }

  /// Returns the boxes for the outline times `rho`, around the centre of a pixel or of a block; none if their
  /// centroid is farther from it than most_off.
  [[nodiscard]] std::vector<KernelBox> boxes(double rho, bool block) const {
    Boxes best;
    double least = most_off * most_off;
    const int more = block ? 2 : 1;
    double x = more / 2.;
    double y = x;
    for (int i = 0; i < shifts && least > enough_off * enough_off; ++i) {
      Boxes found = rounded(rho, x, y, more);
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
  static constexpr double most_off = 0.05;    ///< pixels
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

  /// Rounds the outline times `rho` around (x, y) to boxes.
  [[nodiscard]] Boxes rounded(double rho, double x, double y, int more) const {
    Boxes found;
    found.more = more;
    for (std::size_t k = 0; k + 1 < ends_.size(); ++k) {
      KernelBox box{0, 0, nearest(ends_[k] * rho + y), nearest(ends_[k + 1] * rho + y)};
      double left = 0, right = 0, open = 0;
      for (std::size_t i = row_at((box.top - y) / rho); i < row_at((box.bottom - y) / rho); ++i) {
        if (!is_open(i)) continue;
        left += static_cast<double>(rows_[i].left);
        right += static_cast<double>(rows_[i].right);
        ++open;
      }
      if (open == 0) continue;
      found.sides.push_back({left / open * rho + x, right / open * rho + x});
      box.left = nearest(found.sides.back()[0]);
      box.right = std::max(nearest(found.sides.back()[1]), static_cast<std::int16_t>(box.left + 1));
      found.boxes.push_back(box);
      found.add(box, 1);
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
      if (box.left >= box.right || std::abs(moved) > most_moved) continue;
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

  std::vector<OutlineRow> rows_;
  double reach_;
  double step_;               ///< height of a row, in radii
  std::vector<double> ends_;  ///< ends of the boxes, in radii
};

}  // namespace satin
