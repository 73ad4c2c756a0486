// The loops of float_means_simd.h that Highway compiles once for every SIMD target and chooses between at run
// time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "means/cpu/float_means_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "means/cpu/float_means_simd.h"
#include "pixels/cpu/load_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

template <class D>
HWY_INLINE auto SignedDifference(D d, const std::uint64_t* ahead, const std::uint64_t* behind) {
  const hn::Rebind<std::uint64_t, D> sums;
  const hn::Rebind<std::int64_t, D> integers;
  return hn::ConvertTo(d, hn::BitCast(integers, hn::Sub(hn::LoadU(sums, ahead), hn::LoadU(sums, behind))));
}

template <int Boxes, class D>
std::size_t MeanVectors(D d, BoxDifferences<std::uint64_t> boxes, const Divisors& divisors, double scale,
                        std::size_t i, std::size_t count, float* means) {
  const hn::Rebind<float, D> floats;
  const auto scales = hn::Set(d, scale);
  const auto size_y = hn::Set(d, divisors.size_y);
  auto divisor = hn::Set(d, divisors.divisor);
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    auto sum = hn::Zero(d);
    for (int box = 0; box < Boxes; ++box)  // a sum and a product apart: no target may fuse them
      sum = hn::Add(sum, hn::Mul(SignedDifference(d, boxes.ahead[box] + i, boxes.behind[box] + i),
                                 hn::Set(d, boxes.weight[box])));
    if (divisors.size_x != nullptr) divisor = hn::Mul(hn::LoadU(d, divisors.size_x + i), size_y);
    hn::StoreU(hn::DemoteTo(floats, hn::Mul(hn::Div(sum, divisor), scales)), floats, means + i);
  }
  return i;
}

template <int Boxes>
void MeansOf(const BoxDifferences<std::uint64_t>& boxes, const Divisors& divisors, double scale,
             std::size_t count, float* means) {
  const std::size_t done =
      MeanVectors<Boxes>(hn::ScalableTag<double>(), boxes, divisors, scale, 0, count, means);
  MeanVectors<Boxes>(hn::CappedTag<double, 1>(), boxes, divisors, scale, done, count, means);
}

void FloatMeans(const BoxDifferences<std::uint64_t>& boxes, const Divisors& divisors, double scale,
                std::size_t count, float* means) {
  boxes.boxes == 1 ? MeansOf<1>(boxes, divisors, scale, count, means)
                   : MeansOf<4>(boxes, divisors, scale, count, means);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(FloatMeans);

void float_means(const BoxDifferences<std::uint64_t>& boxes, const Divisors& divisors, double scale,
                 std::size_t count, float* means) {
  HWY_DYNAMIC_DISPATCH(FloatMeans)(boxes, divisors, scale, count, means);
}

}  // namespace satin::cpu
#endif
