// Ranks in small windows tile by tile (order/cpu/rank_program.h), compiled for every SIMD target. The lanes
// of a vector are neighbouring tiles.

#if defined(SATIN_TILED_RANKS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_TILED_RANKS_INL_H
#undef SATIN_TILED_RANKS_INL_H
#else
#define SATIN_TILED_RANKS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/cpu/cache_lines.h"
#include "core/workspace.h"
#include "order/cpu/network_medians-inl.h"
#include "order/cpu/rank_program.h"
#include "order/rank.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// Parts of the picture whose windows do not leave it.
template <class Key>
class TiledRanks {
 public:
  static constexpr std::int64_t most_rows = 32;    ///< of a part
  static constexpr std::int64_t least_width = 64;  ///< of the pixels inside: narrower ones leave lanes empty

  TiledRanks(const RankJob& job, const LargestReach& reach)
      : channels_(static_cast<std::size_t>(job.channels)),
        reach_(reach),
        width_(static_cast<int>(2 * reach.x + 1)),
        height_(static_cast<int>(2 * reach.y + 1)),
        columns_(tile_side(width_)),
        rows_(tile_side(height_)),
        stride_(whole_cache_lines<Key>(static_cast<std::size_t>(job.width / columns_) + 1 + block)) {
    const auto rank = rank_of(job.percent, static_cast<std::uint32_t>(width_ * height_)) - 1;
    const RankProgram program(width_, height_, static_cast<int>(rank), columns_, rows_);
    for (const RankProgram::Exchange& exchange : program.exchanges())
      steps_.push_back({place_of(exchange.a), place_of(exchange.b), exchange.low, exchange.high});
    for (int y = 0; y < rows_; ++y)
      for (int x = 0; x < columns_; ++x) results_.push_back(program.result(x, y));
    slots_.resize(static_cast<std::size_t>(program.slots()) * block);
    lines_.resize(static_cast<std::size_t>((most_rows + rows_ + height_) * columns_) * stride_);
  }

  [[nodiscard]] std::size_t bytes() const noexcept {
    return (slots_.size() + lines_.size()) * sizeof(Key) + steps_.capacity() * sizeof(Step);
  }

  /// Puts the keys of the ranks of at most `most_rows` rows into the output.
  void run(const RankImages& images, const Rectangle& inner) {
    for (std::size_t channel = 0; channel < channels_; ++channel) {
      for (std::int64_t y = 0; y < inner.y.size() + 2 * reach_.y; ++y)
        read_row(images.source.row<Key>(inner.y.first - reach_.y + y), inner.x, channel, line(y));
      const auto tiles = static_cast<std::size_t>((inner.x.size() + columns_ - 1) / columns_);
      for (std::int64_t y = 0; y < inner.y.size(); y += rows_) {
        for (std::size_t first = 0; first < tiles; first += block) {
          exchange(line(y) + first, std::min(block, tiles - first));
          store(images, inner, y, first, channel);
        }
      }
    }
  }

 private:
  static constexpr std::size_t block = 128 / sizeof(Key);  ///< tiles that a slot has a value for

  /// A place that an exchange reads: in the lines of pixels, counted from the first tile's, or in the slots.
  struct Place {
    bool in_lines;
    std::uint32_t offset;
  };
  struct Step {
    Place a;
    Place b;
    std::uint16_t low;
    std::uint16_t high;
  };

  static int tile_side(int window) { return window >= 4 ? 4 : window >= 2 ? 2 : 1; }

  [[nodiscard]] Place place_of(const RankProgram::Operand& operand) const {
    if (!operand.is_pixel) return {false, static_cast<std::uint32_t>(operand.slot * block)};
    const auto columns = static_cast<std::size_t>(columns_);
    const std::size_t line = operand.y * columns + operand.x % columns;
    return {true, static_cast<std::uint32_t>(line * stride_ + operand.x / columns)};
  }

  /// The first of the lines of a row: they have the columns that lie at the same place of their tiles.
  [[nodiscard]] Key* line(std::int64_t y) {
    return lines_.data() + static_cast<std::size_t>(y * columns_) * stride_;
  }

  void read_row(const Key* row, const Stretch& inner, std::size_t channel, Key* lines) const {
    const Key* from = row + static_cast<std::size_t>(inner.first - reach_.x) * channels_ + channel;
    const auto pixels = static_cast<std::size_t>(inner.size() + 2 * reach_.x);
    std::size_t x = 0;
    if (channels_ == 1 && columns_ == 4) {
      const hn::ScalableTag<Key> d;
      const std::size_t lanes = hn::Lanes(d);
      for (; x + 4 * lanes <= pixels; x += 4 * lanes) {
        hn::Vec<decltype(d)> v[4];
        hn::LoadInterleaved4(d, from + x, v[0], v[1], v[2], v[3]);
        for (std::size_t c = 0; c < 4; ++c) hn::StoreU(TurnKeys(d, v[c]), d, lines + c * stride_ + x / 4);
      }
    }
    const auto columns = static_cast<std::size_t>(columns_);
    for (; x < pixels; ++x) lines[x % columns * stride_ + x / columns] = turn_key(from[x * channels_]);
  }

  /// All steps for some tiles, of which the first one's pixels are at `lines`. Values behind the last are
  /// whatever stands there.
  void exchange(const Key* lines, std::size_t tiles) {
    const hn::ScalableTag<Key> d;
    const std::size_t lanes = hn::Lanes(d);
    Key* slots = slots_.data();
    for (const Step& step : steps_) {
      const Key* a = (step.a.in_lines ? lines : slots) + step.a.offset;
      const Key* b = (step.b.in_lines ? lines : slots) + step.b.offset;
      Key* low = slots + step.low * block;
      Key* high = slots + step.high * block;
      if (step.high == RankProgram::no_slot) {
        for (std::size_t i = 0; i < tiles; i += lanes)
          hn::Store(hn::Min(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, low + i);
      } else if (step.low == RankProgram::no_slot) {
        for (std::size_t i = 0; i < tiles; i += lanes)
          hn::Store(hn::Max(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, high + i);
      } else {
        for (std::size_t i = 0; i < tiles; i += lanes) {
          const auto first = hn::LoadU(d, a + i);
          const auto second = hn::LoadU(d, b + i);
          hn::Store(hn::Min(first, second), d, low + i);
          hn::Store(hn::Max(first, second), d, high + i);
        }
      }
    }
  }

  /// The results of a block of tiles, of which the first is number `first_tile` of its row of tiles.
  void store(const RankImages& images, const Rectangle& inner, std::int64_t first_row, std::size_t first_tile,
             std::size_t channel) const {
    const auto columns = static_cast<std::size_t>(columns_);
    const std::size_t first = first_tile * columns;
    const std::size_t pixels = std::min(block * columns, static_cast<std::size_t>(inner.x.size()) - first);
    const auto rows = static_cast<std::size_t>(std::min<std::int64_t>(rows_, inner.y.size() - first_row));
    for (std::size_t y = 0; y < rows; ++y) {
      Key* to = images.output.row<Key>(inner.y.first + first_row + static_cast<std::int64_t>(y)) +
                (static_cast<std::size_t>(inner.x.first) + first) * channels_ + channel;
      const auto result = [&](std::size_t x) { return slots_.data() + results_[y * columns + x] * block; };
      std::size_t x = 0;
      if (channels_ == 1 && columns == 4) {
        const hn::ScalableTag<Key> d;
        const std::size_t lanes = hn::Lanes(d);
        const std::array<const Key*, 4> from = {result(0), result(1), result(2), result(3)};
        for (; x + 4 * lanes <= pixels; x += 4 * lanes)
          hn::StoreInterleaved4(hn::Load(d, from[0] + x / 4), hn::Load(d, from[1] + x / 4),
                                hn::Load(d, from[2] + x / 4), hn::Load(d, from[3] + x / 4), d, to + x);
      }
      for (; x < pixels; ++x) to[x * channels_] = result(x % columns)[x / columns];
    }
  }

  std::size_t channels_;
  LargestReach reach_;
  int width_;    ///< of the window
  int height_;   ///< of the window
  int columns_;  ///< of a tile
  int rows_;     ///< of a tile
  std::size_t stride_;
  WorkspaceVector<Step> steps_;
  std::vector<std::uint16_t> results_;  ///< slots, row by row of the tile
  WorkspaceVector<Key> slots_;
  WorkspaceVector<Key> lines_;
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
