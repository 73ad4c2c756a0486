// Tables of the disocclusion fill, for files that Highway compiles once for every SIMD target.

#if defined(SATIN_DISOCCLUSION_TABLES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_DISOCCLUSION_TABLES_INL_H
#undef SATIN_DISOCCLUSION_TABLES_INL_H
#else
#define SATIN_DISOCCLUSION_TABLES_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/cpu/fetch.h"
#include "core/workspace.h"
#include "lens/maths/disocclusion_fill.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// compressed(lens_light()) of `count` values. Those of pictures before their lamps are brightened are below
/// 2^31.
inline void CompressColours(const std::uint32_t* values, int count, float white, std::uint32_t* codes) {
  const auto compress = [&](auto d, int i) HWY_ATTR {
    const hn::RebindToFloat<decltype(d)> real;
    const hn::RebindToSigned<decltype(d)> integers;
    const auto all =
        hn::Div(hn::ConvertTo(real, hn::BitCast(integers, hn::LoadU(d, values + i))), hn::Set(real, white));
    const auto light = hn::Min(all, hn::Set(real, lens_largest_light));
    const auto share = hn::Div(light, hn::Add(hn::Set(real, 1.0F), light));
    const auto code = hn::Add(hn::Mul(share, hn::Set(real, 65535.0F)), hn::Set(real, 0.5F));
    hn::StoreU(hn::BitCast(d, hn::ConvertTo(integers, code)), d, codes + i);
  };
  const hn::ScalableTag<std::uint32_t> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  int i = 0;
  for (; i + lanes <= count; i += lanes) compress(d, i);
  for (; i < count; ++i) compress(hn::CappedTag<std::uint32_t, 1>(), i);
}

/// [first, last)
struct Range {
  int first;
  int last;

  /// With what the largest window reaches, in a picture of `size`.
  [[nodiscard]] Range with_reach(int size) const {
    return {std::max(0, first - fill_reach), std::min(size, last + fill_reach)};
  }
  [[nodiscard]] Range both(Range other) const {
    return {std::max(first, other.first), std::min(last, other.last)};
  }
};

/// Summed-area tables of one tile of one group of depth, and what the windows of a filled sample hold by
/// them.
class FillTables {
 public:
  /// Tables have at most side x side pixels, behind a row and a column of zeros. Memory is not touched before
  /// it is built in.
  explicit FillTables(int side)
      : side_(side + 1),
        size_(static_cast<std::size_t>(side_) * static_cast<std::size_t>(side_)),
        colours_(size_),
        others_(size_),
        codes_(4 * static_cast<std::size_t>(side_)) {}

  [[nodiscard]] std::size_t bytes() const noexcept {
    return size_ * (sizeof(Colours) + sizeof(Others)) + codes_.size() * sizeof(std::uint32_t);
  }

  template <int Channels>
  void build(const LensPlanes& planes, const LensUnit& unit, int group, Range columns, Range rows) {
    left_ = columns.first - 1;
    top_ = rows.first - 1;
    const std::int64_t side = side_;
    std::uint32_t largest = 0;
    const int count = columns.last - columns.first;
    std::fill_n(colours_.data(), count + 1, Colours{});
    std::fill_n(others_.data(), count + 1, Others{});
    const hn::CappedTag<std::uint32_t, 4> d;
    static constexpr std::uint32_t all = ~0U;
    alignas(16) static constexpr std::uint32_t masks[2][4] = {
        {}, {all, Channels > 1 ? all : 0, Channels > 2 ? all : 0, Channels > 3 ? all : 0}};
    for (int y = rows.first; y < rows.last; ++y) {
      Colours* colours = colours_.data() + place(left_, y);
      Others* others = others_.data() + place(left_, y);
      *colours++ = {};
      *others++ = {};
      Colours colour_sum{};
      Others other_sum{};
      const std::int64_t begin = planes.place(columns.first, y);
      const std::uint8_t* groups = planes.groups + begin;
      const std::int32_t* radii = planes.radii + begin;
      if (y + 1 < rows.last) {
        fetch_values(planes.colours + (begin + planes.width) * Channels, count * Channels);
        fetch_values(radii + planes.width, count);
      }
      CompressColours(planes.colours + begin * Channels, count * Channels, unit.white, codes_.data());
      const std::uint32_t* code = codes_.data();
      for (int x = 0; x < count; ++x, ++colours, ++others, code += Channels) {
        const int own = groups[x];
        const bool in_group = own == group;
        for (std::size_t c = 0; c < 4; c += hn::Lanes(d)) {
          const auto added = hn::And(hn::LoadU(d, code + c), hn::LoadU(d, masks[in_group ? 1 : 0] + c));
          const auto sum = hn::Add(hn::LoadU(d, colour_sum.value + c), added);
          hn::StoreU(sum, d, colour_sum.value + c);
          hn::StoreU(hn::Add(sum, hn::LoadU(d, (colours - side)->value + c)), d, colours->value + c);
        }
        const std::uint32_t kept = in_group ? all : 0;
        other_sum.counts += fill_count(in_group ? 1U : 0U, own >= group ? 1U : 0U);
        other_sum.radius += static_cast<std::uint32_t>(radii[x]) & kept;
        largest = std::max(largest, magnitude_of(radii[x]) & kept);
        others->radius = other_sum.radius + (others - side)->radius;
        others->counts = other_sum.counts + (others - side)->counts;
      }
    }
    largest_ = largest;
  }

  /// A pixel of the block of 2 x 2 at (x, y) may show something. Otherwise FillDisocclusions::shows() is
  /// false whatever its windows hold, as they are empty beyond the sum of its radius and the group's largest.
  /// A pixel more covers the roundings of a mean of radii below 2^18.
  [[nodiscard]] bool shows_in_block(const LensPlanes& planes, int x, int y) const {
    const int right = std::min(x + 1, planes.width - 1);
    const int bottom = std::min(y + 1, planes.height - 1);
    const auto radius = [&](int u, int v) { return magnitude_of(planes.radii[planes.place(u, v)]); };
    const std::uint32_t own =
        std::max({radius(x, y), radius(right, y), radius(x, bottom), radius(right, bottom)});
    int number = 0;
    while (number + 1 < fill_windows && !is_beyond(number, own)) ++number;
    const Window first = window(planes, x, y, fill_window(number).reach);
    const Window last = window(planes, right, bottom, fill_window(number).reach);
    return counts({first.left, first.top, last.right, last.bottom}) != 0;
  }

  template <int Channels>
  [[nodiscard]] FillFound<Channels> find(const LensPlanes& planes, int x, int y) const {
    FillFound<Channels> found;
    // a window holds all smaller ones: nothing in it, nothing in them
    if ((counts(window(planes, x, y, fill_reach)) & 0xFFFFU) == 0) return found;
    found.first = fill_windows - 1;
    while (found.first > 0 && counts(window(planes, x, y, fill_window(found.first - 1).reach)) != 0)
      --found.first;
    const std::uint32_t own = magnitude_of(planes.radii[planes.place(x, y)]);
    if (found.first > 0 && is_beyond(found.first - 1, own)) {
      found.first = fill_windows;
      return found;
    }
    for (int i = found.first; i < fill_windows; ++i)
      add<Channels>(window(planes, x, y, fill_window(i).reach), i, found);
    return found;
  }

 private:
  /// A window reaches farther than a pixel of this radius and any of the group together.
  [[nodiscard]] bool is_beyond(int number, std::uint32_t own) const {
    return static_cast<std::uint32_t>(fill_window(number).reach) * 256 > own + largest_ + 2 * 256;
  }

  struct alignas(16) Colours {
    std::uint32_t value[4];
  };
  struct alignas(8) Others {
    std::uint32_t radius;
    std::uint32_t counts;
  };
  struct Window {
    int left, top, right, bottom;
  };

  [[nodiscard]] static Window window(const LensPlanes& planes, int x, int y, int reach) {
    return {std::max(0, x - reach), std::max(0, y - reach), std::min(x + reach, planes.width - 1),
            std::min(y + reach, planes.height - 1)};
  }

  [[nodiscard]] std::size_t place(int x, int y) const {
    return static_cast<std::size_t>(y - top_) * static_cast<std::size_t>(side_) +
           static_cast<std::size_t>(x - left_);
  }

  [[nodiscard]] std::uint32_t counts_at(int x, int y) const { return others_[place(x, y)].counts; }
  [[nodiscard]] std::uint32_t counts(const Window& w) const {
    return counts_at(w.right, w.bottom) - counts_at(w.left - 1, w.bottom) - counts_at(w.right, w.top - 1) +
           counts_at(w.left - 1, w.top - 1);
  }

  template <int Channels>
  void add(const Window& w, int number, FillFound<Channels>& found) const {
    const std::size_t corners[] = {place(w.right, w.bottom), place(w.left - 1, w.bottom),
                                   place(w.right, w.top - 1), place(w.left - 1, w.top - 1)};
    const auto sum = [&](const auto& value_at) HWY_ATTR {
      return value_at(corners[0]) - value_at(corners[1]) - value_at(corners[2]) + value_at(corners[3]);
    };
    found.add_counts(number, sum([&](std::size_t at) { return others_[at].counts; }));
    found.add_radius(number, sum([&](std::size_t at) { return others_[at].radius; }));
    const hn::CappedTag<std::int32_t, 4> d;
    const hn::RebindToFloat<decltype(d)> real;
    const auto factor = hn::Set(real, fill_window(number).factor);
    for (std::size_t c = 0; c < Channels; c += hn::Lanes(d)) {
      const auto at = [&](std::size_t corner) HWY_ATTR {
        return hn::LoadU(d, reinterpret_cast<const std::int32_t*>(colours_[corner].value) + c);
      };
      const auto colours =
          hn::Add(hn::Sub(at(corners[0]), at(corners[1])), hn::Sub(at(corners[3]), at(corners[2])));
      const auto weighted = hn::Mul(factor, hn::ConvertTo(real, colours));
      hn::StoreU(hn::Add(hn::LoadU(real, found.colour + c), weighted), real, found.colour + c);
    }
  }

  int side_;
  std::size_t size_;
  WorkspaceVector<Colours> colours_;
  WorkspaceVector<Others> others_;
  WorkspaceVector<std::uint32_t> codes_;  ///< compressed colours of one row
  std::uint32_t largest_ = 0;             ///< radius of the group, 1/256 pixel
  int left_ = 0;                          ///< of the zeros
  int top_ = 0;
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
