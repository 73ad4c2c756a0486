#pragma once
// One table to build and to compare, in memory of the device under test.

#include <algorithm>
#include <cstring>
#include <functional>
#include <ostream>
#include <vector>

#include "core/backend.h"
#include "device_under_test.h"
#include "pictures.h"

namespace satin::test {

struct Layout {
  std::int64_t width = 1;
  std::int64_t height = 1;
  std::int64_t picture_gap = 0;  ///< bytes between rows
  std::int64_t picture_offset = 0;
  std::int64_t table_gap = 0;  ///< elements between rows
  std::int64_t table_offset = 0;
};

inline std::ostream& operator<<(std::ostream& out, const Layout& l) {
  return out << l.width << " x " << l.height << ", picture + " << l.picture_offset << " / " << l.picture_gap
             << ", table + " << l.table_offset << " / " << l.table_gap;
}

constexpr std::uint32_t poison_of_table = 0xCDCDCDCD;

/// One u8 channel to sums modulo 2^32 in rows of any distance, in memory of the device.
class TableCase {
 public:
  explicit TableCase(const Layout& layout)
      : layout_(layout),
        picture_row_(layout.width + layout.picture_gap),
        table_row_(layout.width + layout.table_gap),
        picture_(static_cast<std::size_t>(layout.picture_offset + (layout.height - 1) * picture_row_ +
                                          layout.width)),
        table_(
            static_cast<std::size_t>(layout.table_offset + (layout.height - 1) * table_row_ + layout.width)),
        device_picture_(backend_.allocate(picture_.size())),
        device_table_(backend_.allocate(table_.size() * sizeof(std::uint32_t))) {}

  /// Another picture with every seed; seed 0 is white. What lies between the rows must stay as it was.
  [[nodiscard]] bool is_right(std::uint64_t seed,
                              const std::function<void(const ImageView&, const MutableImageView&)>& build) {
    Random random(seed);
    for (std::size_t i = 0; i < picture_.size(); i += 8) {
      const std::uint64_t values = seed == 0 ? ~std::uint64_t{0} : random.next();
      std::memcpy(&picture_[i], &values, std::min<std::size_t>(8, picture_.size() - i));
    }
    std::fill(table_.begin(), table_.end(), poison_of_table);
    backend_.upload(device_picture_.get(), picture_.data(), picture_.size(), {});
    backend_.upload(device_table_.get(), table_.data(), device_table_.size, {});
    build(picture(), table());
    backend_.download(table_.data(), device_table_.get(), device_table_.size, {});
    return table_is_right();
  }

 private:
  [[nodiscard]] ImageView picture() const {
    const Shape shape{layout_.width, layout_.height, 1, Type::u8};
    return {device_picture_.get() + layout_.picture_offset, shape, {1, picture_row_, 1, 0}, Memory::device};
  }
  [[nodiscard]] MutableImageView table() const {
    const Shape shape{layout_.width, layout_.height, 1, Type::u32};
    return {device_table_.get() + 4 * layout_.table_offset, shape, {4, 4 * table_row_, 4, 0}, Memory::device};
  }

  [[nodiscard]] bool table_is_right() const {
    std::vector<std::uint32_t> expected(table_.size(), poison_of_table);
    std::vector<std::uint32_t> columns(static_cast<std::size_t>(layout_.width));
    for (std::int64_t y = 0; y < layout_.height; ++y) {
      const std::uint8_t* pixels = picture_.data() + layout_.picture_offset + y * picture_row_;
      std::uint32_t* row = expected.data() + layout_.table_offset + y * table_row_;
      std::uint32_t sum = 0;
      for (std::int64_t x = 0; x < layout_.width; ++x) {
        std::uint32_t& column = columns[static_cast<std::size_t>(x)];
        column += pixels[x];
        sum += column;
        row[x] = sum;
      }
    }
    return expected == table_;
  }

  Backend& backend_ = device_under_test().backend();
  Layout layout_;
  std::int64_t picture_row_;
  std::int64_t table_row_;
  std::vector<std::uint8_t> picture_;
  std::vector<std::uint32_t> table_;
  Buffer device_picture_;
  Buffer device_table_;
};

}  // namespace satin::test
