#include "batch/file_stamp.h"
#include "batch/side_inputs.h"
#include "view/open_picture.h"

namespace satin::view {
namespace {

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
