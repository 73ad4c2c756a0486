#include <limits>

#include "satin/error.h"
#include "satin/rle.h"

namespace satin {
namespace {

constexpr int group_bits = 5;
constexpr std::int64_t group_values = 0x1F;
constexpr std::int64_t sign = 0x10;
constexpr std::int64_t another = 0x20;
constexpr std::int64_t first_character = 48;
constexpr int most_groups = 7;  ///< of a difference of two counts below 2^32: 33 bits
constexpr std::size_t first_difference = 3;

void append_number(std::string& text, std::int64_t number) {
  for (bool more = true; more;) {
    std::int64_t group = number & group_values;
    number >>= group_bits;
    more = number != ((group & sign) != 0 ? -1 : 0);
    if (more) group |= another;
    text += static_cast<char>(group + first_character);
  }
}

[[noreturn]] void refuse(const std::string& what, std::size_t at) {
  throw Error(ErrorKind::input, "The compressed run lengths are damaged at character " +
                                    std::to_string(at + 1) + ": " + what + ".");
}

/// The number that begins at `at`, which moves behind it.
std::int64_t read_number(std::string_view text, std::size_t& at) {
  const std::size_t start = at;
  std::int64_t number = 0;
  for (int shift = 0;; shift += group_bits) {
    if (at == text.size()) refuse("the last number is cut off", start);
    if (shift == most_groups * group_bits) refuse("a number is too long", start);
    const std::int64_t group = static_cast<unsigned char>(text[at]) - first_character;
    if (group < 0 || group > (another | group_values)) refuse("only '0' to 'o' are possible", at);
    ++at;
    number |= (group & group_values) << shift;
    if ((group & another) != 0) continue;
    return (group & sign) != 0 ? number - (std::int64_t{1} << (shift + group_bits)) : number;
  }
}

}  // namespace

std::string compressed_counts(const RunLengths& runs) {
  std::string text;
  for (std::size_t i = 0; i < runs.counts.size(); ++i) {
    const std::int64_t before = i < first_difference ? 0 : runs.counts[i - 2];
    append_number(text, std::int64_t{runs.counts[i]} - before);
  }
  return text;
}

RunLengths parse_compressed_counts(std::string_view text, std::int64_t height, std::int64_t width) {
  RunLengths runs{height, width, {}};
  const std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  const std::int64_t pixels = height > 0 && width > 0 && height <= most / width ? height * width : 0;
  if (pixels == 0) validate(runs);  // says what is wrong with the size
  std::int64_t rest = pixels;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    std::int64_t count = read_number(text, at);
    if (runs.counts.size() >= first_difference) count += runs.counts[runs.counts.size() - 2];
    if (count < 0) refuse("a count is negative", start);
    if (count > rest || runs.counts.size() > static_cast<std::size_t>(pixels))
      refuse("the counts are more than a mask of " + std::to_string(width) + " x " + std::to_string(height) +
                 " pixels has",
             start);
    rest -= count;
    runs.counts.push_back(static_cast<std::uint32_t>(count));
  }
  validate(runs);
  return runs;
}

}  // namespace satin
