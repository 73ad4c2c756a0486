#pragma once
// Words that blocks of one launch exchange through device memory without fences.
//
// Every word carries the tag of the run that wrote it, which proves that it has arrived. So no word depends
// on another one being visible first, and relaxed accesses of single words suffice: no fence, no acquire, no
// flag.
//
// Every word is written in every run, and runs of one workspace follow each other. A reader therefore finds
// the word of this run or of the run before (zero before the first run). Tags differ between successive runs,
// so wrapping around does no harm.
//
// An access to a vector counts as one access to each element, in any order (PTX memory consistency model).

#include <cstdint>

#include "kernels/device/vector.cuh"

namespace satin::kernels {

inline constexpr int tag_bits = 8;
inline constexpr int value_bits = 32 - tag_bits;
inline constexpr std::uint32_t largest_value = (1U << value_bits) - 1;

/// Returns the tag of run 0, 1, 2 ... The tag of run 0 differs from the 0 of cleared memory. Run numbers may
/// wrap to 0 at any power of two from 2 on: successive tags differ there as well.
__device__ inline std::uint32_t tag_of_run(std::uint32_t run) { return (run + 1) & ((1U << tag_bits) - 1); }

__device__ inline std::uint32_t tagged(std::uint32_t tag, std::uint32_t value) {
  return tag << value_bits | value;
}
__device__ inline std::uint32_t value_of(std::uint32_t word) { return word & largest_value; }
__device__ inline bool is_current(std::uint32_t word, std::uint32_t tag) { return word >> value_bits == tag; }

__device__ inline std::uint64_t tagged_wide(std::uint32_t tag, std::uint32_t value) {
  return static_cast<std::uint64_t>(tag) << 32 | value;
}
__device__ inline std::uint32_t value_of(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
__device__ inline bool is_current(std::uint64_t word, std::uint32_t tag) {
  return static_cast<std::uint32_t>(word >> 32) == tag;
}

template <int N>
__device__ Vector<std::uint32_t, N> tagged(std::uint32_t tag, const Vector<std::uint32_t, N>& values) {
  Vector<std::uint32_t, N> words;
#pragma unroll
  for (int i = 0; i < N; ++i) words.of[i] = tagged(tag, values.of[i]);
  return words;
}
template <int N>
__device__ bool is_current(const Vector<std::uint32_t, N>& words, std::uint32_t tag) {
  const std::uint32_t expected = tag << value_bits;
  std::uint32_t differences = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) differences |= words.of[i] ^ expected;
  return differences <= largest_value;
}

/// Number of words in which a sum is published, `value_bits` in each.

template <class Sum>
inline constexpr int word_count_of = (static_cast<int>(sizeof(Sum)) * 8 + value_bits - 1) / value_bits;

template <class Sum>
__device__ std::uint32_t word_of(Sum sum, int word) {
  return static_cast<std::uint32_t>(sum >> word * value_bits) & largest_value;
}
template <class Sum, int N>
__device__ Vector<std::uint32_t, N> word_of(const Vector<Sum, N>& sums, int word) {
  Vector<std::uint32_t, N> sum_words;
#pragma unroll
  for (int i = 0; i < N; ++i) sum_words.of[i] = word_of(sums.of[i], word);
  return sum_words;
}

__device__ inline void publish(std::uint32_t* to, std::uint32_t word) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(word) : "memory");
}
__device__ inline void publish(std::uint64_t* to, std::uint64_t word) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
}
__device__ inline void publish(std::uint32_t* to, const Vector<std::uint32_t, 4>& words) {
  asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(words.of[0]),
               "r"(words.of[1]), "r"(words.of[2]), "r"(words.of[3])
               : "memory");
}
__device__ inline void publish(std::uint32_t* to, const Vector<std::uint32_t, 2>& words) {
  asm volatile("st.relaxed.gpu.global.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(words.of[0]), "r"(words.of[1])
               : "memory");
}

template <int N>
__device__ void publish(std::uint32_t* to, const Vector<std::uint32_t, N>& words) {
#pragma unroll
  for (int i = 0; i < N; i += 4)
    publish(to + i,
            Vector<std::uint32_t, 4>{{words.of[i], words.of[i + 1], words.of[i + 2], words.of[i + 3]}});
}

__device__ inline void look_at(const std::uint64_t* from, std::uint64_t& word) {
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(from));
}
__device__ inline void look_at(const std::uint32_t* from, Vector<std::uint32_t, 4>& words) {
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words.of[0]), "=r"(words.of[1]), "=r"(words.of[2]), "=r"(words.of[3])
               : "l"(from));
}
__device__ inline void look_at(const std::uint32_t* from, Vector<std::uint32_t, 2>& words) {
  asm volatile("ld.relaxed.gpu.global.v2.u32 {%0, %1}, [%2];"
               : "=r"(words.of[0]), "=r"(words.of[1])
               : "l"(from));
}
template <int N>
__device__ void look_at(const std::uint32_t* from, Vector<std::uint32_t, N>& words) {
#pragma unroll
  for (int i = 0; i < N; i += 4) {
    Vector<std::uint32_t, 4> four;
    look_at(from + i, four);
#pragma unroll
    for (int k = 0; k < 4; ++k) words.of[i + k] = four.of[k];
  }
}

}  // namespace satin::kernels
