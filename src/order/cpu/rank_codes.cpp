#include "order/cpu/rank_codes.h"

#include <algorithm>
#include <array>

#include "core/maths/window.h"

namespace satin::cpu {
namespace {

constexpr int digit_bits = 11;
constexpr std::size_t digits = std::size_t{1} << digit_bits;

/// Where the elements of every digit begin.
std::array<std::uint32_t, digits> starts_of(std::span<const Element> elements, int shift) {
  std::array<std::uint32_t, digits> starts{};
  for (const Element element : elements) ++starts[(element >> shift) % digits];
  std::uint32_t sum = 0;
  for (std::uint32_t& start : starts) {
    const std::uint32_t count = start;
    start = sum;
    sum += count;
  }
  return starts;
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

KeyGroups::KeyGroups(std::size_t most_pixels)
    : sorted_(most_pixels), columns_(most_pixels + 64), rows_(most_pixels + 64) {
  elements_.reserve(most_pixels);
  groups_.reserve(no_code);
}

std::size_t KeyGroups::bytes() const noexcept {
  return (elements_.capacity() + sorted_.capacity()) * sizeof(Element) +
         (columns_.size() + rows_.size()) * sizeof(std::uint16_t) + groups_.capacity() * sizeof(Group);
}

void KeyGroups::sort(int key_bits) {
  sorted_.resize(elements_.size());
  for (int bit = 0; bit < key_bits; bit += digit_bits) {
    const int shift = 32 + bit;
    std::array<std::uint32_t, digits> next = starts_of(elements_, shift);
    for (const Element element : elements_) sorted_[next[(element >> shift) % digits]++] = element;
    std::swap(elements_, sorted_);
  }
}

void KeyGroups::cut() {
  // A run of equal keys that is longer than a share ends the group before it and is one: at most two groups a
  // share.
  const std::size_t share = elements_.size() / (no_code / 2 - 1) + 1;
  groups_.clear();
  for (std::size_t i = 0; i < elements_.size();) {
    std::size_t run = i + 1;
    while (run < elements_.size() && key(run) == key(i)) ++run;
    const bool own =
        groups_.empty() || run - i > share || groups_.back().last - groups_.back().first >= share;
    if (own) {
      groups_.push_back({i, run, true});
    } else {
      groups_.back().last = run;
      groups_.back().one_key = false;
    }
    i = run;
  }
}

void KeyGroups::build(CodedRegion& region, int key_bits) {
  sort(key_bits);
  cut();
  for (std::size_t code = 0; code < groups_.size(); ++code)
    for (std::size_t i = groups_[code].first; i < groups_[code].last; ++i) {
      columns_[i] = static_cast<std::uint16_t>(elements_[i]);
      rows_[i] = static_cast<std::uint16_t>(elements_[i] >> 16);
      region.codes[static_cast<std::size_t>(rows_[i] * region.width + columns_[i])] =
          static_cast<std::uint16_t>(code);
    }
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

void MappedRanks::split(const CodedRegion& region, std::span<const std::int32_t> reaches,
                        std::span<Query> queries, int low, int size, std::span<FoundRank> found) {
  if (queries.empty()) return;
  if (size == 1) {
    for (const Query& query : queries) found[query.pixel] = {static_cast<std::uint16_t>(low), query.rank};
    return;
  }
  const int half = size / 2;
  build_table(region, low, low + half);
  std::size_t lower = 0;
  std::size_t upper = 0;
  for (const Query query : queries) {
    const std::uint32_t below = count(region, query.pixel, reaches[query.pixel]);
    if (query.rank <= below) {
      queries[lower++] = query;
    } else {
      upper_[upper++] = {query.pixel, query.rank - below};
    }
  }
  std::copy_n(upper_.begin(), upper, queries.begin() + static_cast<std::ptrdiff_t>(lower));
  split(region, reaches, queries.first(lower), low, half, found);
  split(region, reaches, queries.subspan(lower), low + half, half, found);
}

void MappedRanks::run(const CodedRegion& region, Percent percent, std::span<const std::int32_t> reaches,
                      std::span<FoundRank> found) {
  build_table(region, 0, no_code);
  std::size_t queries = 0;
  for (std::uint32_t i = 0; i < reaches.size(); ++i) {
    const std::uint32_t counted = count(region, i, reaches[i]);
    found[i] = {};
    if (counted != 0) queries_[queries++] = {i, rank_of(percent, counted)};
  }
  split(region, reaches, std::span(queries_).first(queries), 0, no_code, found);
}

}  // namespace satin::cpu
