// Rows of the guided filter, compiled for every SIMD target: stored rows to rows of integers, and those to
// sums of columns.

#if defined(SATIN_LINEAR_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_LINEAR_ROWS_INL_H
#undef SATIN_LINEAR_ROWS_INL_H
#else
#define SATIN_LINEAR_ROWS_INL_H
#endif

#include <hwy/highway.h>

#include <array>
#include <type_traits>

#include "guided/maths/local_linear.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A row of every value of a layout: the guides, then the picture's own channels.
using ValueRows = std::array<const std::int32_t*, 7>;

/// Row c gets channel c of the pixels, unless it is null.
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

/// Adds the sums of the layout over what enters to `sums`, and takes those over what leaves away. Planes of
/// `count` sums lie one behind the other; Sum is u32 or u64.
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

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
