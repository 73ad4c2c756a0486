#pragma once
// The scan family of the CPU backend, as scan/scan.h defines it.

#include "scan/scan.h"

namespace satin::cpu {

void reduce(Backend& backend, ArrayView values, Operator op, MutableArrayView result, Stream stream);
double mean(Backend& backend, ArrayView values, Stream stream);
void scan(Backend& backend, ArrayView values, MutableArrayView result, const ScanRule& rule, Stream stream);
void combine(Backend& backend, ArrayView a, ArrayView b, MutableArrayView result, Operator op, Stream stream);
void segmented_scan(Backend& backend, ArrayView values, const Segments& segments, MutableArrayView result,
                    const ScanRule& rule, Stream stream);
std::int64_t segmented_reduce(Backend& backend, ArrayView values, const Segments& segments,
                              MutableArrayView result, Operator op, Stream stream);
std::int64_t select(Backend& backend, const Selection& selection, MutableArrayView result, Stream stream);
void histogram(Backend& backend, ArrayView values, const Bins& bins, MutableArrayView counts, Stream stream);
void extract_bins(Backend& backend, ArrayView values, const Bins& bins, MutableArrayView result,
                  MutableArrayView counts, MutableArrayView indices, Stream stream);
void radix_sort(Backend& backend, const SortArrays& arrays, Stream stream);
bool counting_sort(Backend& backend, const SortArrays& arrays, std::int64_t range, Stream stream);

inline constexpr ScanOperations scan_operations = {
    reduce, mean,      scan,         combine,    segmented_scan, segmented_reduce,
    select, histogram, extract_bins, radix_sort, counting_sort};

}  // namespace satin::cpu
