#include "pipeline/followed_sizes.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "satin/filters/crop.h"
#include "satin/filters/resize.h"

namespace satin {
namespace {

bool same_size(const Shape& a, const Shape& b) { return a.width == b.width && a.height == b.height; }

/// Whether filters scale the input, so that only its aspect must fit.
bool scales(const InputRecord& input) { return input.role == Role::depth || input.role == Role::radius_map; }

/// Returns the nearest place of `size` of the side's pixels for this part of the picture's line.
Stretch scaled_stretch(const Stretch& part, std::int64_t line, std::int64_t size, std::int64_t side_line) {
  const double middle = static_cast<double>(part.first + part.last) / 2;
  const double centre = middle * static_cast<double>(side_line) / static_cast<double>(line);
  const auto first = static_cast<std::int64_t>(std::floor(centre - static_cast<double>(size) / 2 + 0.5));
  const std::int64_t start = std::clamp<std::int64_t>(first, 0, side_line - size);
  return {start, start + size};
}

/// Returns the box in the side's own scale. One scale for both axes keeps the aspect.
Rectangle scaled_box(const Rectangle& box, const Shape& picture, const Shape& side) {
  const bool wide = picture.width >= picture.height;
  const double scale = wide ? static_cast<double>(side.width) / static_cast<double>(picture.width)
                            : static_cast<double>(side.height) / static_cast<double>(picture.height);
  const auto size = [&](const Stretch& part, std::int64_t most) {
    const double pixels = static_cast<double>(part.size()) * scale;
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(pixels + 0.5)), 1, most);
  };
  return {scaled_stretch(box.x, picture.width, size(box.x, side.width), side.width),
          scaled_stretch(box.y, picture.height, size(box.y, side.height), side.height)};
}

}  // namespace

bool belongs_to(const InputRecord& input, const Shape& side, const Shape& picture) {
  return input.role == Role::aperture || same_size(side, picture) ||
         (scales(input) && has_aspect_of(picture, side));
}

Shape SizeChange::of(Shape shape) const noexcept {
  shape.width = width;
  shape.height = height;
  return shape;
}

void FollowedSizes::add(const Device& device, const PipelineStep& step, std::span<const Shape> inputs,
                        const Shape& result) {
  if (same_size(inputs.front(), result)) return;
  const auto filter = step.parameters.filter().describe(device, inputs, step.parameters.data());
  if (filter->geometry) return add(*filter->geometry, result);
  changes_.clear();  // nothing follows a result that does not show its picture
  pictures_ = {result};
}

void FollowedSizes::add(const Geometry& geometry, const Shape& result) {
  changes_.push_back({geometry.box, result.width, result.height});
  pictures_.push_back(result);
}

std::vector<SizeChange> FollowedSizes::changes(const InputRecord& input, Shape side) const {
  std::vector<SizeChange> made;
  if (side.width == 0 || input.role == Role::aperture || !belongs_to(input, side, pictures_.front()))
    return made;
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    SizeChange change = changes_[i];
    const Shape& result = pictures_[i + 1];
    const bool averaged = same_size(side, pictures_[i]) && input.role != Role::depth;
    if (!averaged) {
      change.box = scaled_box(change.box, pictures_[i], side);
      const Shape cut{change.box.x.size(), change.box.y.size()};
      if (has_aspect_of(result, cut)) change = {change.box, cut.width, cut.height};
    }
    side = change.of(side);
    made.push_back(change);
  }
  return made;
}

Parameters cut_of(const SizeChange& change) {
  const PixelBox box{change.box.x.first, change.box.y.first, change.box.x.size(), change.box.y.size()};
  Parameters parameters(crop_record());
  parameters.set("box", print_boxes(std::span(&box, 1)));
  return parameters;
}

Parameters resize_of(const InputRecord& input, const SizeChange& change) {
  Parameters parameters(resize_record());
  parameters.set("size", print_size({change.width, change.height}));
  parameters.set("fit", "stretch");
  parameters.set("kernel", input.role == Role::depth ? "nearest" : "area");
  if (input.role != Role::guide) parameters.set("space", "encoded");
  return parameters;
}

FollowingSide::FollowingSide(const Device& device, const InputRecord& input, const Shape& side,
                             std::span<const SizeChange> changes)
    : shape_(side) {
  for (const SizeChange& change : changes) {
    Change& made = changes_.emplace_back(Change{change.box, {}, {}});
    shape_.width = change.box.x.size();
    shape_.height = change.box.y.size();
    if (!change.scales()) continue;
    made.resize = plan(device, resize_of(input, change), std::span(&shape_, 1));
    shape_ = change.of(shape_);
    made.result = device.allocate(shape_);
  }
}

std::size_t FollowingSide::workspace_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const Change& change : changes_)
    if (change.resize) bytes += change.resize->workspace_bytes() + byte_size(change.result.shape());
  return bytes;
}

ImageView FollowingSide::run(ImageView side, Stream stream) {
  for (Change& change : changes_) {
    side = part_of(side, change.box);
    if (!change.resize) continue;
    change.resize->run(std::span(&side, 1), change.result.view(), stream);
    side = change.result.view();
  }
  return side;
}

void FollowingSide::check(std::vector<std::string>& warnings, Stream stream) {
  for (Change& change : changes_) {
    if (!change.resize) continue;
    const std::vector<std::string> more = change.resize->check(stream);
    warnings.insert(warnings.end(), more.begin(), more.end());
  }
}

}  // namespace satin
