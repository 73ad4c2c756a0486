// A row of means at once, for integers and plain floats, compiled for every SIMD target: column sums are
// scanned along a row that is extended by the border, and every mean is a weighted difference of prefixes
// over a divisor.

#if defined(SATIN_ROW_MEANS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_ROW_MEANS_INL_H
#undef SATIN_ROW_MEANS_INL_H
#else
#define SATIN_ROW_MEANS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "core/maths/window.h"
#include "means/box_mean.h"
#include "means/cpu/divide-inl.h"
#include "means/cpu/store.h"
#include "pixels/cpu/rows-inl.h"
#include "tables/cpu/scan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Sums of every column over a window of rows that slides down the picture: a row enters, a row leaves.
template <class Sum>
class RunningColumns {
 public:
  RunningColumns(std::int64_t width, std::int64_t height, int channels, std::int64_t reach, Border border)
      : pixels_(static_cast<std::size_t>(width)),
        height_(height),
        reach_(reach),
        border_(border),
        entries_(pixels_ * static_cast<std::size_t>(channels)),
        sums_(entries_),
        entering_(entries_),
        leaving_(entries_),
        nothing_(entries_),
        times_(static_cast<std::size_t>(height)) {}

  [[nodiscard]] const Sum* sums() const noexcept { return sums_.data(); }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return 4 * sums_.size() * sizeof(Sum) + times_.size() * sizeof(Sum);
  }

  /// Sums over the window around row y: every row as often as the border makes it appear.
  void start(const RowReader& reader, const ImageView& source, std::int64_t y) {
    std::fill(times_.begin(), times_.end(), Sum{0});
    for (std::int64_t position = y - reach_; position <= y + reach_; ++position) {
      const std::int64_t row = source_of(position, height_, border_);
      if (row >= 0) ++times_[static_cast<std::size_t>(row)];
    }
    std::fill(sums_.begin(), sums_.end(), Sum{0});
    for (std::int64_t row = 0; row < height_; ++row) {
      const Sum factor = times_[static_cast<std::size_t>(row)];
      if (factor == 0) continue;
      ReadRow(reader, source.at(0, row), pixels_, entering_.data());
      if (factor != 1)
        std::for_each(entering_.begin(), entering_.end(), [factor](Sum& value) { value *= factor; });
      Add(entering_.data(), entries_, sums_.data());
    }
  }

  /// From the window around row y - 1 to the one around row y.
  void advance(const RowReader& reader, const ImageView& source, std::int64_t y) {
    const std::int64_t enters = source_of(y + reach_, height_, border_);
    const std::int64_t leaves = source_of(y - 1 - reach_, height_, border_);
    if (enters == leaves) return;
    if constexpr (sizeof(Sum) == 4) {
      if (reader.plain() && reader.read.type == Type::u8)
        return exchange_stored<std::uint8_t>(source, enters, leaves);
      if (reader.plain() && reader.read.type == Type::u16)
        return exchange_stored<std::uint16_t>(source, enters, leaves);
      if (reader.plain() && reader.read.type == Type::u32)
        return exchange_stored<std::uint32_t>(source, enters, leaves);
    }
    if (enters >= 0) ReadRow(reader, source.at(0, enters), pixels_, entering_.data());
    if (leaves >= 0) ReadRow(reader, source.at(0, leaves), pixels_, leaving_.data());
    Exchange(enters < 0 ? nothing_.data() : entering_.data(), leaves < 0 ? nothing_.data() : leaving_.data(),
             entries_, sums_.data());
  }

 private:
  template <class Stored>
  void exchange_stored(const ImageView& source, std::int64_t enters, std::int64_t leaves) {
    const auto* nothing = reinterpret_cast<const Stored*>(nothing_.data());
    Exchange(enters < 0 ? nothing : source.row<Stored>(enters),
             leaves < 0 ? nothing : source.row<Stored>(leaves), entries_, sums_.data());
  }

  std::size_t pixels_;
  std::int64_t height_;
  std::int64_t reach_;
  Border border_;
  std::size_t entries_;
  std::vector<Sum> sums_;
  std::vector<Sum> entering_;
  std::vector<Sum> leaving_;
  std::vector<Sum> nothing_;  ///< zeros, as a row of any type
  std::vector<Sum> times_;
};

template <class Sum>
class RowMeans {
 public:
  /// Integers of at most 32 bits in and out, every sum and quotient exact in double, a mask without alpha
  /// only; or floats without alpha and mask, also between successive boxes if sums are exact in double.
  static bool possible(const BoxMeanJob& job) {
    if (job.border == Border::constant) return false;
    if (!stretches(job.border) && reach_of(job) > 2 * job.width) return false;
    if (job.read.fixed_point) {
      const bool plain = sizeof(Sum) == 8 && !job.read.weighted && job.mask_maximum == 0;
      return plain && (job.write.type == Type::f32 || (!fractional(job) && sums_below(job, divide_limit)));
    }
    const bool integers = job.write.type != Type::f32 && job.write.type != Type::u64;
    const bool masked_alpha = job.mask_maximum != 0 && job.read.weighted;
    if (!integers || masked_alpha) return false;
    const int more_bits = std::max(0, job.write.fraction - job.read.fraction);
    if (job.read.maximum > (0x7FFFFFFFU >> more_bits)) return false;  // means go through signed words
    return sums_below(job, divide_limit) || long_sums(job);
  }

  RowMeans(const BoxMeanJob& job, bool needed)
      : job_(job), channels_(static_cast<std::size_t>(job.read.channels)) {
    if (!needed) return;
    reach_ = std::min(reach_of(job), stretches(job.border) ? job.width : 2 * job.width);
    pad_ = static_cast<std::size_t>(reach_) + 2;
    const std::size_t padded = (static_cast<std::size_t>(job.width) + 2 * pad_) * channels_;
    for (int window = 0; window < (job.radius.y % radius_one == 0 ? 1 : 2); ++window)
      prefix_.emplace_back(padded, Sum{0});
    if (!stretches(job.border)) extended_.resize(padded);
    unweight_ = job.read.weighted && !job.write.working;
    if (unweight_ || job.mask_maximum != 0 || job.write.transfer == Transfer::srgb)
      working_.resize(static_cast<std::size_t>(job.width) * channels_);
    prepare_divisors();
  }

  [[nodiscard]] std::size_t bytes() const noexcept {
    return (prefix_.size() * (prefix_.empty() ? 0 : prefix_[0].size()) + extended_.size()) * sizeof(Sum) +
           working_.size() * 4 + sizes_.size() * 8;
  }

  /// Row y of the output, from the column sums around it.
  template <class T>
  void run(const std::vector<RunningColumns<Sum>>& columns, const MeanStore& store,
           const BoxMeanImages& images, std::int64_t y) {
    const AxisBox along_y = axis_box(y, job_.height, job_.radius.y, job_.border);
    for (std::size_t window = 0; window < columns.size(); ++window)
      scan_padded(columns[window].sums(), prefix_[window]);
    middle_ = divisor_of(along_y.size);
    T* out = images.output.template row<T>(y);
    if constexpr (std::is_same_v<T, float> && sizeof(Sum) == 8) {
      scale_ = power_of_two(-store.exponents.colour);
      divide_row(along_y, out);
    } else if constexpr (sizeof(T) <= 2) {
      if (working_.empty()) return divide_row(along_y, out);
      const TransferView& transfer = store.rule.transfer;
      white_ = decode(static_cast<T>(~T{0}), transfer);
      divide_row(along_y, working_.data());
      const T* original = images.original.template row<T>(y);
      if (job_.mask_maximum != 0) blend_row(original, images.mask, y, transfer);
      if (!unweight_) return EncodeWorking(working_.data(), working_.size(), transfer, out);
      StoreWithAlpha(working_.data(), static_cast<std::size_t>(job_.width), channels_, transfer, original,
                     out);
    } else if constexpr (!std::is_same_v<T, float> && sizeof(T) <= sizeof(Sum)) {
      divide_row(along_y, out);
    }
  }

 private:
  static std::uint64_t area(const BoxMeanJob& job) {
    return largest_box(job.width, job.height, job.radius, job.border);
  }
  static bool sums_below(const BoxMeanJob& job, std::uint64_t limit) {
    const int more_bits = std::max(0, job.write.fraction - job.read.fraction);
    const std::uint64_t parts = fractional(job) ? radius_one * radius_one : 1;
    const std::uint64_t weights = parts << std::max(job.read.fraction, more_bits);
    return area(job) <= limit / weights / (job.read.maximum + 1);
  }
  /// Sums beyond divide_limit, within the bounds of long_divide_limit.
  static bool long_sums(const BoxMeanJob& job) {
    constexpr std::uint64_t one = 1;
    if (sizeof(Sum) != 8 || !sums_below(job, long_divide_limit)) return false;
    const std::uint64_t largest_mean = job.write.working ? job.read.maximum : white_of(job.read);
    const std::uint64_t divisor = std::max(job.read.alpha_maximum, one << job.read.fraction);
    return largest_mean < one << 28 && area(job) <= (one << 47) / (job.read.maximum + 1) &&
           area(job) <= (one << 52) / (radius_one * radius_one) / divisor;
  }

  /// Where the border adds nothing, so that prefixes beyond the row are those of its ends.
  static bool stretches(Border border) { return border == Border::shrink; }
  static bool fractional(const BoxMeanJob& job) {
    return job.radius.x % radius_one != 0 || job.radius.y % radius_one != 0;
  }
  static std::int64_t reach_of(const BoxMeanJob& job) { return job.radius.x / radius_one; }

  void scan_padded(const Sum* sums, std::vector<Sum>& prefix) {
    const auto width = static_cast<std::size_t>(job_.width);
    if (!stretches(job_.border)) {
      extend(sums);
      return Scan(extended_.data(), width + 2 * pad_, job_.read.channels, nullptr, prefix.data());
    }
    Scan(sums, width, job_.read.channels, nullptr, prefix.data() + pad_ * channels_);
    Sum* end = prefix.data() + (pad_ + width) * channels_;
    for (std::size_t i = 0; i < pad_; ++i) std::copy_n(end - channels_, channels_, end + i * channels_);
  }

  void extend(const Sum* sums) {
    const auto width = static_cast<std::size_t>(job_.width);
    std::copy_n(sums, width * channels_, extended_.data() + pad_ * channels_);
    for (std::size_t i = 0; i < pad_; ++i) {
      const auto before = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(pad_);
      copy_pixel(sums, source_of(before, job_.width, job_.border), i);
      copy_pixel(sums, source_of(job_.width + static_cast<std::int64_t>(i), job_.width, job_.border),
                 pad_ + width + i);
    }
  }

  void copy_pixel(const Sum* sums, std::int64_t from, std::size_t to) {
    std::copy_n(sums + static_cast<std::size_t>(from) * channels_, channels_,
                extended_.data() + to * channels_);
  }

  /// Pixels at either end of the row whose windows are clipped, each with a size of its own.
  void prepare_divisors() {
    const auto width = static_cast<std::size_t>(job_.width);
    ends_ = stretches(job_.border) ? std::min(pad_, (width + 1) / 2) : 0;
    const double scale = job_.write.working ? 1 : 1U << job_.read.fraction;
    for (std::size_t i = 0; i < 2 * ends_; ++i) {
      const auto x = static_cast<std::int64_t>(i < ends_ ? i : width - 2 * ends_ + i);
      const std::uint64_t size = axis_box(x, job_.width, job_.radius.x, job_.border).size;
      sizes_.insert(sizes_.end(), channels_, static_cast<double>(size) * scale);
    }
    words_ = sizeof(Sum) == 4 && !fractional(job_) && divides_words(job_);
    long_ = !job_.read.fixed_point && !sums_below(job_, divide_limit);
  }

  [[nodiscard]] Divisors divisor_of(std::uint64_t size_y) const {
    std::uint64_t divisor = axis_box(job_.width / 2, job_.width, job_.radius.x, job_.border).size * size_y;
    if (!job_.write.working) divisor <<= job_.read.fraction;
    const std::uint64_t half = divisor / 2;
    Divisors result;
    result.divisor = static_cast<double>(divisor);
    result.half_up = static_cast<double>(half) + 0.5;
    result.reciprocal = 1.0 / result.divisor;
    result.words = words_;
    result.long_sums = long_;
    return result;
  }

  template <class T>
  void blend_row(const T* original, const ImageView& mask, std::int64_t y, const TransferView& transfer) {
    const std::uint64_t whole = job_.mask_maximum;
    if (whole == 0xFF && white_ <= 0xFFFF)
      return BlendRow(original, mask.row<std::uint8_t>(y), static_cast<std::size_t>(job_.width),
                      job_.read.channels, transfer, working_.data());
    for (std::int64_t x = 0, i = 0; x < job_.width; ++x) {
      const std::uint64_t weight = mask_at(mask, x, y);
      if (weight == whole) {
        i += job_.read.channels;
        continue;
      }
      for (int c = 0; c < job_.read.channels; ++c, ++i) {
        std::uint32_t& mean = working_[static_cast<std::size_t>(i)];
        const std::uint32_t own = decode(original[i], transfer);
        mean = weight == 0 ? own : static_cast<std::uint32_t>(blend(own, mean, weight, whole));
      }
    }
  }

  template <class Mean>
  void divide_part(const AxisBox& along_y, const Divisors& divisors, std::size_t first, std::size_t pixels,
                   Mean* means) {
    const BoxDifferences<Sum> boxes = differences(along_y, first);
    if constexpr (std::is_same_v<Mean, float>) {
      return FloatMeans(boxes, divisors, scale_, pixels * channels_, means + first * channels_);
    } else if constexpr (sizeof(Mean) == 4) {
      if (unweight_)
        return DivideByAnyAlpha(boxes, divisors, pixels, channels_, white_, means + first * channels_);
    }
    if constexpr (!std::is_same_v<Mean, float>)
      Divide(boxes, divisors, pixels * channels_, means + first * channels_);
  }

  template <class Mean>
  void divide_row(const AxisBox& along_y, Mean* means) {
    const auto width = static_cast<std::size_t>(job_.width);
    const std::size_t last_end = width - std::min(width, ends_);
    Divisors ends;
    ends.size_x = sizes_.data();
    ends.size_y = static_cast<double>(along_y.size);
    ends.long_sums = long_;
    if (ends_ > 0) divide_part(along_y, ends, 0, ends_, means);
    if (last_end > ends_) divide_part(along_y, middle_, ends_, last_end - ends_, means);
    if (ends_ == 0) return;
    ends.size_x += ends_ * channels_;
    divide_part(along_y, ends, last_end, ends_, means);
  }

  /// The whole boxes of the windows around the pixels from `first` on.
  BoxDifferences<Sum> differences(const AxisBox& along_y, std::size_t first) const {
    BoxDifferences<Sum> result;
    const AxisBox along_x = axis_box(job_.width / 2, job_.width, job_.radius.x, job_.border);
    const double scale =
        job_.write.fraction > job_.read.fraction ? 1U << (job_.write.fraction - job_.read.fraction) : 1;
    result.boxes = fractional(job_) ? 4 : 1;
    for (int box = 0; box < result.boxes; ++box) {
      const bool outer_x = box % 2 == 1 && along_x.outer != 0;
      const bool outer_y = box / 2 == 1 && prefix_.size() > 1;
      const double weight_x = box % 2 == 1 ? along_x.outer : along_x.inner;
      const double weight_y = box / 2 == 1 ? along_y.outer : along_y.inner;
      const auto reach = static_cast<std::size_t>(reach_) + (outer_x ? 1 : 0);
      const Sum* prefix = prefix_[outer_y ? 1 : 0].data() + (pad_ + first) * channels_;
      result.ahead[box] = prefix + reach * channels_;
      result.behind[box] = prefix - (reach + 1) * channels_;
      result.weight[box] = weight_x * weight_y * scale;
    }
    return result;
  }

  BoxMeanJob job_;
  std::size_t channels_;
  std::int64_t reach_ = 0;
  std::size_t pad_ = 0;                   ///< pixels before and after the row in `prefix_`
  std::vector<std::vector<Sum>> prefix_;  ///< of the inner and the outer window of rows
  std::vector<Sum> extended_;             ///< column sums with the border
  bool unweight_ = false;                 ///< colours were summed times alpha, and are to be stored without
  std::uint32_t white_ = 0;               ///< largest working colour
  std::vector<std::uint32_t> working_;    ///< means before they are blended or encoded
  std::size_t ends_ = 0;
  std::vector<double> sizes_;  ///< along x, of every entry of the ends
  bool words_ = false;         ///< means by integers of 32 bits
  bool long_ = false;          ///< means of sums beyond divide_limit
  double scale_ = 1;           ///< of floats: value of the lowest bit of a sum
  Divisors middle_;
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
