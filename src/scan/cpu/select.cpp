// Compaction and partition on the CPU: a chunk is turned into a mask of bytes, its ones are counted, the
// counts are scanned, and the values are written. Arithmetic on the mask byte decides where a value goes,
// since a branch would be mispredicted for every second value of a random mask.

#include <functional>
#include <numeric>
#include <vector>

#include "satin/host/chain.h"
#include "scan/cpu/blocks.h"
#include "scan/cpu/operations.h"
#include "scan/cpu/types.h"
#include "scan/maths/bin.h"

namespace satin::cpu {
namespace {

/// Writes 1 for selected values and 0 for others, for [first, first + count).
using FillMask = std::function<void(std::int64_t first, std::int64_t count, std::uint8_t* mask)>;

template <class Function>
decltype(auto) with_comparison(Comparison comparison, const Function& function) {
  switch (comparison) {
    case Comparison::less:
      return function(std::less<>());
    case Comparison::less_equal:
      return function(std::less_equal<>());
    case Comparison::greater:
      return function(std::greater<>());
    case Comparison::greater_equal:
      return function(std::greater_equal<>());
    case Comparison::equal:
      return function(std::equal_to<>());
    default:
      return function(std::not_equal_to<>());
  }
}

FillMask mask_by(ArrayView values, const Predicate& predicate) {
  return with_type(values.type, [&]<class T>() {
    const T* all = values.values<T>();
    const T number = value_of<T>(predicate.number).value_or(T{});
    return with_comparison(predicate.comparison, [=]<class Compare>(Compare compare) -> FillMask {
      return [=](std::int64_t first, std::int64_t count, std::uint8_t* mask) {
        const T* from = all + first;
        const T limit = number;  // a copy, which no store of bytes can change
        for (std::int64_t i = 0; i < count; ++i) mask[i] = compare(from[i], limit) ? 1 : 0;
      };
    });
  });
}

FillMask mask_by(ArrayView, ArrayView given) {
  const auto* all = given.values<std::uint8_t>();
  return [=](std::int64_t first, std::int64_t count, std::uint8_t* mask) {
    const std::uint8_t* from = all + first;
    for (std::int64_t i = 0; i < count; ++i) mask[i] = from[i] != 0 ? 1 : 0;
  };
}

FillMask mask_by(ArrayView values, const InBin& in_bin) {
  const BinRule rule = bin_rule(*in_bin.bins);
  const auto bin = static_cast<std::uint32_t>(in_bin.bin);
  return with_type(values.type, [=]<class T>() -> FillMask {
    const T* all = values.values<T>();
    return [=](std::int64_t first, std::int64_t count, std::uint8_t* mask) {
      const T* from = all + first;
      const BinRule bins = rule;
      for (std::int64_t i = 0; i < count; ++i)
        mask[i] = bin_of(static_cast<double>(from[i]), bins) == bin ? 1 : 0;
    };
  });
}

/// Returns a function that refers to the selection.
FillMask mask_of(const Selection& selection) {
  return std::visit([&](const auto& by) { return mask_by(selection.values, by); }, selection.by);
}

constexpr std::int64_t length = 8192;  // mask and values of a chunk stay in the L1 or L2 cache

struct Mask {
  std::uint8_t bytes[length];  // NOLINT(cppcoreguidelines-pro-type-member-init): filled before it is read
  std::int64_t selected;

  Mask(const FillMask& fill, std::int64_t first, std::int64_t last) {
    fill(first, last - first, bytes);
    selected = std::accumulate(bytes, bytes + (last - first), std::int64_t{0});
  }
};

/// Calls write(mask, first, offset) for every chunk; `offset` values are selected before it. One pass over
/// memory.
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

/// Writes the selected values, then the others, each in their order. Two passes, since the place of the first
/// other value depends on all of the mask.
template <class T>
std::int64_t partition(CpuBackend& backend, const T* values, std::int64_t n, const FillMask& fill,
                       T* result) {
  std::vector<std::int64_t> before(static_cast<std::size_t>((n + length - 1) / length) + 1);
  for_ranges(backend, n, length, [&](std::int64_t first, std::int64_t last) {
    before[static_cast<std::size_t>(first / length) + 1] = Mask(fill, first, last).selected;
  });
  std::partial_sum(before.begin(), before.end(), before.begin());
  const std::int64_t total = before.back();
  for_ranges(backend, n, length, [&](std::int64_t first, std::int64_t last) {
    const Mask mask(fill, first, last);
    std::int64_t selected = before[static_cast<std::size_t>(first / length)];
    std::int64_t other = total + first - selected;
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t take = mask.bytes[i - first];
      result[other ^ ((selected ^ other) & -take)] = values[i];  // chooses without a branch
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
  return with_word(result.type, [&]<class T>() -> std::int64_t {
    const T* values = selection.values.values<T>();
    if (selection.keep == Selection::Keep::partition)
      return partition(backend, values, n, fill, result.values<T>());
    if (selection.keep == Selection::Keep::values)
      return compact_values(backend, values, n, fill, result.values<T>());
    return compact_indices(backend, n, fill, result.values<T>());
  });
}

}  // namespace satin::cpu
