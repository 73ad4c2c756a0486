#include "view/depth_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "satin/filters/dof.h"

namespace satin::view {
namespace {

constexpr int bins = 64;
constexpr double same_depth = 0.01;             ///< relative difference in disparity
constexpr std::int64_t searched_columns = 512;  ///< samples of a row among which the focus is searched
constexpr Point middle{{50, true}, {50, true}};

double white_of(Type type) {
  if (type == Type::u8) return std::numeric_limits<std::uint8_t>::max();
  return type == Type::u16 ? std::numeric_limits<std::uint16_t>::max() : 1;
}

/// Returns the sample of an axis with `samples` of them at a position on an axis of `size`.
std::int64_t sample_at(double at, std::int64_t size, std::int64_t samples) {
  const double sample = at * static_cast<double>(samples) / static_cast<double>(size);
  return static_cast<std::int64_t>(std::clamp(sample, 0.0, static_cast<double>(samples - 1)));
}

/// Returns the image from which a step reads depth, or null.
std::shared_ptr<const Image> depth_image(const PipelineStep& step,
                                         const std::vector<std::shared_ptr<Pyramid>>& sides,
                                         const OpenPicture& picture) {
  const FilterRecord& filter = step.parameters.filter();
  const auto input = std::ranges::find(filter.inputs, Role::depth, &InputRecord::role);
  if (filter.name != dof_record().name || input == filter.inputs.end()) return nullptr;
  if (static_cast<const Dof*>(step.parameters.data())->lens.depth_from == DepthSource::alpha)
    return picture.pixels->find(0);
  const auto at = static_cast<std::size_t>(input - filter.inputs.begin());
  return at < sides.size() && sides[at] != nullptr ? sides[at]->find(0) : nullptr;
}

}  // namespace

std::optional<DepthMap> DepthMap::of(const Pipeline& steps, const Sides& sides, const OpenPicture& picture,
                                     std::span<const FoundValue> found) {
  for (std::size_t i = std::min(steps.size(), sides.size()); i-- > 0;)
    if (std::shared_ptr<const Image> image = depth_image(steps[i], sides[i], picture)) {
      LensFocus lens = static_cast<const Dof*>(steps[i].parameters.data())->lens;
      for (const FoundValue& value : found)
        if (lens.focus && lens.focus->end && value.step == i && value.parameter == "focus")
          lens.focus = value.value;
      return DepthMap(i, lens, std::move(image), picture.shape());
    }
  return std::nullopt;
}

DepthMap::DepthMap(std::size_t step, const LensFocus& lens, std::shared_ptr<const Image> image,
                   const Shape& picture)
    : step_(step), lens_(lens), image_(std::move(image)), view_(image_->view()), picture_(picture) {
  const double white = white_of(view_.shape.type);
  const int last = view_.shape.channels - 1;
  if (lens.depth_channel) channel_ = std::min(lens.depth_channel->index, last);
  if (lens.depth_from == DepthSource::alpha) channel_ = last;
  gain_ = lens.depth_scale.value_or(1 / white);
  if (lens.depth_range) {
    const auto [near, far] = *lens.depth_range;
    const bool white_is_near = holds_distances() == lens.invert_depth;
    offset_ = white_is_near ? far : near;
    gain_ = ((white_is_near ? near : far) - offset_) / white;
  } else if (lens.invert_depth) {
    turned_ = white * gain_;
  }
}

bool DepthMap::equals(const DepthMap& other) const {
  const auto rule = [](const DepthMap& map) {
    return std::tuple(map.image_, map.lens_.depth_kind, map.lens_.unknown, map.gain_, map.offset_,
                      map.turned_, map.channel_);
  };
  return rule(*this) == rule(other);
}

std::optional<double> DepthMap::value(std::int64_t x, std::int64_t y) const {
  const Type type = view_.shape.type;
  const double stored = type == Type::u8    ? view_.value<std::uint8_t>(x, y, channel_)
                        : type == Type::u16 ? view_.value<std::uint16_t>(x, y, channel_)
                                            : static_cast<double>(view_.value<float>(x, y, channel_));
  const double value = offset_ + gain_ * stored;
  const bool is_known = std::isfinite(stored) && stored != lens_.unknown && std::isfinite(disparity(value));
  return is_known && (!holds_distances() || disparity(value) > 0) ? std::optional(value) : std::nullopt;
}

double DepthMap::disparity(double value) const {
  const double used = turned_ != 0 ? turned_ - value : value;
  return holds_distances() ? 1 / used : used;
}

std::int64_t DepthMap::column(double x) const { return sample_at(x, picture_.width, view_.shape.width); }
std::int64_t DepthMap::row(double y) const { return sample_at(y, picture_.height, view_.shape.height); }

std::optional<double> DepthMap::focus() const {
  if (lens_.focus) return lens_.focus->end ? std::nullopt : std::optional(lens_.focus->value);
  constexpr std::int64_t reach = 2;
  const Point place = lens_.focus_at.value_or(middle);
  const std::int64_t across = column(place.x.pixels(static_cast<double>(picture_.width)));
  const std::int64_t down = row(place.y.pixels(static_cast<double>(picture_.height)));
  std::vector<double> known;
  for (std::int64_t y = std::max<std::int64_t>(down - reach, 0);
       y <= std::min(down + reach, view_.shape.height - 1); ++y)
    for (std::int64_t x = std::max<std::int64_t>(across - reach, 0);
         x <= std::min(across + reach, view_.shape.width - 1); ++x)
      if (const std::optional<double> depth = value(x, y)) known.push_back(*depth);
  if (known.empty()) return std::nullopt;
  const auto median = known.begin() + static_cast<std::ptrdiff_t>((known.size() - 1) / 2);
  std::nth_element(known.begin(), median, known.end());
  return *median;
}

Point DepthMap::focus_place() const {
  if (!lens_.focus || lens_.focus->end) return lens_.focus_at.value_or(middle);
  const auto width = static_cast<double>(picture_.width), height = static_cast<double>(picture_.height);
  const double step = std::max(width / static_cast<double>(searched_columns), 1.0);
  const double sharp = disparity(lens_.focus->value);
  std::pair best{std::numeric_limits<double>::infinity(), 0.0};  // difference in disparity, distance
  Point place = middle;
  for (double y = step / 2; y < height; y += step)
    for (double x = step / 2; x < width; x += step)
      if (const std::optional<double> depth = at(x, y)) {
        const std::pair here{std::max(std::abs(disparity(*depth) - sharp), same_depth * std::abs(sharp)),
                             std::hypot(x - width / 2, y - height / 2)};
        if (here >= best) continue;
        best = here;
        place = {{std::floor(x)}, {std::floor(y)}};
      }
  return place;
}

std::optional<double> DepthMap::radius(double value, double strength) const {
  const std::optional<double> sharp = focus();
  if (!sharp) return std::nullopt;
  const double away = std::max(std::abs(value - *sharp) - lens_.sharp_range.value_or(0), 0.0);
  const double beyond = value < *sharp ? *sharp - away : *sharp + away;
  const double blur = strength * (disparity(beyond) - disparity(*sharp));
  const double largest = max_radius_of(lens_, picture_);
  return std::isfinite(blur) ? std::optional(std::clamp(blur, -largest, largest)) : std::nullopt;
}

/// Returns the lowest and the highest value. The first is larger if none is known.
std::pair<double, double> DepthMap::range() const {
  std::pair range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (std::int64_t y = 0; y < view_.shape.height; ++y)
    for (std::int64_t x = 0; x < view_.shape.width; ++x)
      if (const std::optional<double> depth = value(x, y))
        range = {std::min(range.first, *depth), std::max(range.second, *depth)};
  return range;
}

nlohmann::json DepthMap::histogram() const {
  const auto [lowest, highest] = range();
  if (lowest > highest) return nullptr;
  std::vector<std::int64_t> counts(bins);
  std::int64_t unknown = 0;
  const double span = on_axis(highest) - on_axis(lowest);
  for (std::int64_t y = 0; y < view_.shape.height; ++y)
    for (std::int64_t x = 0; x < view_.shape.width; ++x)
      if (const std::optional<double> depth = value(x, y)) {
        const double share = span > 0 ? (on_axis(*depth) - on_axis(lowest)) / span : 0;
        ++counts[std::min(static_cast<std::size_t>(share * bins), counts.size() - 1)];
      } else {
        ++unknown;
      }
  return {{"lowest", lowest},
          {"highest", highest},
          {"near", near_is_high() ? "highest" : "lowest"},
          {"inverse", has_inverse_axis()},
          {"counts", counts},
          {"unknown", unknown}};
}

Image DepthMap::grey(const Shape& size) const {
  constexpr std::array<std::uint8_t, 3> violet{96, 32, 96};
  Image image(Shape{size.width, size.height, 3, Type::u8});
  const auto [lowest, highest] = range();
  const double black = on_axis(near_is_high() ? lowest : highest);
  const double white = on_axis(near_is_high() ? highest : lowest);
  const MutableImageView to = image.view();
  std::vector<std::int64_t> columns(static_cast<std::size_t>(size.width));
  for (std::size_t x = 0; x < columns.size(); ++x)
    columns[x] = sample_at(static_cast<double>(x) + 0.5, size.width, view_.shape.width);
  for (std::int64_t y = 0; y < size.height; ++y) {
    const std::int64_t down = sample_at(static_cast<double>(y) + 0.5, size.height, view_.shape.height);
    for (std::int64_t x = 0; x < size.width; ++x) {
      const std::optional<double> depth = value(columns[static_cast<std::size_t>(x)], down);
      auto* pixel = reinterpret_cast<std::uint8_t*>(to.at(x, y));
      const double share = depth && white != black ? (on_axis(*depth) - black) / (white - black) : 1;
      for (std::size_t c = 0; c < violet.size(); ++c)
        pixel[c] = depth ? static_cast<std::uint8_t>(255 * share + 0.5) : violet[c];
    }
  }
  return image;
}

}  // namespace satin::view
