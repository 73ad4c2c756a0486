#include "satin/filters/guided.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/backend.h"
#include "core/maths/window.h"
#include "core/prepared_filter.h"
#include "core/record.h"
#include "core/side_inputs.h"
#include "filters/registry.h"
#include "guided/local_linear.h"
#include "pixels/measure.h"
#include "satin/error.h"

namespace satin {
namespace {

constexpr double smallest_eps = 1e-9;
constexpr double largest_eps = 1e6;

enum Input { picture, guide, mask };

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

std::int64_t whole_pixels(const Length& length, const Shape& shape) {
  const double pixels = length.pixels(static_cast<double>(std::max(shape.width, shape.height)));
  if (!(pixels >= 0) || pixels > largest_radius)
    refuse("radius " + print_real(pixels) + " pixels: must be from 0 to " + print_real(largest_radius) + ".");
  if (!length.percent && pixels != std::floor(pixels))
    refuse("radius " + print_real(pixels) + " pixels: whole pixels are expected.");
  return static_cast<std::int64_t>(std::floor(pixels + 0.5));
}

LinearRead read_of(const Shape& shape, const char* what) {
  validate(shape);
  if (shape.type != Type::u8 && shape.type != Type::u16 && shape.type != Type::f32)
    refuse(std::string(what) + " is of type " + name_of(shape.type) + ": u8, u16 and f32 are possible.");
  LinearRead read;
  read.type = shape.type;
  read.channels = shape.channels;
  read.order = shape.order;
  read.weighted = shape.alpha == Alpha::straight;
  return read;
}

LocalLinearJob job_of(const std::array<Shape, 3>& shapes, const Guided& guided) {
  const Shape& shape = shapes[picture];
  const bool own_guide = shapes[guide].width == 0;
  LocalLinearJob job;
  job.width = shape.width;
  job.height = shape.height;
  job.picture = read_of(shape, "The picture");
  job.guide = own_guide ? job.picture : read_of(shapes[guide], "The guide");
  if (!own_guide) check_side_size(shapes[guide], shape, "guide");
  job.layout.guides = job.guide.channels >= 3 ? 3 : 1;
  job.layout.channels = shape.channels;
  // The products of 16-bit colours and alpha are cut differently as a picture and as a guide.
  job.layout.shared = own_guide && !(shape.type == Type::u16 && job.picture.weighted);
  job.reach_x = whole_pixels(guided.radius.x, shape);
  job.reach_y = whole_pixels(guided.radius.y, shape);
  if (guided.border == Border::constant)
    refuse("A guided filter has no constant border: choose another one.");
  job.border = guided.border;
  if (!(guided.eps >= smallest_eps && guided.eps <= largest_eps))
    refuse("eps " + print_real(guided.eps) + ": must be from " + print_real(smallest_eps) + " to " +
           print_real(largest_eps) + ".");
  if (job.border == Border::shrink) {  // larger ones have the same windows
    job.reach_x = std::min(job.reach_x, job.width - 1);
    job.reach_y = std::min(job.reach_y, job.height - 1);
  }
  job.eps = guided.eps;
  job.mask_maximum = checked_mask_maximum(shapes[mask], shape);
  choose_linear_bits(job);
  return job;
}

class PreparedGuided final : public PreparedFilter {
 public:
  PreparedGuided(Backend& backend, const LocalLinearJob& job, bool own_guide)
      : linear_(backend.prepare(job)),
        measure_(measure_of(backend, job, job.picture)),
        picture_floats_(job.picture.type == Type::f32) {
    if (own_guide || job.guide.type != Type::f32) return;
    measure_guide_ = measure_of(backend, job, job.guide);
    guide_measured_ = backend.allocate(sizeof(Measured));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return linear_->workspace_bytes() + guide_measured_.size;
  }

  [[nodiscard]] int measurements() const noexcept override {
    return picture_floats_ || measure_guide_ != nullptr ? 1 : 0;
  }

  void begin(Measured* measured, Stream stream) override {
    if (measured != nullptr) measure_->clear(measured, stream);
    if (measure_guide_ != nullptr) measure_guide_->clear(guide_measured(), stream);
  }

  void measure(int /*step*/, std::span<const ImageView> inputs, const Rectangle& /*inner*/,
               Measured* measured, Stream stream) override {
    if (picture_floats_) measure_->measure(inputs[picture], measured, stream);
    if (measure_guide_ != nullptr) measure_guide_->measure(inputs[guide], guide_measured(), stream);
  }

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
           Stream stream) override {
    LocalLinearImages images{inputs[picture], inputs[picture], inputs[mask], output, measured, measured};
    if (!inputs[guide].empty()) images.guide = inputs[guide];
    if (measure_guide_ != nullptr) images.guide_measured = guide_measured();
    linear_->run(images, stream);
  }

 private:
  [[nodiscard]] Measured* guide_measured() const {
    return reinterpret_cast<Measured*>(guide_measured_.get());
  }

  static std::unique_ptr<MeasureOperation> measure_of(Backend& backend, const LocalLinearJob& job,
                                                      const LinearRead& read) {
    return backend.prepare(MeasureJob{job.width, job.height, read.channels, read.weighted});
  }

  std::unique_ptr<LocalLinearOperation> linear_;
  std::unique_ptr<MeasureOperation> measure_;
  std::unique_ptr<MeasureOperation> measure_guide_;
  Buffer guide_measured_;
  bool picture_floats_;
};

Plan plan_shapes(const Device& device, const std::array<Shape, 3>& shapes, const Guided& guided) {
  const LocalLinearJob job = job_of(shapes, guided);
  const bool floats = job.picture.type == Type::f32 || job.guide.type == Type::f32;
  const bool own_guide = shapes[guide].width == 0;
  // A pixel is the mean of functions that windows around its window's pixels were fitted to.
  SizedFilter filter{{2 * job.reach_x, 2 * job.reach_y, job.border == Border::wrap}, {}};
  filter.prepare = [&backend = device.backend(), job, own_guide](std::int64_t width, std::int64_t height) {
    LocalLinearJob part = job;
    part.width = width;
    part.height = height;
    return std::make_unique<PreparedGuided>(backend, part, own_guide);
  };
  return make_plan(device, {{shapes.begin(), shapes.end()}, shapes[picture], floats}, std::move(filter));
}

}  // namespace

Plan plan(const Device& device, const Shape& shape, const Guided& parameters) {
  return plan_shapes(device, {shape, shape_of(parameters.guide), shape_of(parameters.mask)}, parameters);
}

Image guided(const Device& device, const ImageView& image, const Guided& parameters) {
  const std::array inputs = {image, parameters.guide, parameters.mask};
  return run_once(device, plan(device, image.shape, parameters), inputs);
}

FilterRecord guided_record() {
  FilterRecord filter;
  filter.name = "guided";
  filter.category = "smoothing";
  filter.help = "smooth where the picture or a guide is flat, with the guide's edges";
  filter.paper = "He, Sun and Tang, Guided image filtering, 2010";
  filter.parameters = {
      record::whole_radius(&Guided::radius, 0, largest_radius,
                           {"radius", "px", "half the window: whole R, RX,RY, or P% of the longer side"}),
      record::real(
          &Guided::eps, smallest_eps, largest_eps,
          {"eps", "", "variance of the guide that counts as flat, white is 1: (standard deviation)^2"}),
      record::choice(&Guided::border, {"shrink", "clamp", "reflect", "mirror", "wrap"},
                     {"border", "", "what the window sees outside the picture"}),
  };
  filter.inputs = {
      {"guide", Role::guide, "follows the edges of this picture, of the same size", false},
      {"mask", Role::mask, "blend weight; 0 leaves the pixel's bytes alone", false},
  };
  filter.space = Space::encoded;
  filter.traits.keeps_constant = true;
  filter.defaults = [] { return std::make_shared<Guided>(); };
  filter.reach = [](const void* parameters, const Shape& shape) {
    const auto& radius = record::as<Guided>(parameters).radius;
    const auto side = static_cast<double>(std::max(shape.width, shape.height));
    return 2 * std::max(radius.x.pixels(side), radius.y.pixels(side));
  };
  filter.plan = [](const Device& device, std::span<const Shape> shapes, const void* parameters) {
    const auto shape = [&](std::size_t i) { return shapes.size() > i ? shapes[i] : Shape{}; };
    return plan_shapes(device, {shapes[picture], shape(guide), shape(mask)}, record::as<Guided>(parameters));
  };
  return filter;
}

}  // namespace satin
