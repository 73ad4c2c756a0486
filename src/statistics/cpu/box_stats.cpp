// Local mean and deviation on the CPU, without a table. Compiled for every SIMD target.
//
// Each thread has a tile of whole rows. For every column it keeps the sums of values and of squares over the
// rows of the window; when the window moves down, one row enters and one leaves. The prefix sums of these
// along the row give the sums over each window as a difference of two entries. Where double precision is
// exact, results are computed in single precision first and only those that are too
// close to a decision again in double.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "statistics/cpu/box_stats.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "core/cpu/backend.h"
#include "core/with_type.h"
#include "core/workspace.h"
#include "pixels/cpu/plane_rows-inl.h"
#include "pixels/cpu/rows.h"
#include "statistics/box_stats.h"
#include "statistics/maths/local_statistics.h"
#include "tables/cpu/scan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Loops without dependences and calls are left to the compiler, which vectorizes them.

/// Windows of one row. The window of pixel i covers the columns i to i + width - 1 of the extended row, whose
/// exclusive prefix sums are given. Sum is u32 or u64.
template <class Sum>
struct WindowRow {
  const Sum* sums = nullptr;
  const Sum* squares = nullptr;
  const double* counts = nullptr;   ///< pixels of each window
  const float* inverses = nullptr;  ///< rounded inverses of the counts
  std::size_t width = 1;
  Quantised quantised{};
  bool exact_in_double = false;  ///< count * squares < 2^53 and offset 0
};

/// Adds enters - leaves to the sums and enters^2 - leaves^2 = (enters - leaves) (enters + leaves) to the
/// squares, modulo 2^32 or 2^64.
template <class Stored, class Sum>
void ExchangeWithSquares(const Stored* HWY_RESTRICT enters, const Stored* HWY_RESTRICT leaves,
                         std::size_t count, Sum* HWY_RESTRICT sums, Sum* HWY_RESTRICT squares) {
  for (std::size_t i = 0; i < count; ++i) {
    const Sum in = enters[i];
    const Sum out = leaves[i];
    sums[i] += in - out;
    squares[i] += (in - out) * (in + out);
  }
}

template <class Sum>
LocalStatistics StatisticsAt(const WindowRow<Sum>& row, std::size_t at) {
  const WindowSums sums{static_cast<std::uint64_t>(row.counts[at]),
                        static_cast<Sum>(row.sums[at + row.width] - row.sums[at]),
                        static_cast<Sum>(row.squares[at + row.width] - row.squares[at])};
  return local_statistics(sums, row.quantised);
}

/// Returns the differences of prefixes that are `width` apart, as doubles. Large ones of 64 bits, which may
/// exceed 2^63, are rounded to multiples of 2^10.
template <bool Large = false, class D, class Sum>
HWY_INLINE auto WindowSumsAt(D d, const Sum* prefix, std::size_t width) {
  const hn::Rebind<Sum, D> integers;
  const auto sum = hn::Sub(hn::LoadU(integers, prefix + width), hn::LoadU(integers, prefix));
  if constexpr (sizeof(Sum) == 4 || Large) {  // shifted into the range of signed integers, and back
    constexpr Sum half = Sum{1} << (8 * sizeof(Sum) - 1);
    return hn::Add(ExactDouble(d, hn::Xor(sum, hn::Set(integers, half))),
                   hn::Set(d, static_cast<double>(half)));
  } else {
    return ExactDouble(d, sum);
  }
}

/// Returns n Q - S^2, which is exact where row.exact_in_double.
template <class D, class Sum>
HWY_INLINE auto RadicandAt(D d, const WindowRow<Sum>& row, std::size_t at) {
  const auto sum = WindowSumsAt(d, row.sums + at, row.width);
  const auto squares = WindowSumsAt(d, row.squares + at, row.width);
  return hn::Sub(hn::Mul(hn::LoadU(d, row.counts + at), squares), hn::Mul(sum, sum));
}

/// Computes mean and deviation of the pixels [first, first + count).
template <class Sum>
void Statistics(const WindowRow<Sum>& row, std::size_t first, std::size_t count, double* HWY_RESTRICT means,
                double* HWY_RESTRICT deviations) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; row.exact_in_double && i + lanes <= count; i += lanes) {
    const auto n = hn::LoadU(d, row.counts + first + i);
    hn::StoreU(hn::Div(WindowSumsAt(d, row.sums + first + i, row.width), n), d, means + i);
    hn::StoreU(hn::Div(hn::Sqrt(RadicandAt(d, row, first + i)), n), d, deviations + i);
  }
  for (; i < count; ++i) {
    const LocalStatistics found = StatisticsAt(row, first + i);
    means[i] = found.mean;
    deviations[i] = found.deviation;
  }
}

/// Returns the largest n Q - S^2 of the pixels [first, first + count) of a row that is exact in double.
template <class Sum>
double LargestRadicand(const WindowRow<Sum>& row, std::size_t first, std::size_t count) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  auto largest = hn::Zero(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) largest = hn::Max(largest, RadicandAt(d, row, first + i));
  const hn::CappedTag<double, 1> one;
  double result = hn::GetLane(hn::MaxOfLanes(d, largest));
  for (; i < count; ++i) result = std::max(result, hn::GetLane(RadicandAt(one, row, first + i)));
  return result;
}

/// Calls decide(i) for each vector of pixels, which stores the results of pixels i and following and returns
/// a mask of those that are certain. Lists the indices of all others in `open`, which has room for `count`,
/// and returns their number.
template <class Decide>
HWY_INLINE std::size_t DecideInFloats(std::size_t count, const Decide& decide, std::uint32_t* open) {
  const hn::Rebind<float, hn::ScalableTag<double>> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t found = 0;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto certain = decide(i);
    if (hn::AllTrue(d, certain)) continue;
    float marks[hn::MaxLanes(d)];
    hn::StoreU(hn::IfThenElseZero(certain, hn::Set(d, 1.0F)), d, marks);
    for (std::size_t k = 0; k < lanes; ++k)
      if (marks[k] == 0) open[found++] = static_cast<std::uint32_t>(i + k);
  }
  for (; i < count; ++i) open[found++] = static_cast<std::uint32_t>(i);
  return found;
}

/// Returns values, and doubles divided by `scale`.
template <class Wide, class Value>
HWY_INLINE auto FloatsAt(Wide wide, const Value* values, double scale) {
  const hn::Rebind<float, Wide> d;
  if constexpr (std::is_same_v<Value, double>) {
    return hn::DemoteTo(d, hn::Mul(hn::LoadU(wide, values), hn::Set(wide, 1 / scale)));
  } else {
    const hn::Rebind<std::int32_t, Wide> integers;
    return hn::ConvertTo(d, hn::PromoteTo(integers, hn::LoadU(hn::Rebind<Value, Wide>(), values)));
  }
}

/// Returns T - value for one vector of pixels, in steps of the plane. For floats, whose values are doubles,
/// n Q - S^2 is rounded, and the deviation errs by less than 2^-24 of their range.
template <bool DependsOnDeviation, class Wide, class Value, class Sum>
HWY_INLINE auto BelowThreshold(Wide wide, const QuickThreshold& threshold, const WindowRow<Sum>& row,
                               const Value* values, std::size_t at) {
  const hn::Rebind<float, Wide> d;
  const auto inverse = hn::LoadU(d, row.inverses + at);
  const auto sum = WindowSumsAt(wide, row.sums + at, row.width);
  auto centred = sum;
  if constexpr (std::is_same_v<Value, double>)
    centred = hn::Sub(sum, hn::Mul(hn::LoadU(wide, row.counts + at),
                                   hn::Set(wide, static_cast<double>(row.quantised.offset))));
  const auto mean = hn::Mul(hn::DemoteTo(d, centred), inverse);
  auto factor = hn::Set(d, threshold.of_mean);
  auto rest = hn::Set(d, threshold.constant);
  if constexpr (DependsOnDeviation) {
    auto radicand = hn::Mul(hn::LoadU(wide, row.counts + at),
                            WindowSumsAt<std::is_same_v<Value, double>>(wide, row.squares + at, row.width));
    if (!threshold.without_mean) radicand = hn::Max(hn::Sub(radicand, hn::Mul(sum, sum)), hn::Zero(wide));
    const auto spread = hn::Mul(hn::Sqrt(hn::DemoteTo(d, radicand)), inverse);
    factor = hn::MulAdd(hn::Set(d, threshold.of_product), spread, factor);
    rest = hn::MulAdd(hn::Set(d, threshold.of_spread), spread, rest);
  }
  return hn::Sub(hn::MulAdd(mean, factor, rest), FloatsAt(wide, values + at, row.quantised.scale));
}

/// Stores 255 where a value is above its threshold and otherwise 0, or the reverse if inverted. Returns the
/// open pixels like DecideInFloats().
template <class Value, class Sum>
std::size_t BinariseInFloats(const QuickThreshold& threshold, const WindowRow<Sum>& row, const Value* values,
                             std::size_t count, bool inverted, std::uint8_t* HWY_RESTRICT out,
                             std::uint32_t* open) {
  const hn::ScalableTag<double> wide;
  const hn::Rebind<float, decltype(wide)> d;
  const hn::Rebind<std::int32_t, decltype(wide)> integers;
  const hn::Rebind<std::uint8_t, decltype(wide)> bytes;
  const auto flip = hn::Set(integers, inverted ? 0xFF : 0);
  const auto doubt = hn::Set(d, threshold.doubt);
  const bool spread = threshold.of_product != 0 || threshold.of_spread != 0;
  const auto decide = [=](std::size_t i) {
    const auto below = spread ? BelowThreshold<true>(wide, threshold, row, values, i)
                              : BelowThreshold<false>(wide, threshold, row, values, i);
    const auto white = hn::RebindMask(integers, hn::Lt(below, hn::Zero(d)));
    const auto byte = hn::Xor(hn::IfThenElseZero(white, hn::Set(integers, 0xFF)), flip);
    hn::StoreU(hn::DemoteTo(bytes, byte), bytes, out + i);
    return hn::Gt(hn::Abs(below), doubt);
  };
  return DecideInFloats(count, decide, open);
}

/// Returns the clamped normalised values of one vector of pixels.
template <class Wide, class Stored, class Sum>
HWY_INLINE auto NormalisedAt(Wide wide, const QuickNumber& number, const WindowRow<Sum>& row,
                             const Stored* values, std::size_t at) {
  const hn::Rebind<float, Wide> d;
  const hn::Rebind<Stored, Wide> stored;
  const hn::Rebind<std::int32_t, Wide> integers;
  const auto value = hn::PromoteTo(wide, hn::PromoteTo(integers, hn::LoadU(stored, values + at)));
  const auto sum = WindowSumsAt(wide, row.sums + at, row.width);
  const auto difference = hn::DemoteTo(d, hn::Sub(hn::Mul(hn::LoadU(wide, row.counts + at), value), sum));
  const auto root = hn::Sqrt(hn::DemoteTo(d, RadicandAt(wide, row, at)));
  const auto positive = hn::Max(root, hn::Set(d, 0.5F));  // the root is 0 only where the difference is 0
  const auto most = hn::Mul(hn::Set(d, number.gain), hn::LoadU(d, row.inverses + at));
  const auto scale = hn::Min(most, hn::Div(hn::Set(d, number.target), positive));
  const auto share = hn::MulAdd(difference, scale, hn::Set(d, number.mean));
  const auto clamped = hn::Min(hn::Max(share, hn::Zero(d)), hn::Set(d, 1.0F));
  const auto flat = hn::Eq(difference, hn::Zero(d));
  constexpr float largest = static_cast<Stored>(~Stored{0});
  return hn::Mul(hn::IfThenElse(flat, hn::Set(d, number.flat), clamped), hn::Set(d, largest));
}

/// Stores the integers of deviations or normalised values of a row that is exact in double. Returns the open
/// pixels like DecideInFloats().
template <class Stored, class Sum>
std::size_t NumbersInFloats(const QuickNumber& number, bool normalised, const WindowRow<Sum>& row,
                            const Stored* values, std::size_t count, Stored* HWY_RESTRICT out,
                            std::uint32_t* open) {
  const hn::ScalableTag<double> wide;
  const hn::Rebind<float, decltype(wide)> d;
  const hn::Rebind<std::int32_t, decltype(wide)> integers;
  const hn::Rebind<Stored, decltype(wide)> stored;
  const auto limit = hn::Set(d, number.limit);
  const auto decide = [=](std::size_t i) {
    const auto here = normalised ? NormalisedAt(wide, number, row, values, i)
                                 : hn::Mul(hn::Sqrt(hn::DemoteTo(d, RadicandAt(wide, row, i))),
                                           hn::LoadU(d, row.inverses + i));
    const auto nearest = hn::Round(here);
    hn::StoreU(hn::DemoteTo(stored, hn::ConvertTo(integers, nearest)), stored, out + i);
    return hn::Le(hn::Abs(hn::Sub(here, nearest)), limit);
  };
  return DecideInFloats(count, decide, open);
}

/// Sums of each column over a window of rows that slides down a plane, and their prefixes along the row.
///
/// Stored is the type of the quantised plane. Sum is u32 or u64 and holds the sums over one window.
template <class Stored, class Sum>
class SlidingStats {
 public:
  explicit SlidingStats(const BoxStatsJob& job)
      : job_(job),
        width_(static_cast<std::size_t>(job.width)),
        reach_(static_cast<std::size_t>(job.reach_x)),
        sums_(width_),
        squares_(width_),
        zeros_(width_),
        prefix_sums_(width_ + window_width()),
        prefix_squares_(width_ + window_width()),
        counts_(width_),
        inverses_(width_) {}

  [[nodiscard]] std::size_t bytes() const noexcept {
    return width_ * (2 * sizeof(Sum) + sizeof(Stored) + sizeof(double) + sizeof(float)) +
           2 * prefix_sums_.size() * sizeof(Sum);
  }

  /// The pixels [first_full(), last_full()) have windows of full width.
  [[nodiscard]] std::size_t first_full() const noexcept {
    return job_.border == Border::shrink ? std::min(reach_, width_) : 0;
  }
  [[nodiscard]] std::size_t last_full() const noexcept {
    if (job_.border != Border::shrink) return width_;
    return std::max(first_full(), width_ - std::min(reach_, width_));
  }

  /// Sums the windows around row y.
  void start(const ImageView& plane, std::int64_t y) {
    std::fill(sums_.begin(), sums_.end(), Sum{0});
    std::fill(squares_.begin(), squares_.end(), Sum{0});
    for (std::int64_t position = y - job_.reach_y; position <= y + job_.reach_y; ++position)
      exchange(plane, source_of(position, job_.height, job_.border), -1);
  }

  /// Moves from the windows around row y - 1 to those around row y.
  void advance(const ImageView& plane, std::int64_t y) {
    const std::int64_t enters = source_of(y + job_.reach_y, job_.height, job_.border);
    const std::int64_t leaves = source_of(y - 1 - job_.reach_y, job_.height, job_.border);
    if (enters != leaves) exchange(plane, enters, leaves);
  }

  WindowRow<Sum> windows(std::int64_t y, const Quantised& quantised) {
    ScanExtended(sums_.data(), width_, reach_, job_.border, prefix_sums_.data());
    ScanExtended(squares_.data(), width_, reach_, job_.border, prefix_squares_.data());
    count_pixels(counted(window_around(y, job_.reach_y), job_.height, job_.border));
    return {prefix_sums_.data(), prefix_squares_.data(), counts_.data(), inverses_.data(), window_width(),
            quantised,           exact_in_double()};
  }

 private:
  [[nodiscard]] std::size_t window_width() const noexcept { return 2 * reach_ + 1; }

  void exchange(const ImageView& plane, std::int64_t enters, std::int64_t leaves) {
    if (enters < 0 && leaves < 0) return;
    ExchangeWithSquares(enters < 0 ? zeros_.data() : plane.row<Stored>(enters),
                        leaves < 0 ? zeros_.data() : plane.row<Stored>(leaves), width_, sums_.data(),
                        squares_.data());
  }

  void count_pixels(std::int64_t rows) {
    if (rows == rows_) return;
    rows_ = rows;
    for (std::size_t x = 0; x < width_; ++x) {
      const Window window = window_around(static_cast<std::int64_t>(x), job_.reach_x);
      counts_[x] = static_cast<double>(rows * counted(window, job_.width, job_.border));
      inverses_[x] = 1.0F / static_cast<float>(counts_[x]);
    }
    largest_count_ = *std::max_element(counts_.begin(), counts_.end());
  }

  /// Whether (count * largest)^2, the bound of every term of n Q - S^2, is below 2^53.
  [[nodiscard]] bool exact_in_double() const {
    if (job_.plane.type == Type::f32 || largest_count_ >= (1U << 18U)) return false;
    return largest_count_ * (job_.plane.type == Type::u8 ? 0xFF : 0xFFFF) < 94906265;  // the root of 2^53
  }

  BoxStatsJob job_;
  std::size_t width_;
  std::size_t reach_;
  WorkspaceVector<Sum> sums_;
  WorkspaceVector<Sum> squares_;
  WorkspaceVector<Stored> zeros_;
  WorkspaceVector<Sum> prefix_sums_;
  WorkspaceVector<Sum> prefix_squares_;
  WorkspaceVector<double> counts_;   ///< pixels of each window
  WorkspaceVector<float> inverses_;  ///< inverses of the counts
  double largest_count_ = 0;
  std::int64_t rows_ = -1;  ///< rows of the windows in counts_
};

constexpr std::size_t chunk = 256;  // pixels whose means and deviations fit the L1 cache
constexpr std::int64_t smallest_tile = 32;

/// Allocates the job's plane as rows of integers; empty where the picture itself can be read as such.
inline Image AllocatePlane(CpuBackend& backend, const BoxStatsJob& job) {
  if (job.plane.channels == 1 && job.plane.type != Type::f32) return {};
  const Type type = job.plane.type == Type::f32 ? Type::u32 : job.plane.type;
  const Shape shape{job.width, job.height, 1, type};
  return {shape, backend.allocate(byte_size(shape)), Memory::host};
}

template <class Stored, class Sum>
class BoxStats final : public BoxStatsOperation {
 public:
  using Sliding = SlidingStats<Stored, Sum>;

  BoxStats(CpuBackend& backend, const BoxStatsJob& job)
      : backend_(backend),
        job_(job),
        plane_(AllocatePlane(backend, job)),
        tiles_(std::clamp<std::int64_t>(job.height / smallest_tile, 1, backend.threads.count())) {
    row_tiles_.reserve(static_cast<std::size_t>(tiles_));
    for (std::int64_t i = 0; i < tiles_; ++i) {
      RowTile& tile = row_tiles_.emplace_back(RowTile{Sliding(job), {}, {}, {}});
      tile.values.resize(static_cast<std::size_t>(job.width));
      tile.open.resize(static_cast<std::size_t>(job.width));
      tile.stored.resize(static_cast<std::size_t>(job.width));
    }
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    const std::size_t pixel = sizeof(double) + sizeof(std::uint32_t) + sizeof(Stored);
    const std::size_t plane = plane_.empty() ? 0 : byte_size(plane_.shape());
    return plane +
           row_tiles_.size() * (row_tiles_[0].sliding.bytes() + static_cast<std::size_t>(job_.width) * pixel);
  }

  void clear_extremes(PictureExtremes* extremes, Stream) override { *extremes = no_extremes; }

  void find_extremes(const ImageView& picture, const Rectangle& inner, const Measured* measured,
                     PictureExtremes* extremes, Stream) override {
    std::mutex mutex;
    for_rows(
        picture, measured, [&](std::int64_t y, const ImageView&, const WindowRow<Sum>& row, RowTile& tile) {
          if (y < inner.y.first || y >= inner.y.last) return;
          ReadValues(job_.plane, picture, y, tile.values.data());
          const PictureExtremes found{
              largest_deviation(row, tile.sliding, inner.x),
              *std::min_element(tile.values.begin() + inner.x.first, tile.values.begin() + inner.x.last)};
          const std::lock_guard lock(mutex);
          extremes->largest_deviation = std::max(extremes->largest_deviation, found.largest_deviation);
          extremes->smallest_value = std::min(extremes->smallest_value, found.smallest_value);
        });
  }

  void run(const BoxStatsImages& images, Stream) override {
    if (job_.colours == 1) return run_plane(images);
    for (int colour = 0; colour < job_.colours; ++colour) {
      job_.plane.channel = job_.output_channel = colour;
      run_plane(images);
    }
  }

 private:
  struct RowTile {
    Sliding sliding;
    WorkspaceVector<double> values;       ///< values of one row
    WorkspaceVector<std::uint32_t> open;  ///< pixels that single precision does not decide
    WorkspaceVector<Stored> stored;       ///< results of one row
  };

  void run_plane(const BoxStatsImages& images) {
    const PictureExtremes known = images.extremes == nullptr ? PictureExtremes{} : *images.extremes;
    constexpr bool integers = sizeof(Stored) < 4;
    const double largest =
        integers ? static_cast<Stored>(~Stored{0}) : std::ldexp(2.0, job_.plane.float_bits);
    const double step = quantised(job_.plane, plane_exponent(job_.plane, images.measured)).scale;
    const ThresholdRule rule{job_.rule.method, job_.rule.k, job_.rule.range / step};
    const QuickThreshold threshold =
        quick_threshold(rule, {known.largest_deviation / step, known.smallest_value / step}, largest);
    const bool quick_floats = !integers && !threshold.without_mean;  // n Q depends on the offset
    const QuickNumber number = quick_number(job_, largest);
    for_rows(images.picture, images.measured,
             [&](std::int64_t y, const ImageView& plane, const WindowRow<Sum>& row, RowTile& tile) {
               const auto binarise = [&](const auto* values) {
                 binarise_in_floats(threshold, known, row, values, tile, images.output.row<std::uint8_t>(y));
               };
               const bool in_floats =
                   (row.exact_in_double || quick_floats) && job_.result == LocalResult::binary;
               if constexpr (integers) {
                 const auto* values = plane.row<Stored>(y);
                 if (in_floats) return binarise(values);
                 if (row.exact_in_double && job_.mask_maximum == 0)
                   return store_in_floats(number, row, values, tile, images.output.row<Stored>(y));
               }
               ReadValues(job_.plane, images.picture, y, tile.values.data());
               if (in_floats) return binarise(tile.values.data());
               write_row(images, known, y, row, tile.values.data());
             });
  }

  /// Calls work(y, plane, windows, tile) for every row.
  template <class Work>
  void for_rows(const ImageView& picture, const Measured* measured, const Work& work) {
    const int exponent = plane_exponent(job_.plane, measured);
    const Quantised rule = quantised(job_.plane, exponent);
    const ImageView plane = plane_.empty() ? picture : read_plane(picture, exponent);
    parallel_rows(backend_, tiles_, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t index = first; index < last; ++index) {
        RowTile& tile = row_tiles_[static_cast<std::size_t>(index)];
        const std::int64_t top = job_.height * index / tiles_;
        for (std::int64_t y = top; y < job_.height * (index + 1) / tiles_; ++y) {
          y == top ? tile.sliding.start(plane, y) : tile.sliding.advance(plane, y);
          work(y, plane, tile.sliding.windows(y, rule), tile);
        }
      }
    });
  }

  [[nodiscard]] ImageView read_plane(const ImageView& picture, int exponent) {
    parallel_rows(backend_, job_.height, 32, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y)
        ReadQuantised(job_.plane, exponent, picture, y, plane_.view().template row<Stored>(y));
    });
    return plane_.view();
  }

  /// Calls work(at, count, means, deviations) for chunks of the pixels [first, last).
  template <class Work>
  static void for_chunks(const WindowRow<Sum>& row, std::size_t first, std::size_t last, const Work& work) {
    double means[chunk];
    double deviations[chunk];
    for (; first < last; first += chunk) {
      const std::size_t count = std::min(chunk, last - first);
      Statistics(row, first, count, means, deviations);
      work(first, count, means, deviations);
    }
  }

  /// Returns the largest deviation of a row. Among windows of full width, which have equally many pixels, it
  /// is where n Q - S^2 is largest.
  [[nodiscard]] double largest_deviation(const WindowRow<Sum>& row, const Sliding& sliding,
                                         const Stretch& inner) const {
    const auto begin = static_cast<std::size_t>(inner.first);
    const auto end = static_cast<std::size_t>(inner.last);
    const std::size_t first = row.exact_in_double ? std::clamp(sliding.first_full(), begin, end) : begin;
    const std::size_t last = row.exact_in_double ? std::clamp(sliding.last_full(), first, end) : begin;
    double largest = 0;
    if (first < last) largest = square_root(LargestRadicand(row, first, last - first)) / row.counts[first];
    const auto search = [&](std::size_t, std::size_t count, const double*, const double* deviations) {
      largest = std::max(largest, *std::max_element(deviations, deviations + count));
    };
    for_chunks(row, begin, first, search);
    for_chunks(row, last, end, search);
    return largest;
  }

  template <class Value>
  void binarise_in_floats(const QuickThreshold& threshold, const PictureExtremes& known,
                          const WindowRow<Sum>& row, const Value* values, RowTile& tile,
                          std::uint8_t* out) const {
    const std::size_t open = BinariseInFloats(threshold, row, values, static_cast<std::size_t>(job_.width),
                                              job_.inverted, out, tile.open.data());
    for (std::size_t i = 0; i < open; ++i) {
      const std::size_t x = tile.open[i];
      out[x] = binary_result(job_, known, values[x], StatisticsAt(row, x));
    }
  }

  void store_in_floats(const QuickNumber& quick, const WindowRow<Sum>& row, const Stored* values,
                       RowTile& tile, Stored* out) const requires(sizeof(Stored) < 4) {
    const auto width = static_cast<std::size_t>(job_.width);
    const auto channels = static_cast<std::size_t>(job_.plane.channels);
    Stored* stored = channels == 1 ? out : tile.stored.data();
    const std::size_t open = NumbersInFloats(quick, job_.result == LocalResult::normalised, row, values,
                                             width, stored, tile.open.data());
    for (std::size_t i = 0; i < open; ++i) {
      const std::size_t x = tile.open[i];
      stored[x] = stored_number<Stored>(number_result(job_, values[x], StatisticsAt(row, x)));
    }
    if (channels == 1) return;
    for (std::size_t x = 0; x < width; ++x)
      out[x * channels + static_cast<std::size_t>(job_.output_channel)] = stored[x];
  }

  void write_row(const BoxStatsImages& images, const PictureExtremes& known, std::int64_t y,
                 const WindowRow<Sum>& row, const double* values) const {
    for_chunks(row, 0, static_cast<std::size_t>(job_.width),
               [&](std::size_t first, std::size_t count, const double* means, const double* deviations) {
                 if (job_.result != LocalResult::binary)
                   return store(images, y, first, count, values + first, means, deviations);
                 std::uint8_t* out = images.output.row<std::uint8_t>(y) + first;
                 for (std::size_t i = 0; i < count; ++i)
                   out[i] = binary_result(job_, known, values[first + i], {means[i], deviations[i]});
               });
  }

  void store(const BoxStatsImages& images, std::int64_t y, std::size_t first, std::size_t count,
             const double* values, const double* means, const double* deviations) const {
    const auto channels = static_cast<std::size_t>(job_.plane.channels);
    const std::size_t at = first * channels + static_cast<std::size_t>(job_.output_channel);
    const std::uint32_t maximum = job_.mask_maximum;
    with_pixel_type(job_.plane.type, [&]<class T>() {
      const T* own = images.picture.row<T>(y) + at;
      T* out = images.output.row<T>(y) + at;
      for (std::size_t i = 0; i < count; ++i) {
        const auto x = static_cast<std::int64_t>(first + i);
        const std::uint32_t weight = maximum == 0 ? 0 : mask_at(images.mask, x, y);
        out[i * channels] = blended_number(number_result(job_, values[i], {means[i], deviations[i]}),
                                           own[i * channels], weight, maximum);
      }
    });
  }

  CpuBackend& backend_;
  BoxStatsJob job_;
  Image plane_;
  std::int64_t tiles_;
  WorkspaceVector<RowTile> row_tiles_;
};

inline Prepared<BoxStatsJob> PrepareBoxStats(Backend& backend, const BoxStatsJob& job) {
  CpuBackend& cpu = as_cpu(backend);
  switch (job.plane.type) {
    case Type::u8:
      if (squares_fit_32_bits(largest_window_of(job)))
        return std::make_unique<BoxStats<std::uint8_t, std::uint32_t>>(cpu, job);
      return std::make_unique<BoxStats<std::uint8_t, std::uint64_t>>(cpu, job);
    case Type::u16:
      return std::make_unique<BoxStats<std::uint16_t, std::uint64_t>>(cpu, job);
    default:
      return std::make_unique<BoxStats<std::uint32_t, std::uint64_t>>(cpu, job);
  }
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareBoxStats);

Prepared<BoxStatsJob> prepare_box_stats(Backend& backend, const BoxStatsJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareBoxStats)(backend, job);
}

}  // namespace satin::cpu
#endif
