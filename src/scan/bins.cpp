#include <cmath>
#include <vector>

#include "satin/error.h"
#include "scan/call.h"
#include "scan/maths/bin.h"

namespace satin {
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

void clear(Stage& stage, MutableArrayView counts) {
  const std::vector<std::uint8_t> zeros(static_cast<std::size_t>(counts.size) * size_of(counts.type));
  counts.size = static_cast<std::int64_t>(zeros.size());
  counts.type = Type::u8;
  stage.fill(counts, zeros);
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
  if (values.size == 0) return clear(stage, counts);
  const ArrayView from = stage.input(values);
  stage.operations().histogram(stage.backend(), from, bins, stage.result(counts), stream);
  stage.finish();
}

std::int64_t extract_bin(const Device& device, ArrayView values, const Bins& bins, std::int64_t bin,
                         MutableArrayView result, Stream stream) {
  Arrays arrays(device, "extract_bin");
  arrays.input("values", values);
  arrays.result("result", result);
  arrays.require_type_of("values");
  arrays.require_size_of("values");
  if (bin < 0 || bin >= bins.count())
    arrays.refuse("there is no bin " + std::to_string(bin) + "; there are 0 to " +
                  std::to_string(bins.count() - 1));
  return select(device, {values, InBin{&bins, bin}, Selection::Keep::values}, result, stream);
}

void extract_bins(const Device& device, ArrayView values, const Bins& bins, MutableArrayView result,
                  MutableArrayView counts, MutableArrayView indices, Stream stream) {
  Arrays arrays(device, "extract_bins");
  arrays.input("values", values);
  arrays.result("result", result);
  arrays.require_type_of("values");
  arrays.require_size_of("values");
  result_counts(arrays, counts, values, bins);
  if (indices.size != 0) {
    arrays.result("indices", indices);
    arrays.require_type({Type::u32, Type::u64});
    arrays.require_size_of("values");
    require_index_type(arrays, indices);
  }
  Stage stage(device, stream);
  if (values.size == 0) return clear(stage, counts);
  const ArrayView from = stage.input(values);
  const MutableArrayView to = stage.result(result);
  const MutableArrayView number = stage.result(counts);
  stage.operations().extract_bins(stage.backend(), from, bins, to, number, stage.result(indices), stream);
  stage.finish();
}

}  // namespace satin
