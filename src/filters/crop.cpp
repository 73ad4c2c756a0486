// The filter crop: a box of the picture, copied byte for byte; and the step of `satin convert`, which copies
// all of it.

#include "satin/filters/crop.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/backend.h"
#include "core/geometry.h"
#include "core/plan_operations.h"
#include "core/record.h"
#include "satin/error.h"

namespace satin {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

std::int64_t rounded(double value) { return static_cast<std::int64_t>(std::floor(value + 0.5)); }

Stretch side_of_box(const Length& first, const Length& size, std::int64_t line) {
  const auto side = static_cast<double>(line);
  const double start = first.pixels(side);
  const double end =
      first.percent && size.percent ? (first.value + size.value) * side / 100 : start + size.pixels(side);
  return {rounded(start), rounded(end)};
}

/// Returns the place of `size` pixels on the line.
Stretch placed(const Length& gravity, std::int64_t size, std::int64_t line) {
  const std::int64_t room = line - size;
  const double first = gravity.percent ? gravity.pixels(static_cast<double>(room))
                                       : gravity.value - static_cast<double>(size) / 2;
  const std::int64_t start = rounded(std::clamp(first, 0.0, static_cast<double>(room)));
  return {start, start + size};
}

Rectangle box_of_aspect(std::int64_t width, std::int64_t height, const Ratio& aspect, const Point& gravity) {
  const auto other = [](std::int64_t side, double numerator, double denominator, std::int64_t most) {
    return std::clamp<std::int64_t>(rounded(static_cast<double>(side) * numerator / denominator), 1, most);
  };
  const bool wide = static_cast<double>(width) * aspect.height >= static_cast<double>(height) * aspect.width;
  const std::int64_t columns = wide ? other(height, aspect.width, aspect.height, width) : width;
  const std::int64_t rows = wide ? height : other(width, aspect.height, aspect.width, height);
  return {placed(gravity.x, columns, width), placed(gravity.y, rows, height)};
}

void check(const Crop& crop) {
  if (crop.box.has_value() == crop.aspect.has_value())
    refuse("Give either a box (--box X,Y,W,H) or an aspect (--aspect A:B).");
  if (crop.box && crop.gravity != Crop().gravity)
    refuse("gravity places the box of an aspect: a box has its place. Drop --gravity.");
  for (const Length& each : {crop.gravity.x, crop.gravity.y})
    if (each.percent && !(each.value >= 0 && each.value <= 100))
      refuse("gravity " + print_point(crop.gravity) + ": percentages must be from 0 to 100.");
}

Rectangle kept(std::int64_t width, std::int64_t height, const Crop& crop) {
  check(crop);
  if (crop.aspect) return box_of_aspect(width, height, *crop.aspect, crop.gravity);
  const Rectangle kept{side_of_box(crop.box->x, crop.box->width, width),
                       side_of_box(crop.box->y, crop.box->height, height)};
  const std::string size = std::to_string(width) + " x " + std::to_string(height);
  if (kept.x.first < 0 || kept.x.last > width || kept.y.first < 0 || kept.y.last > height)
    throw SizeError("box " + print_box(*crop.box) + " is not inside the picture of " + size +
                    " pixels: columns " + std::to_string(kept.x.first) + " to " +
                    std::to_string(kept.x.last - 1) + " and rows " + std::to_string(kept.y.first) + " to " +
                    std::to_string(kept.y.last - 1) + " were asked for. Give a smaller one, or percent.");
  if (kept.x.size() < 1 || kept.y.size() < 1)
    throw SizeError("box " + print_box(*crop.box) + " is less than one pixel of the picture of " + size +
                    " pixels. Give a larger one.");
  return kept;
}

class PreparedCrop final : public ReshapingFilter {
 public:
  PreparedCrop(Backend& backend, const Rectangle& box) : box_(box), copy_(backend.prepare(CopyJob{})) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  void run_rows(const ImageView& picture, std::int64_t first_read, const MutableImageView& result,
                std::int64_t first, Measured* /*measured*/, Stream stream) override {
    const std::int64_t top = box_.y.first + first - first_read;
    copy_->run(part_of(picture, {box_.x, {top, top + result.shape.height}}), result, stream);
  }

 private:
  Rectangle box_;
  std::unique_ptr<CopyOperation> copy_;
};

FilterPlan describe(const Device& device, std::span<const Shape> shapes, const Crop& crop) {
  const Rectangle box = kept(shapes.front().width, shapes.front().height, crop);
  FilterPlan plan;
  plan.output = shapes.front();
  plan.output.width = box.x.size();
  plan.output.height = box.y.size();
  plan.prepare = [&backend = device.backend(), box](std::int64_t, std::int64_t) {
    return std::make_unique<PreparedCrop>(backend, box);
  };
  const std::int64_t top = box.y.first;
  plan.geometry = std::make_shared<Geometry>(Geometry{box, [top](const Stretch& rows) {
                                                        return Stretch{top + rows.first, top + rows.last};
                                                      }});
  return plan;
}

/// Every pixel keeps its value, only its place changes.
double reach_of(const Crop& /*crop*/, const Shape& /*shape*/) { return 0; }

struct Convert {};

FilterPlan describe_convert(const Device& device, std::span<const Shape> shapes, const Convert& /*convert*/) {
  const auto copy = [](CopyOperation& operation, std::span<const ImageView> inputs,
                       const MutableImageView& output, Measured* /*measured*/,
                       Stream stream) { operation.run(inputs.front(), output, stream); };
  FilterPlan plan;
  plan.output = shapes.front();
  plan.reach = Reach{};
  plan.prepare = [&backend = device.backend(), copy](std::int64_t, std::int64_t) {
    return std::make_unique<OneOperation<CopyOperation, decltype(copy)>>(backend.prepare(CopyJob{}), copy);
  };
  return plan;
}

}  // namespace

const FilterRecord& convert_record() {
  static const FilterRecord step = record::of(
      &describe_convert,
      FilterRecord{.name = "convert",
                   .help = "read pictures and write them in another format, without a filter",
                   .traits = {.keeps_constant = true, .keeps_range = true},
                   .reach = [](const void* /*parameters*/, const Shape& /*shape*/) { return 0.0; }});
  return step;
}

PixelBox cropped_box(std::int64_t width, std::int64_t height, const Crop& parameters) {
  const Rectangle box = kept(width, height, parameters);
  return {box.x.first, box.y.first, box.x.size(), box.y.size()};
}

const FilterRecord& crop_record() {
  static const FilterRecord filter = record::of(
      &describe,
      {.name = "crop",
       .category = "size",
       .help = "cut a box out of a picture; values are kept, and a JPEG file is encoded again",
       .parameters = {record::box(&Crop::box, {"box", "px",
                                               "pixels to keep: each number in pixels, or in percent of the "
                                               "width or height, with edges rounded to nearest"}),
                      record::series(record::ratio(&Crop::aspect,
                                                   {"aspect", "",
                                                    "keep the largest box of this aspect, such as 3:2, in "
                                                    "place of a box",
                                                    "box"})),
                      record::point(&Crop::gravity,
                                    {"gravity", "px",
                                     "place of that box: shares of the room beside it, its centre in pixels, "
                                     "or centre, north, south-east, ..."})},
       .shape = OutputShape::other,
       .traits = {.keeps_constant = true, .keeps_range = true},
       .frame =
           [](const void* parameters, std::int64_t width, std::int64_t height) {
             const PixelBox box = cropped_box(width, height, record::as<Crop>(parameters));
             return Framing::of(static_cast<double>(width), static_cast<double>(height), box, box.width,
                                box.height);
           },
       .reach = record::reach<Crop>(reach_of)});
  return filter;
}

}  // namespace satin
