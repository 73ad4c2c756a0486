#pragma once
// How a filter describes its parameters: a record for each member of its parameter struct. The command's
// options, the help, the pipeline grammar and the bindings are made from these records and from nothing else.

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "satin/border.h"     // IWYU pragma: export
#include "satin/pixel_box.h"  // IWYU pragma: export

namespace [[gnu::visibility("default")]] satin {

/// A length in pixels, or in percent of the longer side of the picture.
struct Length {
  double value = 0;      ///< pixels or percent
  bool percent = false;  ///< of the longer side; otherwise pixels

  /// 0 pixels.
  constexpr Length() = default;
  /// Pixels, or a percentage if so told.
  // NOLINTNEXTLINE(google-explicit-constructor): 3.5 is a length
  constexpr Length(double number, bool is_percentage = false) : value(number), percent(is_percentage) {}

  /// The length in pixels of a picture whose longer side is this.
  [[nodiscard]] double pixels(double longer_side) const noexcept {
    return percent ? value * longer_side / 100 : value;
  }
  friend bool operator==(const Length&, const Length&) = default;
};

/// A radius along x and one along y.
struct Radius {
  Length x;  ///< along the rows
  Length y;  ///< along the columns

  /// 0 pixels.
  Radius() = default;
  /// One radius along both.
  // NOLINTNEXTLINE(google-explicit-constructor): 3.5 is a radius
  Radius(double pixels) : x{pixels, false}, y{pixels, false} {}
  /// One along each.
  Radius(Length along_x, Length along_y) : x(along_x), y(along_y) {}
  friend bool operator==(const Radius&, const Radius&) = default;
};

/// A place in a picture: from its left and upper edge, in pixels or in percent of its width and height.
struct Point {
  Length x;  ///< from the left edge
  Length y;  ///< from the upper edge

  friend bool operator==(const Point&, const Point&) = default;
};

/// A pair of different values.
struct ValueRange {
  double first = 0;   ///< any number
  double second = 0;  ///< any other

  friend bool operator==(const ValueRange&, const ValueRange&) = default;
};

/// A colour as files hold it: sRGB, 8 bits.
struct Colour {
  std::uint8_t red = 0;    ///< 0 to 255
  std::uint8_t green = 0;  ///< 0 to 255
  std::uint8_t blue = 0;   ///< 0 to 255

  friend bool operator==(const Colour&, const Colour&) = default;
};

/// What values a filter computes with.
enum class Space {
  linear,  ///< linear light: 8- and 16-bit values are decoded by the sRGB curve, and encoded back
  encoded  ///< the values as stored
};

/// What the text of a parameter looks like.
enum class ParameterKind {
  real,     ///< "2.5"
  reals,    ///< "1,2.5,30"
  integer,  ///< "3"
  length,   ///< "8" or "1.5%"
  flag,     ///< "true" or "false"
  choice,   ///< one of the choices
  radius,   ///< "8", "8x2" or "1.5%"
  boxes,    ///< "X,Y,W,H;X,Y,W,H"
  colour,   ///< "#ff8000"
  point,    ///< "320,200" or "50%,50%"
  range     ///< "A:B"
};

/// What a parameter means to code that knows no filter: batches decode depth and light by it.
enum class ParameterRole {
  own,            ///< nothing
  space,          ///< linear light, or the values as stored
  depth_source,   ///< where depth comes from: its own picture, or a part of the filtered one
  depth_channel,  ///< which channel of a picture is depth
  may_vanish      ///< a flag: what is asked for may lie nowhere in the picture, as in smaller previews
};

/// "real", "reals", "integer", ...
[[nodiscard]] const char* name_of(ParameterKind kind) noexcept;

/// One parameter. Text is the common form: set() parses and checks, get() prints what set() takes.
struct ParameterRecord {
  std::string name;                                           ///< "radius-max": the option is --radius-max
  ParameterKind kind = ParameterKind::real;                   ///< what its text looks like
  std::string unit;                                           ///< "px"; empty if it has none
  std::string help;                                           ///< one line
  double minimum = -std::numeric_limits<double>::infinity();  ///< smallest number
  double maximum = std::numeric_limits<double>::infinity();   ///< largest number
  std::vector<std::string> choices;         ///< of a choice, in the order of the enumerators
  std::string default_text;                 ///< empty: not set unless told
  ParameterRole role = ParameterRole::own;  ///< for code that knows no filter
  std::string instead_of;                   ///< a parameter that must not be set besides
  bool whole = false;                       ///< of a radius: whole pixels; percentages are rounded, ties up
  bool varies = false;  ///< plans may change it (Plan::vary()), and commands take several values: a series

  /// Throws Error(usage) that names the parameter, the text and what is valid; nearest name for a choice.
  std::function<void(void* parameters, std::string_view text)> set;
  /// Empty if the parameter is not set.
  std::function<std::string(const void* parameters)> get;
};

// Parsers that the records share. Each takes the parameter's name for its message and throws Error(usage) for
// text that is not wholly of the form, NaN, infinity, or a value outside the range.
/// A number such as "2.5".
[[nodiscard]] double parse_real(std::string_view name, std::string_view text, double minimum, double maximum);
/// Numbers with commas between them.
[[nodiscard]] std::vector<double> parse_reals(std::string_view name, std::string_view text, double minimum,
                                              double maximum);
/// A whole number.
[[nodiscard]] long parse_integer(std::string_view name, std::string_view text, long minimum, long maximum);
/// true, yes, on, 1; false, no, off, 0.
[[nodiscard]] bool parse_flag(std::string_view name, std::string_view text);
/// The index of one of the choices.
[[nodiscard]] std::size_t parse_choice(std::string_view name, std::string_view text,
                                       std::span<const std::string> choices);
/// "L", or "P%" of at most 1000 %; the range is in pixels.
[[nodiscard]] Length parse_length(std::string_view name, std::string_view text, double minimum,
                                  double maximum);
/// "R", "RXxRY", each with an optional % sign; the range is in pixels.
[[nodiscard]] Radius parse_radius(std::string_view name, std::string_view text, double minimum,
                                  double maximum);

/// A radius of whole pixels: 2.5 is refused, 2.5% is not.
[[nodiscard]] Radius parse_whole_radius(std::string_view name, std::string_view text, double minimum,
                                        double maximum);

/// "X,Y,W,H" in whole pixels, several with ';' between them; W and H are 1 or more.
[[nodiscard]] std::vector<PixelBox> parse_boxes(std::string_view name, std::string_view text);
/// "X,Y", each with an optional % sign.
[[nodiscard]] Point parse_point(std::string_view name, std::string_view text);
/// Parses "A:B", two different numbers.
[[nodiscard]] ValueRange parse_range(std::string_view name, std::string_view text, double minimum,
                                     double maximum);
/// "#RRGGBB", hexadecimal.
[[nodiscard]] Colour parse_colour(std::string_view name, std::string_view text);

/// The shortest text that parses back to the same value.
[[nodiscard]] std::string print_real(double value);
/// A text that parse_reals() takes.
[[nodiscard]] std::string print_reals(std::span<const double> values);
/// A text that parse_length() takes.
[[nodiscard]] std::string print_length(const Length& length);
/// A text that parse_radius() takes.
[[nodiscard]] std::string print_radius(const Radius& radius);
/// A text that parse_point() takes.
[[nodiscard]] std::string print_point(const Point& point);
/// A text that parse_range() takes.
[[nodiscard]] std::string print_range(const ValueRange& range);
/// A text that parse_boxes() takes.
[[nodiscard]] std::string print_boxes(std::span<const PixelBox> boxes);
/// A text that parse_colour() takes.
[[nodiscard]] std::string print_colour(const Colour& colour);

/// The parts of a text between these signs; one more than there are signs.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char sign);

/// The candidate with the smallest edit distance to `text`, or empty if none is near.
[[nodiscard]] std::string nearest(std::string_view text, std::span<const std::string> candidates);

/// " Did you mean 'x'?" or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view text, std::span<const std::string> candidates);

}  // namespace satin
