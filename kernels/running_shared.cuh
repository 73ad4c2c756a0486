#pragma once
// Shared memory of a block of the box mean with running sums: tables of linear light, and for each of its
// teams of warps the prefixes of one row of column sums.

#include <cstddef>
#include <cstdint>

#include "kernels/box_mean_running.h"
#include "kernels/warp.cuh"

namespace satin::kernels {

/// Values of a lane: whole pixels of 1 to 4 channels, and three accesses of 16 bytes to 32-bit prefixes.
inline constexpr int running_elements = 12;
inline constexpr int running_warp_elements = warp_size * running_elements;

extern __shared__ uint4 running_memory[];

/// Where `byte` lies in a block's shared memory.
template <class Value>
__device__ Value* shared_at(int byte) {
  return reinterpret_cast<Value*>(reinterpret_cast<std::byte*>(running_memory) + byte);
}

/// Linear values of the 256 codes, once for each lane, so that no two lanes want different words of one bank.
/// An entry's address is its code times 256 plus the lane's 4 bytes: one permutation of bytes makes it.
struct DecodeTable {
  static constexpr int first_byte = 0;
  static constexpr int entry_bytes = 256;  // half of it unused
  static constexpr int bytes = 256 * entry_bytes;

  /// To be called by all threads of a block of one dimension, with a barrier before the first value.
  __device__ static void fill(const std::uint32_t* of_codes) {
    for (int i = static_cast<int>(threadIdx.x); i < 256 * warp_size; i += static_cast<int>(blockDim.x))
      *shared_at<std::uint32_t>(i / warp_size * entry_bytes + i % warp_size * 4) =
          __ldg(of_codes + i / warp_size);
  }

  /// The linear value of one byte of a word.
  template <int Byte>
  __device__ static std::uint32_t value(std::uint32_t word) {
    const auto lane = static_cast<std::uint32_t>(lane_index() * 4);
    return *shared_at<std::uint32_t>(static_cast<int>(__byte_perm(word, lane, 0x5504 | Byte << 4)));
  }
};

/// Codes of all 16-bit linear values.
struct EncodeTable {
  static constexpr int first_byte = DecodeTable::bytes;
  static constexpr int bytes = 1 << 16;

  __device__ static void fill(const std::uint8_t* of_values) {
    const auto* from = reinterpret_cast<const uint4*>(of_values);
    for (int i = static_cast<int>(threadIdx.x); i < bytes / 16; i += static_cast<int>(blockDim.x))
      shared_at<uint4>(first_byte)[i] = __ldg(from + i);
  }
  __device__ static std::uint32_t code(std::uint32_t value) {
    return *shared_at<std::uint8_t>(first_byte + static_cast<int>(value));
  }
};

inline constexpr int running_table_bytes = DecodeTable::bytes + EncodeTable::bytes;

/// A team's part: totals of its warps, zeros for windows that begin before the first column, and the
/// prefixes.
template <class Sum>
struct TeamMemory {
  static constexpr int margin = 32;  ///< elements

  int totals;
  int prefixes;  ///< of the first column

  [[nodiscard]] SATIN_HD static int bytes(int warps) {
    return (4 * warps + margin + warps * running_warp_elements) * static_cast<int>(sizeof(Sum));
  }
  __device__ TeamMemory(int first_byte, int warps)
      : totals(first_byte), prefixes(totals + (4 * warps + margin) * static_cast<int>(sizeof(Sum))) {}

  __device__ void clear_margin(int thread) const {
    if (thread < margin) shared_at<Sum>(prefixes)[thread - margin] = 0;
  }
};

inline constexpr int running_most_teams = 15;  ///< of a block: each has a barrier, of 16

/// The warps of a block that march down one strip together; others do not wait for them.
struct Team {
  int index;
  int threads;

  __device__ void synchronize() const {
    asm volatile("bar.sync %0, %1;" ::"r"(index + 1), "r"(threads) : "memory");
  }
};

}  // namespace satin::kernels
