#pragma once
// Bin indices of values, and runs of code specialised on how they are found.

#include <cstdint>
#include <vector>

#include "scan/cpu/types.h"
#include "scan/maths/bin.h"

namespace satin::cpu {

template <class T>
struct EvenIndex {
  const T* values;
  BinRule rule;
  std::uint32_t operator()(std::int64_t i) const {
    return even_bin(static_cast<double>(values[i]), rule.lower, rule.scale, rule.count);
  }
};

template <class T>
struct EdgeIndex {
  const T* values;
  BinRule rule;
  std::uint32_t operator()(std::int64_t i) const {
    return edge_bin(static_cast<double>(values[i]), rule.inner, rule.count - 1);
  }
};

/// The index of each of 2^8 or 2^16 values, looked up.
template <class T>
struct TableIndex {
  const T* values;
  const std::uint16_t* table;
  std::uint32_t operator()(std::int64_t i) const { return table[values[i]]; }
};

inline std::vector<std::uint16_t> indices_of_codes(const BinRule& rule, std::size_t codes) {
  std::vector<std::uint16_t> table(codes);
  for (std::size_t code = 0; code < codes; ++code)
    table[code] = static_cast<std::uint16_t>(bin_of(static_cast<double>(code), rule));
  return table;
}

/// function(index), where index(i) is the bin of value i.
template <class Function>
void with_bin_index(ArrayView values, const Bins& bins, const Function& function) {
  with_type(values.type, [&]<class T>() {
    const BinRule rule = bin_rule(bins);
    const T* first = values.values<T>();
    if constexpr (sizeof(T) <= 2) {
      constexpr std::size_t codes = std::size_t{1} << (8 * sizeof(T));
      if (values.size >= static_cast<std::int64_t>(codes)) {
        const std::vector<std::uint16_t> table = indices_of_codes(rule, codes);
        return function(TableIndex<T>{first, table.data()});
      }
    }
    if (rule.inner == nullptr) {
      function(EvenIndex<T>{first, rule});
    } else {
      function(EdgeIndex<T>{first, rule});
    }
  });
}

}  // namespace satin::cpu
