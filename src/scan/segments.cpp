#include "satin/error.h"
#include "scan/check.h"
#include "scan/stage.h"

namespace satin {
namespace {

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
