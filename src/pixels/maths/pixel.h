#pragma once
// Working values: what filters compute with in place of stored pixels.
//
// A working value is an integer: the stored integer, its linear light (16 bits for u8, 24 bits for u16), or a
// float in fixed point. With weighted alpha the working colour is colour * alpha.

#include <cstdint>

#include "core/maths/hd.h"

namespace satin {

/// The transfer tables of one stored type in the memory of one device; null where values are not decoded.
struct TransferView {
  static constexpr int bucket8 = 16;  ///< linear values per bucket
  static constexpr int buckets8 = (1 << 16) / bucket8;

  const std::uint32_t* decode = nullptr;        ///< linear value of every code
  const std::uint8_t* encode8 = nullptr;        ///< code of every 16-bit linear value, for u8
  const std::uint16_t* bucket_sums8 = nullptr;  ///< sum of the codes of each bucket, on GPUs
  const std::uint32_t* thresholds = nullptr;    ///< smallest 24-bit linear value of every code, for u16
  const std::uint16_t* first_code = nullptr;    ///< code of linear value i * 256, i = 0..65536, for u16
};

SATIN_HD std::uint32_t decode(std::uint32_t stored, const TransferView& transfer) {
  return transfer.decode == nullptr ? stored : transfer.decode[stored];
}

SATIN_HD std::uint8_t encode(std::uint32_t value, const TransferView& transfer, std::uint8_t /*type*/) {
  return transfer.encode8 == nullptr ? static_cast<std::uint8_t>(value) : transfer.encode8[value];
}

SATIN_HD std::uint16_t encode(std::uint32_t value, const TransferView& transfer, std::uint16_t /*type*/) {
  if (transfer.thresholds == nullptr) return static_cast<std::uint16_t>(value);
  std::uint32_t low = transfer.first_code[value >> 8];
  std::uint32_t high = transfer.first_code[(value >> 8) + 1];
  while (low < high) {  // finds the largest code whose threshold is not above the value
    const std::uint32_t middle = (low + high + 1) / 2;
    if (transfer.thresholds[middle] <= value) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return static_cast<std::uint16_t>(low);
}

/// Returns (a (whole - weight) + b weight) / whole, to nearest, ties up.
SATIN_HD std::uint64_t blend(std::uint64_t a, std::uint64_t b, std::uint64_t weight, std::uint64_t whole) {
  return (a * (whole - weight) + b * weight + whole / 2) / whole;
}

/// Returns the sum of one to four terms, in an order that gives the same bits for RGB and BGR.
SATIN_HD float sum_of_channels(const float* terms, int count) {
  if (count < 3) return count == 2 ? terms[0] + terms[1] : terms[0];
  const float colours = (terms[0] + terms[2]) + terms[1];
  return count == 4 ? colours + terms[3] : colours;
}

/// Returns the sum of the first `count` terms of a pixel: all of them, or all but the last.
template <int Channels>
SATIN_HD float sum_of_colours(const float* terms, int count) {
  if constexpr (Channels > 1) {
    if (count < Channels) return sum_of_channels(terms, Channels - 1);
  }
  return sum_of_channels(terms, Channels);
}

}  // namespace satin
