// Highway compiles this file once for every SIMD target and chooses at run time: stored rows to rows of
// integers, and those to sums of columns.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "guided/cpu/local_linear_rows_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <type_traits>

#include "guided/cpu/local_linear_simd.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Stored>
void Separate(const Stored* HWY_RESTRICT pixels, int channels, std::size_t count,
              const std::array<std::int32_t*, 4>& to) {
  const hn::ScalableTag<std::int32_t> d;
  const hn::Rebind<Stored, decltype(d)> narrow;
  const std::size_t lanes = hn::Lanes(d);
  using V = hn::Vec<decltype(narrow)>;
  const auto store = [&](V v, std::size_t c, std::size_t i) {
    if (to[c] != nullptr) hn::StoreU(hn::PromoteTo(d, v), d, to[c] + i);
  };
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    V v0, v1, v2, v3;
    const Stored* from = pixels + i * static_cast<std::size_t>(channels);
    if (channels == 1) {
      store(hn::LoadU(narrow, from), 0, i);
    } else if (channels == 2) {
      hn::LoadInterleaved2(narrow, from, v0, v1);
      store(v0, 0, i);
      store(v1, 1, i);
    } else if (channels == 3) {
      hn::LoadInterleaved3(narrow, from, v0, v1, v2);
      store(v0, 0, i);
      store(v1, 1, i);
      store(v2, 2, i);
    } else {
      hn::LoadInterleaved4(narrow, from, v0, v1, v2, v3);
      store(v0, 0, i);
      store(v1, 1, i);
      store(v2, 2, i);
      store(v3, 3, i);
    }
  }
  for (; i < count; ++i)
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c)
      if (to[c] != nullptr) to[c][i] = pixels[i * static_cast<std::size_t>(channels) + c];
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

// Highway dispatches plain functions: one name for each instance.
void SeparateU8(const std::uint8_t* pixels, int channels, std::size_t count,
                const std::array<std::int32_t*, 4>& to) {
  Separate(pixels, channels, count, to);
}
void SeparateU16(const std::uint16_t* pixels, int channels, std::size_t count,
                 const std::array<std::int32_t*, 4>& to) {
  Separate(pixels, channels, count, to);
}
void ExchangeNarrow(const LinearLayout& layout, const ValueRows& enters, const ValueRows& leaves,
                    std::size_t count, std::uint32_t* sums) {
  ExchangeMoments(layout, enters, leaves, count, sums);
}
void ExchangeWide(const LinearLayout& layout, const ValueRows& enters, const ValueRows& leaves,
                  std::size_t count, std::uint64_t* sums) {
  ExchangeMoments(layout, enters, leaves, count, sums);
}
}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(SeparateU8);
HWY_EXPORT(SeparateU16);
HWY_EXPORT(ExchangeNarrow);
HWY_EXPORT(ExchangeWide);

void separate(const std::uint8_t* pixels, int channels, std::size_t count,
              const std::array<std::int32_t*, 4>& to) {
  HWY_DYNAMIC_DISPATCH(SeparateU8)(pixels, channels, count, to);
}
void separate(const std::uint16_t* pixels, int channels, std::size_t count,
              const std::array<std::int32_t*, 4>& to) {
  HWY_DYNAMIC_DISPATCH(SeparateU16)(pixels, channels, count, to);
}

void exchange_moments(const LinearLayout& layout, const ValueRows& enters, const ValueRows& leaves,
                      std::size_t count, std::uint32_t* sums) {
  HWY_DYNAMIC_DISPATCH(ExchangeNarrow)(layout, enters, leaves, count, sums);
}
void exchange_moments(const LinearLayout& layout, const ValueRows& enters, const ValueRows& leaves,
                      std::size_t count, std::uint64_t* sums) {
  HWY_DYNAMIC_DISPATCH(ExchangeWide)(layout, enters, leaves, count, sums);
}
}  // namespace satin::cpu
#endif
