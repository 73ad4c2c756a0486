// The list of all filters, lookups in it, its JSON, and advice for words that are no filter's name.

#include "satin/filter.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "satin/error.h"
#include "satin/filters.h"
#include "satin/json.h"
#include "satin/regions.h"
#include "satin/statistics.h"

namespace satin {

std::span<const FilterRecord> filters() {
  // clang-format off
  static const std::vector<FilterRecord> list = {
      blur_record(),
      smooth_record(),
      edge_smooth_record(),
      guided_record(),
      dof_record(),
      tilt_shift_record(),
      median_record(),
      dilate_record(),
      erode_record(),
      opening_record(),
      closing_record(),
      integral_record(),
      threshold_record(),
      mask_record(),
      redact_record(),
      resize_record(),
      local_mean_record(),
      local_deviation_record(),
      normalize_record(),
      stretch_record(),
      unsharp_record(),
      gloss_record(),
      crop_record(),
      stats_record(),
      bins_record(),
      regions_record(),
  };
  // clang-format on
  return list;
}

namespace {

void add_parameter(JsonWriter& json, const ParameterRecord& parameter) {
  json.begin_object();
  json.key("name").string(parameter.name);
  json.key("kind").string(name_of(parameter.kind));
  json.key("help").string(parameter.help);
  json.key("unit").string(parameter.unit);
  json.key("default").string(parameter.default_text);
  json.key("minimum").real(parameter.minimum);
  json.key("maximum").real(parameter.maximum);
  if (parameter.is_number()) {
    json.key("usual").begin_array().real(parameter.usual_minimum).real(parameter.usual_maximum).end_array();
    json.key("scale").string(name_of(parameter.scale));
  }
  json.key("whole").boolean(parameter.whole);
  json.key("odd").boolean(parameter.odd);
  json.key("instead_of").string(parameter.instead_of);
  json.key("choices").strings(parameter.choices);
  json.key("group").string(parameter.group);
  json.key("rank").integer(parameter.rank);
  json.end_object();
}

void add_input(JsonWriter& json, const InputRecord& input) {
  json.begin_object();
  json.key("name").string(input.name);
  json.key("help").string(input.help);
  json.key("required").boolean(input.required);
  json.key("group").string(input.group);
  json.end_object();
}

void add_filter(JsonWriter& json, const FilterRecord& filter) {
  json.begin_object();
  json.key("name").string(filter.name);
  json.key("category").string(filter.category);
  json.key("help").string(filter.help);
  json.key("paper").string(filter.paper);
  json.key("output").string(name_of(filter.output));
  json.key("shape").string(name_of(filter.shape));
  json.key("parameters").array(filter.parameters, [&](const auto& each) { add_parameter(json, each); });
  json.key("inputs").array(filter.inputs, [&](const auto& each) { add_input(json, each); });
  json.end_object();
}

}  // namespace

std::string describe_filters() {
  JsonWriter json;
  json.begin_object().key("filters").array(filters(), [&](const auto& each) { add_filter(json, each); });
  return json.end_object().text();
}

const char* name_of(OutputKind kind) noexcept {
  return kind == OutputKind::image ? "image" : kind == OutputKind::table ? "table" : "json";
}

const char* name_of(OutputShape shape) noexcept {
  return shape == OutputShape::same ? "same" : shape == OutputShape::grey ? "grey" : "other";
}

const FilterRecord& find_filter(std::string_view name) {
  std::vector<std::string> names;
  for (const FilterRecord& filter : filters()) {
    if (filter.name == name) return filter;
    names.push_back(filter.name);
  }
  const std::string advice = advice_for(name);
  throw Error(ErrorKind::usage, "There is no filter '" + std::string(name) + "'." +
                                    did_you_mean(name, names) + (advice.empty() ? "" : " " + advice) +
                                    " 'satin list' shows them all.");
}

const ParameterRecord* FilterRecord::find_parameter(std::string_view parameter) const noexcept {
  const auto found = std::ranges::find(parameters, parameter, &ParameterRecord::name);
  return found == parameters.end() ? nullptr : &*found;
}

const ParameterRecord* FilterRecord::find_parameter(ParameterRole role) const noexcept {
  const auto found = std::ranges::find(parameters, role, &ParameterRecord::role);
  return found == parameters.end() ? nullptr : &*found;
}

namespace {

const ParameterRecord& parameter_of(const FilterRecord& filter, std::string_view name) {
  if (const ParameterRecord* record = filter.find_parameter(name)) return *record;
  std::vector<std::string> names;
  for (const ParameterRecord& record : filter.parameters) names.push_back(record.name);
  throw Error(ErrorKind::usage, "The filter '" + filter.name + "' has no parameter '" + std::string(name) +
                                    "'." + did_you_mean(name, names));
}

}  // namespace

void Parameters::set(std::string_view name, std::string_view text) {
  const ParameterRecord& parameter = parameter_of(*filter_, name);
  if (text.empty()) {
    parameter.set(values_.get(), text);
    std::erase(set_, name);
    return;
  }
  for (const std::string& other : set_)
    if (other == parameter.instead_of || parameter_of(*filter_, other).instead_of == name)
      throw Error(ErrorKind::usage, filter_->name + " takes " + other + " or " + std::string(name) +
                                        ", not both: leave one of them out.");
  parameter.set(values_.get(), text);
  set_.emplace_back(name);
}

std::string Parameters::get(std::string_view name) const {
  return parameter_of(*filter_, name).get(values_.get());
}

std::string Parameters::get(ParameterRole role) const {
  const ParameterRecord* record = filter_->find_parameter(role);
  return record == nullptr ? "" : record->get(values_.get());
}

bool Parameters::varied_from(const Parameters& other) const {
  return filter_ == other.filter_ &&
         std::ranges::all_of(filter_->parameters, [&](const ParameterRecord& each) {
           return each.varies || get(each.name) == other.get(each.name);
         });
}

Parameters Parameters::copy() const {
  Parameters result(*filter_);
  for (const ParameterRecord& parameter : filter_->parameters)
    if (const std::string text = get(parameter.name); text != parameter.default_text)
      result.set(parameter.name, text);
  return result;
}

std::optional<Parameters> Parameters::for_reduced(std::int64_t width, std::int64_t height) const {
  Parameters result = copy();
  if (filter_->fit_reduced == nullptr || !filter_->fit_reduced(result.values_.get(), width, height))
    return {};
  return result;
}

Parameters Parameters::for_photo(const Photo& photo) const {
  Parameters result = copy();
  if (filter_->set_by_photo) filter_->set_by_photo(result.values_.get(), photo);
  return result;
}

Plan plan(const Device& device, const Parameters& parameters, std::span<const Shape> shapes) {
  return parameters.filter().plan(device, shapes, parameters.data());
}

namespace {

/// Words that people know from other programs, and the filter of Satin that does the same.
struct Advice {
  std::string_view words;  ///< separated by spaces
  std::string_view sentence;
};

constexpr std::array advices = {
    Advice{"gaussian gauss gaussianblur gaussianfilter", "'satin blur --sigma 6' is a gaussian blur."},
    Advice{"box boxblur boxfilter mean average soften uniform fastblur",
           "'satin blur' is the mean over a window."},
    Advice{"motionblur motion", "'satin blur --radius 20x0' smears along one axis."},
    Advice{"sharpen sharp sharpening sharpness unsharpmask clarity", "'satin unsharp' sharpens."},
    Advice{"bokeh lens lensblur depth depthoffield depthblur portrait refocus focus background",
           "'satin dof' is depth of field."},
    Advice{"miniature toy", "'satin tilt-shift' makes miniatures."},
    Advice{"despeckle denoise noise percentile rank salt medianblur medianfilter specks removespecks spots "
           "scratches",
           "'satin median' removes specks."},
    Advice{"dust removedust", "'satin median' removes specks, 'satin closing' narrow dark dust alone."},
    Advice{"binarize binarise binarization binary otsu sauvola niblack bradley adaptive adaptivethreshold "
           "ocr monochrome",
           "'satin threshold' makes black and white."},
    Advice{"bw blackandwhite blackwhite",
           "'satin threshold' makes a page black and white; ImageMagick ('magick photo.jpg -colorspace Gray "
           "grey.jpg') makes a photograph grey."},
    Advice{"pixelate pixelize pixellate mosaic anonymize anonymise censor blackout hide cover",
           "'satin redact' covers areas of a picture, '--method mosaic' with blocks."},
    Advice{"faces face facedetect facedetection blurfaces",
           "Satin finds no faces: 'satin redact --box' or '--mask' covers those that a detector, such as "
           "OpenCV's, found."},
    Advice{
        "removebackground backgroundremoval removebg rembg cutout matte matting segment",
        "Satin finds no subject: rembg makes a mask of it, for 'satin dof --subject' and '--mask' of other "
        "filters."},
    Advice{"chromakey chroma greenscreen bluescreen keying",
           "Satin cuts nothing out by its colour; ffmpeg ('chromakey') does. 'satin blur --mask' uses such a "
           "mask."},
    Advice{"bilateral bilateralfilter surfaceblur domaintransform",
           "'satin edge-smooth' smooths up to edges."},
    Advice{"contrast clahe equalize equalise autocontrast levels",
           "'satin stretch' raises local contrast, 'satin normalize' evens light out."},
    Advice{"hdr tonemap tonemapping exposurefusion",
           "'satin stretch' raises local contrast; enfuse merges exposures, which Satin does not."},
    Advice{"glow bloom orton halation",
           "'satin dof --highlights 4' lets lamps shine; a glow over the whole picture is 'satin blur' and "
           "then ImageMagick ('magick photo.jpg soft.jpg -compose screen -composite glow.jpg')."},
    Advice{"histogram identify statistics",
           "'satin stats' counts values, 'satin info' says what is in a file."},
    Advice{"compare diff difference psnr ssim",
           "Satin compares no pictures; ImageMagick ('magick compare -metric PSNR a.png b.png null:') does."},
    Advice{"label labels components connectedcomponents contours blobs count rle",
           "'satin regions' measures connected areas."},
    Advice{"sat summedarea summedareatable integralimage cumsum",
           "'satin integral' makes summed-area tables."},
    Advice{"minimum min erosion morphology morph", "'satin erode' is the minimum in a window."},
    Advice{"maximum max dilation", "'satin dilate' is the maximum in a window."},
    Advice{"open tophat",
           "'satin opening' removes narrow bright things; 'satin mask --open 3' opens a mask by a disc."},
    Advice{"close bottomhat blackhat",
           "'satin closing' removes narrow dark things; 'satin mask --close 3' closes a mask by a disc."},
    Advice{"std deviation variance stddev", "'satin local-deviation' is the deviation around each pixel."},
    Advice{"scale thumbnail thumb rescale downscale upscale shrink enlarge",
           "'satin resize' changes the size."},
    Advice{"cut trim clip extract", "'satin crop' cuts a box out of a picture."},
    Advice{"convert reformat transcode compress export save",
           "'satin convert' reads and writes without a filter, '--jpeg-quality 80' makes JPEG smaller."},
    Advice{
        "strip striptags stripmetadata removeexif",
        "'satin convert photo.jpg -o bare.jpg --strip' drops metadata, as --strip does with every filter."},
    Advice{
        "rotate flip flop turn mirrored pad",
        "Satin turns pictures only as their EXIF says; ImageMagick ('magick in.jpg -rotate 90 out.jpg') and "
        "libvips ('vips rot') do that."},
    Advice{"grey gray greyscale grayscale togrey togray desaturate decolorize",
           "Satin does not change colours; ImageMagick ('magick photo.jpg -colorspace Gray grey.jpg') and "
           "libvips ('vips colourspace') do."},
    Advice{
        "negate invert brightness gamma saturation hue colorize whitebalance temperature tint exposure",
        "Satin does not change colours; ImageMagick ('magick') and libvips ('vips') do, darktable balances "
        "white."},
    Advice{"vignette vignetting",
           "Satin darkens no corners; ImageMagick ('magick photo.jpg -vignette 0x80 out.jpg') does."},
    Advice{"watermark montage composite overlay blend text caption annotate collage",
           "Satin puts no picture or text onto another; ImageMagick ('magick photo.jpg logo.png -composite "
           "out.jpg') and libvips ('vips composite2') do."},
    Advice{"canny edge edges sobel laplacian gradient emboss",
           "Satin finds no edges; 'satin local-deviation' is bright where a picture is busy."},
    Advice{"inpaint heal clone",
           "Satin fills no holes in pictures; GIMP ('heal') and OpenCV ('inpaint') do."},
    Advice{"exif metadata format formats", "'satin info' says what a file holds."},
    Advice{"filters commands options usage", "'satin --help' lists filters and commands."},
};

}  // namespace

std::string advice_for(std::string_view word) {
  if (word.empty() || word.find(' ') != std::string_view::npos) return "";
  std::string plain;
  for (const char letter : word)
    if (letter != '-' && letter != '_')
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  for (const Advice& advice : advices)
    if ((" " + std::string(advice.words) + " ").find(" " + plain + " ") != std::string::npos)
      return std::string(advice.sentence);
  return "";
}

}  // namespace satin
