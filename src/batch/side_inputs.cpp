#include "batch/side_inputs.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include "batch/file_names.h"
#include "batch/outputs.h"
#include "batch/photographs.h"
#include "batch/streaming.h"
#include "satin/io.h"
#include "satin/param.h"
#include "satin/row_files.h"

namespace satin::batch {
namespace {

const SideInput* find_side(const PipelineStep& step, const std::string& name) {
  const auto found = std::find_if(step.side_inputs.begin(), step.side_inputs.end(),
                                  [&](const SideInput& side) { return side.name == name; });
  return found == step.side_inputs.end() ? nullptr : &*found;
}

/// Returns the option of the parameter with this role, for messages.
std::string option_of(const PipelineStep& step, ParameterRole role) {
  const ParameterRecord* record = step.parameters.filter().find_parameter(role);
  return record == nullptr ? "" : "--" + record->name;
}

/// Whether depth comes with the picture: from a channel of its file, as photographs carry it, or from a
/// model.
bool is_in_picture(const PipelineStep& step, const InputRecord& input) {
  const std::string source = step.parameters.get(ParameterRole::depth_source);
  return input.role == Role::depth && (source == "channel" || source == "photo" || source == "model");
}

bool is_mask(const InputRecord& input) { return input.role == Role::mask || input.role == Role::subject; }

/// Whether the input is the matte of the photograph: the subject of a filter that has one, otherwise the
/// mask. Its inverse is always the mask.
bool is_matte(const PipelineStep& step, const InputRecord& input, const BatchOptions& options) {
  if (options.mask_from == MaskSource::file || find_side(step, input.name) != nullptr) return false;
  const bool has_subject = options.mask_from == MaskSource::matte &&
                           std::ranges::any_of(step.parameters.filter().inputs, [](const InputRecord& other) {
                             return other.role == Role::subject;
                           });
  return input.role == (has_subject ? Role::subject : Role::mask);
}

void check_names(const PipelineStep& step) {
  const FilterRecord& filter = step.parameters.filter();
  std::vector<std::string> names;
  for (const InputRecord& input : filter.inputs) {
    names.push_back(input.name);
    if (input.required && find_side(step, input.name) == nullptr)
      throw Error(ErrorKind::usage,
                  "The filter '" + filter.name + "' needs --" + input.name + " FILE: " + input.help + ".");
    if (is_in_picture(step, input) && find_side(step, input.name) != nullptr)
      throw Error(ErrorKind::usage, "Depth comes from the picture's own file: leave out --" + input.name +
                                        ", or " + option_of(step, ParameterRole::depth_source) + " " +
                                        step.parameters.get(ParameterRole::depth_source) + ".");
  }
  for (const SideInput& side : step.side_inputs) {
    if (std::find(names.begin(), names.end(), side.name) == names.end())
      throw Error(ErrorKind::usage, "The filter '" + filter.name + "' has no input '" + side.name + "'." +
                                        did_you_mean(side.name, names));
    if (find_side(step, side.name) != &side)
      throw Error(ErrorKind::usage, "The input '" + side.name + "' is given twice.");
  }
}

/// Checks that a file can be read. `stream_taken` says that standard input is already in use, and is set if
/// this file uses it.
void check_file(const SideInput& side, bool& stream_taken) {
  if (is_side_pattern(side)) return static_cast<void>(NamePattern(side.path));
  if (is_stream(side.path) && stream_taken)
    throw Error(ErrorKind::usage,
                "Standard input can be read once only. Name a file for --" + side.name + ".");
  stream_taken = stream_taken || is_stream(side.path);
  if (const auto problem = reading_problem(side.path))
    throw Error(problem->kind(), "--" + side.name + ": " + problem->what());
}

template <class Value>
bool take(const ImageView& from, bool alpha, const MutableImageView& to) {
  const int channel = alpha ? from.shape.channels - 1 : 0;
  const int colours = alpha ? 0 : from.shape.channels - (from.shape.alpha == Alpha::none ? 0 : 1);
  for (std::int64_t y = 0; y < from.shape.height; ++y) {
    for (std::int64_t x = 0; x < from.shape.width; ++x) {
      to.value<Value>(x, y) = from.value<Value>(x, y, channel);
      for (int c = 1; c < colours; ++c)
        if (from.value<Value>(x, y, c) != from.value<Value>(x, y)) return false;
    }
  }
  return true;
}

template <class Value>
bool is_transparent_of(const ImageView& picture) {
  constexpr Value opaque = std::is_floating_point_v<Value> ? 1 : std::numeric_limits<Value>::max();
  for (std::int64_t y = 0; y < picture.shape.height; ++y)
    for (std::int64_t x = 0; x < picture.shape.width; ++x)
      if (picture.value<Value>(x, y, picture.shape.channels - 1) != opaque) return true;
  return false;
}

/// Whether all channels are kept: those of a guide, and of depth if its channel is chosen. The filter checks
/// the channel.
bool keeps_channels(const PipelineStep& step, const InputRecord& input) {
  return input.role == Role::guide ||
         (input.role == Role::depth && !step.parameters.get(ParameterRole::depth_channel).empty());
}

/// Returns the name of the channel that is depth; empty if it is chosen by number or not at all.
std::string depth_channel_name(const PipelineStep& step) {
  const std::string text = step.parameters.get(ParameterRole::depth_channel);
  return text.find_first_not_of("0123456789") == std::string::npos ? "" : text;
}

Image copy_in(const Allocator& allocator, const Image& image) {
  Image result(image.shape(), allocator);
  std::memcpy(result.data(), image.data(), byte_size(image.shape()));
  return result;
}

Image depth_channel(const PipelineStep& step, const Picture& picture, const std::string& name,
                    const std::string& file, const Allocator& allocator) {
  if (const Image* channel = picture.find_channel(name)) {
    if (channel->shape().type == Type::u32)
      throw Error(ErrorKind::input, file + ": the channel '" + name +
                                        "' is not read, because it holds integers of 32 bits. Store it as "
                                        "floats.");
    return copy_in(allocator, *channel);
  }
  std::vector<std::string> names;
  for (const NamedChannel& channel : picture.channels) names.push_back(channel.name);
  std::string there = names.empty() ? "none beside its colours" : names.front();
  for (std::size_t i = 1; i < names.size(); ++i) there += ", " + names[i];
  throw Error(ErrorKind::usage, file + " has no channel '" + name + "' (it has " + there + ")." +
                                    did_you_mean(name, names) + " Choose one by " +
                                    option_of(step, ParameterRole::depth_channel) + ".");
}

std::string refusal_of_colours(const SideInput& side) {
  return "--" + side.name + " " + quoted(side.path) +
         " is a colour picture. Convert it to grey: one value for each pixel.";
}

std::string warning_about_alpha(const InputRecord& input, const SideInput& side) {
  return "--" + side.name + " " + quoted(side.path) + " has transparent pixels: " +
         (is_mask(input) ? "its alpha is the mask, and its colours are not used." : "its alpha is not used.");
}

/// Reduces an image to one channel. Many maps and masks are saved as grey in three channels, or with an alpha
/// channel that is opaque everywhere. If it is not, the mask was painted on a transparent layer, in any
/// colour.
Image one_channel(Image image, const InputRecord& input, const SideInput& side, const Allocator& allocator,
                  std::vector<std::string>& warnings) {
  if (image.shape().channels == 1) return image;
  const Shape shape{image.shape().width, image.shape().height, 1, image.shape().type};
  Image result(shape, allocator);
  const bool transparent = is_transparent(image);
  if (transparent) warnings.push_back(warning_about_alpha(input, side));
  if (!take_one_channel(image, transparent && is_mask(input), result.view()))
    throw Error(ErrorKind::usage, refusal_of_colours(side));
  return result;
}

Image read_side(const PipelineStep& step, const InputRecord& input, const SideInput& side,
                const ReadOptions& options, bool inverts_masks, std::vector<std::string>& warnings) {
  Picture picture = read_only_picture(side.path, options);
  const std::string channel = input.role == Role::depth ? depth_channel_name(step) : "";
  if (!channel.empty()) return depth_channel(step, picture, channel, quoted(side.path), options.allocator);
  const Image* depth = input.role == Role::depth ? picture.find_channel("Z") : nullptr;
  Image image = depth != nullptr ? depth_channel(step, picture, "Z", quoted(side.path), options.allocator)
                                 : std::move(picture.image);
  if (!keeps_channels(step, input))
    image = one_channel(std::move(image), input, side, options.allocator, warnings);
  if (inverts_masks && input.role == Role::mask) invert(image.view());
  return image;
}

/// Opens the rows of a side input, whose file must hold one picture, whatever page the options choose.
std::unique_ptr<RowSource> open_side(const SideInput& side, const ReadOptions& options) {
  ReadOptions only = options;
  only.page.reset();
  return open_rows(side.path, only);
}

std::string size_of_shape(const Shape& shape) {
  return std::to_string(shape.width) + " x " + std::to_string(shape.height);
}

}  // namespace

void check_side_inputs(const Pipeline& pipeline, const BatchOptions& options) {
  const auto takes_matte = [&](const PipelineStep& step) {
    return std::ranges::any_of(step.parameters.filter().inputs,
                               [&](const InputRecord& input) { return is_matte(step, input, options); });
  };
  if (options.mask_from != MaskSource::file && std::ranges::none_of(pipeline, takes_matte))
    throw Error(ErrorKind::usage,
                "--mask-from: no filter takes its mask from there. Drop it, or drop --mask.");
  const auto reads_mask = [](const PipelineStep& step) {
    return std::ranges::any_of(step.parameters.filter().inputs, [&](const InputRecord& input) {
      return input.role == Role::mask && find_side(step, input.name) != nullptr;
    });
  };
  if (options.invert_mask && std::ranges::none_of(pipeline, reads_mask))
    throw Error(ErrorKind::usage, options.mask_from == MaskSource::file
                                      ? "--invert-mask: no mask is read. Give one by --mask FILE, or drop it."
                                      : "--invert-mask is for masks of --mask FILE. The inverse of a "
                                        "photograph's matte is --mask-from background.");
  bool stream_taken = std::any_of(options.inputs.begin(), options.inputs.end(), is_stream);
  for (const PipelineStep& step : pipeline) {
    check_names(step);
    for (const SideInput& side : step.side_inputs) check_file(side, stream_taken);
  }
}

bool is_side_pattern(const SideInput& side) {
  std::error_code ignored;
  return NamePattern::is_one(side.path) && !std::filesystem::exists(side.path, ignored);
}

std::vector<Image> read_side_inputs(const PipelineStep& step, const ReadOptions& options, bool inverts_masks,
                                    std::vector<std::string>& warnings) {
  std::vector<Image> images;
  for (const InputRecord& input : step.parameters.filter().inputs) {
    const SideInput* side = find_side(step, input.name);
    const bool shared = side != nullptr && !is_side_pattern(*side);
    images.push_back(shared ? read_side(step, input, *side, options, inverts_masks, warnings) : Image());
  }
  return images;
}

bool is_own_side(const PipelineStep& step, const InputRecord& input, const BatchOptions& options) {
  const SideInput* side = find_side(step, input.name);
  return is_in_picture(step, input) || is_matte(step, input, options) ||
         (side != nullptr && is_side_pattern(*side));
}

bool has_own_side_inputs(const Pipeline& pipeline, const BatchOptions& options) {
  return std::ranges::any_of(pipeline, [&](const PipelineStep& step) {
    return std::ranges::any_of(step.parameters.filter().inputs,
                               [&](const InputRecord& input) { return is_own_side(step, input, options); });
  });
}

std::vector<std::vector<Image>> read_own_side_inputs(const Batch& work, std::size_t index,
                                                     const Picture& picture, const ReadOptions& options,
                                                     std::vector<std::string>& warnings) {
  std::vector<std::vector<Image>> images;
  if (!has_own_side_inputs(work.pipeline, work.options)) return images;
  for (const PipelineStep& step : work.pipeline) {
    std::vector<Image>& of_step = images.emplace_back();
    for (const InputRecord& input : step.parameters.filter().inputs) {
      Image& image = of_step.emplace_back();
      const SideInput* side = find_side(step, input.name);
      if (side != nullptr && is_side_pattern(*side))
        image = read_side(step, input, {side->name, work.side_path(*side, index)}, options,
                          work.options.invert_mask, warnings);
      if (is_in_picture(step, input) && takes_photo(step)) {
        image = copy_in(options.allocator, depth_of(picture).values);
      } else if (is_matte(step, input, work.options)) {
        image = matte_of(picture, work.options.mask_from, options.allocator);
      } else if (is_in_picture(step, input)) {
        const std::string name = depth_channel_name(step);
        image = depth_channel(step, picture, name.empty() ? "Z" : name, "The picture", options.allocator);
      }
    }
  }
  return images;
}

bool is_transparent(const ImageView& picture) {
  if (picture.shape.alpha == Alpha::none) return false;
  if (picture.shape.type == Type::u8) return is_transparent_of<std::uint8_t>(picture);
  if (picture.shape.type == Type::u16) return is_transparent_of<std::uint16_t>(picture);
  return picture.shape.type == Type::f32 && is_transparent_of<float>(picture);
}

void invert(const MutableImageView& mask) {
  const auto bytes = static_cast<std::size_t>(interleaved_strides(mask.shape).row);
  for (std::int64_t y = 0; y < mask.shape.height; ++y)
    for (std::byte& value : std::span(mask.at(0, y), bytes)) value = ~value;
}

bool take_one_channel(const ImageView& from, bool alpha, const MutableImageView& to) {
  if (from.shape.type == Type::u8) return take<std::uint8_t>(from, alpha, to);
  if (from.shape.type == Type::u16) return take<std::uint16_t>(from, alpha, to);
  return from.shape.type == Type::f32 && take<float>(from, alpha, to);
}

void check_side_rows(const PipelineStep& step, const ReadOptions& options) {
  for (const SideInput& side : step.side_inputs)
    if (!is_side_pattern(side)) static_cast<void>(open_side(side, options));
}

SideRows::SideRows(const Batch& work, std::size_t index, const ReadOptions& options) {
  for (const PipelineStep& step : work.pipeline)
    for (const InputRecord& input : step.parameters.filter().inputs) {
      sources.push_back(nullptr);
      const SideInput* side = find_side(step, input.name);
      if (side == nullptr) continue;
      const SideInput own{side->name, work.side_path(*side, index)};
      owned.push_back(open_side(own, options));
      if (!keeps_channels(step, input) && owned.back()->shape().channels != 1) {
        RowSource& rows = *owned.back();
        const bool transparent = is_transparent(rows);
        if (transparent) warnings.push_back(warning_about_alpha(input, own));
        owned.push_back(one_channel_rows(rows, transparent && is_mask(input), refusal_of_colours(own)));
      }
      if (work.options.invert_mask && input.role == Role::mask) owned.push_back(inverted_rows(*owned.back()));
      sources.back() = owned.back().get();
    }
}

void check_sizes(const Pipeline& steps, std::size_t step, std::span<const Shape> shapes,
                 const std::filesystem::path& input, const Shape& picture) {
  std::size_t next = 1;
  for (std::size_t i = 0; i < step; ++i) next += steps[i].parameters.filter().inputs.size();
  for (const InputRecord& side : steps[step].parameters.filter().inputs) {
    const Shape& shape = shapes[next++];
    if (shape.width == 0 || side.role == Role::depth || side.role == Role::aperture)
      continue;  // filters scale depth and apertures
    const Shape& read = shapes.front();
    if (belongs_to(side, shape, read) || belongs_to(side, shape, picture)) continue;
    throw Error(ErrorKind::usage, "--" + side.name + " " + quoted(find_side(steps[step], side.name)->path) +
                                      " is " + size_of_shape(shape) + " pixels, but the picture " +
                                      quoted(input) + " is " + size_of_shape(read) +
                                      ". They must have the same " +
                                      (side.role == Role::radius_map ? "aspect." : "size."));
  }
}

}  // namespace satin::batch

namespace satin {

std::filesystem::path Batch::side_path(const SideInput& side, std::size_t index) const {
  if (!batch::is_side_pattern(side)) return side.path;
  const std::size_t file = index / series();
  const std::filesystem::path input = files.path(file);
  return batch::NamePattern(side.path).fill(
      batch::name_fields(input, files.relative(file), input.extension()));
}

}  // namespace satin
