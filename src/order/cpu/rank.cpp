// Order statistics on the CPU. A job is cut into chunks, and each chunk goes to the fastest method for it:
// - medians of 3 x 3 and 5 x 5 pixels: sorting networks in registers (network_medians-inl.h);
// - other small windows without alpha: exchanges for whole tiles of pixels (rank_program.h, run by
//   TiledRanks);
// - larger windows, alpha and masks that exclude pixels: sliding histograms, and with a radius map tables of
//   counts (chunk_ranks-inl.h).
// The first two need windows inside the picture. Beside a border networks read a copy of its surroundings
// (BorderChunk); without networks borders use histograms. Compiled for every SIMD target.

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
#include "core/cpu/cache.h"
#include "core/maths/window.h"
#include "core/windows.h"
#include "core/with_type.h"
#include "core/workspace.h"
#include "extremes/sliding_extreme.h"
#include "order/cpu/chunk_ranks-inl.h"
#include "order/cpu/network_medians-inl.h"
#include "order/cpu/rank_program.h"
#include "order/rank.h"
#include "pixels/cpu/rows.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// The pixels beside one border, with what their windows see, copied to a picture of its own. There no window
/// leaves the picture, so that the networks find these medians, too.
///
/// The pixels are `reach` deep and up to most_length long. At the left and right border the copy is turned:
/// its lines are columns of the picture. Corners belong to the upper and lower border.
///
/// With Border::shrink the pixels outside are marked, as they do not count.
template <class Key>
class BorderChunk {
 public:
  static constexpr std::int64_t most_length = 1024;

  BorderChunk(const RankJob& job, std::int64_t reach)
      : job_(job),
        reach_(reach),
        stride_(static_cast<std::size_t>((most_length + 2 * reach) * job.channels)),
        lines_(static_cast<std::size_t>(3 * reach) * stride_),
        marks_(job.weighted || job.border == Border::shrink ? lines_.size() : 0),
        found_(lines_.size()) {}

  [[nodiscard]] std::size_t bytes() const noexcept {
    return (lines_.size() + marks_.size() + found_.size()) * sizeof(Key);
  }

  void read(const ImageView& source, const Rectangle& pixels, bool turned) {
    turned_ = turned;
    along_ = turned ? pixels.y : pixels.x;
    across_ = turned ? pixels.x : pixels.y;
    std::array<Key, 4> outside{};
    for (std::size_t c = 0; c < outside.size(); ++c)
      outside[c] = turn_key(static_cast<Key>(job_.border_keys[c]));
    const std::int64_t length = turned ? job_.height : job_.width;
    const Stretch seen{along_.first - reach_, along_.last + reach_};
    const Stretch inside{std::max<std::int64_t>(seen.first, 0), std::min(seen.last, length)};
    for (std::int64_t i = 0; i < 3 * reach_; ++i) {
      const std::int64_t at = line_at(i);
      Key* to = line(lines_, i);
      with_channels(job_.channels, [&]<int Channels>() {
        const auto copy = [&](std::int64_t first, std::int64_t last, const auto& pixel_at) {
          for (std::int64_t k = first; k < last; ++k)
            std::copy_n(pixel_at(k), Channels, to + (k - seen.first) * Channels);
        };
        const auto near_border = [&](std::int64_t k) {
          const std::int64_t from = source_of(k, length, job_.border);
          return at < 0 || from < 0 ? outside.data()
                                    : source.row<Key>(turned ? from : at) + (turned ? at : from) * Channels;
        };
        copy(seen.first, at < 0 ? seen.last : inside.first, near_border);
        if (at < 0) return;
        turned ? copy(inside.first, inside.last, [&](auto k) { return source.row<Key>(k) + at * Channels; })
               : copy(inside.first, inside.last, [&](auto k) { return source.row<Key>(at) + k * Channels; });
        copy(inside.last, seen.last, near_border);
      });
      mark(i, at);
    }
  }

  /// The copy as a source, and an output of its size.
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

  [[nodiscard]] Lines<const Key> marks() const {
    return {marks_.empty() ? nullptr : marks_.data(), static_cast<std::ptrdiff_t>(stride_ * sizeof(Key))};
  }

  [[nodiscard]] Rectangle inner() const { return {{reach_, reach_ + along_.size()}, {reach_, 2 * reach_}}; }

  void store(const MutableImageView& output) const {
    const std::int64_t channels = job_.channels;
    for (std::int64_t i = 0; i < reach_; ++i) {
      const Key* from = found_.data() + static_cast<std::size_t>(reach_ + i) * stride_ + reach_ * channels;
      if (!turned_) {
        std::copy_n(from, along_.size() * channels,
                    output.row<Key>(across_.first + i) + along_.first * channels);
        continue;
      }
      with_channels(job_.channels, [&]<int Channels>() {
        for (std::int64_t y = along_.first; y < along_.last; ++y, from += Channels)
          std::copy_n(from, Channels, output.row<Key>(y) + (across_.first + i) * Channels);
      });
    }
  }

 private:
  [[nodiscard]] Key* line(WorkspaceVector<Key>& lines, std::int64_t i) const {
    return lines.data() + static_cast<std::size_t>(i) * stride_;
  }

  /// Marks the keys of line i, which shows row or column `at` of the picture.
  void mark(std::int64_t i, std::int64_t at) {
    if (marks_.empty()) return;
    const std::int64_t first = along_.first - reach_;
    const auto fill = [&](std::int64_t from, std::int64_t to, Key mark) {
      std::fill(line(marks_, i) + (from - first) * job_.channels,
                line(marks_, i) + (to - first) * job_.channels, mark);
    };
    const std::int64_t last = along_.last + reach_;
    const bool shrinks = job_.border == Border::shrink;
    if (at < 0 && shrinks) return fill(first, last, static_cast<Key>(-1));
    if (job_.weighted)
      mark_hidden(line(lines_, i), static_cast<std::size_t>((last - first) * job_.channels),
                  static_cast<std::size_t>(job_.channels), line(marks_, i));
    else
      fill(first, last, 0);
    const std::int64_t size = turned_ ? job_.height : job_.width;
    if (shrinks && first < 0) fill(first, 0, static_cast<Key>(-1));
    if (shrinks && last > size) fill(size, last, static_cast<Key>(-1));
  }

  /// Returns the row or column of the picture that line i shows, or -1.
  [[nodiscard]] std::int64_t line_at(std::int64_t i) const {
    return source_of(across_.first - reach_ + i, turned_ ? job_.width : job_.height, job_.border);
  }

  RankJob job_;
  std::int64_t reach_;
  std::size_t stride_;          ///< keys per line of the copy and of its medians
  WorkspaceVector<Key> lines_;  ///< the copy: `reach` lines of pixels, and as many before and behind them
  WorkspaceVector<Key> marks_;  ///< marks of these keys; empty if all count
  WorkspaceVector<Key> found_;  ///< the medians
  bool turned_ = false;
  Stretch along_;   ///< the pixels in the direction of the border
  Stretch across_;  ///< the pixels in the direction from the border to the inside
};

/// Ranks in small windows inside the picture, tile by tile: runs a RankProgram, whose every exchange is a
/// minimum and a maximum of vectors. The lanes of a vector are neighbouring tiles.
template <class Key>
class TiledRanks {
 public:
  static constexpr std::int64_t most_rows = 32;                  ///< rows per chunk
  static constexpr std::int64_t least_width = 64 / sizeof(Key);  ///< narrower chunks leave lanes empty

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
      steps_.push_back({operand_of(exchange.a), operand_of(exchange.b), exchange.low, exchange.high});
    for (int y = 0; y < rows_; ++y)
      for (int x = 0; x < columns_; ++x) results_.push_back(program.result(x, y));
    slots_.resize(static_cast<std::size_t>(program.slots()) * block);
    lines_.resize(static_cast<std::size_t>((most_rows + rows_ + height_) * columns_) * stride_);
  }

  [[nodiscard]] std::size_t bytes() const noexcept {
    return (slots_.size() + lines_.size()) * sizeof(Key) + steps_.capacity() * sizeof(Step);
  }

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
  static constexpr std::size_t block = 128 / sizeof(Key);  ///< tiles per slot

  /// Source of an exchange: an element of the lines of pixels, counted from the first tile's, or of the
  /// slots.
  struct Operand {
    bool in_lines;
    std::uint32_t offset;
  };
  struct Step {
    Operand a;
    Operand b;
    std::uint16_t low;
    std::uint16_t high;
  };

  static int tile_side(int window) { return window >= 4 ? 4 : window >= 2 ? 2 : 1; }

  [[nodiscard]] Operand operand_of(const RankProgram::Operand& operand) const {
    if (!operand.is_pixel) return {false, static_cast<std::uint32_t>(operand.slot * block)};
    const auto columns = static_cast<std::size_t>(columns_);
    const std::size_t line = operand.y * columns + operand.x % columns;
    return {true, static_cast<std::uint32_t>(line * stride_ + operand.x / columns)};
  }

  /// The first line of a row. Line c has column c of every tile.
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

  /// Runs the program for some tiles; the pixels of the first one are at `lines`. Lanes after the last tile
  /// compute values that nobody reads.
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
  int width_;           ///< columns of a window
  int height_;          ///< rows of a window
  int columns_;         ///< columns of a tile
  int rows_;            ///< rows of a tile
  std::size_t stride_;  ///< keys per line
  WorkspaceVector<Step> steps_;
  std::vector<std::uint16_t> results_;  ///< slots of the results, row by row of a tile
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
    const std::int64_t side = side_of_chunks(std::max(reach.x, reach.y));
    const Rectangle inner{{reach.x, job.width - reach.x}, {reach.y, job.height - reach.y}};
    const bool is_median =
        reach.x == reach.y && (reach.x == 1 || reach.x == 2) && 2 * job.percent == percent_whole;
    const bool by_exchanges = can_exchange(reach, inner, is_median);
    if (by_exchanges) {
      network_reach_ = is_median ? reach.x : 0;
      add_chunks(inner, job.width, TiledRanks<Key>::most_rows, is_median ? Method::network : Method::tiles);
      add_borders(inner, side);
    } else {
      add_chunks({{0, job.width}, {0, job.height}}, side, side, Method::histograms);
    }
    for (int i = 0; i < backend.threads.count(); ++i) {
      chunk_ranks_.emplace_back(job, reach, side);
      if (!by_exchanges) continue;
      if (network_reach_ != 0)
        border_chunks_.emplace_back(job, network_reach_);
      else
        tiles_.emplace_back(job, reach);
    }
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = 0;
    for (const ChunkRanks<Key>& chunk : chunk_ranks_) bytes += chunk.bytes();
    for (const TiledRanks<Key>& tiles : tiles_) bytes += tiles.bytes();
    for (const BorderChunk<Key>& chunk : border_chunks_) bytes += chunk.bytes();
    return bytes;
  }

  void run(const RankImages& images, Stream) override {
    const auto chunks = static_cast<std::int64_t>(work_.size());
    backend_.threads.for_rows(chunks, 1, [&](std::int64_t first, std::int64_t last, int index) {
      const auto thread = static_cast<std::size_t>(index);
      for (std::int64_t i = first; i < last; ++i) run(images, work_[static_cast<std::size_t>(i)], thread);
    });
  }

 private:
  enum class Method {
    histograms,     ///< ChunkRanks
    tiles,          ///< TiledRanks
    network,        ///< NetworkMedians inside the picture
    border_rows,    ///< NetworkMedians at the upper or lower border
    border_columns  ///< NetworkMedians at the left or right border
  };
  struct Work {
    Rectangle inner;
    Method method = Method::histograms;
  };

  /// Largest windows that exchanges find ranks in. Histograms are faster beyond, if vectors have 32 bytes.
  static constexpr std::int64_t most_pixels = sizeof(Key) <= 2 ? 15 * 15 : 11 * 11;

  /// Whether exchanges find the inner ranks: small windows of one size, all of whose pixels count or, with
  /// networks, that alpha selects.
  [[nodiscard]] bool can_exchange(const LargestReach& reach, const Rectangle& inner, bool is_median) const {
    const std::int64_t pixels = (2 * reach.x + 1) * (2 * reach.y + 1);
    return !job_.reach.from_map && !job_.excludes && (!job_.weighted || is_median) && pixels <= most_pixels &&
           inner.x.size() >= (is_median ? network_width() : TiledRanks<Key>::least_width) &&
           inner.y.size() > 0;
  }

  [[nodiscard]] std::int64_t network_width() const {
    return NetworkMedians<Key, 1>::least_width(job_.channels);
  }

  void add_chunks(const Rectangle& whole, std::int64_t width, std::int64_t height, Method method) {
    for (std::int64_t y = whole.y.first; y < whole.y.last; y += height)
      for (std::int64_t x = whole.x.first; x < whole.x.last; x += width)
        work_.push_back(
            {{{x, std::min(x + width, whole.x.last)}, {y, std::min(y + height, whole.y.last)}}, method});
  }

  void add_borders(const Rectangle& inner, std::int64_t side) {
    const Stretch left{0, inner.x.first};
    const Stretch right{inner.x.last, job_.width};
    for (const Stretch& rows : {Stretch{0, inner.y.first}, Stretch{inner.y.last, job_.height}}) {
      if (network_reach_ == 0) {
        add_chunks({{0, job_.width}, rows}, side, side, Method::histograms);
        continue;
      }
      for (const Stretch& columns : cut_border({0, job_.width}))
        work_.push_back({{columns, rows}, Method::border_rows});
    }
    const bool by_network = network_reach_ != 0 && inner.y.size() >= network_width();
    for (const Stretch& columns : {left, right}) {
      if (!by_network)
        add_chunks({columns, inner.y}, side, side, Method::histograms);
      else
        for (const Stretch& rows : cut_border(inner.y))
          work_.push_back({{columns, rows}, Method::border_columns});
    }
  }

  /// Cuts a border into the fewest chunks that BorderChunk can hold. Their lengths are nearly the same, so
  /// none is shorter than a vector.
  static std::vector<Stretch> cut_border(const Stretch& whole) {
    constexpr std::int64_t most = BorderChunk<Key>::most_length;
    const std::int64_t count = (whole.size() + most - 1) / most;
    std::vector<Stretch> chunks;
    for (std::int64_t i = 0; i < count; ++i)
      chunks.push_back(
          {whole.first + whole.size() * i / count, whole.first + whole.size() * (i + 1) / count});
    return chunks;
  }

  /// Returns the side of the chunks of histograms. All pixels that a chunk's windows see are read, sorted and
  /// counted, so chunks grow with the reach. Chunks of sorted keys are smaller, so that a window covers
  /// much of them; others are as large as leaves every thread several.
  [[nodiscard]] std::int64_t side_of_chunks(std::int64_t reach) const {
    if (ChunkRanks<Key>::groups(job_)) {
      if (reach <= 24) return !job_.reach.from_map ? 192 : reach <= 8 ? 64 : 96;
      if (reach <= 96) return reach <= 48 ? 160 : 192;
      return reach <= 150 ? 384 : 512;
    }
    const std::int64_t least = reach <= 64 ? 256 : reach <= 128 ? 512 : 1024;
    const std::int64_t chunks = job_.width * job_.height / (2 * least * 2 * least);
    return chunks >= 4 * backend_.threads.count() ? 2 * least : least;
  }

  /// Whether ranks are stored without blending and threshold.
  [[nodiscard]] bool plainly() const { return job_.mask_maximum == 0 && !(job_.threshold > 0); }

  void run(const RankImages& images, const Work& work, std::size_t thread) {
    switch (work.method) {
      case Method::histograms:
        chunk_ranks_[thread].run(images, work.inner);
        return finish(images, work.inner);
      case Method::tiles:
        tiles_[thread].run(images, work.inner);
        return finish(images, work.inner);
      case Method::network:
        run_network(images, {}, work.inner);
        break;
      case Method::border_rows:
      case Method::border_columns:
        BorderChunk<Key>& chunk = border_chunks_[thread];
        chunk.read(images.source, work.inner, work.method == Method::border_columns);
        run_network(chunk.images(), chunk.marks(), chunk.inner());
        chunk.store(images.output);
        break;
    }
    if (!plainly()) finish(images, work.inner);
  }

  void run_network(const RankImages& images, const Lines<const Key>& marks, const Rectangle& inner) const {
    if (network_reach_ == 1)
      NetworkMedians<Key, 1>(job_, plainly()).run(images, marks, inner);
    else
      NetworkMedians<Key, 2>(job_, plainly()).run(images, marks, inner);
  }

  void finish(const RankImages& images, const Rectangle& inner) const {
    const bool plain = plainly() && !job_.weighted;
    if (plain && !std::is_same_v<Key, FloatKey>) return;
    for (std::int64_t y = inner.y.first; y < inner.y.last; ++y) {
      Key* out = images.output.row<Key>(y) + inner.x.first * job_.channels;
      if (plain) {
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
  std::vector<ChunkRanks<Key>> chunk_ranks_;     ///< one per thread
  std::vector<TiledRanks<Key>> tiles_;           ///< one per thread, for small windows without a network
  std::vector<BorderChunk<Key>> border_chunks_;  ///< one per thread, for windows with a network
  std::int64_t network_reach_ = 0;               ///< 1 or 2: medians of 3 x 3 or 5 x 5 pixels by networks
};

inline Prepared<RankJob> PrepareRank(Backend& backend, const RankJob& job) {
  return with_key(job.type, [&]<class Key>() -> std::unique_ptr<RankOperation> {
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
