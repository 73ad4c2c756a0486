#pragma once
// Records of filter parameters, one for each member of a filter's parameter struct. The command's options,
// the help, the pipeline grammar and the bindings are generated from these records alone.

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
  double value = 0;      ///< number of pixels or percent
  bool percent = false;  ///< whether `value` is in percent of the longer side

  /// 0 pixels.
  constexpr Length() = default;
  /// A number of pixels, or a percentage if `is_percentage`.
  // NOLINTNEXTLINE(google-explicit-constructor): 3.5 is a length
  constexpr Length(double number, bool is_percentage = false) : value(number), percent(is_percentage) {}

  /// Returns the length in pixels for a picture with this longer side.
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
  /// One radius for both axes.
  // NOLINTNEXTLINE(google-explicit-constructor): 3.5 is a radius
  Radius(double pixels) : x{pixels, false}, y{pixels, false} {}
  /// A radius along each axis.
  Radius(Length along_x, Length along_y) : x(along_x), y(along_y) {}
  friend bool operator==(const Radius&, const Radius&) = default;
};

/// A position in a picture, in pixels or in percent of its width and height.
struct Point {
  Length x;  ///< distance from the left edge
  Length y;  ///< distance from the upper edge

  friend bool operator==(const Point&, const Point&) = default;
};

/// The size that a picture is to have. One of the three members is set, or width and height both.
struct TargetSize {
  std::int64_t width = 0;   ///< pixels; 0: not set
  std::int64_t height = 0;  ///< pixels; 0: not set
  Length longer;            ///< longer side in pixels, or percent of both sides; 0: not set

  /// No size.
  constexpr TargetSize() = default;
  /// A longer side in pixels, or a percentage of both sides.
  // NOLINTNEXTLINE(google-explicit-constructor): 1600 is a size
  constexpr TargetSize(Length longer_side) : longer(longer_side) {}
  /// A longer side in pixels.
  // NOLINTNEXTLINE(google-explicit-constructor): 1600 is a size
  constexpr TargetSize(double longer_side) : longer(longer_side) {}
  /// A width and a height in pixels, one of which may be 0.
  constexpr TargetSize(std::int64_t wide, std::int64_t high) : width(wide), height(high) {}

  friend bool operator==(const TargetSize&, const TargetSize&) = default;
};

/// A rectangle in pixels or in percent of the picture's width and height, mixed as wanted.
struct PictureBox {
  Length x;       ///< left edge
  Length y;       ///< upper edge
  Length width;   ///< columns
  Length height;  ///< rows

  friend bool operator==(const PictureBox&, const PictureBox&) = default;
};

/// The relation of a width to a height.
struct Ratio {
  double width = 1;   ///< share of the width
  double height = 1;  ///< share of the height

  friend bool operator==(const Ratio&, const Ratio&) = default;
};

/// A pair of different values.
struct ValueRange {
  double first = 0;   ///< first value
  double second = 0;  ///< second value, different from the first

  friend bool operator==(const ValueRange&, const ValueRange&) = default;
};

/// An sRGB colour of 8 bits per channel.
struct Colour {
  std::uint8_t red = 0;    ///< 0 to 255
  std::uint8_t green = 0;  ///< 0 to 255
  std::uint8_t blue = 0;   ///< 0 to 255

  friend bool operator==(const Colour&, const Colour&) = default;
};

/// Values that a filter computes with.
enum class Space {
  linear,  ///< linear light: 8- and 16-bit values are decoded by the sRGB curve and encoded again
  encoded  ///< values as stored
};

/// Syntax of a parameter's text.
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
  range,    ///< "A:B"
  size,     ///< "1600", "50%", "1200x630", "1200x" or "x630"
  box,      ///< "X,Y,W,H", numbers in pixels or percent
  ratio     ///< "A:B"
};

/// Meaning of a parameter to code that knows no filter. Batches use it to decode depth and light.
enum class ParameterRole {
  own,            ///< no meaning outside the filter
  strength,       ///< how strongly the filter acts; unless set, the first number of the main group
  space,          ///< selects linear light or stored values
  depth_source,   ///< selects where depth comes from: a picture of its own, or the filtered picture's file
  depth_channel,  ///< selects the channel of a picture that is depth
  may_vanish      ///< flag: allows the target to lie outside the picture, as in small previews
};

/// Returns "real", "reals", "integer", ...
[[nodiscard]] const char* name_of(ParameterKind kind) noexcept;

/// How the values of a slider follow its position.
enum class Scale {
  linear,      ///< equal steps add the same amount
  logarithmic  ///< equal steps multiply; from 0 or less, they do so beyond a hundredth of the range
};

/// Returns "linear" or "logarithmic".
[[nodiscard]] const char* name_of(Scale scale) noexcept;

/// A parameter, with functions that convert its value from and to text.
struct ParameterRecord {
  std::string name;                                           ///< "radius-max": the option is --radius-max
  ParameterKind kind = ParameterKind::real;                   ///< syntax of its text
  std::string unit;                                           ///< unit, such as "px"; empty if it has none
  std::string help;                                           ///< one line
  double minimum = -std::numeric_limits<double>::infinity();  ///< smallest valid number
  double maximum = std::numeric_limits<double>::infinity();   ///< largest valid number
  double usual_minimum = 0;          ///< smallest number of a slider; usual ranges are for numbers alone
  double usual_maximum = 0;          ///< largest number of a slider, for pictures of a few thousand pixels
  Scale scale = Scale::linear;       ///< how the numbers of a slider follow its position
  std::vector<std::string> choices;  ///< names of a choice, in the order of the enumerators; words that
                                     ///< a number accepts besides
  std::string default_text;          ///< default; empty: not set unless given
  ParameterRole role = ParameterRole::own;  ///< meaning to code that knows no filter
  std::string group = "main";  ///< section of a form: main; lens-shape; more, for what is rarely changed
  int rank = 0;                ///< order in the group; equal ranks: as in the record
  std::string instead_of;      ///< parameter that this one excludes: see Parameters::set()
  bool whole = false;          ///< whether a number must be whole; percentages are rounded, ties up
  bool odd = false;            ///< whether a whole number must be odd, as the side of a window
  bool varies = false;         ///< whether commands accept several values, a series; plans change it by
                               ///< Plan::vary(), if at all

  /// Parses, checks and stores a value; an empty text restores the default. Throws Error(usage) with the
  /// name, the text and the valid values, and the nearest name for a choice.
  std::function<void(void* parameters, std::string_view text)> set;
  /// Returns the value as text that `set` accepts, empty if the parameter is not set.
  std::function<std::string(const void* parameters)> get;

  /// Whether it is a number, so that a slider can set it: real, integer, length or radius.
  [[nodiscard]] bool is_number() const noexcept;
  /// Whether it can be without a value, because its default is none.
  [[nodiscard]] bool may_be_unset() const noexcept { return default_text.empty(); }
  /// Returns the number that means "not set" in programs that know only numbers: the first whole number below
  /// a minimum of 0 or more, and a negative minimum itself. For numbers that may be unset; texts say it by an
  /// empty text.
  [[nodiscard]] double unset_number() const noexcept;
  /// Returns the value at a position of its slider, from 0 to 1, whole or odd where it must be.
  [[nodiscard]] double slider_value(double position) const noexcept;
  /// Returns the position, from 0 to 1, of a value on its slider. Values outside the usual range are at an
  /// end.
  [[nodiscard]] double slider_position(double value) const noexcept;
};

// Parsers that the records share. `name` is the parameter's name for messages. Each throws Error(usage) if
// the text does not match completely, and for NaN, infinity and values outside the range.
/// Parses a number such as "2.5".
[[nodiscard]] double parse_real(std::string_view name, std::string_view text, double minimum, double maximum);
/// Parses numbers that are separated by commas.
[[nodiscard]] std::vector<double> parse_reals(std::string_view name, std::string_view text, double minimum,
                                              double maximum);
/// Parses an integer.
[[nodiscard]] long parse_integer(std::string_view name, std::string_view text, long minimum, long maximum);
/// Parses true, yes, on or 1; false, no, off or 0.
[[nodiscard]] bool parse_flag(std::string_view name, std::string_view text);
/// Returns the index of one of the choices.
[[nodiscard]] std::size_t parse_choice(std::string_view name, std::string_view text,
                                       std::span<const std::string> choices);
/// Parses "L", or "P%" of at most 1000 %. The range is in pixels.
[[nodiscard]] Length parse_length(std::string_view name, std::string_view text, double minimum,
                                  double maximum);
/// Parses "R" or "RXxRY", each with an optional % sign. The range is in pixels.
[[nodiscard]] Radius parse_radius(std::string_view name, std::string_view text, double minimum,
                                  double maximum);

/// Parses a radius of whole pixels: 2.5 is refused, 2.5% is not.
[[nodiscard]] Radius parse_whole_radius(std::string_view name, std::string_view text, double minimum,
                                        double maximum);

/// Parses boxes "X,Y,W,H" in whole pixels, separated by ';'. W and H are 1 or more.
[[nodiscard]] std::vector<PixelBox> parse_boxes(std::string_view name, std::string_view text);
/// Parses "X,Y", each with an optional % sign, or a word: centre, north, north-east, ... west, north-west.
[[nodiscard]] Point parse_point(std::string_view name, std::string_view text);
/// Parses "A:B", two different numbers.
[[nodiscard]] ValueRange parse_range(std::string_view name, std::string_view text, double minimum,
                                     double maximum);
/// Parses "N", "P%" of at most 6400 %, "WxH", "Wx" or "xH". Sides are whole pixels from 1 to 2^30.
[[nodiscard]] TargetSize parse_size(std::string_view name, std::string_view text);
/// Parses "X,Y,W,H", each with an optional % sign. X and Y are 0 or more, W and H above 0; pixels are whole.
[[nodiscard]] PictureBox parse_box(std::string_view name, std::string_view text);
/// Parses "A:B", two numbers above 0 of at most 65536.
[[nodiscard]] Ratio parse_ratio(std::string_view name, std::string_view text);
/// Parses "#RRGGBB", hexadecimal.
[[nodiscard]] Colour parse_colour(std::string_view name, std::string_view text);

/// Returns the shortest text that parses back to the same value.
[[nodiscard]] std::string print_real(double value);
/// Returns a text that parse_reals() accepts.
[[nodiscard]] std::string print_reals(std::span<const double> values);
/// Returns a text that parse_length() accepts.
[[nodiscard]] std::string print_length(const Length& length);
/// Returns a text that parse_radius() accepts.
[[nodiscard]] std::string print_radius(const Radius& radius);
/// Returns a text that parse_point() accepts.
[[nodiscard]] std::string print_point(const Point& point);
/// Returns a text that parse_range() accepts.
[[nodiscard]] std::string print_range(const ValueRange& range);
/// Returns a text that parse_size() accepts; empty for no size.
[[nodiscard]] std::string print_size(const TargetSize& size);
/// Returns a text that parse_box() accepts.
[[nodiscard]] std::string print_box(const PictureBox& box);
/// Returns a text that parse_ratio() accepts.
[[nodiscard]] std::string print_ratio(const Ratio& ratio);
/// Returns a text that parse_boxes() accepts.
[[nodiscard]] std::string print_boxes(std::span<const PixelBox> boxes);
/// Returns a text that parse_colour() accepts.
[[nodiscard]] std::string print_colour(const Colour& colour);

/// Splits a text at every `sign`. The result has one element more than there are signs.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char sign);

/// Returns the candidate with the smallest edit distance to `text`, or an empty text if none is near.
[[nodiscard]] std::string nearest(std::string_view text, std::span<const std::string> candidates);

/// Returns " Did you mean 'x'?" or an empty text.
[[nodiscard]] std::string did_you_mean(std::string_view text, std::span<const std::string> candidates);

}  // namespace satin
