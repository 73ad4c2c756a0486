#pragma once
// Sums of every column over a window of rows that marches down the picture: a row enters, a row leaves.

#include <algorithm>
#include <vector>

#include "core/maths/window.h"
#include "pixels/cpu/rows.h"
#include "pixels/cpu/rows_simd.h"
#include "satin/image.h"

namespace satin::cpu {

template <class Sum>
class RunningColumns {
 public:
  RunningColumns(std::int64_t width, std::int64_t height, int channels, std::int64_t reach, Border border)
      : pixels_(static_cast<std::size_t>(width)),
        height_(height),
        reach_(reach),
        border_(border),
        entries_(pixels_ * static_cast<std::size_t>(channels)),
        sums_(entries_),
        entering_(entries_),
        leaving_(entries_),
        nothing_(entries_),
        times_(static_cast<std::size_t>(height)) {}

  [[nodiscard]] const Sum* sums() const noexcept { return sums_.data(); }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return 4 * sums_.size() * sizeof(Sum) + times_.size() * sizeof(Sum);
  }

  /// Sums over the window around row y: every row as often as the border makes it appear.
  void start(const RowReader& reader, const ImageView& source, std::int64_t y) {
    std::fill(times_.begin(), times_.end(), Sum{0});
    for (std::int64_t position = y - reach_; position <= y + reach_; ++position) {
      const std::int64_t row = source_of(position, height_, border_);
      if (row >= 0) ++times_[static_cast<std::size_t>(row)];
    }
    std::fill(sums_.begin(), sums_.end(), Sum{0});
    for (std::int64_t row = 0; row < height_; ++row) {
      const Sum factor = times_[static_cast<std::size_t>(row)];
      if (factor == 0) continue;
      read_row(reader, source.at(0, row), pixels_, entering_.data());
      if (factor != 1)
        std::for_each(entering_.begin(), entering_.end(), [factor](Sum& value) { value *= factor; });
      add(entering_.data(), entries_, sums_.data());
    }
  }

  /// From the window around row y - 1 to the one around row y.
  void advance(const RowReader& reader, const ImageView& source, std::int64_t y) {
    const std::int64_t enters = source_of(y + reach_, height_, border_);
    const std::int64_t leaves = source_of(y - 1 - reach_, height_, border_);
    if (enters == leaves) return;
    if constexpr (sizeof(Sum) == 4) {
      if (reader.plain() && reader.read.type == Type::u8)
        return exchange_stored<std::uint8_t>(source, enters, leaves);
      if (reader.plain() && reader.read.type == Type::u16)
        return exchange_stored<std::uint16_t>(source, enters, leaves);
      if (reader.plain() && reader.read.type == Type::u32)
        return exchange_stored<std::uint32_t>(source, enters, leaves);
    }
    if (enters >= 0) read_row(reader, source.at(0, enters), pixels_, entering_.data());
    if (leaves >= 0) read_row(reader, source.at(0, leaves), pixels_, leaving_.data());
    exchange(enters < 0 ? nothing_.data() : entering_.data(), leaves < 0 ? nothing_.data() : leaving_.data(),
             entries_, sums_.data());
  }

 private:
  template <class Stored>
  void exchange_stored(const ImageView& source, std::int64_t enters, std::int64_t leaves) {
    const auto* nothing = reinterpret_cast<const Stored*>(nothing_.data());
    exchange(enters < 0 ? nothing : source.row<Stored>(enters),
             leaves < 0 ? nothing : source.row<Stored>(leaves), entries_, sums_.data());
  }

  std::size_t pixels_;
  std::int64_t height_;
  std::int64_t reach_;
  Border border_;
  std::size_t entries_;
  std::vector<Sum> sums_;
  std::vector<Sum> entering_;
  std::vector<Sum> leaving_;
  std::vector<Sum> nothing_;  ///< zeros, as a row of any type
  std::vector<Sum> times_;
};

}  // namespace satin::cpu
