// Tests of Highway: the filters rely on TruncateTo() on every SIMD target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/core/highway_test.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/oracles/forced_target.h"

HWY_BEFORE_NAMESPACE();
namespace satin::test::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class To, class D>
void check_truncation(D d) {
  using From = hn::TFromD<D>;
  const hn::Rebind<To, D> narrow;
  From from[64];
  To to[64];
  for (std::size_t i = 0; i < hn::Lanes(d); ++i)
    from[i] = static_cast<From>((i + 1) * std::uint64_t{0x9E3779B97F4A7C15});
  hn::StoreU(hn::TruncateTo(narrow, hn::LoadU(d, from)), narrow, to);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i)
    ASSERT_EQ(to[i], static_cast<To>(from[i]))
        << sizeof(From) << " bytes to " << sizeof(To) << ", lane " << i << " of " << hn::Lanes(d);
}

template <class From, class To>
void check_vectors_of_every_size() {
  check_truncation<To>(hn::CappedTag<From, 1>());
  check_truncation<To>(hn::CappedTag<From, 2>());
  check_truncation<To>(hn::CappedTag<From, 4>());
  check_truncation<To>(hn::CappedTag<From, 8>());
  check_truncation<To>(hn::CappedTag<From, 16>());
  check_truncation<To>(hn::CappedTag<From, 32>());
}

void CheckTruncation() {
  check_vectors_of_every_size<std::uint16_t, std::uint8_t>();
  check_vectors_of_every_size<std::uint32_t, std::uint8_t>();
  check_vectors_of_every_size<std::uint32_t, std::uint16_t>();
  check_vectors_of_every_size<std::uint64_t, std::uint8_t>();
  check_vectors_of_every_size<std::uint64_t, std::uint16_t>();
  check_vectors_of_every_size<std::uint64_t, std::uint32_t>();
}

}  // namespace
}  // namespace satin::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::test {
namespace {

HWY_EXPORT(CheckTruncation);

TEST(Highway, TruncationKeepsTheLowBitsOfEveryLane) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckTruncation)(); });
}

}  // namespace
}  // namespace satin::test
#endif
