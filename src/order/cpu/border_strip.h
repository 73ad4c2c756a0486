#pragma once
// The pixels beside a border, and what their windows see, as a picture of its own: in it windows do not leave
// the picture, so that the medians inside and at the borders go the same way.

#include <algorithm>
#include <cstdint>

#include "core/maths/rectangle.h"
#include "core/maths/window.h"
#include "core/workspace.h"
#include "order/rank.h"

namespace satin::cpu {

/// Medians of windows of (2 reach + 1)^2 pixels. A strip is `reach` pixels deep and lies along one border;
/// that of a column is turned: the lines of the strip are columns. The corners, whose windows leave the
/// picture along both axes, belong to no strip.
///
/// Windows have fewer pixels beside a border that is `shrink`. A line outside then holds the least and the
/// greatest key, in a pattern that repeats after as many pixels as a window is wide. So every window sees the
/// same number of both, and that number leaves its median at the rank of a whole window.
template <class Key>
class BorderStrip {
 public:
  static constexpr std::int64_t most_length = 1024;

  BorderStrip(const RankJob& job, std::int64_t reach)
      : job_(job),
        reach_(reach),
        stride_(static_cast<std::size_t>((most_length + 2 * reach) * job.channels)),
        lines_(static_cast<std::size_t>(3 * reach) * stride_),
        found_(lines_.size()) {}

  [[nodiscard]] std::size_t bytes() const noexcept { return (lines_.size() + found_.size()) * sizeof(Key); }

  /// Reads the strip of some pixels beside a border, at most `most_length` along it.
  void read(const ImageView& source, const Rectangle& pixels, bool turned) {
    turned_ = turned;
    along_ = turned ? pixels.y : pixels.x;
    across_ = turned ? pixels.x : pixels.y;
    const Stretch seen{along_.first - reach_, along_.last + reach_};
    for (std::int64_t i = 0; i < 3 * reach_; ++i) {
      const std::int64_t at = line_at(i);
      if (at < 0)
        fill_outside(i, seen.size());
      else if (!turned)
        std::copy_n(source.row<Key>(at) + seen.first * job_.channels, seen.size() * job_.channels, line(i));
    }
    if (!turned) return;
    for (std::int64_t y = seen.first; y < seen.last; ++y)
      for (std::int64_t i = 0; i < 3 * reach_; ++i)
        if (const std::int64_t at = line_at(i); at >= 0)
          std::copy_n(source.row<Key>(y) + at * job_.channels, job_.channels,
                      line(i) + (y - seen.first) * job_.channels);
  }

  /// The strip as a picture with its result.
  [[nodiscard]] RankImages images() {
    const Shape shape{along_.size() + 2 * reach_, 3 * reach_, job_.channels, job_.type};
    Strides strides = interleaved_strides(shape);
    strides.row = static_cast<std::ptrdiff_t>(stride_ * sizeof(Key));
    const auto bytes = [](WorkspaceVector<Key>& keys) { return reinterpret_cast<std::byte*>(keys.data()); };
    return {.source = {bytes(lines_), shape, strides, Memory::host},
            .radius_map = {},
            .mask = {},
            .output = {bytes(found_), shape, strides, Memory::host}};
  }

  /// The pixels of that picture whose medians are wanted.
  [[nodiscard]] Rectangle inner() const { return {{reach_, reach_ + along_.size()}, {reach_, 2 * reach_}}; }

  /// Puts the results in their places.
  void store(const MutableImageView& output) const {
    const std::int64_t channels = job_.channels;
    for (std::int64_t i = 0; i < reach_; ++i) {
      const Key* from = found_.data() + static_cast<std::size_t>(reach_ + i) * stride_ + reach_ * channels;
      if (!turned_) {
        std::copy_n(from, along_.size() * channels,
                    output.row<Key>(across_.first + i) + along_.first * channels);
        continue;
      }
      for (std::int64_t y = along_.first; y < along_.last; ++y, from += channels)
        std::copy_n(from, channels, output.row<Key>(y) + (across_.first + i) * channels);
    }
  }

 private:
  [[nodiscard]] Key* line(std::int64_t i) { return lines_.data() + static_cast<std::size_t>(i) * stride_; }

  /// The row or column of the picture that line i shows; -1: none.
  [[nodiscard]] std::int64_t line_at(std::int64_t i) const {
    return source_of(across_.first - reach_ + i, turned_ ? job_.width : job_.height, job_.border);
  }

  /// How many of the pixels that a window sees of a line outside hold the least key. The line is the
  /// `depth`-th outside; a window that sees it sees those nearer to the picture, too.
  [[nodiscard]] std::int64_t least_keys(std::int64_t depth) const {
    const std::int64_t side = 2 * reach_ + 1;
    const auto rank = [&](std::int64_t lines) {
      return std::int64_t{rank_of(job_.percent, static_cast<std::uint32_t>(side * lines))};
    };
    return rank(side - depth + 1) - rank(side - depth);
  }

  void fill_outside(std::int64_t i, std::int64_t pixels) {
    const std::int64_t at = across_.first - reach_ + i;
    const std::int64_t depth = at < 0 ? -at : at - (turned_ ? job_.width : job_.height) + 1;
    const std::int64_t least = least_keys(depth);
    Key* to = line(i);
    for (std::int64_t x = 0; x < pixels; ++x)
      for (int c = 0; c < job_.channels; ++c) {
        Key key = neutral_key<Key>(x % (2 * reach_ + 1) < least ? Extreme::maximum : Extreme::minimum);
        if (job_.border == Border::constant)
          key = static_cast<Key>(job_.border_keys[static_cast<std::size_t>(c)]);
        *to++ = turn_key(key);
      }
  }

  RankJob job_;
  std::int64_t reach_;
  std::size_t stride_;          ///< of both pictures, in keys
  WorkspaceVector<Key> lines_;  ///< `reach` lines of the strip, and as many before and behind
  WorkspaceVector<Key> found_;  ///< their medians
  bool turned_ = false;
  Stretch along_;
  Stretch across_;
};

}  // namespace satin::cpu
