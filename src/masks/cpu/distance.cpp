// Distances in masks on the CPU (masks/distance.h), compiled for every SIMD target.
//
// Tile by tile of rows: two scans down and up give each pixel its distance along the column. Then each row is
// finished by one of three methods. Outlines that move need two scans along the row, of the chords of the
// disc. Short reaches search the neighbours in 16 bits until none can be nearer. Long reaches take the lower
// envelope of parabolas (Meijster, Roerdink and Hesselink, A general algorithm for computing distance
// transforms in linear time, 2000).

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "masks/cpu/distance.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/cpu/backend.h"
#include "core/maths/window.h"
#include "core/workspace.h"
#include "masks/distance.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Loops over rows. Steps, which are distances along columns, are u8 or u16.

template <class D>
auto LoadBytes(D d, const std::uint8_t* from) {
  if constexpr (sizeof(hn::TFromD<D>) == 1) {
    return hn::LoadU(d, from);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint8_t, D>(), from));
  }
}

/// One step down or up the columns: to[i] = the distance along column i to the nearest pixel on the other
/// side among the rows passed so far, at most `most`. `from` has the distances of the row before, and may be
/// `to`.
template <class T>
void StepColumns(const std::uint8_t* mask, const std::uint8_t* before, const T* from, T most,
                 std::size_t count, T* to) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto one = hn::Set(d, T{1});
  const auto limit = hn::Set(d, most);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto same = LoadBytes(d, mask + i) == LoadBytes(d, before + i);
    const auto passed = hn::IfThenElseZero(same, hn::LoadU(d, from + i));
    hn::StoreU(hn::Min(hn::SaturatedAdd(passed, one), limit), d, to + i);
  }
  for (; i < count; ++i) {
    const T passed = mask[i] == before[i] ? from[i] : T{0};
    to[i] = passed < most ? static_cast<T>(passed + 1) : most;
  }
}

/// into[i] = min(into[i], other[i])
template <class T>
void MeetColumns(const T* HWY_RESTRICT other, std::size_t count, T* HWY_RESTRICT into) {
  for (std::size_t i = 0; i < count; ++i) into[i] = std::min(into[i], other[i]);
}

/// steps[i] = chords[steps[i]] where the mask is `side`, chords[0] elsewhere.
template <class T>
void CoverOneByOne(const std::uint8_t* mask, std::uint8_t side, const T* chords, std::size_t first,
                   std::size_t count, T* steps) {
  for (std::size_t i = first; i < count; ++i) steps[i] = chords[mask[i] == side ? steps[i] : 0];
}

inline void CoverRow(const std::uint8_t* mask, std::uint8_t side, const std::uint16_t* chords,
                     std::size_t /*entries*/, std::size_t count, std::uint16_t* steps) {
  CoverOneByOne(mask, side, chords, 0, count, steps);
}

/// Looks bytes up in tables of 16 entries, `entries` in all. Highway defines the lookup for indices below 16
/// and, with the result 0, from 0x80 on.
inline void CoverRow(const std::uint8_t* mask, std::uint8_t side, const std::uint8_t* chords,
                     [[maybe_unused]] std::size_t entries, std::size_t count, std::uint8_t* steps) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto in_table = hn::Set(d, std::uint8_t{0x70});  // its sum with 16 and more has the highest bit
  const auto next_table = hn::Set(d, std::uint8_t{16});
  const auto sides = hn::Set(d, side);
  for (; i + lanes <= count; i += lanes) {
    auto index = hn::IfThenElseZero(hn::LoadU(d, mask + i) == sides, hn::LoadU(d, steps + i));
    auto found = hn::Zero(d);
    for (std::size_t table = 0; table < entries; table += 16) {
      const auto defined = hn::AndNot(in_table, hn::SaturatedAdd(index, in_table));
      const auto entry = hn::TableLookupBytesOr0(hn::LoadDup128(d, chords + table), defined);
      found = hn::Or(found, entry);
      index = index - next_table;
    }
    hn::StoreU(found, d, steps + i);
  }
#endif
  CoverOneByOne(mask, side, chords, i, count, steps);
}

template <class T>
T Fallen(T reach) {
  return static_cast<T>(reach - (reach != 0 ? 1 : 0));
}

template <class T>
void SpreadOneByOne(T* line, std::size_t count) {
  for (std::size_t i = 1; i < count; ++i) line[i] = std::max(line[i], Fallen(line[i - 1]));
  for (std::size_t i = count; i > 1; --i) line[i - 2] = std::max(line[i - 2], Fallen(line[i - 1]));
}

// SpreadRow(): line[i] = max of line[j] - |i - j|, 0 at least, over all j.
#if HWY_TARGET == HWY_SCALAR

template <class T>
void SpreadRow(T* line, std::size_t count) {
  SpreadOneByOne(line, count);
}

#else

/// SpreadRow() by blocks of 16 bytes: within a block by doubling (Hillis and Steele, Data parallel
/// algorithms, 1986), from one block to the next by the lane at its end.
template <class T>
class BlockSpread {
 public:
  static constexpr std::size_t lanes = 16 / sizeof(T);

  BlockSpread() {
    for (std::size_t i = 0; i < lanes; ++i) {
      rising_[i] = static_cast<T>(i + 1);
      falling_[i] = static_cast<T>(lanes - i);
    }
    for (std::size_t i = 0; i < 16; ++i) {
      first_[i] = static_cast<std::uint8_t>(i % sizeof(T));
      last_[i] = static_cast<std::uint8_t>(16 - sizeof(T) + i % sizeof(T));
    }
  }

  /// `count` is a multiple of `lanes`.
  void RunRight(T* line, std::size_t count) const {
    const D d;
    const V falls = hn::Load(d, rising_);
    const V end = hn::BitCast(d, hn::Load(hn::Full128<std::uint8_t>(), last_));
    V carry = hn::Zero(d);
    for (std::size_t i = 0; i < count; i += lanes) {
      const V v = hn::Max(Doubled<1, true>(hn::LoadU(d, line + i)), hn::SaturatedSub(carry, falls));
      hn::StoreU(v, d, line + i);
      carry = hn::TableLookupBytes(v, end);
    }
  }

  /// `count` is a multiple of `lanes`; `reach` comes in from the right.
  void RunLeft(T* line, std::size_t count, T reach) const {
    const D d;
    const V falls = hn::Load(d, falling_);
    const V end = hn::BitCast(d, hn::Load(hn::Full128<std::uint8_t>(), first_));
    V carry = hn::Set(d, reach);
    for (std::size_t i = count; i > 0; i -= lanes) {
      T* block = line + i - lanes;
      const V v = hn::Max(Doubled<1, false>(hn::LoadU(d, block)), hn::SaturatedSub(carry, falls));
      hn::StoreU(v, d, block);
      carry = hn::TableLookupBytes(v, end);
    }
  }

 private:
  using D = hn::Full128<T>;
  using V = hn::Vec<D>;

  template <std::size_t By, bool Right>
  static HWY_INLINE V Doubled(V v) {
    const D d;
    V other;
    if constexpr (Right) {
      other = hn::ShiftLeftLanes<static_cast<int>(By)>(d, v);
    } else {
      other = hn::ShiftRightLanes<static_cast<int>(By)>(d, v);
    }
    v = hn::Max(v, hn::SaturatedSub(other, hn::Set(d, static_cast<T>(By))));
    if constexpr (By * 2 < lanes) {
      return Doubled<By * 2, Right>(v);
    } else {
      return v;
    }
  }

  alignas(16) T rising_[lanes];
  alignas(16) T falling_[lanes];
  alignas(16) std::uint8_t first_[16];
  alignas(16) std::uint8_t last_[16];
};

template <class T>
void SpreadRow(T* line, std::size_t count) {
  const BlockSpread<T> blocks;
  const std::size_t whole = count / blocks.lanes * blocks.lanes;
  blocks.RunRight(line, whole);
  const std::size_t begin = whole == 0 ? 0 : whole - 1;
  SpreadOneByOne(line + begin, count - begin);
  blocks.RunLeft(line, whole, whole < count ? line[whole] : T{0});
}

#endif

/// out[i] = spread[i] != 0 ? reached : rest
template <class T>
void MarkRow(const T* spread, std::size_t count, std::uint8_t reached, std::uint8_t rest, std::uint8_t* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = spread[i] != 0 ? reached : rest;
}

/// A row whose squared distances fit 16 bits: (reach + 1)^2 + reach^2 < 2^16 and most <= (reach + 1)^2.
struct NearRow {
  static constexpr int most_reach = 126;
  static constexpr std::size_t block = 64;    ///< pixels
  static constexpr std::size_t margin = 256;  ///< heights on either side of the row

  [[nodiscard]] static constexpr std::size_t space(std::size_t count) {
    return (count / block + 1) * block + 2 * margin;
  }

  const std::uint8_t* mask;
  const std::uint8_t* columns;  ///< distances down the columns, reach + 1 at most
  std::size_t count;
  int reach;
  std::uint16_t most;
};

/// heights[i] = columns[i]^2, at most `most`, where the mask is `side`; 0 elsewhere.
inline void Heights(const NearRow& row, std::uint8_t side, std::uint16_t* heights) {
  const std::uint16_t most = row.most;  // a copy, which no store can change
  for (std::size_t i = 0; i < row.count; ++i) {
    const auto square = static_cast<std::uint16_t>(row.columns[i] * row.columns[i]);
    heights[i] = row.mask[i] == side ? std::min(square, most) : std::uint16_t{0};
  }
}

struct BlockRange {
  std::uint16_t least;
  std::uint16_t greatest;
};

inline BlockRange RangeOf(const std::uint16_t* heights) {
  const hn::CappedTag<std::uint16_t, NearRow::block> d;
  auto least = hn::LoadU(d, heights);
  auto greatest = least;
  for (std::size_t i = hn::Lanes(d); i < NearRow::block; i += hn::Lanes(d)) {
    const auto height = hn::LoadU(d, heights + i);
    least = hn::Min(least, height);
    greatest = hn::Max(greatest, height);
  }
  return {hn::GetLane(hn::MinOfLanes(d, least)), hn::GetLane(hn::MaxOfLanes(d, greatest))};
}

/// Searches for the nearest pixels of a block, further and further away until no pixel can be nearer.
inline void SearchBlock(const std::uint16_t* heights, int reach, std::uint16_t* squared) {
  const hn::CappedTag<std::uint16_t, NearRow::block> d;
  constexpr int steps_between_looks = 4;
  for (std::size_t i = 0; i < NearRow::block; i += hn::Lanes(d)) {
    const std::uint16_t* at = heights + i;
    auto best = hn::LoadU(d, at);
    for (int first = 1; first <= reach; first += steps_between_looks) {
      const auto limit = hn::Set(d, static_cast<std::uint16_t>(first * first));
      if (hn::AllTrue(d, hn::Min(best, limit) == best)) break;
      for (int x = first; x < first + steps_between_looks; ++x) {
        const auto nearer = hn::Min(hn::LoadU(d, at - x), hn::LoadU(d, at + x));
        best = hn::Min(best, nearer + hn::Set(d, static_cast<std::uint16_t>(x * x)));
      }
    }
    hn::StoreU(best + hn::LoadU(d, squared + i), d, squared + i);
  }
}

/// Adds the squared distances of the pixels on `side` to `squared`: the smallest (x - i)^2 + columns[x]^2, at
/// most `most`, where pixels x on the other side count as columns[x] = 0. `squared` has room for whole
/// blocks.
inline void AddNearSquares(const NearRow& row, std::uint8_t side, std::uint16_t* space,
                           std::uint16_t* squared) {
  const std::size_t size = NearRow::space(row.count);
  std::uint16_t* heights = space + NearRow::margin;
  std::fill(space, heights, row.most);
  std::fill(heights + row.count, space + size, row.most);
  Heights(row, side, heights);
  const auto reach = static_cast<std::size_t>(row.reach);
  for (std::size_t first = 0; first < row.count; first += NearRow::block) {
    const BlockRange range = RangeOf(heights + first);
    if (range.greatest == 0) continue;
    bool far = range.least == row.most;
    for (std::size_t apart = NearRow::block; far && apart < reach + NearRow::block; apart += NearRow::block)
      far = RangeOf(heights + first - apart).least == row.most &&
            RangeOf(heights + first + apart).least == row.most;
    if (far) {
      std::fill_n(squared + first, NearRow::block, row.most);
    } else {
      SearchBlock(heights + first, row.reach, squared + first);
    }
  }
}

/// Lower envelope of parabolas (x - site)^2 + height over the columns [first, end) of a row, which are added
/// in ascending order of sites: the second phase of Meijster, Roerdink and Hesselink (2000).
class LowerEnvelope {
 public:
  /// Has room for a parabola for each of `width` columns, and one on either side.
  explicit LowerEnvelope(std::int64_t width) : parabolas_(static_cast<std::size_t>(width) + 2) {}

  [[nodiscard]] std::size_t bytes() const noexcept { return parabolas_.size() * sizeof(Parabola); }

  void start(std::int64_t first, std::int64_t end) {
    first_ = first;
    end_ = end;
    count_ = 0;
  }

  void add(std::int64_t site, std::int64_t height) {
    while (count_ != 0 && top().at(top().start) > Parabola{0, site, height}.at(top().start)) --count_;
    const std::int64_t start = count_ == 0 ? first_ : separation(top(), {0, site, height}) + 1;
    if (start < end_) parabolas_[count_++] = {start, site, height};
  }

  /// out[x] = the smallest parabola at x, at most `most`.
  void write(std::uint32_t most, std::uint32_t* out) const {
    if (count_ == 0) std::fill(out + first_, out + end_, most);
    for (std::size_t i = 0; i < count_; ++i) {
      const Parabola& parabola = parabolas_[i];
      const std::int64_t end = i + 1 < count_ ? parabolas_[i + 1].start : end_;
      write_parabola(parabola, end, most, out);
    }
  }

 private:
  struct Parabola {
    std::int64_t start;  ///< the first column where it is the smallest so far
    std::int64_t site;
    std::int64_t height;

    [[nodiscard]] std::int64_t at(std::int64_t x) const { return (x - site) * (x - site) + height; }
  };

  [[nodiscard]] const Parabola& top() const { return parabolas_[count_ - 1]; }

  /// Returns the last column where the left parabola is not above the right one: the paper's Sep(i, u).
  static std::int64_t separation(const Parabola& left, const Parabola& right) {
    const std::int64_t apart = right.site - left.site;
    return left.site + detail::floor_divide(apart * apart + right.height - left.height, 2 * apart);
  }

  /// Columns too far from the site for 32 bits are beyond the reach anyway.
  static void write_parabola(const Parabola& parabola, std::int64_t end, std::uint32_t most,
                             std::uint32_t* out) {
    const auto height = static_cast<std::int32_t>(parabola.height);
    for (std::int64_t x = parabola.start; x < end; ++x) {
      const std::int64_t apart = x < parabola.site ? parabola.site - x : x - parabola.site;
      const auto near = static_cast<std::int32_t>(std::min<std::int64_t>(apart, largest_distance_reach + 1));
      out[x] = std::min(static_cast<std::uint32_t>(near * near + height), most);
    }
  }

  WorkspaceVector<Parabola> parabolas_;
  std::size_t count_ = 0;
  std::int64_t first_ = 0;
  std::int64_t end_ = 0;
};

constexpr std::int64_t least_tile_height = 64;
constexpr std::uint32_t most_tabled = 1U << 16;

/// Workspace of one thread. Steps is u8 or u16, wide enough for the reach + 1.
template <class Steps>
struct DistanceBuffers {
  WorkspaceVector<Steps> tile;  ///< distances down the columns of a tile
  WorkspaceVector<Steps> line;  ///< distances down the columns of the row that a scan has reached
  WorkspaceVector<std::uint32_t> squared;
  WorkspaceVector<std::uint16_t> near_squared;
  WorkspaceVector<std::uint16_t> search_space;
  LowerEnvelope envelope;

  [[nodiscard]] std::size_t bytes() const noexcept {
    return (tile.size() + line.size()) * sizeof(Steps) + squared.size() * sizeof squared[0] +
           (near_squared.size() + search_space.size()) * sizeof search_space[0] + envelope.bytes();
  }
};

template <class Steps>
class Distance final : public DistanceOperation {
 public:
  Distance(CpuBackend& backend, const DistanceJob& job)
      : backend_(backend),
        job_(job),
        width_(static_cast<std::size_t>(job.width)),
        reach_(reach_of(job)),
        none_(static_cast<Steps>(reach_ + 1)),
        method_(method_for(job.result)) {
    const std::int64_t threads = backend.threads.count();
    tile_height_ = std::min(std::max<std::int64_t>(least_tile_height, 2 * std::int64_t{reach_}),
                            (job.height + threads - 1) / threads);
    for (std::int64_t i = 0; i < threads; ++i) buffers_.push_back(new_buffers());
    if (method_ == RowMethod::chords) fill_chords();
    if (job.result == DistanceResult::ramp && job.most <= most_tabled) fill_values();
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = chords_.size() * sizeof(Steps) + values_[0].size() + values_[1].size();
    for (const DistanceBuffers<Steps>& buffers : buffers_) bytes += buffers.bytes();
    return bytes;
  }

  void run(const ImageView& mask, const MutableImageView& output, Stream) override {
    backend_.threads.for_rows(job_.height, tile_height_,
                              [&](std::int64_t first, std::int64_t last, int index) {
                                for (std::int64_t y = first; y < last; y += tile_height_)
                                  run_tile(mask, output, y, std::min(y + tile_height_, last),
                                           buffers_[static_cast<std::size_t>(index)]);
                              });
  }

 private:
  enum class RowMethod {
    chords,   ///< for outlines that move
    search,   ///< for reaches up to NearRow::most_reach
    envelope  ///< for any reach
  };

  [[nodiscard]] RowMethod method_for(DistanceResult result) const {
    if (result == DistanceResult::moved) return RowMethod::chords;
    return reach_ <= NearRow::most_reach ? RowMethod::search : RowMethod::envelope;
  }

  [[nodiscard]] DistanceBuffers<Steps> new_buffers() const {
    DistanceBuffers<Steps> buffers{WorkspaceVector<Steps>(static_cast<std::size_t>(tile_height_) * width_),
                                   WorkspaceVector<Steps>(width_),
                                   {},
                                   {},
                                   {},
                                   LowerEnvelope(method_ == RowMethod::envelope ? job_.width : 0)};
    if (method_ == RowMethod::envelope) buffers.squared.resize(width_);
    if (method_ == RowMethod::search) {
      buffers.near_squared.resize(NearRow::space(width_));
      buffers.search_space.resize(NearRow::space(width_));
    }
    return buffers;
  }

  /// chords_[g] = 1 + half the length of the chord of the disc at g rows from its centre; 0 beyond the disc.
  void fill_chords() {
    for (std::uint32_t g = 0; g < none_; ++g)
      chords_.push_back(static_cast<Steps>(1 + whole_root(job_.most - 1 - g * g)));
    chords_.push_back(0);
    chords_.resize((chords_.size() + 15) / 16 * 16);
  }

  void fill_values() {
    for (std::uint32_t n = 0; n <= job_.most; ++n) {
      values_[0].push_back(value_outside(n));
      values_[1].push_back(value_inside(n));
    }
  }

  [[nodiscard]] std::uint8_t value_inside(std::uint32_t squared) const {
    const std::uint32_t value = ramp_value(job_.inside.first, squared);
    return static_cast<std::uint8_t>(job_.inverted ? 255 - value : value);
  }
  [[nodiscard]] std::uint8_t value_outside(std::uint32_t squared) const {
    const std::uint32_t value = ramp_value(job_.outside.first, squared);
    return static_cast<std::uint8_t>(job_.inverted ? value : 255 - value);
  }

  [[nodiscard]] bool on_side(std::uint8_t mask) const {
    return job_.side == MaskSide::both || (mask != 0) == (job_.side == MaskSide::inside);
  }

  /// Scans of the columns begin `reach_` rows outside the tile; pixels beyond are too far away.
  void run_tile(const ImageView& mask, const MutableImageView& output, std::int64_t first, std::int64_t last,
                DistanceBuffers<Steps>& buffers) {
    const auto mask_row = [&](std::int64_t y) { return mask.row<std::uint8_t>(y); };
    const auto tile_row = [&](std::int64_t y) {
      return buffers.tile.data() + static_cast<std::size_t>(y - first) * width_;
    };
    Steps* line = buffers.line.data();
    const auto step = [&](std::int64_t y, std::int64_t before, const Steps* from, Steps* to) {
      StepColumns(mask_row(y), mask_row(before), from, none_, width_, to);
    };

    std::fill_n(line, width_, none_);
    for (std::int64_t y = std::max<std::int64_t>(first - reach_, 1); y < first; ++y)
      step(y, y - 1, line, line);
    for (std::int64_t y = first; y < last; ++y) {
      if (y == 0) {
        std::fill_n(tile_row(y), width_, none_);
      } else {
        step(y, y - 1, y == first ? line : tile_row(y - 1), tile_row(y));
      }
    }

    std::fill_n(line, width_, none_);
    for (std::int64_t y = std::min(last - 1 + reach_, job_.height - 2); y >= first; --y) {
      step(y, y + 1, line, line);
      if (y < last) MeetColumns(line, width_, tile_row(y));
    }
    for (std::int64_t y = first; y < last; ++y) finish_row(mask_row(y), tile_row(y), output, y, buffers);
  }

  void finish_row(const std::uint8_t* mask, Steps* columns, const MutableImageView& output, std::int64_t y,
                  DistanceBuffers<Steps>& buffers) {
    switch (method_) {
      case RowMethod::chords:
        return move_row(mask, columns, output.row<std::uint8_t>(y));
      case RowMethod::search:
        search_row(mask, columns, buffers);
        return store_row(mask, buffers.near_squared.data(), output, y);
      case RowMethod::envelope:
        square_row(mask, columns, buffers.envelope, buffers.squared.data());
        return store_row(mask, buffers.squared.data(), output, y);
    }
  }

  template <class Square>
  void store_row(const std::uint8_t* mask, const Square* squared, const MutableImageView& output,
                 std::int64_t y) const {
    if (job_.result == DistanceResult::squared) {
      std::copy_n(squared, width_, output.row<std::uint32_t>(y));
      return;
    }
    auto* out = output.row<std::uint8_t>(y);
    const std::size_t width = width_;  // local copies, as bytes that are written may alias the members
    const std::uint8_t* values[2] = {values_[0].data(), values_[1].data()};
    if (values_[0].empty()) {
      for (std::size_t x = 0; x < width; ++x)
        out[x] = mask[x] != 0 ? value_inside(squared[x]) : value_outside(squared[x]);
    } else {
      for (std::size_t x = 0; x < width; ++x) out[x] = values[mask[x] & 1][squared[x]];
    }
  }

  /// Each pixel of the other side, and each one that has such a pixel above or below it, covers the pixels of
  /// its row within a chord of the disc.
  void move_row(const std::uint8_t* mask, Steps* columns, std::uint8_t* out) const {
    const std::uint8_t side = job_.side == MaskSide::inside ? 255 : 0;
    CoverRow(mask, side, chords_.data(), chords_.size(), width_, columns);
    SpreadRow(columns, width_);
    const auto other = static_cast<std::uint8_t>(side ^ (job_.inverted ? 0 : 255));
    MarkRow(columns, width_, other, static_cast<std::uint8_t>(other ^ 255), out);
  }

  void search_row(const std::uint8_t* mask, const Steps* columns, DistanceBuffers<Steps>& buffers) const {
    if constexpr (sizeof(Steps) == 1) {
      const NearRow row{mask, columns, width_, reach_, static_cast<std::uint16_t>(job_.most)};
      std::fill(buffers.near_squared.begin(), buffers.near_squared.end(), std::uint16_t{0});
      for (const std::uint8_t side : {std::uint8_t{0}, std::uint8_t{255}})
        if (on_side(side))
          AddNearSquares(row, side, buffers.search_space.data(), buffers.near_squared.data());
    }
  }

  /// Each run of pixels on one side has an envelope of its own: the pixels that end it are on the other side,
  /// and nearer than anything beyond them.
  void square_row(const std::uint8_t* mask, const Steps* columns, LowerEnvelope& envelope,
                  std::uint32_t* squared) const {
    const std::int64_t width = job_.width;
    for (std::int64_t first = 0, end = 0; first < width; first = end) {
      end = std::find_if(mask + first, mask + width, [&](std::uint8_t m) { return m != mask[first]; }) - mask;
      if (!on_side(mask[first])) {
        std::fill(squared + first, squared + end, 0U);
        continue;
      }
      envelope.start(first, end);
      if (first > 0) envelope.add(first - 1, 0);
      for (std::int64_t x = first; x < end; ++x)
        if (columns[x] != none_) envelope.add(x, std::int64_t{columns[x]} * columns[x]);
      if (end < width) envelope.add(end, 0);
      envelope.write(job_.most, squared);
    }
  }

  CpuBackend& backend_;
  DistanceJob job_;
  std::size_t width_;
  std::int32_t reach_;
  Steps none_;  ///< distance along a column without a pixel of the other side within reach
  RowMethod method_;
  std::int64_t tile_height_ = 1;
  WorkspaceVector<Steps> chords_;
  WorkspaceVector<std::uint8_t>
      values_[2];  ///< values outside and inside for every squared distance; empty beyond most_tabled
  WorkspaceVector<DistanceBuffers<Steps>> buffers_;  ///< one per thread
};

inline Prepared<DistanceJob> PrepareDistance(Backend& backend, const DistanceJob& job) {
  if (reach_of(job) < 0xFF) return std::make_unique<Distance<std::uint8_t>>(as_cpu(backend), job);
  return std::make_unique<Distance<std::uint16_t>>(as_cpu(backend), job);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareDistance);

Prepared<DistanceJob> prepare_distance(Backend& backend, const DistanceJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareDistance)(backend, job);
}

}  // namespace satin::cpu
#endif
