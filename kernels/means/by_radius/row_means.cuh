#pragma once
// Means of one row, from the sums over its windows: divided, encoded and stored. A lane writes the pixels of
// its own columns.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/device/exact_division.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/means/by_radius/column_sums.cuh"
#include "kernels/means/by_radius/row_prefixes.cuh"
#include "kernels/means/launch.h"
#include "kernels/pixels/short_light.cuh"
#include "pixels/light_tables.h"
#include "pixels/maths/pixel.h"

namespace satin::kernels {

// --- Tables and estimates that encode means ---

/// The words of pixels/light_tables.h, one copy for each lane, behind DecodeTable if values have 8 bits. They
/// turn linear values into codes of 8 bits.
template <class T>
struct EncodeTable {
  static constexpr int first_byte = sizeof(T) == 1 ? DecodeTable::bytes : 0;
  static constexpr int entry_bytes = warp_size * 4;
  static constexpr int bytes = RootCells::count * entry_bytes;

  /// All threads of a block call this together, like DecodeTable::fill().
  __device__ static void fill(const std::uint32_t* cells) {
    constexpr int vectors = entry_bytes / 16;
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < RootCells::count * vectors;
         i += static_cast<int>(blockDim.x)) {
      const std::uint32_t word = __ldg(cells + i / vectors);
      *shared_at<uint4>(first_byte + i * 16) = make_uint4(word, word, word, word);
    }
  }

  __device__ EncodeTable() : first_(shared_address(first_byte) + static_cast<unsigned>(lane_index()) * 4) {}

  /// Replaces linear values by words whose upper half is the code. Leaves the last `Without` of every `Step`
  /// elements.
  template <int Step, int Without, int Count>
  __device__ void raise_codes(std::uint32_t (&values)[Count]) const {
    // Adding 2^21 rounds a float to quarters. Its own bits leave the register in the multiplication below.
    constexpr float quarters = 2097152.0F;
    float roots[Count];
    std::uint32_t words[Count];
#pragma unroll
    for (int e = 0; e < Count; ++e)
      if (e % Step < Step - Without) roots[e] = approximate_root(static_cast<float>(values[e]));
#pragma unroll
    for (int e = 0; e < Count; ++e)
      if (e % Step < Step - Without) {
        const float cell = __fmaf_rd(roots[e], RootCells::per_root / 4, quarters);
        asm volatile("ld.shared.u32 %0, [%1];"
                     : "=r"(words[e])
                     : "r"(first_ + __float_as_uint(cell) * entry_bytes));
      }
#pragma unroll
    for (int e = 0; e < Count; ++e)
      if (e % Step < Step - Without) values[e] += words[e];
  }

 private:
  /// Returns the root with a relative error of at most 2^-21.
  __device__ static float approximate_root(float value) {
    float root = 0;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(value));
    return root;
  }

  std::uint32_t first_;  ///< address of the lane's first word
};

/// The tables in shared memory for values of type T and means of type Out.
template <class T, class Out>
struct LightTables {
  /// Fills the tables that the job needs and returns their size in bytes. All threads of a block call this
  /// together.
  __device__ static int fill(const BoxFilterArguments& arguments) {
    int bytes = 0;
    if constexpr (sizeof(T) <= 2) {
      if (arguments.transfer.decode != nullptr) bytes += fill_decode(arguments);
    }
    if constexpr (sizeof(Out) == 1) {
      if (arguments.cells8 != nullptr) {
        EncodeTable<T>::fill(arguments.cells8);
        bytes += EncodeTable<T>::bytes;
      }
    }
    if (bytes != 0) __syncthreads();
    return bytes;
  }

 private:
  __device__ static int fill_decode(const BoxFilterArguments& arguments) {
    if constexpr (sizeof(T) == 1) {
      DecodeTable::fill(arguments.transfer.decode);
      return DecodeTable::bytes;
    } else {
      WideDecodeTable::fill(arguments.more_than_rough16);
      WideDecodeTable::wait();
      return WideDecodeTable::bytes;
    }
  }
};

// --- Stored pixels ---

template <class T, int Channels>
class StoredLane {
 public:
  static constexpr int elements = lane_elements;
  static constexpr int pixel_bytes = Channels * static_cast<int>(sizeof(T));
  static constexpr int bytes = elements * static_cast<int>(sizeof(T));
  static constexpr int count = bytes / 4;

  /// Packs the bits of the values from bit `Shift` on.
  template <int Shift = 0>
  __device__ void pack(const std::uint32_t (&values)[elements]) {
    static_assert(Shift % 8 == 0 && Shift + 8 * sizeof(T) <= 32);
    if constexpr (sizeof(T) == 1) {
      constexpr unsigned pair = (4 + Shift / 8) << 4 | Shift / 8;
#pragma unroll
      for (int i = 0; i < count; ++i) {
        const std::uint32_t low = __byte_perm(values[4 * i], values[4 * i + 1], pair);
        const std::uint32_t high = __byte_perm(values[4 * i + 2], values[4 * i + 3], pair);
        words_[i] = __byte_perm(low, high, 0x5410);
      }
    } else if constexpr (sizeof(T) == 4) {
#pragma unroll
      for (int i = 0; i < count; ++i) words_[i] = values[i];
    } else {
      static_assert(Shift == 0);
#pragma unroll
      for (int i = 0; i < count; ++i) words_[i] = __byte_perm(values[2 * i], values[2 * i + 1], 0x5410);
    }
  }

  [[nodiscard]] __device__ std::uint32_t alpha(int pixel) const {
    return element<T>(words_, (pixel + 1) * Channels - 1);
  }

  /// Copies the colours of pixels whose alpha is 0. `own` points to the lane's first pixel, of which the
  /// first `valid` exist.
  __device__ void keep_transparent(const std::byte* own, int valid) {
    if constexpr (Channels == 4 && sizeof(T) == 1) {
      if (reinterpret_cast<std::uintptr_t>(own) % 4 == 0) {
        std::uint32_t colours[count];
#pragma unroll
        for (int p = 0; p < count; ++p)
          colours[p] = p < valid ? __ldg(reinterpret_cast<const std::uint32_t*>(own) + p) & 0xFFFFFFU : 0;
#pragma unroll
        for (int p = 0; p < count; ++p)
          if (p < valid && alpha(p) == 0) words_[p] = colours[p];
        return;
      }
    }
#pragma unroll
    for (int i = 0; i < elements; ++i) {
      const int pixel = i / Channels;
      if (i % Channels == Channels - 1 || pixel >= valid || alpha(pixel) != 0) continue;
      constexpr int per_word = 4 / static_cast<int>(sizeof(T));
      const auto shift = static_cast<unsigned>(i % per_word * 32 / per_word);
      const std::uint32_t code = __ldg(reinterpret_cast<const T*>(own) + i);
      words_[i / per_word] =
          (words_[i / per_word] & ~((~0U >> (32 - 32 / per_word)) << shift)) | code << shift;
    }
  }

  /// Stores the first `valid` of the lane's `pixels` pixels at `to`, by whole words wherever the row begins.
  /// All lanes of a warp call this together.
  __device__ void store(std::byte* to, int valid, int pixels) const {
    const auto behind = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) % 4);  // equal in all lanes
    const bool whole = valid == pixels;
    if (sizeof(T) == 4 || behind == 0) {
      if (whole) {
        store_words(to);
      } else {
        store_bytes(to, 0, valid * pixel_bytes);
      }
      return;
    }
    // The first word begins in the lane to the left. Bytes next to a lane that is not whole are stored
    // singly.
    const std::uint32_t left_word = __shfl_up_sync(whole_warp, words_[count - 1], 1);
    const unsigned whole_lanes = __ballot_sync(whole_warp, whole);
    const int lane = lane_index();
    const bool left = lane != 0 && (whole_lanes >> (lane - 1) & 1U) != 0;
    const bool right = lane != warp_size - 1 && (whole_lanes >> (lane + 1) & 1U) != 0;
    if (!whole) return store_bytes(to, 0, valid * pixel_bytes);
    auto* aligned = reinterpret_cast<std::uint32_t*>(to - behind);
    if (left) __stcs(aligned, __funnelshift_l(left_word, words_[0], 8 * behind));
#pragma unroll
    for (int i = 1; i < count; ++i)
      __stcs(aligned + i, __funnelshift_l(words_[i - 1], words_[i], 8 * behind));
    if (!left) store_bytes(to, 0, 4 - behind);
    if (!right) store_bytes(to, bytes - behind, bytes);
  }

  /// Is store() for pixels of 3 bytes before an unused one, which keeps what it is. They are aligned to
  /// words.
  __device__ void store_padded(std::byte* to, int valid) const {
    static_assert(Channels == 3 && sizeof(T) == 1);
    const std::uint32_t of_pixel[] = {words_[0], __funnelshift_r(words_[0], words_[1], 24),
                                      __funnelshift_r(words_[1], words_[2], 16), words_[2] >> 8};
#pragma unroll
    for (int p = 0; p < elements / 3; ++p) {
      if (p >= valid) continue;
      *reinterpret_cast<std::uint16_t*>(to + 4 * p) = static_cast<std::uint16_t>(of_pixel[p]);
      reinterpret_cast<std::uint8_t*>(to + 4 * p)[2] = static_cast<std::uint8_t>(of_pixel[p] >> 16);
    }
  }

 private:
  [[nodiscard]] __device__ std::uint32_t byte(int i) const { return words_[i / 4] >> i % 4 * 8 & 0xFFU; }

  __device__ void store_words(std::byte* to) const {
    if constexpr (bytes % 16 == 0) {
      if (reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
#pragma unroll
        for (int i = 0; i < count; i += 4)
          __stcs(reinterpret_cast<uint4*>(to) + i / 4,
                 make_uint4(words_[i], words_[i + 1], words_[i + 2], words_[i + 3]));
        return;
      }
    } else if constexpr (bytes % 8 == 0) {
      if (reinterpret_cast<std::uintptr_t>(to) % 8 == 0) {
#pragma unroll
        for (int i = 0; i < count; i += 2)
          __stcs(reinterpret_cast<uint2*>(to) + i / 2, make_uint2(words_[i], words_[i + 1]));
        return;
      }
    }
#pragma unroll
    for (int i = 0; i < count; ++i) __stcs(reinterpret_cast<std::uint32_t*>(to) + i, words_[i]);
  }

  __device__ void store_bytes(std::byte* to, int begin, int end) const {
#pragma unroll
    for (int i = 0; i < bytes; ++i)
      if (i >= begin && i < end) to[i] = static_cast<std::byte>(byte(i));
  }

  std::uint32_t words_[count];
};

// --- Windows of a lane ---

/// Returns the number of pixels that a window covers along an axis of `size` pixels.
__device__ inline int window_pixels(int centre, int reach, int size, bool clipped) {
  return clipped ? min(centre + reach, size - 1) - max(centre - reach, 0) + 1 : 2 * reach + 1;
}

/// Returns the weighted number of pixels that a window covers along an axis.
__device__ inline std::uint32_t window_size(const AxisWindow& window, int centre, int size, bool clipped) {
  const auto count = [&](int reach) {
    return static_cast<std::uint32_t>(window_pixels(centre, reach, size, clipped));
  };
  std::uint32_t result = window.inner * count(window.reach);
  if (window.outer != 0) result += window.outer * count(window.reach + 1);
  return result;
}

/// The windows of a lane's own columns, and their divisors.
template <int Channels, class Sum>
class WindowLane {
 public:
  static constexpr int elements = lane_elements;
  static constexpr int pixels = elements / Channels;

  /// All lanes of a warp call the constructor together. `x` is the lane's first column.
  __device__ WindowLane(const BoxFilterArguments& arguments, const SummedTile& tile,
                        const TileMemory<Sum>& memory, int thread, int threads, int x)
      : arguments_(arguments),
        windows_(arguments.job, memory, thread, threads),
        x_(x),
        valid_(x < tile.first_x ? 0 : min(max(tile.last_x - x, 0), pixels)) {
    const BoxFilterJob& job = arguments.job;
    const int reach = job.x.outer_reach();
    const bool inside = !job.clipped || (x >= reach && x + pixels - 1 + reach < job.width);
    whole_ = __all_sync(whole_warp, inside || valid_ == 0);
    any_ = __any_sync(whole_warp, valid_ > 0);
  }

  [[nodiscard]] __device__ bool any() const { return any_; }

  /// Sums over the windows of row y, which has these prefixes.
  template <bool Fractions = true, class Sums>
  __device__ void sum(int /*y*/, int prefixes, Sums& sums) const {
    if (any_) windows_.template sum<Fractions>(prefixes, sums);
  }

 protected:
  [[nodiscard]] __device__ std::uint32_t size_y_of(int y) const {
    const BoxFilterJob& job = arguments_.job;
    return window_size(job.y, y, job.height, job.clipped);
  }
  /// Returns the weighted number of pixels of a window that is not clipped along x.
  [[nodiscard]] __device__ std::uint64_t whole_divisor(std::uint32_t size_y) const {
    return static_cast<std::uint64_t>(window_size(arguments_.job.x, 0, 0, false)) * size_y;
  }
  [[nodiscard]] __device__ std::uint64_t divisor_of(int pixel, std::uint32_t size_y) const {
    const BoxFilterJob& job = arguments_.job;
    const bool clipped = job.clipped && pixel < valid_;
    return static_cast<std::uint64_t>(window_size(job.x, x_ + pixel, job.width, clipped)) * size_y;
  }

  /// Calls use(division, element) with division = make(divisor of the element's pixel), made once if the
  /// divisors are equal.
  template <class Make, class Use>
  __device__ void for_each_element(std::uint32_t size_y, const Make& make, const Use& use) const {
    if (whole_) {
      const auto division = make(whole_divisor(size_y));
#pragma unroll
      for (int e = 0; e < elements; ++e) use(division, e);
      return;
    }
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      const auto division = make(divisor_of(p, size_y));
#pragma unroll
      for (int c = 0; c < Channels; ++c) use(division, p * Channels + c);
    }
  }

  template <int Words>
  __device__ void store_packed(const PackedValues<Words>& values, int y) const {
    if (valid_ > 0) values.store(row_of_output(y), x_ / pixels, arguments_.output.row);
  }

  template <class Out>
  [[nodiscard]] __device__ std::byte* target_of(int y) const {
    constexpr int pixel_bytes = Channels * static_cast<int>(sizeof(Out));
    return row_of_output(y) + x_ * pixel_bytes;
  }
  [[nodiscard]] __device__ std::byte* row_of_output(int y) const {
    const auto row = static_cast<std::uint32_t>(y);  // a signed product takes twice as long
    return arguments_.output.data + row * static_cast<std::uint64_t>(arguments_.output.row);
  }

  const BoxFilterArguments& arguments_;
  WindowEnds<Channels, Sum> windows_;
  int x_;
  int valid_;   ///< number of pixels that the lane writes
  bool whole_;  ///< whether no window of the warp is clipped along x
  bool any_;    ///< whether the warp writes anything
};

// --- Means of 8 and 16 bits ---

/// A lane that encodes and stores means of type Out, from values of type T.
template <class T, class Out, int Channels, class Sum, bool Weighted>
class MeanLane : public WindowLane<Channels, Sum> {
  using Base = WindowLane<Channels, Sum>;

 public:
  using Base::Base, Base::elements, Base::pixels;

 protected:
  using Base::arguments_, Base::valid_, Base::x_;
  static constexpr bool mixed = !std::is_same_v<T, Out>;

  /// Stores means in row y. `MayBePadded`: whether pixels may have an unused value.
  template <bool MayBePadded = false>
  __device__ void store(std::uint32_t (&means)[elements], int y) const {
    Lane lane;
    encode(means, lane);
    if constexpr (is_packed<Out>) {
      this->store_packed(lane, y);
    } else {
      if constexpr (Weighted) keep_transparent(lane, y);
      if constexpr (MayBePadded) {
        if (arguments_.output_pixel != Lane::pixel_bytes)
          return lane.store_padded(this->row_of_output(y) + x_ * arguments_.output_pixel, valid_);
      }
      lane.store(this->template target_of<Out>(y), valid_, pixels);
    }
  }

  /// Returns the sum with the fraction bits that means have and values lack.
  [[nodiscard]] __device__ std::uint32_t raised(std::uint32_t sum) const {
    return mixed ? sum << max(arguments_.job.more_bits, 0) : sum;
  }
  /// Returns the divisor, shifted by the fraction bits that values have and means lack.
  [[nodiscard]] __device__ std::uint64_t raised_divisor(std::uint64_t divisor) const {
    return mixed ? divisor << max(-arguments_.job.more_bits, 0) : divisor;
  }

 private:
  using Lane = std::conditional_t<is_packed<Out>, Out, StoredLane<Out, Channels>>;

  /// Encodes linear light if the job encodes; alpha is stored as it is.
  __device__ void encode(std::uint32_t (&values)[elements], Lane& lane) const {
    if constexpr (sizeof(Out) == 1) {
      if (arguments_.cells8 != nullptr) {
        encode_table_.template raise_codes<Channels, Weighted ? 1 : 0>(values);
        if constexpr (Weighted)
#pragma unroll
          for (int e = Channels - 1; e < elements; e += Channels) values[e] <<= 16;
        return lane.template pack<16>(values);
      }
    } else if constexpr ((!mixed || Weighted) && sizeof(Out) == 2) {
      if (arguments_.transfer.thresholds != nullptr) {
        std::uint32_t codes[elements];
#pragma unroll
        for (int e = 0; e < elements; ++e) codes[e] = values[e];
        encode16(codes, arguments_.transfer);
#pragma unroll
        for (int e = 0; e < elements; ++e)
          if (!Weighted || e % Channels != Channels - 1) values[e] = codes[e];
      }
    }
    lane.pack(values);
  }

  /// Copies the original's colours to pixels whose alpha is 0.
  __device__ void keep_transparent(Lane& lane, int y) const {
    bool transparent = false;
#pragma unroll
    for (int p = 0; p < pixels; ++p) transparent |= lane.alpha(p) == 0;
    if (!transparent) return;
    const Source& original = arguments_.original;
    lane.keep_transparent(original.data + y * original.row + x_ * Lane::pixel_bytes, valid_);
  }

  EncodeTable<T> encode_table_;
};

/// Means of 8 or 16 bits over windows of any radius, from sums that fit 32 or 64 bits.
template <class T, class Out, int Channels, class Sum, bool Weighted>
class ShortMeans : public MeanLane<T, Out, Channels, Sum, Weighted> {
  using Base = MeanLane<T, Out, Channels, Sum, Weighted>;
  using Base::arguments_, Base::any_, Base::elements, Base::pixels, Base::mixed, Base::raised,
      Base::raised_divisor;

 public:
  using Base::Base;
  using Sums = WindowSums<Sum>;

  __device__ void write(int y, const Sums& sums) const {
    if (!any_) return;
    const std::uint32_t size_y = this->size_y_of(y);
    std::uint32_t values[elements];
    if constexpr (Weighted) {
      divide_by_alpha(sums, size_y, values);
    } else {
      divide(sums, size_y, values);
    }
    this->store(values, y);
  }

 private:
  template <class Division, class Quotient>
  __device__ void divide_by(std::uint32_t size_y, std::uint32_t (&values)[elements],
                            const Quotient& quotient) const {
    const auto make = [this](std::uint64_t divisor) {
      if constexpr (std::is_same_v<Division, MixedDivision<Sum>>) {
        return Division(sizeof(Sum) == 4 ? raised_divisor(divisor) : divisor, arguments_.job.x.inner,
                        arguments_.job.x.outer);
      } else {
        return Division(static_cast<std::uint32_t>(divisor));
      }
    };
    this->for_each_element(size_y, make,
                           [&](const Division& division, int e) { values[e] = quotient(division, e); });
  }

  __device__ void divide(const WindowSums<std::uint32_t>& sums, std::uint32_t size_y,
                         std::uint32_t (&values)[elements]) const {
    const BoxFilterJob& job = arguments_.job;
    using Division = MixedDivision<std::uint32_t>;
    if (job.x.outer != 0) {
      divide_by<Division>(size_y, values, [&](const Division& division, int e) {
        return division(raised(sums.inner[e]), raised(sums.outer[e]));
      });
    } else {
      divide_by<Division>(size_y, values,
                          [&](const Division& division, int e) { return division(raised(sums.inner[e])); });
    }
  }

  __device__ void divide(const WindowSums<std::uint64_t>& sums, std::uint32_t size_y,
                         std::uint32_t (&values)[elements]) const {
    const BoxFilterJob& job = arguments_.job;
    const auto quotient = [&](const auto& division, int e) { return division(sums.total[e]); };
    if constexpr (mixed) {
      divide_by<LongDivision<false>>(size_y, values, [&](const auto& division, int e) {
        return job.more_bits < 0 ? division.scaled_down(sums.total[e], -job.more_bits)
                                 : division(sums.total[e] << job.more_bits);
      });
    } else if (job.has_large_divisors) {
      divide_by<MixedDivision<std::uint64_t>>(size_y, values, quotient);
    } else if (sizeof(T) == 2 && job.decodes) {
      divide_by<LongDivision<true>>(size_y, values, quotient);
    } else {
      divide_by<LongDivision<false>>(size_y, values, quotient);
    }
  }

  /// Divides colours by the window's sum of alphas, and alpha by the window's size.
  __device__ void divide_by_alpha(const WindowSums<std::uint64_t>& sums, std::uint32_t size_y,
                                  std::uint32_t (&values)[elements]) const {
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      constexpr int alpha = Channels - 1;
      const std::uint64_t alphas = sums.total[p * Channels + alpha];
      const LongDivision<false> of_colour(max(static_cast<std::uint32_t>(alphas), 1U));
#pragma unroll
      for (int c = 0; c < alpha; ++c) values[p * Channels + c] = of_colour(sums.total[p * Channels + c]);
      const LongDivision<false> of_alpha(static_cast<std::uint32_t>(this->divisor_of(p, size_y)));
      values[p * Channels + alpha] = of_alpha(alphas);
    }
  }
};

}  // namespace satin::kernels
