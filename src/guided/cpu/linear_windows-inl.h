// Windows of the guided filter, compiled for every SIMD target: sums of columns to coefficients, and those to
// results. The same bytes from all of them, and from guided/maths/local_linear.h. Most loops are plain: the
// compiler makes vectors of them, as they hold no dependence and no call.

#if defined(SATIN_LINEAR_WINDOWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_LINEAR_WINDOWS_INL_H
#undef SATIN_LINEAR_WINDOWS_INL_H
#else
#define SATIN_LINEAR_WINDOWS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>

#include "guided/maths/local_linear.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A row of every value of a layout: the guides, then the picture's own channels.
using ValueRows = std::array<const std::int32_t*, 7>;

/// Windows of one row: the difference of prefixes `span` apart is a sum over a window, and counts[x] *
/// count_of_rows its number of pixels.
template <class Sum>
struct PrefixRow {
  LinearLayout layout;
  const Sum* prefixes = nullptr;  ///< planes
  std::size_t stride = 0;         ///< from plane to plane
  std::size_t span = 0;
  const double* counts = nullptr;
  double count_of_rows = 0;
};

/// What turns sums into coefficients.
struct LinearSolver {
  LinearFormat format;
  double eps = 0;                ///< in steps of the guide, squared
  bool exact_in_double = false;  ///< n sum(u v) stays below 2^51
};

constexpr std::size_t linear_chunk = 128;  // pixels whose numbers stay in the L1

/// What the windows of a chunk have summed: values, and numerators of covariances. Places are those of the
/// layout.
struct Chunk {
  std::size_t count = 0;
  double counts[linear_chunk];
  double inverses[linear_chunk];  ///< of the counts
  double sums[25 * linear_chunk];

  double* plane(int at) { return sums + static_cast<std::size_t>(at) * linear_chunk; }
  [[nodiscard]] const double* plane(int at) const {
    return sums + static_cast<std::size_t>(at) * linear_chunk;
  }
};

/// Sums over windows, of 32 bits or below 2^51, as doubles.
template <class Sum>
void SmallDifferences(const Sum* HWY_RESTRICT low, std::size_t span, std::size_t count,
                      double* HWY_RESTRICT to) {
  const hn::ScalableTag<double> d;
  const hn::RebindToUnsigned<decltype(d)> d64;
  const hn::Rebind<Sum, decltype(d)> sums;
  const std::size_t lanes = hn::Lanes(d);
  const auto shift = hn::Set(d, integer_shift);
  const auto to_double = [&](auto sum) {
    const auto bits = hn::Add(sum, hn::BitCast(d64, shift));
    return hn::Sub(hn::BitCast(d, bits), shift);
  };
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto sum = hn::Sub(hn::LoadU(sums, low + i + span), hn::LoadU(sums, low + i));
    if constexpr (sizeof(Sum) == 4) {
      hn::StoreU(to_double(hn::PromoteTo(d64, sum)), d, to + i);
    } else {
      hn::StoreU(to_double(sum), d, to + i);
    }
  }
  for (; i < count; ++i) {
    const auto sum = static_cast<Sum>(low[i + span] - low[i]);
    to[i] = sizeof(Sum) == 4 ? static_cast<double>(sum) : static_cast<double>(static_cast<std::int64_t>(sum));
  }
}

/// The integers that whole numbers below 2^51 in magnitude are.
void StoreIntegers(const double* HWY_RESTRICT wholes, std::size_t count, std::uint64_t* HWY_RESTRICT to) {
  const hn::ScalableTag<double> d;
  const hn::RebindToUnsigned<decltype(d)> d64;
  const std::size_t lanes = hn::Lanes(d);
  const auto shift = hn::Set(d, integer_shift);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto bits = hn::BitCast(d64, hn::Add(hn::LoadU(d, wholes + i), shift));
    hn::StoreU(hn::Sub(bits, hn::BitCast(d64, shift)), d64, to + i);
  }
  for (; i < count; ++i) to[i] = static_cast<std::uint64_t>(integer_of(wholes[i]));
}

template <class Sum>
void ReadValue(const PrefixRow<Sum>& row, std::size_t first, int at, Chunk& chunk) {
  SmallDifferences(row.prefixes + static_cast<std::size_t>(at) * row.stride + first, row.span, chunk.count,
                   chunk.plane(at));
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
    SmallDifferences(low, row.span, chunk.count, to);
    for (std::size_t i = 0; i < chunk.count; ++i) to[i] = counts[i] * to[i] - sum_u[i] * sum_v[i];
    return;
  }
  const Sum* low_u = plane(u);
  const Sum* low_v = plane(v);
  const auto difference = [&](const Sum* from, std::size_t i) {
    return static_cast<std::int64_t>(from[i + row.span] - from[i]);
  };
  for (std::size_t i = 0; i < chunk.count; ++i)
    to[i] = covariance_numerator(static_cast<std::uint64_t>(chunk.counts[i]), difference(low, i),
                                 difference(low_u, i), difference(low_v, i));
}

template <class Sum>
void ReadChunk(const PrefixRow<Sum>& row, bool exact, std::size_t first, Chunk& chunk) {
  const LinearLayout& layout = row.layout;
  for (std::size_t i = 0; i < chunk.count; ++i) chunk.counts[i] = row.counts[first + i] * row.count_of_rows;
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

/// Slopes of a channel, then its offset, as whole numbers.
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

/// Slopes and offsets of a row, planes of `count` one behind the other.
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

/// Sums over windows, below 2^63, rounded to double.
void WideDifferences(const std::uint64_t* low, std::size_t span, std::size_t count, double* HWY_RESTRICT to) {
  const hn::ScalableTag<double> d;
  const hn::RebindToSigned<decltype(d)> d64;
  const auto* from = reinterpret_cast<const std::int64_t*>(low);
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::ConvertTo(d, hn::Sub(hn::LoadU(d64, from + i + span), hn::LoadU(d64, from + i))), d,
               to + i);
  for (; i < count; ++i) to[i] = static_cast<double>(static_cast<std::int64_t>(low[i + span] - low[i]));
}

/// Results of a row in steps of the picture, planes of `count` for every channel.
inline void Results(const PrefixRow<std::uint64_t>& row, const LinearFormat& format, const ValueRows& guides,
                    std::size_t count, double* results) {
  const int rows = row.layout.guides + 1;
  const double slope_step = power_of_two(-format.slope_fraction);
  const double offset_step = power_of_two(-format.offset_fraction);
  double sums[4][linear_chunk];
  double inverses[linear_chunk];
  for (std::size_t first = 0; first < count; first += linear_chunk) {
    const std::size_t part = std::min(linear_chunk, count - first);
    for (std::size_t i = 0; i < part; ++i) inverses[i] = 1.0 / (row.counts[first + i] * row.count_of_rows);
    for (int c = 0; c < row.layout.channels; ++c) {
      for (int k = 0; k < rows; ++k)
        WideDifferences(row.prefixes + static_cast<std::size_t>(c * rows + k) * row.stride + first, row.span,
                        part, sums[k]);
      double* HWY_RESTRICT out = results + static_cast<std::size_t>(c) * count + first;
      const std::int32_t* HWY_RESTRICT guide0 = guides[0] + first;
      if (rows == 2) {
        for (std::size_t i = 0; i < part; ++i)
          out[i] = linear_result(sums[0][i], sums[1][i], guide0[i], slope_step, offset_step, inverses[i]);
        continue;
      }
      const std::int32_t* HWY_RESTRICT guide1 = guides[1] + first;
      const std::int32_t* HWY_RESTRICT guide2 = guides[2] + first;
      for (std::size_t i = 0; i < part; ++i)
        out[i] = linear_result(sums[0][i], sums[1][i], sums[2][i], sums[3][i], guide0[i], guide1[i],
                               guide2[i], slope_step, offset_step, inverses[i]);
    }
  }
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
