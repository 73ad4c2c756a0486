#include "view/readout.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "satin/filters/dof.h"

namespace satin::view {
namespace {

double white_of(Type type) {
  if (type == Type::u8) return std::numeric_limits<std::uint8_t>::max();
  return type == Type::u16 ? std::numeric_limits<std::uint16_t>::max() : 1;
}

/// A depth image as a lens takes it.
class DepthValues {
 public:
  DepthValues(const Image& image, const LensFocus& lens, const Shape& picture)
      : view_(image.view()),
        lens_(lens),
        white_(white_of(view_.shape.type)),
        scale_(lens.depth_scale.value_or(1 / white_)),
        channel_(lens.depth_channel ? std::min(lens.depth_channel->index, view_.shape.channels - 1) : 0),
        across_(static_cast<double>(view_.shape.width) / static_cast<double>(picture.width)),
        down_(static_cast<double>(view_.shape.height) / static_cast<double>(picture.height)) {}

  /// The depth at a place in the picture, scaled as the focus is told.
  [[nodiscard]] double at(double x, double y) const { return scale_ * stored(column(x), row(y)); }

  /// The lower median of the known values of 5 x 5 pixels.
  [[nodiscard]] std::optional<double> focus_around(double x, double y) const {
    constexpr std::int64_t reach = 2;
    std::vector<double> known;
    const std::int64_t across = column(x), down = row(y);
    for (std::int64_t v = std::max<std::int64_t>(down - reach, 0);
         v <= std::min(down + reach, view_.shape.height - 1); ++v)
      for (std::int64_t u = std::max<std::int64_t>(across - reach, 0);
           u <= std::min(across + reach, view_.shape.width - 1); ++u)
        if (const double value = stored(u, v); std::isfinite(value) && value != lens_.unknown)
          known.push_back(value);
    if (known.empty()) return std::nullopt;
    const auto middle = known.begin() + static_cast<std::ptrdiff_t>((known.size() - 1) / 2);
    std::nth_element(known.begin(), middle, known.end());
    return scale_ * *middle;
  }

  /// Signed radius of blur at this depth.
  [[nodiscard]] double radius(double depth, double focus, double strength) const {
    const double away = std::max(std::abs(depth - focus) - lens_.sharp_range.value_or(0), 0.0);
    const double held = depth < focus ? focus - away : focus + away;
    const double blur = strength * (nearness(held) - nearness(focus));
    return std::clamp(blur, -lens_.max_radius, lens_.max_radius);
  }

 private:
  [[nodiscard]] double nearness(double depth) const {
    const double value = lens_.invert_depth ? white_ * scale_ - depth : depth;
    return lens_.depth_kind == DepthKind::disparity ? value : 1 / value;
  }
  [[nodiscard]] std::int64_t column(double x) const {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(x * across_), 0, view_.shape.width - 1);
  }
  [[nodiscard]] std::int64_t row(double y) const {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(y * down_), 0, view_.shape.height - 1);
  }
  [[nodiscard]] double stored(std::int64_t x, std::int64_t y) const {
    if (view_.shape.type == Type::u8) return view_.value<std::uint8_t>(x, y, channel_);
    if (view_.shape.type == Type::u16) return view_.value<std::uint16_t>(x, y, channel_);
    return static_cast<double>(view_.value<float>(x, y, channel_));
  }

  ImageView view_;
  const LensFocus& lens_;
  double white_, scale_;
  int channel_;
  double across_, down_;
};

std::optional<double> strength_in(std::span<const FoundValue> found) {
  const auto value = std::ranges::find(found, "strength", &FoundValue::parameter);
  return value == found.end() ? std::nullopt : std::optional(value->value);
}

std::optional<double> radius_of(const DepthValues& values, const LensFocus& lens, const Shape& picture,
                                double depth, std::span<const FoundValue> found) {
  const Point place = lens.focus_at.value_or(Point{{50, true}, {50, true}});
  const auto width = static_cast<double>(picture.width), height = static_cast<double>(picture.height);
  const std::optional<double> focus =
      lens.focus ? lens.focus : values.focus_around(place.x.pixels(width), place.y.pixels(height));
  const std::optional<double> strength = strength_in(found);
  if (!focus || !strength) return std::nullopt;
  const double radius = values.radius(depth, *focus, *strength);
  return std::isfinite(radius) ? std::optional(radius) : std::nullopt;
}

}  // namespace

std::optional<LensReading> lens_at(const Pipeline& steps, const Sides& sides,
                                   std::span<const FoundValue> found, const Shape& picture, double x,
                                   double y) {
  if (sides.size() != steps.size()) return std::nullopt;
  for (std::size_t i = steps.size(); i-- > 0;) {
    const FilterRecord& filter = steps[i].parameters.filter();
    const auto input = std::ranges::find(filter.inputs, Role::depth, &InputRecord::role);
    if (filter.name != dof_record().name || input == filter.inputs.end()) continue;
    const auto at = static_cast<std::size_t>(input - filter.inputs.begin());
    if (at >= sides[i].size() || sides[i][at] == nullptr) return std::nullopt;
    const LensFocus& lens = static_cast<const Dof*>(steps[i].parameters.data())->lens;
    const std::shared_ptr<const Image> image = sides[i][at]->find(0);
    const DepthValues values(*image, lens, picture);
    const double depth = values.at(x, y);
    return LensReading{depth, radius_of(values, lens, picture, depth, found)};
  }
  return std::nullopt;
}

}  // namespace satin::view
