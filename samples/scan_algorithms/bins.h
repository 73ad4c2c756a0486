#pragma once
// Extracts the values of each histogram bin in order: one compaction for each bin.

#include "blocks.h"

namespace study {

/// Returns the bin of a value among `bins` equal ones over [0, 1). Values below 0 belong to the first; values
/// from 1 on, and NaN, to the last.
constexpr std::int64_t bin_of(float value, std::int64_t bins) {
  if (!(value < 1)) return bins - 1;
  return value < 0 ? 0 : static_cast<std::int64_t>(static_cast<double>(value) * static_cast<double>(bins));
}

/// Appends the values of one bin to `out`, from `first` on, in their order, and returns their number. The
/// predicate of a value is 1 in the bin and 0 elsewhere; its exclusive scan is the offset in the output. The
/// number of values is the last offset plus the last predicate.
template <class Machine, class In, class Out, class Words>
Index extract_bin(Machine& m, In values, Out out, Index first, Words offsets, Index n, Index bin, Index bins,
                  Index block) {
  const auto in_bin = [=](float value) { return bin_of(value, bins) == bin; };
  m.together(n, [&](Index i) { offsets[i] = in_bin(values[i]) ? 1U : 0U; });
  m.show("in bin ", bin, offsets, n);
  const std::uint32_t last = offsets[n - 1];
  scan_blocks(m, offsets, offsets, n, block, Sum{}, BlellochInBlock{});
  m.together(n, [&](Index i) {
    const float value = values[i];
    if (in_bin(value)) out[first + static_cast<std::uint32_t>(offsets[i])] = value;
  });
  return static_cast<std::uint32_t>(offsets[n - 1]) + last;
}

/// Extracts the values of all bins, bin after bin, and returns the size of each.
template <class Machine, class In, class Out, class Words>
std::vector<Index> extract_bins(Machine& m, In values, Out out, Words offsets, Index n, Index bins,
                                Index block) {
  std::vector<Index> counts;
  Index first = 0;
  for (Index bin = 0; bin < bins; ++bin) {
    counts.push_back(extract_bin(m, values, out, first, offsets, n, bin, bins, block));
    m.show("written", -1, out, first + counts.back());
    first += counts.back();
  }
  return counts;
}

}  // namespace study
