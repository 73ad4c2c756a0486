#pragma once
// Exclusive scans by one block of threads in shared memory. Threads put() values, all call scan(), which
// returns the sum of all, and get() returns the sum before each value. scan() has a barrier before the first
// step and one after each; between get() and another put() the caller needs one more.

#include "../operators.h"

namespace study::gpu {

/// Hillis and Steele: one thread for each value, and two copies. A step reads from one copy and writes to the
/// other, so one barrier for each step is enough. Neighbouring threads read neighbouring words, so banks do
/// not collide.
template <class Op, int Threads>
struct HillisSteeleInBlock {
  using Operator = Op;
  using Value = ValueOf<Op>;
  static constexpr int threads = Threads;
  static constexpr int values = Threads;

  Value x[2][values];

  __device__ void put(int i, const Value& value) { x[0][i] = value; }
  __device__ Value get(int i) const { return i == 0 ? Op::identity() : x[result][i - 1]; }

  __device__ Value scan(Op op) {
    const int i = static_cast<int>(threadIdx.x);
    int from = 0;
    __syncthreads();
    for (int reach = 1; reach < values; reach *= 2) {
      x[1 - from][i] = i < reach ? x[from][i] : op(x[from][i - reach], x[from][i]);
      from = 1 - from;
      __syncthreads();
    }
    return x[result][values - 1];
  }

 private:
  static constexpr int log2_of(int n) { return n == 1 ? 0 : 1 + log2_of(n / 2); }
  static constexpr int result = log2_of(values) % 2;  // index of the copy that the last step writes
};

/// Blelloch: half as many threads as values, in place.
///
/// Shared memory has 32 banks: word i is in bank i mod 32, and threads of a warp that read different words of
/// one bank wait for one another. In the tree the threads' elements are 2 half apart: from half = 16 on all
/// 32 would be in one bank. One word in 33 is therefore left empty: element i is at i + i / 32, and elements
/// 32, 64, ... apart are in different banks.
template <class Op, int Values>
struct BlellochInBlock {
  using Operator = Op;
  using Value = ValueOf<Op>;
  static constexpr int threads = Values / 2;
  static constexpr int values = Values;

  static constexpr __device__ int padded(int i) { return i + i / 32; }
  Value x[values + values / 32];

  __device__ void put(int i, const Value& value) { x[padded(i)] = value; }
  __device__ Value get(int i) const { return x[padded(i)]; }

  __device__ Value scan(Op op) {
    const int node = static_cast<int>(threadIdx.x);
    __syncthreads();
    for (int half = 1; half < values; half *= 2) {
      if (node < values / (2 * half)) {
        const int right = (node + 1) * 2 * half - 1;
        x[padded(right)] = op(x[padded(right - half)], x[padded(right)]);
      }
      __syncthreads();
    }
    const Value all = x[padded(values - 1)];
    __syncthreads();  // all threads have read the root
    if (node == 0) x[padded(values - 1)] = Op::identity();
    __syncthreads();
    for (int half = values / 2; half > 0; half /= 2) {
      if (node < values / (2 * half)) {
        const int right = (node + 1) * 2 * half - 1;
        const Value sum_of_left = x[padded(right - half)];
        const Value before = x[padded(right)];
        x[padded(right - half)] = before;
        x[padded(right)] = op(before, sum_of_left);
      }
      __syncthreads();
    }
    return all;
  }
};

}  // namespace study::gpu
