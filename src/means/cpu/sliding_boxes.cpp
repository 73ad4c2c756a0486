// One tile of a chain of boxes, compiled for every SIMD target.
//
// A box slides a window down the tile. For each row it updates the sums of all columns by the row that enters
// and the row that leaves, scans them along the row to prefix sums, and divides the difference of two
// prefixes by the number of pixels. So a row costs the same for every radius. The three steps alternate every
// few hundred columns, so that sums and prefixes stay in the L1 cache.
//
// Every box keeps the last rows of its input in a ring, unless it reads the picture in place. A row of its
// means is the newest row of the next box's ring, so that no intermediate picture is stored.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "means/cpu/sliding_boxes.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "core/with_type.h"
#include "core/workspace.h"
#include "means/box_mean.h"
#include "means/cpu/box_chain.h"
#include "means/cpu/divide-inl.h"
#include "pixels/cpu/blend-inl.h"
#include "pixels/cpu/load_wide-inl.h"
#include "pixels/cpu/rows-inl.h"
#include "pixels/cpu/transfer-inl.h"
#include "tables/cpu/scan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// --- Column sums ---

template <class T>
const T* As(const std::byte* row) {
  return reinterpret_cast<const T*>(row);
}

template <class T>
T* As(WorkspaceVector<std::byte>& row) {
  return reinterpret_cast<T*>(row.data());
}

/// The rows that a window gains and loses when it moves down by one row.
template <class Value>
struct RowChange {
  const Value* enters;
  const Value* leaves;
};

/// Returns the products of colours and alpha, and alpha, of pixels with `Channels` values.
template <int Channels, class D, class Value>
HWY_INLINE hn::Vec<D> LoadProducts(D d, const Value* row, std::size_t i) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return hn::PromoteTo(d, LoadProducts<Channels>(hn::Rebind<std::uint32_t, D>(), row, i));
  } else {
    const auto values = LoadWide(d, row + i);
    hn::Vec<D> alpha;
    if constexpr (hn::MaxLanes(D()) >= Channels) {
      alpha = AlphaOf<Channels>(values);
    } else {
      alpha = hn::Set(d, row[i | (Channels - 1)]);
    }
    return hn::IfThenElse(IsAlpha<Channels>(d, i), values, hn::Mul(values, alpha));
  }
}

/// Adds the products of a row that enters, and takes away those of one that leaves unless it is null.
template <int Channels, class Value, class Sum>
void ExchangeProducts(const Value* enters, const Value* leaves, std::size_t count, Sum* HWY_RESTRICT sums) {
  const hn::ScalableTag<Sum> vectors;
  const auto add = [&](auto d, std::size_t i) HWY_ATTR {
    auto sum = hn::Add(hn::LoadU(d, sums + i), LoadProducts<Channels>(d, enters, i));
    if (leaves != nullptr) sum = hn::Sub(sum, LoadProducts<Channels>(d, leaves, i));
    hn::StoreU(sum, d, sums + i);
  };
  const std::size_t lanes = hn::Lanes(vectors);
  std::size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    add(vectors, i);
    add(vectors, i + lanes);
  }
  for (; i + lanes <= count; i += lanes) add(vectors, i);
  for (; i < count; ++i) add(hn::CappedTag<Sum, 1>(), i);
}

/// Adds (256 - outer) * a + outer * b to sums[i], where a is the change of the inner window and b that of the
/// window that reaches a row further each way. Sum is u32, which wraps, or double.
template <class Value, class Sum>
void ExchangeCovered(RowChange<Value> smaller, RowChange<Value> larger, std::uint32_t outer,
                     std::size_t count, Sum* HWY_RESTRICT sums) {
  // Values are below 2^31, so that their differences are signed words.
  const hn::ScalableTag<Sum> vectors;
  const hn::CappedTag<Sum, 1> entries;
  const auto add = [&](auto d, std::size_t i) HWY_ATTR {
    const hn::Rebind<std::uint32_t, decltype(d)> words;
    const auto change = [&](const RowChange<Value>& rows) HWY_ATTR {
      return hn::Sub(LoadWide(words, rows.enters + i), LoadWide(words, rows.leaves + i));
    };
    const auto inner = change(smaller);
    auto sum = hn::LoadU(d, sums + i);
    if constexpr (std::is_same_v<Sum, double>) {
      sum = hn::MulAdd(ExactDouble(d, inner), hn::Set(d, 256.0 - outer), sum);
      sum = hn::MulAdd(ExactDouble(d, change(larger)), hn::Set(d, outer), sum);
    } else {
      const auto more = hn::Sub(change(larger), inner);
      sum = hn::Add(sum, hn::Add(hn::ShiftLeft<8>(inner), hn::Mul(more, hn::Set(d, outer))));
    }
    hn::StoreU(sum, d, sums + i);
  };
  std::size_t i = 0;
  for (; i + hn::Lanes(vectors) <= count; i += hn::Lanes(vectors)) add(vectors, i);
  for (; i < count; ++i) add(entries, i);
}

// --- One box ---

class SlidingBox {
 public:
  SlidingBox(const ChainBox& box, std::int64_t width)
      : box_(box),
        channels_(static_cast<std::size_t>(box.job.read.channels)),
        row_entries_(entries(box.columns(width))) {
    const std::int64_t pixels = box.columns(width);
    const std::size_t sum = box.sums == Sums::integer32 ? sizeof(std::uint32_t) : sizeof(std::uint64_t);
    const std::size_t scanned = entries(whole_vectors(pixels + vector_pixels() - 1)) + cache_line_entries;
    const std::size_t line_bytes = whole_lines(scanned * sum);
    const std::size_t window_bytes = line_bytes + whole_lines((scanned + channels_) * sum);
    memory_.resize(window_count() * window_bytes);
    for (std::size_t i = 0; i < window_count(); ++i) {
      windows_[i].line = memory_.data() + i * window_bytes;
      windows_[i].prefix = windows_[i].line + line_bytes;
    }
  }

  [[nodiscard]] std::size_t bytes() const noexcept { return memory_.size(); }

  /// Moves the box above the first row of a tile, to columns [first, last) of its output.
  void place(std::int64_t first, std::int64_t last) {
    first_ = first;
    last_ = last;
    started_ = false;
    left_ = first;
    right_ = last;
    if (box_.job.border == Border::shrink) {
      left_ = std::clamp(box_.halo_x, first, last);
      right_ = std::clamp(box_.job.width - box_.halo_x, left_, last);
    }
    const std::size_t before = entries(in_first() - (first - box_.halo_x));
    line_at_ = cache_line_entries - 1 - (before + cache_line_entries - 1) % cache_line_entries;
    prefix_at_ = cache_line_entries - 1 - (before + channels_ + cache_line_entries - 1) % cache_line_entries;
    size_x_ = axis_box(left_, box_.job.width, box_.job.radius.x, box_.job.border).size;
    std::fill(memory_.begin(), memory_.end(), std::byte{0});
  }

  /// Writes row y of its means, as values of its output type. Rows follow each other. row_at(position)
  /// returns a row of its input, from in_first() on, for any position of the extended picture.
  template <class RowAt>
  void mean_row(const MeanStore& store, const BoxMeanImages& images, std::int64_t y, const RowAt& row_at,
                std::byte* out) {
    begin_row(y, row_at);
    extend();
    if (box_.job.write.type == Type::f32) original_ = images.original.row<float>(y) + entries(first_);
    if (box_.division == Division::integer64) {
      scan_to(last_ - first_ + 2 * box_.halo_x);
      return with_output(box_.job, [&]<int Channels, class T>() {
        store_pixels<Channels>(store, images, y, reinterpret_cast<T*>(out));
      });
    }
    box_.sums == Sums::integer32 ? divide_row<std::uint32_t>(store, y, out)
    : box_.sums == Sums::float64 ? divide_row<double>(store, y, out)
                                 : divide_row<std::uint64_t>(store, y, out);
    sum_to(in_last());
  }

  [[nodiscard]] std::int64_t in_first() const { return std::max<std::int64_t>(0, first_ - box_.halo_x); }
  [[nodiscard]] std::int64_t in_last() const { return std::min(box_.job.width, last_ + box_.halo_x); }
  [[nodiscard]] std::size_t in_pixels() const { return static_cast<std::size_t>(in_last() - in_first()); }
  [[nodiscard]] std::size_t out_pixels() const { return static_cast<std::size_t>(last_ - first_); }
  /// Returns the largest number of entries of an input row in a ring.
  [[nodiscard]] std::size_t row_entries() const { return row_entries_; }

 private:
  static constexpr std::int64_t cached_columns = 256;
  static constexpr std::size_t cache_line_entries = 16;

  /// The sums of one window of rows, in memory_.
  struct Window {
    std::byte* line;    ///< column sums, with those of the border on either side
    std::byte* prefix;  ///< prefix sums of `line`, behind one pixel of zeros
  };

  [[nodiscard]] std::size_t window_count() const { return static_cast<std::size_t>(box_.windows()); }
  [[nodiscard]] std::size_t entries(std::int64_t pixels) const {
    return static_cast<std::size_t>(pixels) * channels_;
  }

  /// Returns a power of two of pixels that fill whole vectors of every width: an even number of vectors or a
  /// multiple of three.
  [[nodiscard]] std::int64_t vector_pixels() const { return channels_ == 1 ? 32 : channels_ == 4 ? 8 : 16; }
  [[nodiscard]] std::int64_t whole_vectors(std::int64_t pixels) const {
    return (pixels + vector_pixels() - 1) & -vector_pixels();
  }

  [[nodiscard]] static std::size_t whole_lines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

  template <class Entry>
  [[nodiscard]] Entry* line_of(std::size_t window) {
    return reinterpret_cast<Entry*>(windows_[window].line) + line_at_;
  }
  template <class Sum>
  [[nodiscard]] Sum* prefix_of(std::size_t window) {
    return reinterpret_cast<Sum*>(windows_[window].prefix) + prefix_at_;
  }

  /// Returns the column sums of a window from in_first() on.
  template <class Sum>
  [[nodiscard]] Sum* inner_columns(std::size_t window) {
    return line_of<Sum>(window) + entries(in_first() - (first_ - box_.halo_x));
  }

  /// Calls call.template operator()<Value, Sum>() with the types of input values and column sums.
  template <class Call>
  void with_columns(const Call& call) const {
    const auto with_sum = [&]<class Value>() {
      if (box_.sums == Sums::float64 && box_.covers_rows()) return call.template operator()<Value, double>();
      call.template operator()<Value, std::uint32_t>();
    };
    if (box_.sums == Sums::integer64)
      return box_.input == Type::u64   ? call.template operator()<std::uint64_t, std::uint64_t>()
             : box_.input == Type::u16 ? call.template operator()<std::uint16_t, std::uint64_t>()
                                       : call.template operator()<std::uint32_t, std::uint64_t>();
    if (box_.input == Type::u8) return with_sum.template operator()<std::uint8_t>();
    if (box_.input == Type::u16) return with_sum.template operator()<std::uint16_t>();
    with_sum.template operator()<std::uint32_t>();
  }

  /// Finds the rows that windows gain and lose when they move down to row y. For the first row of a tile the
  /// column sums are added up instead.
  template <class RowAt>
  void begin_row(std::int64_t y, const RowAt& row_at) {
    for (std::int64_t reach = box_.reach_y; reach <= box_.halo_y; ++reach)
      changes_[static_cast<std::size_t>(reach - box_.reach_y)] = {row_at(y + reach), row_at(y - 1 - reach)};
    summed_ = started_ ? in_first() : in_last();
    if (started_) return;
    for (std::size_t i = 0; i < window_count(); ++i)
      with_columns([&]<class Value, class Sum>() { add_up<Value, Sum>(y, i, row_at); });
    started_ = true;
  }

  template <class Value, class Sum, class RowAt>
  void add_up(std::int64_t y, std::size_t window, const RowAt& row_at) {
    const std::int64_t reach = box_.reach_y + static_cast<std::int64_t>(window);
    const std::size_t count = in_pixels() * channels_;
    Sum* sums = inner_columns<Sum>(window);
    std::fill_n(sums, count, Sum{0});
    for (std::int64_t row = y - reach; row <= y + reach; ++row) {
      const Value* values = As<Value>(row_at(row));
      if constexpr (std::is_same_v<Sum, double>) {
        for (std::size_t i = 0; i < count; ++i) sums[i] += static_cast<Sum>(values[i]);
      } else {
        exchange(RowChange<Value>{values, nullptr}, count, sums);
      }
    }
    if (!box_.covers_rows()) return;
    const Value* above = As<Value>(row_at(y - 1 - reach));
    const Value* below = As<Value>(row_at(y + 1 + reach));
    const Sum outer = static_cast<Sum>(box_.row_weight(1));
    for (std::size_t i = 0; i < count; ++i)
      sums[i] = sums[i] * Sum{radius_one} + outer * (static_cast<Sum>(above[i]) + static_cast<Sum>(below[i]));
  }

  /// Adds a row that enters, and takes away one that leaves unless it is null.
  template <class Value, class Sum>
  void exchange(RowChange<Value> rows, std::size_t count, Sum* sums) const {
    if constexpr (sizeof(Value) <= 2)
      if (box_.multiplies)
        return channels_ == 2 ? ExchangeProducts<2>(rows.enters, rows.leaves, count, sums)
                              : ExchangeProducts<4>(rows.enters, rows.leaves, count, sums);
    rows.leaves == nullptr ? Add(rows.enters, count, sums) : Exchange(rows.enters, rows.leaves, count, sums);
  }

  /// Moves the windows of input columns before x down by a row. Called shortly before their prefix sums are
  /// needed, so that the column sums are still in the L1 cache.
  void sum_to(std::int64_t x) {
    if (x <= summed_) return;
    const std::size_t first = entries(summed_ - in_first());
    const std::size_t count = entries(x - summed_);
    summed_ = x;
    with_columns([&]<class Value, class Sum>() {
      const auto change = [&](std::size_t i) {
        return RowChange<Value>{As<Value>(changes_[i].enters) + first, As<Value>(changes_[i].leaves) + first};
      };
      if constexpr (sizeof(Value) < 8 && !std::is_same_v<Sum, std::uint64_t>)
        if (box_.covers_rows())
          return ExchangeCovered(change(0), change(1), static_cast<std::uint32_t>(box_.row_weight(1)), count,
                                 inner_columns<Sum>(0) + first);
      if constexpr (!std::is_same_v<Sum, double>)
        for (std::size_t i = 0; i < window_count(); ++i) {
          const RowChange<Value> rows = change(i);
          if (rows.enters != rows.leaves) exchange(rows, count, inner_columns<Sum>(i) + first);
        }
    });
  }

  /// Calls call.template operator()<Entry, Sum>() with the types of column sums and prefixes.
  template <class Call>
  void with_sums(const Call& call) {
    if (box_.sums == Sums::integer32) return call.template operator()<std::uint32_t, std::uint32_t>();
    if (box_.sums == Sums::integer64) return call.template operator()<std::uint64_t, std::uint64_t>();
    box_.covers_rows() ? call.template operator()<double, double>()
                       : call.template operator()<std::uint32_t, double>();
  }

  /// Fills in the column sums of the border. For Border::shrink they are the zeros that place() wrote, and so
  /// are the prefixes before the picture.
  void extend() {
    const BoxMeanJob& job = box_.job;
    const std::int64_t first = first_ - box_.halo_x;
    scanned_ = job.border == Border::shrink ? in_first() - first : 0;
    if (job.border == Border::shrink) return;
    sum_to(in_last());
    with_sums([&]<class Entry, class Sum>() {
      for (std::size_t i = 0; i < window_count(); ++i) {
        auto* line = line_of<Entry>(i);
        const auto fill = [&](std::int64_t x) {
          const std::int64_t from = source_of(x, job.width, job.border);
          for (std::size_t c = 0; c < channels_; ++c)
            line[entries(x - first) + c] = from < 0 ? static_cast<Entry>(box_.outside(c) * box_.rows(i))
                                                    : line[entries(from - first) + c];
        };
        for (std::int64_t x = first; x < in_first(); ++x) fill(x);
        for (std::int64_t x = in_last(); x < last_ + box_.halo_x; ++x) fill(x);
      }
    });
  }

  /// Computes prefix sums of at least the first `columns` columns.
  void scan_to(std::int64_t columns) {
    if (columns <= scanned_) return;
    const std::int64_t all = last_ - first_ + 2 * box_.halo_x;
    if (all - scanned_ <= 2 * cached_columns) columns = all;
    const std::int64_t more = whole_vectors(columns - scanned_);
    sum_to(std::min(in_last(), first_ - box_.halo_x + scanned_ + more));
    with_sums([&]<class Entry, class Sum>() {
      using Scanned = std::conditional_t<std::is_same_v<Entry, Sum>, Entry, std::int32_t>;  // signed words
      for (std::size_t i = 0; i < window_count(); ++i) {
        ScanAfter(true, line_of<const Scanned>(i) + entries(scanned_), static_cast<std::size_t>(more),
                  static_cast<int>(channels_), nullptr, prefix_of<Sum>(i) + entries(scanned_ + 1));
      }
    });
    scanned_ += more;
  }

  /// Returns the prefixes whose weighted differences are the box sums of the output's pixels.
  template <class Sum>
  BoxDifferences<Sum> differences(double scale) {
    BoxDifferences<Sum> result;
    result.boxes = 0;
    for (int outer_y = 0; outer_y < box_.windows(); ++outer_y) {
      const Sum* prefix = prefix_of<Sum>(static_cast<std::size_t>(outer_y)) + entries(1 + box_.halo_x);
      const double rows = box_.windows() == 1 ? scale : scale * box_.row_weight(outer_y);
      for (std::int64_t outer_x = 0; outer_x <= box_.halo_x - box_.reach_x; ++outer_x) {
        const std::size_t reach = entries(box_.reach_x + outer_x);
        result.ahead[result.boxes] = prefix + reach;
        result.behind[result.boxes] = prefix - reach - channels_;
        result.weight[result.boxes++] = rows * box_.column_weight(outer_x);
      }
    }
    return result;
  }

  /// Divides a row: columns with unclipped windows by one divisor, the others by their own.
  template <class Sum>
  void divide_row(const MeanStore& store, std::int64_t y, std::byte* out) {
    const BoxMeanJob& job = box_.job;
    std::uint64_t size_y = axis_box(y, job.height, job.radius.y, job.border).size;
    if (!job.write.working) size_y <<= job.read.fraction;
    const auto sums = differences<Sum>(1U << store.rule.write_shift);
    const auto divide = [&](const Divisors& divisors, std::int64_t from, std::int64_t to) {
      if (from < to) divide_columns(store, sums, divisors, from - first_, to - first_, out);
    };
    Divisors divisors;
    divisors.division = box_.division;
    divisors.divisor = static_cast<double>(size_x_ * size_y);
    divide(divisors, left_, right_);
    if (job.border != Border::shrink) return;
    divisors.divisor = static_cast<double>(size_y);
    divisors.window_pixels = box_.window_pixels.data() + entries(first_);
    divide(divisors, first_, left_);
    divide(divisors, right_, last_);
  }

  /// Divides columns [first, last) in steps of cached_columns, so that prefixes are still in the L1 cache.
  template <class Sum>
  void divide_columns(const MeanStore& store, const BoxDifferences<Sum>& sums, const Divisors& divisors,
                      std::int64_t first, std::int64_t last, std::byte* out) {
    for (std::int64_t next = first; first < last; first = next) {
      next = last - first < 2 * cached_columns ? last : first + cached_columns;
      scan_to(next + 2 * box_.halo_x);
      divide_cached(store, sums, divisors, entries(first), entries(next), out);
    }
  }

  template <class Sum>
  void divide_cached(const MeanStore& store, const BoxDifferences<Sum>& sums, const Divisors& divisors,
                     std::size_t first, std::size_t last, std::byte* out) const {
    if (box_.unweights() && box_.output != Type::f32)
      return unweight_cached(store, sums, divisors, first, last, out);
    const auto divide = [&]<class Mean>() {
      Mean* means = reinterpret_cast<Mean*>(out);
      if constexpr (std::is_same_v<Mean, float>) {
        FloatMeans(sums, divisors, store.exponents, box_.unweights() ? channels_ : 0, original_, first, last,
                   means);
      } else {
        Divide(sums, divisors, first, last, means);
      }
    };
    if (box_.output == Type::u8) return divide.template operator()<std::uint8_t>();
    if (box_.output == Type::u16) return divide.template operator()<std::uint16_t>();
    if (box_.output == Type::u32) return divide.template operator()<std::uint32_t>();
    if constexpr (std::is_same_v<Sum, std::uint64_t>)
      box_.output == Type::u64 ? divide.template operator()<std::uint64_t>()
                               : divide.template operator()<float>();
  }

  /// Divides colours by the sum of alpha, to means of 16 or 32 bits.
  template <class Sum>
  void unweight_cached(const MeanStore& store, const BoxDifferences<Sum>& sums, const Divisors& divisors,
                       std::size_t first, std::size_t last, std::byte* out) const {
    const std::uint32_t white = decode(box_.job.write.type == Type::u8 ? 0xFF : 0xFFFF, store.rule.transfer);
    const auto unweight = [&](auto* means) {
      Unweight(sums, divisors, first, last, channels_, white, means);
    };
    box_.output == Type::u16 ? unweight(reinterpret_cast<std::uint16_t*>(out))
                             : unweight(reinterpret_cast<std::uint32_t*>(out));
  }

  /// Stores a row of means of any kind, pixel by pixel. A constant border of floats is added last.
  template <int Channels, class T>
  void store_pixels(const MeanStore& store, const BoxMeanImages& images, std::int64_t y, T* out) {
    const BoxMeanJob& job = box_.job;
    const AxisBox along_y = axis_box(y, job.height, job.radius.y, job.border);
    const BoxDifferences<std::uint64_t> sums = differences<std::uint64_t>(1);
    for (std::int64_t x = first_; x < last_; ++x, out += Channels) {
      const std::uint32_t mask = job.mask_maximum == 0 ? 1 : mask_at(images.mask, x, y);
      if (mask == 0) {
        keep_pixel<Channels>(store, job, images, x, y, out);
        continue;
      }
      const AxisBox along_x = axis_box(x, job.width, job.radius.x, job.border);
      const std::uint64_t count = along_x.size * along_y.size;
      WideSum totals[4] = {};
      for (int i = 0; i < sums.boxes; ++i)
        for (int c = 0; c < Channels; ++c) {
          const std::int64_t at = (x - first_) * Channels + c;
          add_weighted(totals[c], static_cast<std::uint64_t>(sums.weight[i]),
                       sums.ahead[i][at] - sums.behind[i][at], job.read.fixed_point);
        }
      if (job.border == Border::constant && job.read.fixed_point)
        for (int c = 0; c < Channels; ++c)
          add_weighted(totals[c], count - along_x.existing * along_y.existing, store.rule.border_value[c],
                       true);
      store_pixel<Channels>(store, images, x, y, totals, count, mask, out);
    }
  }

  const ChainBox& box_;
  std::size_t channels_;
  std::size_t row_entries_;
  WorkspaceVector<std::byte> memory_;
  std::array<Window, 2> windows_{};
  std::array<RowChange<std::byte>, 2> changes_{};  ///< rows for the inner window and the larger one
  const float* original_ = nullptr;                ///< row of the input from its first column, for floats
  std::int64_t summed_ = 0;                        ///< end of the input columns whose sums are up to date
  bool started_ = false;                           ///< whether the column sums are those of a row of the tile
  std::int64_t scanned_ = 0;                       ///< number of columns whose prefixes are up to date
  std::int64_t first_ = 0;                         ///< columns [first_, last_) of its output
  std::int64_t last_ = 0;
  std::int64_t left_ = 0;  ///< columns [left_, right_) have unclipped windows
  std::int64_t right_ = 0;
  std::uint64_t size_x_ = 0;   ///< weighted width of unclipped windows
  std::size_t line_at_ = 0;    ///< offset that aligns the input's column sums to a cache line
  std::size_t prefix_at_ = 0;  ///< offset that aligns their prefixes to a cache line
};

// --- Excluded pixels: their count as one more channel ---

/// Expands pixels of `Channels` values, in place, by a channel that is 1; pixels with a mask of 0 become
/// zeros. The pixels lie at the end of the expanded row, so that no value is overwritten before it is read.
template <int Channels, class Weight, class Value>
void AppendCounts(const Weight* mask, std::size_t pixels, Value* row) {
  static_assert(Channels == 1 || Channels == 3);
  const hn::ScalableTag<Value> d;
  const Value* from = row + pixels;
  std::size_t x = 0;
  for (; x + hn::Lanes(d) <= pixels; x += hn::Lanes(d)) {
    const auto out = hn::Eq(LoadWide(d, mask + x), hn::Zero(d));
    const auto count = hn::IfThenZeroElse(out, hn::Set(d, 1));
    if constexpr (Channels == 1) {
      hn::StoreInterleaved2(hn::IfThenZeroElse(out, hn::LoadU(d, from + x)), count, d, row + 2 * x);
    } else {
      hn::Vec<decltype(d)> red, green, blue;
      hn::LoadInterleaved3(d, from + 3 * x, red, green, blue);
      hn::StoreInterleaved4(hn::IfThenZeroElse(out, red), hn::IfThenZeroElse(out, green),
                            hn::IfThenZeroElse(out, blue), count, d, row + 4 * x);
    }
  }
  for (; x < pixels; ++x) {
    const Value count = mask[x] == 0 ? 0 : 1;
    for (std::size_t c = 0; c < Channels; ++c)
      row[(Channels + 1) * x + c] = static_cast<Value>(from[Channels * x + c] * count);
    row[(Channels + 1) * x + Channels] = count;
  }
}

/// Removes the last value of every pixel, in place.
template <int Channels, class Mean>
void DropCounts(std::size_t pixels, Mean* means) {
  static_assert(Channels == 1 || Channels == 3);
  const hn::ScalableTag<Mean> d;
  hn::Vec<decltype(d)> red, green, blue, count;
  std::size_t x = 0;
  for (; x + hn::Lanes(d) <= pixels; x += hn::Lanes(d)) {
    if constexpr (Channels == 1) {
      hn::LoadInterleaved2(d, means + 2 * x, red, count);
      hn::StoreU(red, d, means + x);
    } else {
      hn::LoadInterleaved4(d, means + 4 * x, red, green, blue, count);
      hn::StoreInterleaved3(red, green, blue, d, means + 3 * x);
    }
  }
  for (; x < pixels; ++x)
    for (std::size_t c = 0; c < Channels; ++c) means[x * Channels + c] = means[x * (Channels + 1) + c];
}

// --- A tile of all boxes ---

class TileOfBoxes final : public SlidingBoxes {
 public:
  TileOfBoxes(std::span<const ChainBox> boxes, std::int64_t width)
      : boxes_(boxes),
        channels_(static_cast<std::size_t>(boxes[0].job.read.channels)),
        stored_channels_(static_cast<std::size_t>(boxes[0].stored_channels())) {
    states_.reserve(boxes.size());
    for (const ChainBox& box : boxes) {
      State& state = states_.emplace_back(State{SlidingBox(box, width)});
      const std::size_t entries = state.box.row_entries();
      const std::size_t ring_rows = in_place(box) ? 0 : static_cast<std::size_t>(box.ring_rows());
      state.row_bytes = entries * size_of(box.input);
      state.rows.resize((ring_rows + 1) * state.row_bytes);
      if (box.job.border != Border::constant) continue;  // the row outside the picture is zeros
      with_type(box.input, [&]<class Value>() {
        for (std::size_t i = 0; i < entries; ++i)
          reinterpret_cast<Value*>(state.outside())[i] = static_cast<Value>(box.outside_row(i % channels_));
      });
    }
    working_.resize(static_cast<std::size_t>(width) * channels_ * sizeof(std::uint64_t));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = working_.size();
    for (const State& state : states_) bytes += state.box.bytes() + state.rows.size();
    return bytes;
  }

  void run(std::span<const MeanStore> stores, const BoxMeanImages& images, Tile tile, const TakeMeans& take,
           int thread) override {
    stores_ = stores;
    images_ = &images;
    place(tile);
    for (std::int64_t y = tile.top; y < tile.bottom; ++y) {
      if (take) {
        last_means(y, working_.data());
        take(y, tile.left, tile.right, working_.data(), thread);
      } else {
        finish_row(y, tile.left);
      }
    }
  }

 private:
  struct State {
    SlidingBox box;
    WorkspaceVector<std::byte> rows{};  ///< the ring of its input, and a row outside the picture
    std::size_t row_bytes = 0;
    std::int64_t filled = 0;  ///< next row to be written into the ring

    [[nodiscard]] std::byte* outside() { return rows.data() + rows.size() - row_bytes; }
  };

  /// Moves all boxes above a tile. With Border::wrap, rows outside the picture are computed like others;
  /// other borders use rows of the picture near its edge, or a constant row.
  void place(Tile tile) {
    const BoxMeanJob& job = boxes_[0].job;
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      const ChainBox& box = boxes_[i];
      states_[i].box.place(std::max<std::int64_t>(0, tile.left - box.margin_x),
                           std::min(job.width, tile.right + box.margin_x));
      std::int64_t& filled = states_[i].filled;
      filled = tile.top - box.margin_y - box.halo_y;
      if (job.border != Border::wrap) filled = std::max<std::int64_t>(0, filled);
    }
  }

  std::byte* ring_row(std::size_t box, std::int64_t position) {
    const std::int64_t rows = boxes_[box].ring_rows();
    const auto index = static_cast<std::size_t>(
        position >= 0 ? static_cast<std::uint32_t>(position) % static_cast<std::uint32_t>(rows)
                      : (position % rows + rows) % rows);  // divisions of 64 bits are slow
    return states_[box].rows.data() + index * states_[box].row_bytes;
  }

  const std::byte* input_row(std::size_t box, std::int64_t position) {
    const BoxMeanJob& job = boxes_[box].job;
    const bool in_ring = !in_place(boxes_[box]);
    if (in_ring && job.border == Border::wrap) return ring_row(box, position);
    const std::int64_t y = source_of(position, job.height, job.border);
    if (y < 0) return states_[box].outside();
    return in_ring ? ring_row(box, y) : images_->source.at(states_[box].box.in_first(), y);
  }

  [[nodiscard]] static bool in_place(const ChainBox& box) {
    return box.source == RowSource::picture_in_place;
  }

  /// Decodes a row of the picture for the first box.
  void decode_row(std::int64_t position, std::byte* row) {
    const BoxMeanJob& job = boxes_[0].job;
    const SlidingBox& box = states_[0].box;
    const RowReader& reader = stores_[0].reader;
    const std::byte* source = images_->source.at(box.in_first(), source_of(position, job.height, job.border));
    if (job.excludes) {
      const std::byte* mask = images_->mask.at(box.in_first(), source_of(position, job.height, job.border));
      return boxes_[0].input == Type::u16 ? read_counted(source, mask, reinterpret_cast<std::uint16_t*>(row))
                                          : read_counted(source, mask, reinterpret_cast<std::uint32_t*>(row));
    }
    if (boxes_[0].input == Type::u16) {
      const auto* codes = As<std::uint8_t>(source);
      const std::size_t count = box.in_pixels() * channels_;
      auto* values = reinterpret_cast<std::uint16_t*>(row);
      if (boxes_[0].multiplies)
        return channels_ == 2 ? DecodeColours<2>(codes, count, reader.transfer, values)
                              : DecodeColours<4>(codes, count, reader.transfer, values);
      return reader.multiplies() ? ReadBytes(reader, codes, box.in_pixels(), values)
                                 : DecodeRow(codes, count, reader.transfer, values);
    }
    boxes_[0].input == Type::u32
        ? ReadRow(reader, source, box.in_pixels(), reinterpret_cast<std::uint32_t*>(row))
        : ReadRow(reader, source, box.in_pixels(), reinterpret_cast<std::uint64_t*>(row));
  }

  /// Reads the working values of a row, each pixel followed by 1; zeros where the mask is 0.
  template <class Value>
  void read_counted(const std::byte* source, const std::byte* mask, Value* row) const {
    const std::size_t pixels = states_[0].box.in_pixels();
    RowReader reader = stores_[0].reader;
    reader.read.weighted = false;
    reader.read.channels = boxes_[0].stored_channels();
    Value* values = row + pixels;
    if constexpr (sizeof(Value) == 4) {
      ReadRow(reader, source, pixels, values);
    } else if (reader.read.type == Type::u16) {
      std::copy_n(As<std::uint16_t>(source), pixels * stored_channels_, values);
    } else if (reader.transfer.decode == nullptr) {
      std::copy_n(As<std::uint8_t>(source), pixels * stored_channels_, values);
    } else {
      DecodeRow(As<std::uint8_t>(source), pixels * stored_channels_, reader.transfer, values);
    }
    const auto append = [&](const auto* weights) {
      stored_channels_ == 1 ? AppendCounts<1>(weights, pixels, row) : AppendCounts<3>(weights, pixels, row);
    };
    boxes_[0].job.mask_maximum == 0xFF ? append(As<std::uint8_t>(mask)) : append(As<std::uint16_t>(mask));
  }

  /// Writes row y of a box's means, after it has filled the box's ring by the means of the box before.
  void mean_row(std::size_t index, std::int64_t y, std::byte* out) {
    const ChainBox& box = boxes_[index];
    std::int64_t last = y + box.halo_y;
    if (box.job.border != Border::wrap) last = std::min(last, box.job.height - 1);
    if (!in_place(box))
      for (std::int64_t& next = states_[index].filled; next <= last; ++next)
        index == 0 ? decode_row(next, ring_row(0, next)) : mean_row(index - 1, next, ring_row(index, next));
    states_[index].box.mean_row(
        stores_[index], *images_, y, [&](std::int64_t position) { return input_row(index, position); }, out);
  }

  void last_means(std::int64_t y, std::byte* out) { mean_row(boxes_.size() - 1, y, out); }

  /// Writes row y of the output.
  void finish_row(std::int64_t y, std::int64_t left) {
    const ChainBox& last = boxes_.back();
    if (last.sink != RowSink::blend_or_encode) return last_means(y, images_->output.at(left, y));
    if (last.job.write.type == Type::u8)
      return last.output == Type::u16 ? store_row<std::uint8_t, std::uint16_t>(y, left)
                                      : store_row<std::uint8_t, std::uint32_t>(y, left);
    last.output == Type::u16 ? store_row<std::uint16_t, std::uint16_t>(y, left)
                             : store_row<std::uint16_t, std::uint32_t>(y, left);
  }

  /// Encodes and blends row y. Pixels with a mask of 0 are copied, and those with a full mask are not
  /// blended.
  template <class T, class Mean>
  void store_row(std::int64_t y, std::int64_t left) {
    last_means(y, working_.data());
    const std::size_t pixels = states_.back().box.out_pixels();
    const auto at = [&](const auto& view, std::size_t x) {
      return view.template row<T>(y) + (static_cast<std::size_t>(left) + x) * stored_channels_;
    };
    Mean* means = As<Mean>(working_);
    if (boxes_.back().job.excludes)
      stored_channels_ == 1 ? DropCounts<1>(pixels, means) : DropCounts<3>(pixels, means);
    const std::uint32_t full = stores_.back().rule.mask_maximum;
    if (full == 0) return store_means(means, pixels, at(images_->original, 0), at(images_->output, 0));
    const auto under = [&](const auto* mask) {
      ByCover(mask, pixels, [&](Cover cover, std::size_t first, std::size_t count) {
        Mean* first_mean = means + first * stored_channels_;
        const T* original = at(images_->original, first);
        T* out = at(images_->output, first);
        if (cover == Cover::none) {
          std::copy_n(original, count * stored_channels_, out);
        } else if (cover == Cover::full) {
          store_means(first_mean, count, original, out);
        } else {
          store_blended(first_mean, mask + first, count, original, out);
        }
      });
    };
    const std::byte* mask = images_->mask.at(left, y);
    full == 0xFF ? under(As<std::uint8_t>(mask)) : under(As<std::uint16_t>(mask));
  }

  [[nodiscard]] bool with_alpha() const {
    return stores_.back().rule.weighted && !boxes_.back().job.excludes;
  }

  template <class T, class Mean>
  void store_means(const Mean* means, std::size_t pixels, const T* original, T* out) const {
    const MeanRule& rule = stores_.back().rule;
    if constexpr (sizeof(T) == 1)
      if (boxes_.back().unpremultiplies())
        return InRanges(pixels, channels_, [&](std::size_t first, std::size_t length) {
          std::uint16_t scratch[range_entries];
          const std::size_t at = first * channels_;
          channels_ == 2
              ? StorePixels<2>(means + at, original + at, length, premultiply_rule(0), scratch, out + at)
              : StorePixels<4>(means + at, original + at, length, premultiply_rule(0), scratch, out + at);
        });
    if constexpr (sizeof(Mean) == 2 * sizeof(T))
      if (with_alpha()) return StoreWithAlpha(means, pixels, channels_, rule.transfer, original, out);
    EncodeWorking(means, pixels * stored_channels_, rule.transfer, out);
  }

  [[nodiscard]] PremultiplyRule premultiply_rule(std::uint32_t mask_maximum) const {
    const TransferView& transfer = stores_.back().rule.transfer;
    return {{true, mask_maximum, transfer}, decode(0xFF, transfer)};
  }

  /// Blends means with the picture's own values by the mask, then encodes them.
  template <class T, class Mean, class Weight>
  void store_blended(Mean* means, const Weight* mask, std::size_t pixels, const T* original, T* out) const {
    const MeanRule& rule = stores_.back().rule;
    if (with_alpha() || boxes_.back().unpremultiplies())
      return channels_ == 2 ? store_weighted<2>(means, mask, pixels, original, out)
                            : store_weighted<4>(means, mask, pixels, original, out);
    if constexpr (sizeof(Mean) == 2 && sizeof(Weight) == 1) {
      BlendRow(original, means, mask, pixels, stored_channels_, rule.transfer, out);
    } else {
      const std::size_t channels = stored_channels_;
      for (std::size_t i = 0; i < pixels * channels; ++i)
        means[i] = static_cast<Mean>(
            blend(decode(original[i], rule.transfer), means[i], mask[i / channels], rule.mask_maximum));
      EncodeWorking(means, pixels * channels, rule.transfer, out);
    }
  }

  /// Blends and stores pixels with straight alpha.
  template <int Channels, class T, class Mean, class Weight>
  void store_weighted(const Mean* means, const Weight* mask, std::size_t pixels, const T* original,
                      T* out) const {
    const PremultiplyRule rule = premultiply_rule(stores_.back().rule.mask_maximum);
    for (std::size_t x = 0; x < pixels; ++x, original += Channels, means += Channels, out += Channels) {
      if constexpr (sizeof(T) == 1)
        if (boxes_.back().unpremultiplies()) {
          store_premultiplied<Channels>(means, original, mask[x], rule, out);
          continue;
        }
      store_integers<Channels>([means](int c) -> std::uint64_t { return means[c]; }, means[Channels - 1],
                               original, mask[x], rule, out);
    }
  }

  std::span<const ChainBox> boxes_;
  std::size_t channels_;
  std::size_t stored_channels_;
  std::vector<State> states_;
  WorkspaceVector<std::byte> working_;  ///< a row of means before it is stored
  std::span<const MeanStore> stores_;
  const BoxMeanImages* images_ = nullptr;
};

inline std::unique_ptr<SlidingBoxes> MakeSlidingBoxes(std::span<const ChainBox> boxes, std::int64_t width) {
  return std::make_unique<TileOfBoxes>(boxes, width);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(MakeSlidingBoxes);

std::unique_ptr<SlidingBoxes> make_sliding_boxes(std::span<const ChainBox> boxes, std::int64_t width) {
  return HWY_DYNAMIC_DISPATCH(MakeSlidingBoxes)(boxes, width);
}

}  // namespace satin::cpu
#endif
