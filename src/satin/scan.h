#pragma once
// Scans, and what is built on them: reduce, segmented scan and reduce, compaction, partition, histogram,
// bins, sort, percentiles. Plain functions on arrays, for every device.
//
// Arrays are in the memory of the device or in host memory; with a CUDA device, host arrays are copied there
// and back. Sizes have 64 bits; 0 is fine. Results must not overlap inputs or one another; where a function
// works in place, the result may be the input itself. Arrays of other types or sizes than a function names,
// that overlap, or that are not aligned to their elements are Error(usage).
//
// Order of work. Functions that return a number, and calls with host arrays, wait for the result; all others
// on a CUDA device are in stream order and do not wait. Workspace is allocated and freed in stream order.
//
// Numbers. Integers wrap around modulo 2^bits and are the same on every device. Floating-point sums and
// products depend on the order of the additions: the CPU's order depends on the size alone, not on the number
// of threads; on a CUDA device reduce() is the same in every run on one kind of GPU, scans of floats may
// differ in the last bits from run to run. NaN: see each function.
//
// A caller's own operator, state type and maps: satin/host/scan.h and satin/cuda/scan.cuh.
//
// Blelloch, Prefix sums and their applications, 1990; Sengupta, Harris, Zhang, Owens, Scan primitives for GPU
// computing, 2007; Merrill and Garland, Single-pass parallel prefix scan with decoupled look-back, 2016.

#include <concepts>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "satin/array.h"
#include "satin/device.h"

namespace [[gnu::visibility("default")]] satin {

/// An associative operator with its identity. For min and max a NaN counts as the identity, and -0 is below
/// +0.
enum class Operator : std::uint8_t {
  sum,      ///< identity 0
  product,  ///< identity 1
  min,      ///< identity: the type's largest value, for floats infinity
  max       ///< identity: the type's smallest value, for floats -infinity
};

/// A number for an array of any type. A function that is given one which its array's type cannot hold exactly
/// (floats: nearest; no finite number becomes infinite) throws Error(usage).
class Scalar {
 public:
  /// A signed integer.
  // NOLINTNEXTLINE(google-explicit-constructor): numbers are scalars
  Scalar(std::signed_integral auto value) noexcept : value_(static_cast<std::int64_t>(value)) {}
  /// An unsigned integer.
  // NOLINTNEXTLINE(google-explicit-constructor): numbers are scalars
  Scalar(std::unsigned_integral auto value) noexcept : value_(static_cast<std::uint64_t>(value)) {}
  /// A float or a double.
  // NOLINTNEXTLINE(google-explicit-constructor): numbers are scalars
  Scalar(std::floating_point auto value) noexcept : value_(static_cast<double>(value)) {}

  /// The number, exactly.
  [[nodiscard]] const std::variant<std::int64_t, std::uint64_t, double>& value() const noexcept {
    return value_;
  }

 private:
  std::variant<std::int64_t, std::uint64_t, double> value_;
};

// --- Reduce and scan. The result's type is the type of the sums: the type of the values, or, for sums and
// products, a wider one: u8 and u16 to u32 or u64, u32 to u64, f32 to f64. ---

/// result[0] = values[0] op values[1] op ...; the identity for no values. `result` has one element.
void reduce(const Device& device, ArrayView values, Operator op, MutableArrayView result, Stream stream = {});

/// reduce() as a number of type T, which is the result's type. Waits.
template <Element T>
[[nodiscard]] T reduce(const Device& device, ArrayView values, Operator op, Stream stream = {});

/// The arithmetic mean in double: of integers the exact sum (modulo 2^64) divided once, of floats sums in
/// double. NaN for no values. Waits.
[[nodiscard]] double mean(const Device& device, ArrayView values, Stream stream = {});

/// result[i] = initial op values[0] op ... op values[i]. The initial value is the identity unless it is
/// given. Works in place. Moves each value and each result once.
void inclusive_scan(const Device& device, ArrayView values, MutableArrayView result,
                    Operator op = Operator::sum, Stream stream = {});
void inclusive_scan(const Device& device, ArrayView values, MutableArrayView result, Operator op,
                    Scalar initial, Stream stream = {});

/// result[i] = initial op values[0] op ... op values[i - 1]; result[0] = initial. Works in place.
void exclusive_scan(const Device& device, ArrayView values, MutableArrayView result,
                    Operator op = Operator::sum, Stream stream = {});
void exclusive_scan(const Device& device, ArrayView values, MutableArrayView result, Operator op,
                    Scalar initial, Stream stream = {});

/// Turns an inclusive scan into the exclusive one: shifts to the right, the identity (or `initial`, the value
/// that the scan began with) comes first. The last inclusive value is lost. Not in place.
void inclusive_to_exclusive(const Device& device, ArrayView inclusive, MutableArrayView result, Operator op,
                            Stream stream = {});
void inclusive_to_exclusive(const Device& device, ArrayView inclusive, MutableArrayView result, Operator op,
                            Scalar initial, Stream stream = {});

/// Turns an exclusive scan of `values` into the inclusive one: result[i] = exclusive[i] op values[i]. Types
/// of `values` and `result` as the scan's. Works in place of `exclusive`.
void exclusive_to_inclusive(const Device& device, ArrayView exclusive, ArrayView values,
                            MutableArrayView result, Operator op, Stream stream = {});

// --- Segments: an array cut into runs. ---

/// Where the segments of an array begin.
struct Segments {
  ArrayView marks;    ///< flags or group indices, one a value
  bool flags = true;  ///< which of the two

  /// u8, one per value: a segment begins at every flag that is not 0, and at the first value whatever its
  /// flag.
  [[nodiscard]] static Segments by_flags(ArrayView heads) noexcept { return {heads, true}; }
  /// u32, one per value, never decreasing: a segment is a run of equal group indices.
  [[nodiscard]] static Segments by_group(ArrayView groups) noexcept { return {groups, false}; }
};

/// Scans that begin anew at every segment, the exclusive one with the identity: (f1, v1) + (f2, v2) = (f1 |
/// f2, f2 ? v2 : v1 op v2). Types as reduce(). Works in place of `values`.
void segmented_inclusive_scan(const Device& device, ArrayView values, const Segments& segments,
                              MutableArrayView result, Operator op = Operator::sum, Stream stream = {});
void segmented_exclusive_scan(const Device& device, ArrayView values, const Segments& segments,
                              MutableArrayView result, Operator op = Operator::sum, Stream stream = {});

/// One result a segment; returns how many there are. By flags: result[s] belongs to segment s, and `result`
/// has as many elements as `values`. By group: result[g] belongs to group g, groups that do not occur get the
/// identity, and there are result.size of them; a group index from there on, or one that decreases, is
/// Error(input), and the contents of `result` are then unspecified. Types as reduce(). Waits.
std::int64_t segmented_reduce(const Device& device, ArrayView values, const Segments& segments,
                              MutableArrayView result, Operator op = Operator::sum, Stream stream = {});

// --- Compaction: keeps the order. Results have as many elements as the values, as the number that remains is
// not known before; what lies behind it is unspecified. ---

/// How a value compares with a number. NaN compares as not_equal alone.
enum class Comparison : std::uint8_t {
  less,           ///< value < number
  less_equal,     ///< value <= number
  greater,        ///< value > number
  greater_equal,  ///< value >= number
  equal,          ///< value == number
  not_equal       ///< value != number
};

/// Values for which `value comparison number` holds.
struct Predicate {
  Comparison comparison = Comparison::not_equal;  ///< of a value
  Scalar number = 0;                              ///< with this
};

/// Values that the predicate, or a mask of u8 that is not 0, selects, in their order. Returns how many.
/// Values of every type; `result` has theirs. Waits.
std::int64_t compact(const Device& device, ArrayView values, const Predicate& predicate,
                     MutableArrayView result, Stream stream = {});
std::int64_t compact(const Device& device, ArrayView values, ArrayView mask, MutableArrayView result,
                     Stream stream = {});

/// The indices of those values, ascending: u32 (for at most 2^32 values) or u64. Returns how many. Waits.
std::int64_t compact_indices(const Device& device, ArrayView values, const Predicate& predicate,
                             MutableArrayView indices, Stream stream = {});
std::int64_t compact_indices(const Device& device, ArrayView mask, MutableArrayView indices,
                             Stream stream = {});

/// Selected values first, then the others, both in their order (the split of a radix sort). Returns how many
/// are selected. Waits.
std::int64_t partition(const Device& device, ArrayView values, const Predicate& predicate,
                       MutableArrayView result, Stream stream = {});
std::int64_t partition(const Device& device, ArrayView values, ArrayView mask, MutableArrayView result,
                       Stream stream = {});

// --- Histogram and bins. Values beyond the ends belong to the first and to the last bin; NaN to the last.
// ---

/// `count` bins over [lower, upper): of equal width, or between ascending edges. A value v of an even bin has
/// the index floor((v - lower) * (count / (upper - lower))), computed in double; between edges it is the
/// number of the inner edges that are at most v. Throws Error(usage) for no bins or more than 65536, for
/// edges or bounds that do not ascend, and where a bound, upper - lower or the quotient is not finite.
class Bins {
 public:
  /// Bins of equal width.
  [[nodiscard]] static Bins even(double lower, double upper, std::int64_t count);
  [[nodiscard]] static Bins between(std::span<const double> edges);  ///< one bin fewer than edges

  /// Number of bins.
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  /// Where the first bin begins.
  [[nodiscard]] double lower() const noexcept { return lower_; }
  /// Where the last bin ends.
  [[nodiscard]] double upper() const noexcept { return upper_; }
  [[nodiscard]] const std::vector<double>& edges() const noexcept { return edges_; }  ///< none if even

 private:
  Bins() = default;
  double lower_ = 0;
  double upper_ = 0;
  std::int64_t count_ = 0;
  std::vector<double> edges_;
};

/// counts[b] = how many values are in bin b. `counts` is u32 (for fewer than 2^32 values) or u64 with one
/// element a bin.
void histogram(const Device& device, ArrayView values, const Bins& bins, MutableArrayView counts,
               Stream stream = {});

/// The values of one bin in their order; returns how many. `result` has as many elements as `values`. Waits.
std::int64_t extract_bin(const Device& device, ArrayView values, const Bins& bins, std::int64_t bin,
                         MutableArrayView result, Stream stream = {});

/// The values of all bins, bin after bin, each in their order: a stable counting sort by bin. Gives the index
/// of each value in `values` too if `indices` (u32 or u64) is not empty. `counts` as histogram().
void extract_bins(const Device& device, ArrayView values, const Bins& bins, MutableArrayView result,
                  MutableArrayView counts, MutableArrayView indices = {}, Stream stream = {});

// --- Sort: ascending and stable. -0 is equal to +0; all NaN are equal and come last. u8, u16, u32, u64, i32
// and f32. ---

/// Radix sort. A NaN comes out as a quiet NaN without its payload.
void radix_sort(const Device& device, ArrayView keys, MutableArrayView result, Stream stream = {});
/// Values (of 1, 2, 4 or 8 bytes) go with their keys.
void radix_sort_pairs(const Device& device, ArrayView keys, ArrayView values, MutableArrayView sorted_keys,
                      MutableArrayView sorted_values, Stream stream = {});

/// Counting sort: one count a key, a scan of the counts, one scatter. u8, u16 or u32 keys below `range`,
/// which is at most 65536; another key is Error(input), and the contents of the results are then unspecified.
/// Waits.
void counting_sort(const Device& device, ArrayView keys, std::int64_t range, MutableArrayView result,
                   Stream stream = {});
void counting_sort_pairs(const Device& device, ArrayView keys, ArrayView values, std::int64_t range,
                         MutableArrayView sorted_keys, MutableArrayView sorted_values, Stream stream = {});

/// The value at position percent / 100 * (n - 1) of the sorted ones, interpolated between neighbours. By
/// counts for u8 and u16, otherwise by sorting. NaN if there is a NaN or no value. Throws Error(usage) unless
/// percent is in 0 ... 100. Waits.
[[nodiscard]] double percentile(const Device& device, ArrayView values, double percent, Stream stream = {});
/// Several percentiles of one array, sorted once.
[[nodiscard]] std::vector<double> percentiles(const Device& device, ArrayView values,
                                              std::span<const double> percents, Stream stream = {});
/// The percentile of 50.
[[nodiscard]] inline double median(const Device& device, ArrayView values, Stream stream = {}) {
  return percentile(device, values, 50, stream);
}

template <Element T>
T reduce(const Device& device, ArrayView values, Operator op, Stream stream) {
  T result{};
  reduce(device, values, op, MutableArrayView(&result, 1), stream);
  return result;
}

}  // namespace satin
