#include "order/cpu/rank_codes.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/maths/window.h"

namespace satin::cpu {
namespace {

constexpr int most_digit_bits = 11;
constexpr std::uint32_t no_element = UINT32_MAX;
/// So many elements are looked at in the time that a pixel of a table takes: measured with AVX2.
constexpr std::size_t elements_a_pixel = 32;

/// Puts the elements into `sorted`, in the order of the bits from `shift` on; equal ones keep theirs.
template <int digit_bits>
void sort_by_digit(std::span<const Element> elements, Element* sorted, int shift) {
  constexpr std::size_t digits = std::size_t{1} << digit_bits;
  std::array<std::uint32_t, digits> next{};
  for (const Element element : elements) ++next[(element >> shift) % digits];
  std::exclusive_scan(next.begin(), next.end(), next.begin(), std::uint32_t{0});
  for (const Element element : elements) sorted[next[(element >> shift) % digits]++] = element;
}

}  // namespace

void CodedRegion::place(const RankJob& job, const Rectangle& part) {
  inner = part;
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
  codes.resize(static_cast<std::size_t>(width * height));
}

KeyGroups::KeyGroups(std::size_t most_pixels, std::int64_t most_line)
    : elements_(most_pixels), sorted_(most_pixels) {
  constexpr std::size_t vector = 64;
  if (most_line <= 256)
    narrow_ = {WorkspaceVector<std::uint8_t>(most_pixels + vector),
               WorkspaceVector<std::uint8_t>(most_pixels + vector)};
  else
    wide_ = {WorkspaceVector<std::uint16_t>(most_pixels + vector),
             WorkspaceVector<std::uint16_t>(most_pixels + vector)};
}

std::size_t KeyGroups::bytes() const noexcept {
  return (elements_.size() + sorted_.size()) * sizeof(Element) + 2 * narrow_.rows.size() +
         2 * wide_.rows.size() * sizeof(std::uint16_t);
}

void KeyGroups::sort(int key_bits) {
  const int digit_bits = key_bits == 16 ? 8 : most_digit_bits;  // two passes of 16 bits
  for (int bit = 0; bit < key_bits; bit += digit_bits) {
    const std::span<const Element> elements(elements_.data(), count_);
    digit_bits == 8 ? sort_by_digit<8>(elements, sorted_.data(), 32 + bit)
                    : sort_by_digit<most_digit_bits>(elements, sorted_.data(), 32 + bit);
    std::swap(elements_, sorted_);
  }
}

template <class Coordinate>
void KeyGroups::code_cells(CodedRegion& region, Places<Coordinate>& places) {
  const std::size_t share = (count_ + no_code - 1) / no_code;
  std::uint32_t last_key = ~key(0);
  std::size_t code = no_code;
  for (std::size_t cell = 0; cell * share < count_; ++cell) {
    const std::size_t first = cell * share;
    const std::size_t last = std::min(first + share, count_);
    for (std::size_t i = first; i < last; ++i) {
      if (const std::uint32_t own = key(i); own != last_key) {
        const std::size_t fresh = i != first && fills(cell + 1, share, own) ? cell + 1 : cell;
        const bool begins = fresh != code;
        code = fresh;
        groups_[code] =
            begins ? Group{static_cast<std::uint32_t>(i), true} : Group{groups_[code].first, false};
        last_key = own;
      }
      const Element element = elements_[i];
      const auto x = static_cast<std::uint16_t>(element);
      const auto y = static_cast<std::uint16_t>(element >> 16);
      places.columns[i] = static_cast<Coordinate>(x);
      places.rows[i] = static_cast<Coordinate>(y);
      region.codes[static_cast<std::size_t>(y * region.width + x)] = static_cast<std::uint16_t>(code);
    }
  }
}

void KeyGroups::build(CodedRegion& region, int key_bits) {
  groups_.fill({no_element, false});
  groups_.back().first = static_cast<std::uint32_t>(count_);
  if (count_ == 0) return;
  sort(key_bits);
  narrow_.rows.empty() ? code_cells(region, wide_) : code_cells(region, narrow_);
  for (std::size_t code = no_code; code-- > 0;)  // codes that no element has begin where the next one does
    if (groups_[code].first == no_element) groups_[code].first = groups_[code + 1].first;
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
  // A region that is cut to the picture holds all that larger windows see.
  const std::int64_t reach_x = std::min<std::int64_t>(reach, region.reach_x);
  const std::int64_t reach_y = std::min<std::int64_t>(reach, region.reach_y);
  const std::uint32_t* above = table_.data() + (y - reach_y) * stride + x;
  const std::uint32_t* last = table_.data() + (y + reach_y + 1) * stride + x;
  return last[reach_x + 1] - last[-reach_x] - above[reach_x + 1] + above[-reach_x];
}

void MappedRanks::split(const Search& search, std::span<Query> queries, int low, int size) {
  if (queries.empty()) return;
  const CodedRegion& region = search.region;
  const bool spans =
      size > 1 && queries.size() * search.groups.elements(low, low + size) <=
                      elements_a_pixel * static_cast<std::size_t>(region.width * region.height);
  if (size == 1 || spans) {
    for (const Query& query : queries)
      search.found[query.pixel] = {static_cast<std::uint16_t>(low), spans, query.rank};
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
  build_table(region, 0, no_code);
  std::size_t queries = 0;
  for (std::uint32_t i = 0; i < reaches.size(); ++i) {
    const std::uint32_t counted = count(region, i, reaches[i]);
    found[i] = {};
    if (counted != 0) queries_[queries++] = {i, rank_of(percent, counted)};
  }
  split({region, groups, reaches, found}, std::span(queries_).first(queries), 0, no_code);
}

}  // namespace satin::cpu
