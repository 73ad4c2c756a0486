#pragma once
// Several values of a parameter on one line: a series of pictures.

#include <string>
#include <string_view>
#include <vector>

#include "app/command_line.h"
#include "satin/filter.h"

namespace satin::app {

/// The values of "V,V,V", or the N of "A..B/N" at equal distances; one for any other text. Values in percent
/// have the sign each. Throws Error(usage) that names the option.
[[nodiscard]] std::vector<std::string> series_values(const std::string& option, std::string_view text);

/// The line of every picture: the line itself, or one for each value of the parameters that vary
/// (ParameterRecord::varies). Throws Error(usage) for lists of different lengths.
[[nodiscard]] std::vector<ParsedLine> series_lines(const FilterRecord& filter, const ParsedLine& line);

}  // namespace satin::app
