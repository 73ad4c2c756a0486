#include "view/brush.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "satin/error.h"

namespace satin::view {
namespace {

constexpr int white = 255;
constexpr int cell = 64;  ///< pixels across a cell, for which the nearest segments are looked up once

/// A line between two points; a single point if both are equal.
struct Segment {
  StrokePoint from, to;

  [[nodiscard]] double square_distance(double x, double y) const {
    const double along_x = to.x - from.x, along_y = to.y - from.y;
    const double length = along_x * along_x + along_y * along_y;
    const double place =
        length > 0 ? std::clamp(((x - from.x) * along_x + (y - from.y) * along_y) / length, 0.0, 1.0) : 0;
    const double away_x = x - (from.x + place * along_x), away_y = y - (from.y + place * along_y);
    return away_x * away_x + away_y * away_y;
  }
};

/// A round brush. cover() returns its cover of a pixel, of 255, from the squared distance.
class Brush {
 public:
  explicit Brush(const Stroke& stroke)
      : outer_(stroke.radius),
        ramp_(std::max(stroke.radius - stroke.radius * stroke.hardness, 1.0)),
        hard_(std::max(outer_ - ramp_, 0.0)) {}

  [[nodiscard]] int cover(double square) const {
    if (square >= outer_ * outer_) return 0;
    if (square <= hard_ * hard_) return white;
    const double cover = std::min((outer_ - std::sqrt(square)) / ramp_, 1.0);
    return static_cast<int>(cover * white + 0.5);
  }
  [[nodiscard]] double outer() const { return outer_; }
  [[nodiscard]] double hard() const { return hard_; }

 private:
  double outer_, ramp_, hard_;
};

constexpr int product(int a, int b) { return (a * b + white / 2) / white; }

/// Blends one stroke into a mask, cell by cell. A pixel's cover is that of its nearest segment. Of all
/// segments only those are looked at that can be the nearest one of a pixel of the cell: the distance of a
/// pixel differs from that of the cell's centre by at most half a diagonal.
class StrokePainter {
 public:
  StrokePainter(const Stroke& stroke, Image& mask) : mask_(mask), brush_(stroke), erase_(stroke.erase) {
    for (std::size_t i = 0; i < stroke.points.size(); ++i)
      segments_.push_back({stroke.points[i == 0 ? 0 : i - 1], stroke.points[i]});
    distances_.resize(segments_.size());
  }

  /// Throws Error(cancelled) soon after `ended` returns true.
  void paint(const std::function<bool()>& ended) {
    const Shape& shape = mask_.shape();
    for (std::int64_t top = 0; top < shape.height; top += cell)
      for (std::int64_t left = 0; left < shape.width; left += cell) {
        if (find_nearest(left, top)) paint_cell(left, top, ended);
      }
  }

 private:
  /// Collects the segments that may be the nearest one. Returns false if the brush does not reach the cell.
  bool find_nearest(std::int64_t left, std::int64_t top) {
    static const double half_diagonal = cell * std::sqrt(0.5);
    const double x = static_cast<double>(left) + cell / 2.0, y = static_cast<double>(top) + cell / 2.0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      distances_[i] = std::sqrt(segments_[i].square_distance(x, y));
      least = std::min(least, distances_[i]);
    }
    nearest_.clear();
    if (least - half_diagonal >= brush_.outer()) return false;
    if (least + half_diagonal <= brush_.hard()) {  // any segment that is near enough covers the whole cell
      nearest_.push_back(
          segments_[static_cast<std::size_t>(std::ranges::min_element(distances_) - distances_.begin())]);
      return true;
    }
    for (std::size_t i = 0; i < segments_.size(); ++i)
      if (distances_[i] <= least + 2 * half_diagonal) nearest_.push_back(segments_[i]);
    return true;
  }

  void paint_cell(std::int64_t left, std::int64_t top, const std::function<bool()>& ended) {
    const std::int64_t right = std::min<std::int64_t>(left + cell, mask_.shape().width);
    const std::int64_t bottom = std::min<std::int64_t>(top + cell, mask_.shape().height);
    for (std::int64_t y = top; y < bottom; ++y) {
      if (ended()) throw Error(ErrorKind::cancelled, "Nothing was painted: the session ends.");
      std::array<double, cell> squares;
      squares.fill(std::numeric_limits<double>::infinity());
      for (const Segment& segment : nearest_)
        for (std::int64_t x = left; x < right; ++x) {
          double& square = squares[static_cast<std::size_t>(x - left)];
          square = std::min(
              square, segment.square_distance(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5));
        }
      auto* row = mask_.view().row<std::uint8_t>(y);
      for (std::int64_t x = left; x < right; ++x) {
        const int before = row[x], cover = brush_.cover(squares[static_cast<std::size_t>(x - left)]);
        row[x] = static_cast<std::uint8_t>(erase_ ? product(before, white - cover)
                                                  : before + product(white - before, cover));
      }
    }
  }

  Image& mask_;
  Brush brush_;
  bool erase_;
  std::vector<Segment> segments_;
  std::vector<double> distances_;  ///< distance of each segment from the centre of the cell
  std::vector<Segment> nearest_;
};

}  // namespace

Image MaskCanvas::paint(const std::vector<Stroke>& strokes, const std::function<bool()>& ended) {
  const std::size_t last = strokes.empty() ? 0 : strokes.size() - 1;
  const bool goes_on =
      painted_.size() <= last && std::equal(painted_.begin(), painted_.end(), strokes.begin());
  if (!goes_on) {
    painted_.clear();
    base_ = start_.clone();
  }
  while (painted_.size() < last) {
    StrokePainter(strokes[painted_.size()], base_).paint(ended);
    painted_.push_back(strokes[painted_.size()]);
  }
  Image mask = base_.clone();
  if (!strokes.empty()) StrokePainter(strokes.back(), mask).paint(ended);
  return mask;
}

}  // namespace satin::view
