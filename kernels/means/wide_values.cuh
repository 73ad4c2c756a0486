#pragma once
// What a pixel adds to the sums of its column where 32 bits do not hold them all: floats in fixed point,
// their fixed point itself, 16-bit codes and their linear light, working values of 32 bits.

#include <cfloat>
#include <cstdint>
#include <type_traits>

#include "core/maths/fixed_point.h"
#include "kernels/device/wide_division.cuh"
#include "kernels/means/running_shared.cuh"
#include "kernels/pixels/lane_rows.cuh"
#include "means/maths/mean.h"

namespace satin::kernels {

/// Floats and their fixed point are signed and take 64 bits; of the others sums over a column take 32.
template <class T>
using WideColumn =
    std::conditional_t<std::is_same_v<T, float> || sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T, int Channels>
class WideValues {
 public:
  static constexpr int elements = running_elements;
  using Column = WideColumn<T>;
  using Rows = LaneRows<T, Channels, Column, elements>;
  using Words = typename Rows::Words;

  __device__ explicit WideValues(const RunningMeanArguments& arguments)
      : decoded_(arguments.transfer.decode != nullptr) {
    if constexpr (std::is_same_v<T, float>)
      factor_ = power_of_two(fixed_exponents(*arguments.measured, arguments.job.fixed_bits).colour);
  }

  [[nodiscard]] __device__ Column value(const Words& row, int e) const {
    const T stored = element<T>(row.words, e);
    if constexpr (std::is_same_v<T, float>) {
      return fixed(stored);
    } else if constexpr (sizeof(T) == 1) {
      return decoded_ ? DecodeTable::value(row.words[e / 4], e % 4) : stored;
    } else if constexpr (sizeof(T) == 2) {
      return decoded_ ? WideDecodeTable::value(stored) : stored;
    } else {
      return stored;
    }
  }

 private:
  /// to_fixed() of core/maths/fixed_point.h: the product is exact, and so is the sum with 1/2 unless its
  /// floor is 0 or -1 anyway.
  [[nodiscard]] __device__ std::uint64_t fixed(float stored) const {
    const auto value = static_cast<double>(fabsf(stored) <= FLT_MAX ? stored : 0.0F);
    return static_cast<std::uint64_t>(floor_of(__fma_rn(value, factor_, 0.5)));
  }

  bool decoded_;
  double factor_ = 1;
};

}  // namespace satin::kernels
