// The filter tilt-shift: a lens blur whose radius grows with the distance from a line.
//
// PlanarRadiiJob writes the signed radii of a tilted focal plane, and LensBlur makes the picture from them.

#include "satin/filters/tilt_shift.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/record.h"
#include "core/side_inputs.h"
#include "depth/circle_of_confusion.h"
#include "lens/lens_blur.h"

namespace satin {
namespace {

constexpr double largest_angle = 360;
constexpr double largest_percent = 1000;
constexpr double farthest_place = 1e6;

enum Input { picture, mask };

void check(const TiltShift& parameters) {
  check_range("angle", parameters.angle, -largest_angle, largest_angle);
  check_range("band", parameters.band, 0, largest_percent);
  check_range("falloff", parameters.falloff, 0, largest_percent);
  check_range("radius", parameters.radius, 0, largest_lens_radius);
  check_range("place", parameters.place.x.value, -farthest_place, farthest_place);
  check_range("place", parameters.place.y.value, -farthest_place, farthest_place);
}

PlanarRadiiJob radii_job(const Shape& shape, const TiltShift& parameters) {
  check(parameters);
  const auto width = static_cast<double>(shape.width);
  const auto height = static_cast<double>(shape.height);
  const double longer = std::max(width, height);
  const double turn = parameters.angle * std::numbers::pi / 180;
  PlanarRadiiJob job{shape.width, shape.height, {}};
  PlanarFocus& focus = job.focus;
  focus.normal_x = -std::sin(turn);
  focus.normal_y = std::cos(turn);
  focus.offset =
      focus.normal_x * parameters.place.x.pixels(width) + focus.normal_y * parameters.place.y.pixels(height);
  focus.half_band = parameters.band / 100 * longer / 2;
  focus.largest = parameters.radius * 256;
  const double reach = parameters.falloff / 100 * longer;
  focus.slope = reach > 0 ? focus.largest / reach : farthest_place * focus.largest;
  return job;
}

LensBlurJob blur_job(const Shape& shape, const Shape& mask_shape, const TiltShift& parameters) {
  LensBlurJob job;
  job.picture = shape;
  job.mask = mask_shape;
  job.max_radius = parameters.radius;
  job.style = parameters.style;
  job.space = parameters.space;
  return job;
}

class PreparedTiltShift final : public PreparedFilter {
 public:
  PreparedTiltShift(Backend& backend, const Shape& shape, const Shape& mask_shape,
                    const TiltShift& parameters)
      : radii_(backend.prepare(radii_job(shape, parameters))),
        blur_(backend, blur_job(shape, mask_shape, parameters)) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return blur_.workspace_bytes(); }

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
           Stream stream) override {
    radii_->run({blur_.radii()}, stream);
    blur_.run({inputs[picture], {}, inputs[mask]}, output, measured, stream);
  }

 private:
  std::unique_ptr<PlanarRadiiJob::Operation> radii_;
  LensBlur blur_;
};

FilterPlan describe(const Device& device, std::span<const Shape> shapes, const TiltShift& parameters) {
  const auto prepare = [&backend = device.backend(), shape = shapes[picture], mask_shape = shapes[mask],
                        parameters](std::int64_t, std::int64_t) {
    return std::make_unique<PreparedTiltShift>(backend, shape, mask_shape, parameters);
  };
  return {shapes[picture], lens_measures(blur_job(shapes[picture], shapes[mask], parameters)), {}, prepare};
}

std::vector<ParameterRecord> parameters() {
  std::vector<ParameterRecord> list = {
      record::point(&TiltShift::place, {"place", "px", "point on the centre line of the sharp band"}),
      record::usual(-90, 90,
                    record::real(&TiltShift::angle, -largest_angle, largest_angle,
                                 {"angle", "degrees",
                                  "angle of the band: 0 is horizontal, positive angles turn clockwise"})),
      record::real(&TiltShift::band, 0, largest_percent,
                   {"band", "%", "width of the sharp band, in percent of the longer side"}),
      record::real(&TiltShift::falloff, 0, largest_percent,
                   {"falloff", "%",
                    "distance from the band at which the blur is full, in percent of the longer side"}),
      record::real(&TiltShift::radius, 0, largest_lens_radius,
                   {"radius", "px", "radius of the full blur", "", ParameterRole::strength}),
  };
  for (ParameterRecord& parameter : lens_style_parameters())
    list.push_back(record::within(&TiltShift::style, std::move(parameter)));
  list.push_back(record::space(&TiltShift::space, "blur in linear light, or blur the stored values"));
  return list;
}

}  // namespace

const FilterRecord& tilt_shift_record() {
  static const FilterRecord filter = record::of(
      &describe, {.name = "tilt-shift",
                  .category = "lens",
                  .help = "sharp along a line and out of focus beside it, as through a tilted lens",
                  .parameters = parameters(),
                  .inputs = {record::blend_mask<TiltShift>()},
                  .traits = {.keeps_constant = true},
                  .reach = record::reach<TiltShift>(
                      [](const TiltShift& tilt, const Shape&) { return 3 * tilt.radius + 40; })});
  return filter;
}

}  // namespace satin
