#include "view/open_picture.h"

#include <optional>
#include <utility>

#include "batch/file_stamp.h"
#include "batch/photographs.h"
#include "batch/side_inputs.h"
#include "io/convert.h"

namespace satin::view {
namespace {

std::shared_ptr<Pyramid> shown_of(const Device& device, const std::shared_ptr<const Picture>& source,
                                  const std::shared_ptr<Pyramid>& pixels) {
  const std::shared_ptr<const Image> image(source, &source->image);
  std::shared_ptr<const Image> shown = in_8_bits(image, source->metadata);
  return shown == image ? pixels : std::make_shared<Pyramid>(device, std::move(shown), Space::linear);
}

/// All that the side inputs of a pipeline follow from.
std::string key_of(const Batch& work, const OpenPicture& picture) {
  std::string key = work.file(0).input.string() + (picture.with_photo() ? " photo" : "");
  for (const PipelineStep& step : work.pipeline) {
    key += "|" + step.parameters.filter().name + " " + step.parameters.get(ParameterRole::depth_source) +
           " " + step.parameters.get(ParameterRole::depth_channel);
    for (const SideInput& side : step.side_inputs) {
      const batch::FileStamp stamp = batch::stamp_of(work.side_path(side, 0));
      key += " " + side.name + "=" + side.path.string() + " " + std::to_string(stamp.size) + " " +
             std::to_string(stamp.time);
    }
  }
  return key;
}

}  // namespace

OpenPicture::OpenPicture(const Device& device, Picture picture, bool with_photo)
    : source_(std::make_shared<const Picture>(std::move(picture))),
      pixels_(std::make_shared<Pyramid>(device, std::shared_ptr<const Image>(source_, &source_->image),
                                        Space::linear)),
      shown_(shown_of(device, source_, pixels_)),
      with_photo_(with_photo) {}

bool wants_photo(const Pipeline& pipeline, const BatchOptions& options) {
  return batch::takes_photo(pipeline) || options.mask_from != MaskSource::file;
}

Pipeline steps_for(const Pipeline& pipeline, const OpenPicture& picture) {
  return batch::takes_photo(pipeline) ? batch::pipeline_for(pipeline, picture.source()).steps : pipeline;
}

std::shared_ptr<const Image> in_8_bits(std::shared_ptr<const Image> image, const Metadata& metadata) {
  Shape target = image->shape();
  const bool has_codes = target.type != Type::f32;  // floats are linear light of sRGB's primaries
  target.type = Type::u8;
  if (target.alpha == Alpha::premultiplied) target.alpha = Alpha::straight;
  if (target != image->shape())
    image = std::make_shared<const Image>(io::converted(*image, target, false, metadata));
  if (!has_codes) return image;
  std::optional<Image> managed = io::in_srgb(*image, metadata.icc);
  return managed ? std::make_shared<const Image>(std::move(*managed)) : image;
}

Sides SidePictures::of(const Batch& work, const OpenPicture& picture) {
  std::string key = key_of(work, picture);
  if (key == key_) return known_;
  key_.clear();
  known_.clear();
  batch::check_side_inputs(work.pipeline, work.options);
  std::vector<std::string> warnings;  // the command that the page shows tells them
  std::vector<std::vector<Image>> own =
      batch::read_own_side_inputs(work, 0, picture.source(), work.options.read, warnings);
  for (std::size_t step = 0; step < work.pipeline.size(); ++step) {
    std::vector<Image> images = batch::read_side_inputs(work.pipeline[step], work.options.read, warnings);
    std::vector<std::shared_ptr<Pyramid>>& of_step = known_.emplace_back();
    for (std::size_t i = 0; i < images.size(); ++i) {
      Image& image = !own.empty() && !own[step][i].empty() ? own[step][i] : images[i];
      of_step.push_back(image.empty()
                            ? nullptr
                            : std::make_shared<Pyramid>(
                                  device_, std::make_shared<const Image>(std::move(image)), Space::encoded));
    }
  }
  key_ = std::move(key);
  return known_;
}

}  // namespace satin::view
