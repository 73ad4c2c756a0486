// Bindings for the scan functions on one-dimensional arrays. satin/scan.py documents them.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <string>
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

/// A one-dimensional array of adjacent values.
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

using Number = std::variant<std::int64_t, std::uint64_t, double>;

Scalar scalar(const Number& number) {
  return std::visit([](auto value) { return Scalar(value); }, number);
}

/// Converts arguments from Python to those of satin/scan.h: `Told` is the type that is bound, and take()
/// converts it. Most types need no conversion.
template <class T>
struct Argument {
  using Told = T;
  static T take(const Device& /*device*/, T told) { return told; }
};
template <>
struct Argument<ArrayView> {
  using Told = const Values&;
  static ArrayView take(const Device& device, const Values& values) {
    require_reachable(device, values.array.memory, values.array.ordinal, values.name);
    return values.view();
  }
};
template <>
struct Argument<MutableArrayView> {
  using Told = const Values&;
  static MutableArrayView take(const Device& device, const Values& values) {
    require_reachable(device, values.array.memory, values.array.ordinal, values.name);
    if (values.array.read_only) throw Error(ErrorKind::usage, values.name + " is read-only.");
    return values.view();
  }
};
template <>
struct Argument<Operator> {
  using Told = const std::string&;
  static Operator take(const Device& /*device*/, const std::string& name) {
    return choice<Operator>("op", name, {"sum", "product", "min", "max"});
  }
};
template <>
struct Argument<Scalar> {
  using Told = const Number&;
  static Scalar take(const Device& /*device*/, const Number& number) { return scalar(number); }
};
template <>
struct Argument<const Predicate&> {
  using Told = const std::pair<std::string, Number>&;
  static Predicate take(const Device& /*device*/, Told told) {
    return {choice<Comparison>("comparison", told.first, {"<", "<=", ">", ">=", "==", "!="}),
            scalar(told.second)};
  }
};
template <>
struct Argument<const Segments&> {
  using Told = const std::pair<Values*, bool>&;
  static Segments take(const Device& device, Told told) {
    return {Argument<ArrayView>::take(device, *told.first), told.second};
  }
};
template <>
struct Argument<std::span<const double>> {
  using Told = const std::vector<double>&;
  static std::span<const double> take(const Device& /*device*/, Told told) { return told; }
};
template <>
struct Argument<Stream> {
  using Told = std::uintptr_t;
  static Stream take(const Device& /*device*/, Told number) { return stream_of(number); }
};

/// Binds functions of satin/scan.h under one name, with their arguments in the same order.
template <class Result, class... Arguments>
void define(nb::module_& module, const char* name, Result (*function)(const Device&, Arguments...)) {
  module.def(
      name,
      [function](const Device& device, typename Argument<Arguments>::Told... told) {
        return function(device, Argument<Arguments>::take(device, told)...);
      },
      nb::call_guard<nb::gil_scoped_release>());
}

using In = ArrayView;
using Out = MutableArrayView;

void define_scans(nb::module_& m) {
  define<void, In, Operator, Out, Stream>(m, "reduce", reduce);
  define(m, "mean", mean);
  define<void, In, Out, Operator, Stream>(m, "inclusive_scan", inclusive_scan);
  define<void, In, Out, Operator, Scalar, Stream>(m, "inclusive_scan", inclusive_scan);
  define<void, In, Out, Operator, Stream>(m, "exclusive_scan", exclusive_scan);
  define<void, In, Out, Operator, Scalar, Stream>(m, "exclusive_scan", exclusive_scan);
  define<void, In, Out, Operator, Stream>(m, "inclusive_to_exclusive", inclusive_to_exclusive);
  define<void, In, Out, Operator, Scalar, Stream>(m, "inclusive_to_exclusive", inclusive_to_exclusive);
  define(m, "exclusive_to_inclusive", exclusive_to_inclusive);
  define(m, "segmented_inclusive_scan", segmented_inclusive_scan);
  define(m, "segmented_exclusive_scan", segmented_exclusive_scan);
  define(m, "segmented_reduce", segmented_reduce);
}

void define_selections(nb::module_& m) {
  define<std::int64_t, In, In, Out, Stream>(m, "compact", compact);
  define<std::int64_t, In, const Predicate&, Out, Stream>(m, "compact", compact);
  define<std::int64_t, In, Out, Stream>(m, "compact_indices", compact_indices);
  define<std::int64_t, In, const Predicate&, Out, Stream>(m, "compact_indices", compact_indices);
  define<std::int64_t, In, In, Out, Stream>(m, "partition", partition);
  define<std::int64_t, In, const Predicate&, Out, Stream>(m, "partition", partition);
}

void define_sorts(nb::module_& m) {
  define(m, "histogram", histogram);
  define(m, "extract_bin", extract_bin);
  define(m, "extract_bins", extract_bins);
  define(m, "radix_sort", radix_sort);
  define(m, "radix_sort_pairs", radix_sort_pairs);
  define(m, "counting_sort", counting_sort);
  define(m, "counting_sort_pairs", counting_sort_pairs);
  define(m, "percentiles", percentiles);
}

}  // namespace

void bind_scan(nb::module_& module) {
  nb::class_<Values>(module, "Values")
      .def(nb::init<nb::handle, std::string, std::uintptr_t>(), "array"_a.none(), "name"_a, "stream"_a)
      .def_prop_ro("size", [](const Values& values) { return values.array.sizes[0]; })
      .def_prop_ro("dtype", [](const Values& values) { return numpy_name(values.array.type); })
      .def_prop_ro("on_cuda", [](const Values& values) { return values.array.memory == Memory::device; })
      .def_prop_ro("ordinal", [](const Values& values) { return values.array.ordinal; });
  nb::class_<Bins>(module, "Bins")
      .def_static("even", &Bins::even, "lower"_a, "upper"_a, "count"_a)
      .def_static(
          "between", [](const std::vector<double>& edges) { return Bins::between(edges); }, "edges"_a)
      .def_prop_ro("count", &Bins::count);
  define_scans(module);
  define_selections(module);
  define_sorts(module);
}

}  // namespace satin::python
