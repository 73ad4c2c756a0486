#include "batch/photographs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "batch/file_names.h"
#include "batch/gain_maps.h"
#include "batch/outputs.h"
#include "satin/io.h"
#include "satin/photo_depth.h"

namespace satin::batch {
namespace {

constexpr std::int64_t edge_window = 16;  // pixels of a row searched for an edge
constexpr std::int64_t window_step = 3;   // distance of windows in both directions
constexpr double outer_share = 0.3;

/// Returns the value below which this share of all values is.
template <class Value>
Value percentile(std::vector<Value>& values, double share) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

struct Edge {
  float contrast = 0;   ///< difference of the darkest and brightest pixel in the window
  float steepness = 0;  ///< largest difference of neighbours, divided by the contrast
};

/// Measurements in one of the two groups of pixels, near and far.
struct Detail {
  std::vector<Edge> edges;
  double energy = 0;

  [[nodiscard]] double mean_energy() const {
    return energy / static_cast<double>(edges.size() * (edge_window - 1));
  }

  /// Returns the 90th percentile of steepness among the hundredth of windows with the most contrast.
  [[nodiscard]] double edge_steepness() {
    const auto kept = static_cast<std::ptrdiff_t>(edges.size() / 100 + 1);
    std::nth_element(edges.begin(), edges.begin() + kept - 1, edges.end(),
                     [](const Edge& a, const Edge& b) { return a.contrast > b.contrast; });
    std::vector<float> steepness;
    for (std::ptrdiff_t i = 0; i < kept; ++i)
      steepness.push_back(edges[static_cast<std::size_t>(i)].steepness);
    return percentile(steepness, 0.9);
  }
};

template <class Value>
void add_window(Detail& detail, const ImageView& picture, std::int64_t x, std::int64_t y, int channel) {
  float lowest = picture.value<Value>(x, y, channel), highest = lowest, before = lowest, largest = 0;
  for (std::int64_t i = 1; i < edge_window; ++i) {
    const float value = picture.value<Value>(x + i, y, channel), difference = std::abs(value - before);
    detail.energy += double{difference} * difference;
    largest = std::max(largest, difference);
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
    before = value;
  }
  const float contrast = highest - lowest;
  detail.edges.push_back({contrast, contrast > 0 ? largest / contrast : 0});
}

template <class Value>
bool compare(const ImageView& picture, const ImageView& values, float low, float high, bool low_is_far) {
  const Shape& shape = picture.shape;
  const int channel = shape.channels >= 3 ? 1 : 0;  // green is the sharpest of a camera's colours
  Detail least, largest;
  const auto value_at = [&](std::int64_t x, std::int64_t y) {
    return values.value<float>(x * values.shape.width / shape.width, y * values.shape.height / shape.height);
  };
  for (std::int64_t y = 0; y < shape.height; y += window_step)
    for (std::int64_t x = 0; x + edge_window <= shape.width; x += window_step) {
      const float left = value_at(x, y), right = value_at(x + edge_window - 1, y);
      if (std::max(left, right) <= low) add_window<Value>(least, picture, x, y, channel);
      if (std::min(left, right) >= high) add_window<Value>(largest, picture, x, y, channel);
    }
  if (least.edges.empty() || largest.edges.empty()) return false;
  Detail& far = low_is_far ? least : largest;
  Detail& near = low_is_far ? largest : least;
  return far.mean_energy() < 0.15 * near.mean_energy() && far.edge_steepness() < 0.5 * near.edge_steepness();
}

/// Whether the photograph already has a blurred background: a second blur would look wrong. Compares the far
/// and the near 30 percent of the depth by the energy of gradients between neighbours and the steepness of
/// the strongest edges. The far group counts as blurred if it has less than 15 percent of the energy and less
/// than half the steepness of the near one. A plain background or haze has only one of the two.
bool seems_blurred(const ImageView& picture, const PhotoDepth& depth) {
  const auto* first = reinterpret_cast<const float*>(depth.values.data());
  const Shape& shape = depth.values.shape();
  std::vector<float> sorted(first, first + shape.width * shape.height);
  const float low = percentile(sorted, outer_share), high = percentile(sorted, 1 - outer_share);
  const bool low_is_far = depth.kind == DepthKind::disparity;
  if (!(low < high)) return false;
  if (picture.shape.type == Type::u8)
    return compare<std::uint8_t>(picture, depth.values, low, high, low_is_far);
  if (picture.shape.type == Type::u16)
    return compare<std::uint16_t>(picture, depth.values, low, high, low_is_far);
  return picture.shape.type == Type::f32 && compare<float>(picture, depth.values, low, high, low_is_far);
}

namespace fs = std::filesystem;

/// Returns 16-bit codes, which map the lowest to the highest value to their whole range.
Image codes_of(const PhotoDepth& depth) {
  Shape shape = depth.values.shape();
  shape.type = Type::u16;
  Image codes(shape);
  constexpr double white = 65535;
  const double range = double{depth.highest} - depth.lowest;
  const auto* value = reinterpret_cast<const float*>(depth.values.data());
  auto* code = reinterpret_cast<std::uint16_t*>(codes.data());
  for (std::int64_t i = 0; i < shape.width * shape.height; ++i)
    code[i] =
        range > 0 ? static_cast<std::uint16_t>(std::lround((value[i] - depth.lowest) / range * white)) : 0;
  return codes;
}

fs::path depth_file(const Batch& work, std::size_t index) {
  return work.side_path({"depth-out", work.options.depth_out}, index);
}

bool holds_depth(const std::string& extension) {
  static const std::set<std::string> usual{".tif", ".tiff", ".exr", ".pfm", ".npy", ".png"};
  return usual.contains(extension);
}

bool may_replace(const Batch& work) { return work.options.overwrite || work.options.resume; }

/// Position of a resampled pixel between two samples: their indices and the weight of the second.
struct Between {
  std::int64_t first, second;
  double weight;
};

Between between(std::int64_t pixel, std::int64_t pixels, std::int64_t samples) {
  const double place =
      (static_cast<double>(pixel) + 0.5) * static_cast<double>(samples) / static_cast<double>(pixels) - 0.5;
  const double inside = std::clamp(place, 0.0, static_cast<double>(samples - 1));
  const auto first = static_cast<std::int64_t>(inside);
  return {first, std::min(first + 1, samples - 1), inside - static_cast<double>(first)};
}

/// Scales a u8 mask by bilinear interpolation.
Image scaled(const ImageView& mask, std::int64_t width, std::int64_t height, const Allocator& allocator) {
  Image result({width, height, 1, Type::u8}, allocator);
  const MutableImageView to = result.view();
  const auto mix = [](double a, double b, double weight) { return a + (b - a) * weight; };
  for (std::int64_t y = 0; y < height; ++y) {
    const Between row = between(y, height, mask.shape.height);
    for (std::int64_t x = 0; x < width; ++x) {
      const Between column = between(x, width, mask.shape.width);
      const auto at = [&](std::int64_t line) {
        return mix(mask.value<std::uint8_t>(column.first, line),
                   mask.value<std::uint8_t>(column.second, line), column.weight);
      };
      to.value<std::uint8_t>(x, y) =
          static_cast<std::uint8_t>(mix(at(row.first), at(row.second), row.weight) + 0.5);
    }
  }
  return result;
}

/// Whether the depth of any step comes from this source.
bool takes_depth_from(const Pipeline& pipeline, const char* source) {
  return std::ranges::any_of(pipeline, [source](const PipelineStep& step) {
    return step.parameters.get(ParameterRole::depth_source) == source;
  });
}

}  // namespace

bool takes_photo(const PipelineStep& step) {
  const std::string source = step.parameters.get(ParameterRole::depth_source);
  return source == "photo" || source == "model";
}

bool takes_photo(const Pipeline& pipeline) {
  return std::any_of(pipeline.begin(), pipeline.end(),
                     [](const PipelineStep& step) { return takes_photo(step); });
}

bool takes_model(const Pipeline& pipeline) { return takes_depth_from(pipeline, "model"); }

std::shared_ptr<const ImageModel> model_of(const Pipeline& pipeline, const BatchOptions& options) {
  const bool wants_mask = options.picture_from == PictureSource::model_mask;
  if (options.picture_from == PictureSource::file && !takes_model(pipeline)) return nullptr;
  const fs::path file = options.model.empty() && !wants_mask ? usual_depth_model() : options.model;
  if (file.empty())
    throw Error(ErrorKind::usage,
                "There is no model: name one by --model FILE, or in the variable SATIN_DEPTH_MODEL.");
  std::shared_ptr<const ImageModel> model = ImageModel::open(file, options.threads);
  if (wants_mask != (model->estimates() == Estimate::mask))
    throw Error(ErrorKind::usage,
                "The model " + quoted(file) + " estimates " +
                    (wants_mask ? "depth, and no mask. Name another, or say \"output\": \"mask\""
                                : "a mask, and no depth. Name another, or correct \"output\"") +
                    " in the JSON file beside it.");
  return model;
}

void use_model(const ImageModel& model, const BatchOptions& options, const fs::path& file,
               const EstimateOptions& running, Picture& picture) {
  if (options.picture_from == PictureSource::model_mask) {
    picture = Picture(model.mask(picture.image, picture.metadata, running));
    return;
  }
  Photo photo;
  photo.depth = model.depth(picture.image, picture.metadata, running);
  if (options.picture_from == PictureSource::model_depth) {
    const std::string extension = file.has_extension() ? file.extension().string() : file.string();
    picture = Picture(extension == ".png" ? codes_of(*photo.depth) : photo.depth->values.clone());
  }
  picture.photo = std::move(photo);
}

void check_photo_options(const Pipeline& pipeline, const BatchOptions& options, bool several) {
  check_gain_map_use(pipeline, options);
  const bool asked = options.keep_depth || !options.depth_out.empty();
  if (asked && !takes_photo(pipeline))
    throw Error(ErrorKind::usage, std::string(options.keep_depth ? "--keep-depth" : "--depth-out") +
                                      " needs a filter whose depth is the photograph's: --depth-from photo.");
  if (takes_depth_from(pipeline, "photo") && takes_model(pipeline))
    throw Error(ErrorKind::usage,
                "Depth comes from the photograph or from a model: give one --depth-from for all filters.");
  if (options.keep_depth && takes_model(pipeline))
    throw Error(ErrorKind::usage,
                "--keep-depth keeps what the photograph carries. Write a model's depth by --depth-out FILE.");
  if (options.keep_depth && options.strip)
    throw Error(ErrorKind::usage, "--keep-depth and --strip contradict each other. Drop one of them.");
  if (options.depth_out.empty()) return;
  const bool pattern = NamePattern::is_one(options.depth_out);
  if (pattern) static_cast<void>(NamePattern(options.depth_out));
  if (several && !pattern)
    throw Error(ErrorKind::usage, "--depth-out " + quoted(options.depth_out) +
                                      " is one file for several pictures. Give a pattern such as "
                                      "{dir}/{stem}_depth.tif.");
  if (!holds_depth(options.depth_out.extension().string()))
    throw Error(ErrorKind::usage, "--depth-out " + quoted(options.depth_out) +
                                      ": depth is written as .tif, .exr, .pfm, .npy or .png.");
}

const PhotoDepth& depth_of(const Picture& picture) {
  if (picture.photo && picture.photo->depth) return *picture.photo->depth;
  throw Error(ErrorKind::input, picture.photo && !picture.photo->problem.empty()
                                    ? picture.photo->problem
                                    : "it carries no depth. Give a depth image by --depth FILE.");
}

void make_original(Picture& picture) {
  if (!picture.photo || !picture.photo->depth || !picture.photo->original.file.empty()) return;
  WriteOptions options;
  options.quality = 95;
  options.convert = true;
  options.metadata = picture.metadata;
  if (picture.gain_map) options.gain_map = &*picture.gain_map;
  picture.photo->original.file = encode_image(picture.image, ".jpg", options);
  picture.warnings.emplace_back(
      "the original is kept as a JPEG of quality 95, as GDepth can hold no other format.");
}

Image matte_of(const Picture& picture, MaskSource source, const Allocator& allocator) {
  const std::vector<PhotoMatte> none;
  const std::vector<PhotoMatte>& mattes = picture.photo ? picture.photo->mattes : none;
  const auto matte = std::ranges::find(mattes, "portrait", &PhotoMatte::name);
  if (matte == mattes.end())
    throw Error(ErrorKind::input, "it carries no portrait matte. Give a mask by --mask FILE.");
  const Shape& shape = picture.image.shape();
  Image mask = scaled(matte->weights, shape.width, shape.height, allocator);
  if (source != MaskSource::background) return mask;
  auto* weight = reinterpret_cast<std::uint8_t*>(mask.data());
  for (std::int64_t i = 0; i < shape.width * shape.height; ++i)
    weight[i] = static_cast<std::uint8_t>(255 - weight[i]);
  return mask;
}

PhotoPipeline pipeline_for(const Device& device, const Pipeline& pipeline, const Picture& picture) {
  PhotoPipeline result;
  const PhotoDepth& depth = depth_of(picture);
  result.report = report_of(depth);
  for (std::size_t i = 0; i < pipeline.size(); ++i) {
    const PipelineStep& step = pipeline[i];
    if (!takes_photo(step)) {
      result.steps.push_back(step);
      continue;
    }
    Shape shape = picture.image.shape();
    const Framing before = framing_of(std::span(pipeline).first(i), shape.width, shape.height);
    const Photo moved = before.changes() ? framed(device, *picture.photo, before) : Photo();
    const Photo& photo = before.changes() ? moved : *picture.photo;
    shape.width = static_cast<std::int64_t>(before.result_width);
    shape.height = static_cast<std::int64_t>(before.result_height);
    result.report.blur = step.parameters.filter().photo_blur(step.parameters.data(), photo, shape);
    result.steps.push_back({step.parameters.for_photo(photo), step.side_inputs});
  }
  if (!depth.is_estimated && seems_blurred(picture.image, depth))
    result.report.blur.warnings.emplace_back(
        "its background seems to be blurred already. Take the photograph without its portrait effect: "
        "export the unmodified original.");
  result.report.original = picture.photo->original.place;
  return result;
}

PhotoReport report_of(const PhotoDepth& depth) {
  PhotoReport report;
  report.depth = depth.values.shape();
  report.kind = depth.kind;
  report.metric = depth.metric;
  report.lowest = depth.lowest;
  report.highest = depth.highest;
  report.format = depth.format;
  report.place = depth.place;
  return report;
}

/// Returns the samples of the box, as many as the result has pixels at most.
static Image samples_of(const Device& device, const Image& plane, const Framing& framing) {
  const Shape& all = plane.shape();
  const auto edge = [](double place, double side, std::int64_t samples) {
    return std::llround(place / side * static_cast<double>(samples));
  };
  ImageView box = plane.view();
  const std::int64_t x = std::min<std::int64_t>(edge(framing.x, framing.width, all.width), all.width - 1);
  const std::int64_t y = std::min<std::int64_t>(edge(framing.y, framing.height, all.height), all.height - 1);
  box.shape.width =
      std::max<std::int64_t>(edge(framing.x + framing.box_width, framing.width, all.width) - x, 1);
  box.shape.height =
      std::max<std::int64_t>(edge(framing.y + framing.box_height, framing.height, all.height) - y, 1);
  box.data = box.at(x, y);
  Image samples = copy_of(box);
  const std::int64_t width = std::min(box.shape.width, static_cast<std::int64_t>(framing.result_width));
  const std::int64_t height = std::min(box.shape.height, static_cast<std::int64_t>(framing.result_height));
  if (width == box.shape.width && height == box.shape.height) return samples;
  return run(device,
             parse_pipeline("resize size=" + std::to_string(width) + "x" + std::to_string(height) +
                            " fit=stretch kernel=nearest"),
             samples);
}

Photo framed(const Device& device, const Photo& photo, const Framing& framing) {
  Photo result;
  result.focus = photo.focus;
  result.focal_length = photo.focal_length;
  if (result.focus) {
    PhotoBlur blur;
    blur.place = result.focus->place;
    frame(blur, framing);
    result.focus->place = blur.place;
    if (!blur.place && !result.focus->distance) result.focus.reset();
  }
  if (!photo.depth) return result;
  PhotoDepth& depth = result.depth.emplace();
  depth.kind = photo.depth->kind;
  depth.metric = photo.depth->metric;
  depth.is_estimated = photo.depth->is_estimated;
  depth.format = photo.depth->format;
  depth.place = photo.depth->place;
  depth.values = samples_of(device, photo.depth->values, framing);
  const auto* first = reinterpret_cast<const float*>(depth.values.data());
  const auto [low, high] =
      std::minmax_element(first, first + depth.values.shape().width * depth.values.shape().height);
  depth.lowest = *low;
  depth.highest = *high;
  if (depth.is_estimated) return result;  // it has no stored form
  depth.stored.format = photo.depth->stored.format;
  depth.stored.near = photo.depth->stored.near;
  depth.stored.far = photo.depth->stored.far;
  depth.stored.units = photo.depth->stored.units;
  depth.stored.codes = samples_of(device, upright_codes(photo), framing);
  return result;
}

PhotoOriginal framed_original(const Device& device, const Picture& picture, const Pipeline& steps) {
  Pipeline framing;
  std::ranges::copy_if(steps, std::back_inserter(framing),
                       [](const PipelineStep& step) { return step.parameters.filter().frame != nullptr; });
  WriteOptions options;
  options.convert = true;
  options.metadata.icc = picture.metadata.icc;
  options.metadata.jpeg = picture.metadata.jpeg;
  const Image& image = picture.image;
  std::optional<GainMap> map;
  if (picture.gain_map)
    map = framed(*picture.gain_map, framing_of(framing, image.shape().width, image.shape().height));
  if (map) options.gain_map = &*map;
  return {encode_image(run(device, framing, image), ".jpg", options), {}};
}

Framing framing_after_photo(const Pipeline& steps, const Shape& picture) {
  std::size_t photo = 0;
  while (photo < steps.size() && !takes_photo(steps[photo])) ++photo;
  const std::span<const PipelineStep> all(steps);
  const Framing before = framing_of(all.first(photo), picture.width, picture.height);
  return framing_of(all.subspan(photo), static_cast<std::int64_t>(before.result_width),
                    static_cast<std::int64_t>(before.result_height));
}

void frame(PhotoBlur& blur, const Framing& framing) {
  blur.at_infinity *=
      std::max(framing.width, framing.height) / std::max(framing.box_width, framing.box_height);
  if (!blur.place) return;
  const auto moved = [](const Length& place, double side, double first, double size) {
    return (place.value / 100 * side - first) / size * 100;
  };
  const double x = moved(blur.place->x, framing.width, framing.x, framing.box_width);
  const double y = moved(blur.place->y, framing.height, framing.y, framing.box_height);
  blur.place.reset();
  if (std::min(x, y) >= 0 && std::max(x, y) <= 100) blur.place = Point{{x, true}, {y, true}};
}

void set_blur_at_infinity(PhotoReport& report, std::span<const FoundValue> found, const Framing& after) {
  const auto strength = std::ranges::find(found, "strength", &FoundValue::parameter);
  if (strength == found.end() || report.blur.disparity <= 0) return;
  const double radius = std::min(strength->value * report.blur.disparity, report.blur.largest);
  report.blur.at_infinity = radius / std::max(after.width, after.height);
}

void check_depth_out(const Batch& work) {
  const BatchOptions& options = work.options;
  for (std::size_t i = 0; i < work.size() && options.picture_from == PictureSource::model_depth; ++i) {
    const BatchFile file = work.file(i);
    const std::string format = options.format.empty() ? file.output.extension().string() : options.format;
    if (!holds_depth(format))
      throw Error(ErrorKind::usage,
                  quoted(file.output) +
                      ": depth is written as .tif, .exr, .pfm, .npy or .png. Name such a file, "
                      "or give --format tif.");
  }
  if (options.depth_out.empty()) return;
  const bool pattern = NamePattern::is_one(options.depth_out);
  std::set<fs::path> written;
  for (std::size_t i = 0; i < work.size(); i += work.series()) {
    const BatchFile file = work.file(i);
    const fs::path depth = depth_file(work, i);
    if (!written.insert(depth.lexically_normal()).second)
      throw Error(ErrorKind::usage, "--depth-out " + quoted(options.depth_out) +
                                        " gives several pictures the file " + quoted(depth) +
                                        ". Put {stem} or {sub} into the pattern.");
    if (same_file(depth, file.output) || same_file(depth, file.input))
      throw Error(ErrorKind::usage,
                  "--depth-out " + quoted(depth) + " is a picture's own file as well. Name another file.");
    std::error_code ignored;
    if (!pattern || fs::exists(depth, ignored)) check_target(depth, may_replace(work));
  }
}

void write_depth(const Batch& work, std::size_t index, const PhotoDepth& depth, PhotoReport& report) {
  if (index % work.series() != 0) return;
  report.depth_out = depth_file(work, index);
  WriteOptions writing;
  writing.overwrite = may_replace(work);
  create_folder_of(report.depth_out);
  const bool codes = report.depth_out.extension() == ".png";
  const Image coded = codes ? codes_of(depth) : Image();
  write_image(report.depth_out, codes ? coded.view() : depth.values.view(), writing);
}

Shape enough_for(const Batch& work, const Shape& picture) try {
  Shape enough{1, 1};
  for (std::size_t i = 0; i < work.series(); ++i) {
    const PipelineStep& step = work.steps(i).front();
    if (!step.parameters.for_reduced(picture.width, picture.height)) return picture;
    const Framing framing = framing_of({&step, 1}, picture.width, picture.height);
    const auto grown = [](std::int64_t side, double to, double from) {
      return static_cast<std::int64_t>(std::ceil(static_cast<double>(side) * to / from));
    };
    enough.width = std::max(enough.width, grown(picture.width, framing.result_width, framing.box_width));
    enough.height = std::max(enough.height, grown(picture.height, framing.result_height, framing.box_height));
  }
  return enough;
} catch (const Error&) {
  return picture;  // the filter refuses it
}

Pipeline steps_for_reduced(const Pipeline& steps, const Picture& picture) {
  Pipeline result = steps;
  result.front().parameters =
      steps.front().parameters.for_reduced(picture.full_width, picture.full_height).value();
  return result;
}

}  // namespace satin::batch
