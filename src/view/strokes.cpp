#include "view/strokes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace satin::view {
namespace {

constexpr int white = 255;

/// A rectangle of pixels, the ends not included.
struct Area {
  std::int64_t left, top, right, bottom;
};

Area area_of(const StrokePoint& a, const StrokePoint& b, double radius, std::int64_t width,
             std::int64_t height) {
  const auto held = [](double at, std::int64_t size) {
    return static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<double>(size)));
  };
  return {held(std::floor(std::min(a.x, b.x) - radius), width),
          held(std::floor(std::min(a.y, b.y) - radius), height),
          held(std::ceil(std::max(a.x, b.x) + radius), width),
          held(std::ceil(std::max(a.y, b.y) + radius), height)};
}

/// Square of the distance to a segment.
double square_distance(double x, double y, const StrokePoint& a, const StrokePoint& b) {
  const double along_x = b.x - a.x, along_y = b.y - a.y;
  const double length = along_x * along_x + along_y * along_y;
  const double place =
      length > 0 ? std::clamp(((x - a.x) * along_x + (y - a.y) * along_y) / length, 0.0, 1.0) : 0;
  const double away_x = x - (a.x + place * along_x), away_y = y - (a.y + place * along_y);
  return away_x * away_x + away_y * away_y;
}

/// A round brush; cover() is its cover of a pixel, of 255, by the squared distance.
class Brush {
 public:
  Brush(double radius, double hardness)
      : outer_(radius),
        ramp_(std::max(radius - radius * hardness, 1.0)),
        hard_(std::max(outer_ - ramp_, 0.0)) {}

  [[nodiscard]] int cover(double square) const {
    if (square >= outer_ * outer_) return 0;
    if (square <= hard_ * hard_) return white;
    const double part = std::min((outer_ - std::sqrt(square)) / ramp_, 1.0);
    return static_cast<int>(part * white + 0.5);
  }

 private:
  double outer_, ramp_, hard_;
};

constexpr int product(int a, int b) { return (a * b + white / 2) / white; }

/// Adds strokes to a mask, one after another; `cover_` is that of the stroke under way.
class Canvas {
 public:
  Canvas(std::int64_t width, std::int64_t height)
      : mask_({width, height, 1, Type::u8}), cover_(mask_.shape()) {
    std::memset(mask_.data(), 0, byte_size(mask_.shape()));
    std::memset(cover_.data(), 0, byte_size(cover_.shape()));
  }

  void add(const Stroke& stroke) {
    const Brush brush(stroke.radius, stroke.hardness);
    for (std::size_t i = 0; i < stroke.points.size(); ++i)
      add_segment(stroke.points[i == 0 ? 0 : i - 1], stroke.points[i], stroke.radius, brush);
    for (std::size_t i = 0; i < stroke.points.size(); ++i)
      blend(area_of(stroke.points[i == 0 ? 0 : i - 1], stroke.points[i], stroke.radius, mask_.shape().width,
                    mask_.shape().height),
            stroke.erase);
  }

  Image take() { return std::move(mask_); }

 private:
  void add_segment(const StrokePoint& a, const StrokePoint& b, double radius, const Brush& brush) {
    const Area area = area_of(a, b, radius, mask_.shape().width, mask_.shape().height);
    for (std::int64_t y = area.top; y < area.bottom; ++y) {
      auto* row = cover_.view().row<std::uint8_t>(y);
      for (std::int64_t x = area.left; x < area.right; ++x) {
        const double square =
            square_distance(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5, a, b);
        row[x] = static_cast<std::uint8_t>(std::max<int>(row[x], brush.cover(square)));
      }
    }
  }

  /// Areas overlap: what is blended is taken away, so that it counts once.
  void blend(const Area& area, bool erase) {
    for (std::int64_t y = area.top; y < area.bottom; ++y) {
      auto* mask = mask_.view().row<std::uint8_t>(y);
      auto* cover = cover_.view().row<std::uint8_t>(y);
      for (std::int64_t x = area.left; x < area.right; ++x) {
        const int now = mask[x], a = cover[x];
        mask[x] = static_cast<std::uint8_t>(erase ? product(now, white - a) : now + product(white - now, a));
        cover[x] = 0;
      }
    }
  }

  Image mask_;
  Image cover_;
};

}  // namespace

Image mask_of(const std::vector<Stroke>& strokes, std::int64_t width, std::int64_t height) {
  Canvas canvas(width, height);
  for (const Stroke& stroke : strokes) canvas.add(stroke);
  return canvas.take();
}

}  // namespace satin::view
