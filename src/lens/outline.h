#pragma once
// Staircases of an opening that is no upright disc, hexagon or square, from the rows of its outline.
//
// A staircase has some boxes below each other, whose sides are the means of the outline's sides. A box of
// height h with sides of slope s misplaces light in proportion to h^2 s, so all boxes get the same integral
// of sqrt(s) over their rows. Rounded to pixels, the centroid would be off by up to 0.4 pixels: the outline
// is shifted against that and rounded again, and single sides move by a pixel while that helps, until at most
// 0.05 pixels are left.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "lens/splat.h"

namespace satin {

class OutlineStairs {
 public:
  /// `rows`: from -reach to reach; neighbouring ones transmit light.
  OutlineStairs(std::span<const OutlineRow> rows, double reach, int boxes)
      : reach_(reach), step_(2 * reach / static_cast<double>(rows.size())), lefts_{0}, rights_{0} {
    const auto is_open = [](const OutlineRow& row) { return row.left < row.right; };
    const auto begin = std::find_if(rows.begin(), rows.end(), is_open);
    const auto end = std::find_if_not(begin, rows.end(), is_open);
    first_ = begin - rows.begin();
    std::vector<double> turns{0};  // integral of sqrt(slope)
    for (auto row = begin; row != end; ++row) {
      lefts_.push_back(lefts_.back() + static_cast<double>(row->left));
      rights_.push_back(rights_.back() + static_cast<double>(row->right));
      const double slope = row + 1 == end ? 0
                                          : std::abs(static_cast<double>(row[1].left - row->left)) +
                                                std::abs(static_cast<double>(row[1].right - row->right));
      turns.push_back(turns.back() + std::sqrt(slope) + least_turn);
    }
    for (int k = 0; k <= boxes; ++k) {
      const auto at = std::lower_bound(turns.begin(), turns.end() - 1, turns.back() * k / boxes);
      ends_.push_back(static_cast<double>(first_ + (at - turns.begin())) * step_ - reach_);
    }
  }

  /// Returns the boxes for the outline times `rho`, around the centre of a pixel or of a block; none if their
  /// centroid is farther from it than most_off.
  [[nodiscard]] std::vector<KernelBox> boxes(double rho, bool block) const {
    const double centre = block ? 1 : .5;
    Boxes best;
    double least = most_off;
    Point shift{centre, centre};
    for (int i = 0; i < shifts && least > enough_off; ++i) {
      Boxes found = rounded(rho, shift);
      const Point moved = found.sums.centroid(centre);
      shift = {shift.x - moved.x, shift.y - moved.y};
      while (off(found.sums.centroid(centre)) > enough_off && move_side(found, centre)) {
      }
      if (off(found.sums.centroid(centre)) > least) continue;
      least = off(found.sums.centroid(centre));
      best = found;
    }
    return best.boxes;
  }

 private:
  static constexpr double least_turn = 1e-4;
  static constexpr int shifts = 4;
  static constexpr double most_off = 0.05;    ///< pixels
  static constexpr double enough_off = 0.02;  ///< pixels
  static constexpr double move_cost = 0.01;
  static constexpr double most_moved = 1.5;  ///< pixels

  struct Point {
    double x = 0, y = 0;
  };

  /// Sums over boxes: the area, and the area times twice the middle.
  struct Sums {
    double area = 0, along = 0, down = 0;

    void add(const KernelBox& box, int sign) {
      const double own = sign * (box.right - box.left) * (box.bottom - box.top);
      area += own;
      along += own * (box.left + box.right);
      down += own * (box.top + box.bottom);
    }
    [[nodiscard]] Point centroid(double centre) const {
      return {along / (2 * area) - centre, down / (2 * area) - centre};
    }
  };

  struct Boxes {
    std::vector<KernelBox> boxes;
    std::vector<Point> sides;  ///< left and right sides before rounding
    Sums sums;
  };

  static double off(const Point& centroid) { return std::max(std::abs(centroid.x), std::abs(centroid.y)); }
  static std::int16_t nearest(double value) { return static_cast<std::int16_t>(std::floor(value + .5)); }

  /// Returns the first open row whose middle is not above `y`, counted from the first open row.
  [[nodiscard]] std::size_t row_at(double y) const {
    const double row = std::ceil((y + reach_) / step_ - .5) - static_cast<double>(first_);
    return static_cast<std::size_t>(std::clamp(row, 0.0, static_cast<double>(lefts_.size() - 1)));
  }

  [[nodiscard]] Boxes rounded(double rho, const Point& shift) const {
    Boxes found;
    for (std::size_t k = 0; k + 1 < ends_.size(); ++k) {
      KernelBox box{0, 0, nearest(ends_[k] * rho + shift.y), nearest(ends_[k + 1] * rho + shift.y)};
      const std::size_t first = row_at((box.top - shift.y) / rho);
      const std::size_t end = row_at((box.bottom - shift.y) / rho);
      if (first >= end) continue;
      const double times = rho / static_cast<double>(end - first);
      const Point sides{(lefts_[end] - lefts_[first]) * times + shift.x,
                        (rights_[end] - rights_[first]) * times + shift.x};
      box.left = nearest(sides.x);
      box.right = nearest(sides.y);
      if (box.left >= box.right) continue;
      found.boxes.push_back(box);
      found.sides.push_back(sides);
      found.sums.add(box, 1);
    }
    return found;
  }

  /// Moves the side that brings the centroid nearest to the centre; false if none does.
  static bool move_side(Boxes& found, double centre) {
    const auto distance = [centre](const Sums& sums) {
      const Point off = sums.centroid(centre);
      return off.x * off.x + off.y * off.y;
    };
    std::size_t place = 0;
    KernelBox best{};
    double least = HUGE_VAL;
    for (std::size_t k = 0; k < found.boxes.size(); ++k)
      for (const int by : {-1, 1})
        for (const bool left : {true, false}) {
          KernelBox box = found.boxes[k];
          std::int16_t& side = left ? box.left : box.right;
          side = static_cast<std::int16_t>(side + by);
          const double before = left ? found.sides[k].x : found.sides[k].y;
          if (box.left >= box.right || std::abs(side - before) > most_moved) continue;
          Sums sums = found.sums;
          sums.add(found.boxes[k], -1);
          sums.add(box, 1);
          const double cost = distance(sums) + move_cost * (side - before) * (side - before);
          if (distance(sums) >= distance(found.sums) || cost >= least) continue;
          least = cost;
          place = k;
          best = box;
        }
    if (best.left == best.right) return false;
    found.sums.add(found.boxes[place], -1);
    found.sums.add(best, 1);
    found.boxes[place] = best;
    return true;
  }

  double reach_;
  double step_;                         ///< height of a row, in radii
  std::ptrdiff_t first_ = 0;            ///< first open row
  std::vector<double> lefts_, rights_;  ///< prefix sums over the open rows
  std::vector<double> ends_;            ///< ends of the boxes, in radii
};

}  // namespace satin
