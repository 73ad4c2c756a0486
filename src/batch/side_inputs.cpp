#include "batch/side_inputs.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "batch/inputs.h"
#include "batch/quoted.h"
#include "satin/io.h"
#include "satin/param.h"

namespace satin::batch {
namespace {

const SideInput* find_side(const PipelineStep& step, const std::string& name) {
  const auto found = std::find_if(step.side_inputs.begin(), step.side_inputs.end(),
                                  [&](const SideInput& side) { return side.name == name; });
  return found == step.side_inputs.end() ? nullptr : &*found;
}

void check_names(const PipelineStep& step) {
  const FilterRecord& filter = step.parameters.filter();
  std::vector<std::string> names;
  for (const InputRecord& input : filter.inputs) {
    names.push_back(input.name);
    if (input.required && find_side(step, input.name) == nullptr)
      throw Error(ErrorKind::usage,
                  "The filter '" + filter.name + "' needs --" + input.name + " FILE: " + input.help + ".");
  }
  for (const SideInput& side : step.side_inputs) {
    if (std::find(names.begin(), names.end(), side.name) == names.end())
      throw Error(ErrorKind::usage, "The filter '" + filter.name + "' has no input '" + side.name + "'." +
                                        did_you_mean(side.name, names));
    if (find_side(step, side.name) != &side)
      throw Error(ErrorKind::usage, "The input '" + side.name + "' is given twice.");
  }
}

/// `stream_taken`: standard input is read already; set if this one reads it.
void check_file(const SideInput& side, bool& stream_taken) {
  if (is_stream(side.path) && stream_taken)
    throw Error(ErrorKind::usage,
                "Standard input can be read once only. Name a file for --" + side.name + ".");
  stream_taken = stream_taken || is_stream(side.path);
  if (const auto problem = reading_problem(side.path))
    throw Error(problem->kind(), "--" + side.name + ": " + problem->what());
}

template <class Value>
bool take_first_of_equal_channels(const ImageView& from, const MutableImageView& to) {
  const int colours = from.shape.channels - (from.shape.alpha == Alpha::none ? 0 : 1);
  for (std::int64_t y = 0; y < from.shape.height; ++y) {
    for (std::int64_t x = 0; x < from.shape.width; ++x) {
      to.value<Value>(x, y) = from.value<Value>(x, y);
      for (int c = 1; c < colours; ++c)
        if (from.value<Value>(x, y, c) != from.value<Value>(x, y)) return false;
    }
  }
  return true;
}

/// Maps and masks have one channel; many are saved as grey in three, or with an alpha channel that says
/// nothing.
Image one_channel(Image image, const SideInput& side) {
  if (image.shape().channels == 1) return image;
  const Shape shape{image.shape().width, image.shape().height, 1, image.shape().type};
  Image result(shape);
  bool grey = false;
  if (shape.type == Type::u8) grey = take_first_of_equal_channels<std::uint8_t>(image, result.view());
  if (shape.type == Type::u16) grey = take_first_of_equal_channels<std::uint16_t>(image, result.view());
  if (shape.type == Type::f32) grey = take_first_of_equal_channels<float>(image, result.view());
  if (!grey)
    throw Error(ErrorKind::usage, "--" + side.name + " " + quoted(side.path) +
                                      " is a colour picture. Convert it to grey: one value for each pixel.");
  return result;
}

std::string size_of_shape(const Shape& shape) {
  return std::to_string(shape.width) + " x " + std::to_string(shape.height);
}

}  // namespace

void check_side_inputs(const Pipeline& pipeline, const BatchOptions& options) {
  bool stream_taken = std::any_of(options.inputs.begin(), options.inputs.end(), is_stream);
  for (const PipelineStep& step : pipeline) {
    check_names(step);
    for (const SideInput& side : step.side_inputs) check_file(side, stream_taken);
  }
}

std::vector<Image> read_side_inputs(const PipelineStep& step) {
  std::vector<Image> images;
  for (const InputRecord& input : step.parameters.filter().inputs) {
    const SideInput* side = find_side(step, input.name);
    if (side == nullptr) {
      images.emplace_back();
      continue;
    }
    Image image = read_image(side->path);
    images.push_back(input.role == Role::guide ? std::move(image) : one_channel(std::move(image), *side));
  }
  return images;
}

void check_sizes(const PipelineStep& step, std::span<const Image> side_images,
                 const std::filesystem::path& input, const Shape& picture) {
  for (std::size_t i = 0; i < side_images.size(); ++i) {
    const Image& side = side_images[i];
    if (side.empty()) continue;
    const Shape& shape = side.shape();
    if (shape.width == picture.width && shape.height == picture.height) continue;
    const std::string& name = step.parameters.filter().inputs[i].name;
    throw Error(ErrorKind::usage, "--" + name + " " + quoted(find_side(step, name)->path) + " is " +
                                      size_of_shape(shape) + " pixels, but the picture " + quoted(input) +
                                      " is " + size_of_shape(picture) + ". They must have the same size.");
  }
}

}  // namespace satin::batch
