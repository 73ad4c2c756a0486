#pragma once
// Scans and functions built on them: reduce, segmented scan and reduce, compaction, partition, histogram,
// bins, sort, percentiles. Plain functions on arrays, for every device.
//
// Arrays are in the memory of the device or in host memory; with a CUDA device, host arrays are copied there
// and back. Sizes have 64 bits and may be 0. Results must not overlap inputs or one another; if a function
// works in place, the result may be the input itself. Functions throw Error(usage) for other types or sizes
// than they name, for arrays that overlap, and for arrays that are not aligned to their elements.
//
// Order of work. Functions that return a number, and calls with host arrays, wait for the result; all others
// on a CUDA device are in stream order and do not wait. Workspace is allocated and freed in stream order.
//
// Numbers. Integers wrap around modulo 2^bits and are the same on every device. Floating-point sums and
// products depend on the order of the additions: the CPU's order depends on the size alone, not on the
// number of threads; on a CUDA device reduce() is the same in every run on one kind of GPU, scans of floats
// may differ in the last bits from run to run. For NaN see each function.
//
// For scans with your own operator, state type and maps see satin/host/scan.h and satin/cuda/scan.cuh.
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

/// A number for an array of any type. Functions throw Error(usage) if the array's type cannot hold it
/// exactly; floats round to nearest, but a finite number must not become infinite.
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

// --- Reduce and scan. Computation uses the result's type: the type of the values or, for sums and products,
// a wider one: u8 and u16 to u32 or u64, u32 to u64, f32 to f64. ---

/// result[0] = values[0] op values[1] op ...; the identity for no values. `result` has one element.
void reduce(const Device& device, ArrayView values, Operator op, MutableArrayView result, Stream stream = {});

/// Returns reduce() as a number of type T, which is the result's type. Waits.
template <Element T>
[[nodiscard]] T reduce(const Device& device, ArrayView values, Operator op, Stream stream = {});

/// Returns the arithmetic mean in double, NaN for no values. For integers it is the exact sum (modulo 2^64),
/// divided once; floats are summed in double. Waits.
[[nodiscard]] double mean(const Device& device, ArrayView values, Stream stream = {});

/// result[i] = initial op values[0] op ... op values[i]. The initial value defaults to the identity. Works in
/// place. Reads each value and writes each result once.
void inclusive_scan(const Device& device, ArrayView values, MutableArrayView result,
                    Operator op = Operator::sum, Stream stream = {});
void inclusive_scan(const Device& device, ArrayView values, MutableArrayView result, Operator op,
                    Scalar initial, Stream stream = {});

/// result[i] = initial op values[0] op ... op values[i - 1]; result[0] = initial. Works in place.
void exclusive_scan(const Device& device, ArrayView values, MutableArrayView result,
                    Operator op = Operator::sum, Stream stream = {});
void exclusive_scan(const Device& device, ArrayView values, MutableArrayView result, Operator op,
                    Scalar initial, Stream stream = {});

/// Turns an inclusive scan into the exclusive one: shifts it right and puts the identity (or `initial`, the
/// value that the scan began with) first. The last inclusive value is dropped. Not in place.
void inclusive_to_exclusive(const Device& device, ArrayView inclusive, MutableArrayView result, Operator op,
                            Stream stream = {});
void inclusive_to_exclusive(const Device& device, ArrayView inclusive, MutableArrayView result, Operator op,
                            Scalar initial, Stream stream = {});

/// Turns an exclusive scan of `values` into the inclusive one: result[i] = exclusive[i] op values[i].
/// Types of `values` and `result` as the scan's. Works in place of `exclusive`.
void exclusive_to_inclusive(const Device& device, ArrayView exclusive, ArrayView values,
                            MutableArrayView result, Operator op, Stream stream = {});

// --- Segments: an array cut into runs. ---

/// The starts of the segments of an array.
struct Segments {
  ArrayView marks;    ///< one flag or group index per value
  bool flags = true;  ///< whether `marks` are flags

  /// `heads` is u8, one per value. A segment begins at the first value and at every flag that is not 0.
  [[nodiscard]] static Segments by_flags(ArrayView heads) noexcept { return {heads, true}; }
  /// `groups` is u32, one per value, and never decreases. A segment is a run of equal group indices.
  [[nodiscard]] static Segments by_group(ArrayView groups) noexcept { return {groups, false}; }
};

/// Scans that begin anew at every segment, the exclusive one with the identity: (f1, v1) + (f2, v2) = (f1 |
/// f2, f2 ? v2 : v1 op v2). Types as reduce(). Works in place of `values`.
void segmented_inclusive_scan(const Device& device, ArrayView values, const Segments& segments,
                              MutableArrayView result, Operator op = Operator::sum, Stream stream = {});
void segmented_exclusive_scan(const Device& device, ArrayView values, const Segments& segments,
                              MutableArrayView result, Operator op = Operator::sum, Stream stream = {});

/// Computes one result per segment and returns the number of segments. By flags: result[s] belongs to segment
/// s, and `result` has as many elements as `values`. By group: result[g] belongs to group g, there are
/// result.size groups, and groups without values get the identity. A group index of result.size or more, or
/// one that decreases, throws Error(input) and leaves `result` unspecified. Types as reduce(). Waits.
std::int64_t segmented_reduce(const Device& device, ArrayView values, const Segments& segments,
                              MutableArrayView result, Operator op = Operator::sum, Stream stream = {});

// --- Compaction keeps the order. Results must have as many elements as the values, because the number that
// remains is not known before; the other elements are unspecified. ---

/// How a value compares with a number. NaN compares as not_equal alone.
enum class Comparison : std::uint8_t {
  less,           ///< value < number
  less_equal,     ///< value <= number
  greater,        ///< value > number
  greater_equal,  ///< value >= number
  equal,          ///< value == number
  not_equal       ///< value != number
};

/// Selects the values for which `value comparison number` holds.
struct Predicate {
  Comparison comparison = Comparison::not_equal;  ///< comparison of a value with `number`
  Scalar number = 0;                              ///< right-hand side of the comparison
};

/// Keeps the values that the predicate selects, or for which a u8 mask is not 0, and returns how many. Any
/// type; `result` has the type of the values. Waits.
std::int64_t compact(const Device& device, ArrayView values, const Predicate& predicate,
                     MutableArrayView result, Stream stream = {});
std::int64_t compact(const Device& device, ArrayView values, ArrayView mask, MutableArrayView result,
                     Stream stream = {});

/// Writes the indices of those values in ascending order, as u32 (for at most 2^32 values) or u64, and
/// returns how many. Waits.
std::int64_t compact_indices(const Device& device, ArrayView values, const Predicate& predicate,
                             MutableArrayView indices, Stream stream = {});
std::int64_t compact_indices(const Device& device, ArrayView mask, MutableArrayView indices,
                             Stream stream = {});

/// Writes the selected values first, then the others, both in their order (the split of a radix sort).
/// Returns how many are selected. Waits.
std::int64_t partition(const Device& device, ArrayView values, const Predicate& predicate,
                       MutableArrayView result, Stream stream = {});
std::int64_t partition(const Device& device, ArrayView values, ArrayView mask, MutableArrayView result,
                       Stream stream = {});

// --- Histogram and bins. Values beyond the ends fall into the first and the last bin, NaN into the last. ---

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
  /// Lower end of the first bin.
  [[nodiscard]] double lower() const noexcept { return lower_; }
  /// Upper end of the last bin.
  [[nodiscard]] double upper() const noexcept { return upper_; }
  [[nodiscard]] const std::vector<double>& edges() const noexcept {
    return edges_;
  }  ///< edges; empty for bins of equal width

 private:
  Bins() = default;
  double lower_ = 0;
  double upper_ = 0;
  std::int64_t count_ = 0;
  std::vector<double> edges_;
};

/// Counts the values in each bin. `counts` is u32 (for fewer than 2^32 values) or u64, with one element per
/// bin.
void histogram(const Device& device, ArrayView values, const Bins& bins, MutableArrayView counts,
               Stream stream = {});

/// Writes the values of one bin in their order and returns how many. `result` has as many elements as
/// `values`. Waits.
std::int64_t extract_bin(const Device& device, ArrayView values, const Bins& bins, std::int64_t bin,
                         MutableArrayView result, Stream stream = {});

/// Sorts the values by bin, stably (a counting sort). If `indices` (u32 or u64) is not empty, it receives the
/// index of each value in `values`. `counts` as in histogram().
void extract_bins(const Device& device, ArrayView values, const Bins& bins, MutableArrayView result,
                  MutableArrayView counts, MutableArrayView indices = {}, Stream stream = {});

// --- Sorting is ascending and stable. -0 equals +0; all NaN are equal and come last. Keys are u8, u16, u32,
// u64, i32 or f32. ---

/// Sorts by radix. A NaN becomes a quiet NaN without its payload.
void radix_sort(const Device& device, ArrayView keys, MutableArrayView result, Stream stream = {});
/// Sorts values of 1, 2, 4 or 8 bytes by their keys.
void radix_sort_pairs(const Device& device, ArrayView keys, ArrayView values, MutableArrayView sorted_keys,
                      MutableArrayView sorted_values, Stream stream = {});

/// Sorts by counting: one count per key, a scan of the counts, one scatter. Keys are u8, u16 or u32 and below
/// `range`, which is at most 65536. Another key throws Error(input) and leaves the results unspecified.
/// Waits.
void counting_sort(const Device& device, ArrayView keys, std::int64_t range, MutableArrayView result,
                   Stream stream = {});
void counting_sort_pairs(const Device& device, ArrayView keys, ArrayView values, std::int64_t range,
                         MutableArrayView sorted_keys, MutableArrayView sorted_values, Stream stream = {});

/// Returns the value at position percent / 100 * (n - 1) of the sorted values, interpolated between
/// neighbours; NaN if there is a NaN or no value. Uses counts for u8 and u16, otherwise a sort. Throws
/// Error(usage) unless `percent` is 0 to 100. Waits.
[[nodiscard]] double percentile(const Device& device, ArrayView values, double percent, Stream stream = {});
/// Returns several percentiles of one array, which is sorted once.
[[nodiscard]] std::vector<double> percentiles(const Device& device, ArrayView values,
                                              std::span<const double> percents, Stream stream = {});
/// Returns the 50th percentile.
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
