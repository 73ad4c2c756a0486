// Ranks of a chunk in windows of any size, compiled for every SIMD target.
//
// The pixels of a chunk become codes (rank_codes.h). With one radius, histograms of the columns slide down
// and along the rows (Perreault and Hebert, Median filtering in constant time, 2007), and count the codes;
// with a radius map, MappedRanks finds the code. Where a code stands for several keys, the elements of its
// group are scanned for those in the window.

#if defined(SATIN_CHUNK_RANKS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_CHUNK_RANKS_INL_H
#undef SATIN_CHUNK_RANKS_INL_H
#else
#define SATIN_CHUNK_RANKS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <memory>

#include "core/with_type.h"
#include "core/workspace.h"
#include "order/cpu/rank_codes.h"
#include "order/rank.h"
#include "pixels/cpu/avx512-inl.h"
#include "pixels/cpu/rows.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Finding the elements of a group that lie in a window.

/// The indices of the set bits of every byte, from the lowest on.
inline constexpr auto bits_of_bytes = [] {
  std::array<std::array<std::uint8_t, 8>, 256> indices{};
  for (unsigned byte = 0; byte < 256; ++byte)
    for (unsigned bit = 0, rank = 0; bit < 8; ++bit)
      if ((byte >> bit & 1U) != 0) indices[byte][rank++] = static_cast<std::uint8_t>(bit);
  return indices;
}();

/// Returns the index of the rank-th set bit, counted from 1; at least `rank` bits must be set. All sums of
/// bytes are compared at once, without branches (Vigna, Broadword implementation of rank/select queries,
/// 2008).
HWY_INLINE std::size_t SelectBit(std::uint64_t bits, std::uint64_t rank) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t tops = ones << 7;
  std::uint64_t sums = bits - (bits >> 1 & 0x5555555555555555);
  sums = (sums & 0x3333333333333333) + (sums >> 2 & 0x3333333333333333);
  sums = ((sums + (sums >> 4)) & 0x0F0F0F0F0F0F0F0F) * ones;  // up to and including each byte, at most 64
  const std::uint64_t below =
      ((rank * ones | tops) - sums - ones) & tops;  // bytes whose sum is less than rank
  const std::size_t byte = 8 * hwy::PopCount(below);
  const std::uint64_t before = sums << 8 >> byte & 0xFF;
  return byte + bits_of_bytes[bits >> byte & 0xFF][rank - before - 1];
}

template <class D, class Mask>
HWY_INLINE std::uint64_t BitsOf(D d, const Mask& mask) {
  std::uint64_t bits = 0;
  hn::StoreMaskBits(d, mask, reinterpret_cast<std::uint8_t*>(&bits));
  return bits;
}

struct WindowInRegion {
  std::int64_t x = 0;  ///< first column
  std::int64_t y = 0;  ///< first row
  std::int64_t reach_x = 0;
  std::int64_t reach_y = 0;
};

/// Returns which of the window_bits elements from `first` on lie in the window.
template <class Coordinate>
HWY_INLINE std::uint64_t ElementsInWindow(const KeyGroups::Coordinates<Coordinate>& coordinates,
                                          std::size_t first, const WindowInRegion& window) {
  const hn::CappedTag<Coordinate, window_bits> d;
  const auto set = [&](std::int64_t value) HWY_ATTR { return hn::Set(d, static_cast<Coordinate>(value)); };
  const auto x = set(window.x);
  const auto y = set(window.y);
  const auto most_x = set(2 * window.reach_x);
  const auto most_y = set(2 * window.reach_y);
  std::uint64_t inside = 0;
  for (std::size_t lane = 0; lane < window_bits; lane += hn::Lanes(d)) {
    const auto column = hn::Sub(hn::LoadU(d, coordinates.columns.data() + first + lane), x);
    const auto row = hn::Sub(hn::LoadU(d, coordinates.rows.data() + first + lane), y);
    const auto within =
        has_avx512 ? hn::Not(hn::Or(hn::Gt(column, most_x), hn::Gt(row, most_y)))
                   : hn::And(hn::Eq(hn::Min(column, most_x), column), hn::Eq(hn::Min(row, most_y), row));
    inside |= BitsOf(d, within) << lane;
  }
  return inside;
}

/// Returns the `rest`-th of the elements from `first` on that lie in the window.
template <class Coordinate>
HWY_INLINE std::size_t ElementInWindow(const KeyGroups::Coordinates<Coordinate>& coordinates,
                                       std::size_t first, std::size_t rest, const WindowInRegion& window) {
  for (std::size_t i = first;; i += window_bits) {
    const std::uint64_t inside = ElementsInWindow(coordinates, i, window);
    const std::size_t met = hwy::PopCount(inside);
    if (met >= rest) return i + SelectBit(inside, rest);
    rest -= met;
  }
}

// Histograms of windows of one size.

/// Cumulative counts of one window: entry i counts the values up to i; a 0 precedes entry 0.
template <class Count, int bins>
class CumulativeCounts {
  static constexpr auto lanes = static_cast<std::size_t>(bins);

 public:
  [[nodiscard]] Count below(int bin) const { return counts_[static_cast<std::size_t>(bins_at + bin - 1)]; }
  [[nodiscard]] Count all() const { return counts_[bins_at + bins - 1]; }

  /// Adds the columns [first, first + added) and subtracts as many from `gone` on. If `gone` is null, the
  /// counts become those of the added columns.
  template <class Column>
  HWY_INLINE void slide(const Column* first, const Column* gone, int added) {
    const D d;
    for (int i = 0; i < bins; i += width()) {
      Count* const counts = counts_.data() + bins_at + i;
      auto low = gone == nullptr ? hn::Zero(d) : hn::Load(d, counts);
      auto high = gone == nullptr || !pairs ? hn::Zero(d) : hn::Load(d, counts + half());
      for (int k = 0; k < added; ++k) {
        const Column* const add = first + k * bins + i;
        low = hn::Add(low, Promoted(add));
        if constexpr (pairs) high = hn::Add(high, Promoted(add + half()));
        if (gone == nullptr) continue;
        const Column* const subtract = gone + k * bins + i;
        low = hn::Sub(low, Promoted(subtract));
        if constexpr (pairs) high = hn::Sub(high, Promoted(subtract + half()));
      }
      hn::Store(low, d, counts);
      if constexpr (pairs) hn::Store(high, d, counts + half());
    }
  }

  /// Slides by one column `steps` times, and calls take(step) after each.
  template <class Column, class Take>
  HWY_INLINE void slide_along(const Column* first, const Column* gone, std::int64_t steps, const Take& take) {
    const D d;
    Count* const counts = counts_.data() + bins_at;
    auto low = hn::Load(d, counts);
    auto high = pairs ? hn::Load(d, counts + half()) : hn::Zero(d);
    for (std::int64_t x = 0; x < steps; ++x, first += bins, gone += bins) {
      if constexpr (in_registers) {
        low = hn::Sub(hn::Add(low, Promoted(first)), Promoted(gone));
        hn::Store(low, d, counts);
        if constexpr (pairs) {
          high = hn::Sub(hn::Add(high, Promoted(first + half())), Promoted(gone + half()));
          hn::Store(high, d, counts + half());
        }
      } else {
        slide(first, gone, 1);
      }
      take(x);
    }
  }

  [[nodiscard]] HWY_INLINE int bin_of(Count rank) const {
    const hn::CappedTag<Count, lanes> d;
    std::size_t below = 0;
    for (int i = 0; i < bins; i += static_cast<int>(hn::Lanes(d)))
      below += hn::CountTrue(d, hn::Lt(hn::Load(d, counts_.data() + bins_at + i), hn::Set(d, rank)));
    return static_cast<int>(below);
  }

 private:
  using D = hn::CappedTag<Count, lanes>;
  static constexpr bool pairs = hn::MaxLanes(D()) < lanes;  ///< whether vectors are processed in pairs
  static constexpr bool in_registers = hn::MaxLanes(D()) * 2 >= lanes;
  static HWY_INLINE int half() { return static_cast<int>(hn::Lanes(D())); }
  static HWY_INLINE int width() { return pairs ? 2 * half() : half(); }
  template <class Column>
  static HWY_INLINE hn::Vec<D> Promoted(const Column* column) {
    return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<Column, D>(), column));
  }

  static constexpr int bins_at = 32;  ///< index of bin 0; keeps vectors aligned
  alignas(64) std::array<Count, bins_at + lanes> counts_{};
};

/// Every column of the region has a histogram of its pixels in the current row of windows: a coarse one of
/// the bins, and a fine one of the codes of every bin. A window slides along the columns. Only its coarse
/// counts follow every step; the counts of a bin's codes are updated where the rank falls into the bin.
/// Counts are cumulative, so that a rank is found by comparing, and a pixel is counted by adding a row of 0
/// and 1.
///
/// Type Column holds the height of a window, type Count its area.
template <class Column, class Count, int bins>
class SlidingHistogram {
  static constexpr auto lanes = static_cast<std::size_t>(bins);

 public:
  explicit SlidingHistogram(std::int64_t most_columns)
      : coarse_(static_cast<std::size_t>(most_columns + 1) * bins),
        fine_(static_cast<std::size_t>(most_columns + 1) * bins * (bins + 1)),
        ranks_(static_cast<std::size_t>(most_columns)) {
    for (int i = 0; i < bins; ++i)
      for (int k = i; k < bins; ++k)
        steps_[static_cast<std::size_t>(i) * bins + static_cast<std::size_t>(k)] = 1;
  }

  [[nodiscard]] std::size_t bytes() const noexcept {
    return (coarse_.size() + fine_.size()) * sizeof(Column) + ranks_.size() * sizeof(RankInBin);
  }

  template <class RowDone>
  void run(const CodedRegion& region, Percent percent, std::span<FoundRank> found, const RowDone& row_done) {
    columns_ = region.width;
    std::fill(coarse_.begin(), coarse_.end(), Column{0});
    std::fill(fine_.begin(), fine_.end(), Column{0});
    const std::int64_t window = region.height - region.inner_height() + 1;
    for (std::int64_t y = 0; y < window; ++y) add_row(region.row(y));
    for (std::int64_t y = 0; y < region.inner_height(); ++y) {
      if (y > 0) slide_row(region.row(y - 1), region.row(y + window - 1));
      find_bins(region, percent);
      find_codes(region, found);
      row_done(y, found);
    }
  }

 private:
  /// Column -1 is empty.
  [[nodiscard]] Column* coarse(std::int64_t column) { return coarse_.data() + (column + 1) * bins; }
  [[nodiscard]] Column* fine(int bin, std::int64_t column) {
    return fine_.data() + (bin * (columns_ + 1) + column + 1) * bins;
  }
  [[nodiscard]] const Column* step(int from) const { return steps_.data() + from * bins; }

  static HWY_INLINE void replace(const Column* gone, const Column* step, Column* counts) {
    const hn::CappedTag<Column, lanes> d;
    for (int i = 0; i < bins; i += static_cast<int>(hn::Lanes(d))) {
      const auto change = hn::Sub(hn::LoadU(d, step + i), hn::LoadU(d, gone + i));
      hn::StoreU(hn::Add(hn::LoadU(d, counts + i), change), d, counts + i);
    }
  }
  static HWY_INLINE void add(const Column* step, Column* counts) {
    const hn::CappedTag<Column, lanes> d;
    for (int i = 0; i < bins; i += static_cast<int>(hn::Lanes(d)))
      hn::StoreU(hn::Add(hn::LoadU(d, counts + i), hn::LoadU(d, step + i)), d, counts + i);
  }
  static HWY_INLINE void subtract(const Column* step, Column* counts) {
    const hn::CappedTag<Column, lanes> d;
    for (int i = 0; i < bins; i += static_cast<int>(hn::Lanes(d)))
      hn::StoreU(hn::Sub(hn::LoadU(d, counts + i), hn::LoadU(d, step + i)), d, counts + i);
  }

  void add_row(const std::uint16_t* codes) {
    for (std::int64_t x = 0; x < columns_; ++x) {
      add(step(codes[x] / bins), coarse(x));
      add(step(codes[x] % bins), fine(codes[x] / bins, x));
    }
  }

  void slide_row(const std::uint16_t* gone, const std::uint16_t* codes) {
    for (std::int64_t x = 0; x < columns_; ++x) {
      if (gone[x] == codes[x]) continue;
      replace(step(gone[x] / bins), step(codes[x] / bins), coarse(x));
      subtract(step(gone[x] % bins), fine(gone[x] / bins, x));
      add(step(codes[x] % bins), fine(codes[x] / bins, x));
    }
  }

  /// Finds, for every window of a row, the bin of the rank, and the rank among the codes of the bin.
  void find_bins(const CodedRegion& region, Percent percent) {
    const auto window = static_cast<int>(region.width - region.inner_width() + 1);
    CumulativeCounts<Count, bins> all;
    all.slide(coarse(0), static_cast<const Column*>(nullptr), window - 1);
    std::uint32_t count = 0;
    std::uint32_t rank = 1;
    all.slide_along(coarse(window - 1), coarse(-1), region.inner_width(), [&](std::int64_t x) HWY_ATTR {
      if (all.all() != count) {
        count = all.all();
        rank = rank_of(percent, count);
      }
      const int bin = all.bin_of(static_cast<Count>(rank));
      ranks_[static_cast<std::size_t>(x)] = {static_cast<std::uint32_t>(bin), rank - all.below(bin)};
    });
  }

  void find_codes(const CodedRegion& region, std::span<FoundRank> found) {
    const auto window = static_cast<int>(region.width - region.inner_width() + 1);
    std::array<CumulativeCounts<Count, bins>, lanes> codes;
    std::array<std::int64_t, lanes> known;  // the window whose counts codes[bin] holds
    known.fill(-2 * window);
    for (std::int64_t x = 0; x < region.inner_width(); ++x) {
      const auto [bin, rest] = ranks_[static_cast<std::size_t>(x)];
      FoundRank& result = found[static_cast<std::size_t>(x)];
      if (bin == bins) {  // nothing counts
        result = {};
        continue;
      }
      follow(codes[bin], known[bin], x, window, static_cast<int>(bin));
      known[bin] = x;
      const int code = codes[bin].bin_of(static_cast<Count>(rest));
      result = {static_cast<std::uint16_t>(static_cast<int>(bin) * bins + code), false,
                rest - codes[bin].below(code)};
    }
  }

  /// Moves the counts from window `known` to window x: by the columns between them, or anew if that is less.
  HWY_INLINE void follow(CumulativeCounts<Count, bins>& codes, std::int64_t known, std::int64_t x, int window,
                         int bin) {
    const std::int64_t steps = x - known;
    if (2 * steps > window) {
      codes.slide(fine(bin, x), static_cast<const Column*>(nullptr), window);
    } else {
      codes.slide(fine(bin, known + window), fine(bin, known), static_cast<int>(steps));
    }
  }

  /// The bin of a rank, and the rank among the bin's values, counted from 1.
  struct RankInBin {
    std::uint32_t bin = 0;
    std::uint32_t rest = 0;
  };

  std::int64_t columns_ = 0;
  WorkspaceVector<Column> coarse_;
  WorkspaceVector<Column> fine_;
  WorkspaceVector<RankInBin> ranks_;                 ///< one for each window of a row
  std::array<Column, (lanes + 1) * lanes> steps_{};  ///< cumulative counts of one code; of no_byte all are 0
};

/// The ranks of one chunk after the other, by one thread.
template <class Key>
class ChunkRanks {
 public:
  /// Whether keys are grouped: they have more than 8 bits, or elements have to be scanned.
  static bool groups(const RankJob& job) { return sizeof(Key) > 1 || job.reach.from_map; }

  ChunkRanks(const RankJob& job, const LargestReach& reach, std::int64_t side) : job_(job) {
    region_.reach_x = reach.x;
    region_.reach_y = reach.y;
    const std::int64_t most_width = std::min(side, job.width) + 2 * reach.x;
    const std::int64_t most_height = std::min(side, job.height) + 2 * reach.y;
    const auto pixels = static_cast<std::size_t>(most_width * most_height);
    const auto results = static_cast<std::size_t>(std::min(side, job.width) * std::min(side, job.height));
    region_.columns.reserve(static_cast<std::size_t>(most_width));
    region_.rows.reserve(static_cast<std::size_t>(most_height));
    region_.codes.reserve(pixels + window_bits);
    if (groups(job)) groups_ = std::make_unique<KeyGroups>(pixels, std::max(most_width, most_height));
    if (job.reach.from_map) {
      mapped_ = std::make_unique<MappedRanks>((most_width + 1) * (most_height + 1), results);
      reaches_.resize(results);
      found_.resize(results);
      return;
    }
    found_.resize(static_cast<std::size_t>(std::min(side, job.width)));
    const std::int64_t rows = 2 * reach.y + 1;
    if (rows <= 0xFF && rows * (2 * reach.x + 1) <= 0xFFFF)
      small_ = std::make_unique<SmallWindows>(most_width);
    else
      large_ = std::make_unique<LargeWindows>(most_width);
  }

  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t bytes = region_.codes.capacity() * sizeof(std::uint16_t) + found_.size() * sizeof(FoundRank) +
                        reaches_.size() * sizeof(std::int32_t);
    if (groups_ != nullptr) bytes += groups_->bytes();
    if (mapped_ != nullptr) bytes += mapped_->bytes();
    if (small_ != nullptr) bytes += small_->bytes();
    if (large_ != nullptr) bytes += large_->bytes();
    return bytes;
  }

  void run(const RankImages& images, const Rectangle& inner) {
    region_.move_to(job_, inner);
    if (mapped_ != nullptr) read_reaches(images.radius_map);
    for (int channel = 0; channel < job_.channels; ++channel) {
      read_channel(images, channel);
      const auto row_done = [&](std::int64_t y, std::span<const FoundRank> found) {
        store_row(images, channel, y, found);
      };
      if (mapped_ != nullptr) {
        run_mapped(row_done);
      } else if (small_ != nullptr) {
        small_->run(region_, job_.percent, found_, row_done);
      } else {
        large_->run(region_, job_.percent, found_, row_done);
      }
    }
  }

 private:
  static constexpr int bins = sizeof(Key) > 1 ? group_bins : byte_bins;
  using SmallWindows = SlidingHistogram<std::uint8_t, std::uint16_t, bins>;
  using LargeWindows = SlidingHistogram<std::uint16_t, std::uint32_t, bins>;

  /// Returns the key as an unsigned number of the same order.
  static std::uint32_t ordered(Key key) {
    if constexpr (std::is_same_v<Key, FloatKey>) return static_cast<std::uint32_t>(key) ^ 0x80000000U;
    return static_cast<std::uint32_t>(key);
  }
  static Key key_from(std::uint32_t ordered) {
    if constexpr (std::is_same_v<Key, FloatKey>) return static_cast<Key>(ordered ^ 0x80000000U);
    return static_cast<Key>(ordered);
  }

  void read_channel(const RankImages& images, int channel) {
    const auto wide = static_cast<std::size_t>(region_.width);
    const std::uint16_t nothing = groups_ != nullptr ? group_codes : no_byte;
    if (groups_ != nullptr) groups_->clear();
    for (std::int64_t y = 0; y < region_.height; ++y) {
      std::uint16_t* codes = region_.codes.data() + static_cast<std::size_t>(y) * wide;
      if (!all_count()) std::fill_n(codes, wide, nothing);
      if (groups_ != nullptr) {
        Element* next = groups_->end();
        read_row(images, channel, y, [&](std::int64_t x, Key key) {
          *next++ =
              KeyGroups::element(ordered(key), static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
        });
        groups_->set_end(next);
      } else {
        read_row(images, channel, y,
                 [&](std::int64_t x, Key key) { codes[x] = static_cast<std::uint16_t>(key); });
      }
    }
    constexpr int key_bits = 8 * static_cast<int>(sizeof(Key));
    if (groups_ != nullptr) groups_->build(region_, key_bits);
  }

  /// Whether every position of a region has a pixel that counts.
  [[nodiscard]] bool all_count() const {
    return job_.border != Border::shrink && job_.border != Border::constant && !job_.excludes &&
           !job_.weighted;
  }

  template <class Take>
  void read_row(const RankImages& images, int channel, std::int64_t y, const Take& take) const {
    const std::int32_t row = region_.rows[static_cast<std::size_t>(y)];
    // The columns of the region inside the picture are consecutive.
    const std::int64_t before = region_.reach_x - region_.inner.x.first;
    const bool plain = row >= 0 && !job_.weighted && !job_.excludes;
    const std::int64_t first = plain ? std::max<std::int64_t>(before, 0) : region_.width;
    const std::int64_t last = plain ? std::min(before + job_.width, region_.width) : region_.width;
    read_pixels(images, channel, row, {0, first}, take);
    if (plain) {
      const Key* source = images.source.row<Key>(row) + channel;
      for (std::int64_t x = first; x < last; ++x) take(x, turn_key(source[(x - before) * job_.channels]));
    }
    read_pixels(images, channel, row, {last, region_.width}, take);
  }

  /// Reads columns of the region that may come from anywhere in the picture.
  template <class Take>
  void read_pixels(const RankImages& images, int channel, std::int32_t row, Stretch columns,
                   const Take& take) const {
    const int last = job_.channels - 1;
    const bool is_alpha = channel == last;
    const bool outside_counts =
        job_.border == Border::constant &&
        (!job_.weighted || is_alpha || job_.border_keys[static_cast<std::size_t>(last)] > 0);
    for (std::int64_t x = columns.first; x < columns.last; ++x) {
      const std::int32_t column = region_.columns[static_cast<std::size_t>(x)];
      if (row < 0 || column < 0) {
        if (outside_counts) take(x, static_cast<Key>(job_.border_keys[static_cast<std::size_t>(channel)]));
        continue;
      }
      const Key* pixel = images.source.row<Key>(row) + std::int64_t{column} * job_.channels;
      const Key alpha = job_.weighted ? turn_key(pixel[last]) : Key{1};
      const std::uint32_t mask = job_.excludes ? mask_at(images.mask, column, row) : 1;
      if (counts(alpha, mask, is_alpha)) take(x, turn_key(pixel[channel]));
    }
  }

  void read_reaches(const ImageView& map) {
    with_pixel_type(map.shape.type, [&]<class T>() {
      std::int32_t* reach = reaches_.data();
      for (std::int64_t y = region_.inner.y.first; y < region_.inner.y.last; ++y)
        for (std::int64_t x = region_.inner.x.first; x < region_.inner.x.last; ++x) {
          const T value = map.row<T>(y)[x];
          if constexpr (std::is_same_v<T, float>)
            *reach++ = reach_from_map(value, job_.reach.low, job_.reach.high);
          else
            *reach++ = reach_from_map(value, static_cast<T>(-1), job_.reach.low, job_.reach.high);
        }
    });
  }

  template <class RowDone>
  void run_mapped(const RowDone& row_done) {
    const auto width = static_cast<std::size_t>(region_.inner_width());
    const std::size_t pixels = width * static_cast<std::size_t>(region_.inner_height());
    mapped_->run(region_, *groups_, job_.percent, std::span(reaches_).first(pixels),
                 std::span(found_).first(pixels));
    for (std::int64_t y = 0; y < region_.inner_height(); ++y)
      row_done(y, std::span(found_).subspan(static_cast<std::size_t>(y) * width, width));
  }

  void store_row(const RankImages& images, int channel, std::int64_t y,
                 std::span<const FoundRank> found) const {
    const std::int64_t first = region_.inner.x.first * job_.channels + channel;
    const std::int64_t row = region_.inner.y.first + y;
    const Key* source = images.source.row<Key>(row) + first;
    Key* output = images.output.row<Key>(row) + first;
    const auto store = [&](const auto& key_of_rank) HWY_ATTR {
      for (std::int64_t x = 0; x < region_.inner_width(); ++x) {
        const FoundRank& rank = found[static_cast<std::size_t>(x)];
        output[x * job_.channels] =
            rank.code == FoundRank::none ? turn_key(source[x * job_.channels]) : key_of_rank(rank, x);
      }
    };
    if (groups_ == nullptr) {
      store([](const FoundRank& rank, std::int64_t /*x*/) { return static_cast<Key>(rank.code); });
    } else if (groups_->is_narrow()) {
      store_from(groups_->narrow(), y, store);
    } else {
      store_from(groups_->wide(), y, store);
    }
  }

  template <class Coordinate, class Store>
  void store_from(const KeyGroups::Coordinates<Coordinate>& coordinates, std::int64_t y,
                  const Store& store) const {
    store([&](const FoundRank& rank, std::int64_t x) HWY_ATTR {
      const KeyGroups::Group& group = groups_->group(rank.code);
      const bool is_first = !rank.spans_codes && group.one_key;
      return key_at(is_first ? group.first
                             : ElementInWindow(coordinates, group.first, rank.rest, window_at(x, y)));
    });
  }

  [[nodiscard]] Key key_at(std::size_t element) const { return key_from(groups_->key(element)); }

  [[nodiscard]] WindowInRegion window_at(std::int64_t x, std::int64_t y) const {
    if (mapped_ == nullptr) return {x, y, region_.reach_x, region_.reach_y};
    const std::int64_t reach = reaches_[static_cast<std::size_t>(y * region_.inner_width() + x)];
    const std::int64_t reach_x = std::min(region_.reach_x, reach);
    const std::int64_t reach_y = std::min(region_.reach_y, reach);
    return {x + region_.reach_x - reach_x, y + region_.reach_y - reach_y, reach_x, reach_y};
  }

  RankJob job_;
  CodedRegion region_;
  std::unique_ptr<KeyGroups> groups_;
  std::unique_ptr<MappedRanks> mapped_;
  std::unique_ptr<SmallWindows> small_;
  std::unique_ptr<LargeWindows> large_;
  WorkspaceVector<std::int32_t> reaches_;  ///< radii from the map, one per pixel of the chunk
  WorkspaceVector<FoundRank> found_;       ///< ranks of a row; with a map, of the whole chunk
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
