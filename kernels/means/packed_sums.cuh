#pragma once
// Sums of all channels of 8-bit pixels in one word: the sum of packed pixels is the packed sum, and so is a
// difference of such sums, modulo 2^64, as long as every channel's own true sum fits its bits.

#include <cstdint>

namespace satin::kernels {

template <int Channels>
struct PackedSums;

template <>
struct PackedSums<1> {
  using Sum = std::uint32_t;
  static constexpr int bits = 32;
  __device__ static Sum pack(const std::uint32_t* values) { return values[0]; }
  __device__ static void unpack(Sum sum, std::uint32_t* sums) { sums[0] = sum; }
};

template <>
struct PackedSums<2> {
  using Sum = std::uint64_t;
  static constexpr int bits = 32;
  __device__ static Sum pack(const std::uint32_t* values) {
    return static_cast<Sum>(values[1]) << 32 | values[0];
  }
  __device__ static void unpack(Sum sum, std::uint32_t* sums) {
    sums[0] = static_cast<std::uint32_t>(sum);
    sums[1] = static_cast<std::uint32_t>(sum >> 32);
  }
};

template <>
struct PackedSums<3> {
  using Sum = std::uint64_t;
  static constexpr int bits = 21;
  __device__ static Sum pack(const std::uint32_t* values) {
    return static_cast<Sum>(values[2] << 10) << 32 | (values[1] << 21 | values[0]);
  }
  __device__ static void unpack(Sum sum, std::uint32_t* sums) {
    constexpr std::uint32_t mask = (1U << bits) - 1;
    const auto low = static_cast<std::uint32_t>(sum);
    const auto high = static_cast<std::uint32_t>(sum >> 32);
    sums[0] = low & mask;
    sums[1] = __funnelshift_r(low, high, 21) & mask;
    sums[2] = high >> 10;
  }
};

}  // namespace satin::kernels
