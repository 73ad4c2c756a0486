#pragma once
// Rows of stored pixels as one channel's real working values, and back; rows of distances between the pixels
// of a guide.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>

#include "core/maths/real_pixel.h"
#include "core/maths/recursive.h"
#include "core/operations/recursive.h"

namespace satin::cpu {

/// What a row of stored pixels is read and written with.
template <class Stored>
struct RealRows {
  int channels = 1;
  StoreRule rule;

  /// Working values of channel c; false if a float of them is not finite.
  bool read(const Stored* pixels, std::size_t count, int c, RealOf<Stored>* values) const {
    const auto step = static_cast<std::size_t>(channels);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = read_real(pixels + i * step, c, channels, rule.weighted, rule.transfer);
    if constexpr (std::is_same_v<Stored, float>) {
      for (std::size_t i = 0; i < count; ++i)
        if (!is_finite(pixels[i * step + static_cast<std::size_t>(c)])) return false;
    }
    return true;
  }

  /// Stores pixels from the rows of their channels; `mask` is that of the first pixel.
  template <std::size_t Channels>
  void store(const std::array<const RealOf<Stored>*, Channels>& values, std::size_t count,
             const Stored* original, const std::byte* mask, Stored* out) const {
    if (!rule.weighted && rule.mask_maximum == 0) return store_plainly(values, count, out);
    for (std::size_t i = 0; i < count; ++i, original += Channels, out += Channels) {
      RealOf<Stored> pixel[Channels];
      for (std::size_t c = 0; c < Channels; ++c) pixel[c] = values[c][i];
      store_real_pixel<static_cast<int>(Channels)>(pixel, original, mask_at(mask, i), rule, out);
    }
  }

 private:
  template <std::size_t Channels>
  void store_plainly(const std::array<const RealOf<Stored>*, Channels>& values, std::size_t count,
                     Stored* out) const {
    StoreRule plain;
    plain.transfer = rule.transfer;
    for (std::size_t c = 0; c < Channels; ++c)
      for (std::size_t i = 0; i < count; ++i)
        store_real_pixel<1>(values[c] + i, static_cast<const Stored*>(nullptr), 0, plain,
                            out + i * Channels + c);
  }

  [[nodiscard]] std::uint32_t mask_at(const std::byte* mask, std::size_t i) const {
    if (rule.mask_maximum == 0) return 0;
    if (rule.mask_maximum == 0xFF) return std::to_integer<std::uint32_t>(mask[i]);
    return reinterpret_cast<const std::uint16_t*>(mask)[i];
  }
};

/// Distances from every pixel of a row to the one before it (the first: 1) and to the one above it (without a
/// row above: 1). False if a float of the row is not finite.
template <class Stored>
bool read_distances(const Guide& guide, const std::byte* row, const std::byte* above, std::size_t width,
                    float* along_x, float* along_y) {
  const auto* pixels = reinterpret_cast<const Stored*>(row);
  const auto* upper = reinterpret_cast<const Stored*>(above);
  const auto step = static_cast<std::size_t>(guide.channels);
  const auto distance = [&](const Stored* p, const Stored* q) {
    return transformed_distance(guide_difference(p, q, guide.channels, guide.weighted), guide.contrast);
  };
  along_x[0] = 1;
  for (std::size_t x = 1; x < width; ++x) along_x[x] = distance(pixels + x * step, pixels + (x - 1) * step);
  for (std::size_t x = 0; x < width; ++x)
    along_y[x] = upper == nullptr ? 1 : distance(pixels + x * step, upper + x * step);
  if constexpr (std::is_same_v<Stored, float>)
    return std::all_of(pixels, pixels + width * step, [](float value) { return is_finite(value); });
  return true;
}

}  // namespace satin::cpu
