#include "satin/error.h"
#include "scan/call.h"

namespace satin {
namespace {

constexpr std::int64_t largest_range = 65536;

/// Names the arrays of a sort; the payload is there or not.
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

}  // namespace satin
