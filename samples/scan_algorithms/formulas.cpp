#include "formulas.h"

#include <bit>

#include "wavelet_matrix.h"

namespace study {

namespace {

constexpr Index word = 4;
constexpr Index look_bytes = 3 * word;

Index power_of_two_from(Index n) { return static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(n))); }

/// ceil(log2 n)
Index log2_of(Index n) { return std::countr_zero(static_cast<std::uint64_t>(power_of_two_from(n))); }

/// Adds operations and depth: a block on the chip, then the sums of the blocks, then one addition for each
/// value.
Cost cost_of_blocks(Index n, Index block, const Cost& in_block) {
  const Index blocks = (n + block - 1) / block;
  Cost cost{blocks * in_block.operations, in_block.depth, 2 * word * n};
  if (blocks == 1) return cost;
  const Cost sums = cost_of_blocks(blocks, block, in_block);
  cost.operations += sums.operations + n - block;
  cost.depth += sums.depth + 1;
  cost.bytes += sums.bytes + word * blocks + 3 * word * (n - block);
  return cost;
}

/// Adds one scan of n + 1 words and one partition for each level.
Cost cost_of_splits(Index n, Index levels, Index block) {
  const Cost scan = cost_of_blelloch_blocks(n + 1, block);
  return {levels * scan.operations, levels * scan.depth, levels * (scan.bytes + word * (5 * n + 2))};
}

}  // namespace

Cost cost_of_sequential(Index n) { return {n - 1, n - 1, 2 * word * n}; }

Cost cost_of_hillis_steele(Index n) {
  const Index steps = log2_of(n);
  const Index additions = n * steps - (Index{1} << steps) + 1;
  return {additions, steps, word * (2 * n * steps + additions)};
}

Cost cost_of_blelloch(Index n) {
  const Index leaves = power_of_two_from(n);
  return {2 * (leaves - 1), 2 * log2_of(n), word * (7 * (leaves - 1) + 2)};
}

Cost cost_of_blelloch_blocks(Index n, Index block) {
  return cost_of_blocks(n, block, cost_of_blelloch(block));
}

Cost cost_of_hillis_steele_blocks(Index n, Index block) {
  return cost_of_blocks(n, block, cost_of_hillis_steele(block));
}

Cost cost_of_chained(Index n, Index tile, Index resident, const Traffic& traffic) {
  const Index tiles = (n + tile - 1) / tile;
  Index looked_back = 0;
  Index depth = 0;
  for (Index first = 0; first < tiles; first += resident) {
    const Index wave = std::min(resident, tiles - first);
    const Index longest = first > 0 ? wave - 1 : std::max<Index>(0, wave - 2);
    looked_back += longest * (longest + 1) / 2;
    depth += std::min(tile, n - first * tile) - 1 + longest;
    if (first + wave > 1) depth += 2;  // the prefix, the results
  }
  const Index visits = looked_back + tiles - 1;
  return {n - tiles + looked_back + tiles - 1 + std::max<Index>(0, n - tile), depth,
          (traffic.in + traffic.out) * n + (traffic.state + word) * (2 * tiles - 1 + visits)};
}

Cost cost_of_split_sort(Index n, Index tile) {
  constexpr Index bits = 32;
  const Index keys = std::max(tile, power_of_two_from(n));
  const Cost scan = cost_of_blelloch(tile);
  Cost cost{keys / tile * bits * scan.operations, bits * scan.depth, 2 * word * keys};
  for (Index size = 2 * tile; size <= keys; size *= 2) {
    cost.operations += keys / 2 * log2_of(size);
    cost.depth += log2_of(size);
    cost.bytes += 2 * word * keys * (log2_of(size / tile) + 1);
  }
  return cost;
}

Cost cost_of_bins(Index n, Index bins, Index block) {
  const Cost scan = cost_of_blelloch_blocks(n, block);
  const Index predicates = 2 * word * n;
  const Index values_again = word * n;
  const Index written = 2 * word * n;  // all bins together: one offset read and one value written
  return {bins * scan.operations, bins * scan.depth,
          bins * (predicates + scan.bytes + values_again + 2 * word) + written};
}

Cost cost_of_wavelet_matrix(Index n, int bits, Index block) {
  Cost cost = cost_of_splits(n, bits, block);
  cost.operations += n * bits;
  cost.depth += bits;
  cost.bytes += n * (bits * look_bytes + word);
  return cost;
}

Index scans_of_picture_matrix(Index width, int bits) { return Index{bits} * (1 + column_bits(width)); }

Cost cost_of_window_medians(Index width, Index height, int bits, Index block) {
  const Index n = width * height;
  const Index columns = column_bits(width);
  Cost cost = cost_of_splits(n, scans_of_picture_matrix(width, bits), block);
  cost.operations += n * bits * (2 * columns + 2);
  cost.depth += bits * (columns + 2);
  cost.bytes += n * (bits * (2 * columns + 1) * look_bytes + word);
  return cost;
}

}  // namespace study
