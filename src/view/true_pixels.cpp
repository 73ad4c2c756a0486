#include "view/true_pixels.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "batch/linear_light.h"
#include "batch/side_inputs.h"

namespace satin::view {
namespace {

/// The smaller picture with what belongs to the whole one.
Picture at_level(const OpenPicture& picture, int level) {
  Picture small(picture.pixels().make_quickly(level)->clone());
  small.metadata = picture.source().metadata;
  return small;
}

/// The pictures beside the one of this step; depth has a size of its own.
std::vector<std::shared_ptr<const Image>> at_level(const PipelineStep& step,
                                                   const std::vector<std::shared_ptr<Pyramid>>& sides,
                                                   int level) {
  std::vector<std::shared_ptr<const Image>> images;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const bool scales = step.parameters.filter().inputs[i].role != Role::depth;
    images.push_back(sides[i] == nullptr ? nullptr : sides[i]->make_quickly(scales ? level : 0));
  }
  return images;
}

Filtered run(const Device& device, const Pipeline& steps, const Picture& picture,
             std::vector<ImageView> inputs, const std::filesystem::path& name, const Progress& progress) {
  const batch::LinearLight light(picture, steps, {});
  inputs.front() = light.picture();
  std::vector<Shape> shapes;
  for (const ImageView& view : inputs) shapes.push_back(view.empty() ? Shape{} : view.shape);
  const auto check = [&](std::size_t step, const Shape& shape) {
    std::size_t first = 1;
    for (std::size_t i = 0; i < step; ++i) first += steps[i].parameters.filter().inputs.size();
    const std::size_t count = steps[step].parameters.filter().inputs.size();
    batch::check_sizes(steps[step], std::span(inputs).subspan(first, count), name, shape);
  };
  PipelinePlan plan(device, steps, shapes, check);
  plan.watch(progress);
  Image output(plan.output_shape());
  plan.run(inputs, output.view());
  static_cast<void>(plan.check());
  return {light.encoded(std::move(output)), plan.found()};
}

std::string extension_of(const std::filesystem::path& name, const WriteOptions& options) {
  return options.format.empty() ? name.extension().string() : options.format;
}

}  // namespace

Filtered filtered(const Device& device, const Pipeline& steps, const OpenPicture& picture, int level,
                  const Sides& sides, const std::filesystem::path& name, const Progress& progress) {
  std::vector<std::shared_ptr<const Image>> kept;
  std::vector<ImageView> inputs(1);
  for (std::size_t step = 0; step < steps.size(); ++step)
    for (std::shared_ptr<const Image>& image : at_level(steps[step], sides[step], level)) {
      inputs.push_back(image == nullptr ? ImageView{} : image->view());
      kept.push_back(std::move(image));
    }
  if (level == 0) return run(device, steps, picture.source(), std::move(inputs), name, progress);
  return run(device, steps, at_level(picture, level), std::move(inputs), name, progress);
}

bool file_keeps(const Shape& pixels, const std::filesystem::path& name, const WriteOptions& options) {
  std::string extension = extension_of(name, options);
  std::ranges::transform(extension, extension.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  constexpr std::string_view formats[] = {".png", ".tif", ".tiff", ".bmp", ".tga", ".ppm", ".pgm", ".pnm"};
  return pixels.type == Type::u8 && std::ranges::find(formats, extension) != std::end(formats);
}

std::shared_ptr<const Image> as_in_file(const Image& pixels, const std::filesystem::path& name,
                                        const WriteOptions& options) {
  Picture decoded = decode_picture(encode_image(pixels, extension_of(name, options), options), name.string());
  return in_8_bits(std::make_shared<const Image>(std::move(decoded.image)), decoded.metadata);
}

}  // namespace satin::view
