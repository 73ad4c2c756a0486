#pragma once
// Codes among which ranks are found by counting: one channel of a region of the picture, with at most 1024
// different values.

#include <array>
#include <cstdint>
#include <span>

#include "core/windows.h"
#include "core/workspace.h"
#include "order/rank.h"

namespace satin::cpu {

/// Codes have the order of their keys. Bytes are their own codes; larger keys are sorted and cut into groups,
/// whose numbers are the codes. A histogram has as many bins as a bin has codes. The code after the last one
/// marks pixels that do not count.
inline constexpr int byte_bins = 16;
inline constexpr int group_bins = 32;
inline constexpr std::uint16_t no_byte = byte_bins * byte_bins;
inline constexpr std::uint16_t group_codes = group_bins * group_bins;

/// Number of elements that are compared with a window at once.
inline constexpr std::size_t window_bits = 64;

/// The value of a window's rank: the `rest`-th pixel of the window with this code, counted from 1 in the
/// order of keys. If `spans_codes`, pixels with larger codes count, too.
struct FoundRank {
  static constexpr std::uint16_t none = UINT16_MAX;  ///< the code if no pixel counts
  std::uint16_t code = none;
  bool spans_codes = false;
  std::uint32_t rest = 0;
};

/// A chunk of the picture with all pixels that its windows see.
struct CodedRegion {
  Rectangle inner;  ///< the chunk
  std::int64_t reach_x = 0;
  std::int64_t reach_y = 0;
  std::int64_t width = 0;
  std::int64_t height = 0;
  WorkspaceVector<std::int32_t> columns;  ///< columns of the picture that the region shows; -1: none
  WorkspaceVector<std::int32_t> rows;     ///< rows of the picture that the region shows; -1: none
  WorkspaceVector<std::uint16_t> codes;

  [[nodiscard]] std::int64_t inner_width() const noexcept { return inner.x.size(); }
  [[nodiscard]] std::int64_t inner_height() const noexcept { return inner.y.size(); }
  [[nodiscard]] const std::uint16_t* row(std::int64_t y) const { return codes.data() + y * width; }

  /// Makes it the region around a chunk, without codes yet.
  void move_to(const RankJob& job, const Rectangle& chunk);
};

/// A pixel as a number to sort: the key in the upper 32 bits, the coordinates in the region in the lower
/// ones.
using Element = std::uint64_t;

/// Codes of keys with more than 8 bits: the pixels of a region are sorted, and cut into groups of about the
/// same size, the share. A run of equal keys is not cut; a run of two shares or more is a group of its own.
/// So a group has fewer than three shares of pixels, or equal keys.
class KeyGroups {
 public:
  KeyGroups(std::size_t most_pixels, std::int64_t most_line);

  [[nodiscard]] std::size_t bytes() const noexcept;
  void clear() { count_ = 0; }
  static Element element(std::uint32_t key, std::uint32_t x, std::uint32_t y) {
    return Element{key} << 32 | y << 16 | x;
  }
  /// Where the caller writes elements; it then passes their end to set_end().
  [[nodiscard]] Element* end() { return elements_.data() + count_; }
  void set_end(const Element* end) { count_ = static_cast<std::size_t>(end - elements_.data()); }
  /// Sorts the elements by the lower `key_bits` bits of their keys, and writes their codes to the region.
  void build(CodedRegion& region, int key_bits);

  struct Group {
    std::uint32_t first = 0;  ///< its first element
    bool one_key = false;     ///< whether all its keys are equal
  };
  [[nodiscard]] const Group& group(int code) const { return groups_[static_cast<std::size_t>(code)]; }
  [[nodiscard]] std::size_t elements(int low, int high) const {
    const auto begin = [this](int code) { return groups_[static_cast<std::size_t>(code)].first; };
    return begin(high) - begin(low);
  }
  [[nodiscard]] std::uint32_t key(std::size_t index) const {
    return static_cast<std::uint32_t>(elements_[index] >> 32);
  }

  /// Coordinates of the sorted elements in the region, followed by window_bits arbitrary ones.
  template <class Coordinate>
  struct Coordinates {
    WorkspaceVector<Coordinate> columns;
    WorkspaceVector<Coordinate> rows;
  };
  /// Coordinates with 8 bits; empty if the region is too wide or high for them.
  [[nodiscard]] const Coordinates<std::uint8_t>& narrow() const { return narrow_; }
  [[nodiscard]] const Coordinates<std::uint16_t>& wide() const { return wide_; }
  [[nodiscard]] bool is_narrow() const { return !narrow_.rows.empty(); }

 private:
  template <int digit_bits, std::size_t passes>
  void sort_by_digits();
  [[nodiscard]] std::size_t end_of_group(std::size_t first, std::size_t share) const;
  void cut();
  void sort(int key_bits);
  template <class Coordinate>
  void write(CodedRegion& region, Coordinates<Coordinate>& coordinates);

  WorkspaceVector<Element> elements_;
  WorkspaceVector<Element> sorted_;
  std::size_t count_ = 0;
  Coordinates<std::uint8_t> narrow_;
  Coordinates<std::uint16_t> wide_;
  std::array<Group, group_codes + 1> groups_;  ///< unused ones begin at the end of the elements
};

/// Ranks where every pixel has its own radius, by bisection of the codes: a summed-area table counts the
/// pixels in the lower half of a range of codes (Porikli, Integral histogram, 2005, one bin at a time), for
/// all pixels whose rank is in the range. It stops when scanning the elements of a range costs less than
/// another table.
class MappedRanks {
 public:
  MappedRanks(std::size_t most_pixels, std::size_t most_results);

  [[nodiscard]] std::size_t bytes() const noexcept;
  /// `reaches` and `found` have an entry for each pixel of the chunk, row by row.
  void run(const CodedRegion& region, const KeyGroups& groups, Percent percent,
           std::span<const std::int32_t> reaches, std::span<FoundRank> found);

 private:
  struct Query {
    std::uint32_t pixel = 0;
    std::uint32_t rank = 0;
  };

  struct Search {
    const CodedRegion& region;
    const KeyGroups& groups;
    std::span<const std::int32_t> reaches;
    std::span<FoundRank> found;
  };

  void split(const Search& search, std::span<Query> queries, int low, int size);
  void build_table(const CodedRegion& region, int low, int high);
  [[nodiscard]] std::uint32_t count(const CodedRegion& region, std::uint32_t pixel, std::int32_t reach) const;

  WorkspaceVector<std::uint32_t> table_;
  WorkspaceVector<Query> queries_;
  WorkspaceVector<Query> upper_;
};

}  // namespace satin::cpu
