// The scan family on one-dimensional arrays. What each function does is said in satin/scan.py.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <initializer_list>
#include <optional>
#include <utility>
#include <variant>

#include "python/foreign_array.h"
#include "python/module.h"
#include "satin/error.h"
#include "satin/scan.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace satin::python {
namespace {

/// Values that lie next to each other.
struct Values {
  Values(nb::handle object, std::string name_in_messages, std::uintptr_t stream)
      : name(std::move(name_in_messages)), array(foreign_array(object, name, stream)) {
    if (array.sizes.size() != 1)
      throw Error(ErrorKind::usage, name + " has the shape " + describe_sizes(array) +
                                        ": one dimension is expected; pass " + name + ".reshape(-1).");
    const auto packed = static_cast<std::ptrdiff_t>(size_of(array.type));
    if (array.sizes[0] > 1 && array.strides[0] != packed)
      throw Error(ErrorKind::usage, name + " has a stride of " + std::to_string(array.strides[0]) +
                                        " bytes, but values must lie next to each other: pass "
                                        "numpy.ascontiguousarray(" +
                                        name + ").");
  }

  std::string name;
  ForeignArray array;

  [[nodiscard]] MutableArrayView view() const {
    return {array.data, array.sizes[0], array.type, array.memory};
  }
};

void require(const Device& device, const Values& values) {
  require_reachable(device, values.array.memory, values.array.ordinal, values.name);
}

/// The stream of a call, after a look at its arrays.
Stream checked(const Device& device, std::initializer_list<const Values*> inputs,
               std::initializer_list<const Values*> results, std::uintptr_t stream) {
  for (const Values* values : inputs) require(device, *values);
  for (const Values* values : results) {
    require(device, *values);
    if (values->array.read_only) throw Error(ErrorKind::usage, values->name + " is read-only.");
  }
  return stream_of(stream);
}

Operator operator_of(const std::string& name) {
  return choice<Operator>("op", name, {"sum", "product", "min", "max"});
}

using Number = std::variant<std::int64_t, std::uint64_t, double>;

Scalar scalar(const Number& number) {
  return std::visit([](auto value) { return Scalar(value); }, number);
}

Predicate predicate(const std::string& comparison, const Number& number) {
  return {choice<Comparison>("comparison", comparison, {"<", "<=", ">", ">=", "==", "!="}), scalar(number)};
}

Segments segments(const Values& marks, bool flags) { return {marks.view(), flags}; }

using Released = nb::call_guard<nb::gil_scoped_release>;

// --- Reduce and scan. ---

void bind_scans(nb::module_& m) {
  m.def(
      "reduce",
      [](const Device& device, const Values& values, const std::string& op, const Values& result,
         std::uintptr_t stream) {
        const Stream order = checked(device, {&values}, {&result}, stream);
        reduce(device, values.view(), operator_of(op), result.view(), order);
      },
      Released());
  m.def(
      "mean",
      [](const Device& device, const Values& values, std::uintptr_t stream) {
        const Stream order = checked(device, {&values}, {}, stream);
        return mean(device, values.view(), order);
      },
      Released());
  m.def(
      "inclusive_scan",
      [](const Device& device, const Values& values, const Values& result, const std::string& op,
         const std::optional<Number>& initial, std::uintptr_t stream) {
        const Stream order = checked(device, {&values}, {&result}, stream);
        if (initial)
          inclusive_scan(device, values.view(), result.view(), operator_of(op), scalar(*initial), order);
        else
          inclusive_scan(device, values.view(), result.view(), operator_of(op), order);
      },
      Released(), "device"_a, "values"_a, "result"_a, "op"_a, "initial"_a.none(), "stream"_a);
  m.def(
      "exclusive_scan",
      [](const Device& device, const Values& values, const Values& result, const std::string& op,
         const std::optional<Number>& initial, std::uintptr_t stream) {
        const Stream order = checked(device, {&values}, {&result}, stream);
        if (initial)
          exclusive_scan(device, values.view(), result.view(), operator_of(op), scalar(*initial), order);
        else
          exclusive_scan(device, values.view(), result.view(), operator_of(op), order);
      },
      Released(), "device"_a, "values"_a, "result"_a, "op"_a, "initial"_a.none(), "stream"_a);
  m.def(
      "inclusive_to_exclusive",
      [](const Device& device, const Values& inclusive, const Values& result, const std::string& op,
         const std::optional<Number>& initial, std::uintptr_t stream) {
        const Stream order = checked(device, {&inclusive}, {&result}, stream);
        if (initial)
          inclusive_to_exclusive(device, inclusive.view(), result.view(), operator_of(op), scalar(*initial),
                                 order);
        else
          inclusive_to_exclusive(device, inclusive.view(), result.view(), operator_of(op), order);
      },
      Released(), "device"_a, "inclusive"_a, "result"_a, "op"_a, "initial"_a.none(), "stream"_a);
  m.def(
      "exclusive_to_inclusive",
      [](const Device& device, const Values& exclusive, const Values& values, const Values& result,
         const std::string& op, std::uintptr_t stream) {
        const Stream order = checked(device, {&exclusive, &values}, {&result}, stream);
        exclusive_to_inclusive(device, exclusive.view(), values.view(), result.view(), operator_of(op),
                               order);
      },
      Released());
}

void bind_segments(nb::module_& m) {
  m.def(
      "segmented_inclusive_scan",
      [](const Device& device, const Values& values, const Values& marks, bool flags, const Values& result,
         const std::string& op, std::uintptr_t stream) {
        const Stream order = checked(device, {&values, &marks}, {&result}, stream);
        segmented_inclusive_scan(device, values.view(), segments(marks, flags), result.view(),
                                 operator_of(op), order);
      },
      Released());
  m.def(
      "segmented_exclusive_scan",
      [](const Device& device, const Values& values, const Values& marks, bool flags, const Values& result,
         const std::string& op, std::uintptr_t stream) {
        const Stream order = checked(device, {&values, &marks}, {&result}, stream);
        segmented_exclusive_scan(device, values.view(), segments(marks, flags), result.view(),
                                 operator_of(op), order);
      },
      Released());
  m.def(
      "segmented_reduce",
      [](const Device& device, const Values& values, const Values& marks, bool flags, const Values& result,
         const std::string& op, std::uintptr_t stream) {
        const Stream order = checked(device, {&values, &marks}, {&result}, stream);
        return segmented_reduce(device, values.view(), segments(marks, flags), result.view(), operator_of(op),
                                order);
      },
      Released());
}

// --- Compaction. ---

void bind_selections(nb::module_& m) {
  m.def(
      "compact",
      [](const Device& device, const Values& values, const Values& mask, const Values& result,
         std::uintptr_t stream) {
        const Stream order = checked(device, {&values, &mask}, {&result}, stream);
        return compact(device, values.view(), mask.view(), result.view(), order);
      },
      Released());
  m.def(
      "compact_where",
      [](const Device& device, const Values& values, const std::string& comparison, const Number& number,
         const Values& result, std::uintptr_t stream) {
        const Stream order = checked(device, {&values}, {&result}, stream);
        return compact(device, values.view(), predicate(comparison, number), result.view(), order);
      },
      Released());
  m.def(
      "compact_indices",
      [](const Device& device, const Values& mask, const Values& result, std::uintptr_t stream) {
        const Stream order = checked(device, {&mask}, {&result}, stream);
        return compact_indices(device, mask.view(), result.view(), order);
      },
      Released());
  m.def(
      "compact_indices_where",
      [](const Device& device, const Values& values, const std::string& comparison, const Number& number,
         const Values& result, std::uintptr_t stream) {
        const Stream order = checked(device, {&values}, {&result}, stream);
        return compact_indices(device, values.view(), predicate(comparison, number), result.view(), order);
      },
      Released());
  m.def(
      "partition",
      [](const Device& device, const Values& values, const Values& mask, const Values& result,
         std::uintptr_t stream) {
        const Stream order = checked(device, {&values, &mask}, {&result}, stream);
        return partition(device, values.view(), mask.view(), result.view(), order);
      },
      Released());
  m.def(
      "partition_where",
      [](const Device& device, const Values& values, const std::string& comparison, const Number& number,
         const Values& result, std::uintptr_t stream) {
        const Stream order = checked(device, {&values}, {&result}, stream);
        return partition(device, values.view(), predicate(comparison, number), result.view(), order);
      },
      Released());
}

// --- Bins and order. ---

void bind_bins(nb::module_& m) {
  nb::class_<Bins>(m, "Bins")
      .def_static("even", &Bins::even, "lower"_a, "upper"_a, "count"_a)
      .def_static(
          "between", [](const std::vector<double>& edges) { return Bins::between(edges); }, "edges"_a)
      .def_prop_ro("count", &Bins::count);
  m.def(
      "histogram",
      [](const Device& device, const Values& values, const Bins& bins, const Values& counts,
         std::uintptr_t stream) {
        const Stream order = checked(device, {&values}, {&counts}, stream);
        histogram(device, values.view(), bins, counts.view(), order);
      },
      Released());
  m.def(
      "extract_bin",
      [](const Device& device, const Values& values, const Bins& bins, std::int64_t bin, const Values& result,
         std::uintptr_t stream) {
        const Stream order = checked(device, {&values}, {&result}, stream);
        return extract_bin(device, values.view(), bins, bin, result.view(), order);
      },
      Released());
  m.def(
      "extract_bins",
      [](const Device& device, const Values& values, const Bins& bins, const Values& result,
         const Values& counts, const Values& indices, std::uintptr_t stream) {
        const Stream order = checked(device, {&values}, {&result, &counts, &indices}, stream);
        extract_bins(device, values.view(), bins, result.view(), counts.view(), indices.view(), order);
      },
      Released());
}

void bind_sorts(nb::module_& m) {
  m.def(
      "radix_sort",
      [](const Device& device, const Values& keys, const Values& result, std::uintptr_t stream) {
        const Stream order = checked(device, {&keys}, {&result}, stream);
        radix_sort(device, keys.view(), result.view(), order);
      },
      Released());
  m.def(
      "radix_sort_pairs",
      [](const Device& device, const Values& keys, const Values& values, const Values& sorted_keys,
         const Values& sorted_values, std::uintptr_t stream) {
        const Stream order = checked(device, {&keys, &values}, {&sorted_keys, &sorted_values}, stream);
        radix_sort_pairs(device, keys.view(), values.view(), sorted_keys.view(), sorted_values.view(), order);
      },
      Released());
  m.def(
      "counting_sort",
      [](const Device& device, const Values& keys, std::int64_t range, const Values& result,
         std::uintptr_t stream) {
        const Stream order = checked(device, {&keys}, {&result}, stream);
        counting_sort(device, keys.view(), range, result.view(), order);
      },
      Released());
  m.def(
      "counting_sort_pairs",
      [](const Device& device, const Values& keys, const Values& values, std::int64_t range,
         const Values& sorted_keys, const Values& sorted_values, std::uintptr_t stream) {
        const Stream order = checked(device, {&keys, &values}, {&sorted_keys, &sorted_values}, stream);
        counting_sort_pairs(device, keys.view(), values.view(), range, sorted_keys.view(),
                            sorted_values.view(), order);
      },
      Released());
  m.def(
      "percentiles",
      [](const Device& device, const Values& values, const std::vector<double>& percents,
         std::uintptr_t stream) {
        const Stream order = checked(device, {&values}, {}, stream);
        return percentiles(device, values.view(), percents, order);
      },
      Released());
}

}  // namespace

void bind_scan(nb::module_& module) {
  nb::class_<Values>(module, "Values")
      .def(nb::init<nb::handle, std::string, std::uintptr_t>(), "array"_a.none(), "name"_a, "stream"_a)
      .def_prop_ro("size", [](const Values& values) { return values.array.sizes[0]; })
      .def_prop_ro("dtype", [](const Values& values) { return numpy_name(values.array.type); })
      .def_prop_ro("on_cuda", [](const Values& values) { return values.array.memory == Memory::device; })
      .def_prop_ro("ordinal", [](const Values& values) { return values.array.ordinal; });
  bind_scans(module);
  bind_segments(module);
  bind_selections(module);
  bind_bins(module);
  bind_sorts(module);
}

}  // namespace satin::python
