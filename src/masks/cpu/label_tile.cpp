#include "masks/cpu/label_tile.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "masks/cpu/label_simd.h"
#include "masks/label.h"

namespace satin::cpu {
namespace {

constexpr RegionShape no_shape{0, 0, std::numeric_limits<std::uint32_t>::max(), 0, 0, 0, 0, 0};

void include(RegionShape& shape, std::uint32_t begin, std::uint32_t end, std::uint32_t row,
             std::uint32_t width) {
  if (shape.area == 0) {
    shape.first = row * width + begin;
    shape.top = row;
  }
  shape.area += end - begin;
  shape.left = std::min(shape.left, begin);
  shape.right = std::max(shape.right, end - 1);
  shape.bottom = row;
  shape.sum_x += sum_of_range(begin, end - begin);
  shape.sum_y += std::uint64_t{row} * (end - begin);
}

}  // namespace

void Runs::find(const std::uint64_t* words, std::size_t width) {
  std::uint32_t* next = edges.data();
  std::uint64_t inside = 0;  // the bit before the word
  for (std::size_t i = 0; i < words_for(width); ++i) {
    const auto base = static_cast<std::uint32_t>(i * bits_of_word);
    for (std::uint64_t changes = words[i] ^ (words[i] << 1 | inside); changes != 0; changes &= changes - 1)
      *next++ = base + static_cast<std::uint32_t>(std::countr_zero(changes));
    inside = words[i] >> (bits_of_word - 1);
  }
  if (inside != 0) *next++ = static_cast<std::uint32_t>(width);
  count = static_cast<std::size_t>(next - edges.data()) / 2;
  next[0] = next[1] = beyond;
}

/// Runs touch where one begins before the other ends, diagonally one pixel earlier: `reach`.
void LabelTile::label_row(const Runs& row, const Runs& above, std::uint32_t reach, DisjointSets& sets) {
  const std::size_t first = runs_.size();
  runs_.resize(first + row.count);
  const std::uint32_t* upper_label = runs_.data() + first - above.count;
  const std::uint32_t* upper = above.edges.data();
  for (std::size_t i = 0; i < row.count; ++i) {
    const std::uint32_t begin = row.edges[2 * i];
    const std::uint32_t end = row.edges[2 * i + 1] + reach;
    for (; upper[1] + reach <= begin; upper += 2) ++upper_label;
    if (upper[0] >= end) {
      runs_[first + i] = sets.add();
      continue;
    }
    std::uint32_t label = *upper_label;
    for (; upper[2] < end; upper += 2)
      if (*++upper_label != label) label = sets.join(label, *upper_label);
    runs_[first + i] = label;
  }
}

/// Roots are the least labels of their components, and labels were given in raster order.
void LabelTile::number_components(const DisjointSets& sets) {
  std::vector<std::uint32_t> number(sets.size());
  components_ = 0;
  for (std::uint32_t i = 0; i < sets.size(); ++i)
    number[i] = sets.parent(i) == i ? components_++ : number[sets.parent(i)];
  for (std::uint32_t& run : runs_) run = number[run];
}

void LabelTile::scan(const LabelJob& job, const ImageView& mask, std::uint64_t* words) {
  const auto width = static_cast<std::size_t>(job.width);
  const std::uint32_t reach = job.connectivity == 8 ? 1 : 0;
  runs_.clear();
  DisjointSets sets;
  Runs row(width);
  Runs above(width);
  for (std::int64_t y = first_; y < last_; ++y, words += words_for(width)) {
    find_bits(mask.row<std::uint8_t>(y), width, job.zeros, words);
    row.find(words, width);
    label_row(row, above, reach, sets);
    if (y == first_) first_row_runs_ = row.count;
    last_row_runs_ = row.count;
    std::swap(row, above);
  }
  number_components(sets);
}

std::span<const std::uint32_t> LabelTile::first_row() const {
  return std::span(runs_).first(first_row_runs_);
}

std::span<const std::uint32_t> LabelTile::last_row() const { return std::span(runs_).last(last_row_runs_); }

void LabelTile::write(const LabelJob& job, const std::uint64_t* words, const std::uint32_t* final,
                      const std::uint8_t* whole, const MutableImageView& labels, RegionShape* shapes) {
  const auto width = static_cast<std::size_t>(job.width);
  std::vector<RegionShape> found(components_, no_shape);
  std::vector<std::uint32_t> row_labels(width / 2 + 1);
  std::vector<std::uint32_t> filled(width + fill_margin);
  Runs runs(width);
  const std::uint32_t* component = runs_.data();
  for (std::int64_t y = first_; y < last_; ++y, words += words_for(width)) {
    runs.find(words, width);
    for (std::size_t i = 0; i < runs.count; ++i) {
      include(found[component[i]], runs.edges[2 * i], runs.edges[2 * i + 1], static_cast<std::uint32_t>(y),
              static_cast<std::uint32_t>(width));
      row_labels[i] = final[component[i]];
    }
    component += runs.count;
    fill_runs(runs.edges.data(), row_labels.data(), runs.count, width, filled.data());
    copy_streaming(filled.data(), width, labels.row<std::uint32_t>(y));
  }
  parts.clear();
  for (std::uint32_t i = 0; i < components_; ++i)
    if (whole[i] != 0)
      shapes[final[i] - 1] = found[i];
    else
      parts.push_back({final[i], found[i]});
}

}  // namespace satin::cpu
