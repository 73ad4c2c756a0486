#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "scan/call.h"

namespace satin {
namespace {

/// Element number i of the sorted values, as double.
using Sorted = std::function<double(std::int64_t i)>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class T>
double as_double(const std::byte* bytes) {
  T value{};
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<double>(value);
}

double element(Stage& stage, const ArrayView& sorted, std::int64_t i) {
  std::byte bytes[8];
  stage.backend().download(bytes, sorted.part(i, 1).data, size_of(sorted.type), stage.stream());
  switch (sorted.type) {
    case Type::u64:
      return as_double<std::uint64_t>(bytes);
    case Type::i32:
      return as_double<std::int32_t>(bytes);
    case Type::f32:
      return as_double<float>(bytes);
    default:
      return as_double<std::uint32_t>(bytes);
  }
}

Sorted by_sorting(Stage& stage, const ArrayView& values) {
  const MutableArrayView sorted = stage.workspace(values.type, values.size);
  stage.operations().radix_sort(stage.backend(), {values, {}, sorted, {}}, stage.stream());
  return [&stage, sorted](std::int64_t i) { return element(stage, sorted, i); };
}

/// Counts of every code, one bin each.
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
