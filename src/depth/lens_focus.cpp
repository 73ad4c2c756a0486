// The parameters of a lens: their records, their checks, the rule that follows from them, and the parameters
// that a photograph brings along (satin/photo_depth.h).

#include "satin/lens_focus.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/record.h"
#include "depth/depth_statistics.h"
#include "depth/signed_radii.h"
#include "order/maths/rank.h"
#include "pixels/pixels.h"
#include "satin/error.h"
#include "satin/photo_depth.h"

namespace satin {
namespace {

constexpr double largest_number = 1e30;
constexpr double largest_strength = 1e12;
constexpr double largest_share = 1000;  ///< percent of the longer side
constexpr double smallest_scale = 1e-12;
constexpr double largest_scale = 1e12;
constexpr double usual_focal_length = 50;
constexpr double usual_sensor_width = 36;
constexpr double usual_max_radius = 64;

struct Range {
  const char* name;
  double minimum;
  double maximum;
};

constexpr Range scale_range{"depth-scale", smallest_scale, largest_scale};
constexpr Range value_range{"depth-range", -largest_number, largest_number};
constexpr Range unknown_range{"unknown", -largest_number, largest_number};
constexpr Range focus_range{"focus", -largest_number, largest_number};
constexpr Range sharp_range{"sharp-range", 0, largest_number};
constexpr Range strength_range{"strength", 0, largest_strength};
constexpr Range share_range{"strength", 0, largest_share};
constexpr Range f_number_range{"f-number", 0.1, 1000};
constexpr Range focal_length_range{"focal-length", 0.1, 1000};
constexpr Range sensor_width_range{"sensor-width", 0.1, 1000};
constexpr Range unit_range{"depth-unit", 1e-6, largest_scale};
constexpr Range max_radius_range{"max-radius", 0, largest_lens_radius};
constexpr Range despeckle_range{"depth-despeckle", 0, largest_rank_reach};

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

void check(const Range& range, double value) {
  if (!(value >= range.minimum && value <= range.maximum))
    refuse(std::string(range.name) + " " + print_real(value) + ": must be from " + print_real(range.minimum) +
           " to " + print_real(range.maximum) + ".");
}
void check(const Range& range, const std::optional<double>& value) {
  if (value) check(range, *value);
}

void check_depth_range(const LensFocus& focus) {
  if (!focus.depth_range) return;
  check(value_range, focus.depth_range->first);
  check(value_range, focus.depth_range->second);
  const auto& [near, far] = *focus.depth_range;
  const std::string text = "depth-range " + print_range(*focus.depth_range);
  if (focus.depth_scale) refuse(text + ": it stands for a scale. Leave out --depth-scale.");
  if (focus.depth_kind == DepthKind::disparity && !(near > far))
    refuse(text +
           ": near comes first, and the nearer of two disparities is the larger one. --depth-kind "
           "depth is for distances.");
  if (focus.depth_kind == DepthKind::depth && !(near > 0 && near < far))
    refuse(text + ": near comes first, and distances are above 0.");
}

bool has_lens(const LensFocus& focus) { return focus.f_number || focus.focal_length || focus.sensor_width; }

void check_values(const LensFocus& focus) {
  check(scale_range, focus.depth_scale);
  check(unknown_range, focus.unknown);
  if (focus.focus) check(focus_range, focus.focus->value);
  check(sharp_range, focus.sharp_range);
  if (focus.strength) check(focus.strength->percent ? share_range : strength_range, focus.strength->value);
  check(f_number_range, focus.f_number);
  check(focal_length_range, focus.focal_length);
  check(sensor_width_range, focus.sensor_width);
  check(unit_range, focus.depth_unit);
  check(max_radius_range, focus.max_radius);
  check(despeckle_range, focus.depth_despeckle);
  check_depth_range(focus);
  if (focus.focus && focus.focus_at)
    refuse("The focus is told by value and by place: give --focus V or --focus-at X,Y.");
  if (focus.strength && has_lens(focus))
    refuse(
        "The strength is told by itself and by a lens: give --strength K, or --f-number N with "
        "--focal-length "
        "MM and --sensor-width MM.");
}

/// Sets how values follow from stored ones.
void set_gain(DepthRule& rule, const LensFocus& focus, Type stored, double scale) {
  rule.gain = focus.invert_depth ? -scale : scale;
  rule.offset = focus.invert_depth ? white_of(stored) * scale : 0;
  if (!focus.depth_range) return;
  const bool white_is_near = rule.distances == focus.invert_depth;
  const auto& [near, far] = *focus.depth_range;
  const double white = white_is_near ? near : far;
  rule.offset = white_is_near ? far : near;
  rule.gain = (white - rule.offset) / white_of(stored);
}

/// Returns the pixel of the depth image at a coordinate of the picture, along an axis of `size` pixels.
std::int64_t depth_pixel(const Length& at, std::int64_t size, std::int64_t depth_size, const Point& point,
                         const Shape& picture) {
  const double pixel = at.percent ? std::floor(at.value * static_cast<double>(size) / 100) : at.value;
  const double last = static_cast<double>(size - 1);
  const double inside = at.percent && at.value == 100 ? last : pixel;
  if (!(inside >= 0 && inside <= last))
    throw Error(ErrorKind::input, "focus-at " + print_point(point) + " lies outside the picture of " +
                                      std::to_string(picture.width) + " x " + std::to_string(picture.height) +
                                      " pixels.");
  return static_cast<std::int64_t>(inside) * depth_size / size;
}

void set_focus(DepthRule& rule, const LensFocus& focus, const Shape& picture, const Shape& depth,
               double scale) {
  if (focus.focus && focus.focus->end) {
    rule.focus_from = *focus.focus->end == DepthEnd::nearest ? FocusSource::nearest : FocusSource::farthest;
    return;
  }
  if (focus.focus) {
    rule.focus_from = FocusSource::value;
    const bool as_stored = focus.invert_depth && !focus.depth_range;
    const double given = focus.focus->value;
    rule.focus = as_stored ? white_of(depth.type) * scale - given : given;
    if (rule.distances && !(rule.focus > 0))
      refuse("focus " + print_real(given) + ": a distance must be above 0.");
    return;
  }
  const Point point = focus.focus_at.value_or(Point{{50, true}, {50, true}});
  rule.focus_x = depth_pixel(point.x, picture.width, depth.width, point, picture);
  rule.focus_y = depth_pixel(point.y, picture.height, depth.height, point, picture);
}

void set_strength(DepthRule& rule, const LensFocus& focus, const Shape& picture) {
  const auto longer = static_cast<double>(std::max(picture.width, picture.height));
  if (!has_lens(focus)) {
    const Length strength = focus.strength.value_or(usual_strength);
    (strength.percent ? rule.spanned : rule.strength) = strength.pixels(longer) * 256;
    return;
  }
  const double f = focus.focal_length.value_or(usual_focal_length) / focus.depth_unit;
  const double sensor = focus.sensor_width.value_or(usual_sensor_width) / focus.depth_unit;
  rule.focal_length = f;
  rule.strength = 256 * (longer / sensor) * f * f / (2 * focus.f_number.value_or(usual_f_number));
  if (rule.focus_from == FocusSource::value &&
      !(rule.focal_length * (rule.distances ? 1 / rule.focus : rule.focus) < 1))
    refuse("focus " + print_real(focus.focus->value) +
           " is nearer than the focal length: check --depth-unit and --depth-scale.");
}

template <class Member>
ParameterRecord real(Member LensFocus::*member, const Range& range, const char* unit, const char* help,
                     const char* instead_of = "") {
  return record::real(member, range.minimum, range.maximum, {range.name, unit, help, instead_of});
}

/// Channels have names in a file only; whoever read the file by name has extracted the channel.
int channel_by_name(const std::string& name, const Shape& depth) {
  if (depth.channels == 1) return 0;
  refuse("depth-channel " + name + ": the depth image has " + std::to_string(depth.channels) +
         " channels without names. Give a number, from 0.");
}

constexpr int most_channel = 3;
constexpr std::array<std::string_view, 4> always_shown = {"focus", "focus-at", "strength", "f-number"};

/// Marks a parameter that a series of pictures may vary.
ParameterRecord varying(ParameterRecord record) {
  record.varies = true;
  return record;
}

ParameterRecord depth_channel_record() {
  ParameterRecord record;
  record.kind = ParameterKind::integer;
  record.whole = true;
  record.maximum = record.usual_maximum = most_channel;
  record.minimum = 0;
  record.set = [](void* p, std::string_view value) {
    std::optional<DepthChannel>& channel = record::as<LensFocus>(p).depth_channel;
    if (value.empty()) return channel.reset();
    const bool number = value.find_first_not_of("-+0123456789") == std::string_view::npos;
    channel = number ? DepthChannel(static_cast<int>(parse_integer("depth-channel", value, 0, most_channel)))
                     : DepthChannel(std::string(value));
  };
  record.get = [](const void* p) {
    const auto& channel = record::as<LensFocus>(p).depth_channel;
    if (!channel) return std::string();
    return channel->name.empty() ? std::to_string(channel->index) : channel->name;
  };
  return record::finish<LensFocus>(
      std::move(record),
      {"depth-channel", "", "channel that holds the depth: its number, or its name in an EXR file", "",
       ParameterRole::depth_channel});
}

const std::vector<std::string>& depth_ends() {
  static const std::vector<std::string> names = {"nearest", "farthest"};
  return names;
}

/// A number, or the name of an end of the depth.
ParameterRecord focus_record() {
  const auto parse = [](const std::string& name, std::string_view text) {
    if (text.find_first_not_of("0123456789+-.,eE") == std::string_view::npos)
      return FocusDepth(parse_real(name, text, focus_range.minimum, focus_range.maximum));
    const auto end = std::ranges::find(depth_ends(), text);
    if (end == depth_ends().end())
      refuse(name + " '" + std::string(text) + "': a number, nearest or farthest is expected." +
             did_you_mean(text, depth_ends()));
    return FocusDepth(static_cast<DepthEnd>(end - depth_ends().begin()));
  };
  const auto print = [](const FocusDepth& depth) {
    return depth.end ? depth_ends()[static_cast<std::size_t>(*depth.end)] : print_real(depth.value);
  };
  ParameterRecord record = record::usual(
      0, 1,
      record::field(ParameterKind::real, &LensFocus::focus,
                    {"focus", "", "depth that is sharp, after the scale, or an end of it"}, parse, print));
  record.minimum = focus_range.minimum;
  record.maximum = focus_range.maximum;
  record.choices = depth_ends();
  return record;
}

Point percent(const Point& point, const Shape& picture) {
  const auto in_percent = [](const Length& length, std::int64_t size) {
    return length.percent ? length : Length{100 * length.value / static_cast<double>(size), true};
  };
  return {in_percent(point.x, picture.width), in_percent(point.y, picture.height)};
}

std::string source_of_focus(const LensFocus& lens, const Photo& photo) {
  if (lens.focus) return "--focus";
  if (lens.focus_at) return "--focus-at";
  return photo.focus ? photo.focus->source : "the middle";
}

/// Returns the state of a run with the depth of this photograph.
LensState state_of(const LensFocus& lens, const PhotoDepth& depth, const Shape& picture) {
  const Shape& shape = depth.values.shape();
  const DepthRule rule = depth_rule(lens, picture, shape);
  const auto* values = reinterpret_cast<const float*>(depth.values.data());
  LensState state;
  if (rule.focus_from == FocusSource::nearest || rule.focus_from == FocusSource::farthest) {
    DepthStatistics statistics;
    DepthStatisticsJob{shape.width, shape.height, shape.type, 1, 0, rule}.each(
        {depth.values.view(), &statistics, &state}, {},
        [](std::int64_t columns, std::int64_t rows, const auto& step) {
          for (int y = 0; y < rows; ++y)
            for (int x = 0; x < columns; ++x) step(x, y);
        });
  }
  find_focus(state, rule, shape.width, shape.height,
             [&](std::int64_t x, std::int64_t y) { return values[y * shape.width + x]; });
  return state;
}

}  // namespace

double max_radius_of(const LensFocus& lens, const Shape& picture) {
  if (lens.max_radius) return *lens.max_radius;
  const Length strength = lens.strength.value_or(usual_strength);
  if (has_lens(lens) || !strength.percent) return usual_max_radius;
  const auto longer = static_cast<double>(std::max(picture.width, picture.height));
  return std::clamp(std::ceil(strength.pixels(longer)), usual_max_radius, largest_lens_radius);
}

DepthRule depth_rule(const LensFocus& focus, const Shape& picture, const Shape& depth) {
  check_values(focus);
  const double scale = focus.depth_scale.value_or(1 / white_of(depth.type));
  DepthRule rule;
  rule.distances = focus.depth_kind == DepthKind::depth;
  set_gain(rule, focus, depth.type, scale);
  rule.has_unknown = focus.unknown.has_value();
  rule.unknown = focus.unknown.value_or(0);
  rule.sharp_range = focus.sharp_range.value_or(0);
  rule.sharp_range_given = focus.sharp_range.has_value();
  rule.soft = focus.soft;
  rule.largest = max_radius_of(focus, picture) * 256;
  set_focus(rule, focus, picture, depth, scale);
  set_strength(rule, focus, picture);
  return rule;
}

int depth_channel(const LensFocus& focus, const Shape& depth) {
  if (focus.depth_from == DepthSource::alpha) {
    if (depth.channels != 2 && depth.channels != 4)
      refuse("The picture has " + std::to_string(depth.channels) +
             " channels and so no alpha that could hold depth: give --depth FILE.");
    if (focus.depth_channel) refuse("Depth comes from the alpha channel: leave out --depth-channel.");
    return depth.channels - 1;
  }
  if (focus.depth_channel) {
    const DepthChannel& channel = *focus.depth_channel;
    if (!channel.name.empty()) return channel_by_name(channel.name, depth);
    if (channel.index < 0 || channel.index >= depth.channels)
      refuse("depth-channel " + std::to_string(channel.index) + ": the depth image has channels 0 to " +
             std::to_string(depth.channels - 1) + ".");
    return channel.index;
  }
  if (depth.channels > 2)
    refuse("The depth image has " + std::to_string(depth.channels) +
           " channels: say which one holds the depth by --depth-channel N, from 0.");
  return 0;
}

std::vector<ParameterRecord> lens_focus_parameters() {
  std::vector<ParameterRecord> list = {
      record::choice(
          &LensFocus::depth_from, {"image", "alpha", "channel", "photo", "model"},
          {"depth-from", "",
           "source of depth; image: --depth FILE; alpha: the last channel; channel: Z of the file, or "
           "--depth-channel; photo: what the photograph carries; model: what a model estimates",
           "", ParameterRole::depth_source}),
      record::choice(
          &LensFocus::depth_kind, {"disparity", "depth"},
          {"depth-kind", "", "what depth means; disparity: large is near; depth: a distance, small is near"}),
      depth_channel_record(),
      record::usual_decades(1e-5, 1,
                            real(&LensFocus::depth_scale, scale_range, "",
                                 "factor of stored values; 1/255, 1/65535 or 1 (floats) unless told")),
      record::range(&LensFocus::depth_range, value_range.minimum, value_range.maximum,
                    {value_range.name, "", "distances of near and far, where the depth image has no unit"}),
      record::flag(&LensFocus::invert_depth,
                   {"invert-depth", "", "take what is stored as near for far, and far for near"}),
      record::usual(0, 20,
                    record::integer(&LensFocus::depth_despeckle, 0, largest_rank_reach,
                                    {"depth-despeckle", "px",
                                     "radius of a median that cleans the depth first; 0: none"})),
      record::usual(0, 255,
                    real(&LensFocus::unknown, unknown_range, "",
                         "stored value of unknown depth, besides NaN and infinity")),
      varying(focus_record()),
      record::point(
          &LensFocus::focus_at,
          {"focus-at", "px", "place in the picture that is sharp; the middle unless told", "focus"}),
      real(&LensFocus::sharp_range, sharp_range, "",
           "depths this near to the focus are sharp too; none, or 1 % of soft depth, unless told"),
      record::choice(
          &LensFocus::soft, {"auto", "on", "off"},
          {"soft", "",
           "move blurred silhouettes of depth to the picture's edges; auto: if at least a quarter are "
           "blurred"}),
      varying(record::length(&LensFocus::strength, strength_range.minimum, strength_range.maximum,
                             {"strength", "px",
                              "radius of the blur for a unit of depth; P%: from the nearest to the farthest, "
                              "of the longer side; 1% unless told",
                              "", ParameterRole::strength})),
      record::usual_decades(1, 32,
                            real(&LensFocus::f_number, f_number_range, "",
                                 "f-number of a lens, in place of a strength; 2.8 unless told", "strength")),
      record::usual_decades(10, 400,
                            real(&LensFocus::focal_length, focal_length_range, "mm",
                                 "focal length of that lens; 50 unless told", "strength")),
      record::usual(5, 60,
                    real(&LensFocus::sensor_width, sensor_width_range, "mm",
                         "width of the sensor along the longer side; 36 unless told", "strength")),
      record::usual_decades(
          1, 10000, real(&LensFocus::depth_unit, unit_range, "mm", "length of a unit of depth, for a lens")),
      record::usual_decades(0, 200,
                            real(&LensFocus::max_radius, max_radius_range, "px",
                                 "largest radius; unless told 64, or what the percentage spans")),
  };
  for (ParameterRecord& parameter : list)
    if (std::ranges::find(always_shown, parameter.name) == always_shown.end())
      parameter = record::seldom(std::move(parameter), 1);
  return list;
}

void set_by_photo(LensFocus& lens, const Photo& photo) {
  if (!photo.depth) return;
  lens.depth_kind = photo.depth->kind;
  if (has_lens(lens) && !lens.focal_length) lens.focal_length = photo.focal_length;
  if (lens.focus || lens.focus_at || !photo.focus) return;
  if (photo.focus->distance) {
    const bool distances = photo.depth->kind == DepthKind::depth;
    const double focus = distances ? *photo.focus->distance : 1 / *photo.focus->distance;
    // The camera focuses by finer depth than it stores
    lens.focus = std::clamp(focus, double{photo.depth->lowest}, double{photo.depth->highest});
  } else {
    lens.focus_at = photo.focus->place;
  }
}

PhotoBlur photo_blur(LensFocus lens, const Photo& photo, const Shape& picture) {
  if (!photo.depth) throw Error(ErrorKind::input, "the photograph has no depth. Give --depth FILE.");
  PhotoBlur blur;
  blur.source = source_of_focus(lens, photo);
  const bool by_hand = lens.focus || lens.focus_at;
  const bool open_length = has_lens(lens) && !lens.focal_length;
  set_by_photo(lens, photo);
  if (open_length && !lens.focal_length && !photo.depth->is_estimated)
    blur.warnings.emplace_back(
        "EXIF tells no FocalLengthIn35mmFilm: the lens is taken for one of 50 mm. --focal-length tells "
        "another.");
  if (has_lens(lens) && !photo.depth->metric)
    blur.warnings.emplace_back(
        std::string(photo.depth->is_estimated ? "the model" : "the file") +
        " tells no unit of its depth: the lens takes it for metres. --depth-scale changes that.");
  lens.sharp_range = 0;
  const LensState state = state_of(lens, *photo.depth, picture);
  if (state.problems != 0) return blur;  // the run reports it
  blur.disparity = state.near_edge;
  blur.largest = max_radius_of(lens, picture);
  if (!by_hand && photo.focus) blur.place = photo.focus->place;
  if (!lens.focus) blur.place = percent(lens.focus_at.value_or(Point{{50, true}, {50, true}}), picture);
  return blur;
}

}  // namespace satin
