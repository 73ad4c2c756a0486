#include "app/series.h"

#include <array>
#include <charconv>
#include <limits>

#include "satin/error.h"
#include "satin/param.h"

namespace satin::app {
namespace {

constexpr long most_pictures = 9999;

/// The number with 12 digits: the last digits of a double show that 0.1 is no binary number.
std::string rounded(double value) {
  std::array<char, 32> text{};
  const auto [end, code] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 12);
  return {text.data(), end};
}

double number(const std::string& option, std::string_view text) {
  constexpr double largest = std::numeric_limits<double>::max();
  return parse_real(option, text, -largest, largest);
}

/// The steps of a text "A..B/N", whose dots begin at `dots`.
std::vector<std::string> steps_of(const std::string& option, std::string_view text, std::size_t dots) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos || slash < dots)
    throw Error(ErrorKind::usage,
                option + " " + std::string(text) + ": say how many values there are, such as 0.2..0.8/5.");
  std::string_view first = text.substr(0, dots);
  std::string_view last = text.substr(dots + 2, slash - dots - 2);
  const auto is_percent = [](std::string_view value) { return !value.empty() && value.back() == '%'; };
  const bool percent = is_percent(first);
  if (percent != is_percent(last))
    throw Error(ErrorKind::usage, option + " " + std::string(text) + ": both ends have a % sign, or none.");
  if (percent) {
    first.remove_suffix(1);
    last.remove_suffix(1);
  }
  const long count = parse_integer(option, text.substr(slash + 1), 2, most_pictures);
  const double from = number(option, first);
  const double to = number(option, last);
  std::vector<std::string> values;
  for (long i = 0; i < count; ++i)
    values.push_back(rounded(from + (to - from) * static_cast<double>(i) / static_cast<double>(count - 1)) +
                     (percent ? "%" : ""));
  return values;
}

}  // namespace

std::vector<std::string> series_values(const std::string& option, std::string_view text) {
  const std::size_t dots = text.find("..");
  return dots == std::string_view::npos ? split(text, ',') : steps_of(option, text, dots);
}

std::vector<ParsedLine> series_lines(const FilterRecord& filter, const ParsedLine& line) {
  std::vector<ParsedLine> lines;
  std::string first;
  for (std::size_t place = 0; place < line.options.size(); ++place) {
    const auto& [name, text] = line.options[place];
    const ParameterRecord* parameter = filter.find_parameter(name);
    if (parameter == nullptr || !parameter->varies) continue;
    const std::vector<std::string> values = series_values("--" + name, text);
    if (values.size() == 1) continue;
    if (lines.empty()) {
      lines.assign(values.size(), line);
      first = name;
    }
    if (lines.size() != values.size())
      throw Error(ErrorKind::usage, "--" + first + " has " + std::to_string(lines.size()) + " values and --" +
                                        name + " " + std::to_string(values.size()) +
                                        ": give as many, or one.");
    for (std::size_t i = 0; i < values.size(); ++i) lines[i].options[place].second = values[i];
  }
  if (lines.empty()) lines.push_back(line);
  return lines;
}

}  // namespace satin::app
