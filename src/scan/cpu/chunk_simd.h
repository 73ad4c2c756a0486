#pragma once
// Reduction and scan of one chunk by SIMD, for sums, minima and maxima.
//
// Vectors are 128 bits wide on every target: the order in which floats are added is part of the definition.
// A vector is scanned by itself (Hillis and Steele, Data parallel algorithms, 1986), then the carry is added,
// so that only one addition a vector waits for the vector before.

#include <cstddef>

#include "satin/scan.h"

namespace satin::cpu {

/// Functions for one operator and one pair of types. Pointers are of the types that they were asked for.
struct ChunkFunctions {
  /// *total = values[0] op values[1] ..., count > 0.
  void (*reduce)(const void* values, std::size_t count, void* total) = nullptr;
  /// Scans onto *carry. `values` may be `result`. With `stream`, stores go past the caches.
  void (*inclusive)(const void* values, std::size_t count, const void* carry, void* result,
                    bool stream) = nullptr;
  void (*exclusive)(const void* values, std::size_t count, const void* carry, void* result,
                    bool stream) = nullptr;
};

/// Null functions where there are none for this processor.
[[nodiscard]] ChunkFunctions chunk_functions(Operator op, Type values, Type result);

}  // namespace satin::cpu
