#pragma once
// A table to build and to compare, in memory of the device under test.

#include <algorithm>
#include <cstring>
#include <functional>
#include <ostream>
#include <vector>

#include "core/backend.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/pictures.h"

namespace satin::test {

struct Layout {
  std::int64_t width = 1;
  std::int64_t height = 1;
  std::int64_t picture_gap = 0;  ///< elements between rows, and before the first
  std::int64_t picture_offset = 0;
  std::int64_t table_gap = 0;
  std::int64_t table_offset = 0;
};

inline std::ostream& operator<<(std::ostream& out, const Layout& l) {
  return out << l.width << " x " << l.height << ", picture + " << l.picture_offset << " / " << l.picture_gap
             << ", table + " << l.table_offset << " / " << l.table_gap;
}

/// Types of a picture and its table.
struct TableFormat {
  Type type = Type::u8;
  int channels = 1;
  Accumulator accumulator = Accumulator::u32;
  bool squared = false;

  [[nodiscard]] PixelRead read() const {
    PixelRead read;
    read.type = type;
    read.channels = channels;
    read.maximum = type == Type::u8 ? 0xFF : 0xFFFF;
    return read;
  }
  [[nodiscard]] std::int64_t element() const { return type == Type::u8 ? 1 : 2; }
  [[nodiscard]] std::int64_t sum() const { return accumulator == Accumulator::u32 ? 4 : 8; }
};

inline std::ostream& operator<<(std::ostream& out, const TableFormat& f) {
  return out << f.channels << " x u" << 8 * f.element() << (f.squared ? " squared" : "") << " -> u"
             << 8 * f.sum();
}

/// All formats with a single pass on the GPU, and some without.
inline std::vector<TableFormat> table_formats() {
  std::vector<TableFormat> formats;
  for (const int channels : {1, 2, 3, 4})
    for (const Accumulator accumulator : {Accumulator::u32, Accumulator::u64}) {
      formats.push_back({Type::u8, channels, accumulator, false});
      formats.push_back({Type::u16, channels, accumulator, false});
      formats.push_back({Type::u8, channels, accumulator, true});
      if (accumulator == Accumulator::u32) formats.push_back({Type::u16, channels, accumulator, true});
    }
  return formats;
}

constexpr std::byte poison_of_table{0xCD};

/// A picture and its table in device memory, with rows of any distance. Sums are modulo 2^32 or 2^64.
class TableCase {
 public:
  explicit TableCase(const Layout& layout, const TableFormat& format = {})
      : layout_(layout),
        format_(format),
        elements_(layout.width * format.channels),
        picture_row_(elements_ + layout.picture_gap),
        table_row_(elements_ + layout.table_gap),
        picture_(static_cast<std::size_t>(
            format.element() * (layout.picture_offset + (layout.height - 1) * picture_row_ + elements_))),
        table_(static_cast<std::size_t>(
            format.sum() * (layout.table_offset + (layout.height - 1) * table_row_ + elements_))),
        device_picture_(backend_.allocate(picture_.size())),
        device_table_(backend_.allocate(table_.size())) {}

  /// Fills the picture by the seed; seed 0 is white. The gaps between rows of the table must keep their
  /// bytes.
  [[nodiscard]] bool is_right(std::uint64_t seed,
                              const std::function<void(const ImageView&, const MutableImageView&)>& build) {
    Random random(seed);
    for (std::size_t i = 0; i < picture_.size(); i += 8) {
      const std::uint64_t values = seed == 0 ? ~std::uint64_t{0} : random.next();
      std::memcpy(&picture_[i], &values, std::min<std::size_t>(8, picture_.size() - i));
    }
    std::fill(table_.begin(), table_.end(), poison_of_table);
    backend_.upload(device_picture_.get(), picture_.data(), picture_.size(), {});
    backend_.upload(device_table_.get(), table_.data(), table_.size(), {});
    build(picture(), table());
    backend_.download(table_.data(), device_table_.get(), table_.size(), {});
    return table_is_right();
  }

 private:
  [[nodiscard]] ImageView picture() const {
    const Shape shape{layout_.width, layout_.height, format_.channels, format_.type};
    const std::int64_t size = format_.element();
    return {device_picture_.get() + size * layout_.picture_offset,
            shape,
            {size * format_.channels, size * picture_row_, size, 0},
            Memory::device};
  }
  [[nodiscard]] MutableImageView table() const {
    const std::int64_t size = format_.sum();
    const Shape shape{layout_.width, layout_.height, format_.channels, size == 4 ? Type::u32 : Type::u64};
    return {device_table_.get() + size * layout_.table_offset,
            shape,
            {size * format_.channels, size * table_row_, size, 0},
            Memory::device};
  }

  [[nodiscard]] std::uint64_t value_at(std::int64_t element) const {
    std::uint64_t value = 0;  // little-endian
    std::memcpy(&value, picture_.data() + format_.element() * element,
                static_cast<std::size_t>(format_.element()));
    return format_.squared ? value * value : value;
  }

  [[nodiscard]] bool table_is_right() const {
    std::vector<std::byte> expected(table_.size(), poison_of_table);
    std::vector<std::uint64_t> columns(static_cast<std::size_t>(elements_));
    for (std::int64_t y = 0; y < layout_.height; ++y) {
      std::byte* row = expected.data() + format_.sum() * (layout_.table_offset + y * table_row_);
      std::uint64_t sums[4] = {};
      for (std::int64_t x = 0; x < elements_; ++x) {
        std::uint64_t& column = columns[static_cast<std::size_t>(x)];
        column += value_at(layout_.picture_offset + y * picture_row_ + x);
        std::uint64_t& sum = sums[x % format_.channels];
        sum += column;
        std::memcpy(row + format_.sum() * x, &sum, static_cast<std::size_t>(format_.sum()));
      }
    }
    return expected == table_;
  }

  Backend& backend_ = device_under_test().backend();
  Layout layout_;
  TableFormat format_;
  std::int64_t elements_;
  std::int64_t picture_row_;
  std::int64_t table_row_;
  std::vector<std::byte> picture_;
  std::vector<std::byte> table_;
  Buffer device_picture_;
  Buffer device_table_;
};

}  // namespace satin::test
