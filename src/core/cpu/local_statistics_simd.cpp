// Highway compiles this file once for every SIMD target and chooses at run time. Most loops are plain: the
// compiler makes vectors of them, as they hold no dependence and no call.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/local_statistics_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "core/cpu/local_statistics_simd.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void Exchange(const std::uint32_t* HWY_RESTRICT enters, const std::uint32_t* HWY_RESTRICT leaves,
              std::size_t count, std::uint64_t* HWY_RESTRICT sums, std::uint64_t* HWY_RESTRICT squares) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t in = enters[i];
    const std::uint64_t out = leaves[i];
    sums[i] += in - out;
    squares[i] += in * in - out * out;
  }
}

void OneByOne(const WindowRow& row, std::size_t first, std::size_t count, double* means, double* deviations) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = first + i;
    const WindowSums sums{static_cast<std::uint64_t>(row.counts[at]), row.sums[at + row.span] - row.sums[at],
                          row.squares[at + row.span] - row.squares[at]};
    const LocalStatistics found = local_statistics(sums, row.quantised);
    means[i] = found.mean;
    deviations[i] = found.deviation;
  }
}

/// In vectors where doubles hold every integer exactly.
void Statistics(const WindowRow& row, std::size_t first, std::size_t count, double* HWY_RESTRICT means,
                double* HWY_RESTRICT deviations) {
  if (!row.exact_in_double) return OneByOne(row, first, count, means, deviations);
  const hn::ScalableTag<double> d;
  const hn::RebindToSigned<decltype(d)> d64;
  const std::size_t lanes = hn::Lanes(d);
  const auto sum_at = [&](const std::uint64_t* prefix, std::size_t i) {
    const auto* p = reinterpret_cast<const std::int64_t*>(prefix + i);
    return hn::ConvertTo(d, hn::Sub(hn::LoadU(d64, p + row.span), hn::LoadU(d64, p)));
  };
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto n = hn::LoadU(d, row.counts + first + i);
    const auto sum = sum_at(row.sums, first + i);
    const auto squares = sum_at(row.squares, first + i);
    const auto numerator = hn::Sub(hn::Mul(n, squares), hn::Mul(sum, sum));
    hn::StoreU(hn::Div(sum, n), d, means + i);
    hn::StoreU(hn::Div(hn::Sqrt(numerator), n), d, deviations + i);
  }
  OneByOne(row, first + i, count - i, means + i, deviations + i);
}

template <class ThresholdOf>
void Compare(const ThresholdOf& threshold_of, const double* HWY_RESTRICT values,
             const double* HWY_RESTRICT means, const double* HWY_RESTRICT deviations, std::size_t count,
             bool inverted, std::uint8_t* HWY_RESTRICT out) {
  const std::uint8_t above = inverted ? 0 : 255;
  for (std::size_t i = 0; i < count; ++i) {
    const bool white = values[i] > threshold_of(LocalStatistics{means[i], deviations[i]});
    out[i] = static_cast<std::uint8_t>(white ? above : 255 - above);
  }
}

void Binarise(const ThresholdRule& rule, const PictureExtremes& extremes, const double* values,
              const double* means, const double* deviations, std::size_t count, bool inverted,
              std::uint8_t* out) {
  const auto compare = [&]<ThresholdMethod method>() {
    ThresholdRule known = rule;
    known.method = method;
    Compare([&](LocalStatistics at) { return local_threshold(known, extremes, at); }, values, means,
            deviations, count, inverted, out);
  };
  switch (rule.method) {
    case ThresholdMethod::bradley:
      return compare.template operator()<ThresholdMethod::bradley>();
    case ThresholdMethod::niblack:
      return compare.template operator()<ThresholdMethod::niblack>();
    case ThresholdMethod::sauvola:
      return compare.template operator()<ThresholdMethod::sauvola>();
    case ThresholdMethod::wolf:
      return compare.template operator()<ThresholdMethod::wolf>();
    case ThresholdMethod::nick:
      return compare.template operator()<ThresholdMethod::nick>();
    case ThresholdMethod::otsu:
    case ThresholdMethod::fixed:
      return;  // one level for all pixels: LevelOperation
  }
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(Exchange);
HWY_EXPORT(Statistics);
HWY_EXPORT(Binarise);

void exchange_with_squares(const std::uint32_t* enters, const std::uint32_t* leaves, std::size_t count,
                           std::uint64_t* sums, std::uint64_t* squares) {
  HWY_DYNAMIC_DISPATCH(Exchange)(enters, leaves, count, sums, squares);
}

void statistics_of_row(const WindowRow& row, std::size_t first, std::size_t count, double* means,
                       double* deviations) {
  HWY_DYNAMIC_DISPATCH(Statistics)(row, first, count, means, deviations);
}

void binarise(const ThresholdRule& rule, const PictureExtremes& extremes, const double* values,
              const double* means, const double* deviations, std::size_t count, bool inverted,
              std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(Binarise)(rule, extremes, values, means, deviations, count, inverted, out);
}

}  // namespace satin::cpu
#endif
