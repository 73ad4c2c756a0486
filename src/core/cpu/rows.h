#pragma once
// Rows of pixels as working values, and their scans.

#include <cstddef>
#include <cstdint>

#include "core/maths/mean.h"
#include "core/operations/pixels.h"

namespace satin::cpu {

/// How a row of stored pixels becomes working values.
struct RowReader {
  PixelRead read;
  TransferView transfer;
  FixedExponents exponents;  ///< of floats
  bool squared = false;      ///< unweighted only
};

/// Reader for the pixels of one run; `measured` is needed for floats.
[[nodiscard]] RowReader row_reader(const PixelRead& read, const Measured* measured, bool squared = false);

/// Working values of one row, interleaved; Sum is u32 or u64. Floats that are not finite count as 0.
template <class Sum>
void read_row(const RowReader& reader, const std::byte* source, std::size_t pixels, Sum* values);

/// out[x] = above[x] + the inclusive prefix sum of the row, channel by channel; null above: 0. `out` may be `above`.
template <class Sum>
void scan_row(const Sum* values, std::size_t pixels, int channels, const Sum* above, Sum* out);

extern template void read_row(const RowReader&, const std::byte*, std::size_t, std::uint32_t*);
extern template void read_row(const RowReader&, const std::byte*, std::size_t, std::uint64_t*);
extern template void scan_row(const std::uint32_t*, std::size_t, int, const std::uint32_t*, std::uint32_t*);
extern template void scan_row(const std::uint64_t*, std::size_t, int, const std::uint64_t*, std::uint64_t*);

}  // namespace satin::cpu
