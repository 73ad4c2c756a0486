#pragma once
// Medians of 3 x 3 and 5 x 5 values by exchanges that do not depend on them.
//
// Columns are sorted, then rows of what stands at the same place of the sorted columns. After that the value
// at row i and column j, from 0, is not below (i + 1)(j + 1) values, itself among them, and likewise above,
// so the median stands on the diagonal between the corners of the largest and the smallest or, of 5 x 5, next
// to it. Of these values the smallest and the largest are dropped, another one is looked at, and so on.
//
// Values are whatever least() and most() order; two in a word are two medians side by side.

#include <cstdint>

namespace satin::kernels::network {

/// Two values of 16 bits.
struct Pair {
  std::uint32_t word;
};
__device__ inline Pair least(Pair a, Pair b) { return {__vminu2(a.word, b.word)}; }
__device__ inline Pair most(Pair a, Pair b) { return {__vmaxu2(a.word, b.word)}; }
__device__ inline std::int32_t least(std::int32_t a, std::int32_t b) { return min(a, b); }
__device__ inline std::int32_t most(std::int32_t a, std::int32_t b) { return max(a, b); }

template <class Value>
__device__ void exchange(Value& smaller, Value& larger) {
  const Value smallest = least(smaller, larger);
  larger = most(smaller, larger);
  smaller = smallest;
}

/// Two or four values.
template <class Value, int Count>
__device__ void sort(Value (&values)[Count]) {
  static_assert(Count == 2 || Count == 4);
  exchange(values[0], values[1]);
  if constexpr (Count == 4) {
    exchange(values[2], values[3]);
    exchange(values[0], values[2]);
    exchange(values[1], values[3]);
    exchange(values[1], values[2]);
  }
}

/// The value of rank `rank`, from 0, of sorted ones and one more.
template <class Value, int Count>
__device__ Value rank_with(const Value (&sorted)[Count], const Value& more, int rank) {
  if (rank == 0) return least(sorted[0], more);
  if (rank == Count) return most(sorted[Count - 1], more);
  return most(sorted[rank - 1], least(sorted[rank], more));
}

/// Three or five values: all but the first are sorted before it joins them.
template <class Value, int Count>
__device__ void sort_column(const Value (&values)[Count], Value (&sorted)[Count]) {
  Value others[Count - 1];
  for (int i = 1; i < Count; ++i) others[i - 1] = values[i];
  sort(others);
  for (int i = 0; i < Count; ++i) sorted[i] = rank_with(others, values[0], i);
}

/// The smallest value to the front, the largest to the end.
template <int Count, class Value>
__device__ void part_extremes(Value* values) {
  constexpr int half = Count / 2;
  for (int i = 0; i < half; ++i) exchange(values[i], values[Count - 1 - i]);
  for (int i = 1; i < half; ++i) exchange(values[0], values[i]);
  for (int i = Count - half; i < Count - 1; ++i) exchange(values[i], values[Count - 1]);
  if constexpr (Count % 2 != 0) {
    exchange(values[0], values[half]);
    exchange(values[half], values[Count - 1]);
  }
}

template <class Value>
__device__ Value median_of_three(const Value& a, const Value& b, const Value& c) {
  return most(least(a, b), least(most(a, b), c));
}

/// The median of `Count` values and of those that follow them, as many as Count - 3.
template <int Count, class Value>
__device__ Value median_of_more(Value* values, const Value* more) {
  if constexpr (Count == 3) {
    return median_of_three(values[0], values[1], values[2]);
  } else {
    part_extremes<Count>(values);
    values[0] = *more;
    return median_of_more<Count - 1>(values, more + 1);
  }
}

/// The median of Size columns, of which all but one are sorted by rows: rows[i] are the sorted values at
/// place i of those columns, last[i] that of the other one.
template <int Size, class Value>
__device__ Value median_of(const Value (&rows)[Size][Size - 1], const Value (&last)[Size]) {
  Value middle[Size];
  for (int i = 0; i < Size; ++i) middle[i] = rank_with(rows[i], last[i], Size - 1 - i);
  if constexpr (Size == 3) {
    return median_of_three(middle[0], middle[1], middle[2]);
  } else {
    static_assert(Size == 5);
    Value lower[4];
    Value upper[4];
    for (int i = 0; i < 4; ++i) {
      lower[i] = rank_with(rows[i], last[i], 3 - i);
      upper[i] = rank_with(rows[i + 1], last[i + 1], 4 - i);
    }
    // None is below the smallest of the lower ones or above the largest of the upper ones.
    for (int i = 1; i < 4; ++i) {
      exchange(lower[0], lower[i]);
      exchange(upper[3 - i], upper[3]);
    }
    Value values[7] = {lower[1], lower[2], lower[3], upper[0], upper[1], upper[2], middle[0]};
    return median_of_more<7>(values, middle + 1);
  }
}

}  // namespace satin::kernels::network
