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
#include "means/cpu/striped_words-inl.h"
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
        flip_(box.feeds ? 0 : 0x8000),
        halo_(static_cast<std::size_t>(box.halo_x) * stripes_.channels),
        line_((stripes_.entries() + 2 * halo_ + 2) * lanes) {
    prefix_.resize(3 * halo_ + stripes_.channels);
    windows_.resize(stripes_.channels * lanes);
    clipped_.resize(halo_ * sizeof(std::uint16_t));
  }

  [[nodiscard]] std::size_t bytes() const noexcept {
    return (line_.size() + prefix_.size() + windows_.size()) * sizeof(std::uint32_t) + clipped_.size();
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
      Mean* means = reinterpret_cast<Mean*>(out);
      box_.covers_rows() ? covered_row<Value>(store, y, row_at, means)
                         : whole_row<Value>(store, y, row_at, means);
      patch(store, y, means);
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
  static constexpr std::size_t piece_columns = 64;

  /// Rows that a step down takes in and leaves: of the whole window, and for fractional radii of what it
  /// covers partly.
  template <class Value>
  struct Edges {
    const Value* enters;
    const Value* leaves;
    const Value* enters_edges = nullptr;
    const Value* leaves_edges = nullptr;
    StripedWords::V weight = PairWeight(1);
    StripedWords::V edge_weight = PairWeight(0);
  };

  /// Column sums of entry e, vector by vector; entries from -halo_ on exist, and a vector
  /// more on either side.
  [[nodiscard]] std::uint32_t* line(std::ptrdiff_t e) {
    return line_.data() + (static_cast<std::ptrdiff_t>(halo_) + 1 + e) * static_cast<std::ptrdiff_t>(lanes);
  }
  [[nodiscard]] std::uint32_t* line(std::size_t e) { return line(static_cast<std::ptrdiff_t>(e)); }

  /// One step down of an entry of all stripes.
  template <bool Covered, class Value>
  static HWY_INLINE StripedWords step_down(const Edges<Value>& rows, std::size_t at, std::uint32_t* line) {
    StripedWords sums = AddWeighted<Covered>(StripedWords::load(line), LoadShorts(rows.enters + at),
                                             LoadShorts(rows.leaves + at), rows.weight);
    if constexpr (Covered)
      sums = AddWeighted<true>(sums, LoadShorts(rows.enters_edges + at), LoadShorts(rows.leaves_edges + at),
                               rows.edge_weight);
    sums.store(line);
    return sums;
  }

  template <bool Covered, class Value>
  void step_down(const Edges<Value>& rows, std::size_t first, std::size_t last) {
    for (std::size_t e = first; e < last; ++e) step_down<Covered>(rows, e * lanes, line(e));
  }

  template <class Value, class RowAt>
  void whole_row(const MeanStore& store, std::int64_t y, const RowAt& row_at, auto* out) {
    using Mean = std::remove_pointer_t<decltype(out)>;
    const Edges<Value> rows{As<Value>(row_at(y + box_.reach_y)), As<Value>(row_at(y - 1 - box_.reach_y))};
    if (!started_) start<Value>(y, row_at);
    const bool moves = started_ && rows.enters != rows.leaves;
    const double weight = static_cast<double>(1U << store.rule.write_shift);
    if constexpr (sizeof(Mean) == 2)
      if (ShortQuotient::exact(weight, divisor(y)))
        return slide<false>(rows, moves, out, ShortQuotient(weight, divisor(y)));
    slide<false>(rows, moves, out, WholeQuotient<Mean>(weight, divisor(y)));
  }

  template <class Value, class RowAt, class Mean>
  void covered_row(const MeanStore& store, std::int64_t y, const RowAt& row_at, Mean* out) {
    const std::int64_t reach = box_.reach_y;
    const Edges<Value> rows{As<Value>(row_at(y + reach)),
                            As<Value>(row_at(y - 1 - reach)),
                            As<Value>(row_at(y + 1 + reach)),
                            As<Value>(row_at(y - 2 - reach)),
                            PairWeight(static_cast<std::uint32_t>(box_.row_weight(0))),
                            PairWeight(static_cast<std::uint32_t>(box_.row_weight(1)))};
    if (!started_) start<Value>(y, row_at);
    const double scale = static_cast<double>(1U << store.rule.write_shift);
    const CoveredWeights weights(scale * box_.column_weight(0), scale * box_.column_weight(1));
    if constexpr (sizeof(Mean) == 1) {
      slide<true>(rows, started_, out, StripedByteQuotient(weights, divisor(y)));
    } else {
      slide<true>(rows, started_, out, StripedCoveredQuotient(weights, divisor(y)));
    }
  }

  /// Column sums around row y: the whole window, and the larger one, each with its weight.
  template <class Value, class RowAt>
  void start(std::int64_t y, const RowAt& row_at) {
    const auto nothing =
        hn::Set(StripedShorts(), static_cast<std::int16_t>(-std::int32_t{value_centre<Value>}));
    for (std::size_t e = 0; e < stripes_.entries(); ++e) StripedWords::set(0).store(line(e));
    for (std::int64_t outer = 0; outer <= box_.halo_y - box_.reach_y; ++outer) {
      const auto weight = PairWeight(static_cast<std::uint32_t>(box_.row_weight(outer)));
      const std::int64_t reach = box_.reach_y + outer;
      for (std::int64_t at = y - reach; at <= y + reach; ++at) {
        const Value* row = As<Value>(row_at(at));
        for (std::size_t e = 0; e < stripes_.entries(); ++e)
          AddWeighted<true>(StripedWords::load(line(e)), LoadShorts(row + e * lanes), nothing, weight)
              .store(line(e));
      }
    }
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
    begin_windows(quotient.taken);
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
    constexpr bool doubtful = std::is_same_v<Quotient, StripedByteQuotient>;
    StripedWords window = StripedWords::load(kept);
    const auto flip = hn::Set(StripedShorts(), static_cast<std::int16_t>(flip_));
    const std::size_t channels = stripes_.channels;
    const std::size_t step = channels * lanes;
    const std::size_t inner = static_cast<std::size_t>(box_.reach_x) * step;
    const std::size_t halo = halo_ * lanes;
    std::uint32_t* centre = line(first);
    alignas(64)
        std::uint32_t doubted[doubtful ? piece_columns : 1][2][lanes];  // sums whose means are in doubt
    std::size_t doubts[doubtful ? piece_columns : 1];
    std::size_t doubt_count = 0;
    for (std::size_t e = first; e < last; e += channels, centre += step) {
      StripedSums sums;
      StripedWords arrives;
      if constexpr (Moves) {
        arrives = step_down<Covered>(rows, e * lanes + halo, centre + halo);
      } else {
        arrives = StripedWords::load(centre + halo);
      }
      sums.inner = window + (Covered ? StripedWords::load(centre + inner) : arrives);
      sums.edges = Covered ? arrives + StripedWords::load(centre - halo) : arrives;
      window = sums.inner - StripedWords::load(centre - inner);
      StripedWords means;
      const bool certain = quotient(sums, means);
      if constexpr (doubtful) {
        if (!certain) {
          sums.inner.store(doubted[doubt_count][0]);
          sums.edges.store(doubted[doubt_count][1]);
          doubts[doubt_count++] = e;
        }
      }
      StoreMeans(means, flip, out + e * lanes);
    }
    if constexpr (doubtful)
      for (std::size_t i = 0; i < doubt_count; ++i)
        quotient.settle(doubted[i][0], doubted[i][1], out + doubts[i] * lanes);
    window.store(kept);
  }

  /// Sums the window around the first column of every stripe, but for its last column, less `taken`.
  void begin_windows(std::uint32_t taken) {
    const std::size_t inner = static_cast<std::size_t>(box_.reach_x) * stripes_.channels;
    for (std::size_t c = 0; c < stripes_.channels; ++c) {
      StripedWords sum = StripedWords::set(0) - StripedWords::set(taken);
      const std::uint32_t* from = line(c) - inner * lanes;
      for (std::size_t e = 0; e < 2 * inner; e += stripes_.channels)
        sum = sum + StripedWords::load(from + e * lanes);
      sum.store(windows_.data() + c * lanes);
    }
  }

  /// Column sums beyond the ends of every stripe: its neighbours', or the border's.
  void exchange_halos() {
    const std::size_t entries = stripes_.entries();
    const std::size_t shared = stripes_.shared() * stripes_.channels;
    std::uint32_t* before = line(std::size_t{0}) - halo_ * lanes;
    for (std::size_t e = 0; e < halo_; ++e) {
      StripedWords::load(line(entries - halo_ + e) - 1).store(before + e * lanes);
      StripedWords::load(line(e) + 1).store(line(entries + e));
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
    const auto flip = static_cast<Mean>(value_centre<Mean> ^ flip_);
    for (std::size_t e = 0; e < halo_; ++e) out[e * lanes] = static_cast<Mean>(means[e] ^ flip);
  }

  const ChainBox& box_;
  Stripes stripes_;
  std::uint16_t flip_;                   ///< turns signed means of 16 bits into stored ones, if it is not 0
  std::size_t halo_;                     ///< entries
  WorkspaceVector<std::uint32_t> line_;  ///< column sums, weighted for fractional radii
  WorkspaceVector<std::uint32_t> prefix_;
  WorkspaceVector<std::byte> clipped_;
  WorkspaceVector<std::uint32_t> windows_;  ///< a vector a channel
  bool started_ = false;
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
