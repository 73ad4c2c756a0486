// Reduce, mean, scans and their conversions.

#include <cmath>
#include <limits>

#include "core/scalar.h"
#include "satin/error.h"
#include "scan/call.h"
#include "scan/maths/scan_operator.h"

namespace satin {
namespace {

/// For minima and maxima a NaN is the identity.
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
  // The exclusive scan of one value is the initial one.
  stage.operations().scan(stage.backend(), from.part(0, 1), to.part(0, 1), rule, stream);
  if (const std::int64_t rest = from.size - 1; rest > 0) {
    // min(x, x) copies; as integers, so that every float stays what it is
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

}  // namespace satin
