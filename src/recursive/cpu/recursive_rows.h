#pragma once
// Rows of stored pixels as working values of one channel, and back; rows of distances between the pixels of a
// guide. For all types and masks, without vectors: recursive_lines-inl.h has faster functions for integers.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "core/with_type.h"
#include "pixels/cpu/rows.h"
#include "pixels/maths/real_pixel.h"
#include "recursive/maths/recursive.h"
#include "recursive/recursive.h"

namespace satin::cpu {

/// Largest number of pixels in a row of store(), and of rows in a block.
inline constexpr std::size_t longest_row = recursive_block;

template <class Stored>
class RealRows {
  using Real = RealOf<Stored>;

 public:
  RealRows(int channels, const StoreRule& rule) : channels_(channels), rule_(rule) {
    if constexpr (sizeof(Stored) == 1)
      for (std::uint32_t code = 0; code < decoded_.size(); ++code) {
        words_[code] = static_cast<std::uint16_t>(decode(code, rule.transfer));
        decoded_[code] = static_cast<Real>(words_[code]);
      }
  }

  /// Returns the values of the 256 codes as integers, or null if codes are values.
  [[nodiscard]] const std::uint16_t* words() const {
    return rule_.transfer.decode == nullptr ? nullptr : words_.data();
  }

  [[nodiscard]] const Real* decoded() const { return decoded_.data(); }

  /// Reads the working values of channel c. Returns false if one is not finite. For bytes without alpha use
  /// read_codes().
  bool read(const Stored* pixels, std::size_t count, int c, Real* values) const {
    const auto step = static_cast<std::size_t>(channels_);
    with_channels(channels_, [&]<int Channels>() {
      const auto read_as = [&](auto weighted) {
        for (std::size_t i = 0; i < count; ++i)
          values[i] = read_real(pixels + i * Channels, c, Channels, weighted(), rule_.transfer);
      };
      rule_.weighted ? read_as(std::true_type()) : read_as(std::false_type());
    });
    if constexpr (std::is_same_v<Stored, float>) {
      for (std::size_t i = 0; i < count; ++i)
        if (!is_finite(pixels[i * step + static_cast<std::size_t>(c)])) return false;
    }
    return true;
  }

  /// Reads bytes without alpha, value i to values[i * Step].
  template <int Channels, std::size_t Step>
  void read_codes(const Stored* pixels, std::size_t count, Real* values) const {
    for (std::size_t i = 0; i < count; ++i) values[i * Step] = decoded_[pixels[i * Channels]];
  }

  /// Stores pixels from (x, y) on, from a row of values for each channel.
  template <std::size_t Channels>
  void store(const std::array<const Real*, Channels>& values, std::size_t count, const Stored* original,
             const ImageView& mask, std::int64_t x, std::int64_t y, Stored* out) const {
    if constexpr (std::is_same_v<Stored, float>) {
      if (!rule_.weighted && rule_.mask_maximum == 0) {
        for (std::size_t c = 0; c < Channels; ++c)
          for (std::size_t i = 0; i < count; ++i) out[i * Channels + c] = static_cast<float>(values[c][i]);
        return;
      }
    }
    for (std::size_t i = 0; i < count; ++i, original += Channels, out += Channels) {
      Real pixel[Channels];
      for (std::size_t c = 0; c < Channels; ++c) pixel[c] = values[c][i];
      store_real_pixel<static_cast<int>(Channels)>(
          pixel, original, mask_at(mask, x + static_cast<std::int64_t>(i), y), rule_, out);
    }
  }

 private:
  int channels_;
  StoreRule rule_;
  std::array<Real, sizeof(Stored) == 1 ? 256 : 0> decoded_{};
  std::array<std::uint16_t, sizeof(Stored) == 1 ? 256 : 0> words_{};
};

/// Returns guide_difference(). Integers have exact sums in any order.
template <int Channels, bool Weighted, class Stored>
double difference_of(const Stored* p, const Stored* q) {
  if constexpr (!Weighted || std::is_same_v<Stored, float>) {
    return guide_difference(p, q, Channels, Weighted);
  } else {
    using Sum = std::conditional_t<sizeof(Stored) == 1, std::int32_t, std::int64_t>;
    const auto value = [](const Stored* pixel, int c) {
      const auto weight = c == Channels - 1 ? static_cast<Stored>(~0U) : pixel[Channels - 1];
      return static_cast<Sum>(pixel[c]) * static_cast<Sum>(weight);
    };
    Sum sum = 0;
    for (int c = 0; c < Channels; ++c) sum += std::abs(value(p, c) - value(q, c));
    return static_cast<double>(sum);
  }
}

/// Sets along[i] to the distance between the pixels p[i] and q[i] of the guide.
template <int Channels, bool Weighted, class Stored>
void read_distances(const Stored* p, const Stored* q, double contrast, std::size_t count, float* along) {
  for (std::size_t i = 0; i < count; ++i, p += Channels, q += Channels)
    along[i] = transformed_distance(difference_of<Channels, Weighted>(p, q), contrast);
}

template <class Stored>
void read_distances(const Guide& guide, const Stored* p, const Stored* q, std::size_t count, float* along) {
  with_channels(guide.channels, [&]<int Channels>() {
    if (guide.weighted) return read_distances<Channels, true>(p, q, guide.contrast, count, along);
    read_distances<Channels, false>(p, q, guide.contrast, count, along);
  });
}

/// Computes the distances from every pixel of a row to the left one and to the one above, or 1 where there is
/// none, by between(p, q, count, along) for `count` pairs. Returns false if a float of the row is not finite.
template <class Stored, class Between>
bool read_distances(const Guide& guide, const std::byte* row, const std::byte* above, std::size_t width,
                    float* along_x, float* along_y, const Between& between) {
  const auto* pixels = reinterpret_cast<const Stored*>(row);
  along_x[0] = 1;
  between(pixels + guide.channels, pixels, width - 1, along_x + 1);
  if (above == nullptr)
    std::fill_n(along_y, width, 1.0F);
  else
    between(pixels, reinterpret_cast<const Stored*>(above), width, along_y);
  if constexpr (std::is_same_v<Stored, float>)
    return std::all_of(pixels, pixels + width * static_cast<std::size_t>(guide.channels), is_finite);
  return true;
}

}  // namespace satin::cpu
