#include "scan/call.h"

namespace satin {

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

namespace {

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
  require_index_type(arrays, indices);
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

void require_index_type(const Arrays& arrays, const ArrayView& indices) {
  if (indices.type == Type::u32 && indices.size > (std::int64_t{1} << 32))
    arrays.refuse("indices of more than 2^32 values do not fit u32: use u64");
}

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

}  // namespace satin
