#pragma once
// Counting and stable scattering by a small index: what histograms, bins and sorts have in common.

#include <cstdint>
#include <vector>

#include "scan/cpu/blocks.h"

namespace satin::cpu {

/// An array in parts that are counted, and scattered, one by one, each by one thread.
struct Parts {
  Parts(const CpuBackend& backend, std::int64_t size)
      : n(size),
        count(std::clamp<std::int64_t>(size / smallest, 1,
                                       backend.threads.count() == 1 ? 1 : 4 * backend.threads.count())) {}

  static constexpr std::int64_t smallest = 32768;
  [[nodiscard]] std::int64_t begin(std::int64_t part) const {
    return part * (n / count) + std::min(part, n % count);
  }

  std::int64_t n;
  std::int64_t count;
};

/// Calls use(i, bucket) for [first, last). Indices are worked out a block ahead, in a loop of its own that
/// the compiler can vectorise.
template <class Index, class Use>
void for_indices(const Index& index_of, std::int64_t first, std::int64_t last, const Use& use) {
  constexpr std::int64_t length = 2048;
  const Index index = index_of;  // a copy, which no store can change
  std::uint16_t block[length];   // NOLINT(cppcoreguidelines-pro-type-member-init): filled before it is read
  for (; first < last; first += length) {
    const std::int64_t count = std::min(length, last - first);
    for (std::int64_t i = 0; i < count; ++i) block[i] = static_cast<std::uint16_t>(index(first + i));
    for (std::int64_t i = 0; i < count; ++i) use(first + i, block[i]);
  }
}

/// counts[i] += how often index() gives i over [first, last). Four tables take turns while they fit the L1
/// cache, so that equal indices in a row do not wait for one another's store.
template <class Index>
void count_indices(const Index& index_of, std::int64_t first, std::int64_t last, std::size_t buckets,
                   std::uint64_t* counts) {
  constexpr std::int64_t most = std::int64_t{1} << 31;  // what the 32 bits of a table can count
  const Index index = index_of;
  const std::size_t stride = buckets <= 2048 ? buckets : 0;
  std::vector<std::uint32_t> tables(stride == 0 ? buckets : 4 * buckets);
  std::uint32_t* table = tables.data();
  while (first < last) {
    const std::int64_t end = std::min(last, first + most);
    for (; first + 4 <= end; first += 4) {
      ++table[index(first)];
      ++table[stride + index(first + 1)];
      ++table[2 * stride + index(first + 2)];
      ++table[3 * stride + index(first + 3)];
    }
    for (; first < end; ++first) ++table[index(first)];
    for (std::size_t at = 0; at < tables.size(); ++at) counts[at % buckets] += table[at];
    std::fill(tables.begin(), tables.end(), 0U);
  }
}

/// Counts of every part: of part p from p * buckets on.
template <class Index>
std::vector<std::uint64_t> count_parts(CpuBackend& backend, const Parts& parts, std::size_t buckets,
                                       const Index& index) {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(parts.count) * buckets);
  for_blocks(backend, parts.count, [&](std::int64_t part) {
    count_indices(index, parts.begin(part), parts.begin(part + 1), buckets,
                  counts.data() + static_cast<std::size_t>(part) * buckets);
  });
  return counts;
}

/// Turns the counts of all parts into where each part's values of each bucket begin: bucket by bucket, in
/// each part by part.
inline void exclusive_positions(std::vector<std::uint64_t>& counts, std::size_t buckets) {
  std::uint64_t position = 0;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket)
    for (std::size_t at = bucket; at < counts.size(); at += buckets) {
      const std::uint64_t count = counts[at];
      counts[at] = position;
      position += count;
    }
}

/// How often each index occurs in all parts together.
inline std::vector<std::uint64_t> totals(const std::vector<std::uint64_t>& counts, std::size_t buckets) {
  std::vector<std::uint64_t> sums(buckets);
  for (std::size_t at = 0; at < counts.size(); ++at) sums[at % buckets] += counts[at];
  return sums;
}

/// move(i, position) for every value, positions from exclusive_positions(), which are used up: stable.
template <class Index, class Move>
void scatter(CpuBackend& backend, const Parts& parts, std::vector<std::uint64_t>& positions,
             std::size_t buckets, const Index& index, const Move& move) {
  for_blocks(backend, parts.count, [&](std::int64_t part) {
    std::uint64_t* position = positions.data() + static_cast<std::size_t>(part) * buckets;
    for_indices(index, parts.begin(part), parts.begin(part + 1),
                [&move, position](std::int64_t i, std::size_t bucket) { move(i, position[bucket]++); });
  });
}

}  // namespace satin::cpu
