#include "batch/photographs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

#include "batch/already_blurred.h"
#include "batch/names.h"
#include "batch/outputs.h"
#include "satin/io.h"

namespace satin::batch {
namespace {

namespace fs = std::filesystem;

/// Codes of 16 bits from the lowest value to the highest.
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

bool may_replace(const Batch& work) { return work.options.overwrite || work.options.resume; }

/// Where the middle of a pixel of a longer or shorter row lies among the samples: the one before it, the one
/// behind it, and the part of the second.
struct Between {
  std::int64_t first, second;
  double part;
};

Between between(std::int64_t pixel, std::int64_t pixels, std::int64_t samples) {
  const double place =
      (static_cast<double>(pixel) + 0.5) * static_cast<double>(samples) / static_cast<double>(pixels) - 0.5;
  const double inside = std::clamp(place, 0.0, static_cast<double>(samples - 1));
  const auto first = static_cast<std::int64_t>(inside);
  return {first, std::min(first + 1, samples - 1), inside - static_cast<double>(first)};
}

/// A mask of u8 in another size, bilinear.
Image scaled(const ImageView& mask, std::int64_t width, std::int64_t height, const Allocator& allocator) {
  Image result({width, height, 1, Type::u8}, allocator);
  const MutableImageView to = result.view();
  const auto mix = [](double a, double b, double part) { return a + (b - a) * part; };
  for (std::int64_t y = 0; y < height; ++y) {
    const Between row = between(y, height, mask.shape.height);
    for (std::int64_t x = 0; x < width; ++x) {
      const Between column = between(x, width, mask.shape.width);
      const auto at = [&](std::int64_t line) {
        return mix(mask.value<std::uint8_t>(column.first, line),
                   mask.value<std::uint8_t>(column.second, line), column.part);
      };
      to.value<std::uint8_t>(x, y) =
          static_cast<std::uint8_t>(mix(at(row.first), at(row.second), row.part) + 0.5);
    }
  }
  return result;
}

}  // namespace

bool takes_photo(const PipelineStep& step) {
  return step.parameters.get(ParameterRole::depth_source) == "photo";
}

bool takes_photo(const Pipeline& pipeline) {
  return std::any_of(pipeline.begin(), pipeline.end(),
                     [](const PipelineStep& step) { return takes_photo(step); });
}

void check_photo_options(const Pipeline& pipeline, const BatchOptions& options, bool several) {
  const bool asked = options.keep_depth || !options.depth_out.empty();
  if (asked && !takes_photo(pipeline))
    throw Error(ErrorKind::usage, std::string(options.keep_depth ? "--keep-depth" : "--depth-out") +
                                      " needs a filter whose depth is the photograph's: --depth-from photo.");
  if (options.keep_depth && options.strip)
    throw Error(ErrorKind::usage, "--keep-depth and --strip contradict each other. Drop one of them.");
  if (options.depth_out.empty()) return;
  const bool pattern = NamePattern::is_one(options.depth_out);
  if (pattern) static_cast<void>(NamePattern(options.depth_out));
  if (several && !pattern)
    throw Error(ErrorKind::usage, "--depth-out " + quoted(options.depth_out) +
                                      " is one file for several pictures. Give a pattern such as "
                                      "{dir}/{stem}_depth.tif.");
  const std::string extension = options.depth_out.extension().string();
  const std::vector<std::string> usual{".tif", ".tiff", ".exr", ".pfm", ".npy", ".png"};
  if (std::ranges::find(usual, extension) == usual.end())
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
  picture.photo->original.file = encode_image(picture.image, ".jpg", options);
  picture.warnings.emplace_back("the original is kept as a JPEG of quality 95, as GDepth holds no other.");
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

PhotoPipeline pipeline_for(const Pipeline& pipeline, const Picture& picture) {
  PhotoPipeline result;
  const PhotoDepth& depth = depth_of(picture);
  for (const PipelineStep& step : pipeline) {
    if (!takes_photo(step)) {
      result.steps.push_back(step);
      continue;
    }
    result.report.blur =
        step.parameters.filter().photo_blur(step.parameters.data(), *picture.photo, picture.image.shape());
    result.steps.push_back({step.parameters.for_photo(*picture.photo), step.side_inputs});
  }
  if (seems_blurred(picture.image, depth))
    result.report.blur.warnings.emplace_back(
        "it seems to be blurred already, where it is far. Take the photograph without its portrait effect: "
        "export the unmodified original.");
  result.report.depth = depth.values.shape();
  result.report.kind = depth.kind;
  result.report.metric = depth.metric;
  result.report.lowest = depth.lowest;
  result.report.highest = depth.highest;
  result.report.format = depth.format;
  result.report.place = depth.place;
  result.report.original = picture.photo->original.place;
  return result;
}

void set_blur_at_infinity(PhotoReport& report, std::span<const FoundValue> found, const Shape& picture) {
  const auto strength = std::ranges::find(found, "strength", &FoundValue::parameter);
  if (strength == found.end() || report.blur.disparity <= 0) return;
  const double radius = std::min(strength->value * report.blur.disparity, report.blur.largest);
  report.blur.at_infinity = radius / static_cast<double>(std::max(picture.width, picture.height));
}

void check_depth_out(const Batch& work) {
  const BatchOptions& options = work.options;
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
  const BatchOptions& options = work.options;
  if (options.depth_out.empty() || index % work.series() != 0) return;
  report.depth_out = depth_file(work, index);
  WriteOptions writing;
  writing.overwrite = may_replace(work);
  create_folder_of(report.depth_out);
  const bool codes = report.depth_out.extension() == ".png";
  const Image coded = codes ? codes_of(depth) : Image();
  write_image(report.depth_out, codes ? coded.view() : depth.values.view(), writing);
}

}  // namespace satin::batch
