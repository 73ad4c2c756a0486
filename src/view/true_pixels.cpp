#include "view/true_pixels.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "batch/linear_light.h"
#include "batch/names.h"
#include "batch/side_inputs.h"

namespace satin::view {
namespace {

/// The smaller picture with what belongs to the whole one.
Picture at_level(const OpenPicture& picture, int level) {
  Picture small(picture.pixels().make_quickly(level)->clone());
  small.metadata = picture.source().metadata;
  return small;
}

/// Depth in the size of the smaller picture, which has not quite the aspect of the whole one. Between two
/// surfaces nothing is made up: every pixel takes the value at its place.
std::shared_ptr<const Image> depth_at_level(const Image& depth, const Shape& picture, int level) {
  Shape shape = depth.shape();
  shape.width = shape_at(picture, level).width;
  shape.height = shape_at(picture, level).height;
  Image small(shape);
  const ImageView from = depth.view();
  const MutableImageView to = small.view();
  const auto place = [level](std::int64_t at, std::int64_t whole, std::int64_t size) {
    return ((at << level) * 2 + 1) * size / (2 * whole);
  };
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      std::memcpy(
          to.at(x, y),
          from.at(place(x, picture.width, from.shape.width), place(y, picture.height, from.shape.height)),
          static_cast<std::size_t>(to.strides.pixel));
  return std::make_shared<const Image>(std::move(small));
}

/// The pictures beside the one of this step.
std::vector<std::shared_ptr<const Image>> at_level(const PipelineStep& step,
                                                   const std::vector<std::shared_ptr<Pyramid>>& sides,
                                                   const Shape& picture, int level) {
  std::vector<std::shared_ptr<const Image>> images;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const bool is_depth = step.parameters.filter().inputs[i].role == Role::depth;
    std::shared_ptr<const Image> image;
    if (sides[i] != nullptr) image = sides[i]->make_quickly(is_depth ? 0 : level);
    if (image != nullptr && is_depth && level > 0) image = depth_at_level(*image, picture, level);
    images.push_back(std::move(image));
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
    for (std::shared_ptr<const Image>& image : at_level(steps[step], sides[step], picture.shape(), level)) {
      inputs.push_back(image == nullptr ? ImageView{} : image->view());
      kept.push_back(std::move(image));
    }
  if (level == 0) return run(device, steps, picture.source(), std::move(inputs), name, progress);
  return run(device, steps, at_level(picture, level), std::move(inputs), name, progress);
}

bool file_keeps(const Shape& pixels, const std::filesystem::path& name, const WriteOptions& options) {
  const std::string extension = batch::lower(extension_of(name, options));
  constexpr std::string_view formats[] = {".png", ".tif", ".tiff", ".bmp", ".tga", ".ppm", ".pgm", ".pnm"};
  return pixels.type == Type::u8 && std::ranges::find(formats, extension) != std::end(formats);
}

std::shared_ptr<const Image> as_in_file(const Image& pixels, const std::filesystem::path& name,
                                        const WriteOptions& options) {
  Picture decoded = decode_picture(encode_image(pixels, extension_of(name, options), options), name.string());
  return in_8_bits(std::make_shared<const Image>(std::move(decoded.image)), decoded.metadata);
}

}  // namespace satin::view
