// Histograms. Bytes are counted as they are and their 256 counts put into bins afterwards, so that no bin is
// computed for a pixel.

#include <cstdint>

#include "kernels/scan/count.cuh"
#include "kernels/scan/launch.h"
#include "kernels/scan/types.cuh"
#include "scan/maths/bin.h"

namespace satin::kernels {
namespace {

struct ByteSlot {
  __device__ std::uint32_t operator()(std::uint8_t value, bool&) const { return value; }
};

struct BinOfByte {
  BinRule rule;
  __device__ std::uint32_t operator()(std::uint32_t byte) const {
    return bin_of(static_cast<double>(byte), rule);
  }
};

template <class T>
struct BinSlot {
  BinRule rule;
  __device__ std::uint32_t operator()(T value, bool&) const {
    return bin_of(static_cast<double>(value), rule);
  }
};

}  // namespace

void histogram(ArrayView values, const BinRule& rule, MutableArrayView counts, int multiprocessors,
               StreamHandle stream) {
  const Totals totals = totals_of(counts);
  with_type(values.type, [&]<class T>() {
    const Vectors<T> vectors(values.values<T>(), values.size);
    if constexpr (sizeof(T) == 1)
      count(vectors, ByteSlot(), 256, totals, multiprocessors, stream, BinOfByte{rule});
    else
      count(vectors, BinSlot<T>{rule}, std::int64_t{rule.count}, totals, multiprocessors, stream);
    return 0;
  });
}

}  // namespace satin::kernels
