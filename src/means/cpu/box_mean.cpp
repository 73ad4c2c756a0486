// Chooses how a box mean is computed, and computes those with a radius per pixel.
//
// One radius for all pixels is computed by sliding windows (means/cpu/box_chain.h). A radius map reads four
// entries of a summed-area table per whole box (Crow 1984). For small radii of integers without mask, a tile
// keeps the last rows of its own table in a ring that stays in the cache (BoxMeanRing). That table covers the
// picture extended by its border, so only Border::shrink needs other divisors at the edges. All other jobs
// use a table of the whole picture (BoxMeanTable).

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "means/cpu/box_mean.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "core/cpu/backend.h"
#include "core/workspace.h"
#include "means/box_mean.h"
#include "means/cpu/box_chain.h"
#include "means/cpu/divide-inl.h"
#include "means/maths/mean.h"
#include "pixels/cpu/load_wide-inl.h"
#include "pixels/cpu/rows-inl.h"
#include "tables/cpu/scan-inl.h"
#include "tables/table.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// Reach, weights and divisor of the box of one radius.
struct BoxOfRadius {
  std::int32_t reach = 0;   ///< reach of the inner whole window
  bool fractional = false;  ///< whether the outer window, one pixel further each way, counts too
  double inner = 1;         ///< weight of a row or column of the inner window
  double outer = 0;         ///< weight of a row or column of the outer window
  double divisor = 1;
  double half_up = 0;     ///< floor(divisor / 2) + 1/2
  double reciprocal = 0;  ///< 1 / divisor, correctly rounded
};

/// Returns the box with this divisor: its area in pixels, or in 1/65536 pixel for a fractional radius.
inline BoxOfRadius BoxOf(Radius256 radius, std::uint64_t divisor) {
  BoxOfRadius box;
  box.reach = radius / radius_one;
  box.fractional = radius % radius_one != 0;
  if (box.fractional) {
    box.outer = radius % radius_one;
    box.inner = radius_one - box.outer;
  }
  box.divisor = static_cast<double>(divisor);
  box.half_up = static_cast<double>(divisor / 2) + 0.5;
  box.reciprocal = 1.0 / box.divisor;
  return box;
}

/// Returns the box of a window that is not clipped.
inline BoxOfRadius BoxOf(Radius256 radius) {
  const auto side = static_cast<std::uint64_t>(radius % radius_one == 0 ? 2 * (radius / radius_one) + 1
                                                                        : 2 * radius + radius_one);
  return BoxOf(radius, side * side);
}

/// A table whose rows form a ring: row y is at data + (y & row_mask) * stride.
template <class Sum>
struct RingTable {
  const Sum* data = nullptr;
  std::size_t stride = 0;
  std::size_t row_mask = 0;
};

/// Entries past the last pixel that GatherMeans() may read from a table and write to the means.
inline constexpr std::size_t gather_slack = 3;

/// Returns the sums of one whole box as doubles, for the channels that D holds.
template <class D, class Sum>
HWY_INLINE auto WholeBox(D d, const Sum* above, const Sum* below, std::size_t left, std::size_t right) {
  const hn::Rebind<Sum, D> sums;
  const auto lower = hn::Sub(hn::LoadU(sums, below + right), hn::LoadU(sums, below + left));
  const auto upper = hn::Sub(hn::LoadU(sums, above + right), hn::LoadU(sums, above + left));
  if constexpr (std::is_same_v<Sum, double>)
    return hn::Sub(lower, upper);
  else
    return ExactDouble(d, hn::Sub(lower, upper));
}

/// One pixel's box in a table.
template <std::size_t Channels, class Sum>
struct PlacedBox {
  HWY_INLINE PlacedBox(const RingTable<Sum>& of, std::size_t x, std::size_t at, const BoxOfRadius& box)
      : table(of),
        y(at),
        reach(static_cast<std::size_t>(box.reach)),
        left((x - reach - 1) * Channels),
        right((x + reach) * Channels),
        above(row(y - reach - 1)),
        below(row(y + reach)) {}

  [[nodiscard]] HWY_INLINE const Sum* row(std::size_t at) const {
    return table.data + (at & table.row_mask) * table.stride;
  }

  const RingTable<Sum>& table;
  std::size_t y;
  std::size_t reach;
  std::size_t left;  ///< entry of the column left of the inner window
  std::size_t right;
  const Sum* above;  ///< row above the inner window
  const Sum* below;
};

/// Adds the product of a whole sum, below 2^52, and a weight.
template <class D>
HWY_INLINE void AddProduct(D d, hn::Vec<D> sum, hn::Vec<D> weight, WideSums<D>& total) {
  const hn::Rebind<std::uint64_t, D> integers;
  const auto product = LowWordProduct(integers, WholeBits(d, sum), WholeBits(d, weight));
  total.low = hn::Add(total.low, product);
  total.estimate = hn::MulAdd(sum, weight, total.estimate);
}

/// Returns the weighted sum of the whole boxes for the channels from c on that D holds, which is exact as a
/// double (below 2^53) or as WideSums.
template <bool Wide, std::size_t Channels, class D, class Sum>
HWY_INLINE auto CoveredSum(D d, const PlacedBox<Channels, Sum>& at, const BoxOfRadius& box, std::size_t c) {
  const auto whole = [&](const Sum* above, const Sum* below, std::size_t more) HWY_ATTR {
    return WholeBox(d, above + c, below + c, at.left - more, at.right + more);
  };
  auto sum = whole(at.above, at.below, 0);
  const auto inner = hn::Set(d, box.inner);
  WideSums<D> wide_sum{hn::Zero(hn::Rebind<std::uint64_t, D>()), hn::Zero(d)};
  if constexpr (Wide) AddProduct(d, sum, hn::Mul(inner, inner), wide_sum);
  if (box.fractional) {
    const Sum* outer_above = at.row(at.y - at.reach - 2);
    const Sum* outer_below = at.row(at.y + at.reach + 1);
    const auto outer = hn::Set(d, box.outer);
    const auto wide = whole(at.above, at.below, Channels);
    const auto tall = whole(outer_above, outer_below, 0);
    const auto both = whole(outer_above, outer_below, Channels);
    if constexpr (Wide) {
      AddProduct(d, hn::Add(wide, tall), hn::Mul(inner, outer), wide_sum);
      AddProduct(d, both, hn::Mul(outer, outer), wide_sum);
    } else {
      sum = hn::Add(hn::Mul(inner, hn::Add(hn::Mul(inner, sum), hn::Mul(outer, wide))),
                    hn::Mul(outer, hn::Add(hn::Mul(inner, tall), hn::Mul(outer, both))));
    }
  }
  if constexpr (Wide)
    return wide_sum;
  else
    return sum;
}

/// Returns sum / divisor, to nearest, ties up, for sums up to 2^53, from an estimate whose whole part errs by
/// at most 1: the remainder is exact.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V NearestQuotient(D d, V sum, V divisor, V estimate) {
  const auto quotient = hn::Trunc(estimate);
  const auto rest = hn::NegMulAdd(quotient, divisor, sum);
  return hn::Add(quotient, hn::IfThenElseZero(hn::Ge(hn::Add(rest, rest), divisor), hn::Set(d, 1.0)));
}

/// Returns a covered sum over the divisor of its box, to nearest, ties up. Sums of u32 are below 2^50.
template <class Sum, class D, class V = hn::Vec<D>>
HWY_INLINE V MeanOf(D d, V sum, const BoxOfRadius& box) {
  const auto reciprocal = hn::Set(d, box.reciprocal);
  if constexpr (sizeof(Sum) == 4) return hn::Mul(hn::Add(sum, hn::Set(d, box.half_up)), reciprocal);
  return NearestQuotient(d, sum, hn::Set(d, box.divisor), hn::Mul(sum, reciprocal));
}

template <class Sum, class D>
HWY_INLINE hn::Vec<D> MeanOf(D d, WideSums<D> sum, const BoxOfRadius& box) {
  return QuotientOf(d, sum, hn::Set(d, box.divisor));
}

/// Returns covered sums of colours times alpha over the sum of alpha, at most `white`, and that of alpha over
/// the divisor of the box. The sum of alpha is below 2^52.
template <bool Wide, std::size_t Channels, class D, class Sum>
HWY_INLINE auto UnweightedMean(D d, const PlacedBox<Channels, Sum>& at, const BoxOfRadius& box, std::size_t c,
                               double white) {
  const hn::RebindToSigned<D> integers;
  const auto last = hn::Set(integers, Channels - 1);
  const auto is_alpha =
      hn::RebindMask(d, hn::Eq(hn::And(hn::Iota(integers, static_cast<std::int64_t>(c)), last), last));
  const hn::CappedTag<double, 1> one;
  const auto alpha = hn::GetLane(EstimateOf(one, CoveredSum<Wide>(one, at, box, Channels - 1)));
  const auto divisor = hn::IfThenElse(is_alpha, hn::Set(d, box.divisor), hn::Set(d, std::max(alpha, 1.0)));
  const auto sum = CoveredSum<Wide>(d, at, box, c);
  if constexpr (Wide)
    return hn::Min(QuotientOf(d, sum, divisor), hn::Set(d, white));
  else
    return hn::Min(NearestQuotient(d, sum, divisor, hn::Div(sum, divisor)), hn::Set(d, white));
}

/// Sets means[x * Channels + c] for x in [first, last) to the mean over the box boxes[x] around (x, y),
/// rounded to nearest, ties up; if Weighted, colours are means times alpha over that of alpha. All entries
/// must exist, and gather_slack more. Sums of u32 are below 2^31.
template <bool Weighted, bool Wide, std::size_t Channels, class Sum>
HWY_NOINLINE void GatherMeans(const RingTable<Sum>& table, std::size_t y, const BoxOfRadius* const* boxes,
                              std::size_t first, std::size_t last, double white,
                              std::uint32_t* HWY_RESTRICT means) {
  const hn::CappedTag<double, 4> d;
  const hn::Rebind<std::int32_t, decltype(d)> d32;
  const hn::Rebind<std::uint32_t, decltype(d)> du32;
  for (std::size_t x = first; x < last; ++x) {
    const BoxOfRadius& box = *boxes[x];
    const PlacedBox<Channels, Sum> at(table, x, y, box);
    for (std::size_t c = 0; c < Channels; c += hn::Lanes(d)) {
      hn::Vec<decltype(d)> mean;
      if constexpr (Weighted)
        mean = UnweightedMean<Wide>(d, at, box, c, white);
      else
        mean = MeanOf<Sum>(d, CoveredSum<Wide>(d, at, box, c), box);
      hn::StoreU(hn::BitCast(du32, hn::DemoteTo(d32, mean)), du32, means + x * Channels + c);
    }
  }
}

constexpr std::int64_t largest_reach = 125;  // a ring of 256 rows
constexpr std::int64_t tile_width = 256;

/// Workspace of one thread for one tile.
template <class Sum>
struct RingTile {
  WorkspaceVector<Sum> ring;
  WorkspaceVector<std::uint32_t> values;  ///< one extended row of the tile
  WorkspaceVector<BoxOfRadius> boxes;     ///< boxes of pixels that box_of_code_ does not hold
  WorkspaceVector<const BoxOfRadius*> box_at;
  WorkspaceVector<std::uint32_t> means;
};

/// `Wide`: whether weighted sums may exceed 2^53.
template <class Sum, bool Wide>
class BoxMeanRing final : public BoxMeanOperation {
 public:
  BoxMeanRing(CpuBackend& backend, const BoxMeanJob& job, std::int64_t reach)
      : backend_(backend),
        job_(job),
        channels_(static_cast<std::size_t>(job.read.channels)),
        halo_(reach + 1) {
    while (ring_rows_ < 2 * static_cast<std::size_t>(halo_) + 2) ring_rows_ *= 2;
    stride_ = static_cast<std::size_t>(std::min(tile_width, job.width) + 2 * halo_) * channels_;
    tiles_.resize(static_cast<std::size_t>(backend.threads.count()));
    const auto pixels = static_cast<std::size_t>(tile_width);
    for (RingTile<Sum>& tile : tiles_) {
      tile.ring.resize(ring_rows_ * stride_ + gather_slack);
      tile.values.resize(stride_);
      tile.boxes.resize(pixels + 2 * static_cast<std::size_t>(halo_));
      tile.box_at.resize(tile.boxes.size());
      tile.means.resize(tile.boxes.size() * channels_ + gather_slack);
    }
    if (job.radius.map_type == Type::u8)
      for (std::uint32_t value = 0; value < 256; ++value)
        box_of_code_.push_back(BoxOf(radius_from_map(value, 255, job.radius.low, job.radius.high)));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = 0;
    for (const RingTile<Sum>& tile : tiles_)
      bytes += tile.ring.size() * sizeof(Sum) + (tile.values.size() + tile.means.size()) * 4 +
               tile.boxes.size() * (sizeof(BoxOfRadius) + sizeof(void*));
    return bytes;
  }

  void run(const BoxMeanImages& images, Stream) override {
    const MeanStore store = mean_store(job_, images.measured);
    const std::int64_t across = (job_.width + tile_width - 1) / tile_width;
    const std::int64_t down =
        across >= 2 * backend_.threads.count()
            ? 1
            : std::clamp<std::int64_t>(job_.height / (4 * halo_), 1, backend_.threads.count());
    backend_.threads.for_rows(across * down, 1, [&](std::int64_t first, std::int64_t last, int thread) {
      RingTile<Sum>& tile = tiles_[static_cast<std::size_t>(thread)];
      for (std::int64_t i = first; i < last; ++i) {
        const Columns columns{i % across * tile_width, std::min((i % across + 1) * tile_width, job_.width)};
        slide(store, images, columns, job_.height * (i / across) / down,
              job_.height * (i / across + 1) / down, tile);
      }
    });
  }

 private:
  struct Columns {
    std::int64_t first;
    std::int64_t last;
  };

  void slide(const MeanStore& store, const BoxMeanImages& images, Columns columns, std::int64_t first,
             std::int64_t last, RingTile<Sum>& tile) const {
    std::int64_t built = first - halo_;  // next row of the extended picture to be added to the ring
    for (std::int64_t y = first; y < last; ++y) {
      for (; built <= y + halo_; ++built)
        build_row(store.reader, images.source, columns, built, first - halo_, tile);
      mean_row(store, images, columns, y, tile);
    }
  }

  [[nodiscard]] Sum* ring_row(RingTile<Sum>& tile, std::int64_t position) const {
    const auto row = static_cast<std::size_t>(position + largest_reach + 1) & (ring_rows_ - 1);
    return tile.ring.data() + row * stride_;
  }

  /// Adds one row to the tile's table.
  void build_row(const RowReader& reader, const ImageView& source, Columns columns, std::int64_t position,
                 std::int64_t start, RingTile<Sum>& tile) const {
    const auto pixels = static_cast<std::size_t>(columns.last - columns.first + 2 * halo_);
    const std::int64_t y = source_of(position, job_.height, job_.border);
    if (y < 0) {
      std::fill_n(tile.values.begin(), pixels * channels_, 0);
    } else {
      read_extended(reader, source, columns, y, tile);
    }
    const Sum* above = position == start ? nullptr : ring_row(tile, position - 1);
    using Value = std::conditional_t<sizeof(Sum) == 4, const Sum, const std::int32_t>;  // signed words
    Scan(reinterpret_cast<Value*>(tile.values.data()), pixels, job_.read.channels, above,
         ring_row(tile, position));
  }

  /// Reads the working values of the tile's columns of row y, with the border on either side.
  void read_extended(const RowReader& reader, const ImageView& source, Columns columns, std::int64_t y,
                     RingTile<Sum>& tile) const {
    const std::int64_t first = columns.first - halo_;
    const std::int64_t inner_first = std::max<std::int64_t>(first, 0);
    const std::int64_t inner_last = std::min(columns.last + halo_, job_.width);
    const auto at = [&](std::int64_t x) {
      return tile.values.data() + static_cast<std::size_t>(x - first) * channels_;
    };
    const auto read_outside = [&](std::int64_t x) {
      const std::int64_t from = source_of(x, job_.width, job_.border);
      if (from < 0) {
        std::fill_n(at(x), channels_, 0);
      } else {
        ReadRow(reader, source.at(from, y), 1, at(x));
      }
    };
    ReadRow(reader, source.at(inner_first, y), static_cast<std::size_t>(inner_last - inner_first),
            at(inner_first));
    for (std::int64_t x = first; x < inner_first; ++x) read_outside(x);
    for (std::int64_t x = inner_last; x < columns.last + halo_; ++x) read_outside(x);
  }

  void mean_row(const MeanStore& store, const BoxMeanImages& images, Columns columns, std::int64_t y,
                RingTile<Sum>& tile) const {
    choose_boxes(images.radius_map, columns, y, tile);
    const auto pixels = static_cast<std::size_t>(columns.last - columns.first);
    const auto halo = static_cast<std::size_t>(halo_);
    const RingTable<Sum> table{tile.ring.data(), stride_, ring_rows_ - 1};
    const auto gather = [&]<bool Weighted, std::size_t Channels>() {
      GatherMeans<Weighted, Wide, Channels>(table, static_cast<std::size_t>(y + largest_reach + 1),
                                            tile.box_at.data(), halo, halo + pixels,
                                            static_cast<double>(white_of(job_.read)), tile.means.data());
    };
    const std::uint32_t* means = tile.means.data() + halo * channels_;
    if (job_.read.weighted) {
      channels_ == 2 ? gather.template operator()<true, 2>() : gather.template operator()<true, 4>();
      return store_with_alpha(means, store, images, columns, y);
    }
    with_channels(job_.read.channels, [&]<int Channels>() { gather.template operator()<false, Channels>(); });
    const std::size_t count = pixels * channels_;
    if (job_.write.type == Type::u8) {
      EncodeWorking(means, count, store.rule.transfer,
                    images.output.row<std::uint8_t>(y) + columns.first * job_.read.channels);
    } else {
      EncodeWorking(means, count, store.rule.transfer,
                    images.output.row<std::uint16_t>(y) + columns.first * job_.read.channels);
    }
  }

  /// Stores a row of bytes with alpha.
  void store_with_alpha(const std::uint32_t* means, const MeanStore& store, const BoxMeanImages& images,
                        Columns columns, std::int64_t y) const {
    std::array<std::uint16_t, static_cast<std::size_t>(tile_width) * 4> values;
    const auto pixels = static_cast<std::size_t>(columns.last - columns.first);
    Narrow(means, pixels * channels_, values.data());
    const std::int64_t first = columns.first * job_.read.channels;
    StoreWithAlpha(values.data(), pixels, channels_, store.rule.transfer,
                   images.original.row<std::uint8_t>(y) + first, images.output.row<std::uint8_t>(y) + first);
  }

  /// Finds the box of every pixel of a row of the tile. The divisor of a clipped window is its area in the
  /// picture.
  void choose_boxes(const ImageView& map, Columns columns, std::int64_t y, RingTile<Sum>& tile) const {
    BoxOfRadius* boxes = tile.boxes.data() + halo_;
    const BoxOfRadius** box_at = tile.box_at.data() + halo_;
    const auto choose = [&](std::int64_t x, bool clipped) {
      const Radius256 radius = radius_at(job_.radius, map, x, y);
      boxes[x - columns.first] = clipped
                                     ? BoxOf(radius, axis_box(x, job_.width, radius, job_.border).size *
                                                         axis_box(y, job_.height, radius, job_.border).size)
                                     : BoxOf(radius);
      box_at[x - columns.first] = &boxes[x - columns.first];
    };
    const Columns inside = unclipped(columns, y);
    for (std::int64_t x = columns.first; x < inside.first; ++x) choose(x, true);
    if (!box_of_code_.empty()) {
      const auto* codes = map.row<std::uint8_t>(y);
      for (std::int64_t x = inside.first; x < inside.last; ++x)
        box_at[x - columns.first] = &box_of_code_[codes[x]];
    } else {
      for (std::int64_t x = inside.first; x < inside.last; ++x) choose(x, false);
    }
    for (std::int64_t x = inside.last; x < columns.last; ++x) choose(x, true);
  }

  /// Returns the columns of the tile whose windows are not clipped, whatever the radius.
  [[nodiscard]] Columns unclipped(Columns columns, std::int64_t y) const {
    if (job_.border != Border::shrink) return columns;
    if (y < halo_ || y + halo_ >= job_.height) return {columns.last, columns.last};
    const std::int64_t first = std::clamp(halo_, columns.first, columns.last);
    return {first, std::clamp(job_.width - halo_, first, columns.last)};
  }

  CpuBackend& backend_;
  BoxMeanJob job_;
  std::size_t channels_;
  std::int64_t halo_;  ///< number of columns and rows that windows reach beyond the tile
  std::size_t ring_rows_ = 2;
  std::size_t stride_ = 0;                    ///< entries per row of the ring
  WorkspaceVector<BoxOfRadius> box_of_code_;  ///< box for each value of an 8-bit map
  WorkspaceVector<RingTile<Sum>> tiles_;      ///< one per thread
};

inline Prepared<BoxMeanJob> PrepareBoxMeanRing(CpuBackend& backend, const BoxMeanJob& job) {
  const std::int64_t reach = (std::max(job.radius.low, job.radius.high) + radius_one - 1) / radius_one;
  const bool bytes = job.read.type == Type::u8 && job.write.type == Type::u8;
  const bool plain = job.radius.from_map && !job.excludes && !job.read.fixed_point &&
                     (!job.read.weighted || bytes) && job.read.fraction == 0 && job.mask_maximum == 0 &&
                     job.border != Border::constant &&
                     (job.write.type == Type::u8 || job.write.type == Type::u16);
  if (!plain || reach > largest_reach) return nullptr;
  constexpr std::uint64_t weights = radius_one * radius_one;
  const std::uint64_t box = largest_box(job.width, job.height, job.radius, job.border);
  const std::uint64_t most = (std::uint64_t{1} << 53) / (job.read.maximum + 1);
  if (narrow_sums(job) && box <= most / (8 * weights))
    return std::make_unique<BoxMeanRing<std::uint32_t, false>>(backend, job, reach);
  const auto halo = static_cast<std::uint64_t>(reach) + 1;
  const std::uint64_t tile = (tile_width + 2 * halo) * (static_cast<std::uint64_t>(job.height) + 2 * halo);
  if (tile > most) return nullptr;
  if (box <= most / weights) return std::make_unique<BoxMeanRing<double, false>>(backend, job, reach);
  if (wide_sums_fit(job, box, weights))
    return std::make_unique<BoxMeanRing<double, true>>(backend, job, reach);
  return nullptr;
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareBoxMeanRing);

namespace {

/// Reads four entries of a table for every whole box, and, if pixels are excluded, four entries of a table of
/// the validity mask. A radius of 0 needs no table.
template <class Sum>
class BoxMeanTable final : public BoxMeanOperation {
 public:
  BoxMeanTable(CpuBackend& backend, const BoxMeanJob& job)
      : backend_(backend), job_(job), table_shape_{job.width, job.height, job.read.channels, sum_type} {
    if (!job.radius.from_map && job.radius.x == 0 && job.radius.y == 0) return;
    table_ = backend.allocate(byte_size(table_shape_));
    build_ = backend.prepare(TableJob{job.width, job.height, job.read, false, job.accumulator});
    if (!job.excludes) return;
    // The number of pixels in a box fits 32 bits, like the pixels of the largest box.
    counts_shape_ = {job.width, job.height, 1, Type::u32};
    counts_ = backend.allocate(byte_size(counts_shape_));
    build_counts_ = backend.prepare(TableJob{job.width, job.height, counted_pixels()});
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = table_.size + counts_.size;
    if (build_ != nullptr) bytes += build_->workspace_bytes();
    if (build_counts_ != nullptr) bytes += build_counts_->workspace_bytes();
    return bytes;
  }

  void run(const BoxMeanImages& images, Stream stream) override {
    if (build_ != nullptr)
      build_->run(images.source, images.measured, mutable_view_of(table_.get(), table_shape_), stream);
    if (build_counts_ != nullptr)
      build_counts_->run(images.included, nullptr, mutable_view_of(counts_.get(), counts_shape_), stream);
    const MeanStore store = mean_store(job_, images.measured);
    with_output(job_, [&]<int Channels, class T>() {
      parallel_rows(backend_, job_.height, 4, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t y = first; y < last; ++y) gather_row<Channels, T>(store, images, y);
      });
    });
  }

 private:
  static constexpr Type sum_type = sizeof(Sum) == 4 ? Type::u32 : Type::u64;

  [[nodiscard]] Radius256 radius_along(Radius256 constant, const ImageView& map, std::int64_t x,
                                       std::int64_t y) const {
    return job_.radius.from_map ? radius_at(job_.radius, map, x, y) : constant;
  }

  template <int Channels, class T>
  void gather_row(const MeanStore& store, const BoxMeanImages& images, std::int64_t y) {
    const TableView<Sum> table{reinterpret_cast<const Sum*>(table_.get()), job_.width * Channels, job_.width,
                               job_.height};
    const TableView<std::uint32_t> counts{reinterpret_cast<const std::uint32_t*>(counts_.get()), job_.width,
                                          job_.width, job_.height};
    T* out = images.output.row<T>(y);
    for (std::int64_t x = 0; x < job_.width; ++x, out += Channels) {
      const Radius256 radius_x = radius_along(job_.radius.x, images.radius_map, x, y);
      const Radius256 radius_y = radius_along(job_.radius.y, images.radius_map, x, y);
      const std::uint32_t mask = mask_at(images.mask, x, y);
      if ((radius_x == 0 && radius_y == 0) || mask == 0) {
        keep_pixel<Channels>(store, job_, images, x, y, out);
        continue;
      }
      WideSum sums[4];
      std::uint64_t count =
          covered_box_sums<Channels>(table, x, y, radius_x, radius_y, job_.border, store.rule, sums);
      if (job_.excludes) count = covered_count(counts, x, y, radius_x, radius_y, job_.border);
      store_pixel<Channels>(store, images, x, y, sums, count, mask, out);
    }
  }

  CpuBackend& backend_;
  BoxMeanJob job_;
  Shape table_shape_;
  Buffer table_;
  std::unique_ptr<TableOperation> build_;  ///< null for a radius of 0
  Shape counts_shape_;
  Buffer counts_;
  std::unique_ptr<TableOperation> build_counts_;  ///< null unless the job excludes pixels
};

}  // namespace

Prepared<BoxMeanJob> prepare_box_mean(Backend& backend, const BoxMeanJob& job) {
  CpuBackend& cpu = as_cpu(backend);
  if (auto chain = backend.prepare(BoxChainJob{std::span(&job, 1)})) return chain;
  if (auto ring = HWY_DYNAMIC_DISPATCH(PrepareBoxMeanRing)(cpu, job)) return ring;
  if (job.accumulator == Accumulator::u32) return std::make_unique<BoxMeanTable<std::uint32_t>>(cpu, job);
  return std::make_unique<BoxMeanTable<std::uint64_t>>(cpu, job);
}

}  // namespace satin::cpu
#endif
