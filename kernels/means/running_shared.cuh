#pragma once
// Shared memory of a block of the box mean with running sums: tables of linear light, and for each of its
// tiles the prefixes of one row of column sums.

#include <cuda_pipeline.h>

#include <cstddef>
#include <cstdint>

#include "kernels/device/tuning.h"
#include "kernels/device/warp.cuh"
#include "kernels/means/launch.h"
#include "pixels/light_tables.h"
#include "pixels/maths/pixel.h"

namespace satin::kernels {

inline constexpr int running_warp_elements = warp_size * running_elements;

extern __shared__ uint4 running_memory[];

/// Where `byte` lies in a block's shared memory.
template <class Value>
__device__ Value* shared_at(int byte) {
  return reinterpret_cast<Value*>(reinterpret_cast<std::byte*>(running_memory) + byte);
}

/// Its address, which one register holds; the compiler else adds the beginning of shared memory to every sum.
__device__ inline std::uint32_t shared_address(int byte) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(running_memory)) + static_cast<unsigned>(byte);
}

/// Linear values of the 256 codes, once for each lane, so that no two lanes want different words of one bank.
/// An entry's address is its code times 256 plus the lane's 4 bytes: one permutation of bytes makes it.
struct DecodeTable {
  static constexpr int first_byte = 0;
  static constexpr int entry_bytes = 256;  // half of it unused
  static constexpr int bytes = 256 * entry_bytes;

  /// All threads of a block of one dimension call this together; a barrier comes before the first value is
  /// read.
  __device__ static void fill(const std::uint32_t* of_codes) {
    constexpr int pieces = warp_size * 4 / 16;  // of 16 bytes
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < 256 * pieces; i += static_cast<int>(blockDim.x)) {
      const std::uint32_t value = __ldg(of_codes + i / pieces);
      *shared_at<uint4>(i / pieces * entry_bytes + i % pieces * 16) = make_uint4(value, value, value, value);
    }
  }

  /// The linear value of one byte of a word.
  __device__ static std::uint32_t value(std::uint32_t word, int byte) {
    const auto lane = static_cast<std::uint32_t>(lane_index() * 4);
    const auto bytes = static_cast<unsigned>(0x5504 | byte << 4);
    return *shared_at<std::uint32_t>(static_cast<int>(__byte_perm(word, lane, bytes)));
  }
};

/// 24-bit linear values of the 65536 codes, which as words would not fit: what each has more than
/// pixels/light_tables.h.
struct WideDecodeTable {
  static constexpr int bytes = 2 << 16;

  /// Starts to copy; wait() and then a barrier go before the first value.
  __device__ static void fill(const std::int16_t* more_than_rough) {
    const auto* from = reinterpret_cast<const std::byte*>(more_than_rough);
    for (int i = static_cast<int>(threadIdx.x) * 16; i < bytes; i += static_cast<int>(blockDim.x) * 16)
      __pipeline_memcpy_async(shared_at<uint4>(i), from + i, 16);
    __pipeline_commit();
  }
  __device__ static void wait() { __pipeline_wait_prior(0); }

  __device__ static std::uint32_t value(std::uint32_t code) {
    float whole_code = 0;  // the compiler else takes the slow conversion of 16 bits
    asm("cvt.rn.f32.u32 %0, %1;" : "=f"(whole_code) : "r"(code));
    const float quarter = rough_quarter_light(whole_code);
    const std::uint32_t rough = 4 * (__float_as_uint(quarter) - __float_as_uint(rough_light_base));
    const std::int16_t more = *shared_at<std::int16_t>(2 * static_cast<int>(code));
    return rough + static_cast<std::uint32_t>(std::int32_t{more});
  }
};

/// cells_of()'s words once for each lane, behind the other table where values are bytes.
template <class T>
struct EncodeTable {
  static constexpr int first_byte = sizeof(T) == 1 ? DecodeTable::bytes : 0;
  static constexpr int entry_bytes = warp_size * 4;
  static constexpr int bytes = RootCells::count * entry_bytes;

  /// All threads of a block call this together, as they do DecodeTable::fill().
  __device__ static void fill(const std::uint32_t* cells) {
    constexpr int pieces = entry_bytes / 16;
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < RootCells::count * pieces;
         i += static_cast<int>(blockDim.x)) {
      const std::uint32_t word = __ldg(cells + i / pieces);
      *shared_at<uint4>(first_byte + i * 16) = make_uint4(word, word, word, word);
    }
  }

  __device__ EncodeTable() : first_(shared_address(first_byte) + static_cast<unsigned>(lane_index()) * 4) {}

  /// The codes of linear values, in the upper half: those of every `Step` elements but the last `Without`.
  template <int Step, int Without, int Count>
  __device__ void raise_codes(std::uint32_t (&values)[Count]) const {
    // Sums with 2^21 are quarters, and its own bits leave the register when they are multiplied.
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
  /// The result errs by at most 2^-21 of itself.
  __device__ static float approximate_root(float value) {
    float root = 0;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(value));
    return root;
  }

  std::uint32_t first_;  ///< address of the lane's first word
};

/// Tables of values of type T and means of type Out.
template <class T, class Out>
struct RunningTables {
  /// Fills the tables that the job asks for, and returns the bytes that they take. All threads of a block
  /// call it together.
  __device__ static int fill(const RunningMeanArguments& arguments) {
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
  __device__ static int fill_decode(const RunningMeanArguments& arguments) {
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

/// A tile's part: totals of its warps, zeros for windows that begin before the first column, and the prefixes
/// of a row. Of 64 bits the low words lie together and then the high words, each with such zeros: lanes are
/// then three accesses of 16 bytes apart, which meet in no bank.
template <class Sum>
struct TileMemory {
  static constexpr int margin = 32;  ///< elements
  static constexpr int size = static_cast<int>(sizeof(Sum));

  [[nodiscard]] SATIN_HD static int bytes(int warps) {
    return (4 * warps + margin + warps * running_warp_elements) * size;
  }
  __device__ TileMemory(int first_byte, int warps) : first_(first_byte), warps_(warps) {}

  [[nodiscard]] __device__ int totals() const { return first_; }
  /// Address of the (low) word of the first prefix.
  [[nodiscard]] __device__ int prefixes() const { return first_ + 4 * warps_ * size + margin * 4; }
  /// Bytes from a low word to its high word.
  [[nodiscard]] __device__ int to_high_words() const { return (margin + warps_ * running_warp_elements) * 4; }

  __device__ void clear_margins(int thread) const {
    if (thread >= margin) return;
#pragma unroll
    for (int word = 0; word < size / 4; ++word)
      shared_at<std::uint32_t>(prefixes() + word * to_high_words())[thread - margin] = 0;
  }

 private:
  int first_;
  int warps_;
};

inline constexpr int running_most_barriers = 15;  ///< of the tiles of a block, beside its own

/// Where spans have two warps: rows of prefixes that a tile holds, and its barriers.
inline constexpr int paired_warps = 32;  ///< at most, of a block
inline constexpr int paired_rows = 2;
inline constexpr int paired_barriers = 1 + 2 * paired_rows;

/// The warps of a block that slide a window down one tile; those of other tiles do not wait for them.
struct TileWarps {
  int index;
  int threads;

  __device__ void synchronize() const {
    asm volatile("bar.sync %0, %1;" ::"r"(index + 1), "r"(threads) : "memory");
  }
};

/// A thread's place in the tiles of its block, whose spans have some warps each.
struct PlaceInTiles {
  int threads;  ///< of a tile
  int index;    ///< of the thread's tile in the block
  int tile;     ///< of all
  int thread;   ///< in the tile

  __device__ explicit PlaceInTiles(const SlidingTiles& tiles, int warps_of_span = 1)
      : threads(tiles.spans * warp_size * warps_of_span),
        index(static_cast<int>(threadIdx.x) / threads),
        tile(static_cast<int>(blockIdx.x) * tiles.together + index),
        thread(static_cast<int>(threadIdx.x) - index * threads) {}

  [[nodiscard]] __device__ int warp() const { return thread / warp_size; }
  [[nodiscard]] __device__ TileWarps warps() const { return {index, threads}; }
};

/// How many warps a block has at most, where the job is `wide`. NVIDIA H200, UHD RGB.
///
/// Column sums of 64 bits leave 16 warps the registers only if the rows of the next step are asked for after
/// the means of this one. 16 such warps instead of 12 that ask before: f32 at radius 16 0.186 instead of
/// 0.189 ms, at 64 0.286 instead of 0.248, a gaussian of sigma 8 0.755 instead of 0.655, radius 16.5 0.285
/// instead of 0.335.
///
/// `by_boxes`: with a fractional radius.
[[nodiscard]] constexpr int wide_warps(Type type, bool by_boxes) {
  return type == Type::u64 || (type == Type::f32 && !by_boxes) ? 12 : 16;
}

}  // namespace satin::kernels
