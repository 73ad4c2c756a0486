// Run lengths of masks (satin/rle.h): encoding, decoding, uniting, and their text.

#include "satin/rle.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "satin/error.h"

namespace satin {
namespace {

constexpr std::int64_t most_pixels = std::numeric_limits<std::uint32_t>::max();

[[noreturn]] void refuse(ErrorKind kind, const std::string& what) { throw Error(kind, what); }

std::int64_t checked_pixels(ErrorKind kind, std::int64_t height, std::int64_t width) {
  if (height < 1 || width < 1 || height > most_pixels / width)
    refuse(kind, "Run lengths of a mask of " + std::to_string(width) + " x " + std::to_string(height) +
                     ": 1 to 4294967295 pixels are possible.");
  return height * width;
}

void check_view(const ImageView& view, Type type, const char* what) {
  const Shape& shape = view.shape;
  if (view.empty() || shape.type != type || shape.channels != 1 || shape.frames != 1)
    refuse(ErrorKind::usage, std::string("Run lengths are made of one channel and one frame of ") +
                                 name_of(type) + "; the " + what + " has " + describe(shape) + ".");
  if (view.memory != Memory::host)
    refuse(ErrorKind::usage, std::string("The ") + what + " is in device memory: download it first.");
  static_cast<void>(checked_pixels(ErrorKind::usage, shape.height, shape.width));
}

/// Pixels of one column from `row` on that have one key.
template <class Key>
struct Change {
  std::uint32_t row;
  Key key;
};

/// Calls visit(key, start, length) for the longest runs of one key within each column, column after column;
/// `start` is the number of pixels before the run in column-major order. Columns are read 64 bytes at once,
/// and 64 bytes that equal those above cost one comparison.
template <class Stored, class KeyOf, class Visit>
void for_each_run(const ImageView& view, const KeyOf& key_of, const Visit& visit) {
  using Key = decltype(key_of(Stored{}));
  constexpr std::int64_t columns_at_once = 64 / static_cast<std::int64_t>(sizeof(Stored));
  const auto [width, height] = std::pair(view.shape.width, view.shape.height);
  std::array<std::vector<Change<Key>>, static_cast<std::size_t>(columns_at_once)> changes;
  for (std::int64_t left = 0; left < width; left += columns_at_once) {
    const auto columns = static_cast<std::size_t>(std::min(columns_at_once, width - left));
    std::array<Stored, static_cast<std::size_t>(columns_at_once)> above{}, here{};
    for (std::int64_t y = 0; y < height; ++y, std::swap(above, here)) {
      if (view.strides.pixel == sizeof(Stored)) {
        std::memcpy(here.data(), view.at(left, y), columns * sizeof(Stored));
      } else {
        for (std::size_t c = 0; c < columns; ++c)
          here[c] = view.value<Stored>(left + static_cast<std::int64_t>(c), y);
      }
      if (y != 0 && std::memcmp(here.data(), above.data(), sizeof(here)) == 0) continue;
      for (std::size_t c = 0; c < columns; ++c) {
        const Key key = key_of(here[c]);
        if (y == 0 || key != changes[c].back().key)
          changes[c].push_back({static_cast<std::uint32_t>(y), key});
      }
    }
    for (std::size_t c = 0; c < columns; ++c) {
      const std::int64_t top = (left + static_cast<std::int64_t>(c)) * height;
      for (std::size_t i = 0; i < changes[c].size(); ++i) {
        const std::int64_t end = i + 1 < changes[c].size() ? changes[c][i + 1].row : height;
        visit(changes[c][i].key, top + changes[c][i].row, end - changes[c][i].row);
      }
      changes[c].clear();
    }
  }
}

/// Appends a run inside; `end` is the end of the pixels that `counts` covers.
void append_inside(std::vector<std::uint32_t>& counts, std::int64_t& end, std::int64_t start,
                   std::int64_t length) {
  if (!counts.empty() && start == end) {
    counts.back() += static_cast<std::uint32_t>(length);
  } else {
    counts.push_back(static_cast<std::uint32_t>(start - end));
    counts.push_back(static_cast<std::uint32_t>(length));
  }
  end = start + length;
}

void append_outside(std::vector<std::uint32_t>& counts, std::int64_t end, std::int64_t pixels) {
  if (end < pixels) counts.push_back(static_cast<std::uint32_t>(pixels - end));
}

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

/// Returns the index in `wanted` of every label, `none` for labels that are not wanted.
std::vector<std::uint32_t> indices_of(std::span<const std::uint32_t> wanted, std::int64_t pixels) {
  if (wanted.empty()) return {};
  const std::uint32_t largest = *std::max_element(wanted.begin(), wanted.end());
  if (largest > pixels)
    refuse(ErrorKind::usage, "Label " + std::to_string(largest) + " is above the number of pixels, " +
                                 std::to_string(pixels) + ".");
  std::vector<std::uint32_t> indices(std::size_t{largest} + 1, none);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (indices[wanted[i]] != none)
      refuse(ErrorKind::usage, "Label " + std::to_string(wanted[i]) + " is wanted twice.");
    indices[wanted[i]] = static_cast<std::uint32_t>(i);
  }
  return indices;
}

struct Interval {
  std::int64_t start;
  std::int64_t end;
};

/// Calls visit(start, end) for every run inside that is not empty.
template <class Visit>
void for_each_inside(const RunLengths& runs, const Visit& visit) {
  std::int64_t at = 0;
  for (std::size_t i = 0; i < runs.counts.size(); ++i) {
    const std::int64_t end = at + runs.counts[i];
    if (i % 2 == 1 && end > at) visit(at, end);
    at = end;
  }
}

}  // namespace

void validate(const RunLengths& runs) {
  const std::int64_t pixels = checked_pixels(ErrorKind::input, runs.height, runs.width);
  const std::string mask =
      "a mask of " + std::to_string(runs.width) + " x " + std::to_string(runs.height) + " pixels";
  if (runs.counts.size() > static_cast<std::size_t>(pixels) + 1)
    refuse(ErrorKind::input,
           std::to_string(runs.counts.size()) + " run lengths are too many for " + mask + ".");
  std::uint64_t sum = 0;  // fits: at most 2^32 counts below 2^32
  for (const std::uint32_t count : runs.counts) sum += count;
  if (sum != static_cast<std::uint64_t>(pixels))
    refuse(ErrorKind::input, "The run lengths add up to " + std::to_string(sum) + ", but " + mask + " has " +
                                 std::to_string(pixels) + ".");
}

RunLengths encode_run_lengths(const ImageView& mask) {
  check_view(mask, Type::u8, "mask");
  RunLengths runs{mask.shape.height, mask.shape.width, {}};
  std::int64_t end = 0;
  for_each_run<std::uint8_t>(
      mask, [](std::uint8_t value) { return value != 0; },
      [&](bool inside, std::int64_t start, std::int64_t length) {
        if (inside) append_inside(runs.counts, end, start, length);
      });
  append_outside(runs.counts, end, runs.height * runs.width);
  return runs;
}

std::vector<RunLengths> encode_run_lengths(const ImageView& labels, std::span<const std::uint32_t> wanted) {
  check_view(labels, Type::u32, "picture of labels");
  const std::int64_t pixels = labels.shape.height * labels.shape.width;
  const std::vector<std::uint32_t> indices = indices_of(wanted, pixels);
  std::vector<RunLengths> runs(wanted.size(), {labels.shape.height, labels.shape.width, {}});
  std::vector<std::int64_t> ends(wanted.size(), 0);
  for_each_run<std::uint32_t>(
      labels, [](std::uint32_t label) { return label; },
      [&](std::uint32_t label, std::int64_t start, std::int64_t length) {
        if (label >= indices.size() || indices[label] == none) return;
        const std::uint32_t index = indices[label];
        append_inside(runs[index].counts, ends[index], start, length);
      });
  for (std::size_t i = 0; i < runs.size(); ++i) append_outside(runs[i].counts, ends[i], pixels);
  return runs;
}

/// Marks the pixels where the value changes down a column, and the top of columns that begin inside. Then
/// each row is XORed with the row above: a scan down all columns at once.
Image decode_run_lengths(const RunLengths& runs) {
  validate(runs);
  Image mask({runs.width, runs.height});
  std::memset(mask.data(), 0, byte_size(mask.shape()));
  const MutableImageView view = mask.view();
  const auto flip = [&](std::int64_t x, std::int64_t y) { view.value<std::uint8_t>(x, y) ^= 0xFF; };
  for_each_inside(runs, [&](std::int64_t start, std::int64_t end) {
    std::int64_t x = start / runs.height;
    flip(x, start % runs.height);
    for (; (x + 1) * runs.height < end; ++x) flip(x + 1, 0);
    if (end < (x + 1) * runs.height) flip(x, end - x * runs.height);
  });
  for (std::int64_t y = 1; y < runs.height; ++y) {
    const auto* above = view.row<std::uint8_t>(y - 1);
    auto* row = view.row<std::uint8_t>(y);
    for (std::int64_t x = 0; x < runs.width; ++x) row[x] ^= above[x];
  }
  return mask;
}

RunLengths unite(std::span<const RunLengths> masks) {
  if (masks.empty()) refuse(ErrorKind::usage, "There are no masks to unite.");
  std::vector<Interval> inside;
  for (const RunLengths& mask : masks) {
    validate(mask);
    if (mask.height != masks.front().height || mask.width != masks.front().width)
      refuse(ErrorKind::usage, "Masks of " + std::to_string(masks.front().width) + " x " +
                                   std::to_string(masks.front().height) + " and " +
                                   std::to_string(mask.width) + " x " + std::to_string(mask.height) +
                                   " pixels cannot be united.");
    for_each_inside(mask, [&](std::int64_t start, std::int64_t end) { inside.push_back({start, end}); });
  }
  std::sort(inside.begin(), inside.end(),
            [](const Interval& a, const Interval& b) { return a.start < b.start; });
  RunLengths result{masks.front().height, masks.front().width, {}};
  std::int64_t end = 0;
  for (const Interval& interval : inside) {
    const std::int64_t start = std::max(interval.start, end);
    if (interval.end > start) append_inside(result.counts, end, start, interval.end - start);
  }
  append_outside(result.counts, end, result.height * result.width);
  return result;
}

std::int64_t area(const RunLengths& runs) {
  std::int64_t pixels = 0;
  for (std::size_t i = 1; i < runs.counts.size(); i += 2) pixels += runs.counts[i];
  return pixels;
}

PixelBox bounding_box(const RunLengths& runs) {
  validate(runs);
  std::int64_t left = runs.width, right = -1, top = runs.height, bottom = -1;
  for_each_inside(runs, [&](std::int64_t start, std::int64_t end) {
    const std::int64_t first = start / runs.height;
    const std::int64_t last = (end - 1) / runs.height;
    left = std::min(left, first);
    right = std::max(right, last);
    top = first != last ? 0 : std::min(top, start % runs.height);
    bottom = first != last ? runs.height - 1 : std::max(bottom, (end - 1) % runs.height);
  });
  if (right < 0) return {};
  return {left, top, right - left + 1, bottom - top + 1};
}

// The text of counts: signed numbers in digits of five bits, one character each, the lowest digit first.

namespace {

constexpr int digit_bits = 5;
constexpr std::int64_t digit_values = 0x1F;
constexpr std::int64_t sign = 0x10;
constexpr std::int64_t continues = 0x20;
constexpr std::int64_t first_character = 48;
constexpr int most_digits = 7;  ///< digits of a difference of two counts below 2^32: 33 bits
constexpr std::size_t first_difference = 3;

void append_number(std::string& text, std::int64_t number) {
  for (bool more = true; more;) {
    std::int64_t digit = number & digit_values;
    number >>= digit_bits;
    more = number != ((digit & sign) != 0 ? -1 : 0);
    if (more) digit |= continues;
    text += static_cast<char>(digit + first_character);
  }
}

[[noreturn]] void refuse(const std::string& what, std::size_t at) {
  throw Error(ErrorKind::input, "The compressed run lengths are damaged at character " +
                                    std::to_string(at + 1) + ": " + what + ".");
}

/// Reads the number that begins at `at`, and moves `at` past it.
std::int64_t read_number(std::string_view text, std::size_t& at) {
  const std::size_t start = at;
  std::int64_t number = 0;
  for (int shift = 0;; shift += digit_bits) {
    if (at == text.size()) refuse("the last number is cut off", start);
    if (shift == most_digits * digit_bits) refuse("a number is too long", start);
    const std::int64_t digit = static_cast<unsigned char>(text[at]) - first_character;
    if (digit < 0 || digit > (continues | digit_values)) refuse("only '0' to 'o' are possible", at);
    ++at;
    number |= (digit & digit_values) << shift;
    if ((digit & continues) != 0) continue;
    return (digit & sign) != 0 ? number - (std::int64_t{1} << (shift + digit_bits)) : number;
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
  const std::int64_t pixels = height > 0 && width > 0 && height <= most_pixels / width ? height * width : 0;
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
