#include "lens/lens_blur.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/record.h"
#include "core/side_inputs.h"
#include "lens/layers.h"
#include "lens/splat.h"
#include "satin/error.h"

namespace satin {
namespace {

constexpr double most_highlights = 64;
/// Default of LensStyle::highlights for 8-bit pictures: gains most on average on scenes of lamps clipped at
/// white.
constexpr double usual_highlights = 4;
constexpr double most_turn = 360;
constexpr long least_blades = 3;
constexpr long most_blades = 16;
constexpr double least_squeeze = 0.5;
constexpr double most_squeeze = 2;
/// Blocks of hidden samples beside single ones leave a comb of period 2, which shows below 12 pixels.
constexpr float hidden_merged_radius_high = 12;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

void check_style(const LensStyle& style) {
  if (style.highlights) check_range("highlights", *style.highlights, 1, most_highlights);
  if (style.blades) check_range("blades", *style.blades, least_blades, most_blades);
  check_range("blade-angle", style.blade_angle, -most_turn, most_turn);
  check_range("blade-curvature", style.blade_curvature, 0, 1);
  check_range("cats-eye", style.cats_eye, 0, 1);
  check_range("onion", style.onion, 0, 1);
  check_range("grain", style.grain, 0, 1);
  check_range("squeeze", style.squeeze, least_squeeze, most_squeeze);
  const bool told_twice = style.bokeh == Bokeh::hexagon || style.bokeh == Bokeh::square;
  if (style.blades && told_twice && blades_of(style) != *style.blades)
    refuse("blades " + std::to_string(*style.blades) +
           ": a hexagon has 6 and a square 4. Use --bokeh polygon.");
}

void check(const LensBlurJob& job) {
  check_pixels(job.picture);
  if (job.picture.type != Type::f32 && job.picture.alpha == Alpha::premultiplied &&
      job.space == Space::linear && !job.keeps_last)
    refuse("Integer pixels with premultiplied alpha have no linear light: give straight alpha.");
  check_style(job.style);
  const Type aperture = job.aperture.type;
  if (job.aperture.width != 0 && (job.aperture.channels != 1 || job.aperture.frames != 1 ||
                                  (aperture != Type::u8 && aperture != Type::u16 && aperture != Type::f32)))
    refuse("The aperture needs one channel of u8, u16 or f32, and one frame.");
}

/// An aperture picture may put up to 16 times a disc's light in a pixel, and reaches beyond the disc in its
/// corners.
constexpr int picture_peak_bits = 5;
constexpr float least_picture_light = 1.0F / 16;

int peak_bits_of(const LensBlurJob& job) {
  return job.aperture.width != 0 ? picture_peak_bits : peak_bits_of(job.style);
}

double highlights_of(const LensBlurJob& job) {
  return job.style.highlights.value_or(job.picture.type == Type::u8 ? usual_highlights : 1);
}

int highlight_bits(const LensBlurJob& job) {
  return static_cast<int>(std::ceil(std::log2(highlights_of(job))));
}

bool has_opacity(const LensBlurJob& job) { return job.picture.alpha != Alpha::none && !job.keeps_last; }

bool shows(const LensBlurJob& job) { return job.style.debug != LensDebug::off; }

std::uint32_t largest_radius(const LensBlurJob& job) {
  return static_cast<std::uint32_t>(std::ceil(job.max_radius * 256));
}

/// Throws Error(usage) if the job is not valid.
LensLayersJob checked_layers(const LensBlurJob& job) {
  check(job);
  const Shape& shape = job.picture;
  LensLayersJob layers;
  layers.width = shape.width;
  layers.height = shape.height;
  layers.type = shape.type;
  layers.channels = shape.channels;
  layers.weighted = shape.alpha == Alpha::straight && !job.keeps_last;
  layers.transfer =
      shape.type != Type::f32 && job.space == Space::linear ? Transfer::srgb : Transfer::identity;
  const int more_bits = highlight_bits(job) + peak_bits_of(job);
  layers.float_bits = std::min(lens_float_bits, splat_colour_bits(largest_radius(job))) - more_bits;
  if (job.style.quality == LensQuality::high) layers.merged_radius = hidden_merged_radius_high;
  layers.most_groups = job.style.quality == LensQuality::fast ? 4 : lens_most_groups;
  layers.offset_pairs = job.style.quality == LensQuality::fast ? most_offset_pairs / 2 : most_offset_pairs;
  return layers;
}

/// Shape of centred staircases, which cannot be turned or rounded: that of samples that are no lamps, if
/// their radius is small or the shape is the opening's.
Bokeh nearest_shape(const LensStyle& style) {
  constexpr double mostly_straight = 0.5;
  const int blades = blades_of(style);
  if (style.blade_curvature > mostly_straight || (blades != 4 && blades != 6)) return Bokeh::disc;
  const double sector = 360.0 / blades;
  const double turn = style.blade_angle - sector * std::round(style.blade_angle / sector);
  if (std::abs(turn) > sector / 4) return Bokeh::disc;
  return blades == 4 ? Bokeh::square : Bokeh::hexagon;
}

/// Whether centred staircases have the shape of the opening, or of the only outline that is known.
bool is_centred(const LensBlurJob& job) {
  const int blades = blades_of(job.style);
  const bool upright =
      job.style.blade_curvature == 0 && std::fmod(job.style.blade_angle, 360.0 / blades) == 0;
  return blades == 0 || job.aperture.width != 0 || (upright && (blades == 4 || blades == 6));
}

/// Whether the splat can store the picture's bytes: 8-bit colours in linear light, without opacity, data or a
/// mask.
bool is_stored_by_splat(const LensBlurJob& job, const LensLayersJob& layers) {
  return !shows(job) && layers.type == Type::u8 && layers.transfer == Transfer::srgb &&
         job.picture.alpha == Alpha::none && !job.keeps_last && job.mask.width == 0;
}

SplatJob splat_job(const LensBlurJob& job, const LensLayersJob& layers, const ApertureTable& aperture) {
  SplatJob splat;
  splat.width = layers.width;
  splat.height = layers.height;
  splat.channels = layers.channels;
  splat.groups = layers.most_groups;
  splat.colour_bits = lens_colour_bits(layers) + highlight_bits(job);
  splat.largest_radius = largest_radius(job);
  splat.bokeh = nearest_shape(job.style);
  splat.squeeze = job.aperture.width != 0 ? 1 : job.style.squeeze;
  splat.most_lamps = LampMemory::capacity(layers);
  if (!is_centred(job)) splat.outline = outline_of(aperture);
  if (job.aperture.width != 0) splat.opening.emplace();
  splat.lamp_reach = job.aperture.width != 0 ? aperture_picture_reach : aperture.reach;
  splat.peak_bits = peak_bits_of(job);
  splat.quality = job.style.quality;
  splat.most_listed = layers.list_capacity();
  return splat;
}

}  // namespace

LensMemory::LensMemory(Backend& backend, const LensLayersJob& job) : arrays_(backend) {
  const auto pixels = static_cast<std::size_t>(job.width * job.height);
  LensPlanes& planes = scene_.planes;
  LensList& list = scene_.list;
  planes.width = static_cast<int>(job.width);
  planes.height = static_cast<int>(job.height);
  planes.channels = job.channels;
  planes.radii = arrays_.add<std::int32_t>(pixels);
  planes.sharpened = arrays_.add<std::int32_t>(pixels);
  planes.edges = arrays_.add<std::uint8_t>(pixels);
  planes.colours = arrays_.add<std::uint32_t>(pixels * static_cast<std::size_t>(job.channels));
  planes.magnitudes = arrays_.add<std::uint32_t>(pixels);
  planes.weights = arrays_.add<std::uint16_t>(pixels);
  planes.groups = arrays_.add<std::uint8_t>(pixels);
  planes.exposed = arrays_.add<std::uint8_t>(pixels);
  list.capacity = job.list_capacity();
  list.samples = arrays_.add<LensSample>(list.capacity);
  list.count = arrays_.add<std::uint32_t>(2);
  list.attempted = list.count + 1;
  scene_.work = arrays_.add<GroupWork>(1);
  scene_.unit = arrays_.add<LensUnit>(1);
}

LampMemory::LampMemory(Backend& backend, const LensLayersJob& job, const ApertureTable& table,
                       const Shape& picture)
    : arrays_(backend) {
  const auto cells_of_side = [&](std::int64_t side) {
    return static_cast<std::size_t>((job.width + side - 1) / side * ((job.height + side - 1) / side));
  };
  cells_ = arrays_.add<LampCell>(cells_of_side(lamp_cell));
  surfaces_ = arrays_.add<LampSurface>(2 * cells_of_side(lamp_cell * lamp_block));
  auto* counts = arrays_.add<std::uint32_t>(2);
  lamps_ = {arrays_.add<Lamp>(capacity(job)), counts, counts + 1, capacity(job)};
  const double corner = std::hypot(static_cast<double>(job.width), static_cast<double>(job.height)) / 2;
  aperture_.middle_x = static_cast<float>(job.width - 1) / 2;
  aperture_.middle_y = static_cast<float>(job.height - 1) / 2;
  if (picture.width == 0) {
    rows_ = arrays_.add_copy(table.rows);
    edges_ = arrays_.add_copy(table.edges);
    aperture_.count = static_cast<std::int32_t>(table.rows.size());
    aperture_.simple = table.simple ? 1 : 0;
    aperture_.reach = aperture_.rim = table.reach;
    aperture_.cut = static_cast<float>(table.cut / corner);
  } else {
    read_picture_ = backend.prepare(AperturePictureJob{picture});
    picture_cells_ = arrays_.add<ApertureCells>(aperture_picture_side);
    rows_ = arrays_.add<ApertureRow>(aperture_picture_rows);
    edges_ = arrays_.add<ApertureEdge>(std::size_t{aperture_picture_side} * most_aperture_edges);
    aperture_.count = aperture_picture_rows;
    aperture_.reach = aperture_picture_reach;
    aperture_.cut = static_cast<float>(table.cut / table.reach / corner);
    aperture_.least_light = least_picture_light;
  }
  aperture_.rows = rows_;
  aperture_.edges = edges_;
  backend.synchronize({});  // runs may be in other streams
}

Opening LampMemory::find_aperture(Backend& backend, const ImageView& picture, Stream stream) {
  read_picture_->run({picture, picture_cells_, rows_, edges_}, stream);
  std::array<ApertureCells, aperture_picture_side> cells;
  backend.download(cells.data(), picture_cells_, sizeof cells, stream);
  Opening opening;
  std::ranges::transform(cells, opening.begin(), &ApertureCells::open);
  return opening;
}

InputMeasures lens_measures(const LensBlurJob& job) {
  const std::uint64_t least = bits_of(shows(job) ? 1.0 : lens_least_magnitude);
  const bool weighted = job.picture.alpha == Alpha::straight && !job.keeps_last;
  return {range_of(job.picture, {.weighted = weighted, .at_least = {least, least}})};
}

LensBlur::LensBlur(Backend& backend, const LensBlurJob& job)
    : backend_(backend),
      shape_(job.picture),
      memory_(backend.host_memory ? Memory::host : Memory::device),
      lens_(backend, checked_layers(job)) {
  const LensLayersJob layers = checked_layers(job);
  layers_ = backend.prepare(layers);
  const ApertureTable aperture = aperture_table(job.style);
  SplatJob splat = splat_job(job, layers, aperture);
  splat.stores_codes = is_stored_by_splat(job, layers);
  if (!shows(job)) {
    splat_ = backend.prepare(splat);
    lamp_memory_ = std::make_unique<LampMemory>(backend, layers, aperture, job.aperture);
    LampsJob lamps;
    lamps.channels = layers.channels;
    lamps.rule.colours = has_opacity(job) ? layers.channels - 1 : layers.channels;
    lamps.rule.highlights = static_cast<float>(highlights_of(job));
    lamps.rule.clipped_if_white = layers.type == Type::f32;
    lamps.rule.full = 1U << splat_weight_bits(splat);
    find_lamps_ = backend.prepare(lamps);
  }
  if (!shows(job) && job.style.grain > 0) {
    grain_state_ = backend.allocate(sizeof(GrainState));
    grain_ = backend.prepare(GrainJob{job.picture, job.keeps_last ? Alpha::none : job.picture.alpha,
                                      static_cast<float>(job.style.grain),
                                      checked_mask_maximum(job.mask, job.picture)});
  }
  if (splat.stores_codes) return;
  result_ = backend.allocate(static_cast<std::size_t>(layers.width * layers.height * layers.channels) *
                             sizeof(std::uint32_t));
  shown_ = {job.style.debug, has_opacity(job), job.picture.order,
            reinterpret_cast<std::uint32_t*>(result_.get())};
  store_ = backend.prepare(LensStoreJob{layers, checked_mask_maximum(job.mask, job.picture), job.keeps_last});
}

std::size_t LensBlur::workspace_bytes() const noexcept {
  const std::size_t splat = splat_ == nullptr ? 0 : splat_->workspace_bytes();
  const std::size_t lamps = lamp_memory_ == nullptr ? 0 : lamp_memory_->bytes();
  const std::size_t store = store_ == nullptr ? 0 : store_->workspace_bytes();
  return result_.size + grain_state_.size + lens_.bytes() + layers_->workspace_bytes() + splat + lamps +
         store;
}

MutableImageView LensBlur::plane(void* data, Type type, int channels) const {
  const Shape shape{shape_.width, shape_.height, channels, type};
  return {static_cast<std::byte*>(data), shape, interleaved_strides(shape), memory_};
}

MutableImageView LensBlur::radii() const { return plane(lens_.scene().planes.radii, Type::i32); }

MutableImageView LensBlur::spare() const { return plane(lens_.scene().planes.sharpened, Type::i32); }

void LensBlur::run(const Inputs& inputs, const MutableImageView& output, Measured* measured, Stream stream,
                   const std::uint32_t* soft) {
  lens_.set_soft(soft);
  const auto& [picture, aperture, mask] = inputs;
  const LensScene& scene = lens_.scene();
  // Floats replace the integers that they are computed from, so that no memory of that size is cleared.
  const bool in_place =
      splat_ != nullptr && shape_.type == Type::f32 && output.strides.row == interleaved_strides(shape_).row;
  std::uint32_t* values = in_place ? output.row<std::uint32_t>(0) : shown_.values;
  layers_->run(picture, measured, scene, stream);
  if (splat_ == nullptr) {
    layers_->show(scene, shown_, stream);
  } else {
    if (lamp_memory_->has_picture())
      splat_->set_opening(lamp_memory_->find_aperture(backend_, aperture, stream), stream);
    find_lamps_->run({scene, measured, lamp_memory_->cells(), lamp_memory_->surfaces(), lamp_memory_->lamps(),
                      lamp_memory_->aperture()},
                     stream);
    const LensPlanes& planes = scene.planes;
    const MutableImageView colours = plane(planes.colours, Type::u32, planes.channels);
    SplatImages images;
    images.source = colours;
    images.colours = colours;
    images.radii = plane(planes.magnitudes, Type::u32);
    images.groups = plane(planes.groups, Type::u8);
    images.weights = plane(planes.weights, Type::u16);
    images.exposed = plane(planes.exposed, Type::u8);
    images.listed = scene.list.samples;
    images.count = scene.list.count;
    images.lamps = lamp_memory_->lamps().lamps;
    images.lamp_count = lamp_memory_->lamps().count;
    images.aperture = lamp_memory_->aperture();
    images.output = store_ == nullptr ? output : plane(values, Type::u32, planes.channels);
    splat_->run(images, stream);
  }
  if (store_ != nullptr) store_->run({values, picture, mask, output, measured}, stream);
  if (grain_ != nullptr)
    grain_->run({scene.planes, reinterpret_cast<GrainState*>(grain_state_.get()), picture, mask, output},
                stream);
}

int LensBlur::groups(Stream stream) const {
  DepthGroups groups;
  backend_.download(&groups, &lens_.scene().work->groups, sizeof groups, stream);
  return groups.count;
}

std::vector<ParameterRecord> lens_style_parameters() {
  const auto shape = [](ParameterRecord record) {
    record.group = "lens-shape";
    return record;
  };
  return {
      record::seldom(record::choice(&LensStyle::quality, {"fast", "high"},
                                    {"quality", "",
                                     "fast: at most 4 groups of depth, discs of 12 corners; "
                                     "high: 5 groups, 20 corners, 28 above radius 32, 36 above 48"})),
      record::choice(&LensStyle::bokeh, {"disc", "hexagon", "square", "polygon"},
                     {"bokeh", "", "shape of a point that is out of focus"}),
      shape(record::integer(&LensStyle::blades, least_blades, most_blades,
                            {"blades", "", "corners of the polygon; 6 unless told"})),
      shape(record::usual(-180, 180,
                          record::real(&LensStyle::blade_angle, -most_turn, most_turn,
                                       {"blade-angle", "degrees",
                                        "angle by which the opening is turned; at 0 it stands on a side"}))),
      shape(record::real(
          &LensStyle::blade_curvature, 0, 1,
          {"blade-curvature", "", "curvature of the opening's sides, from 0, straight, to 1, a circle"})),
      shape(record::real(
          &LensStyle::cats_eye, 0, 1,
          {"cats-eye", "", "share of the opening that the lens cuts towards the corners of the picture"})),
      shape(record::real(&LensStyle::onion, 0, 1,
                         {"onion", "", "darkness of every other ring in the opening"})),
      shape(record::usual_decades(
          least_squeeze, most_squeeze,
          record::real(&LensStyle::squeeze, least_squeeze, most_squeeze,
                       {"squeeze", "", "height of the opening over its width, as of an anamorphic lens"}))),
      record::seldom(record::usual_decades(
          1, 16,
          record::real(&LensStyle::highlights, 1, most_highlights,
                       {"highlights", "",
                        "factor by which lamps were brighter than the white that clips them; 1: off; 4 for 8 "
                        "bits unless told"}))),
      record::seldom(record::real(&LensStyle::grain, 0, 1,
                                  {"grain", "", "share of the grain that blurred parts get back"})),
      record::seldom(record::choice(
          &LensStyle::debug, {"off", "coc", "groups", "hidden"},
          {"debug", "", "show in place of the picture the radii, the groups of depth, or what lies behind"})),
  };
}

}  // namespace satin
