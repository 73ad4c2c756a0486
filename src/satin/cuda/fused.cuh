#pragma once
// Iterators that compute the values a scan reads and map the values it writes, so that a scan with maps reads
// and writes memory once; and CUB's scan and selection with 64-bit sizes for every CUDA from 12.0 on.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cub/device/device_partition.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cub/version.cuh>
#include <iterator>
#include <type_traits>

namespace satin::gpu {

/// A random access iterator whose element i is function(i).
template <class Value, class Function>
class Computed {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Value;
  using difference_type = std::ptrdiff_t;
  using pointer = const Value*;
  using reference = std::invoke_result_t<Function, std::int64_t>;

  __host__ __device__ explicit Computed(Function function, std::int64_t index = 0)
      : function_(function), index_(index) {}
  __device__ reference operator*() const { return function_(index_); }
  __device__ reference operator[](difference_type distance) const { return function_(index_ + distance); }
  __host__ __device__ Computed operator+(difference_type distance) const {
    return Computed(function_, index_ + distance);
  }
  __host__ __device__ Computed operator-(difference_type distance) const {
    return Computed(function_, index_ - distance);
  }
  __host__ __device__ difference_type operator-(const Computed& other) const { return index_ - other.index_; }
  __host__ __device__ Computed& operator+=(difference_type distance) {
    index_ += distance;
    return *this;
  }
  __host__ __device__ Computed& operator++() { return *this += 1; }
  __host__ __device__ bool operator==(const Computed& other) const { return index_ == other.index_; }
  __host__ __device__ bool operator!=(const Computed& other) const { return index_ != other.index_; }

 private:
  Function function_;
  std::int64_t index_;
};

/// Reference to element i of an output iterator: assigning a value calls function(i, value).
template <class Value, class Function>
struct ConsumedElement {
  Function function;
  std::int64_t index;
  __device__ const ConsumedElement& operator=(const Value& value) const {
    function(index, value);
    return *this;
  }
};

template <class Value, class Function>
struct ConsumedElements {
  __host__ __device__ ConsumedElements(Function each) : function(each) {}
  __device__ ConsumedElement<Value, Function> operator()(std::int64_t i) const { return {function, i}; }
  Function function;
};

/// An output iterator: writing a value to element i calls function(i, value).
template <class Value, class Function>
using Consumed = Computed<Value, ConsumedElements<Value, Function>>;

/// Device memory for one pass. As in CUB, every pass is called twice; without memory it only sets `bytes`.
struct Workspace {
  void* memory = nullptr;
  std::size_t bytes = 0;
};

// Older versions of CUB take an int as the number of items, but the dispatch layer below takes 64 bits.

template <class In, class Out, class Combine>
cudaError_t inclusive_pass(Workspace& workspace, In in, Out out, Combine combine, std::int64_t n,
                           cudaStream_t stream) {
#if CUB_VERSION >= 200700
  return cub::DeviceScan::InclusiveScan(workspace.memory, workspace.bytes, in, out, combine, n, stream);
#else
  return cub::DispatchScan<In, Out, Combine, cub::NullType, std::uint64_t>::Dispatch(
      workspace.memory, workspace.bytes, in, out, combine, cub::NullType(), static_cast<std::uint64_t>(n),
      stream);
#endif
}

template <class In, class Out, class Combine, class State>
cudaError_t exclusive_pass(Workspace& workspace, In in, Out out, Combine combine, State initial,
                           std::int64_t n, cudaStream_t stream) {
#if CUB_VERSION >= 200700
  return cub::DeviceScan::ExclusiveScan(workspace.memory, workspace.bytes, in, out, combine, initial, n,
                                        stream);
#else
  using Initial = cub::detail::InputValue<State>;
  return cub::DispatchScan<In, Out, Combine, Initial, std::uint64_t>::Dispatch(
      workspace.memory, workspace.bytes, in, out, combine, Initial(initial), static_cast<std::uint64_t>(n),
      stream);
#endif
}

/// Keeps the order of the items whose flag is not 0. With `Rejects`, the others follow from the end
/// backwards.
template <bool Rejects, class In, class Flags, class Out>
cudaError_t flagged_pass(Workspace& workspace, In in, Flags flags, Out out, std::int64_t* count,
                         std::int64_t n, cudaStream_t stream) {
#if CUB_VERSION >= 200800
  if constexpr (Rejects)
    return cub::DevicePartition::Flagged(workspace.memory, workspace.bytes, in, flags, out, count, n, stream);
  else
    return cub::DeviceSelect::Flagged(workspace.memory, workspace.bytes, in, flags, out, count, n, stream);
#else
  return cub::DispatchSelectIf<In, Flags, Out, std::int64_t*, cub::NullType, cub::NullType, std::int64_t,
                               Rejects>::Dispatch(workspace.memory, workspace.bytes, in, flags, out, count,
                                                  cub::NullType(), cub::NullType(), n, stream);
#endif
}

/// Compacts or partitions by the items for which `predicate` holds.
template <bool Rejects, class In, class Out, class Predicate>
cudaError_t predicate_pass(Workspace& workspace, In in, Out out, std::int64_t* count, Predicate predicate,
                           std::int64_t n, cudaStream_t stream) {
#if CUB_VERSION >= 200800
  if constexpr (Rejects)
    return cub::DevicePartition::If(workspace.memory, workspace.bytes, in, out, count, n, predicate, stream);
  else
    return cub::DeviceSelect::If(workspace.memory, workspace.bytes, in, out, count, n, predicate, stream);
#else
  return cub::DispatchSelectIf<In, cub::NullType*, Out, std::int64_t*, Predicate, cub::NullType, std::int64_t,
                               Rejects>::Dispatch(workspace.memory, workspace.bytes, in, nullptr, out, count,
                                                  predicate, cub::NullType(), n, stream);
#endif
}

/// The state of a range of values and whether a segment begins in it, for segmented scans (Sengupta, Harris,
/// Zhang and Owens, 2007): (v1, f1) + (v2, f2) = (f2 ? v2 : v1 op v2, f1 | f2).
template <class State>
struct Flagged {
  State value;
  std::uint32_t head;
};

template <class State, class Combine>
struct FlaggedCombine {
  Combine combine;
  __device__ Flagged<State> operator()(const Flagged<State>& a, const Flagged<State>& b) const {
    return {b.head != 0 ? b.value : combine(a.value, b.value), a.head | b.head};
  }
};

/// The state of a range of values and the number of segments that begin in it.
template <class State>
struct Counted {
  State value;
  std::int64_t segments;
};

template <class State, class Combine>
struct CountedCombine {
  Combine combine;
  __device__ Counted<State> operator()(const Counted<State>& a, const Counted<State>& b) const {
    return {b.segments != 0 ? b.value : combine(a.value, b.value), a.segments + b.segments};
  }
};

}  // namespace satin::gpu
