#include <algorithm>
#include <bit>

#include "scan/cuda/operations.h"
#include "scan/cuda/space.h"

namespace satin::cuda {
namespace {

int bits_of(Type key) { return static_cast<int>(size_of(key)) * 8; }

void sort_by_bits(const CudaBackend& device, const SortArrays& arrays, int bits, Stream stream) {
  run_in_space(device, stream, "sorting", [&](kernels::Space& space) {
    return arrays.values.size == 0
               ? kernels::sort_keys(space, arrays.keys, arrays.sorted_keys, bits, device.stream_of(stream))
               : kernels::sort_pairs(space, arrays, bits, device.stream_of(stream));
  });
}

/// Keys alone need no look at NaN before: what is equal looks alike after. The sort's workspace, which is
/// free again, serves to move the numbers if there are NaN of negative sign.
void sort_floats(const CudaBackend& device, const SortArrays& arrays, Stream stream) {
  const cudaStream_t handle = device.stream_of(stream);
  const auto bytes = static_cast<std::size_t>(arrays.keys.size) * size_of(arrays.keys.type);
  const StreamBuffer space = run_in_space(device, stream, "sorting", bytes, [&](kernels::Space& sort_space) {
    return kernels::sort_keys(sort_space, arrays.keys, arrays.sorted_keys, bits_of(arrays.keys.type), handle);
  });
  const StreamBuffer range(device, 2 * sizeof(std::int64_t), stream);
  kernels::gather_nan(arrays.sorted_keys, range.as<std::int64_t>(), space.get(), handle);
  check_launch("moving NaN to the end");
}

/// NaN become equal before, so that they keep their order.
void sort_float_pairs(const CudaBackend& device, const SortArrays& arrays, Stream stream) {
  const StreamArray keys(device, arrays.keys.type, arrays.keys.size, stream);
  kernels::canonical_floats(arrays.keys, keys.view(), device.stream_of(stream));
  SortArrays canonical = arrays;
  canonical.keys = keys.view();
  sort_by_bits(device, canonical, bits_of(arrays.keys.type), stream);
}

/// Counts, their scan, and each key written as often as it was counted.
void count_and_write(const CudaBackend& device, const SortArrays& arrays, std::int64_t range,
                     std::int64_t* invalid, Stream stream) {
  const cudaStream_t handle = device.stream_of(stream);
  const std::size_t bytes = static_cast<std::size_t>(range + 1) * sizeof(std::uint64_t);
  const StreamBuffer offsets(device, bytes, stream);
  offsets.clear(bytes);
  kernels::count_keys(arrays.keys, range, offsets.as<std::uint64_t>(), invalid, device.multiprocessors(),
                      handle);
  kernels::write_counted(arrays.sorted_keys, range, offsets.as<std::uint64_t>(), handle);
}

}  // namespace

void radix_sort(Backend& backend, const SortArrays& arrays, Stream stream) {
  const CudaBackend& device = as_cuda(backend);
  device.select();
  if (arrays.keys.type != Type::f32) return sort_by_bits(device, arrays, bits_of(arrays.keys.type), stream);
  if (arrays.values.size == 0) return sort_floats(device, arrays, stream);
  sort_float_pairs(device, arrays, stream);
}

// Pairs, and keys of a range too large for the counts of a block, are sorted by the digits of 8 bits that the
// range needs: each is a stable counting sort.
bool counting_sort(Backend& backend, const SortArrays& arrays, std::int64_t range, Stream stream) {
  CudaBackend& device = as_cuda(backend);
  device.select();
  const StreamBuffer invalid(device, sizeof(std::int64_t), stream);
  invalid.clear(sizeof(std::int64_t));
  if (arrays.values.size == 0 && range <= kernels::most_counted_keys) {
    count_and_write(device, arrays, range, invalid.as<std::int64_t>(), stream);
  } else {
    kernels::check_keys(arrays.keys, range, invalid.as<std::int64_t>(), device.multiprocessors(),
                        device.stream_of(stream));
    const int needed = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(range - 1)));
    sort_by_bits(device, arrays, std::clamp(needed, 1, bits_of(arrays.keys.type)), stream);
  }
  check_launch("sorting by counts");
  return download<std::int64_t>(device, invalid.get(), stream) == 0;
}

}  // namespace satin::cuda
