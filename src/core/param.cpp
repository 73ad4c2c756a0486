// Parameters: parsing, printing, and suggestions for misspelt names.

#include "satin/param.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "satin/error.h"

namespace satin {
namespace {

[[noreturn]] void refuse(std::string_view name, std::string_view text, const std::string& why) {
  const char* end = why.ends_with('?') ? "" : ".";
  throw Error(ErrorKind::usage, std::string(name) + " '" + std::string(text) + "': " + why + end);
}

template <class Number>
bool parse_whole(std::string_view text, Number& value) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size();
}

std::string range_text(double minimum, double maximum) {
  if (std::isinf(maximum)) return "must be at least " + print_real(minimum);
  if (std::isinf(minimum)) return "must be at most " + print_real(maximum);
  return "must be from " + print_real(minimum) + " to " + print_real(maximum);
}

void check_range(std::string_view name, std::string_view text, double value, double minimum, double maximum) {
  if (value < minimum || value > maximum) refuse(name, text, range_text(minimum, maximum));
}

/// Refuses a comma behind the text, where it looks like the end of a word in a sentence.
void refuse_last_comma(std::string_view name, std::string_view text) {
  if (text.size() > 1 && text.ends_with(','))
    refuse(
        name, text,
        "a comma means nothing here; did you mean '" + std::string(text.substr(0, text.size() - 1)) + "'?");
}

double parse_finite(std::string_view name, std::string_view text) {
  double value = 0;
  if (!parse_whole(text, value)) {
    refuse_last_comma(name, text);
    std::string pointed(text);
    std::replace(pointed.begin(), pointed.end(), ',', '.');
    refuse(name, text,
           parse_whole(pointed, value) ? "a number has a point; did you mean '" + pointed + "'?"
                                       : "a number is expected, such as 8 or 2.5");
  }
  if (!std::isfinite(value)) refuse(name, text, "a finite number is expected");
  return value;
}

Length length_in(std::string_view name, std::string_view whole, std::string_view text, double minimum,
                 double maximum, const char* expected) {
  Length length;
  refuse_last_comma(name, whole);
  length.percent = !text.empty() && text.back() == '%';
  if (length.percent) text.remove_suffix(1);
  double value = 0;
  if (!parse_whole(text, value) || !std::isfinite(value))
    refuse(name, whole, std::string(expected) + " expected");
  check_range(name, whole, value, minimum, length.percent ? 1000 : maximum);
  length.value = value;
  return length;
}

PixelBox parse_pixel_box(std::string_view name, std::string_view text) {
  const std::vector<std::string> parts = split(text, ',');
  std::array<std::int64_t, 4> numbers{};
  bool whole = parts.size() == numbers.size();
  for (std::size_t i = 0; whole && i < numbers.size(); ++i) whole = parse_whole(parts[i], numbers[i]);
  if (!whole)
    refuse(name, text, "four whole numbers X,Y,W,H are expected, several boxes with ';' between them");
  return {numbers[0], numbers[1], numbers[2], numbers[3]};
}

/// Returns the place that a word means: the middle, or a side or corner as on a map.
std::optional<Point> place_called(std::string_view word) {
  static constexpr std::array<std::string_view, 9> places = {
      "north-west", "north", "north-east", "west", "centre", "east", "south-west", "south", "south-east"};
  const auto found = std::ranges::find(places, word == "center" ? "centre" : word);
  if (found == places.end()) return std::nullopt;
  const auto at = static_cast<double>(found - places.begin());
  return Point{{50 * std::fmod(at, 3), true}, {50 * std::floor(at / 3), true}};
}

/// Returns the value whose logarithm a logarithmic slider begins with. From 0 on that is a hundredth of the
/// range.
double logarithm_start(const ParameterRecord& record) {
  return record.usual_minimum > 0 ? record.usual_minimum
                                  : (record.usual_maximum - record.usual_minimum) / 100;
}

/// Returns the least number of insertions, deletions, substitutions and swaps of neighbours that turn a into
/// b (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> distance(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        distance[i][j] = i + j;
        continue;
      }
      const std::size_t substituted = distance[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      distance[i][j] = std::min({substituted, distance[i - 1][j] + 1, distance[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        distance[i][j] = std::min(distance[i][j], distance[i - 2][j - 2] + 1);
    }
  }
  return distance[a.size()][b.size()];
}

}  // namespace

const char* name_of(ParameterKind kind) noexcept {
  static constexpr std::array names = {"real",  "reals",  "integer", "length", "flag", "choice", "radius",
                                       "boxes", "colour", "point",   "range",  "size", "box",    "ratio"};
  return names[static_cast<std::size_t>(kind)];
}

const char* name_of(Scale scale) noexcept { return scale == Scale::linear ? "linear" : "logarithmic"; }

bool ParameterRecord::is_number() const noexcept {
  return kind == ParameterKind::real || kind == ParameterKind::integer || kind == ParameterKind::length ||
         kind == ParameterKind::radius;
}

double ParameterRecord::unset_number() const noexcept {
  return minimum >= 0 ? std::ceil(minimum) - 1 : minimum;
}

double ParameterRecord::slider_value(double position) const noexcept {
  const double share = std::clamp(position, 0.0, 1.0), range = usual_maximum - usual_minimum;
  const double start = logarithm_start(*this);
  const double value = scale == Scale::linear
                           ? usual_minimum + share * range
                           : usual_minimum + start * (std::pow(1 + range / start, share) - 1);
  const double kept = std::clamp(value, usual_minimum, usual_maximum);
  if (odd) return 2 * std::floor(kept / 2) + 1;
  return whole ? std::floor(kept + 0.5) : kept;
}

double ParameterRecord::slider_position(double value) const noexcept {
  const double above = std::clamp(value, usual_minimum, usual_maximum) - usual_minimum;
  const double range = usual_maximum - usual_minimum, start = logarithm_start(*this);
  return scale == Scale::linear ? above / range : std::log1p(above / start) / std::log1p(range / start);
}

double parse_real(std::string_view name, std::string_view text, double minimum, double maximum) {
  const double value = parse_finite(name, text);
  check_range(name, text, value, minimum, maximum);
  return value;
}

std::vector<double> parse_reals(std::string_view name, std::string_view text, double minimum,
                                double maximum) {
  std::vector<double> values;
  for (const std::string& part : split(text, ',')) values.push_back(parse_real(name, part, minimum, maximum));
  return values;
}

long parse_integer(std::string_view name, std::string_view text, long minimum, long maximum) {
  long value = 0;
  if (!parse_whole(text, value)) refuse(name, text, "a whole number is expected");
  check_range(name, text, static_cast<double>(value), static_cast<double>(minimum),
              static_cast<double>(maximum));
  return value;
}

bool parse_flag(std::string_view name, std::string_view text) {
  if (text == "true" || text == "yes" || text == "on" || text == "1") return true;
  if (text == "false" || text == "no" || text == "off" || text == "0") return false;
  refuse(name, text, "true or false is expected");
}

std::size_t parse_choice(std::string_view name, std::string_view text, std::span<const std::string> choices) {
  const auto found = std::find(choices.begin(), choices.end(), text);
  if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  std::string list;
  for (const std::string& choice : choices) list += (list.empty() ? "" : ", ") + choice;
  const std::string near = nearest(text, choices);
  refuse(name, text,
         "one of " + list + " is expected" + (near.empty() ? "" : "; did you mean '" + near + "'?"));
}

Length parse_length(std::string_view name, std::string_view text, double minimum, double maximum) {
  return length_in(name, text, text, minimum, maximum, "a number (8, 2.5) or a percentage (1.5%) is");
}

Radius parse_radius(std::string_view name, std::string_view text, double minimum, double maximum) {
  refuse_last_comma(name, text);
  if (const std::size_t comma = text.find(','); comma != std::string_view::npos) {
    const std::string x(text.substr(0, comma)), y(text.substr(comma + 1));
    refuse(name, text,
           "a comma means nothing here: write " + x + "." + y + " for one number, or " + x + "x" + y +
               " for one each way");
  }
  const std::size_t cross = text.find('x');
  constexpr const char* expected = "pixels (8, 2.5), one number each way (8x2) or percent (1.5%) are";
  const Length x = length_in(name, text, text.substr(0, cross), minimum, maximum, expected);
  if (cross == std::string_view::npos) return {x, x};
  return {x, length_in(name, text, text.substr(cross + 1), minimum, maximum, expected)};
}

Radius parse_whole_radius(std::string_view name, std::string_view text, double minimum, double maximum) {
  const Radius radius = parse_radius(name, text, minimum, maximum);
  for (const Length& length : {radius.x, radius.y})
    if (!length.percent && length.value != std::floor(length.value))
      refuse(name, text, "whole pixels are expected");
  return radius;
}

Point parse_point(std::string_view name, std::string_view text) {
  if (const std::optional<Point> place = place_called(text)) return *place;
  const auto coordinate = [&](std::string_view part) {
    Length length;
    length.percent = !part.empty() && part.back() == '%';
    if (length.percent) part.remove_suffix(1);
    if (!parse_whole(part, length.value) || !std::isfinite(length.value))
      refuse(name, text, "a place X,Y is expected, in pixels (320,200) or percent (50%,50%)");
    return length;
  };
  const std::size_t comma = std::min(text.find(','), text.size());
  const std::size_t rest = std::min(comma + 1, text.size());
  const Point point{coordinate(text.substr(0, comma)), coordinate(text.substr(rest))};
  const auto share = [](const Length& length) {
    return !length.percent && length.value >= 0 && length.value <= 1;
  };
  const bool fraction =
      point.x.value != std::floor(point.x.value) || point.y.value != std::floor(point.y.value);
  if (share(point.x) && share(point.y) && fraction)
    refuse(name, text,
           "this would be a place in the first pixel; did you mean " +
               print_point({{point.x.value * 100, true}, {point.y.value * 100, true}}) + "?");
  return point;
}

ValueRange parse_range(std::string_view name, std::string_view text, double minimum, double maximum) {
  const std::vector<std::string> parts = split(text, ':');
  ValueRange range;
  if (parts.size() != 2 || !parse_whole(parts[0], range.first) || !parse_whole(parts[1], range.second) ||
      !std::isfinite(range.first) || !std::isfinite(range.second) || range.first == range.second)
    refuse(name, text, "two different numbers A:B are expected");
  check_range(name, text, range.first, minimum, maximum);
  check_range(name, text, range.second, minimum, maximum);
  return range;
}

TargetSize parse_size(std::string_view name, std::string_view text) {
  constexpr std::int64_t longest = std::int64_t{1} << 30;
  const auto expect = [&](bool met) {
    if (!met) refuse(name, text, "N (longer side), P%, WxH, Wx or xH is expected, in whole pixels from 1 on");
  };
  const auto side = [&](std::string_view digits) {
    std::int64_t pixels = 0;
    expect(parse_whole(digits, pixels) && pixels >= 1 && pixels <= longest);
    return pixels;
  };
  if (text.ends_with('%')) {
    double percent = 0;
    expect(parse_whole(text.substr(0, text.size() - 1), percent) && percent > 0);
    check_range(name, text, percent, 0, 6400);
    return Length(percent, true);
  }
  const std::size_t cross = text.find('x');
  if (cross == std::string_view::npos) return static_cast<double>(side(text));
  const std::string_view width = text.substr(0, cross), height = text.substr(cross + 1);
  expect(!width.empty() || !height.empty());
  return {width.empty() ? 0 : side(width), height.empty() ? 0 : side(height)};
}

PictureBox parse_box(std::string_view name, std::string_view text) {
  constexpr double farthest = 2147483648.0;
  constexpr const char* expected =
      "X,Y,W,H in whole pixels (100,80,1600,900) or percent (10%,10%,80%,80%) are";
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() != 4) refuse(name, text, std::string(expected) + " expected");
  const auto number = [&](std::size_t i) {
    const Length length = length_in(name, text, parts[i], 0, farthest, expected);
    if (!length.percent && length.value != std::floor(length.value))
      refuse(name, text, "whole pixels are expected");
    if (i >= 2 && length.value == 0) refuse(name, text, "width and height must be above 0");
    return length;
  };
  return {number(0), number(1), number(2), number(3)};
}

Ratio parse_ratio(std::string_view name, std::string_view text) {
  constexpr double largest = 65536;
  const std::vector<std::string> parts = split(text, ':');
  Ratio ratio;
  if (parts.size() != 2 || !parse_whole(parts[0], ratio.width) || !parse_whole(parts[1], ratio.height))
    refuse(name, text, "two numbers A:B are expected, such as 3:2");
  for (const double share : {ratio.width, ratio.height})
    if (!(share > 0 && share <= largest)) refuse(name, text, "both must be above 0, and at most 65536");
  return ratio;
}

std::vector<PixelBox> parse_boxes(std::string_view name, std::string_view text) {
  constexpr std::int64_t farthest = std::int64_t{1} << 31;
  std::vector<PixelBox> boxes;
  for (const std::string& part : split(text, ';')) {
    boxes.push_back(parse_pixel_box(name, part));
    const PixelBox& box = boxes.back();
    if (box.width < 1 || box.height < 1) refuse(name, text, "width and height must be 1 or more");
    for (const std::int64_t number : {box.x, box.y, box.width, box.height})
      if (number > farthest || number < -farthest) refuse(name, text, "this is beyond every picture");
  }
  return boxes;
}

Colour parse_colour(std::string_view name, std::string_view text) {
  std::uint32_t code = 0;
  const bool marked = text.size() == 7 && text.front() == '#';
  const auto [end, error] =
      std::from_chars(text.data() + (marked ? 1 : 0), text.data() + text.size(), code, 16);
  if (!marked || error != std::errc() || end != text.data() + text.size())
    refuse(name, text, "a colour such as #ff8000 is expected");
  return {static_cast<std::uint8_t>(code >> 16U), static_cast<std::uint8_t>(code >> 8U),
          static_cast<std::uint8_t>(code)};
}

std::string print_real(double value) {
  char text[64];
  const auto [end, code] = std::to_chars(std::begin(text), std::end(text), value);
  return {std::begin(text), end};
}

std::string print_reals(std::span<const double> values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ",") + print_real(value);
  return text;
}

std::string print_length(const Length& length) {
  return print_real(length.value) + (length.percent ? "%" : "");
}

std::string print_radius(const Radius& radius) {
  if (radius.x == radius.y) return print_length(radius.x);
  return print_length(radius.x) + "x" + print_length(radius.y);
}

std::string print_point(const Point& point) { return print_length(point.x) + "," + print_length(point.y); }

std::string print_range(const ValueRange& range) {
  return print_real(range.first) + ":" + print_real(range.second);
}

std::string print_size(const TargetSize& size) {
  const auto side = [](std::int64_t pixels) { return pixels == 0 ? std::string() : std::to_string(pixels); };
  if (size.width != 0 || size.height != 0) return side(size.width) + "x" + side(size.height);
  return size.longer == Length() ? std::string() : print_length(size.longer);
}

std::string print_box(const PictureBox& box) {
  return print_length(box.x) + "," + print_length(box.y) + "," + print_length(box.width) + "," +
         print_length(box.height);
}

std::string print_ratio(const Ratio& ratio) {
  return print_real(ratio.width) + ":" + print_real(ratio.height);
}

std::string print_boxes(std::span<const PixelBox> boxes) {
  std::string text;
  for (const PixelBox& box : boxes) {
    text += (text.empty() ? "" : ";") + std::to_string(box.x);
    for (const std::int64_t number : {box.y, box.width, box.height}) text += "," + std::to_string(number);
  }
  return text;
}

std::string print_colour(const Colour& colour) {
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", colour.red, colour.green, colour.blue);
  return text;
}

std::vector<std::string> split(std::string_view text, char sign) {
  std::vector<std::string> parts;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t end = std::min(text.find(sign, first), text.size());
    parts.emplace_back(text.substr(first, end - first));
    first = end + 1;
  }
  return parts;
}

std::string nearest(std::string_view text, std::span<const std::string> candidates) {
  std::string best;
  // A candidate that shares no character is not near.
  std::size_t best_distance = std::min(std::max<std::size_t>(1, text.size() / 3) + 1, text.size());
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(text, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view text, std::span<const std::string> candidates) {
  const std::string name = nearest(text, candidates);
  return name.empty() ? "" : " Did you mean '" + name + "'?";
}

}  // namespace satin
