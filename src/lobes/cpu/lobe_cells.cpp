#include "lobes/cpu/lobe_cells.h"

#include <algorithm>

#include "lobes/maths/lobe_cells.h"

namespace satin::cpu {
namespace {

template <class Value>
void add_row(const RowReader& reader, const std::byte* source, std::uint64_t weight,
             std::vector<Value>& values, std::uint64_t* sums) {
  read_row(reader, source, values.size() / static_cast<std::size_t>(reader.read.channels), values.data());
  for (std::size_t i = 0; i < values.size(); ++i) sums[i] += values[i] * weight;
}

/// Sums over `cell` neighbouring pixels.
void sum_neighbours(const std::vector<std::uint64_t>& pixels, std::size_t channels, std::size_t cell,
                    std::uint64_t* cells) {
  for (std::size_t first = 0; first < pixels.size(); first += cell * channels, cells += channels)
    for (std::size_t c = 0; c < channels; ++c) {
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < cell; ++i) sum += pixels[first + i * channels + c];
      cells[c] = sum;
    }
}

std::uint64_t value_of(std::uint64_t stored, std::uint64_t /*type*/) { return stored; }
double value_of(std::uint64_t stored, double /*type*/) { return double_of(stored); }

template <class Value>
void expand(std::span<const std::uint64_t> cells, std::size_t channels, int bits, bool behind_pole,
            std::span<Value> pixels) {
  const auto width = static_cast<std::int64_t>(pixels.size() / channels);
  const std::int64_t turn = behind_pole ? width / 2 : 0;
  for (std::int64_t x = 0; x < width; ++x) {
    const std::int64_t from = x + turn < width ? x + turn : x + turn - width;
    const CellPlace place = cell_place(from, bits);
    const auto next = static_cast<std::size_t>(place.next) * channels;
    const std::uint64_t* left = cells.data() + (next == 0 ? cells.size() : next) - channels;
    const std::uint64_t* right = cells.data() + (next == cells.size() ? 0 : next);
    Value* out = pixels.data() + static_cast<std::size_t>(x) * channels;
    for (std::size_t c = 0; c < channels; ++c)
      out[c] = between(value_of(left[c], Value{}), value_of(right[c], Value{}), place.weight, bits);
  }
}

}  // namespace

void sum_cells(const RowReader& reader, const ImageView& source, std::int64_t first_row,
               std::span<const std::uint32_t> row_weights, PixelRows& rows, std::uint64_t* cells) {
  const std::size_t cell = row_weights.size();
  std::uint64_t* sums = cell == 1 ? cells : rows.sums.data();
  std::fill_n(sums, rows.sums.size(), std::uint64_t{0});
  const bool narrow = !reader.read.fixed_point && reader.read.maximum <= 0xFFFFFFFFU;
  for (std::size_t j = 0; j < cell; ++j) {
    const std::byte* row = source.at(0, first_row + static_cast<std::int64_t>(j));
    if (narrow) {
      add_row(reader, row, row_weights[j], rows.narrow, sums);
    } else {
      add_row(reader, row, row_weights[j], rows.wide, sums);
    }
  }
  if (cell > 1) sum_neighbours(rows.sums, static_cast<std::size_t>(reader.read.channels), cell, cells);
}

void expand_cells(std::span<const std::uint64_t> cells, int channels, int bits, bool behind_pole,
                  std::span<std::uint64_t> pixels) {
  expand(cells, static_cast<std::size_t>(channels), bits, behind_pole, pixels);
}

void expand_cells(std::span<const std::uint64_t> cells, int channels, int bits, bool behind_pole,
                  std::span<double> pixels) {
  expand(cells, static_cast<std::size_t>(channels), bits, behind_pole, pixels);
}

}  // namespace satin::cpu
