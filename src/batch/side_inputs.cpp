#include "batch/side_inputs.h"

#include <algorithm>
#include <string>

#include "batch/inputs.h"
#include "batch/quoted.h"
#include "satin/io.h"
#include "satin/param.h"

namespace satin::batch {
namespace {

const SideInput* find_side(const BatchOptions& options, const std::string& name) {
  const auto found = std::find_if(options.side_inputs.begin(), options.side_inputs.end(),
                                  [&](const SideInput& side) { return side.name == name; });
  return found == options.side_inputs.end() ? nullptr : &*found;
}

void check_names(const FilterRecord& filter, const BatchOptions& options) {
  std::vector<std::string> names;
  for (const InputRecord& input : filter.inputs) names.push_back(input.name);
  for (const SideInput& side : options.side_inputs) {
    if (std::find(names.begin(), names.end(), side.name) == names.end())
      throw Error(ErrorKind::usage, "The filter '" + filter.name + "' has no input '" + side.name + "'." +
                                        did_you_mean(side.name, names));
    if (find_side(options, side.name) != &side)
      throw Error(ErrorKind::usage, "The input '" + side.name + "' is given twice.");
  }
}

bool reads_standard_input(const BatchOptions& options) {
  return std::any_of(options.inputs.begin(), options.inputs.end(), is_stream);
}

std::string size_of_shape(const Shape& shape) {
  return std::to_string(shape.width) + " x " + std::to_string(shape.height);
}

}  // namespace

void check_side_inputs(const FilterRecord& filter, const BatchOptions& options) {
  check_names(filter, options);
  for (const InputRecord& input : filter.inputs)
    if (input.required && find_side(options, input.name) == nullptr)
      throw Error(ErrorKind::usage,
                  "The filter '" + filter.name + "' needs --" + input.name + " FILE: " + input.help + ".");
  bool stream_taken = reads_standard_input(options);
  for (const SideInput& side : options.side_inputs) {
    if (is_stream(side.path) && stream_taken)
      throw Error(ErrorKind::usage,
                  "Standard input can be read once only. Name a file for --" + side.name + ".");
    stream_taken = stream_taken || is_stream(side.path);
    if (const auto problem = reading_problem(side.path))
      throw Error(problem->kind(), "--" + side.name + ": " + problem->what());
  }
}

std::vector<Image> read_side_inputs(const FilterRecord& filter, const BatchOptions& options) {
  std::vector<Image> images;
  images.reserve(filter.inputs.size());
  for (const InputRecord& input : filter.inputs) {
    const SideInput* side = find_side(options, input.name);
    images.push_back(side == nullptr ? Image() : read_image(side->path));
  }
  return images;
}

void check_sizes(const FilterRecord& filter, const Batch& batch, const BatchFile& file,
                 const Shape& picture) {
  for (std::size_t i = 0; i < batch.side_images.size(); ++i) {
    const Image& side = batch.side_images[i];
    if (side.empty()) continue;
    const Shape& shape = side.shape();
    if (shape.width == picture.width && shape.height == picture.height) continue;
    const std::string& name = filter.inputs[i].name;
    throw Error(ErrorKind::usage, "--" + name + " " + quoted(find_side(batch.options, name)->path) + " is " +
                                      size_of_shape(shape) + " pixels, but the picture " +
                                      quoted(file.input) + " is " + size_of_shape(picture) +
                                      ". They must have the same size.");
  }
}

}  // namespace satin::batch
