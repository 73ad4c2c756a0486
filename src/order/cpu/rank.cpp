// Order statistics: small windows by exchanges, larger ones by histograms that slide, radii by a map
// by tables of counts. Compiled for every SIMD target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "order/cpu/rank.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/cpu/backend.h"
#include "core/cpu/cache_lines.h"
#include "core/maths/rectangle.h"
#include "core/maths/window.h"
#include "core/with_type.h"
#include "core/workspace.h"
#include "order/cpu/network_medians-inl.h"
#include "order/cpu/rank_part-inl.h"
#include "order/cpu/rank_program.h"
#include "order/rank.h"
#include "pixels/cpu/rows.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

// The pixels beside a border, and what their windows see, as a picture of its own: in it windows do not leave
// the picture, so that the medians inside and at the borders go the same way.

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

// Ranks in small windows tile by tile (order/cpu/rank_program.h). The lanes
// of a vector are neighbouring tiles.

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

template <class Key>
class Rank final : public RankOperation {
 public:
  Rank(CpuBackend& backend, const RankJob& job) : backend_(backend), job_(job), store_(rank_store(job)) {
    LargestReach reach = largest_reach(job.reach);
    if (job.border == Border::shrink)
      reach = {std::min(reach.x, job.width - 1), std::min(reach.y, job.height - 1)};
    const std::int64_t side = side_of_parts(std::max(reach.x, reach.y));
    const Rectangle inner{{reach.x, job.width - reach.x}, {reach.y, job.height - reach.y}};
    const bool is_median =
        reach.x == reach.y && (reach.x == 1 || reach.x == 2) && 2 * job.percent == percent_whole;
    if (!exchanges(reach, inner)) {
      add_parts({{0, job.width}, {0, job.height}}, side, side, Way::histograms);
    } else {
      network_reach_ = is_median ? reach.x : 0;
      add_parts(inner, job.width, TiledRanks<Key>::most_rows, Way::exchanges);
      add_borders(inner, side);
    }
    for (int i = 0; i < backend.threads.count(); ++i) {
      parts_.emplace_back(job, reach, side);
      if (work_.front().way != Way::exchanges) continue;
      if (network_reach_ != 0)
        strips_.emplace_back(job, network_reach_);
      else
        tiles_.emplace_back(job, reach);
    }
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = 0;
    for (const RankPart<Key>& part : parts_) bytes += part.bytes();
    for (const TiledRanks<Key>& tiles : tiles_) bytes += tiles.bytes();
    for (const BorderStrip<Key>& strip : strips_) bytes += strip.bytes();
    return bytes;
  }

  void run(const RankImages& images, Stream) override {
    const auto pieces = static_cast<std::int64_t>(work_.size());
    backend_.threads.for_rows(pieces, 1, [&](std::int64_t first, std::int64_t last, int index) {
      const auto slot = static_cast<std::size_t>(index);
      for (std::int64_t i = first; i < last; ++i) run(images, work_[static_cast<std::size_t>(i)], slot);
    });
  }

 private:
  enum class Way { histograms, exchanges, strip_of_rows, strip_of_columns };
  struct Work {
    Rectangle inner;
    Way way = Way::histograms;
  };

  /// Windows of up to so many pixels; larger ones are faster by histograms, if vectors have 32 bytes.
  static constexpr std::int64_t most_pixels = sizeof(Key) <= 2 ? 15 * 15 : 11 * 11;

  /// Whether small windows of one size, all of whose pixels count, lie inside the picture.
  [[nodiscard]] bool exchanges(const LargestReach& reach, const Rectangle& inner) const {
    static_assert(TiledRanks<Key>::least_width == NetworkMedians<Key, 1>::least_width);
    const std::int64_t pixels = (2 * reach.x + 1) * (2 * reach.y + 1);
    return !job_.reach.from_map && !job_.excludes && !job_.weighted && pixels <= most_pixels &&
           inner.x.size() >= TiledRanks<Key>::least_width && inner.y.size() > 0;
  }

  void add_parts(const Rectangle& whole, std::int64_t width, std::int64_t height, Way way) {
    for (std::int64_t y = whole.y.first; y < whole.y.last; y += height)
      for (std::int64_t x = whole.x.first; x < whole.x.last; x += width)
        work_.push_back(
            {{{x, std::min(x + width, whole.x.last)}, {y, std::min(y + height, whole.y.last)}}, way});
  }

  /// Lists the strips and corners that surround the inner part.
  void add_borders(const Rectangle& inner, std::int64_t side) {
    const Stretch left{0, inner.x.first};
    const Stretch right{inner.x.last, job_.width};
    for (const Stretch& rows : {Stretch{0, inner.y.first}, Stretch{inner.y.last, job_.height}}) {
      if (network_reach_ == 0) {
        add_parts({{0, job_.width}, rows}, side, side, Way::histograms);
        continue;
      }
      add_parts({left, rows}, side, side, Way::histograms);
      add_parts({right, rows}, side, side, Way::histograms);
      for (const Stretch& columns : pieces_of(inner.x))
        work_.push_back({{columns, rows}, Way::strip_of_rows});
    }
    const bool strips = network_reach_ != 0 && inner.y.size() >= NetworkMedians<Key, 1>::least_width;
    for (const Stretch& columns : {left, right}) {
      if (!strips)
        add_parts({columns, inner.y}, side, side, Way::histograms);
      else
        for (const Stretch& rows : pieces_of(inner.y))
          work_.push_back({{columns, rows}, Way::strip_of_columns});
    }
  }

  /// Cuts a border into the fewest pieces that strips can hold. Their lengths are nearly the same, so none is
  /// shorter than a vector.
  static std::vector<Stretch> pieces_of(const Stretch& whole) {
    constexpr std::int64_t most = BorderStrip<Key>::most_length;
    const std::int64_t count = (whole.size() + most - 1) / most;
    std::vector<Stretch> pieces;
    for (std::int64_t i = 0; i < count; ++i)
      pieces.push_back(
          {whole.first + whole.size() * i / count, whole.first + whole.size() * (i + 1) / count});
    return pieces;
  }

  /// Side of the parts. A part's region is read, sorted and counted whole, so parts grow with the reach.
  /// Parts of sorted keys are smaller, so that a window covers much of them; other parts are as large as
  /// leaves every thread some.
  [[nodiscard]] std::int64_t side_of_parts(std::int64_t reach) const {
    if (RankPart<Key>::groups(job_)) {
      if (reach <= 24) return !job_.reach.from_map ? 192 : reach <= 8 ? 64 : 96;
      if (reach <= 96) return reach <= 48 ? 160 : 192;
      return reach <= 150 ? 384 : 512;
    }
    const std::int64_t least = reach <= 64 ? 256 : reach <= 128 ? 512 : 1024;
    const std::int64_t parts = job_.width * job_.height / (2 * least * 2 * least);
    return parts >= 4 * backend_.threads.count() ? 2 * least : least;
  }

  /// Whether the ranks are stored as they are: nothing is blended or kept.
  [[nodiscard]] bool plainly() const {
    return !job_.weighted && job_.mask_maximum == 0 && !(job_.threshold > 0);
  }

  void run(const RankImages& images, const Work& work, std::size_t slot) {
    bool stored = false;
    if (work.way == Way::histograms) {
      parts_[slot].run(images, work.inner);
    } else if (work.way != Way::exchanges) {
      BorderStrip<Key>& strip = strips_[slot];
      strip.read(images.source, work.inner, work.way == Way::strip_of_columns);
      run_network(strip.images(), strip.inner());
      strip.store(images.output);
      stored = plainly();
    } else if (network_reach_ != 0) {
      run_network(images, work.inner);
      stored = plainly();
    } else {
      tiles_[slot].run(images, work.inner);
    }
    if (!stored) finish(images, work.inner);
  }

  void run_network(const RankImages& images, const Rectangle& inner) const {
    if (network_reach_ == 1)
      NetworkMedians<Key, 1>(job_.channels, plainly()).run(images, inner);
    else
      NetworkMedians<Key, 2>(job_.channels, plainly()).run(images, inner);
  }

  /// Turns keys of ranks into stored pixels.
  void finish(const RankImages& images, const Rectangle& inner) const {
    if (plainly() && !std::is_same_v<Key, FloatKey>) return;
    for (std::int64_t y = inner.y.first; y < inner.y.last; ++y) {
      Key* out = images.output.row<Key>(y) + inner.x.first * job_.channels;
      if (plainly()) {
        std::transform(out, out + inner.x.size() * job_.channels, out, [](Key key) { return turn_key(key); });
        continue;
      }
      const Key* original = images.source.row<Key>(y) + inner.x.first * job_.channels;
      for (std::int64_t x = 0; x < inner.x.size(); ++x)
        store_rank(store_, original + x * job_.channels, mask_at(images.mask, inner.x.first + x, y),
                   out + x * job_.channels);
    }
  }

  CpuBackend& backend_;
  RankJob job_;
  RankStore store_;
  std::vector<Work> work_;
  std::vector<RankPart<Key>> parts_;      ///< one a thread
  std::vector<TiledRanks<Key>> tiles_;    ///< likewise, for small windows that have no network
  std::vector<BorderStrip<Key>> strips_;  ///< likewise, for those that have one
  std::int64_t network_reach_ = 0;        ///< 1 or 2 for medians of 3 x 3 and 5 x 5, by networks
};

inline Prepared<RankJob> PrepareRank(Backend& backend, const RankJob& job) {
  return with_pixel_type(job.type, [&]<class T>() -> std::unique_ptr<RankOperation> {
    using Key = std::conditional_t<std::is_same_v<T, float>, FloatKey, T>;
    return std::make_unique<Rank<Key>>(as_cpu(backend), job);
  });
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareRank);

Prepared<RankJob> prepare_rank(Backend& backend, const RankJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareRank)(backend, job);
}

}  // namespace satin::cpu
#endif
