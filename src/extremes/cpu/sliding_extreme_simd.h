#pragma once
// Loops over minima and maxima that have a version for every SIMD target.

#include <cstddef>
#include <cstdint>

#include "extremes/maths/extreme.h"

namespace satin::cpu {

/// Where the windows begin that together make a larger one.
struct JoinedWindows {
  int count = 1;  ///< 1 to 4
  std::size_t offset[4] = {};
};

/// out[i] = extreme over from[i + offset]. `out` may be `from`, if the first offset is 0.
void join_windows(Extreme extreme, const std::uint8_t* from, const JoinedWindows& windows, std::size_t count,
                  std::uint8_t* out);
void join_windows(Extreme extreme, const std::uint16_t* from, const JoinedWindows& windows, std::size_t count,
                  std::uint16_t* out);
void join_windows(Extreme extreme, const FloatKey* from, const JoinedWindows& windows, std::size_t count,
                  FloatKey* out);

/// into[i] = extreme of into[i] and other[i]
void join_lines(Extreme extreme, const std::uint8_t* other, std::size_t count, std::uint8_t* into);
void join_lines(Extreme extreme, const std::uint16_t* other, std::size_t count, std::uint16_t* into);
void join_lines(Extreme extreme, const FloatKey* other, std::size_t count, FloatKey* into);

/// prefix[i] = extreme of prefix[i] and line[i]; out[i] = extreme of that and suffix[i]
void advance_lines(Extreme extreme, const std::uint8_t* line, const std::uint8_t* suffix, std::size_t count,
                   std::uint8_t* prefix, std::uint8_t* out);
void advance_lines(Extreme extreme, const std::uint16_t* line, const std::uint16_t* suffix, std::size_t count,
                   std::uint16_t* prefix, std::uint16_t* out);
void advance_lines(Extreme extreme, const FloatKey* line, const FloatKey* suffix, std::size_t count,
                   FloatKey* prefix, FloatKey* out);

}  // namespace satin::cpu
