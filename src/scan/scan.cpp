// The public functions of satin/scan.h: reduce and scan, selection, bins, sorts, percentiles. Each names its
// arrays (Arrays refuses what the backend could not take), stages them in the backend's memory (Stage) and
// calls the backend's ScanOperations.

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "core/with_type.h"
#include "satin/error.h"
#include "scan/call.h"
#include "scan/maths/bin.h"
#include "scan/maths/scan_operator.h"
#include "scan/scan.h"

namespace satin {
namespace {

/// Drops an initial value that is NaN for minima and maxima, where NaN counts as the identity.
std::optional<Scalar> without_nan(const Scalar& initial, Operator op) {
  const auto* number = std::get_if<double>(&initial.value());
  const bool extreme = op == Operator::min || op == Operator::max;
  if (extreme && number != nullptr && std::isnan(*number)) return std::nullopt;
  return initial;
}

void scan(const char* function, const Device& device, ArrayView values, MutableArrayView result,
          const ScanRule& rule, Stream stream) {
  Arrays arrays(device, function);
  arrays.input("values", values);
  arrays.result("result", result, "values");
  arrays.require_sum_of("values", rule.op);
  arrays.require_size_of("values");
  if (rule.initial) require_fit(arrays, *rule.initial, result.type);
  if (values.size == 0) return;
  Stage stage(device, stream);
  const ArrayView from = stage.input(values);
  stage.operations().scan(stage.backend(), from, stage.result(result), rule, stream);
  stage.finish();
}

void to_exclusive(const Device& device, ArrayView inclusive, MutableArrayView result, const ScanRule& rule,
                  Stream stream) {
  Arrays arrays(device, "inclusive_to_exclusive");
  arrays.input("inclusive", inclusive);
  arrays.result("result", result);
  arrays.require_type_of("inclusive");
  arrays.require_size_of("inclusive");
  if (rule.initial) require_fit(arrays, *rule.initial, result.type);
  if (inclusive.size == 0) return;
  Stage stage(device, stream);
  const ArrayView from = stage.input(inclusive);
  const MutableArrayView to = stage.result(result);
  // The exclusive scan of the first value is the initial value; the others are the inclusive ones, shifted.
  stage.operations().scan(stage.backend(), from.part(0, 1), to.part(0, 1), rule, stream);
  if (const std::int64_t rest = from.size - 1; rest > 0) {
    // min(x, x) copies. The type is an integer, so that the bits of every float stay as they are.
    ArrayView bits = from.part(0, rest);
    MutableArrayView shifted = to.part(1, rest);
    const Type word = size_of(from.type) == 8 ? Type::u64 : size_of(from.type) == 4 ? Type::u32 : from.type;
    bits.type = word;
    shifted.type = word;
    stage.operations().combine(stage.backend(), bits, bits, shifted, Operator::min, stream);
  }
  stage.finish();
}

void input_marks(Arrays& arrays, const Segments& segments) {
  arrays.input("marks", segments.marks);
  arrays.require_type({segments.flags ? Type::u8 : Type::u32});
  arrays.require_size_of("values");
}

void scan(const char* function, const Device& device, ArrayView values, const Segments& segments,
          MutableArrayView result, const ScanRule& rule, Stream stream) {
  Arrays arrays(device, function);
  arrays.input("values", values);
  input_marks(arrays, segments);
  arrays.result("result", result, "values");
  arrays.require_sum_of("values", rule.op);
  arrays.require_size_of("values");
  if (values.size == 0) return;
  Stage stage(device, stream);
  const ArrayView from = stage.input(values);
  const Segments staged{stage.input(segments.marks), segments.flags};
  stage.operations().segmented_scan(stage.backend(), from, staged, stage.result(result), rule, stream);
  stage.finish();
}

}  // namespace

void reduce(const Device& device, ArrayView values, Operator op, MutableArrayView result, Stream stream) {
  Arrays arrays(device, "reduce");
  arrays.input("values", values);
  arrays.result("result", result);
  arrays.require_sum_of("values", op);
  arrays.require_size(1, "the one value of all");
  Stage stage(device, stream);
  if (values.size == 0) return stage.fill_identity(result, op);
  const ArrayView from = stage.input(values);
  stage.operations().reduce(stage.backend(), from, op, stage.result(result), stream);
  stage.finish();
}

double mean(const Device& device, ArrayView values, Stream stream) {
  Arrays arrays(device, "mean");
  arrays.input("values", values);
  if (values.size == 0) return std::numeric_limits<double>::quiet_NaN();
  Stage stage(device, stream);
  return stage.operations().mean(stage.backend(), stage.input(values), stream);
}

void inclusive_scan(const Device& device, ArrayView values, MutableArrayView result, Operator op,
                    Stream stream) {
  scan("inclusive_scan", device, values, result, {op, false, std::nullopt}, stream);
}
void inclusive_scan(const Device& device, ArrayView values, MutableArrayView result, Operator op,
                    Scalar initial, Stream stream) {
  scan("inclusive_scan", device, values, result, {op, false, without_nan(initial, op)}, stream);
}

void exclusive_scan(const Device& device, ArrayView values, MutableArrayView result, Operator op,
                    Stream stream) {
  scan("exclusive_scan", device, values, result, {op, true, std::nullopt}, stream);
}
void exclusive_scan(const Device& device, ArrayView values, MutableArrayView result, Operator op,
                    Scalar initial, Stream stream) {
  scan("exclusive_scan", device, values, result, {op, true, without_nan(initial, op)}, stream);
}

void inclusive_to_exclusive(const Device& device, ArrayView inclusive, MutableArrayView result, Operator op,
                            Stream stream) {
  to_exclusive(device, inclusive, result, {op, true, std::nullopt}, stream);
}
void inclusive_to_exclusive(const Device& device, ArrayView inclusive, MutableArrayView result, Operator op,
                            Scalar initial, Stream stream) {
  to_exclusive(device, inclusive, result, {op, true, without_nan(initial, op)}, stream);
}

void exclusive_to_inclusive(const Device& device, ArrayView exclusive, ArrayView values,
                            MutableArrayView result, Operator op, Stream stream) {
  Arrays arrays(device, "exclusive_to_inclusive");
  arrays.input("values", values);
  arrays.input("exclusive", exclusive);
  arrays.require_size_of("values");
  arrays.require_sum_of("values", op);
  arrays.result("result", result, "exclusive");
  arrays.require_type_of("exclusive");
  arrays.require_size_of("exclusive");
  if (values.size == 0) return;
  Stage stage(device, stream);
  const ArrayView before = stage.input(exclusive);
  const ArrayView own = stage.input(values);
  stage.operations().combine(stage.backend(), before, own, stage.result(result), op, stream);
  stage.finish();
}

void segmented_inclusive_scan(const Device& device, ArrayView values, const Segments& segments,
                              MutableArrayView result, Operator op, Stream stream) {
  scan("segmented_inclusive_scan", device, values, segments, result, {op, false, std::nullopt}, stream);
}

void segmented_exclusive_scan(const Device& device, ArrayView values, const Segments& segments,
                              MutableArrayView result, Operator op, Stream stream) {
  scan("segmented_exclusive_scan", device, values, segments, result, {op, true, std::nullopt}, stream);
}

std::int64_t segmented_reduce(const Device& device, ArrayView values, const Segments& segments,
                              MutableArrayView result, Operator op, Stream stream) {
  Arrays arrays(device, "segmented_reduce");
  arrays.input("values", values);
  input_marks(arrays, segments);
  arrays.result("result", result);
  arrays.require_sum_of("values", op);
  if (segments.flags) arrays.require_size_of("values");
  Stage stage(device, stream);
  if (values.size == 0) {
    stage.fill_identity(result, op);
    return result.size;
  }
  const std::string in_order = "group indices must not decrease and must be below the number of results, " +
                               std::to_string(result.size);
  if (result.size == 0) throw Error(ErrorKind::input, "segmented_reduce(): " + in_order + ".");
  const ArrayView from = stage.input(values);
  const Segments staged{stage.input(segments.marks), segments.flags};
  const std::int64_t count =
      stage.operations().segmented_reduce(stage.backend(), from, staged, stage.result(result), op, stream);
  if (count < 0) throw Error(ErrorKind::input, "segmented_reduce(): " + in_order + ".");
  const std::int64_t results = segments.flags ? count : result.size;
  stage.finish(results);
  return results;
}

// --- Selection ---

namespace {

/// Stages the arrays, which have been checked, and selects. Returns the number of selected values.
std::int64_t select(const Device& device, Selection selection, MutableArrayView result, Stream stream) {
  if (selection.values.size == 0) return 0;
  Stage stage(device, stream);
  const bool is_mask =
      std::holds_alternative<ArrayView>(selection.by) && selection.keep == Selection::Keep::indices;
  selection.values = stage.input(selection.values);
  if (auto* mask = std::get_if<ArrayView>(&selection.by))
    *mask = is_mask ? selection.values : stage.input(*mask);
  const std::int64_t count =
      stage.operations().select(stage.backend(), selection, stage.result(result), stream);
  stage.finish(selection.keep == Selection::Keep::partition ? result.size : count);
  return count;
}

void input_mask(Arrays& arrays, ArrayView mask) {
  arrays.input("mask", mask);
  arrays.require_type({Type::u8});
}

void result_of_values(Arrays& arrays, MutableArrayView result) {
  arrays.result("result", result);
  arrays.require_type_of("values");
  arrays.require_size_of("values");
}

void result_indices(Arrays& arrays, MutableArrayView indices, const char* values) {
  arrays.result("indices", indices);
  arrays.require_type({Type::u32, Type::u64});
  arrays.require_size_of(values);
  if (indices.type == Type::u32 && indices.size > (std::int64_t{1} << 32))
    arrays.refuse("indices of more than 2^32 values do not fit u32: use u64");
}

std::int64_t select_values(const char* function, const Device& device, ArrayView values,
                           const Predicate& predicate, Selection::Keep keep, MutableArrayView result,
                           Stream stream) {
  Arrays arrays(device, function);
  arrays.input("values", values);
  require_fit(arrays, predicate.number, values.type);
  result_of_values(arrays, result);
  return select(device, {values, predicate, keep}, result, stream);
}

std::int64_t select_values(const char* function, const Device& device, ArrayView values, ArrayView mask,
                           Selection::Keep keep, MutableArrayView result, Stream stream) {
  Arrays arrays(device, function);
  arrays.input("values", values);
  input_mask(arrays, mask);
  arrays.require_size_of("values");
  result_of_values(arrays, result);
  return select(device, {values, mask, keep}, result, stream);
}

}  // namespace

std::int64_t compact(const Device& device, ArrayView values, const Predicate& predicate,
                     MutableArrayView result, Stream stream) {
  return select_values("compact", device, values, predicate, Selection::Keep::values, result, stream);
}
std::int64_t compact(const Device& device, ArrayView values, ArrayView mask, MutableArrayView result,
                     Stream stream) {
  return select_values("compact", device, values, mask, Selection::Keep::values, result, stream);
}

std::int64_t partition(const Device& device, ArrayView values, const Predicate& predicate,
                       MutableArrayView result, Stream stream) {
  return select_values("partition", device, values, predicate, Selection::Keep::partition, result, stream);
}
std::int64_t partition(const Device& device, ArrayView values, ArrayView mask, MutableArrayView result,
                       Stream stream) {
  return select_values("partition", device, values, mask, Selection::Keep::partition, result, stream);
}

std::int64_t compact_indices(const Device& device, ArrayView values, const Predicate& predicate,
                             MutableArrayView indices, Stream stream) {
  Arrays arrays(device, "compact_indices");
  arrays.input("values", values);
  require_fit(arrays, predicate.number, values.type);
  result_indices(arrays, indices, "values");
  return select(device, {values, predicate, Selection::Keep::indices}, indices, stream);
}
std::int64_t compact_indices(const Device& device, ArrayView mask, MutableArrayView indices, Stream stream) {
  Arrays arrays(device, "compact_indices");
  input_mask(arrays, mask);
  result_indices(arrays, indices, "mask");
  return select(device, {mask, mask, Selection::Keep::indices}, indices, stream);
}

// --- Bins ---

namespace {

constexpr std::int64_t most_bins = 65536;

[[noreturn]] void refuse_bins(const std::string& why) { throw Error(ErrorKind::usage, "Bins: " + why + "."); }

void check_count(std::int64_t count) {
  if (count < 1 || count > most_bins)
    refuse_bins("there are 1 to " + std::to_string(most_bins) + " bins, not " + std::to_string(count));
}

void check_bounds(double lower, double upper) {
  if (!std::isfinite(lower) || !std::isfinite(upper)) refuse_bins("the bounds must be finite numbers");
  if (!(lower < upper))
    refuse_bins("the lower bound, " + std::to_string(lower) + ", must be below the upper one, " +
                std::to_string(upper));
}

void result_counts(Arrays& arrays, MutableArrayView counts, ArrayView values, const Bins& bins) {
  arrays.result("counts", counts);
  arrays.require_type({Type::u32, Type::u64});
  arrays.require_size(bins.count(), "one a bin");
  if (counts.type == Type::u32 && values.size >= (std::int64_t{1} << 32))
    arrays.refuse("counts of 2^32 values or more do not fit u32: use u64");
}

}  // namespace

Bins Bins::even(double lower, double upper, std::int64_t count) {
  check_count(count);
  check_bounds(lower, upper);
  if (!std::isfinite(upper - lower) || !std::isfinite(even_bin_scale(lower, upper, count)))
    refuse_bins("the bounds are too far apart, or too close, for numbers in double precision");
  Bins bins;
  bins.lower_ = lower;
  bins.upper_ = upper;
  bins.count_ = count;
  return bins;
}

Bins Bins::between(std::span<const double> edges) {
  check_count(static_cast<std::int64_t>(edges.size()) - 1);
  for (std::size_t i = 1; i < edges.size(); ++i)
    if (!(edges[i - 1] < edges[i]))
      refuse_bins("edges must ascend; number " + std::to_string(i) + " is " + std::to_string(edges[i]) +
                  ", after " + std::to_string(edges[i - 1]));
  check_bounds(edges.front(), edges.back());
  Bins bins;
  bins.lower_ = edges.front();
  bins.upper_ = edges.back();
  bins.count_ = static_cast<std::int64_t>(edges.size()) - 1;
  bins.edges_.assign(edges.begin(), edges.end());
  return bins;
}

void histogram(const Device& device, ArrayView values, const Bins& bins, MutableArrayView counts,
               Stream stream) {
  Arrays arrays(device, "histogram");
  arrays.input("values", values);
  result_counts(arrays, counts, values, bins);
  Stage stage(device, stream);
  if (values.size == 0) return stage.fill_identity(counts, Operator::sum);
  const ArrayView from = stage.input(values);
  stage.operations().histogram(stage.backend(), from, bins, stage.result(counts), stream);
  stage.finish();
}

std::int64_t extract_bin(const Device& device, ArrayView values, const Bins& bins, std::int64_t bin,
                         MutableArrayView result, Stream stream) {
  Arrays arrays(device, "extract_bin");
  arrays.input("values", values);
  result_of_values(arrays, result);
  if (bin < 0 || bin >= bins.count())
    arrays.refuse("there is no bin " + std::to_string(bin) + "; there are 0 to " +
                  std::to_string(bins.count() - 1));
  return select(device, {values, InBin{&bins, bin}, Selection::Keep::values}, result, stream);
}

void extract_bins(const Device& device, ArrayView values, const Bins& bins, MutableArrayView result,
                  MutableArrayView counts, MutableArrayView indices, Stream stream) {
  Arrays arrays(device, "extract_bins");
  arrays.input("values", values);
  result_of_values(arrays, result);
  result_counts(arrays, counts, values, bins);
  if (indices.size != 0) result_indices(arrays, indices, "values");
  Stage stage(device, stream);
  if (values.size == 0) return stage.fill_identity(counts, Operator::sum);
  const ArrayView from = stage.input(values);
  const MutableArrayView to = stage.result(result);
  const MutableArrayView number = stage.result(counts);
  stage.operations().extract_bins(stage.backend(), from, bins, to, number, stage.result(indices), stream);
  stage.finish();
}

// --- Sorts ---

namespace {

constexpr std::int64_t largest_range = 65536;

/// Names the arrays of a sort, with values if it sorts pairs.
void check(Arrays& arrays, const SortArrays& sort, bool pairs, std::initializer_list<Type> key_types) {
  arrays.input("keys", sort.keys);
  arrays.require_type(key_types);
  if (pairs) {
    arrays.input("values", sort.values);
    arrays.require_size_of("keys");
  }
  arrays.result(pairs ? "sorted_keys" : "result", sort.sorted_keys);
  arrays.require_type_of("keys");
  arrays.require_size_of("keys");
  if (!pairs) return;
  arrays.result("sorted_values", sort.sorted_values);
  arrays.require_type_of("values");
  arrays.require_size_of("keys");
}

SortArrays staged(Stage& stage, const SortArrays& sort) {
  const ArrayView keys = stage.input(sort.keys);
  const ArrayView values = stage.input(sort.values);
  const MutableArrayView sorted_keys = stage.result(sort.sorted_keys);
  return {keys, values, sorted_keys, stage.result(sort.sorted_values)};
}

void radix_sort(const char* function, const Device& device, const SortArrays& sort, bool pairs,
                Stream stream) {
  Arrays arrays(device, function);
  check(arrays, sort, pairs, {Type::u8, Type::u16, Type::u32, Type::u64, Type::i32, Type::f32});
  if (sort.keys.size == 0) return;
  Stage stage(device, stream);
  stage.operations().radix_sort(stage.backend(), staged(stage, sort), stream);
  stage.finish();
}

void counting_sort(const char* function, const Device& device, const SortArrays& sort, bool pairs,
                   std::int64_t range, Stream stream) {
  Arrays arrays(device, function);
  check(arrays, sort, pairs, {Type::u8, Type::u16, Type::u32});
  if (range < 1 || range > largest_range)
    arrays.refuse("the range is 1 to " + std::to_string(largest_range) + ", not " + std::to_string(range));
  if (sort.keys.size == 0) return;
  Stage stage(device, stream);
  if (!stage.operations().counting_sort(stage.backend(), staged(stage, sort), range, stream))
    throw Error(ErrorKind::input, std::string(function) + "(): there is a key that is not below the range, " +
                                      std::to_string(range) + ".");
  stage.finish();
}

}  // namespace

void radix_sort(const Device& device, ArrayView keys, MutableArrayView result, Stream stream) {
  radix_sort("radix_sort", device, {keys, {}, result, {}}, false, stream);
}
void radix_sort_pairs(const Device& device, ArrayView keys, ArrayView values, MutableArrayView sorted_keys,
                      MutableArrayView sorted_values, Stream stream) {
  radix_sort("radix_sort_pairs", device, {keys, values, sorted_keys, sorted_values}, true, stream);
}

void counting_sort(const Device& device, ArrayView keys, std::int64_t range, MutableArrayView result,
                   Stream stream) {
  counting_sort("counting_sort", device, {keys, {}, result, {}}, false, range, stream);
}
void counting_sort_pairs(const Device& device, ArrayView keys, ArrayView values, std::int64_t range,
                         MutableArrayView sorted_keys, MutableArrayView sorted_values, Stream stream) {
  counting_sort("counting_sort_pairs", device, {keys, values, sorted_keys, sorted_values}, true, range,
                stream);
}

// --- Percentiles ---

namespace {

/// Returns element i of the sorted values as a double.
using Sorted = std::function<double(std::int64_t i)>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double element(Stage& stage, const ArrayView& sorted, std::int64_t i) {
  return with_type(sorted.type, [&]<class T>() {
    T value{};
    stage.backend().download(&value, sorted.part(i, 1).data, sizeof value, stage.stream());
    return static_cast<double>(value);
  });
}

Sorted by_sorting(Stage& stage, const ArrayView& values) {
  const MutableArrayView sorted = stage.workspace(values.type, values.size);
  stage.operations().radix_sort(stage.backend(), {values, {}, sorted, {}}, stage.stream());
  return [&stage, sorted](std::int64_t i) { return element(stage, sorted, i); };
}

/// Sorts by counting every code of 8 or 16 bits.
Sorted by_counts(Stage& stage, const ArrayView& values) {
  const std::int64_t codes = std::int64_t{1} << (8 * size_of(values.type));
  const MutableArrayView device_counts = stage.workspace(Type::u64, codes);
  stage.operations().histogram(stage.backend(), values, Bins::even(0, static_cast<double>(codes), codes),
                               device_counts, stage.stream());
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(codes));
  stage.backend().download(counts.data(), device_counts.data, counts.size() * sizeof counts[0],
                           stage.stream());
  return [counts](std::int64_t i) {
    auto rest = static_cast<std::uint64_t>(i);
    std::size_t code = 0;
    for (; rest >= counts[code]; ++code) rest -= counts[code];
    return static_cast<double>(code);
  };
}

double interpolated(const Sorted& sorted, std::int64_t n, double percent) {
  const double position = percent / 100 * static_cast<double>(n - 1);
  const auto below = static_cast<std::int64_t>(position);
  const double fraction = position - static_cast<double>(below);
  const double low = sorted(below);
  if (fraction == 0) return low;
  const double high = sorted(below + 1);
  return low == high ? low : low + (high - low) * fraction;
}

}  // namespace

std::vector<double> percentiles(const Device& device, ArrayView values, std::span<const double> percents,
                                Stream stream) {
  Arrays arrays(device, "percentiles");
  arrays.input("values", values);
  arrays.require_type({Type::u8, Type::u16, Type::u32, Type::u64, Type::i32, Type::f32});
  for (const double percent : percents)
    if (!(percent >= 0 && percent <= 100))
      arrays.refuse("a percentile is 0 to 100, not " + std::to_string(percent));
  std::vector<double> results(percents.size(), nan);
  if (values.size == 0 || percents.empty()) return results;
  Stage stage(device, stream);
  const ArrayView from = stage.input(values);
  const Sorted sorted = size_of(from.type) <= 2 ? by_counts(stage, from) : by_sorting(stage, from);
  if (!std::isnan(sorted(from.size - 1)))  // NaN come last
    for (std::size_t i = 0; i < percents.size(); ++i)
      results[i] = interpolated(sorted, from.size, percents[i]);
  stage.finish();
  return results;
}

double percentile(const Device& device, ArrayView values, double percent, Stream stream) {
  return percentiles(device, values, std::span<const double>(&percent, 1), stream)[0];
}

}  // namespace satin
