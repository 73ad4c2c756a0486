// Rows whose columns are dealt to the lanes of a vector, each lane a stripe of neighbouring columns, compiled
// for every SIMD target. Windows then slide along the row in all lanes at once, without a prefix sum.

#if defined(SATIN_STRIPES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_STRIPES_INL_H
#undef SATIN_STRIPES_INL_H
#else
#define SATIN_STRIPES_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Stripes of a row: entry e of stripe k is entry e lanes + lane_of(k) of the striped row, and of rows of
/// words entry e lanes + k. The last stripe ends with the row, so that it may begin before the one next to it
/// ends.
struct Stripes {
#if HWY_HAVE_SCALABLE || HWY_TARGET == HWY_SCALAR
  using Words = hn::CappedTag<std::uint32_t, 1>;
#else
  using Words = hn::ScalableTag<std::uint32_t>;
#endif
  /// An entry of all stripes fills so many vectors of words.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
  static constexpr std::size_t parts = 2;
#else
  static constexpr std::size_t parts = 1;
#endif
  static constexpr std::size_t part_lanes = hn::MaxLanes(Words());
  static constexpr std::size_t lanes = parts * part_lanes;

  /// Two vectors of words are the lower and the upper halves of the 16-byte blocks of a vector of u16.
  static constexpr std::size_t lane_of(std::size_t stripe) {
    if (parts == 1) return stripe;
    const std::size_t in_part = stripe % part_lanes;
    return in_part / 4 * 8 + stripe / part_lanes * 4 + in_part % 4;
  }

  Stripes(std::size_t row_width, std::size_t row_channels)
      : width(row_width), channels(row_channels), columns((width + lanes - 1) / lanes) {}

  [[nodiscard]] std::size_t entries() const { return columns * channels; }
  /// Columns that the last two stripes share.
  [[nodiscard]] std::size_t shared() const { return lanes * columns - width; }
  /// First column of a stripe.
  [[nodiscard]] std::size_t first(std::size_t lane) const {
    return std::min(lane * columns, width - columns);
  }

  std::size_t width, channels, columns;
};

/// This is taken from stored values of 16 bits, so that they become signed.
template <class Value>
constexpr std::uint16_t value_centre = sizeof(Value) == 2 ? 0x8000 : 0;

/// One step of a transposition: entries of the second half of the vectors between those of the first half.
template <class D, class V, std::size_t Count>
HWY_INLINE void Shuffle([[maybe_unused]] D d, [[maybe_unused]] V (&vectors)[Count]) {
#if HWY_TARGET != HWY_SCALAR
  V shuffled[Count];
  for (std::size_t i = 0; i < Count / 2; ++i) {
    shuffled[2 * i] = hn::InterleaveLower(d, vectors[i], vectors[i + Count / 2]);
    shuffled[2 * i + 1] = hn::InterleaveUpper(d, vectors[i], vectors[i + Count / 2]);
  }
  for (std::size_t i = 0; i < Count; ++i) vectors[i] = shuffled[i];
#endif
}

template <std::size_t Steps, class D, class V, std::size_t Count>
HWY_INLINE void Transpose(D d, V (&vectors)[Count]) {
  if constexpr (Steps > 0) {
    Shuffle(d, vectors);
    Transpose<Steps - 1>(d, vectors);
  }
}

/// block(e) for blocks of `size` entries that cover `entries`; the last may overlap the one before.
template <class Block>
HWY_INLINE void InBlocks(std::size_t entries, std::size_t size, const Block& block) {
  for (std::size_t next = 0; next < entries; next += size) block(std::min(next, entries - size));
}

/// Where the stripes of a row begin, in the order of their lanes.
template <class T>
std::array<T*, Stripes::lanes> Begins(const Stripes& stripes, T* row) {
  std::array<T*, Stripes::lanes> begins;
  for (std::size_t k = 0; k < begins.size(); ++k)
    begins[Stripes::lane_of(k)] = row + stripes.first(k) * stripes.channels;
  return begins;
}

/// Transposes blocks of as many vectors as there are stripes, which have at least 16 bytes of u8 or u16 each.
/// load(d, e, k) and store(vector, d, e, k): vector k of the block that begins with entry e of the stripes.
template <class T, int Steps, class Load, class Store>
HWY_INLINE void TransposeBlocks(const Stripes& stripes, const Load& load, const Store& store) {
  constexpr std::size_t lanes = Stripes::lanes;
  const hn::FixedTag<T, 16 / sizeof(T)> d;
  InBlocks(stripes.entries(), hn::MaxLanes(d), [&](std::size_t e) {
    hn::Vec<decltype(d)> vectors[lanes];
    for (std::size_t k = 0; k < lanes; ++k) vectors[k] = load(d, e, k);
    Transpose<Steps>(d, vectors);
    for (std::size_t k = 0; k < lanes; ++k) store(vectors[k], d, e, k);
  });
}

/// Values of 16 bits less their centre.
template <class T>
void ToStripes(const Stripes& stripes, const T* HWY_RESTRICT row, T* HWY_RESTRICT striped) {
  constexpr std::size_t lanes = Stripes::lanes;
  if constexpr (lanes > 1) {
    const auto begins = Begins(stripes, row);
    TransposeBlocks<T, std::bit_width(lanes) - 1>(
        stripes,
        [&](auto d, std::size_t e, std::size_t k) {
          return hn::Xor(hn::LoadU(d, begins[k] + e), hn::Set(d, static_cast<T>(value_centre<T>)));
        },
        [&](auto vector, auto d, std::size_t e, std::size_t k) {
          hn::StoreU(vector, d, striped + e * lanes + k * hn::MaxLanes(d));
        });
  }
}

template <class T>
void FromStripes(const Stripes& stripes, const T* HWY_RESTRICT striped, T* HWY_RESTRICT row) {
  constexpr std::size_t lanes = Stripes::lanes;
  if constexpr (lanes > 1) {
    const auto begins = Begins(stripes, row);
    TransposeBlocks<T, std::bit_width(16 / sizeof(T)) - 1>(
        stripes,
        [&](auto d, std::size_t e, std::size_t k) {
          return hn::LoadU(d, striped + e * lanes + k * hn::MaxLanes(d));
        },
        [&](auto vector, auto d, std::size_t e, std::size_t k) { hn::StoreU(vector, d, begins[k] + e); });
  }
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
