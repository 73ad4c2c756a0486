#include "order/cpu/rank_codes.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/maths/window.h"

namespace satin::cpu {
namespace {

/// Cost of building one table entry, in elements scanned. Measured with AVX2.
constexpr std::size_t elements_per_entry = 32;

}  // namespace

void CodedRegion::move_to(const RankJob& job, const Rectangle& chunk) {
  inner = chunk;
  width = inner.x.size() + 2 * reach_x;
  height = inner.y.size() + 2 * reach_y;
  columns.resize(static_cast<std::size_t>(width));
  rows.resize(static_cast<std::size_t>(height));
  for (std::int64_t i = 0; i < width; ++i)
    columns[static_cast<std::size_t>(i)] =
        static_cast<std::int32_t>(source_of(inner.x.first - reach_x + i, job.width, job.border));
  for (std::int64_t i = 0; i < height; ++i)
    rows[static_cast<std::size_t>(i)] =
        static_cast<std::int32_t>(source_of(inner.y.first - reach_y + i, job.height, job.border));
  codes.resize(static_cast<std::size_t>(width * height) + window_bits);
}

KeyGroups::KeyGroups(std::size_t most_pixels, std::int64_t most_line)
    : elements_(most_pixels), sorted_(most_pixels) {
  const std::size_t size = most_pixels + window_bits;
  if (most_line <= 256)
    narrow_ = {WorkspaceVector<std::uint8_t>(size), WorkspaceVector<std::uint8_t>(size)};
  else
    wide_ = {WorkspaceVector<std::uint16_t>(size), WorkspaceVector<std::uint16_t>(size)};
}

std::size_t KeyGroups::bytes() const noexcept {
  return (elements_.size() + sorted_.size()) * sizeof(Element) + 2 * narrow_.rows.size() +
         2 * wide_.rows.size() * sizeof(std::uint16_t);
}

/// Radix sort from the lowest digit on.
template <int digit_bits, std::size_t passes>
void KeyGroups::sort_by_digits() {
  constexpr std::size_t digits = std::size_t{1} << digit_bits;
  const auto digit = [](Element element, std::size_t pass) {
    return (element >> (32 + pass * digit_bits)) % digits;
  };
  std::array<std::array<std::uint32_t, digits>, passes> next{};
  for (const Element element : std::span(elements_.data(), count_))
    for (std::size_t pass = 0; pass < passes; ++pass) ++next[pass][digit(element, pass)];
  for (std::size_t pass = 0; pass < passes; ++pass) {
    std::exclusive_scan(next[pass].begin(), next[pass].end(), next[pass].begin(), std::uint32_t{0});
    for (const Element element : std::span(elements_.data(), count_))
      sorted_[next[pass][digit(element, pass)]++] = element;
    std::swap(elements_, sorted_);
  }
}

std::size_t KeyGroups::end_of_group(std::size_t first, std::size_t share) const {
  if (first + share >= count_) return count_;
  const std::uint32_t last_key = key(first + share - 1);
  std::size_t begin =
      first + share - 1;  // first element of the run of equal keys that a cut here would split
  while (begin > first && key(begin - 1) == last_key) --begin;
  std::size_t end = first + share;
  while (end < count_ && key(end) == last_key) ++end;
  return begin > first && end - begin >= 2 * share ? begin : end;
}

void KeyGroups::cut() {
  // There are enough codes: a group below a share is the last one, or is followed by one of two shares.
  const std::size_t share = (count_ + group_codes - 1) / group_codes;
  std::size_t code = 0;
  for (std::size_t first = 0, end = 0; first < count_; first = end) {
    end = end_of_group(first, share);
    groups_[code++] = {static_cast<std::uint32_t>(first), key(first) == key(end - 1)};
  }
  std::fill(groups_.begin() + static_cast<std::ptrdiff_t>(code), groups_.end(),
            Group{static_cast<std::uint32_t>(count_), false});
}

template <class Coordinate>
void KeyGroups::write(CodedRegion& region, Coordinates<Coordinate>& coordinates) {
  std::uint16_t* const codes = region.codes.data();
  const auto width = static_cast<std::uint32_t>(region.width);
  std::size_t i = 0;
  for (std::uint16_t code = 0; i < count_; ++code)
    for (const std::size_t end = groups_[code + 1U].first; i < end; ++i) {
      const auto x = static_cast<std::uint16_t>(elements_[i]);
      const auto y = static_cast<std::uint16_t>(elements_[i] >> 16);
      coordinates.columns[i] = static_cast<Coordinate>(x);
      coordinates.rows[i] = static_cast<Coordinate>(y);
      codes[y * width + x] = code;
    }
}

void KeyGroups::sort(int key_bits) {
  if (key_bits == 8)
    sort_by_digits<8, 1>();
  else if (key_bits == 16)
    sort_by_digits<8, 2>();
  else
    sort_by_digits<11, 3>();
}

void KeyGroups::build(CodedRegion& region, int key_bits) {
  sort(key_bits);
  cut();
  is_narrow() ? write(region, narrow_) : write(region, wide_);
}

MappedRanks::MappedRanks(std::size_t most_pixels, std::size_t most_results)
    : table_(most_pixels), queries_(most_results), upper_(most_results) {}

std::size_t MappedRanks::bytes() const noexcept {
  return table_.size() * sizeof(std::uint32_t) + (queries_.size() + upper_.size()) * sizeof(Query);
}

void MappedRanks::build_table(const CodedRegion& region, int low, int high) {
  const auto range = static_cast<std::uint32_t>(high - low);
  const std::int64_t stride = region.width + 1;
  std::fill_n(table_.begin(), stride, 0U);
  for (std::int64_t y = 0; y < region.height; ++y) {
    const std::uint16_t* codes = region.row(y);
    const std::uint32_t* above = table_.data() + y * stride;
    std::uint32_t* sums = table_.data() + (y + 1) * stride;
    std::uint32_t sum = 0;
    sums[0] = 0;
    for (std::int64_t x = 0; x < region.width; ++x) {
      sum += codes[x] - static_cast<std::uint32_t>(low) < range ? 1 : 0;
      sums[x + 1] = above[x + 1] + sum;
    }
  }
}

std::uint32_t MappedRanks::count(const CodedRegion& region, std::uint32_t pixel, std::int32_t reach) const {
  const std::int64_t stride = region.width + 1;
  const auto width = static_cast<std::uint32_t>(region.inner_width());
  const std::int64_t x = region.reach_x + pixel % width;
  const std::int64_t y = region.reach_y + pixel / width;
  // The reach of the region is cut to the picture, whose pixels are all that larger windows see.
  const std::int64_t reach_x = std::min<std::int64_t>(reach, region.reach_x);
  const std::int64_t reach_y = std::min<std::int64_t>(reach, region.reach_y);
  const std::uint32_t* above = table_.data() + (y - reach_y) * stride + x;
  const std::uint32_t* last = table_.data() + (y + reach_y + 1) * stride + x;
  return last[reach_x + 1] - last[-reach_x] - above[reach_x + 1] + above[-reach_x];
}

void MappedRanks::split(const Search& search, std::span<Query> queries, int low, int size) {
  if (queries.empty()) return;
  const CodedRegion& region = search.region;
  const bool spans_codes =
      size > 1 && queries.size() * search.groups.elements(low, low + size) <=
                      elements_per_entry * static_cast<std::size_t>(region.width * region.height);
  if (size == 1 || spans_codes) {
    for (const Query& query : queries)
      search.found[query.pixel] = {static_cast<std::uint16_t>(low), spans_codes, query.rank};
    return;
  }
  const int half = size / 2;
  build_table(region, low, low + half);
  std::size_t lower = 0;
  std::size_t upper = 0;
  for (const Query query : queries) {
    const std::uint32_t below = count(region, query.pixel, search.reaches[query.pixel]);
    if (query.rank <= below) {
      queries[lower++] = query;
    } else {
      upper_[upper++] = {query.pixel, query.rank - below};
    }
  }
  std::copy_n(upper_.begin(), upper, queries.begin() + static_cast<std::ptrdiff_t>(lower));
  split(search, queries.first(lower), low, half);
  split(search, queries.subspan(lower), low + half, half);
}

void MappedRanks::run(const CodedRegion& region, const KeyGroups& groups, Percent percent,
                      std::span<const std::int32_t> reaches, std::span<FoundRank> found) {
  build_table(region, 0, group_codes);
  std::size_t queries = 0;
  for (std::uint32_t i = 0; i < reaches.size(); ++i) {
    const std::uint32_t counted = count(region, i, reaches[i]);
    found[i] = {};
    if (counted != 0) queries_[queries++] = {i, rank_of(percent, counted)};
  }
  split({region, groups, reaches, found}, std::span(queries_).first(queries), 0, group_codes);
}

}  // namespace satin::cpu
