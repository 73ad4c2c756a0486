// The filter guided: a local linear model of the guide in every window (He, Sun and Tang 2010).
//
// A pixel is the mean of the functions that are fitted in all windows that cover it, evaluated at its own
// guide value. guided/local_linear.h defines the operation and its numbers.

#include "satin/filters/guided.h"

#include <algorithm>

#include "core/backend.h"
#include "core/maths/window.h"
#include "core/record.h"
#include "core/side_inputs.h"
#include "guided/local_linear.h"
#include "satin/error.h"

namespace satin {
namespace {

constexpr double smallest_eps = 1e-9;
constexpr double largest_eps = 1e6;

enum Input { picture, guide, mask };

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

LinearRead read_of(const Shape& shape, const char* what) {
  validate(shape);
  check_type(shape, what);
  LinearRead read;
  read.type = shape.type;
  read.channels = shape.channels;
  read.order = shape.order;
  read.weighted = shape.alpha == Alpha::straight;
  return read;
}

LocalLinearJob job_of(std::span<const Shape> shapes, const Guided& guided) {
  const Shape& shape = shapes[picture];
  const bool own_guide = shapes[guide].width == 0;
  LocalLinearJob job;
  job.width = shape.width;
  job.height = shape.height;
  job.picture = read_of(shape, "picture");
  job.guide = own_guide ? job.picture : read_of(shapes[guide], "guide");
  if (!own_guide) check_side_size(shapes[guide], shape, "guide");
  job.layout.guides = job.guide.channels >= 3 ? 3 : 1;
  job.layout.channels = shape.channels;
  // Products of 16-bit colours and alpha are rounded differently in the picture and in the guide.
  job.layout.guides_itself = own_guide && !(shape.type == Type::u16 && job.picture.weighted);
  job.reach_x = whole_pixels(guided.radius.x, shape, largest_radius);
  job.reach_y = whole_pixels(guided.radius.y, shape, largest_radius);
  if (guided.border == Border::constant)
    refuse("A guided filter has no constant border: choose another one.");
  job.border = guided.border;
  check_range("eps", guided.eps, smallest_eps, largest_eps);
  if (job.border == Border::shrink) {  // a larger reach gives the same windows
    job.reach_x = std::min(job.reach_x, job.width - 1);
    job.reach_y = std::min(job.reach_y, job.height - 1);
  }
  job.eps = guided.eps;
  job.mask_maximum = checked_mask_maximum(shapes[mask], shape);
  choose_linear_bits(job);
  return job;
}

FilterPlan describe(const Device& device, std::span<const Shape> shapes, const Guided& guided) {
  const LocalLinearJob job = job_of(shapes, guided);
  const std::size_t float_guide = float_input(shapes, guide);
  const auto run = [float_guide](LocalLinearOperation& linear, std::span<const ImageView> inputs,
                                 const MutableImageView& output, Measured* measured, Stream stream) {
    const ImageView& own = inputs[picture];
    linear.run({own, inputs[guide].empty() ? own : inputs[guide], inputs[mask], output, measured,
                float_guide == 0 ? measured : measured + 1},
               stream);
  };
  FilterPlan plan{shapes[picture]};
  plan.measures = {range_of(shapes[picture], {.weighted = job.picture.weighted}), 0, float_guide};
  // The windows that cover a pixel reach that far.
  plan.reach = Reach{2 * job.reach_x, 2 * job.reach_y, job.border == Border::wrap};
  plan.prepare = prepare_one(device, job, run);
  return plan;
}

}  // namespace

const FilterRecord& guided_record() {
  static const FilterRecord filter = record::of(
      &describe,
      {.name = "guided",
       .category = "smoothing",
       .help = "smooth where the picture or a guide is flat, and keep the guide's edges",
       .paper = "He, Sun and Tang, Guided image filtering, 2010",
       .parameters =
           {record::whole_radius(
                &Guided::radius, 0, largest_radius,
                {"radius", "px", "radius of the window in whole pixels: R, RXxRY, or P% of the longer side"}),
            record::usual_decades(
                1e-5, 1,
                record::real(
                    &Guided::eps, smallest_eps, largest_eps,
                    {"eps", "",
                     "variance (deviation squared, white is 1) up to which the guide counts as flat"})),
            record::inner_border(&Guided::border)},
       .inputs = {record::side(&Guided::guide,
                               {"guide", Role::guide, "picture of the same size whose edges are followed"}),
                  record::blend_mask<Guided>()},
       .space = Space::encoded,
       .traits = {.keeps_constant = true},
       .reach = record::reach<Guided>([](const Guided& guided, const Shape& shape) {
         return 2 * larger_radius(guided.radius, shape);
       })});
  return filter;
}

}  // namespace satin
