#pragma once
// Launches of the scans on a GPU. Arrays are device memory; the host side has checked types and sizes, and
// there is at least one value.
//
// Functions with a Space are called twice: without memory they only set the bytes that they need, with it
// they put work into the stream. They return the code of a cudaError_t. The others put work into the stream
// and leave errors of a launch in cudaGetLastError(). None waits or allocates.

#include <cstddef>
#include <cstdint>

#include "scan/maths/bin.h"
#include "scan/maths/sort_key.h"
#include "scan/scan.h"

struct CUstream_st;

namespace satin::kernels {

// --- Intervals of keys that order as the values do. A comparison or a bin selects one interval, so one test
// serves every type of one size.

/// Returns the key of a float's bits. -0 has the key of +0; every NaN has the largest key.
SATIN_HD std::uint32_t float_key(std::uint32_t bits) {
  return sort_key_of_float_bits(canonical_float_bits(bits));
}
SATIN_HD std::uint64_t float_key(std::uint64_t bits) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  if ((bits & ~sign) > 0x7FF0000000000000U) return ~std::uint64_t{0};
  const std::uint64_t positive = bits == sign ? 0 : bits;
  return (positive & sign) != 0 ? ~positive : positive | sign;
}

/// The values with first <= key <= first + width modulo 2^bits, so that the complement of an interval is an
/// interval too. Keys of integers are their bits; for signed types `first` includes the offset of the sign.
struct Interval {
  std::uint64_t first = 0;
  std::uint64_t width = 0;
  bool empty = false;
};

/// Whether a value with these bits is in an interval that is not empty.
template <class Word, bool Floats>
struct InInterval {
  Word first;
  Word width;

  explicit InInterval(const Interval& interval)
      : first(static_cast<Word>(interval.first)), width(static_cast<Word>(interval.width)) {}

  SATIN_HD bool operator()(Word bits) const {
    if constexpr (Floats) bits = float_key(bits);
    return static_cast<Word>(bits - first) <= width;
  }
};

using StreamHandle = CUstream_st*;

struct Space {
  std::byte* memory = nullptr;  ///< aligned to 256 bytes
  std::size_t bytes = 0;
};

// --- Reduce and scan ---

/// Sign-extends i32 for a result of 64 bits.
int reduce(Space& space, ArrayView values, Operator op, MutableArrayView result, int multiprocessors,
           StreamHandle stream);
int scan_sums(Space& space, ArrayView values, MutableArrayView result, const ScanRule& rule,
              StreamHandle stream);
/// Scans by any operator, and inclusive sums with an initial value.
int scan_by_operator(Space& space, ArrayView values, MutableArrayView result, const ScanRule& rule,
                     StreamHandle stream);
void combine(ArrayView a, ArrayView b, MutableArrayView result, Operator op, StreamHandle stream);

// --- Segments ---

int segmented_scan(Space& space, ArrayView values, const Segments& segments, MutableArrayView result,
                   const ScanRule& rule, StreamHandle stream);

/// Outcome of a segmented reduction, in device memory; zero before the launch.
struct SegmentsFound {
  std::int64_t count = 0;
  std::int64_t invalid = 0;  ///< not 0: a group index decreases or is too large
};
int segmented_reduce(Space& space, ArrayView values, const Segments& segments, MutableArrayView result,
                     Operator op, SegmentsFound* found, StreamHandle stream);
void fill_with_identity(MutableArrayView result, Operator op, StreamHandle stream);

// --- Selection. `count` is device memory. ---

/// Selects the values in the interval. A partition puts the other values last, in reverse order.
int select_in(Space& space, ArrayView values, const Interval& interval, bool partition,
              MutableArrayView result, std::int64_t* count, StreamHandle stream);
int select_by_mask(Space& space, ArrayView values, ArrayView mask, bool partition, MutableArrayView result,
                   std::int64_t* count, StreamHandle stream);
int select_indices(Space& space, ArrayView values, const Interval& interval, MutableArrayView indices,
                   std::int64_t* count, StreamHandle stream);
void reverse_behind(MutableArrayView result, const std::int64_t* count, StreamHandle stream);

// --- Bins. `rule.inner` is device memory. Counts are u32 or u64, and zero before. ---

void histogram(ArrayView values, const BinRule& rule, MutableArrayView counts, int multiprocessors,
               StreamHandle stream);
/// Writes the bin of each value as u8 or u16.
void bin_indices(ArrayView values, const BinRule& rule, MutableArrayView bins, StreamHandle stream);
/// Sets counts[b] to the number of keys equal to b. Keys are u8 or u16 and ascend.
void counts_of_sorted(ArrayView keys, MutableArrayView counts, StreamHandle stream);
void write_indices(MutableArrayView indices, StreamHandle stream);
void gather(ArrayView values, ArrayView indices, MutableArrayView result, StreamHandle stream);

// --- Sort, by bits [0, end_bit) of the keys ---

int sort_keys(Space& space, ArrayView keys, MutableArrayView sorted, int end_bit, StreamHandle stream);
int sort_pairs(Space& space, const SortArrays& arrays, int end_bit, StreamHandle stream);

/// Replaces every NaN by the quiet one.
void canonical_floats(ArrayView keys, MutableArrayView result, StreamHandle stream);

// --- Counting sort of u8, u16 and u32 keys ---

/// Sets *invalid to 1 if a key is `range` or larger.
void check_keys(ArrayView keys, std::int64_t range, std::int64_t* invalid, int multiprocessors,
                StreamHandle stream);

}  // namespace satin::kernels
