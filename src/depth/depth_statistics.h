#pragma once
// Statistics of a depth image that radii depend on: its range, for a strength in percent and for judging the
// focus; its near and its far end, which may be the focus; and the number of radii that are clamped.
//
// The range is the minimum, the maximum and four percentiles of the known values, exact, by radix selection:
// every value has an integer key in the same order. Each pass counts the next 8-bit digit of the keys whose
// higher digits are those of a sought key, and so finds one digit more: one pass for 8 bits, two for 16, four
// for floats.

#include <cstdint>
#include <cstring>

#include "core/maths/atomics.h"
#include "core/with_type.h"
#include "depth/circle_of_confusion.h"
#include "depth/maths/signed_radius.h"
#include "pixels/maths/rows.h"
#include "pixels/pixelwise.h"

namespace satin {

inline constexpr int depth_digits = 256;  ///< number of values of a digit
inline constexpr int depth_digit_bits = 8;
inline constexpr int columns_at_once = 64;  ///< columns of one thread, in steps that count along rows

[[nodiscard]] inline std::int64_t column_chunks(std::int64_t width) {
  return (width + columns_at_once - 1) / columns_at_once;
}

/// Number of sought values: the minimum, the percentiles 0.5, 2, 98 and 99.5, the maximum.
inline constexpr int sought_values = 6;

/// A sought value between two passes.
struct SoughtKey {
  std::uint32_t prefix = 0;  ///< known digits of its key
  std::uint32_t rank = 0;    ///< rank among the keys with this prefix
};

/// Counts of the passes, in the backend's memory. Even passes read the first row of `sought` and write the
/// second, odd ones the other way round.
struct DepthStatistics {
  std::uint32_t counts[sought_values][depth_digits] = {};
  SoughtKey sought[2][sought_values] = {};
  std::uint32_t known = 0;
  std::uint32_t clamped = 0;  ///< known values that reach the largest radius
  std::uint32_t silhouettes = 0;
  std::uint32_t ramps = 0;  ///< silhouettes that are ramps
  std::uint32_t soft = 0;   ///< 1: the depth is soft

  /// Returns the first sought value with the same prefix: its counts serve all of them.
  [[nodiscard]] SATIN_HD int counted_by(int index, int pass) const {
    const SoughtKey* now = sought[pass % 2];
    int first = index;
    while (first > 0 && now[first - 1].prefix == now[index].prefix) --first;
    return first;
  }
};

/// Returns an unsigned key that orders as the values do.
template <class T>
SATIN_HD std::uint32_t depth_key(T value) {
  if constexpr (sizeof(T) < sizeof(float)) {
    return value;
  } else {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return (bits >> 31U) != 0 ? ~bits : bits | 0x80000000U;
  }
}
template <class T>
SATIN_HD T depth_of_key(std::uint32_t key) {
  if constexpr (sizeof(T) < sizeof(float)) {
    return static_cast<T>(key);
  } else {
    const std::uint32_t bits = (key >> 31U) != 0 ? key & 0x7FFFFFFFU : ~key;
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
}

/// Begins a pass; one thread for each digit.
struct ClearDepthCounts {
  DepthStatistics* statistics;
  int pass;

  SATIN_HD void operator()(int x, int /*y*/) const {
    for (auto& counts : statistics->counts) counts[x] = 0;
    if (x != 0 || pass != 0) return;
    for (SoughtKey& key : statistics->sought[0]) key = {};
  }
};

/// Counts the digits of a chunk of columns.
template <class T>
struct CountDepthDigits {
  /// Counters kept by the thread: pixels that hardly differ then reach the shared memory together.
  static constexpr int kept_counts = 4;

  DepthRule rule;
  DepthRows<T> depth;
  std::int64_t width;
  DepthStatistics* statistics;
  int pass;

  SATIN_HD void operator()(int x, int y) const {
    const int shift = static_cast<int>(sizeof(T) - 1) * depth_digit_bits - pass * depth_digit_bits;
    SoughtKey sought[sought_values];
    for (int i = 0; i < sought_values; ++i) sought[i] = statistics->sought[pass % 2][i];
    const T* row = depth.row(y);
    const std::int64_t first = std::int64_t{x} * columns_at_once;
    const std::int64_t last = first + columns_at_once < width ? first + columns_at_once : width;
    std::uint32_t* counters[kept_counts] = {};
    std::uint32_t counts[kept_counts] = {};
    for (std::int64_t u = first; u < last; ++u) {
      const T stored = row[u * depth.channels];
      if (!depth_value(static_cast<double>(stored), rule).known) continue;
      const std::uint32_t digits = depth_key(stored) >> static_cast<unsigned>(shift);
      int i = 0;
      while (i < sought_values && sought[i].prefix != digits >> depth_digit_bits) ++i;
      if (i == sought_values) continue;
      std::uint32_t* own = statistics->counts[i] + digits % depth_digits;
      const std::uint32_t kept = digits % kept_counts;
      if (own != counters[kept]) {
        if (counts[kept] != 0) add_shared(counters[kept], counts[kept]);
        counters[kept] = own;
        counts[kept] = 0;
      }
      ++counts[kept];
    }
    for (int kept = 0; kept < kept_counts; ++kept)
      if (counts[kept] != 0) add_shared(counters[kept], counts[kept]);
  }
};

/// Finds the next digit of every sought value; one thread for each.
struct ChooseDepthDigits {
  DepthStatistics* statistics;
  int pass;

  SATIN_HD void operator()(int x, int /*y*/) const {
    std::uint32_t known = 0;
    for (int digit = 0; digit < depth_digits; ++digit) known += counts_of(x)[digit];
    choose(x, 0, rank_among(x, known));
  }

  [[nodiscard]] SATIN_HD const std::uint32_t* counts_of(int index) const {
    return statistics->counts[statistics->counted_by(index, pass)];
  }
  /// Returns the rank of a sought value among the keys that were counted for it: `known` in the first pass.
  [[nodiscard]] SATIN_HD std::uint32_t rank_among(int index, std::uint32_t known) const {
    if (pass != 0) return statistics->sought[pass % 2][index].rank;
    if (index == 0) statistics->known = known;
    const std::uint32_t last = known == 0 ? 0 : known - 1;
    const bool is_low = index < sought_values / 2;
    const int inwards = is_low ? index : sought_values - 1 - index;  // 0: the minimum or the maximum
    const std::uint32_t outside = inwards == 0 ? 0 : last / (inwards == 1 ? 200 : 50);
    return is_low ? outside : last - outside;
  }
  /// Stores the digit, which is `digit` or a later one; `rank` counts from `digit` on.
  SATIN_HD void choose(int index, std::uint32_t digit, std::uint32_t rank) const {
    const std::uint32_t* counts = counts_of(index);
    while (digit + 1 < depth_digits && rank >= counts[digit]) rank -= counts[digit++];
    statistics->sought[(pass + 1) % 2][index] = {
        statistics->sought[pass % 2][index].prefix << depth_digit_bits | digit, rank};
  }
};

/// Stores the range as values, and whether a given focus lies in it; one thread. The counts of later steps
/// depend on the rule and begin at 0, also where the range is that of the run before.
template <class T>
struct StoreDepthRange {
  DepthRule rule;
  DepthStatistics* statistics;
  LensState* state;

  SATIN_HD void operator()(int /*x*/, int /*y*/) const {
    statistics->clamped = statistics->silhouettes = statistics->ramps = statistics->soft = 0;
    if (statistics->known == 0) return;
    double values[sought_values];
    for (int i = 0; i < sought_values; ++i) {
      const std::uint32_t key = statistics->sought[sizeof(T) % 2][i].prefix;
      values[i] = rule.offset + rule.gain * static_cast<double>(depth_of_key<T>(key));
    }
    const bool falls = values[0] > values[5];
    state->lowest = falls ? values[5] : values[0];
    state->highest = falls ? values[0] : values[5];
    const bool near_first = falls != rule.distances;
    state->nearest = near_first ? values[2] : values[3];
    state->farthest = near_first ? values[3] : values[2];
    const double a = rule.distances ? 1 / values[1] : values[1];
    const double b = rule.distances ? 1 / values[4] : values[4];
    state->low = a < b ? a : b;
    state->high = a < b ? b : a;
    if (rule.focus_from == FocusSource::value && !reaches_focus()) state->problems |= focus_outside;
  }

 private:
  /// Whether the focus, with the sharp range, is within the range of the depth: to a code of integers, to
  /// 1e-6 for floats, as text rounds.
  SATIN_HD bool reaches_focus() const {
    const double low = state->lowest;
    const double high = state->highest;
    const double size = -low > high ? -low : high;
    const double rounding =
        sizeof(T) < sizeof(float) ? (rule.gain < 0 ? -rule.gain : rule.gain) : size * 1e-6;
    return rule.focus + rule.sharp_range >= low - rounding &&
           rule.focus - rule.sharp_range <= high + rounding;
  }
};

/// Finds the range of the known values of a depth image, and whether the focus lies in it.
struct DepthStatisticsJob {
  using Operation = PixelwiseOperation<DepthStatisticsJob>;
  static constexpr const char* doing = "finding the range of depth";

  std::int64_t width = 0;
  std::int64_t height = 0;
  Type type = Type::u8;  ///< type of the depth image: u8, u16 or f32
  int channels = 1;
  int channel = 0;
  DepthRule rule;
  bool is_counted = false;  ///< whether the statistics hold the keys of the same depth, to be used again

  struct Images {
    ImageView depth;
    DepthStatistics* statistics = nullptr;  ///< this and the next one: in the backend's memory
    LensState* state = nullptr;
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    with_pixel_type(type, [&]<class T>() {
      const DepthRows<T> depth{Rows<const T>(images.depth), channels, channel};
      for (int pass = is_counted ? static_cast<int>(sizeof(T)) : 0; pass < static_cast<int>(sizeof(T));
           ++pass) {
        launch(depth_digits, 1, ClearDepthCounts{images.statistics, pass});
        launch(column_chunks(width), height,
               CountDepthDigits<T>{rule, depth, width, images.statistics, pass});
        launch(sought_values, 1, ChooseDepthDigits{images.statistics, pass});
      }
      launch(1, 1, StoreDepthRange<T>{rule, images.statistics, images.state});
    });
  }
};

/// Counts the radii of a chunk of columns that reach the largest one.
struct CountClamped {
  Rows<const SignedRadius256> radii;
  std::int64_t width;
  SignedRadius256 largest;
  DepthStatistics* statistics;

  SATIN_HD void operator()(int x, int y) const {
    const SignedRadius256* row = radii.row(y);
    const std::int64_t first = std::int64_t{x} * columns_at_once;
    const std::int64_t last = first + columns_at_once < width ? first + columns_at_once : width;
    std::uint32_t count = 0;
    for (std::int64_t u = first; u < last; ++u) count += is_clamped(row[u]) ? 1U : 0U;
    if (count != 0) add_shared(&statistics->clamped, count);
  }
  [[nodiscard]] SATIN_HD bool is_clamped(SignedRadius256 radius) const {
    return radius >= largest || (radius <= -largest && radius != unknown_radius);
  }
};

struct ReportClamped {
  DepthStatistics* statistics;
  LensState* state;

  SATIN_HD void operator()(int /*x*/, int /*y*/) const {
    if (statistics->clamped > statistics->known / 2) state->problems |= mostly_clamped;
  }
};

/// Reports whether more than half of the known radii reach the largest one. Follows a DepthStatisticsJob.
struct ClampedRadiiJob {
  using Operation = PixelwiseOperation<ClampedRadiiJob>;
  static constexpr const char* doing = "counting the largest radii";

  std::int64_t width = 0;
  std::int64_t height = 0;
  SignedRadius256 largest = 0;

  struct Images {
    ImageView radii;                        ///< one channel, i32; unknown_radius where nothing is known
    DepthStatistics* statistics = nullptr;  ///< this and the next one: in the backend's memory
    LensState* state = nullptr;
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    launch(column_chunks(width), height,
           CountClamped{Rows<const SignedRadius256>(images.radii), width, largest, images.statistics});
    launch(1, 1, ReportClamped{images.statistics, images.state});
  }
};

}  // namespace satin
