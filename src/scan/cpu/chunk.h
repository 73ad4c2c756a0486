#pragma once
// Reduction and scan of one chunk by SIMD, for sums, minima and maxima.
//
// Vectors are 128 bits wide on every target, since the order in which floats are added is part of the result.
// A vector is scanned on its own (Hillis and Steele, Data parallel algorithms, 1986) before the carry is
// added, so only one addition per vector depends on the vector before.

#include <algorithm>
#include <array>
#include <cstddef>

#include "satin/scan.h"

namespace satin::cpu {

/// Functions for one operator and one pair of types. Pointers point to these types.
struct ChunkFunctions {
  /// Sets *total to values[0] op values[1] ...; count > 0.
  void (*reduce)(const void* values, std::size_t count, void* total) = nullptr;
  /// Scan onto *carry. `values` may be `result`. With `stream`, stores go past the caches.
  void (*inclusive)(const void* values, std::size_t count, const void* carry, void* result,
                    bool stream) = nullptr;
  void (*exclusive)(const void* values, std::size_t count, const void* carry, void* result,
                    bool stream) = nullptr;
};

/// Returns the SIMD functions of this processor; null pointers where it has none.
[[nodiscard]] ChunkFunctions chunk_functions(Operator op, Type values, Type result);

/// Scans a chunk without SIMD by the operations of ChunkFunctions in their order, for products and for
/// processors without SIMD.
template <class Op, class In>
class PlainChunk {
 public:
  using Out = typename Op::Value;

  static void reduce(const void* from, std::size_t count, void* total) {
    const auto* values = static_cast<const In*>(from);
    std::array<Vector, 4> sums;
    for (Vector& sum : sums) sum.fill(Op::identity);
    std::size_t i = 0;
    for (; i + 4 * lanes <= count; i += 4 * lanes)
      for (std::size_t s = 0; s < 4; ++s) sums[s] = combined(sums[s], load(values + i + s * lanes, lanes));
    for (; i + lanes <= count; i += lanes) sums[0] = combined(sums[0], load(values + i, lanes));
    if (i < count) sums[1] = combined(sums[1], load(values + i, count - i));
    const Vector sum = combined(combined(sums[0], sums[1]), combined(sums[2], sums[3]));
    *static_cast<Out*>(total) = scanned(sum)[lanes - 1];
  }

  template <bool Exclusive>
  static void scan(const void* from, std::size_t count, const void* start, void* to, bool) {
    const auto* values = static_cast<const In*>(from);
    auto* result = static_cast<Out*>(to);
    Out carry = *static_cast<const Out*>(start);
    for (std::size_t i = 0; i < count; i += lanes) {
      const std::size_t rest = std::min(lanes, count - i);
      const Vector prefix = scanned(load(values + i, rest));
      for (std::size_t lane = 0; lane < rest; ++lane) {
        const Out own = !Exclusive ? prefix[lane] : lane == 0 ? Op::identity : prefix[lane - 1];
        result[i + lane] = Op()(carry, own);
      }
      carry = Op()(carry, prefix[lanes - 1]);
    }
  }

 private:
  static constexpr std::size_t lanes = 16 / sizeof(Out);
  using Vector = std::array<Out, lanes>;

  static Vector load(const In* values, std::size_t count) {
    Vector vector;
    vector.fill(Op::identity);
    for (std::size_t lane = 0; lane < count; ++lane) vector[lane] = Op::read(values[lane]);
    return vector;
  }
  static Vector combined(const Vector& a, const Vector& b) {
    Vector result;
    for (std::size_t lane = 0; lane < lanes; ++lane) result[lane] = Op()(a[lane], b[lane]);
    return result;
  }
  /// Combines lanes at distances of 1, 2, 4 ...; identities stand for lanes below the first.
  static Vector scanned(Vector vector) {
    for (std::size_t step = 1; step < lanes; step *= 2)
      for (std::size_t lane = lanes; lane-- > 0;)
        vector[lane] = Op()(lane < step ? Op::identity : vector[lane - step], vector[lane]);
    return vector;
  }
};

/// Returns the SIMD functions, or else those of PlainChunk.
template <class Op, class In>
ChunkFunctions fastest_chunk_functions(Operator op) {
  const ChunkFunctions simd = chunk_functions(op, type_of<In>(), type_of<typename Op::Value>());
  if (simd.reduce != nullptr) return simd;
  using Plain = PlainChunk<Op, In>;
  return {Plain::reduce, Plain::template scan<false>, Plain::template scan<true>};
}

}  // namespace satin::cpu
