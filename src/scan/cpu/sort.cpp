// Radix sort from the least significant digit (Knuth, The Art of Computer Programming 3, 5.2.5), and counting
// sort: each digit is a stable counting sort of its own.

#include <vector>

#include "scan/cpu/counts.h"
#include "scan/cpu/operations.h"
#include "scan/cpu/types.h"
#include "scan/maths/sort_key.h"

namespace satin::cpu {
namespace {

constexpr int digit_bits = 8;
constexpr std::size_t digits = std::size_t{1} << digit_bits;

/// Floats are moved as their bits, for a NaN would otherwise not keep its own.
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

/// Keys and what goes with them, in one order.
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
        parts_(backend, arrays.keys.size),
        from_{arrays.keys.values<K>(), arrays.values.size == 0 ? nullptr : arrays.values.values<V>()},
        result_{arrays.sorted_keys.values<K>(),
                arrays.values.size == 0 ? nullptr : arrays.sorted_values.values<V>()} {}

  void run() {
    for (int shift = 0; shift < static_cast<int>(sizeof(K)) * 8; shift += digit_bits) sort_digit(shift);
    if (from_.keys == result_.keys) return;
    for_parts(backend_, parts_.n, Parts::smallest, [this](std::int64_t first, std::int64_t last) {
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
    std::vector<std::uint64_t> positions = count_parts(backend_, parts_, digits, digit);
    const std::vector<std::uint64_t> sums = totals(positions, digits);
    if (std::find(sums.begin(), sums.end(), static_cast<std::uint64_t>(parts_.n)) != sums.end()) return;
    exclusive_positions(positions, digits);
    const Run<K, V> to = next();
    if (to.values == nullptr) {
      scatter(backend_, parts_, positions, digits, digit, [=](std::int64_t i, std::uint64_t position) {
        to.keys[position] = Key<T>::canonical(keys[i]);
      });
    } else {
      const V* values = from_.values;
      scatter(backend_, parts_, positions, digits, digit, [=](std::int64_t i, std::uint64_t position) {
        to.keys[position] = Key<T>::canonical(keys[i]);
        to.values[position] = values[i];
      });
    }
    from_ = {to.keys, to.values};
  }

  /// Where the next digit is sorted to: with all digits in use, the last one to the result.
  Run<K, V> next() {
    const bool odd = sizeof(K) * 8 / digit_bits % 2 == 1;
    if (from_.keys != result_.keys && (odd || from_.keys == other().keys)) return result_;
    return other();
  }

  Run<K, V> other() {
    if (keys_.get() == nullptr) {
      const auto n = static_cast<std::size_t>(parts_.n);
      keys_ = allocate_host(n * sizeof(K));
      if (result_.values != nullptr) values_ = allocate_host(n * sizeof(V));
    }
    return {reinterpret_cast<K*>(keys_.get()), reinterpret_cast<V*>(values_.get())};
  }

  CpuBackend& backend_;
  Parts parts_;
  Run<const K, const V> from_;
  Run<K, V> result_;
  Buffer keys_;
  Buffer values_;
};

template <class K>
void write_runs(CpuBackend& backend, const std::vector<std::uint64_t>& starts, K* result, std::int64_t n) {
  for_parts(backend, n, Parts::smallest, [&](std::int64_t first, std::int64_t last) {
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

/// Keys from `range` on share the last bucket, which must stay empty.
template <class K>
bool sort_by_counts(CpuBackend& backend, const SortArrays& arrays, std::int64_t range) {
  const auto limit = static_cast<std::size_t>(range);
  const std::size_t buckets = limit + 1;
  const Parts parts(backend, arrays.keys.size);
  const K* keys = arrays.keys.values<K>();
  const auto index = [=](std::int64_t i) { return std::min<std::size_t>(keys[i], limit); };
  std::vector<std::uint64_t> positions = count_parts(backend, parts, buckets, index);
  const std::vector<std::uint64_t> sums = totals(positions, buckets);
  if (sums[limit] != 0) return false;
  exclusive_positions(positions, buckets);
  const std::vector<std::uint64_t> starts(positions.begin(), positions.begin() + range);
  write_runs(backend, starts, arrays.sorted_keys.values<K>(), parts.n);
  if (arrays.values.size == 0) return true;
  with_size(size_of(arrays.values.type), [&]<class V>() {
    const V* from = arrays.values.values<V>();
    V* to = arrays.sorted_values.values<V>();
    scatter(backend, parts, positions, buckets, index,
            [=](std::int64_t i, std::uint64_t position) { to[position] = from[i]; });
  });
  return true;
}

}  // namespace

void radix_sort(Backend& backend, const SortArrays& arrays, Stream) {
  with_type(arrays.keys.type, [&]<class T>() {
    if constexpr (!std::is_same_v<T, double>) {
      const std::size_t size = arrays.values.size == 0 ? 1 : size_of(arrays.values.type);
      with_size(size, [&]<class V>() { RadixSort<T, V>(as_cpu(backend), arrays).run(); });
    }
  });
}

bool counting_sort(Backend& backend, const SortArrays& arrays, std::int64_t range, Stream) {
  return with_size(size_of(arrays.keys.type),
                   [&]<class K>() { return sort_by_counts<K>(as_cpu(backend), arrays, range); });
}

}  // namespace satin::cpu
