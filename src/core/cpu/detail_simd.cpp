// The loops of detail_simd.h that Highway compiles once for every SIMD target and chooses between at run
// time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/detail_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "core/cpu/detail_simd.h"
#include "core/cpu/load_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

template <class D, class Own, class Mean>
std::size_t AddVectors(D d, const Own* own, const Mean* means, std::size_t i, std::size_t count,
                       const DetailLine& line, Own* out) {
  const hn::Rebind<std::uint32_t, D> integers;
  const hn::Rebind<Own, D> stored;
  const auto amount = hn::Set(d, line.amount);
  const auto threshold = hn::Set(d, line.threshold);
  const auto scale = hn::Set(d, line.mean_scale);
  const auto white = hn::Set(d, line.white);
  const auto half = hn::Set(d, 0.5);
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto value = ExactDouble(d, LoadWide(integers, own + i));
    const auto mean = hn::Mul(ExactDouble(d, LoadWide(integers, means + i)), scale);
    const auto difference = hn::Sub(value, mean);
    const auto counts = hn::Gt(hn::Abs(difference), threshold);
    const auto result = hn::Add(value, hn::IfThenElseZero(counts, hn::Mul(difference, amount)));
    const auto bounded = hn::Min(hn::Max(result, hn::Zero(d)), white);
    const auto nearest = hn::DemoteTo(hn::Rebind<std::int32_t, D>(), hn::Add(bounded, half));
    hn::StoreU(hn::DemoteTo(stored, nearest), stored, out + i);
  }
  return i;
}

template <class Own, class Mean>
void AddDetail(const Own* own, const Mean* means, std::size_t count, const DetailLine& line, Own* out) {
  const std::size_t done = AddVectors(hn::ScalableTag<double>(), own, means, 0, count, line, out);
  AddVectors(hn::CappedTag<double, 1>(), own, means, done, count, line, out);
}

// Highway dispatches plain functions: one name for each instance.
void AddDetailU8(const std::uint8_t* own, const std::uint16_t* means, std::size_t count,
                 const DetailLine& line, std::uint8_t* out) {
  AddDetail(own, means, count, line, out);
}
void AddDetailU16(const std::uint16_t* own, const std::uint32_t* means, std::size_t count,
                  const DetailLine& line, std::uint16_t* out) {
  AddDetail(own, means, count, line, out);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(AddDetailU8);
HWY_EXPORT(AddDetailU16);

template <>
void add_detail(const std::uint8_t* own, const std::uint16_t* means, std::size_t count,
                const DetailLine& line, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(AddDetailU8)(own, means, count, line, out);
}
template <>
void add_detail(const std::uint16_t* own, const std::uint32_t* means, std::size_t count,
                const DetailLine& line, std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(AddDetailU16)(own, means, count, line, out);
}

}  // namespace satin::cpu
#endif
