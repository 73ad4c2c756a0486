// Histograms, bins and sorts on the CPU: all of them count small indices and scatter values stably by them.
//
// The array is cut into shares, one task each. Every share counts its own indices; a scan over all counts
// (bucket by bucket, share by share within a bucket) gives the first position of each share and bucket; then
// every share moves its values there. Radix sort does so for each digit, from the least significant one
// (Knuth, The Art of Computer Programming 3, 5.2.5).

#include <cstdint>
#include <vector>

#include "scan/cpu/blocks.h"
#include "scan/cpu/operations.h"
#include "scan/cpu/types.h"
#include "scan/maths/bin.h"
#include "scan/maths/sort_key.h"

namespace satin::cpu {
namespace {

/// An array in shares. One task counts or scatters a share.
struct Shares {
  Shares(const CpuBackend& backend, std::int64_t size)
      : n(size),
        count(std::clamp<std::int64_t>(size / smallest, 1,
                                       backend.threads.count() == 1 ? 1 : 4 * backend.threads.count())) {}

  static constexpr std::int64_t smallest = 32768;
  [[nodiscard]] std::int64_t begin(std::int64_t share) const {
    return share * (n / count) + std::min(share, n % count);
  }

  std::int64_t n;
  std::int64_t count;
};

/// Calls use(i, bucket) for [first, last). Computes the indices of a block in a loop of their own, which the
/// compiler can vectorize.
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

/// Adds to counts[i] how often index() is i over [first, last). Uses four tables in turn while they fit the
/// L1 cache, so that neighbouring values with one index do not wait for each other's store.
template <class Index>
void count_indices(const Index& index_of, std::int64_t first, std::int64_t last, std::size_t buckets,
                   std::uint64_t* counts) {
  constexpr std::int64_t most = std::int64_t{1} << 31;  // limit of the counters of 32 bits
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

/// Counts the indices of every share. The counts of share s begin at s * buckets.
template <class Index>
std::vector<std::uint64_t> count_shares(CpuBackend& backend, const Shares& shares, std::size_t buckets,
                                        const Index& index) {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(shares.count) * buckets);
  for_blocks(backend, shares.count, [&](std::int64_t share) {
    count_indices(index, shares.begin(share), shares.begin(share + 1), buckets,
                  counts.data() + static_cast<std::size_t>(share) * buckets);
  });
  return counts;
}

/// Turns the counts of all shares into first positions: bucket by bucket, share by share within a bucket.
inline void exclusive_positions(std::vector<std::uint64_t>& counts, std::size_t buckets) {
  std::uint64_t position = 0;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket)
    for (std::size_t at = bucket; at < counts.size(); at += buckets) {
      const std::uint64_t count = counts[at];
      counts[at] = position;
      position += count;
    }
}

/// Adds up the counts of all shares.
inline std::vector<std::uint64_t> totals(const std::vector<std::uint64_t>& counts, std::size_t buckets) {
  std::vector<std::uint64_t> sums(buckets);
  for (std::size_t at = 0; at < counts.size(); ++at) sums[at % buckets] += counts[at];
  return sums;
}

/// Calls move(i, position) for every value, in stable order. Advances the positions, which come from
/// exclusive_positions().
template <class Index, class Move>
void scatter(CpuBackend& backend, const Shares& shares, std::vector<std::uint64_t>& positions,
             std::size_t buckets, const Index& index, const Move& move) {
  for_blocks(backend, shares.count, [&](std::int64_t share) {
    std::uint64_t* position = positions.data() + static_cast<std::size_t>(share) * buckets;
    for_indices(index, shares.begin(share), shares.begin(share + 1),
                [&move, position](std::int64_t i, std::size_t bucket) { move(i, position[bucket]++); });
  });
}

// --- Indices of bins ---

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

/// Looks up the bins of values of 8 or 16 bits.
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

/// Calls function(index), where index(i) is the bin of value i. Builds a table where there are at least as
/// many values as codes.
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

constexpr int digit_bits = 8;
constexpr std::size_t digits = std::size_t{1} << digit_bits;

/// How keys are stored and ordered. Floats move as their bits, since a NaN in a register may lose its
/// payload.
template <class T>
struct Key {
  using Stored = T;
  static T canonical(T key) { return key; }
  static auto order(T key) { return sort_key(key); }
};
template <>
struct Key<float> {
  using Stored = std::uint32_t;
  static std::uint32_t canonical(std::uint32_t bits) { return canonical_float_bits(bits); }
  static std::uint32_t order(std::uint32_t bits) {
    return sort_key_of_float_bits(canonical_float_bits(bits));
  }
};

/// Keys and their values, in one order.
template <class K, class V>
struct Run {
  K* keys;
  V* values;  ///< null if there are none
};

template <class T, class V>
class RadixSort {
 public:
  using K = typename Key<T>::Stored;

  RadixSort(CpuBackend& backend, const SortArrays& arrays)
      : backend_(backend),
        shares_(backend, arrays.keys.size),
        from_{arrays.keys.values<K>(), arrays.values.size == 0 ? nullptr : arrays.values.values<V>()},
        result_{arrays.sorted_keys.values<K>(),
                arrays.values.size == 0 ? nullptr : arrays.sorted_values.values<V>()} {}

  void run() {
    for (int shift = 0; shift < static_cast<int>(sizeof(K)) * 8; shift += digit_bits) sort_digit(shift);
    if (from_.keys == result_.keys) return;
    for_ranges(backend_, shares_.n, Shares::smallest, [this](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) result_.keys[i] = Key<T>::canonical(from_.keys[i]);
      if (result_.values != nullptr)
        std::copy(from_.values + first, from_.values + last, result_.values + first);
    });
  }

 private:
  void sort_digit(int shift) {
    const K* keys = from_.keys;
    const auto digit = [=](std::int64_t i) {
      return static_cast<std::uint16_t>(Key<T>::order(keys[i]) >> shift & (digits - 1));
    };
    std::vector<std::uint64_t> positions = count_shares(backend_, shares_, digits, digit);
    const std::vector<std::uint64_t> sums = totals(positions, digits);
    if (std::find(sums.begin(), sums.end(), static_cast<std::uint64_t>(shares_.n)) != sums.end()) return;
    exclusive_positions(positions, digits);
    const Run<K, V> to = next();
    if (to.values == nullptr) {
      scatter(backend_, shares_, positions, digits, digit, [=](std::int64_t i, std::uint64_t position) {
        to.keys[position] = Key<T>::canonical(keys[i]);
      });
    } else {
      const V* values = from_.values;
      scatter(backend_, shares_, positions, digits, digit, [=](std::int64_t i, std::uint64_t position) {
        to.keys[position] = Key<T>::canonical(keys[i]);
        to.values[position] = values[i];
      });
    }
    from_ = {to.keys, to.values};
  }

  /// Returns the target of the next digit, chosen so that the last digit ends in the result if none is
  /// skipped.
  Run<K, V> next() {
    const bool odd = sizeof(K) * 8 / digit_bits % 2 == 1;
    if (from_.keys != result_.keys && (odd || from_.keys == other().keys)) return result_;
    return other();
  }

  Run<K, V> other() {
    if (keys_.get() == nullptr) {
      const auto n = static_cast<std::size_t>(shares_.n);
      keys_ = allocate_host(n * sizeof(K));
      if (result_.values != nullptr) values_ = allocate_host(n * sizeof(V));
    }
    return {reinterpret_cast<K*>(keys_.get()), reinterpret_cast<V*>(values_.get())};
  }

  CpuBackend& backend_;
  Shares shares_;
  Run<const K, const V> from_;
  Run<K, V> result_;
  Buffer keys_;
  Buffer values_;
};

template <class K>
void write_runs(CpuBackend& backend, const std::vector<std::uint64_t>& starts, K* result, std::int64_t n) {
  for_ranges(backend, n, Shares::smallest, [&](std::int64_t first, std::int64_t last) {
    auto at = static_cast<std::uint64_t>(first);
    const auto end = static_cast<std::uint64_t>(last);
    auto next = std::upper_bound(starts.begin(), starts.end(), at);
    for (; at < end; ++next) {
      const std::uint64_t stop = next == starts.end() ? end : std::min(*next, end);
      std::fill(result + at, result + stop, static_cast<K>(next - starts.begin() - 1));
      at = stop;
    }
  });
}

/// Returns false if a key is `range` or larger: such keys fall into a last bucket, which must stay empty.
template <class K>
bool sort_by_counts(CpuBackend& backend, const SortArrays& arrays, std::int64_t range) {
  const auto limit = static_cast<std::size_t>(range);
  const std::size_t buckets = limit + 1;
  const Shares shares(backend, arrays.keys.size);
  const K* keys = arrays.keys.values<K>();
  const auto index = [=](std::int64_t i) { return std::min<std::size_t>(keys[i], limit); };
  std::vector<std::uint64_t> positions = count_shares(backend, shares, buckets, index);
  const std::vector<std::uint64_t> sums = totals(positions, buckets);
  if (sums[limit] != 0) return false;
  exclusive_positions(positions, buckets);
  const std::vector<std::uint64_t> starts(positions.begin(), positions.begin() + range);
  write_runs(backend, starts, arrays.sorted_keys.values<K>(), shares.n);
  if (arrays.values.size == 0) return true;
  with_word(arrays.values.type, [&]<class V>() {
    const V* from = arrays.values.values<V>();
    V* to = arrays.sorted_values.values<V>();
    scatter(backend, shares, positions, buckets, index,
            [=](std::int64_t i, std::uint64_t position) { to[position] = from[i]; });
  });
  return true;
}

}  // namespace

void radix_sort(Backend& backend, const SortArrays& arrays, Stream) {
  with_type(arrays.keys.type, [&]<class T>() {
    if constexpr (!std::is_same_v<T, double>) {
      const Type moved = arrays.values.size == 0 ? Type::u8 : arrays.values.type;
      with_word(moved, [&]<class V>() { RadixSort<T, V>(as_cpu(backend), arrays).run(); });
    }
  });
}

bool counting_sort(Backend& backend, const SortArrays& arrays, std::int64_t range, Stream) {
  return with_word(arrays.keys.type,
                   [&]<class K>() { return sort_by_counts<K>(as_cpu(backend), arrays, range); });
}

namespace {

void store_counts(const std::vector<std::uint64_t>& sums, MutableArrayView counts) {
  with_word(counts.type, [&]<class T>() {
    std::transform(sums.begin(), sums.end(), counts.values<T>(),
                   [](std::uint64_t sum) { return static_cast<T>(sum); });
  });
}

}  // namespace

void histogram(Backend& any, ArrayView values, const Bins& bins, MutableArrayView counts, Stream) {
  CpuBackend& backend = as_cpu(any);
  const auto buckets = static_cast<std::size_t>(bins.count());
  with_bin_index(values, bins, [&](const auto& index) {
    store_counts(totals(count_shares(backend, Shares(backend, values.size), buckets, index), buckets),
                 counts);
  });
}

void extract_bins(Backend& any, ArrayView values, const Bins& bins, MutableArrayView result,
                  MutableArrayView counts, MutableArrayView indices, Stream) {
  CpuBackend& backend = as_cpu(any);
  const auto buckets = static_cast<std::size_t>(bins.count());
  const Shares shares(backend, values.size);
  auto* indices32 =
      indices.size != 0 && indices.type == Type::u32 ? indices.values<std::uint32_t>() : nullptr;
  auto* indices64 =
      indices.size != 0 && indices.type == Type::u64 ? indices.values<std::uint64_t>() : nullptr;
  with_bin_index(values, bins, [&](const auto& index) {
    std::vector<std::uint64_t> positions = count_shares(backend, shares, buckets, index);
    store_counts(totals(positions, buckets), counts);
    exclusive_positions(positions, buckets);
    with_word(values.type, [&]<class T>() {
      const T* from = values.values<T>();
      T* to = result.values<T>();
      scatter(backend, shares, positions, buckets, index, [=](std::int64_t i, std::uint64_t position) {
        to[position] = from[i];
        if (indices32 != nullptr) indices32[position] = static_cast<std::uint32_t>(i);
        if (indices64 != nullptr) indices64[position] = static_cast<std::uint64_t>(i);
      });
    });
  });
}

}  // namespace satin::cpu
