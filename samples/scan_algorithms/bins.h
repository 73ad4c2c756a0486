#pragma once
// Extraction of histogram bins in order: what a compaction is, once for each bin.

#include "blocks.h"

namespace study {

/// The bin of a value, of `bins` even ones over [0, 1): values below 0 belong to the first, from 1 on (and
/// NaN) to the last.
constexpr std::int64_t bin_of(float value, std::int64_t bins) {
  if (!(value < 1)) return bins - 1;
  return value < 0 ? 0 : static_cast<std::int64_t>(static_cast<double>(value) * static_cast<double>(bins));
}

/// Appends the values of one bin to `out`, from `first` on, in their order; returns how many. Every value
/// says whether it is in the bin (1 or 0); the exclusive scan of that is where it goes; the number of them is
/// the last offset plus the last predicate.
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

/// Values of all bins, bin after bin, and how many each has.
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
