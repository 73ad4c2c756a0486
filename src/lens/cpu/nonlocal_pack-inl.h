// The planes of the non-local fill, for files that Highway compiles once for every SIMD target: packed
// colours by vectors, and places of samples in the tiles alone that have some.

#if defined(SATIN_NONLOCAL_PACK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_NONLOCAL_PACK_INL_H
#undef SATIN_NONLOCAL_PACK_INL_H
#else
#define SATIN_NONLOCAL_PACK_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/with_type.h"
#include "lens/maths/nonlocal_fill.h"
#include "pixels/cpu/load_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Pixels that are packed together, and the code of a colour that is not copied: no other code has this bit.
inline constexpr int pack_pixels = 64;
inline constexpr std::uint32_t not_copied = std::uint32_t{1} << 31;

/// The codes of `count` values. Those of pictures before their lamps are brightened are below 2^31.
inline void PackCodes(const std::uint32_t* values, int count, float white, std::uint32_t* codes) {
  const auto pack = [&](auto d, int i) HWY_ATTR {
    const hn::RebindToFloat<decltype(d)> real;
    const hn::RebindToSigned<decltype(d)> integers;
    const auto one = hn::Set(real, 1.0F);
    const auto all =
        hn::Div(hn::ConvertTo(real, hn::BitCast(integers, hn::LoadU(d, values + i))), hn::Set(real, white));
    const auto light = hn::Min(all, hn::Set(real, lens_largest_light));
    const auto compressed = hn::Div(light, hn::Add(one, light));
    const auto code = hn::Add(hn::Div(compressed, hn::Set(real, packed_scale)), hn::Set(real, 0.5F));
    const auto over = hn::RebindMask(d, hn::Gt(light, hn::Set(real, most_copied)));
    hn::StoreU(hn::IfThenElse(over, hn::Set(d, not_copied), hn::BitCast(d, hn::ConvertTo(integers, code))), d,
               codes + i);
  };
  const hn::ScalableTag<std::uint32_t> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  int i = 0;
  for (; i + lanes <= count; i += lanes) pack(d, i);
  for (; i < count; ++i) pack(hn::CappedTag<std::uint32_t, 1>(), i);
}

/// The words of whole vectors of pixels of three colours; returns how many pixels these are.
inline int PackWordVectors(const std::uint8_t* groups, const std::uint8_t* edges, const std::uint32_t* codes,
                           int count, std::uint32_t needed, std::uint32_t* words) {
  const hn::ScalableTag<std::uint32_t> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const auto wanted = [&](auto group) HWY_ATTR {
    auto any = hn::Zero(d);
    for (std::uint32_t i = 0; i < lens_most_groups; ++i)
      if ((needed >> i & 1U) != 0) any = hn::Or(any, hn::VecFromMask(d, hn::Eq(group, hn::Set(d, i))));
    return any;
  };
  int x = 0;
  for (; x + lanes <= count; x += lanes) {
    hn::VFromD<decltype(d)> red;
    hn::VFromD<decltype(d)> green;
    hn::VFromD<decltype(d)> blue;
    hn::LoadInterleaved3(d, codes + 3 * x, red, green, blue);
    const auto group = LoadWide(d, groups + x);
    const auto word = hn::Or(hn::Or(red, hn::ShiftLeft<9>(green)),
                             hn::Or(hn::ShiftLeft<18>(blue), hn::ShiftLeft<27>(group)));
    const auto off =
        hn::Or(hn::And(hn::Or(hn::Or(red, green), blue), hn::Set(d, not_copied)), LoadWide(d, edges + x));
    const auto copied = hn::And(hn::Eq(off, hn::Zero(d)), hn::MaskFromVec(wanted(group)));
    hn::StoreU(hn::IfThenElse(copied, word, hn::Set(d, nothing_packed)), d, words + x);
  }
  return x;
}

/// The words of some pixels of one group each from their codes.
template <int Channels, int Colours>
void PackWords(const std::uint8_t* groups, const std::uint8_t* edges, const std::uint32_t* codes, int count,
               std::uint32_t needed, std::uint32_t* words) {
  int x = 0;
  if constexpr (Channels == 3 && Colours == 3)
    x = PackWordVectors(groups, edges, codes, count, needed, words);
  for (; x < count; ++x) {
    std::uint32_t word = static_cast<std::uint32_t>(groups[x]) << 27;
    std::uint32_t all = 0;
    for (int c = 0; c < Colours; ++c) {
      word |= codes[x * Channels + c] << (9 * c);
      all |= codes[x * Channels + c];
    }
    const bool nothing = edges[x] != 0 || (all & not_copied) != 0 || (needed >> groups[x] & 1U) == 0;
    words[x] = nothing ? nothing_packed : word;
  }
}

/// PackColours of row y, but that it leaves the places alone, and packs nothing of groups without sharp
/// hidden samples, of which nobody asks.
template <int Channels>
void PackRow(const NonlocalFill& fill, int y) {
  const LensPlanes& planes = fill.planes;
  const float white = fill.unit->white;
  std::uint32_t needed = 0;
  for (int group = 0; group < lens_most_groups; ++group) needed |= fill.work->needs(group) ? 1U << group : 0U;
  const bool opacity = fill.colours < Channels;
  std::uint32_t codes[static_cast<std::size_t>(pack_pixels * Channels)];
  for (int first = 0; first < planes.width; first += pack_pixels) {
    const int count = std::min(pack_pixels, planes.width - first);
    const std::int64_t at = planes.place(first, y);
    std::uint32_t held = 0;
    for (int x = 0; x < count; ++x) held |= 1U << planes.groups[at + x];
    if ((held & needed) == 0) {
      std::fill_n(fill.words + at, count, nothing_packed);
      continue;
    }
    PackCodes(planes.colours + at * Channels, count * Channels, white, codes);
    const auto pack = [&]<int Colours>() HWY_ATTR {
      PackWords<Channels, Colours>(planes.groups + at, planes.edges + at, codes, count, needed,
                                   fill.words + at);
    };
    if constexpr (Channels == 4)
      pack.template operator()<3>();
    else if (opacity)
      pack.template operator()<Channels - 1>();
    else
      pack.template operator()<Channels>();
  }
}

inline void PackRow(const PackColours& step, int y) {
  with_channels(step.fill.planes.channels, [&]<int Channels>() { PackRow<Channels>(step.fill, y); });
}

/// CountNeeded of samples `first` to `last` - 1 of the list.
inline void CountNeededSamples(const NonlocalFill& fill, int first, int last) {
  std::uint32_t counts[lens_most_groups] = {};
  for (int i = first; i < last; ++i)
    if (fill.is_needed(fill.list.samples[i])) ++counts[fill.list.samples[i].group];
  for (int group = 0; group < lens_most_groups; ++group)
    if (counts[group] != 0) add_shared(&fill.work->needed[group], counts[group]);
}

/// A tile's mark says how far the non-local fill of one picture has come there.
enum class NonlocalMark : std::uint8_t {
  none = 0,
  needed = 1,  ///< sharp hidden samples of the group in work
  placed = 2   ///< it had some, of this group or of one before: its magnitudes are gone
};

/// PlaceNeeded for places that hold magnitudes: those of tiles with samples become 0 before, so that pixels
/// without a sample have none.
class PlacesOfTiles {
 public:
  explicit PlacesOfTiles(const NonlocalFill& fill) : fill_(fill) {}

  /// Marks the tiles of the needed samples from `first` to `last` - 1 of the list. Several threads may do
  /// this at once.
  void mark(int group, int first, int last) const {
    for_needed(group, first, last, [&](int, const LensSample& sample) {
      const int tile = sample.y / fill_.tile_side * fill_.tile_columns() + sample.x / fill_.tile_side;
      __atomic_store_n(&fill_.tiles[tile], static_cast<std::uint8_t>(NonlocalMark::needed), __ATOMIC_RELAXED);
    });
  }
  void place(int group, int first, int last) const {
    for_needed(group, first, last, [&](int i, const LensSample& sample) {
      fill_.places[fill_.planes.place(sample.x, sample.y)] = static_cast<std::uint32_t>(i) + 1;
    });
  }
  /// Calls take(at, count) for the rows of tile `tile`.
  template <class Take>
  void for_rows_of(int tile, const Take& take) const {
    const int left = tile % fill_.tile_columns() * fill_.tile_side;
    const int top = tile / fill_.tile_columns() * fill_.tile_side;
    const int right = std::min(left + fill_.tile_side, fill_.planes.width);
    const int bottom = std::min(top + fill_.tile_side, fill_.planes.height);
    for (int y = top; y < bottom; ++y) take(fill_.planes.place(left, y), right - left);
  }
  void clear(int tile) const {
    for_rows_of(tile, [&](std::int64_t at, int count) { std::fill_n(fill_.places + at, count, 0U); });
  }
  void restore(int tile) const {
    for_rows_of(tile, [&](std::int64_t at, int count) {
      for (int x = 0; x < count; ++x)
        fill_.planes.magnitudes[at + x] = magnitude_of(fill_.planes.radii[at + x]);
    });
  }

 private:
  template <class Take>
  void for_needed(int group, int first, int last, const Take& take) const {
    for (int i = first; i < last; ++i) {
      const LensSample& sample = fill_.list.samples[i];
      if (sample.group == group && fill_.is_needed(sample)) take(i, sample);
    }
  }

  const NonlocalFill& fill_;
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
