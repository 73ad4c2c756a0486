// The guided filter on the CPU, without tables. Compiled for every SIMD target.
//
// Each thread has a tile of whole rows and slides two windows down it. The first sums the moments: values and
// products of guide and picture. Each of its rows gives a row of coefficients, by a linear system for every
// window. The second window sums coefficients, and its rows give the results. Both keep column sums, to which
// a row enters while another leaves, and take sums over windows as differences of prefix sums along the row.
//
// A row of coefficients is needed when it enters the second window and when it leaves. If they are few, all
// rows of a window are kept; otherwise a row is computed again before it leaves, so that memory does not grow
// with the radius.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "guided/cpu/local_linear.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/cpu/backend.h"
#include "core/maths/window.h"
#include "core/with_type.h"
#include "core/workspace.h"
#include "guided/local_linear.h"
#include "guided/maths/local_linear.h"
#include "pixels/cpu/rows-inl.h"
#include "pixels/maths/real_pixel.h"
#include "tables/cpu/scan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Loops without dependences and calls are left to the compiler, which vectorizes them.

/// A row of every value of a layout: the guides, then the picture's own channels.
using ValueRows = std::array<const std::int32_t*, 7>;

/// Windows of one row. The difference of prefixes `window_width` apart is a sum over a window of counts[x] *
/// window_rows pixels.
template <class Sum>
struct PrefixRow {
  LinearLayout layout;
  const Sum* prefixes = nullptr;  ///< a plane for each sum
  std::size_t stride = 0;         ///< distance between planes
  std::size_t window_width = 0;
  const double* counts = nullptr;
  double window_rows = 0;
};

/// Parameters of the step from sums to coefficients.
struct LinearSolver {
  LinearFormat format;
  double eps = 0;                ///< in squared steps of the guide
  bool exact_in_double = false;  ///< n sum(u v) stays below 2^51
};

constexpr std::size_t linear_chunk = 128;  // pixels whose numbers fit the L1 cache

/// Sums over the windows of a chunk of pixels, in the order of the layout, with products replaced by
/// numerators of covariances.
struct Chunk {
  std::size_t count = 0;
  double counts[linear_chunk];
  double inverses[linear_chunk];  ///< inverses of the counts
  double sums[25 * linear_chunk];

  double* plane(int at) { return sums + static_cast<std::size_t>(at) * linear_chunk; }
  [[nodiscard]] const double* plane(int at) const {
    return sums + static_cast<std::size_t>(at) * linear_chunk;
  }
};

/// Computes sums over windows, of 32 bits or below 2^51, as doubles.
template <class Sum>
void SmallDifferences(const Sum* HWY_RESTRICT low, std::size_t width, std::size_t count,
                      double* HWY_RESTRICT to) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto sum = static_cast<Sum>(low[i + width] - low[i]);
    to[i] = sizeof(Sum) == 4 ? static_cast<double>(sum) : static_cast<double>(static_cast<std::int64_t>(sum));
  }
}

/// Converts whole numbers below 2^51 in magnitude to integers.
void StoreIntegers(const double* HWY_RESTRICT wholes, std::size_t count, std::uint64_t* HWY_RESTRICT to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<std::uint64_t>(integer_of(wholes[i]));
}

template <class Sum>
void ReadValue(const PrefixRow<Sum>& row, std::size_t first, int at, Chunk& chunk) {
  SmallDifferences(row.prefixes + static_cast<std::size_t>(at) * row.stride + first, row.window_width,
                   chunk.count, chunk.plane(at));
}

template <class Sum>
void ReadProduct(const PrefixRow<Sum>& row, bool exact, std::size_t first, int at, int u, int v,
                 Chunk& chunk) {
  const auto plane = [&](int p) { return row.prefixes + static_cast<std::size_t>(p) * row.stride + first; };
  const Sum* low = plane(at);
  double* HWY_RESTRICT to = chunk.plane(at);
  if (exact || sizeof(Sum) == 4) {
    const double* HWY_RESTRICT counts = chunk.counts;
    const double* HWY_RESTRICT sum_u = chunk.plane(u);
    const double* HWY_RESTRICT sum_v = chunk.plane(v);
    SmallDifferences(low, row.window_width, chunk.count, to);
    for (std::size_t i = 0; i < chunk.count; ++i) to[i] = counts[i] * to[i] - sum_u[i] * sum_v[i];
    return;
  }
  const Sum* low_u = plane(u);
  const Sum* low_v = plane(v);
  const auto difference = [&](const Sum* from, std::size_t i) {
    return static_cast<std::int64_t>(from[i + row.window_width] - from[i]);
  };
  for (std::size_t i = 0; i < chunk.count; ++i)
    to[i] = covariance_numerator(static_cast<std::uint64_t>(chunk.counts[i]), difference(low, i),
                                 difference(low_u, i), difference(low_v, i));
}

template <class Sum>
void ReadChunk(const PrefixRow<Sum>& row, bool exact, std::size_t first, Chunk& chunk) {
  const LinearLayout& layout = row.layout;
  for (std::size_t i = 0; i < chunk.count; ++i) chunk.counts[i] = row.counts[first + i] * row.window_rows;
  for (std::size_t i = 0; i < chunk.count; ++i) chunk.inverses[i] = 1.0 / chunk.counts[i];
  for (int i = 0; i < layout.guides; ++i) ReadValue(row, first, i, chunk);
  for (int i = 0; i < layout.guides; ++i)
    for (int j = i; j < layout.guides; ++j) ReadProduct(row, exact, first, layout.product(i, j), i, j, chunk);
  for (int c = layout.first_own(); c < layout.channels; ++c) {
    ReadValue(row, first, layout.channel(c), chunk);
    for (int j = 0; j < layout.guides; ++j)
      ReadProduct(row, exact, first, layout.cross(c, j), layout.channel(c), j, chunk);
  }
}

struct Scales {
  double limit, slope, slope_step, offset;
  explicit Scales(const LinearFormat& format)
      : limit(power_of_two(format.slope_range)),
        slope(power_of_two(format.slope_fraction)),
        slope_step(power_of_two(-format.slope_fraction)),
        offset(power_of_two(format.offset_fraction)) {}
};

/// Slopes of a channel, then its offset, as whole numbers in doubles.
using Wholes = double[4][linear_chunk];

void SolveGrey(const LinearLayout& layout, const Scales scales, double eps, const Chunk& HWY_RESTRICT chunk,
               int c, Wholes& HWY_RESTRICT wholes) {
  const double* variances = chunk.plane(layout.product(0, 0));
  const double* guides = chunk.plane(0);
  const double* pictures = chunk.plane(layout.channel(c));
  const double* crosses = chunk.plane(layout.cross(c, 0));
  const std::size_t count = chunk.count;
  for (std::size_t i = 0; i < count; ++i) {
    const double n = chunk.counts[i];
    const LinearFactors factors = linear_factors(variances[i], n * n * eps);
    const double slope = linear_slopes(factors, crosses[i]).s0;
    const double whole = quantised_slope(slope, scales.limit, scales.slope);
    wholes[0][i] = whole;
    wholes[1][i] =
        quantised_offset(pictures[i], whole * scales.slope_step, guides[i], chunk.inverses[i], scales.offset);
  }
}

struct ChunkFactors {
  double inverse0[linear_chunk], inverse1[linear_chunk], inverse2[linear_chunk];
  double lower10[linear_chunk], lower20[linear_chunk], lower21[linear_chunk];
};

void Factorise(const LinearLayout& layout, double eps, const Chunk& HWY_RESTRICT chunk,
               ChunkFactors& HWY_RESTRICT factors) {
  const double* m00 = chunk.plane(layout.product(0, 0));
  const double* m01 = chunk.plane(layout.product(0, 1));
  const double* m02 = chunk.plane(layout.product(0, 2));
  const double* m11 = chunk.plane(layout.product(1, 1));
  const double* m12 = chunk.plane(layout.product(1, 2));
  const double* m22 = chunk.plane(layout.product(2, 2));
  const std::size_t count = chunk.count;
  for (std::size_t i = 0; i < count; ++i) {
    const double n = chunk.counts[i];
    const LinearFactors f = linear_factors(m00[i], m01[i], m02[i], m11[i], m12[i], m22[i], n * n * eps);
    factors.inverse0[i] = f.inverse0;
    factors.inverse1[i] = f.inverse1;
    factors.inverse2[i] = f.inverse2;
    factors.lower10[i] = f.lower10;
    factors.lower20[i] = f.lower20;
    factors.lower21[i] = f.lower21;
  }
}

void SolveColour(const LinearLayout& layout, const Scales scales, const Chunk& HWY_RESTRICT chunk,
                 const ChunkFactors& HWY_RESTRICT factors, int c, Wholes& HWY_RESTRICT wholes) {
  const double* pictures = chunk.plane(layout.channel(c));
  const double* r0 = chunk.plane(layout.cross(c, 0));
  const double* r1 = chunk.plane(layout.cross(c, 1));
  const double* r2 = chunk.plane(layout.cross(c, 2));
  const double* guide0 = chunk.plane(0);
  const double* guide1 = chunk.plane(1);
  const double* guide2 = chunk.plane(2);
  const std::size_t count = chunk.count;
  for (std::size_t i = 0; i < count; ++i) {
    const LinearFactors f{factors.inverse0[i], factors.inverse1[i], factors.inverse2[i],
                          factors.lower10[i],  factors.lower20[i],  factors.lower21[i]};
    const LinearSlopes s = linear_slopes(f, r0[i], r1[i], r2[i]);
    const double whole0 = quantised_slope(s.s0, scales.limit, scales.slope);
    const double whole1 = quantised_slope(s.s1, scales.limit, scales.slope);
    const double whole2 = quantised_slope(s.s2, scales.limit, scales.slope);
    wholes[0][i] = whole0;
    wholes[1][i] = whole1;
    wholes[2][i] = whole2;
    const LinearSlopes steps{whole0 * scales.slope_step, whole1 * scales.slope_step,
                             whole2 * scales.slope_step};
    wholes[3][i] = quantised_offset(pictures[i], steps, guide0[i], guide1[i], guide2[i], chunk.inverses[i],
                                    scales.offset);
  }
}

/// Computes slopes and offsets of a row, in consecutive planes of `count`.
template <class Sum>
void Coefficients(const PrefixRow<Sum>& row, const LinearSolver& solver, std::size_t count,
                  std::uint64_t* coefficients) {
  const LinearLayout& layout = row.layout;
  const Scales scales(solver.format);
  Chunk chunk;
  ChunkFactors factors;
  Wholes wholes;
  for (std::size_t first = 0; first < count; first += linear_chunk) {
    chunk.count = std::min(linear_chunk, count - first);
    ReadChunk(row, solver.exact_in_double, first, chunk);
    if (layout.guides == 3) Factorise(layout, solver.eps, chunk, factors);
    std::uint64_t* out = coefficients + first;
    for (int c = 0; c < layout.channels; ++c) {
      if (layout.guides == 3) {
        SolveColour(layout, scales, chunk, factors, c, wholes);
      } else {
        SolveGrey(layout, scales, solver.eps, chunk, c, wholes);
      }
      for (int k = 0; k <= layout.guides; ++k, out += count) StoreIntegers(wholes[k], chunk.count, out);
    }
  }
}

/// Computes sums over windows, below 2^63, rounded to double.
void WideDifferences(const std::uint64_t* low, std::size_t width, std::size_t count,
                     double* HWY_RESTRICT to) {
  for (std::size_t i = 0; i < count; ++i)
    to[i] = static_cast<double>(static_cast<std::int64_t>(low[i + width] - low[i]));
}

/// Computes the results of a row in steps of the picture, in a plane of `count` for every channel.
inline void Results(const PrefixRow<std::uint64_t>& row, const LinearFormat& format, const ValueRows& guides,
                    std::size_t count, double* results) {
  const int rows = row.layout.guides + 1;
  const double slope_step = power_of_two(-format.slope_fraction);
  const double offset_step = power_of_two(-format.offset_fraction);
  double sums[4][linear_chunk];
  double inverses[linear_chunk];
  for (std::size_t first = 0; first < count; first += linear_chunk) {
    const std::size_t pixels = std::min(linear_chunk, count - first);
    for (std::size_t i = 0; i < pixels; ++i) inverses[i] = 1.0 / (row.counts[first + i] * row.window_rows);
    for (int c = 0; c < row.layout.channels; ++c) {
      for (int k = 0; k < rows; ++k)
        WideDifferences(row.prefixes + static_cast<std::size_t>(c * rows + k) * row.stride + first,
                        row.window_width, pixels, sums[k]);
      double* HWY_RESTRICT out = results + static_cast<std::size_t>(c) * count + first;
      const std::int32_t* HWY_RESTRICT guide0 = guides[0] + first;
      if (rows == 2) {
        for (std::size_t i = 0; i < pixels; ++i)
          out[i] = linear_result(sums[0][i], sums[1][i], guide0[i], slope_step, offset_step, inverses[i]);
        continue;
      }
      const std::int32_t* HWY_RESTRICT guide1 = guides[1] + first;
      const std::int32_t* HWY_RESTRICT guide2 = guides[2] + first;
      for (std::size_t i = 0; i < pixels; ++i)
        out[i] = linear_result(sums[0][i], sums[1][i], sums[2][i], sums[3][i], guide0[i], guide1[i],
                               guide2[i], slope_step, offset_step, inverses[i]);
    }
  }
}

/// Copies channel c of the pixels to row c unless that is null.
template <class Stored>
void Separate(const Stored* HWY_RESTRICT pixels, int channels, std::size_t count,
              const std::array<std::int32_t*, 4>& to) {
  with_channels(channels, [&]<int Channels>() {
    for (std::size_t c = 0; c < Channels; ++c) {
      std::int32_t* HWY_RESTRICT row = to[c];
      if (row == nullptr) continue;
      for (std::size_t i = 0; i < count; ++i) row[i] = pixels[i * Channels + c];
    }
  });
}

template <class Sum>
void ExchangeValue(const std::int32_t* HWY_RESTRICT enters, const std::int32_t* HWY_RESTRICT leaves,
                   std::size_t count, Sum* HWY_RESTRICT sums) {
  using Signed = std::make_signed_t<Sum>;
  for (std::size_t i = 0; i < count; ++i)
    sums[i] += static_cast<Sum>(static_cast<Signed>(enters[i]) - static_cast<Signed>(leaves[i]));
}

template <class Sum>
void ExchangeProduct(const std::int32_t* u_enters, const std::int32_t* v_enters, const std::int32_t* u_leaves,
                     const std::int32_t* v_leaves, std::size_t count, Sum* HWY_RESTRICT sums) {
  const auto wide = [](std::int32_t value) { return static_cast<Sum>(static_cast<std::int64_t>(value)); };
  for (std::size_t i = 0; i < count; ++i)
    sums[i] += wide(u_enters[i]) * wide(v_enters[i]) - wide(u_leaves[i]) * wide(v_leaves[i]);
}

/// Adds the moments of a row that enters to the column sums and subtracts those of a row that leaves. `sums`
/// holds consecutive planes of `count` sums; Sum is u32 or u64.
template <class Sum>
void ExchangeMoments(const LinearLayout& layout, const ValueRows& enters, const ValueRows& leaves,
                     std::size_t count, Sum* sums) {
  const auto value = [&](int v, int to) {
    const auto at = static_cast<std::size_t>(v);
    ExchangeValue(enters[at], leaves[at], count, sums + static_cast<std::size_t>(to) * count);
  };
  const auto product = [&](int u, int v, int to) {
    const auto a = static_cast<std::size_t>(u);
    const auto b = static_cast<std::size_t>(v);
    ExchangeProduct(enters[a], enters[b], leaves[a], leaves[b], count,
                    sums + static_cast<std::size_t>(to) * count);
  };
  for (int i = 0; i < layout.guides; ++i) {
    value(i, i);
    for (int j = i; j < layout.guides; ++j) product(i, j, layout.product(i, j));
  }
  for (int c = layout.first_own(); c < layout.channels; ++c) {
    const int v = layout.guides + c - layout.first_own();
    value(v, layout.channel(c));
    for (int j = 0; j < layout.guides; ++j) product(v, j, layout.cross(c, j));
  }
}

/// Pictures of one run, and the scales of floats.
struct LinearRun {
  ImageView picture;
  ImageView guide;
  FixedExponents picture_exponents;
  FixedExponents guide_exponents;
};

template <class T>
void ReadRowsAs(const LinearRead& read, FixedExponents exponents, const T* pixels, int first, int last,
                std::size_t count, std::int32_t* values) {
  if constexpr (!std::is_same_v<T, float>) {
    if (!read.weighted) {
      std::array<std::int32_t*, 4> to{};
      for (int c = first; c < last; ++c, values += count)
        to[static_cast<std::size_t>(stored_channel(read, c))] = values;
      return Separate(pixels, read.channels, count, to);
    }
  }
  for (int c = first; c < last; ++c, values += count)
    for (std::size_t x = 0; x < count; ++x)
      values[x] = static_cast<std::int32_t>(
          linear_value(pixels + x * static_cast<std::size_t>(read.channels), c, read, exponents).whole);
}

/// Reads row y of the channels [first, last) as consecutive rows of integers.
inline void ReadLinearRows(const LinearRead& read, FixedExponents exponents, const ImageView& image,
                           int first, int last, std::int64_t y, std::int32_t* values) {
  const auto count = static_cast<std::size_t>(image.shape.width);
  with_pixel_type(read.type, [&]<class T>() {
    ReadRowsAs(read, exponents, image.row<T>(y), first, last, count, values);
  });
}

/// Counts how often each row of the picture is in the window around row y.
inline void CountRows(std::int64_t y, std::int64_t reach, std::int64_t height, Border border,
                      WorkspaceVector<std::uint64_t>& times) {
  times.assign(static_cast<std::size_t>(height), 0);
  for (std::int64_t position = y - reach; position <= y + reach; ++position) {
    const std::int64_t row = source_of(position, height, border);
    if (row >= 0) ++times[static_cast<std::size_t>(row)];
  }
}

/// Exclusive prefix sums of planes of column sums, each extended by its border.
template <class Sum>
class PlanePrefixes {
 public:
  PlanePrefixes(const LocalLinearJob& job, int planes)
      : job_(job),
        width_(static_cast<std::size_t>(job.width)),
        reach_(static_cast<std::size_t>(job.reach_x)),
        stride_(width_ + window_width()),
        prefixes_(static_cast<std::size_t>(planes) * stride_) {}

  [[nodiscard]] std::size_t window_width() const noexcept { return 2 * reach_ + 1; }
  [[nodiscard]] std::size_t stride() const noexcept { return stride_; }
  [[nodiscard]] const Sum* data() const noexcept { return prefixes_.data(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return prefixes_.size() * sizeof(Sum); }
  /// Returns the memory of the prefixes, as scratch space for planes of sums.
  [[nodiscard]] Sum* scratch() noexcept { return prefixes_.data(); }

  void scan_planes(const Sum* sums) {
    for (std::size_t first = 0; first < prefixes_.size(); first += stride_, sums += width_)
      ScanExtended(sums, width_, reach_, job_.border, prefixes_.data() + first);
  }

 private:
  const LocalLinearJob& job_;
  std::size_t width_;
  std::size_t reach_;
  std::size_t stride_;
  WorkspaceVector<Sum> prefixes_;
};

/// Slides the window of moments and computes rows of coefficients. Sum is u32 if sums fit 32 bits, otherwise
/// u64.
template <class Sum>
class LinearMoments {
 public:
  explicit LinearMoments(const LocalLinearJob& job)
      : job_(job),
        width_(static_cast<std::size_t>(job.width)),
        values_(width_ * static_cast<std::size_t>(job.layout.values())),
        sums_(width_ * static_cast<std::size_t>(job.layout.sums())),
        entering_(values_),
        leaving_(values_),
        zeros_(values_),
        prefixes_(job, job.layout.sums()),
        times_(static_cast<std::size_t>(job.height)) {}

  [[nodiscard]] std::size_t bytes() const noexcept {
    return sums_.size() * sizeof(Sum) + 3 * values_ * sizeof(std::int32_t) + prefixes_.bytes() +
           times_.size() * 8;
  }

  void reset() noexcept { at_ = none; }

  /// Computes the coefficients of row y. Cheap next to the previous row.
  void make_row(const LinearRun& run, const double* counts, std::int64_t y, std::uint64_t* coefficients) {
    move_to(run, y);
    prefixes_.scan_planes(sums_.data());
    PrefixRow<Sum> windows{
        job_.layout, prefixes_.data(), prefixes_.stride(), prefixes_.window_width(), counts, 0};
    windows.window_rows =
        static_cast<double>(counted(window_around(y, job_.reach_y), job_.height, job_.border));
    Coefficients(windows, solver(run), width_, coefficients);
  }

 private:
  static constexpr std::int64_t none = -2;  // not next to any row

  [[nodiscard]] LinearSolver solver(const LinearRun& run) const {
    const auto guide = static_cast<double>(largest_linear_value(job_.guide));
    const double largest = std::max(guide, static_cast<double>(largest_linear_value(job_.picture)));
    const auto area = static_cast<double>(largest_window_of(job_));
    return {job_.format, linear_eps(job_.eps, job_.guide, run.guide_exponents),
            area * area * guide * largest < 0x1p51};
  }

  void move_to(const LinearRun& run, std::int64_t y) {
    const auto source = [&](std::int64_t position) { return source_of(position, job_.height, job_.border); };
    const std::int64_t reach = job_.reach_y;
    if (y == at_ + 1) {
      exchange_rows(run, source(y + reach), source(y - 1 - reach));
    } else if (y == at_ - 1) {
      exchange_rows(run, source(y - reach), source(y + 1 + reach));
    } else if (y != at_) {
      start(run, y);
    }
    at_ = y;
  }

  void start(const LinearRun& run, std::int64_t y) {
    CountRows(y, job_.reach_y, job_.height, job_.border, times_);
    std::fill(sums_.begin(), sums_.end(), Sum{0});
    for (std::int64_t row = 0; row < job_.height; ++row) {
      const auto times = static_cast<Sum>(times_[static_cast<std::size_t>(row)]);
      if (times == 0) continue;
      read(run, row, entering_);
      if (times == 1) {
        ExchangeMoments(job_.layout, rows_of(entering_), rows_of(zeros_), width_, sums_.data());
        continue;
      }
      Sum* moments = prefixes_.scratch();
      std::fill_n(moments, sums_.size(), Sum{0});
      ExchangeMoments(job_.layout, rows_of(entering_), rows_of(zeros_), width_, moments);
      for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += times * moments[i];
    }
  }

  void exchange_rows(const LinearRun& run, std::int64_t enters, std::int64_t leaves) {
    if (enters == leaves) return;
    if (enters >= 0) read(run, enters, entering_);
    if (leaves >= 0) read(run, leaves, leaving_);
    ExchangeMoments(job_.layout, rows_of(enters < 0 ? zeros_ : entering_),
                    rows_of(leaves < 0 ? zeros_ : leaving_), width_, sums_.data());
  }

  void read(const LinearRun& run, std::int64_t y, WorkspaceVector<std::int32_t>& values) const {
    const LinearLayout& layout = job_.layout;
    ReadLinearRows(job_.guide, run.guide_exponents, run.guide, 0, layout.guides, y, values.data());
    if (layout.first_own() < layout.channels)
      ReadLinearRows(job_.picture, run.picture_exponents, run.picture, layout.first_own(), layout.channels, y,
                     values.data() + static_cast<std::size_t>(layout.guides) * width_);
  }

  [[nodiscard]] ValueRows rows_of(const WorkspaceVector<std::int32_t>& values) const {
    ValueRows rows{};
    for (std::size_t i = 0; i * width_ < values.size(); ++i) rows[i] = values.data() + i * width_;
    return rows;
  }

  const LocalLinearJob& job_;
  std::size_t width_;
  std::size_t values_;
  std::int64_t at_ = none;     ///< row whose window is summed
  WorkspaceVector<Sum> sums_;  ///< column sums
  WorkspaceVector<std::int32_t> entering_;
  WorkspaceVector<std::int32_t> leaving_;
  WorkspaceVector<std::int32_t> zeros_;
  PlanePrefixes<Sum> prefixes_;
  WorkspaceVector<std::uint64_t> times_;
};

/// Rows of coefficients, of which the latest are kept.
template <class Sum>
class CoefficientRows {
 public:
  CoefficientRows(const LocalLinearJob& job, std::int64_t kept)
      : moments_(job),
        row_size_(static_cast<std::size_t>(job.width) * static_cast<std::size_t>(job.layout.coefficients())),
        tags_(static_cast<std::size_t>(kept)),
        rows_(row_size_ * tags_.size()) {}

  [[nodiscard]] std::size_t bytes() const noexcept {
    return moments_.bytes() + (rows_.size() + tags_.size()) * 8;
  }

  void reset() {
    moments_.reset();
    std::fill(tags_.begin(), tags_.end(), -1);
  }

  [[nodiscard]] bool collide(std::int64_t a, std::int64_t b) const { return index(a) == index(b); }

  [[nodiscard]] const std::uint64_t* find(std::int64_t y) const {
    return tags_[index(y)] == y ? rows_.data() + index(y) * row_size_ : nullptr;
  }

  const std::uint64_t* row(const LinearRun& run, const double* counts, std::int64_t y) {
    if (find(y) == nullptr) moments_.make_row(run, counts, y, rows_.data() + index(y) * row_size_);
    tags_[index(y)] = y;
    return find(y);
  }

 private:
  [[nodiscard]] std::size_t index(std::int64_t y) const { return static_cast<std::size_t>(y) % tags_.size(); }

  LinearMoments<Sum> moments_;
  std::size_t row_size_;
  WorkspaceVector<std::int64_t> tags_;  ///< row of the picture at each index
  WorkspaceVector<std::uint64_t> rows_;
};

/// Largest memory for the kept coefficients of a thread. AVX-512, one thread, UHD RGB: 27 ns per pixel
/// instead of 40 at radius 16, which keeps 12.5 MB. At radius 64, 48 MB would only save 2 ns of 38.
constexpr std::size_t most_kept_bytes = std::size_t{16} << 20;

/// Returns the number of rows to keep: those of a window and the next one, or 1.
inline std::int64_t KeptRows(const LocalLinearJob& job) {
  const std::int64_t rows = std::min(2 * job.reach_y + 2, job.height);
  const auto row_bytes = static_cast<std::size_t>(job.width * job.layout.coefficients()) * 8;
  return row_bytes <= most_kept_bytes / static_cast<std::size_t>(rows) ? rows : 1;
}

/// Slides the window of coefficients down a tile and computes rows of results.
template <class Sum>
class SlidingCoefficients {
 public:
  explicit SlidingCoefficients(const LocalLinearJob& job)
      : job_(job),
        width_(static_cast<std::size_t>(job.width)),
        planes_(static_cast<std::size_t>(job.layout.coefficients())),
        ahead_(job, KeptRows(job)),
        behind_(job, 1),
        sums_(width_ * planes_),
        zeros_(width_ * planes_),
        prefixes_(job, job.layout.coefficients()),
        counts_(width_),
        guides_(width_ * static_cast<std::size_t>(job.layout.guides)),
        results_(width_ * static_cast<std::size_t>(job.layout.channels)) {
    for (std::size_t x = 0; x < width_; ++x)
      counts_[x] = static_cast<double>(
          counted(window_around(static_cast<std::int64_t>(x), job.reach_x), job.width, job.border));
  }

  [[nodiscard]] std::size_t bytes() const noexcept {
    return ahead_.bytes() + behind_.bytes() + prefixes_.bytes() + guides_.size() * 4 +
           (sums_.size() + zeros_.size() + counts_.size() + results_.size()) * 8;
  }

  void start(const LinearRun& run, std::int64_t y) {
    ahead_.reset();
    behind_.reset();
    CountRows(y, job_.reach_y, job_.height, job_.border, times_);
    std::fill(sums_.begin(), sums_.end(), 0);
    for (std::int64_t row = 0; row < job_.height; ++row) {
      const std::uint64_t times = times_[static_cast<std::size_t>(row)];
      if (times == 0) continue;
      const std::uint64_t* enters = ahead_.row(run, counts_.data(), row);
      for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += times * enters[i];
    }
  }

  void advance(const LinearRun& run, std::int64_t y) {
    const std::int64_t enters = source_of(y + job_.reach_y, job_.height, job_.border);
    const std::int64_t leaves = source_of(y - 1 - job_.reach_y, job_.height, job_.border);
    if (enters == leaves) return;
    const std::uint64_t* left = zeros_.data();
    if (leaves >= 0) {
      left = enters >= 0 && ahead_.collide(enters, leaves) ? nullptr : ahead_.find(leaves);
      if (left == nullptr) left = behind_.row(run, counts_.data(), leaves);
    }
    Exchange(enters < 0 ? zeros_.data() : ahead_.row(run, counts_.data(), enters), left, sums_.size(),
             sums_.data());
  }

  /// Returns the results of row y in steps of the picture, a plane for every channel.
  const double* results(const LinearRun& run, std::int64_t y) {
    prefixes_.scan_planes(sums_.data());
    PrefixRow<std::uint64_t> windows{
        job_.layout, prefixes_.data(), prefixes_.stride(), prefixes_.window_width(), counts_.data(), 0};
    windows.window_rows =
        static_cast<double>(counted(window_around(y, job_.reach_y), job_.height, job_.border));
    ValueRows guides{};
    ReadLinearRows(job_.guide, run.guide_exponents, run.guide, 0, job_.layout.guides, y, guides_.data());
    for (std::size_t i = 0; i * width_ < guides_.size(); ++i) guides[i] = guides_.data() + i * width_;
    Results(windows, job_.format, guides, width_, results_.data());
    return results_.data();
  }

 private:
  const LocalLinearJob& job_;
  std::size_t width_;
  std::size_t planes_;
  CoefficientRows<Sum> ahead_;           ///< rows that enter
  CoefficientRows<Sum> behind_;          ///< rows that leave and were not kept
  WorkspaceVector<std::uint64_t> sums_;  ///< column sums of coefficients
  WorkspaceVector<std::uint64_t> zeros_;
  PlanePrefixes<std::uint64_t> prefixes_;
  WorkspaceVector<double> counts_;  ///< columns of each window
  WorkspaceVector<std::int32_t> guides_;
  WorkspaceVector<double> results_;
  WorkspaceVector<std::uint64_t> times_;
};

template <class Sum>
class LocalLinear final : public LocalLinearOperation {
 public:
  LocalLinear(CpuBackend& backend, const LocalLinearJob& job)
      : backend_(backend),
        job_(job),
        tiles_down_(std::clamp<std::int64_t>(job.height / smallest_tile, 1, backend.threads.count())) {
    for (std::int64_t i = 0; i < tiles_down_; ++i)
      tiles_.push_back(std::make_unique<SlidingCoefficients<Sum>>(job_));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return tiles_.front()->bytes() * tiles_.size();
  }

  void run(const LocalLinearImages& images, Stream) override {
    const LinearRun run{images.picture, images.guide, linear_exponents(job_.picture, images.measured),
                        linear_exponents(job_.guide, images.guide_measured)};
    if (images.guide_measured != images.measured)
      images.measured->guide_not_finite = images.guide_measured->picture_not_finite;
    const std::int64_t tallest = (job_.height + tiles_down_ - 1) / tiles_down_;
    for (std::int64_t done = 0; done < tallest; done += rows_at_once)
      parallel_rows(backend_, tiles_down_, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) run_rows(images, run, i, done);
      });
  }

 private:
  static constexpr std::int64_t smallest_tile = 32;
  static constexpr std::int64_t rows_at_once = 32;  ///< rows of every tile between checks for cancellation

  /// Computes the next rows of a tile after `done` rows.
  void run_rows(const LocalLinearImages& images, const LinearRun& run, std::int64_t index,
                std::int64_t done) {
    SlidingCoefficients<Sum>& tile = *tiles_[static_cast<std::size_t>(index)];
    const std::int64_t top = job_.height * index / tiles_down_;
    const std::int64_t bottom = job_.height * (index + 1) / tiles_down_;
    for (std::int64_t y = top + done; y < std::min(top + done + rows_at_once, bottom); ++y) {
      y == top ? tile.start(run, y) : tile.advance(run, y);
      store_row(images, run, tile.results(run, y), y);
    }
  }

  void store_row(const LocalLinearImages& images, const LinearRun& run, const double* results,
                 std::int64_t y) const {
    with_pixel_type(job_.picture.type, [&]<class T>() {
      if constexpr (!std::is_same_v<T, float>)
        if (!job_.picture.weighted && job_.mask_maximum == 0)
          return store_integers(results, images.output.row<T>(y));
      with_channels(job_.picture.channels,
                    [&]<int Channels>() { store_pixels<Channels, T>(images, run, results, y); });
    });
  }

  template <class T>
  void store_integers(const double* results, T* out) const {
    const auto channels = static_cast<std::size_t>(job_.picture.channels);
    const auto width = static_cast<std::size_t>(job_.width);
    constexpr std::uint32_t white = static_cast<T>(~T{0});
    for (int c = 0; c < job_.picture.channels; ++c, results += width) {
      T* to = out + stored_channel(job_.picture, c);
      for (std::size_t x = 0; x < width; ++x)
        to[x * channels] = static_cast<T>(nearest_integer(results[x], white));
    }
  }

  template <int Channels, class T>
  void store_pixels(const LocalLinearImages& images, const LinearRun& run, const double* results,
                    std::int64_t y) const {
    const StoreRule rule{job_.picture.weighted, job_.mask_maximum, {}};
    const T* original = images.picture.row<T>(y);
    T* out = images.output.row<T>(y);
    for (std::int64_t x = 0; x < job_.width; ++x, original += Channels, out += Channels) {
      double values[static_cast<std::size_t>(Channels)];
      for (int c = 0; c < Channels; ++c) {
        const int at = stored_channel(job_.picture, c);
        const double rest = linear_value(original, c, job_.picture, run.picture_exponents).rest;
        values[at] =
            (results[c * job_.width + x] + rest) * linear_step(job_.picture, at, run.picture_exponents);
      }
      store_real_pixel<Channels>(values, original, mask_at(images.mask, x, y), rule, out);
    }
  }

  CpuBackend& backend_;
  LocalLinearJob job_;
  std::int64_t tiles_down_;
  std::vector<std::unique_ptr<SlidingCoefficients<Sum>>> tiles_;
};

inline Prepared<LocalLinearJob> PrepareLocalLinear(Backend& backend, const LocalLinearJob& job) {
  if (job.sums_fit_32_bits) return std::make_unique<LocalLinear<std::uint32_t>>(as_cpu(backend), job);
  return std::make_unique<LocalLinear<std::uint64_t>>(as_cpu(backend), job);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareLocalLinear);

Prepared<LocalLinearJob> prepare_local_linear(Backend& backend, const LocalLinearJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareLocalLinear)(backend, job);
}

}  // namespace satin::cpu
#endif
