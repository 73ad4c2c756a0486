// One box that slides down the whole width of a picture whose rows are striped (means/cpu/stripes-inl.h),
// compiled for every SIMD target: column sums over the rows of a window, and windows that slide along them.

#if defined(SATIN_STRIPED_BOX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_STRIPED_BOX_INL_H
#undef SATIN_STRIPED_BOX_INL_H
#else
#define SATIN_STRIPED_BOX_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "core/workspace.h"
#include "means/box_mean.h"
#include "means/cpu/box_chain.h"
#include "means/cpu/divide-inl.h"
#include "means/cpu/sliding_box-inl.h"
#include "means/cpu/stripes-inl.h"
#include "pixels/cpu/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

class StripedBox {
 public:
  static constexpr bool striped = true;

  /// Whether the box is for stripes: sums are words, means at most 16 bits, and radii whole or not along both
  /// axes. Half a stripe is more than what it shares with its neighbours.
  static bool fits(const ChainBox& box) {
    const BoxMeanJob& job = box.job;
    const Stripes stripes(static_cast<std::size_t>(job.width), static_cast<std::size_t>(job.read.channels));
    const auto shares = static_cast<std::size_t>(box.halo_x) + stripes.shared() + 1;
    const auto short_type = [](Type type) { return type == Type::u8 || type == Type::u16; };
    const bool whole_x = box.reach_x == box.halo_x;
    const auto covered = [](Radius256 radius) { return 2.0 * radius + radius_one; };
    const double divisor = covered(job.radius.x) * covered(job.radius.y) *
                           static_cast<double>(std::uint64_t{1} << job.read.fraction);
    return Stripes::lanes > 1 && box.sums == Sums::words && box.in_rows && !box.unweights() &&
           !job.excludes && short_type(box.input) && short_type(box.output) && job.border != Border::wrap &&
           box.reach_x > 0 && whole_x != box.covers_rows() &&
           (whole_x ? box.words : box.output == Type::u8 || divisor <= largest_word_divisor) &&
           stripes.columns > 2 * shares && stripes.entries() >= 16;
  }

  StripedBox(const ChainBox& box, std::int64_t width)
      : box_(box),
        stripes_(static_cast<std::size_t>(width), static_cast<std::size_t>(box.job.read.channels)),
        halo_(static_cast<std::size_t>(box.halo_x) * stripes_.channels),
        line_((stripes_.entries() + 2 * halo_ + 2) * lanes) {
    if (box.covers_rows()) sums_.resize(stripes_.entries() * lanes);
    prefix_.resize(3 * halo_ + stripes_.channels);
    windows_.resize(stripes_.channels * lanes);
    clipped_.resize(halo_ * sizeof(std::uint16_t));
  }

  [[nodiscard]] std::size_t bytes() const noexcept {
    return (line_.size() + sums_.size() + prefix_.size()) * sizeof(std::uint32_t) + clipped_.size();
  }
  void place(std::int64_t, std::int64_t) {
    started_ = false;
    std::fill(line_.begin(), line_.end(), 0U);
  }
  [[nodiscard]] std::int64_t in_first() const { return 0; }
  [[nodiscard]] std::size_t in_pixels() const { return stripes_.width; }
  [[nodiscard]] std::size_t out_pixels() const { return stripes_.width; }
  [[nodiscard]] std::size_t row_entries() const { return stripes_.entries() * lanes; }
  [[nodiscard]] std::size_t channel_of(std::size_t entry) const { return entry / lanes % stripes_.channels; }
  [[nodiscard]] const Stripes& stripes() const { return stripes_; }

  /// As SlidingBox::mean_row(); rows of input and output are striped.
  template <class RowAt>
  void mean_row(const MeanStore& store, const BoxMeanImages&, std::int64_t y, const RowAt& row_at,
                std::byte* out) {
    const auto with_output = [&]<class Value, class Mean>() {
      box_.covers_rows() ? covered_row<Value>(store, y, row_at, reinterpret_cast<Mean*>(out))
                         : whole_row<Value>(store, y, row_at, reinterpret_cast<Mean*>(out));
    };
    const auto with_input = [&]<class Value>() {
      box_.output == Type::u8 ? with_output.template operator()<Value, std::uint8_t>()
                              : with_output.template operator()<Value, std::uint16_t>();
    };
    box_.input == Type::u8 ? with_input.template operator()<std::uint8_t>()
                           : with_input.template operator()<std::uint16_t>();
    started_ = true;
  }

 private:
  static constexpr std::size_t lanes = Stripes::lanes;
#if HWY_HAVE_SCALABLE || HWY_TARGET == HWY_SCALAR
  using Words = hn::CappedTag<std::uint32_t, 1>;
#else
  using Words = hn::ScalableTag<std::uint32_t>;
#endif
  using V = hn::Vec<Words>;
  static constexpr std::size_t piece_columns = 64;

  /// Rows that the window takes in and leaves, and for fractional radii the row below it; `leaves` is then
  /// the row above it.
  template <class Value>
  struct Edges {
    const Value* enters;
    const Value* leaves;
    const Value* below = nullptr;
    V outer = hn::Zero(Words());
  };

  /// Quotients that are right for all sums.
  template <class Quotient>
  struct Certain {
    Quotient quotient;

    HWY_INLINE bool operator()(const CoveredWords<Words>& sums, V& means) const {
      means = quotient(sums);
      return true;
    }
    static void settle(const std::uint32_t* /*inner*/, const std::uint32_t* /*edges*/,
                       std::uint16_t* /*means*/) {}
    static void settle(const std::uint32_t* /*inner*/, const std::uint32_t* /*edges*/,
                       std::uint8_t* /*means*/) {}
  };
  template <class Quotient>
  Certain(Quotient) -> Certain<Quotient>;

  /// Means of 8 bits that are seldom left in doubt, and settled by doubles then, as in DivideByOne().
  struct ByteQuotient {
    ByteEstimate<Words> estimate;
    CoveredWeights weights;
    double divisor;

    HWY_INLINE bool operator()(const CoveredWords<Words>& sums, V& means) const {
      return estimate(sums, means);
    }
    void settle(const std::uint32_t* inner, const std::uint32_t* edges, std::uint8_t* means) const {
      const double reciprocal = 1.0 / divisor;
      for (std::size_t k = 0; k < lanes; ++k) {
        const double sum = inner[k] * weights.whole + edges[k] * weights.outer;
        means[k] = static_cast<std::uint8_t>((sum + 0.25) * reciprocal + 0.5);
      }
    }
  };

  /// Column sums of entry e, vector by vector; entries from -halo_ on exist, and a vector
  /// more on either side.
  [[nodiscard]] std::uint32_t* line(std::ptrdiff_t e) {
    return line_.data() + (static_cast<std::ptrdiff_t>(halo_) + 1 + e) * static_cast<std::ptrdiff_t>(lanes);
  }
  [[nodiscard]] std::uint32_t* line(std::size_t e) { return line(static_cast<std::ptrdiff_t>(e)); }

  /// One step down of a vector of columns.
  template <bool Covered, class Value>
  static HWY_INLINE V step_down(const Edges<Value>& rows, std::size_t at, std::uint32_t* line,
                                std::uint32_t* sums) {
    const Words d;
    const V leaves = LoadWide(d, rows.leaves + at);
    std::uint32_t* whole = Covered ? sums + at : line;
    const V sum = hn::Add(hn::LoadU(d, whole), hn::Sub(LoadWide(d, rows.enters + at), leaves));
    hn::StoreU(sum, d, whole);
    if constexpr (!Covered) return sum;
    const V edges = hn::Mul(hn::Add(leaves, LoadWide(d, rows.below + at)), rows.outer);
    const V weighted = hn::Add(hn::ShiftLeft<8>(sum), edges);
    hn::StoreU(weighted, d, line);
    return weighted;
  }

  template <bool Covered, class Value>
  void step_down(const Edges<Value>& rows, std::size_t first, std::size_t last) {
    for (std::size_t e = first; e < last; ++e) step_down<Covered>(rows, e * lanes, line(e), sums_.data());
  }

  template <class Value, class RowAt>
  void whole_row(const MeanStore& store, std::int64_t y, const RowAt& row_at, auto* out) {
    Edges<Value> rows{As<Value>(row_at(y + box_.reach_y)), As<Value>(row_at(y - 1 - box_.reach_y))};
    const bool moves = started_ && rows.enters != rows.leaves;
    if (!started_) start<Value>(y, row_at, line(std::size_t{0}));
    const double weight = static_cast<double>(1U << store.rule.write_shift);
    const WordQuotient quotient(Words(), weight, divisor(y));
    slide<false>(rows, moves, out,
                 Certain{[quotient](const CoveredWords<Words>& sums) { return quotient(sums.inner); }});
    patch(store, y, out);
  }

  template <class Value, class RowAt, class Mean>
  void covered_row(const MeanStore& store, std::int64_t y, const RowAt& row_at, Mean* out) {
    Edges<Value> rows{As<Value>(row_at(y + box_.reach_y)), As<Value>(row_at(y - 1 - box_.reach_y)),
                      As<Value>(row_at(y + 1 + box_.reach_y))};
    rows.outer = hn::Set(Words(), static_cast<std::uint32_t>(box_.row_weight(1)));
    if (!started_) {
      start<Value>(y, row_at, sums_.data());
      rows.enters = rows.leaves;
    }
    const double scale = static_cast<double>(1U << store.rule.write_shift);
    const CoveredWeights weights(scale * box_.column_weight(0), scale * box_.column_weight(1));
    if constexpr (sizeof(Mean) == 1) {
      slide<true>(rows, true, out, ByteQuotient{{Words(), weights, divisor(y)}, weights, divisor(y)});
    } else {
      slide<true>(rows, true, out, Certain{CoveredQuotient(Words(), weights, divisor(y))});
    }
    patch(store, y, out);
  }

  template <class Value, class RowAt>
  void start(std::int64_t y, const RowAt& row_at, std::uint32_t* sums) const {
    std::fill_n(sums, row_entries(), 0U);
    for (std::int64_t row = y - box_.reach_y; row <= y + box_.reach_y; ++row)
      Add(As<Value>(row_at(row)), row_entries(), sums);
  }

  /// Of windows that are not clipped along x.
  [[nodiscard]] double divisor(std::int64_t y) const {
    const Radius256 radius = box_.job.radius.x;
    return static_cast<double>(2 * radius + radius_one) / (radius % radius_one == 0 ? radius_one : 1) *
           size_y(y);
  }
  [[nodiscard]] double size_y(std::int64_t y) const {
    const BoxMeanJob& job = box_.job;
    const std::uint64_t size = axis_box(y, job.height, job.radius.y, job.border).size;
    return static_cast<double>(job.write.working ? size : size << job.read.fraction);
  }

  /// Means of all windows as if none was clipped. Columns near both ends of the stripes step down first, as
  /// their neighbours see them; the others when the first window reaches them.
  template <bool Covered, class Value, class Mean, class Quotient>
  void slide(const Edges<Value>& rows, bool moves, Mean* out, const Quotient& quotient) {
    const std::size_t entries = stripes_.entries();
    const std::size_t shared = (stripes_.shared() + 1) * stripes_.channels;  // mirror sees one column more
    const std::size_t rim = halo_ + shared;
    if (moves) {
      step_down<Covered>(rows, 0, rim);
      step_down<Covered>(rows, entries - rim, entries);
    }
    exchange_halos();
    begin_windows();
    const std::size_t middle = moves ? entries - rim - halo_ : shared;
    slide_along<Covered, false>(rows, 0, shared, out, quotient);
    slide_along<Covered, true>(rows, shared, middle, out, quotient);
    slide_along<Covered, false>(rows, middle, entries, out, quotient);
  }

  /// Windows around entries [first, last), channel by channel in pieces that stay in the first cache.
  template <bool Covered, bool Moves, class Value, class Mean, class Quotient>
  void slide_along(const Edges<Value>& rows, std::size_t first, std::size_t last, Mean* out,
                   const Quotient& quotient) {
    const std::size_t channels = stripes_.channels;
    const std::size_t piece = piece_columns * channels;
    for (; first < last; first += piece)
      for (std::size_t c = 0; c < channels; ++c)
        slide_channel<Covered, Moves>(rows, first + c, std::min(first + piece, last), out, quotient,
                                      windows_.data() + c * lanes);
  }

  template <bool Covered, bool Moves, class Value, class Mean, class Quotient>
  HWY_INLINE void slide_channel(Edges<Value> rows, std::size_t first, std::size_t last, Mean* out,
                                Quotient quotient, std::uint32_t* kept) {
    const Words d;
    V window = hn::LoadU(d, kept);
    const std::size_t channels = stripes_.channels;
    const std::size_t step = channels * lanes;
    const std::size_t inner = static_cast<std::size_t>(box_.reach_x) * step;
    const std::size_t halo = halo_ * lanes;
    std::uint32_t* centre = line(first);
    std::uint32_t* sums = sums_.data();
    alignas(64) std::uint32_t doubted[piece_columns][2][lanes];  // sums whose means are in doubt
    std::size_t doubts[piece_columns];
    std::size_t doubt_count = 0;
    for (std::size_t e = first; e < last; e += channels, centre += step) {
      V arrives = hn::Zero(d);
      if constexpr (Moves) arrives = step_down<Covered>(rows, e * lanes + halo, centre + halo, sums);
      CoveredWords<Words> covered{window, window};
      if constexpr (Covered) {
        if constexpr (!Moves) arrives = hn::LoadU(d, centre + halo);
        covered.inner = hn::Add(window, hn::LoadU(d, centre + inner));
        covered.edges = hn::Add(arrives, hn::LoadU(d, centre - halo));
      } else {
        covered.inner = hn::Add(window, Moves ? arrives : hn::LoadU(d, centre + inner));
      }
      window = hn::Sub(covered.inner, hn::LoadU(d, centre - inner));
      V means;
      if (!quotient(covered, means)) {
        hn::Store(covered.inner, d, doubted[doubt_count][0]);
        hn::Store(covered.edges, d, doubted[doubt_count][1]);
        doubts[doubt_count++] = e;
      }
      StoreWords(d, means, out + e * lanes);
    }
    for (std::size_t i = 0; i < doubt_count; ++i)
      quotient.settle(doubted[i][0], doubted[i][1], out + doubts[i] * lanes);
    hn::StoreU(window, d, kept);
  }

  /// What the window around the first column of every stripe has, but for its last column.
  void begin_windows() {
    const Words d;
    const std::size_t inner = static_cast<std::size_t>(box_.reach_x) * stripes_.channels;
    for (std::size_t c = 0; c < stripes_.channels; ++c) {
      V sum = hn::Zero(d);
      const std::uint32_t* from = line(c) - inner * lanes;
      for (std::size_t e = 0; e < 2 * inner; e += stripes_.channels)
        sum = hn::Add(sum, hn::LoadU(d, from + e * lanes));
      hn::StoreU(sum, d, windows_.data() + c * lanes);
    }
  }

  /// Column sums beyond the ends of every stripe: its neighbours', or the border's.
  void exchange_halos() {
    const Words d;
    const std::size_t entries = stripes_.entries();
    const std::size_t shared = stripes_.shared() * stripes_.channels;
    std::uint32_t* before = line(std::size_t{0}) - halo_ * lanes;
    for (std::size_t e = 0; e < halo_; ++e) {
      hn::StoreU(hn::LoadU(d, line(entries - halo_ + e) - 1), d, before + e * lanes);
      hn::StoreU(hn::LoadU(d, line(e) + 1), d, line(entries + e));
    }
    for (std::size_t e = 0; e < halo_ && shared != 0; ++e) {
      before[e * lanes + lanes - 1] = line(entries - shared - halo_ + e)[lanes - 2];
      line(entries + e)[lanes - 2] = line(e + shared)[lanes - 1];
    }
    const std::int64_t channels = static_cast<std::int64_t>(stripes_.channels);
    for (std::size_t e = 0; e < halo_; ++e) {
      const auto entry = static_cast<std::int64_t>(e);
      before[e * lanes] = beyond(entry / channels - box_.halo_x, e % stripes_.channels);
      line(entries + e)[lanes - 1] = beyond(box_.job.width + entry / channels, e % stripes_.channels);
    }
  }

  /// The sum of a column outside the picture.
  [[nodiscard]] std::uint32_t beyond(std::int64_t x, std::size_t channel) {
    if (box_.job.border == Border::shrink) return 0;
    const std::int64_t from = source_of(x, box_.job.width, box_.job.border);
    if (from < 0) return static_cast<std::uint32_t>(box_.outside(channel) * box_.rows(0));
    const auto column = static_cast<std::size_t>(from);
    const std::size_t lane = column < stripes_.first(lanes - 1) ? column / stripes_.columns : lanes - 1;
    return line((column - stripes_.first(lane)) * stripes_.channels + channel)[lane];
  }

  /// Means of windows that the picture's sides clip.
  template <class Mean>
  void patch(const MeanStore& store, std::int64_t y, Mean* out) {
    if (box_.job.border != Border::shrink) return;
    const std::size_t entries = stripes_.entries();
    const double* sizes = box_.sizes.data();
    patch_side(store, y, line(std::size_t{0}) - halo_ * lanes, sizes, out);
    patch_side(store, y, line(entries - 2 * halo_) + lanes - 1, sizes + box_.sizes.size() - halo_,
               out + (entries - halo_) * lanes + lanes - 1);
  }

  /// `sums` are those of the columns that the clipped windows see, three times as many as there are windows.
  template <class Mean>
  void patch_side(const MeanStore& store, std::int64_t y, const std::uint32_t* sums, const double* sizes,
                  Mean* out) {
    const std::size_t channels = stripes_.channels;
    std::uint32_t* prefix = prefix_.data();
    std::fill_n(prefix, channels, 0U);
    for (std::size_t e = 0; e < 3 * halo_; ++e) prefix[e + channels] = prefix[e] + sums[e * lanes];
    BoxDifferences<std::uint32_t> boxes;
    boxes.boxes = 0;
    for (std::int64_t outer = 0; outer <= box_.halo_x - box_.reach_x; ++outer) {
      const std::size_t reach = static_cast<std::size_t>(box_.reach_x + outer) * channels;
      boxes.ahead[boxes.boxes] = prefix + halo_ + reach + channels;
      boxes.behind[boxes.boxes] = prefix + halo_ - reach;
      boxes.weight[boxes.boxes++] =
          static_cast<double>(1U << store.rule.write_shift) * box_.column_weight(outer);
    }
    Divisors divisors;
    divisors.divisor = size_y(y);
    divisors.size_x = sizes;
    auto* means = reinterpret_cast<Mean*>(clipped_.data());
    Divide(boxes, divisors, 0, halo_, means);
    for (std::size_t e = 0; e < halo_; ++e) out[e * lanes] = means[e];
  }

  const ChainBox& box_;
  Stripes stripes_;
  std::size_t halo_;                     ///< entries
  WorkspaceVector<std::uint32_t> line_;  ///< column sums, weighted for fractional radii
  WorkspaceVector<std::uint32_t> sums_;  ///< what `line_` has weighted
  WorkspaceVector<std::uint32_t> prefix_;
  WorkspaceVector<std::byte> clipped_;
  WorkspaceVector<std::uint32_t> windows_;  ///< a vector a channel
  bool started_ = false;
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
