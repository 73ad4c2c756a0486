#pragma once
// Neighbouring pixels in the registers of one lane: loaded in wide words and kept as in memory (Lane,
// LaneRows), and converted to working values (read_working).

#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/maths/fixed_point.h"
#include "kernels/device/launch.h"
#include "kernels/device/tuning.h"
#include "kernels/device/warp.cuh"
#include "pixels/maths/pixel.h"
#include "pixels/pixels.h"

namespace satin::kernels {

// --- Working values (pixels/maths/pixel.h) ---

/// How the pixels of a picture are read; uniform over the picture.
struct ReadRule {
  bool weighted = false;
  bool squared = false;
  const std::uint32_t* decode = nullptr;
  FixedExponents exponents;
};

__device__ inline FixedExponents exponents_of(const PixelRead& read, bool squared, const Measured* measured) {
  if (!read.fixed_point || measured == nullptr) return {};
  return squared ? squared_exponents(*measured, read.fixed_bits)
                 : fixed_exponents(*measured, read.fixed_bits);
}

__device__ inline double finite_or_zero(float value) {
  return fabsf(value) <= FLT_MAX ? static_cast<double>(value) : 0.0;
}

/// Converts one stored pixel to its working values. Integers of 4 and more bytes are working values already.
template <int Channels, class T, class Sum>
__device__ void read_working(const T* stored, const ReadRule& rule, Sum* values) {
  constexpr int alpha = Channels - 1;
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    if constexpr (std::is_same_v<T, float>) {
      double value = finite_or_zero(stored[c]);
      if (rule.weighted && c != alpha) value = value * finite_or_zero(stored[alpha]);
      if (rule.squared) value = value * value;
      const bool is_alpha = rule.weighted && c == alpha;
      values[c] = static_cast<Sum>(to_fixed(value, is_alpha ? rule.exponents.alpha : rule.exponents.colour));
    } else if constexpr (sizeof(T) >= 4) {
      values[c] = static_cast<Sum>(stored[c]);
    } else if (rule.weighted && c == alpha) {
      values[c] = stored[c];
    } else {
      values[c] = rule.decode == nullptr ? stored[c] : rule.decode[stored[c]];
      if (rule.weighted) values[c] *= stored[alpha];
    }
  }
  if constexpr (!std::is_same_v<T, float>) {
    if (!rule.squared) return;
#pragma unroll
    for (int c = 0; c < Channels; ++c) values[c] *= values[c];
  }
}

// --- Lanes of a tile ---

/// Returns the pixels of a lane, chosen so that its sums fill 16 bytes where the channels allow it.
constexpr int pixels_per_lane(int channels, int sum_size) {
  const int sums = 16 / sum_size;
  return channels == 3 ? sums : sums > channels ? sums / channels : 1;
}

/// Bytes of neighbouring pixels, in the order of memory.
template <int Bytes>
struct Packed {
  std::uint32_t words[(Bytes + 3) / 4];
};

/// Reads `Size` bytes from aligned memory to byte `offset` of the words, which are 0 there.
template <int Size>
__device__ void fetch(std::uint32_t* words, int offset, const std::byte* from) {
  if constexpr (Size == 16) {
    const uint4 v = __ldg(reinterpret_cast<const uint4*>(from));
    words[offset / 4] = v.x;
    words[offset / 4 + 1] = v.y;
    words[offset / 4 + 2] = v.z;
    words[offset / 4 + 3] = v.w;
  } else if constexpr (Size == 8) {
    const uint2 v = __ldg(reinterpret_cast<const uint2*>(from));
    words[offset / 4] = v.x;
    words[offset / 4 + 1] = v.y;
  } else if constexpr (Size == 4) {
    words[offset / 4] = __ldg(reinterpret_cast<const std::uint32_t*>(from));
  } else if constexpr (Size == 2) {
    const std::uint32_t v = __ldg(reinterpret_cast<const std::uint16_t*>(from));
    words[offset / 4] |= v << (offset % 4 * 8);
  } else {
    const std::uint32_t v = __ldg(reinterpret_cast<const std::uint8_t*>(from));
    words[offset / 4] |= v << (offset % 4 * 8);
  }
}

template <class T>
__device__ T element(const std::uint32_t* words, int index) {
  const int offset = index * static_cast<int>(sizeof(T));
  if constexpr (sizeof(T) == 8) {
    return static_cast<T>(words[offset / 4 + 1]) << 32 | words[offset / 4];
  } else if constexpr (std::is_same_v<T, float>) {
    return __uint_as_float(words[offset / 4]);
  } else {
    return static_cast<T>(words[offset / 4] >> (offset % 4 * 8));
  }
}

template <class T, int Channels, class Sum>
struct Lane {
  static constexpr int pixels = pixels_per_lane(Channels, sizeof(Sum));
  static constexpr int elements = pixels * Channels;
  static constexpr int source_bytes = elements * static_cast<int>(sizeof(T));
  static constexpr int sum_bytes = elements * static_cast<int>(sizeof(Sum));
  /// The widest aligned access that divides a lane's bytes.
  static constexpr int access = (source_bytes & -source_bytes) > 16 ? 16 : source_bytes & -source_bytes;
  /// Rows that are loaded before the first is used; a power of two.
  static constexpr int rows = [] {
    int n = 1;
    constexpr int bytes =
        source_bytes + Channels * static_cast<int>(sizeof(Sum));  // with the carry of the row
    while (2 * n <= tuning::table_most_rows_in_flight && 2 * n * bytes <= tuning::table_bytes_in_flight)
      n *= 2;
    return n;
  }();

  using Source = Packed<source_bytes>;

  /// Loads `rows` rows. Rows from `existing` on and pixels from `valid` on are 0.
  static __device__ void load(Source (&loaded)[rows], const std::byte* from, std::int64_t row, int existing,
                              int valid, bool aligned) {
#pragma unroll
    for (int r = 0; r < rows; ++r) loaded[r] = {};
    if (aligned && valid >= pixels) {
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        if (r >= existing) continue;
#pragma unroll
        for (int offset = 0; offset < source_bytes; offset += access)
          fetch<access>(loaded[r].words, offset, from + r * row + offset);
      }
      return;
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        if (r >= existing || e >= valid * Channels) continue;
        constexpr int size = static_cast<int>(sizeof(T));
        fetch<size>(loaded[r].words, e * size, from + r * row + e * size);
      }
    }
  }

  static __device__ void convert(const Source& source, const ReadRule& rule,
                                 Sum (&values)[pixels][Channels]) {
    const bool plain = !rule.weighted && !rule.squared && rule.decode == nullptr;
    if (!std::is_same_v<T, float> && plain) {
#pragma unroll
      for (int e = 0; e < elements; ++e)
        values[e / Channels][e % Channels] = static_cast<Sum>(element<T>(source.words, e));
      return;
    }
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      T stored[Channels];
#pragma unroll
      for (int c = 0; c < Channels; ++c) stored[c] = element<T>(source.words, p * Channels + c);
      read_working<Channels>(stored, rule, values[p]);
    }
  }
};

// --- Lanes of sliding windows ---

/// A number as a type.
template <int Number>
struct Fixed {
  __device__ operator int() const { return Number; }
};

/// Elements of a lane, chosen so that its pixels fill 8, 12, 16 or 24 bytes and whole groups of 4 elements.
template <class T, int Channels, class Sum>
constexpr int elements_per_lane = sizeof(T) == 1 && sizeof(Sum) == 4 ? (Channels == 3 ? 24 : 16)
                                                                     : (Channels == 3 ? 12 : 8);

template <class T, int Channels, class Sum, int Elements = elements_per_lane<T, Channels, Sum>>
struct LaneRows {
  static constexpr int elements = Elements;
  static constexpr int pixels = elements / Channels;
  static constexpr int bytes = elements * static_cast<int>(sizeof(T));
  static constexpr int word_count = bytes / 4;
  static constexpr int access = (bytes & -bytes) > 16 ? 16 : bytes & -bytes;
  static constexpr int pixel_bytes = Channels * static_cast<int>(sizeof(T));
  static_assert(pixels * Channels == elements && bytes % 4 == 0);

  struct Words {
    std::uint32_t words[word_count];
  };

  /// Pixels of 3 bytes may have a fourth, unused one. They are then aligned to words, of which each that is
  /// loaded holds bytes that are used.
  static constexpr bool may_be_padded = Channels == 3 && sizeof(T) == 1;
  static constexpr int padded_bytes = pixels * 4;
  struct PaddedWords {
    std::uint32_t words[pixels];
  };
  [[nodiscard]] __device__ static Words without_padding(const PaddedWords& padded) {
    Words result;
#pragma unroll
    for (int i = 0; i < word_count; ++i) {  // three words of every four
      const int first = i / 3 * 4 + i % 3;
      constexpr std::uint32_t bytes[3] = {0x4210, 0x5421, 0x6542};
      result.words[i] = __byte_perm(padded.words[first], padded.words[first + 1], bytes[i % 3]);
    }
    return result;
  }

  enum class Place {
    nowhere,   ///< all pixels are 0
    inside,    ///< all pixels are in the picture, with a word to spare unless rows are aligned
    scattered  ///< some pixels are outside the picture: each has a column of its own
  };

  const std::byte* data;
  std::int64_t row;
  const int* columns;  ///< source columns of the lane's pixels
  /// Bytes between two pixels of a row. A constant where it is one, as a variable would cost registers.
  std::conditional_t<may_be_padded, int, Fixed<pixel_bytes>> pixel{};
  int offset;  ///< bytes from a row's start to the lane's first pixel
  Place place;
  bool aligned;

  /// The lane's first pixel is at x, a multiple of `pixels`, of the picture extended by its border. Pixels
  /// beyond `last` are not needed. `of_positions` is the source column of every x, -1 where there is none.
  /// `bytes_of_pixel`: pixel_bytes, or 4 if may_be_padded.
  __device__ LaneRows(const Source& source, int x, int last, int width, bool clipped, const int* of_positions,
                      int bytes_of_pixel = pixel_bytes)
      : data(source.data),
        row(source.row),
        columns(of_positions + x),
        offset(x * bytes_of_pixel),
        aligned((reinterpret_cast<std::uintptr_t>(source.data) | static_cast<std::uintptr_t>(source.row)) %
                    (bytes_of_pixel == pixel_bytes ? access : 16) ==
                0) {
    if constexpr (may_be_padded) pixel = bytes_of_pixel;
    const int margin = aligned || bytes_of_pixel != pixel_bytes ? 0 : 4;
    if (x > last || (clipped && (x >= width || x + pixels <= 0))) {
      place = Place::nowhere;
    } else if (offset >= margin && offset + pixels * bytes_of_pixel + margin <= width * bytes_of_pixel) {
      place = Place::inside;
    } else {
      place = Place::scattered;
    }
  }

  /// Loads row y of the picture; zeros if y is negative.
  __device__ void load(int y, Words& loaded) const {
    loaded = {};
    if (y < 0 || place == Place::nowhere) return;
    const std::byte* line = data + y * row;
    if (place == Place::scattered) return load_scattered(line, loaded.words);
    const std::byte* from = line + offset;
    if constexpr (may_be_padded) {
      if (pixel != pixel_bytes) {
        PaddedWords padded;
        load_padded<4>(from, padded);
        loaded = without_padding(padded);
        return;
      }
    }
    if (aligned) return load_aligned<access>(from, loaded);
    const auto behind = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) % 4);
    const auto* words = reinterpret_cast<const std::uint32_t*>(from - behind);
    std::uint32_t low = __ldg(words);
#pragma unroll
    for (int i = 0; i < word_count; ++i) {
      const std::uint32_t high = __ldg(words + i + 1);
      loaded.words[i] = __funnelshift_r(low, high, 8 * behind);
      low = high;
    }
  }

  /// Loads the words of a lane whose first one is at `from`, by aligned accesses.
  template <int Access>
  __device__ void load_aligned(const std::byte* from, Words& loaded) const {
#pragma unroll
    for (int i = 0; i < bytes; i += Access) fetch<Access>(loaded.words, i, from + i);
  }

  template <int Access>
  __device__ static void load_padded(const std::byte* from, PaddedWords& loaded) {
#pragma unroll
    for (int i = 0; i < padded_bytes; i += Access) fetch<Access>(loaded.words, i, from + i);
  }

 private:
  __device__ void load_scattered(const std::byte* line, std::uint32_t (&words)[word_count]) const {
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      const int column = __ldg(columns + p);
      if (column < 0) continue;
      const std::byte* from = line + column * pixel;
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        constexpr int size = static_cast<int>(sizeof(T));
        fetch<size>(words, (p * Channels + c) * size, from + c * size);
      }
    }
  }
};

/// Returns sum + weights.low * bytes.byte0 + weights.high * bytes.byte1 for a pair of signed 16-bit weights.
__device__ inline int add_weighted_low(std::uint32_t weights, std::uint32_t bytes, int sum) {
  int result = 0;
  asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(weights), "r"(bytes), "r"(sum));
  return result;
}
/// Is add_weighted_low() for bytes 2 and 3.
__device__ inline int add_weighted_high(std::uint32_t weights, std::uint32_t bytes, int sum) {
  int result = 0;
  asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(weights), "r"(bytes), "r"(sum));
  return result;
}
/// Returns sum + pair.low * weights.byte0 + pair.high * weights.byte1 for 16-bit values and signed bytes.
__device__ inline std::uint32_t add_pair_weighted(std::uint32_t pair, std::uint32_t weights,
                                                  std::uint32_t sum) {
  int result = 0;
  asm("dp2a.lo.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(pair), "r"(weights), "r"(static_cast<int>(sum)));
  return static_cast<std::uint32_t>(result);
}

}  // namespace satin::kernels
