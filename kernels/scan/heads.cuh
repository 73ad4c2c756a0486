#pragma once
// Where segments begin, by flags or by group indices.

#include <cstdint>

#include "satin/scan.h"

namespace satin::kernels {

struct Heads {
  const std::uint8_t* flags;    ///< or null
  const std::uint32_t* groups;  ///< if there are no flags

  __device__ bool operator()(std::int64_t i) const {
    if (i == 0) return true;
    return flags != nullptr ? flags[i] != 0 : groups[i] != groups[i - 1];
  }
};

inline Heads heads_of(const Segments& segments) {
  if (segments.flags) return {segments.marks.values<std::uint8_t>(), nullptr};
  return {nullptr, segments.marks.values<std::uint32_t>()};
}

}  // namespace satin::kernels
