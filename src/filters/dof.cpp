// The filter dof: depth of field from a depth image.
//
// LensRadii turns the depth image into a plane of signed radii (topic depth), and LensBlur makes the picture
// from the radii (topic lens).

#include "satin/filters/dof.h"

#include <vector>

#include "core/record.h"
#include "core/side_inputs.h"
#include "depth/follow_subject.h"
#include "depth/signed_radii.h"
#include "lens/lens_blur.h"

namespace satin {
namespace {

enum Input { picture, depth, mask, aperture, subject };

LensBlurJob blur_job(std::span<const Shape> shapes, const Dof& dof) {
  LensBlurJob job;
  job.picture = shapes[picture];
  job.mask = shapes[mask];
  job.aperture = shapes[aperture];
  job.max_radius = max_radius_of(dof.lens, shapes[picture]);
  job.style = dof.style;
  job.space = dof.space;
  job.keeps_last = dof.lens.depth_from == DepthSource::alpha;
  return job;
}

class PreparedDof final : public PreparedFilter {
 public:
  PreparedDof(Backend& backend, std::span<const Shape> shapes, const Dof& dof)
      : picture_(shapes[picture]),
        max_radius_(max_radius_of(dof.lens, picture_)),
        radii_(backend, picture_, shapes[depth], dof.lens),
        blur_(backend, blur_job(shapes, dof)) {
    const std::uint32_t maximum = checked_mask_maximum(shapes[subject], picture_, "subject");
    if (maximum != 0) follow_ = backend.prepare(FollowSubjectJob{picture_.width, picture_.height, maximum});
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return radii_.workspace_bytes() + blur_.workspace_bytes();
  }

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
           Stream stream) override {
    const MutableImageView radii = blur_.radii();
    const MutableImageView spare = blur_.spare();
    const bool follows = follow_ != nullptr;
    radii_.run(inputs[picture], inputs[depth], follows ? spare : radii, follows ? radii : spare, stream);
    if (follows) follow_->run({inputs[subject], spare, radii}, stream);
    blur_.run({inputs[picture], inputs[aperture], inputs[mask]}, output, measured, stream, radii_.soft());
  }

  [[nodiscard]] bool vary(const void* parameters, bool same_sides) override {
    const LensFocus& lens = record::as<Dof>(parameters).lens;
    if (max_radius_of(lens, picture_) != max_radius_) return false;
    radii_.vary(lens, same_sides);
    return true;
  }

  void check(std::vector<std::string>& warnings, Stream stream) override {
    radii_.check(warnings, stream);
    found_ = radii_.found();
    found_.push_back({"max_radius", max_radius_});
    found_.push_back({"groups", static_cast<double>(blur_.groups(stream))});
  }

  void forget(Stream stream) override { radii_.forget(stream); }
  [[nodiscard]] std::vector<FoundValue> found() const override { return found_; }

 private:
  Shape picture_;
  double max_radius_;
  SignedRadii radii_;
  LensBlur blur_;
  std::unique_ptr<FollowSubjectJob::Operation> follow_;  ///< null without a subject
  std::vector<FoundValue> found_;
};

FilterPlan describe(const Device& device, std::span<const Shape> shapes, const Dof& dof) {
  const auto prepare = [&backend = device.backend(), shapes = std::vector(shapes.begin(), shapes.end()), dof](
                           std::int64_t, std::int64_t) {
    return std::make_unique<PreparedDof>(backend, shapes, dof);
  };
  return {shapes[picture], lens_measures(blur_job(shapes, dof)), {}, prepare};
}

std::vector<ParameterRecord> parameters() {
  std::vector<ParameterRecord> list;
  for (ParameterRecord& parameter : lens_focus_parameters())
    list.push_back(record::within(&Dof::lens, std::move(parameter)));
  for (ParameterRecord& parameter : lens_style_parameters())
    list.push_back(record::within(&Dof::style, std::move(parameter)));
  list.push_back(record::space(&Dof::space, "blur in linear light, or blur the stored values"));
  return list;
}

/// Adds to the record how a photograph's metadata set the lens and give the strength of the blur.
FilterRecord with_photo(FilterRecord filter) {
  filter.set_by_photo = [](void* dof, const Photo& photo) { set_by_photo(record::as<Dof>(dof).lens, photo); };
  filter.photo_blur = [](const void* dof, const Photo& photo, const Shape& picture) {
    return photo_blur(record::as<Dof>(dof).lens, photo, picture);
  };
  return filter;
}

}  // namespace

const FilterRecord& dof_record() {
  static const FilterRecord filter = with_photo(record::of(
      &describe,
      {.name = "dof",
       .category = "lens",
       .help = "depth of field from a depth image, without colours that leak between near and far",
       .paper = "Crow, Summed-area tables for texture mapping, 1984; Fisher, On grouping for maximum "
                "homogeneity, 1958",
       .parameters = parameters(),
       .inputs = {record::side(&Dof::depth,
                               {"depth", Role::depth,
                                "picture of distances or disparities, with the photograph's aspect ratio"}),
                  record::blend_mask<Dof>(),
                  record::side(&Dof::aperture,
                               {"aperture", Role::aperture,
                                "picture of the aperture, white on black, any size: the shape of blurs"}),
                  record::side(&Dof::subject,
                               {"subject", Role::subject,
                                "mask of the subject, white on black, whose edge the depth then follows"})},
       .traits = {.keeps_constant = true},
       .reach = record::reach<Dof>(
           [](const Dof& dof, const Shape& shape) { return 3 * max_radius_of(dof.lens, shape) + 40; })}));
  return filter;
}

}  // namespace satin
