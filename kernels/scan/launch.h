#pragma once
// What the host side sees of the scans on a GPU. Arrays are device memory; the host side has checked types
// and sizes, and there is at least one value.
//
// Functions with a Space are called twice: without memory they only set how many bytes they need; with it
// they put work into the stream. They return the code of a cudaError_t. The others put work into the stream,
// and errors of a launch stay in cudaGetLastError(). None waits or allocates.

#include <cstddef>
#include <cstdint>

#include "scan/maths/bin.h"
#include "scan/maths/sort_key.h"
#include "scan/scan.h"

struct CUstream_st;

namespace satin::kernels {

// A predicate as an interval of keys that order as the values do, so that one test serves every type of one
// size, every comparison, and a bin, whose values lie next to each other in that order.

/// The key of -0 is that of +0; every NaN has the largest key of all.
SATIN_HD std::uint32_t float_key(std::uint32_t bits) {
  return sort_key_of_float_bits(canonical_float_bits(bits));
}
SATIN_HD std::uint64_t float_key(std::uint64_t bits) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  if ((bits & ~sign) > 0x7FF0000000000000U) return ~std::uint64_t{0};
  const std::uint64_t positive = bits == sign ? 0 : bits;
  return (positive & sign) != 0 ? ~positive : positive | sign;
}

/// The values with first <= key <= first + span, counted modulo 2^bits, so that what lies outside of an
/// interval is one too. Keys of integers are their bits: a sign moves `first` alone. Nothing if `empty`.
struct Interval {
  std::uint64_t first = 0;
  std::uint64_t span = 0;
  bool empty = false;
};

/// Whether a value with these bits is in an interval that is not empty.
template <class Word, bool Floats>
struct InInterval {
  Word first;
  Word span;

  explicit InInterval(const Interval& interval)
      : first(static_cast<Word>(interval.first)), span(static_cast<Word>(interval.span)) {}

  SATIN_HD bool operator()(Word bits) const {
    if constexpr (Floats) bits = float_key(bits);
    return static_cast<Word>(bits - first) <= span;
  }
};

using StreamHandle = CUstream_st*;

struct Space {
  std::byte* memory = nullptr;  ///< aligned to 256 bytes
  std::size_t bytes = 0;
};

// --- Reduce and scan ---

/// i32 as a 64-bit result is sign-extended.
int reduce(Space& space, ArrayView values, Operator op, MutableArrayView result, int multiprocessors,
           StreamHandle stream);
int scan_sums(Space& space, ArrayView values, MutableArrayView result, const ScanRule& rule,
              StreamHandle stream);
/// Any operator; inclusive scans of sums with an initial value too.
int scan_by_operator(Space& space, ArrayView values, MutableArrayView result, const ScanRule& rule,
                     StreamHandle stream);
void combine(ArrayView a, ArrayView b, MutableArrayView result, Operator op, StreamHandle stream);

// --- Segments ---

int segmented_scan(Space& space, ArrayView values, const Segments& segments, MutableArrayView result,
                   const ScanRule& rule, StreamHandle stream);

/// What a segmented reduction tells, in device memory, zeros before.
struct SegmentsFound {
  std::int64_t count = 0;
  std::int64_t invalid = 0;  ///< not 0: a group index decreases or is too large
};
int segmented_reduce(Space& space, ArrayView values, const Segments& segments, MutableArrayView result,
                     Operator op, SegmentsFound* found, StreamHandle stream);
void fill_with_identity(MutableArrayView result, Operator op, StreamHandle stream);

// --- Selection. `count` is device memory. ---

/// The values in the interval; of a partition those that are not come last, in reverse order.
int select_in(Space& space, ArrayView values, const Interval& interval, bool partition,
              MutableArrayView result, std::int64_t* count, StreamHandle stream);
int select_by_mask(Space& space, ArrayView values, ArrayView mask, bool partition, MutableArrayView result,
                   std::int64_t* count, StreamHandle stream);
int select_indices(Space& space, ArrayView values, const Interval& interval, MutableArrayView indices,
                   std::int64_t* count, StreamHandle stream);
/// Reverses what follows the first *count values.
void reverse_behind(MutableArrayView result, const std::int64_t* count, StreamHandle stream);

// --- Bins. `rule.inner` is device memory. Counts are u32 or u64, zeros before. ---

void histogram(ArrayView values, const BinRule& rule, MutableArrayView counts, int multiprocessors,
               StreamHandle stream);
/// The index of each value's bin: u8 or u16.
void bin_indices(ArrayView values, const BinRule& rule, MutableArrayView bins, StreamHandle stream);
/// counts[b] = how many of the ascending u8 or u16 keys are b.
void counts_of_sorted(ArrayView keys, MutableArrayView counts, StreamHandle stream);
/// 0, 1, 2 ...: u32 or u64.
void write_indices(MutableArrayView indices, StreamHandle stream);
/// result[i] = values[indices[i]].
void gather(ArrayView values, ArrayView indices, MutableArrayView result, StreamHandle stream);

// --- Sort, by bits [0, end_bit) of the keys ---

int sort_keys(Space& space, ArrayView keys, MutableArrayView sorted, int end_bit, StreamHandle stream);
int sort_pairs(Space& space, const SortArrays& arrays, int end_bit, StreamHandle stream);

/// Every NaN becomes the quiet one.
void canonical_floats(ArrayView keys, MutableArrayView result, StreamHandle stream);
/// After floats were sorted by their bits: NaN of negative sign, which came first, go to the end, and every
/// NaN becomes the quiet one. `space` holds as many floats, and `range` two numbers.
void gather_nan(MutableArrayView sorted, std::int64_t* range, void* space, StreamHandle stream);

// --- Counting sort of u8, u16 and u32 keys ---

inline constexpr std::int64_t most_counted_keys = 8192;  ///< counts of a block fit its shared memory

/// *invalid becomes 1 if there is a key from `range` on.
void check_keys(ArrayView keys, std::int64_t range, std::int64_t* invalid, int multiprocessors,
                StreamHandle stream);
/// `offsets`: range + 1 numbers of 64 bits, zeros before; range <= most_counted_keys. They become the places
/// where the keys begin in sorted order. Keys from `range` on are not counted and set *invalid.
void count_keys(ArrayView keys, std::int64_t range, std::uint64_t* offsets, std::int64_t* invalid,
                int multiprocessors, StreamHandle stream);
/// Writes each key as often as it was counted.
void write_counted(MutableArrayView result, std::int64_t range, const std::uint64_t* offsets,
                   StreamHandle stream);

}  // namespace satin::kernels
