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
#include <memory>

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
  /// Tables have at most side x side pixels. Memory is not touched before it is built in.
  explicit FillTables(int side)
      : side_(side),
        size_(static_cast<std::size_t>(side) * static_cast<std::size_t>(side)),
        colours_(std::make_unique_for_overwrite<Colours[]>(size_)),
        others_(std::make_unique_for_overwrite<Others[]>(size_)),
        codes_(std::make_unique_for_overwrite<std::uint32_t[]>(4 * static_cast<std::size_t>(side))) {}

  [[nodiscard]] std::size_t bytes() const noexcept { return size_ * (sizeof(Colours) + sizeof(Others)); }

  template <int Channels>
  void build(const LensPlanes& planes, const LensUnit& unit, int group, Range columns, Range rows) {
    left_ = columns.first;
    top_ = rows.first;
    largest_ = 0;
    for (int y = rows.first; y < rows.last; ++y) {
      Colours* colours = colours_.get() + std::ptrdiff_t{side_} * (y - top_);
      Others* others = others_.get() + std::ptrdiff_t{side_} * (y - top_);
      Colours colour_sum{};
      Others other_sum{};
      const std::int64_t begin = planes.place(columns.first, y);
      CompressColours(planes.colours + begin * Channels, (columns.last - columns.first) * Channels,
                      unit.white, codes_.get());
      const std::uint32_t* code = codes_.get();
      for (int x = columns.first; x < columns.last; ++x, ++colours, ++others, code += Channels) {
        const std::int64_t at = planes.place(x, y);
        const int own = planes.groups[at];
        other_sum.counts += fill_count(own == group ? 1U : 0U, own >= group ? 1U : 0U);
        if (own == group) {
          for (int c = 0; c < Channels; ++c) colour_sum.value[c] += code[c];
          other_sum.radius += static_cast<std::uint32_t>(planes.radii[at]);
          largest_ = std::max(largest_, magnitude_of(planes.radii[at]));
        }
        *colours = colour_sum;
        *others = other_sum;
        if (y == top_) continue;
        for (int c = 0; c < Channels; ++c) colours->value[c] += (colours - side_)->value[c];
        others->radius += (others - side_)->radius;
        others->counts += (others - side_)->counts;
      }
    }
  }

  /// The group is somewhere in the windows of the block of 2 x 2 pixels at (x, y).
  [[nodiscard]] bool holds_around_block(const LensPlanes& planes, int x, int y) const {
    const Window first = window(planes, x, y, fill_reach);
    const Window last = window(planes, x + 1, y + 1, fill_reach);
    return (counts({first.left, first.top, last.right, last.bottom}) & 0xFFFFU) != 0;
  }

  template <int Channels>
  [[nodiscard]] FillFound<Channels> find(const LensPlanes& planes, int x, int y) const {
    FillFound<Channels> found;
    // a window holds all smaller ones: nothing in it, nothing in them
    if ((counts(window(planes, x, y, fill_reach)) & 0xFFFFU) == 0) return found;
    found.first = fill_windows - 1;
    while (found.first > 0 && counts(window(planes, x, y, fill_window(found.first - 1).reach)) != 0)
      --found.first;
    if (is_far(planes, x, y, found.first)) {
      found.first = fill_windows;
      return found;
    }
    for (int i = found.first; i < fill_windows; ++i)
      add<Channels>(window(planes, x, y, fill_window(i).reach), i, found);
    return found;
  }

 private:
  /// FillDisocclusions::shows() is false whatever the windows hold, as no radius of the group is larger than
  /// the largest. A pixel more covers the roundings of a mean of radii below 2^18.
  [[nodiscard]] bool is_far(const LensPlanes& planes, int x, int y, int first) const {
    if (first == 0) return false;
    const std::uint32_t own = magnitude_of(planes.radii[planes.place(x, y)]);
    return static_cast<std::uint32_t>(fill_window(first - 1).reach) * 256 > own + largest_ + 2 * 256;
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

  [[nodiscard]] bool holds(int x, int y) const { return x >= left_ && y >= top_; }
  [[nodiscard]] std::size_t place(int x, int y) const {
    return static_cast<std::size_t>(y - top_) * static_cast<std::size_t>(side_) +
           static_cast<std::size_t>(x - left_);
  }

  [[nodiscard]] std::uint32_t counts_at(int x, int y) const {
    return holds(x, y) ? others_[place(x, y)].counts : 0;
  }
  [[nodiscard]] std::uint32_t counts(const Window& w) const {
    return counts_at(w.right, w.bottom) - counts_at(w.left - 1, w.bottom) - counts_at(w.right, w.top - 1) +
           counts_at(w.left - 1, w.top - 1);
  }

  template <int Channels>
  void add(const Window& w, int number, FillFound<Channels>& found) const {
    std::uint32_t colour[4] = {};
    std::uint32_t radius = 0;
    std::uint32_t count = 0;
    const auto add_corner = [&](int x, int y, std::uint32_t sign) {
      if (!holds(x, y)) return;
      const Colours& colours = colours_[place(x, y)];
      const Others& others = others_[place(x, y)];
      for (int c = 0; c < Channels; ++c) colour[c] += sign * colours.value[c];
      radius += sign * others.radius;
      count += sign * others.counts;
    };
    add_corner(w.right, w.bottom, 1U);
    add_corner(w.left - 1, w.bottom, ~0U);
    add_corner(w.right, w.top - 1, ~0U);
    add_corner(w.left - 1, w.top - 1, 1U);
    found.add_counts(number, count);
    found.add_radius(number, radius);
    for (int c = 0; c < Channels; ++c) found.add_colour(number, c, colour[c]);
  }

  int side_;
  std::size_t size_;
  std::unique_ptr<Colours[]> colours_;
  std::unique_ptr<Others[]> others_;
  std::unique_ptr<std::uint32_t[]> codes_;  ///< compressed colours of one row
  std::uint32_t largest_ = 0;               ///< radius of the group, 1/256 pixel
  int left_ = 0;
  int top_ = 0;
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
