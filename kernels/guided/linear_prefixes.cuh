#pragma once
// The shared memory of a block of the guided filter by sliding windows: rows of sums, which become exclusive
// prefixes.

#include <cstddef>
#include <cstdint>

#include "kernels/guided/linear_model.cuh"

namespace satin::kernels {

inline constexpr int prefix_segment = 16;  ///< elements of a row that a lane scans
using CoefficientPair = ulonglong2;

/// A row of sums in shared memory. Behind every 16 elements 16 bytes are left free, so that lanes that read
/// 16 neighbours each use different banks.
template <class Sum>
struct PrefixPlane {
  static constexpr int padding = 16 / static_cast<int>(sizeof(Sum));

  [[nodiscard]] __host__ __device__ static int place(int i) { return i + i / prefix_segment * padding; }
  /// Elements of a plane with one prefix more than there are threads.
  [[nodiscard]] __host__ __device__ static int size(int threads) { return place(threads) + padding; }
};

/// Turns the sums of a plane into exclusive prefixes, with the sum of all behind them. To be called by
/// `lanes` neighbouring threads of a warp, whose bits are `mask`.
template <class Sum>
__device__ void scan_plane(Sum* plane, int lane, int lanes, unsigned mask) {
  constexpr int together = PrefixPlane<Sum>::padding;
  struct alignas(16) Vector {
    Sum of[together];
  };
  auto* own = reinterpret_cast<Vector*>(plane + PrefixPlane<Sum>::place(lane * prefix_segment));
  Vector values[prefix_segment / together];
  Sum total = 0;
#pragma unroll
  for (int i = 0; i < prefix_segment / together; ++i) {
    values[i] = own[i];
#pragma unroll
    for (int k = 0; k < together; ++k) total += values[i].of[k];
  }
  Sum before = total;
  for (int distance = 1; distance < lanes; distance *= 2) {
    const Sum other = __shfl_up_sync(mask, before, distance, lanes);
    if (lane >= distance) before += other;
  }
  if (lane == lanes - 1) plane[PrefixPlane<Sum>::place(lanes * prefix_segment)] = before;
  before -= total;
#pragma unroll
  for (int i = 0; i < prefix_segment / together; ++i) {
#pragma unroll
    for (int k = 0; k < together; ++k) {
      const Sum value = values[i].of[k];
      values[i].of[k] = before;
      before += value;
    }
    own[i] = values[i];
  }
}

/// The shared memory of a block: prefixes of coefficients, the coefficients that leave, prefixes of moments.
template <class L>
struct LinearMemory {
  using Moments = PrefixPlane<std::uint32_t>;
  using Coefficients = PrefixPlane<std::uint64_t>;
  static constexpr int pairs = L::coefficients / 2;

  std::uint64_t* coefficients;
  CoefficientPair* leaving;
  std::uint32_t* moments;

  __device__ LinearMemory(std::byte* memory, int threads)
      : coefficients(reinterpret_cast<std::uint64_t*>(memory)),
        leaving(
            reinterpret_cast<CoefficientPair*>(coefficients + L::coefficients * Coefficients::size(threads))),
        moments(reinterpret_cast<std::uint32_t*>(leaving + pairs * threads)) {}

  static std::size_t bytes(int threads) {
    const auto count = static_cast<std::size_t>(threads);
    return L::coefficients * static_cast<std::size_t>(Coefficients::size(threads)) * sizeof(std::uint64_t) +
           pairs * count * sizeof(CoefficientPair) +
           L::sums * static_cast<std::size_t>(Moments::size(threads)) * sizeof(std::uint32_t);
  }
};

}  // namespace satin::kernels
