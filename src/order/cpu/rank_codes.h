#pragma once
// What ranks are found among: a region of the picture, channel by channel, as codes.

#include <array>
#include <cstdint>
#include <span>

#include "core/maths/rectangle.h"
#include "core/workspace.h"
#include "order/rank.h"

namespace satin::cpu {

/// Codes have the order of the keys that they stand for. Bytes are their own codes; larger keys are sorted
/// and cut into groups, whose numbers are the codes. A histogram has as many bins as a bin has codes. The
/// code after the last one marks pixels that do not count.
inline constexpr int byte_bins = 16;
inline constexpr int group_bins = 32;
inline constexpr std::uint16_t no_byte = byte_bins * byte_bins;
inline constexpr std::uint16_t group_codes = group_bins * group_bins;

/// Number of elements that are compared with a window at once.
inline constexpr std::size_t window_bits = 64;
/// The code of a window's rank, and which of its pixels that have this code it is, counted from 1 in the
/// order of their keys. With `spans` it is counted from there on, whatever the codes.
struct FoundRank {
  static constexpr std::uint16_t none = UINT16_MAX;  ///< the code if no pixel counts
  std::uint16_t code = none;
  bool spans = false;
  std::uint32_t rest = 0;
};

/// A part of the picture with all that its windows see.
struct CodedRegion {
  Rectangle inner;
  std::int64_t reach_x = 0;
  std::int64_t reach_y = 0;
  std::int64_t width = 0;
  std::int64_t height = 0;
  WorkspaceVector<std::int32_t> columns;  ///< of the picture, that the region shows; -1: none
  WorkspaceVector<std::int32_t> rows;
  WorkspaceVector<std::uint16_t> codes;

  [[nodiscard]] std::int64_t inner_width() const noexcept { return inner.x.size(); }
  [[nodiscard]] std::int64_t inner_height() const noexcept { return inner.y.size(); }
  [[nodiscard]] const std::uint16_t* row(std::int64_t y) const { return codes.data() + y * width; }

  /// Makes it the region around `part`; codes are still to come.
  void place(const RankJob& job, const Rectangle& part);
};

/// A pixel in the order of keys: the key above, the place in the region below.
using Element = std::uint64_t;

/// Codes of keys with more than 8 bits: the pixels of a region, sorted, and cut into groups of as many. A run
/// of equal keys is not cut; one of twice the share or more is a group for itself. So the pixels of a group
/// are less than three shares, or are equal.
class KeyGroups {
 public:
  /// Regions of up to so many pixels, and lines of up to so many.
  KeyGroups(std::size_t most_pixels, std::int64_t most_line);

  [[nodiscard]] std::size_t bytes() const noexcept;
  void clear() { count_ = 0; }
  /// `key`: any that has the order of the values.
  static Element element(std::uint32_t key, std::uint32_t x, std::uint32_t y) {
    return Element{key} << 32 | y << 16 | x;
  }
  /// The next element is written here; set_end() then says where the written ones end.
  [[nodiscard]] Element* end() { return elements_.data() + count_; }
  void set_end(const Element* end) { count_ = static_cast<std::size_t>(end - elements_.data()); }
  /// Sorts the elements by so many bits of their keys, and writes their codes into the region.
  void build(CodedRegion& region, int key_bits);

  struct Group {
    std::uint32_t first = 0;  ///< of its elements
    bool one_key = false;
  };
  [[nodiscard]] const Group& group(int code) const { return groups_[static_cast<std::size_t>(code)]; }
  /// Elements whose codes are from `low` to before `high`.
  [[nodiscard]] std::size_t elements(int low, int high) const {
    const auto begin = [this](int code) { return groups_[static_cast<std::size_t>(code)].first; };
    return begin(high) - begin(low);
  }
  [[nodiscard]] std::uint32_t key(std::size_t index) const {
    return static_cast<std::uint32_t>(elements_[index] >> 32);
  }

  /// The sorted elements' places in the region; `window_bits` of anything follow the last.
  template <class Coordinate>
  struct Places {
    WorkspaceVector<Coordinate> columns;
    WorkspaceVector<Coordinate> rows;
  };
  /// Places of 8 bits; empty where lines are too long for them.
  [[nodiscard]] const Places<std::uint8_t>& narrow() const { return narrow_; }
  [[nodiscard]] const Places<std::uint16_t>& wide() const { return wide_; }
  [[nodiscard]] bool is_narrow() const { return !narrow_.rows.empty(); }

 private:
  template <int digit_bits, std::size_t passes>
  void sort_by_digits();
  /// The end of the group that begins with element `first`.
  [[nodiscard]] std::size_t end_of_group(std::size_t first, std::size_t share) const;
  void cut();
  void sort(int key_bits);
  template <class Coordinate>
  void write(CodedRegion& region, Places<Coordinate>& places);

  WorkspaceVector<Element> elements_;
  WorkspaceVector<Element> sorted_;
  std::size_t count_ = 0;
  Places<std::uint8_t> narrow_;
  Places<std::uint16_t> wide_;
  std::array<Group, group_codes + 1> groups_;  ///< those behind the last one begin at the end
};

/// Ranks where every pixel has its own radius: by bisection of the codes, with a table of counts for every
/// half (Porikli, Integral histogram, 2005, one bin at a time), until looking through the elements of the
/// codes that are left costs less than another table.
class MappedRanks {
 public:
  MappedRanks(std::size_t most_pixels, std::size_t most_results);

  [[nodiscard]] std::size_t bytes() const noexcept;
  /// reaches[i] and found[i]: those of pixel i of the region's inner part, row by row.
  void run(const CodedRegion& region, const KeyGroups& groups, Percent percent,
           std::span<const std::int32_t> reaches, std::span<FoundRank> found);

 private:
  struct Query {
    std::uint32_t pixel = 0;
    std::uint32_t rank = 0;
  };

  /// What one run is about.
  struct Search {
    const CodedRegion& region;
    const KeyGroups& groups;
    std::span<const std::int32_t> reaches;
    std::span<FoundRank> found;
  };

  void split(const Search& search, std::span<Query> queries, int low, int size);
  /// Sums of the pixels whose codes are from `low` to before `high`.
  void build_table(const CodedRegion& region, int low, int high);
  [[nodiscard]] std::uint32_t count(const CodedRegion& region, std::uint32_t pixel, std::int32_t reach) const;

  WorkspaceVector<std::uint32_t> table_;
  WorkspaceVector<Query> queries_;
  WorkspaceVector<Query> upper_;
};

}  // namespace satin::cpu
