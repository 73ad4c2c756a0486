// Ranks in windows of any size by histograms of codes, compiled for every SIMD target.

#if defined(SATIN_RANK_PART_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_RANK_PART_INL_H
#undef SATIN_RANK_PART_INL_H
#else
#define SATIN_RANK_PART_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <memory>

#include "core/with_type.h"
#include "order/cpu/rank_codes.h"
#include "order/cpu/sliding_histogram-inl.h"
#include "order/cpu/window_elements-inl.h"
#include "order/rank.h"
#include "pixels/cpu/rows.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// The histograms and codes that one thread needs for a part of the picture.
template <class Key>
class RankPart {
 public:
  /// Whether keys are grouped: they have more bits than codes, or elements are looked through.
  static bool groups(const RankJob& job) { return sizeof(Key) > 1 || job.reach.from_map; }

  RankPart(const RankJob& job, const LargestReach& reach, std::int64_t side) : job_(job) {
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

  /// Puts the keys of every channel's ranks into the output.
  void run(const RankImages& images, const Rectangle& inner) {
    region_.place(job_, inner);
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

  /// Unsigned, in the order of the keys.
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

  /// Every position of a region has a pixel that counts.
  [[nodiscard]] bool all_count() const {
    return job_.border != Border::shrink && job_.border != Border::constant && !job_.excludes &&
           !job_.weighted;
  }

  template <class Take>
  void read_row(const RankImages& images, int channel, std::int64_t y, const Take& take) const {
    const std::int32_t row = region_.rows[static_cast<std::size_t>(y)];
    // Columns of the region that show the picture itself: they follow one another.
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

  /// Some columns of the region, wherever they come from.
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
  void store_from(const KeyGroups::Places<Coordinate>& places, std::int64_t y, const Store& store) const {
    store([&](const FoundRank& rank, std::int64_t x) HWY_ATTR {
      const KeyGroups::Group& group = groups_->group(rank.code);
      const bool is_first = !rank.spans && group.one_key;
      return key_at(is_first ? group.first
                             : ElementInWindow(places, group.first, rank.rest, window_at(x, y)));
    });
  }

  [[nodiscard]] Key key_at(std::size_t element) const { return key_from(groups_->key(element)); }

  [[nodiscard]] WindowPlace window_at(std::int64_t x, std::int64_t y) const {
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
  WorkspaceVector<std::int32_t> reaches_;  ///< by the map
  WorkspaceVector<FoundRank> found_;       ///< of a row, or by a map of the whole part
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
