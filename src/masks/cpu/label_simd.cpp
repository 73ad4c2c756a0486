// Masks to bits and runs to labels, compiled by Highway once for every SIMD target and chosen at run time.

#include "masks/cpu/label_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "masks/cpu/label_simd.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Bits of one word, of `pixels` <= 64 pixels that may be read in whole vectors.
HWY_INLINE std::uint64_t WholeWord(const std::uint8_t* mask) {
  const hn::CappedTag<std::uint8_t, bits_of_word> d;
  const std::size_t lanes = hn::Lanes(d);
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bits_of_word; i += lanes) {
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(d, hn::Ne(hn::LoadU(d, mask + i), hn::Zero(d)), bits);
    std::uint64_t part = 0;
    hwy::CopyBytes<8>(bits, &part);
    word |= part << i;
  }
  return word;
}

void FindBits(const std::uint8_t* mask, std::size_t pixels, bool zeros, std::uint64_t* words) {
  const std::uint64_t inverted = zeros ? ~std::uint64_t{0} : 0;
  std::size_t i = 0;
  for (; i + bits_of_word <= pixels; i += bits_of_word) *words++ = WholeWord(mask + i) ^ inverted;
  if (i == pixels) return;
  std::uint64_t word = 0;
  for (std::size_t bit = 0; i + bit < pixels; ++bit)
    word |= static_cast<std::uint64_t>((mask[i + bit] == 0) == zeros) << bit;
  *words = word;
}

/// May write a vector behind `to`.
HWY_INLINE void Fill(std::uint32_t value, std::size_t from, std::size_t to, std::uint32_t* out) {
  const hn::CappedTag<std::uint32_t, 16> d;
  const auto values = hn::Set(d, value);
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = from; i < to; i += lanes) hn::StoreU(values, d, out + i);
}

void FillRuns(const std::uint32_t* edges, const std::uint32_t* labels, std::size_t runs, std::size_t pixels,
              std::uint32_t* out) {
  std::size_t end = 0;
  for (std::size_t run = 0; run < runs; ++run) {
    Fill(0, end, edges[2 * run], out);
    end = edges[2 * run + 1];
    Fill(labels[run], edges[2 * run], end, out);
  }
  Fill(0, end, pixels, out);
}

void CopyStreaming(const std::uint32_t* from, std::size_t count, std::uint32_t* to) {
  const hn::ScalableTag<std::uint32_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t vector_bytes = lanes * sizeof *to;
  std::size_t i = 0;
  for (; i < count && reinterpret_cast<std::uintptr_t>(to + i) % vector_bytes != 0; ++i) to[i] = from[i];
  for (; i + lanes <= count; i += lanes) hn::Stream(hn::LoadU(d, from + i), d, to + i);
  hwy::FlushStream();
  for (; i < count; ++i) to[i] = from[i];
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(FindBits);
HWY_EXPORT(FillRuns);
HWY_EXPORT(CopyStreaming);

void find_bits(const std::uint8_t* mask, std::size_t pixels, bool zeros, std::uint64_t* words) {
  HWY_DYNAMIC_DISPATCH(FindBits)(mask, pixels, zeros, words);
}

void fill_runs(const std::uint32_t* edges, const std::uint32_t* labels, std::size_t runs, std::size_t pixels,
               std::uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(FillRuns)(edges, labels, runs, pixels, out);
}

void copy_streaming(const std::uint32_t* from, std::size_t count, std::uint32_t* to) {
  HWY_DYNAMIC_DISPATCH(CopyStreaming)(from, count, to);
}

}  // namespace satin::cpu
#endif
