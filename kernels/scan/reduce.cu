// Reductions in two launches: one value for each block, then one value of all blocks. The order in which
// floats are combined depends on the number of values, their alignment and the number of multiprocessors,
// nothing else.

#include <cstdint>

#include "kernels/device/warp.cuh"
#include "kernels/scan/arrays.cuh"
#include "kernels/scan/launch.h"
#include "scan/maths/scan_operator.h"

namespace satin::kernels {
namespace {

constexpr int threads = 256;
constexpr int loads = 4;  ///< vectors in flight per thread
constexpr int blocks_per_multiprocessor = 8;

template <class Op, class T>
__device__ T reduce_warp(T value) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    value = Op()(value, static_cast<T>(__shfl_xor_sync(whole_warp, value, distance)));
  return value;
}

/// Combines the values of all threads; thread 0 gets the result.
template <class Op, class T>
__device__ T reduce_block(T value) {
  __shared__ T of_warps[threads / warp_size];
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  value = reduce_warp<Op>(value);
  if (lane_index() == 0) of_warps[warp] = value;
  __syncthreads();
  if (warp != 0) return value;
  value = lane_index() < threads / warp_size ? of_warps[lane_index()] : Op::identity;
  return reduce_warp<Op>(value);
}

template <class Op, class In>
__device__ void reduce_vectors(const Vectors<In>& vectors, typename Op::Value* blocks) {
  using T = typename Op::Value;
  T own = Op::identity;
  for_each_element<loads>(vectors, [&](In value) { own = Op()(own, Op::read(value)); });
  own = reduce_block<Op>(own);
  if (threadIdx.x == 0) blocks[blockIdx.x] = own;
}

template <class In, class T>
__global__ void __launch_bounds__(threads) reduce_blocks(const Vectors<In> vectors, T* blocks, Operator op) {
  if (op == Operator::sum) return reduce_vectors<Sum<T>>(vectors, blocks);
  if (op == Operator::product) return reduce_vectors<Product<T>>(vectors, blocks);
  if constexpr (std::is_same_v<In, T>) {
    if (op == Operator::min) return reduce_vectors<Minimum<T>>(vectors, blocks);
    reduce_vectors<Maximum<T>>(vectors, blocks);
  }
}

template <class In, class T>
int reduce_typed(Space& space, const In* values, std::int64_t n, Operator op, T* result, int multiprocessors,
                 StreamHandle stream) {
  const Vectors<In> vectors(values, n);
  const unsigned blocks =
      blocks_over(vectors, threads, loads, std::int64_t{blocks_per_multiprocessor} * multiprocessors);
  if (space.memory == nullptr) {
    space.bytes = blocks * sizeof(T);
    return cudaSuccess;
  }
  auto* of_blocks = blocks == 1 ? result : reinterpret_cast<T*>(space.memory);
  reduce_blocks<In, T><<<blocks, threads, 0, stream>>>(vectors, of_blocks, op);
  if (blocks > 1) reduce_blocks<T, T><<<1, threads, 0, stream>>>(Vectors<T>(of_blocks, blocks), result, op);
  return cudaSuccess;
}

}  // namespace

int reduce(Space& space, ArrayView values, Operator op, MutableArrayView result, int multiprocessors,
           StreamHandle stream) {
  if (values.type == Type::i32 && result.type == Type::u64)
    return reduce_typed(space, values.values<std::int32_t>(), values.size, op, result.values<std::uint64_t>(),
                        multiprocessors, stream);
  return with_types(values.type, result.type, [&]<class In, class Out>() {
    return reduce_typed(space, values.values<In>(), values.size, op, result.values<Out>(), multiprocessors,
                        stream);
  });
}

}  // namespace satin::kernels
