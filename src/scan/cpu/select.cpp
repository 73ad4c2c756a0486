// Compaction and partition: count, scan the counts, write. Where one value goes is decided by arithmetic on
// its mask byte and not by a branch.

#include <numeric>
#include <vector>

#include "satin/host/chain.h"
#include "scan/cpu/blocks.h"
#include "scan/cpu/mask.h"
#include "scan/cpu/operations.h"
#include "scan/cpu/types.h"

namespace satin::cpu {
namespace {

constexpr std::int64_t length = 8192;  // mask and values of a chunk stay in the L1 or L2 cache

struct Mask {
  std::uint8_t bytes[length];  // NOLINT(cppcoreguidelines-pro-type-member-init): filled before it is read
  std::int64_t selected;

  Mask(const FillMask& fill, std::int64_t first, std::int64_t last) {
    fill(first, last - first, bytes);
    selected = std::accumulate(bytes, bytes + (last - first), std::int64_t{0});
  }
};

/// One pass over memory: write(mask, first, offset) for every chunk, offset = how many come before it.
template <class Write>
std::int64_t compact(CpuBackend& backend, std::int64_t n, const FillMask& fill, const Write& write) {
  return host::chain(BlocksOf{backend}, n, length, std::int64_t{0}, std::plus<std::int64_t>(),
                     [&](std::int64_t first, std::int64_t last, const auto& pass) {
                       const Mask mask(fill, first, last);
                       write(mask, first, pass(mask.selected));
                     });
}

template <class T>
std::int64_t compact_values(CpuBackend& backend, const T* values, std::int64_t n, const FillMask& fill,
                            T* result) {
  return compact(backend, n, fill, [=](const Mask& mask, std::int64_t first, std::int64_t offset) {
    const T* from = values + first;
    T* to = result + offset;
    const std::int64_t count = mask.selected;
    for (std::int64_t i = 0, k = 0; k < count; ++i) {
      to[k] = from[i];
      k += mask.bytes[i];
    }
  });
}

template <class Index>
std::int64_t compact_indices(CpuBackend& backend, std::int64_t n, const FillMask& fill, Index* result) {
  return compact(backend, n, fill, [=](const Mask& mask, std::int64_t first, std::int64_t offset) {
    Index* to = result + offset;
    const std::int64_t count = mask.selected;
    for (std::int64_t i = 0, k = 0; k < count; ++i) {
      to[k] = static_cast<Index>(first + i);
      k += mask.bytes[i];
    }
  });
}

/// Two passes: the first value that is not selected goes behind all that are.
template <class T>
std::int64_t partition(CpuBackend& backend, const T* values, std::int64_t n, const FillMask& fill,
                       T* result) {
  std::vector<std::int64_t> before(static_cast<std::size_t>((n + length - 1) / length) + 1);
  for_parts(backend, n, length, [&](std::int64_t first, std::int64_t last) {
    before[static_cast<std::size_t>(first / length) + 1] = Mask(fill, first, last).selected;
  });
  std::partial_sum(before.begin(), before.end(), before.begin());
  const std::int64_t total = before.back();
  for_parts(backend, n, length, [&](std::int64_t first, std::int64_t last) {
    const Mask mask(fill, first, last);
    std::int64_t selected = before[static_cast<std::size_t>(first / length)];
    std::int64_t other = total + first - selected;
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t take = mask.bytes[i - first];
      result[other ^ ((selected ^ other) & -take)] = values[i];  // a choice that is no branch
      selected += take;
      other += 1 - take;
    }
  });
  return total;
}

}  // namespace

std::int64_t select(Backend& any, const Selection& selection, MutableArrayView result, Stream) {
  CpuBackend& backend = as_cpu(any);
  const FillMask fill = mask_of(selection);
  const std::int64_t n = selection.values.size;
  return with_size(size_of(result.type), [&]<class T>() -> std::int64_t {
    const T* values = selection.values.values<T>();
    if (selection.keep == Selection::Keep::partition)
      return partition(backend, values, n, fill, result.values<T>());
    if (selection.keep == Selection::Keep::values)
      return compact_values(backend, values, n, fill, result.values<T>());
    return compact_indices(backend, n, fill, result.values<T>());
  });
}

}  // namespace satin::cpu
