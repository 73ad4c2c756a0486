// Histogram and bins.

#include <vector>

#include "scan/cpu/bin_index.h"
#include "scan/cpu/counts.h"
#include "scan/cpu/operations.h"
#include "scan/cpu/types.h"

namespace satin::cpu {
namespace {

void store_counts(const std::vector<std::uint64_t>& sums, MutableArrayView counts) {
  with_size(size_of(counts.type), [&]<class T>() {
    std::transform(sums.begin(), sums.end(), counts.values<T>(),
                   [](std::uint64_t sum) { return static_cast<T>(sum); });
  });
}

}  // namespace

void histogram(Backend& any, ArrayView values, const Bins& bins, MutableArrayView counts, Stream) {
  CpuBackend& backend = as_cpu(any);
  const auto buckets = static_cast<std::size_t>(bins.count());
  with_bin_index(values, bins, [&](const auto& index) {
    store_counts(totals(count_parts(backend, Parts(backend, values.size), buckets, index), buckets), counts);
  });
}

void extract_bins(Backend& any, ArrayView values, const Bins& bins, MutableArrayView result,
                  MutableArrayView counts, MutableArrayView indices, Stream) {
  CpuBackend& backend = as_cpu(any);
  const auto buckets = static_cast<std::size_t>(bins.count());
  const Parts parts(backend, values.size);
  auto* indices32 =
      indices.size != 0 && indices.type == Type::u32 ? indices.values<std::uint32_t>() : nullptr;
  auto* indices64 =
      indices.size != 0 && indices.type == Type::u64 ? indices.values<std::uint64_t>() : nullptr;
  with_bin_index(values, bins, [&](const auto& index) {
    std::vector<std::uint64_t> positions = count_parts(backend, parts, buckets, index);
    store_counts(totals(positions, buckets), counts);
    exclusive_positions(positions, buckets);
    with_size(size_of(values.type), [&]<class T>() {
      const T* from = values.values<T>();
      T* to = result.values<T>();
      scatter(backend, parts, positions, buckets, index, [=](std::int64_t i, std::uint64_t position) {
        to[position] = from[i];
        if (indices32 != nullptr) indices32[position] = static_cast<std::uint32_t>(i);
        if (indices64 != nullptr) indices64[position] = static_cast<std::uint64_t>(i);
      });
    });
  });
}

}  // namespace satin::cpu
