#pragma once
// Sums over the windows of a row, as products of a matrix of bytes and a band of weights: a warp has 256
// values of one channel as 16 rows of the matrix, each with the 16 values whose windows it sums and the eight
// on either side.

#include <cstdint>

#include "kernels/device/registers.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/means/small_box.h"

namespace satin::kernels {

inline constexpr int small_box_columns = 256;  ///< of a warp
inline constexpr int small_box_sums = 8;  ///< of a lane: four of one matrix row, four of the eighth below
inline constexpr int split_unit = 8;
inline constexpr int split_unit_bytes = 16;

/// Where a lane's sums lie among the columns of its warp: four from first() on, four from first() + 128 on.
struct SmallBoxLane {
  int row = lane_index() / 4;
  int quarter = lane_index() % 4;

  [[nodiscard]] __device__ int first(int half) const { return 16 * (row + 8 * half) + 4 * quarter; }
  /// The unit of eight values that the lane gives to a row of the matrix, counted from the eight left of the
  /// warp's columns on.
  [[nodiscard]] __device__ int unit(int half) const { return 2 * (row + 8 * half) + quarter; }
};

/// A lane's part of a matrix of 16 x 32 bytes: of rows g and g + 8 the columns 8 t to 8 t + 3, and then of
/// both 8 t + 4 to 8 t + 7, for lane 4 g + t.
struct ByteMatrix {
  std::uint32_t words[4];
};

/// sums += matrix * weights, where weights are 32 x 8 bytes.
__device__ inline void add_product(const ByteMatrix& matrix, const std::uint32_t (&weights)[2],
                                   int (&sums)[4]) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
      "%1, %2, %3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(matrix.words[0]), "r"(matrix.words[1]), "r"(matrix.words[2]), "r"(matrix.words[3]),
        "r"(weights[0]), "r"(weights[1]));
#else
#pragma unroll
  for (int i = 0; i < 4; ++i)
    asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+r"(sums[i % 2 * 2]), "+r"(sums[i % 2 * 2 + 1])
        : "r"(matrix.words[i]), "r"(weights[i / 2]));
#endif
}

/// The band of weights of a window along a row: 32 x 16, as two matrices whose columns 2 t and 2 t + 1 are
/// the windows 4 t to 4 t + 3. With fractions a weight may be 256, as 255 + 1.
template <bool Fractions>
class WindowWeights {
 public:
  __device__ explicit WindowWeights(const RunningWindow& window) : two_(window.inner + window.outer > 0xFF) {
    const int column = lane_index() / 4;
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      const int centre = 4 * (column / 2) + 2 * pair + column % 2 + SmallBoxJob::largest_reach;
#pragma unroll
      for (int word = 0; word < 2; ++word) {
        std::uint32_t bytes = 0;
        std::uint32_t rest = 0;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int distance = abs(8 * (lane_index() % 4) + 4 * word + i - centre);
          const std::uint32_t weight = distance <= window.reach       ? window.inner + window.outer
                                       : distance == window.reach + 1 ? window.outer
                                                                      : 0;
          bytes |= min(weight, 0xFFU) << 8 * i;
          rest |= (weight - min(weight, 0xFFU)) << 8 * i;
        }
        bytes_[pair][word] = opaque(bytes);
        rest_[pair][word] = opaque(rest);
      }
    }
  }

  /// products[p][i]: row g + 8 (i / 2) of the matrix times column 2 t + i % 2 of weights p.
  __device__ void multiply(const ByteMatrix& matrix, int (&products)[2][4]) const {
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
#pragma unroll
      for (int& product : products[pair]) product = 0;
      add_product(matrix, bytes_[pair], products[pair]);
      if (Fractions && two_) add_product(matrix, rest_[pair], products[pair]);
    }
  }

 private:
  std::uint32_t bytes_[2][2];
  std::uint32_t rest_[2][2];
  bool two_;
};

}  // namespace satin::kernels
