#pragma once
// Scans of device arrays with a caller's own operator, state and maps, for code that nvcc compiles.
// (satin/host/scan.h has the same functions for the CPU; satin/scan.h has the usual operators and types.)
//
// A scan combines states. to_state(value, index) converts a value to a state and to_value(state) converts a
// state to a result. Both are fused into the scan, which reads and writes memory once. `combine(earlier,
// later)` must be associative, and need not commute; `identity` changes nothing on either side. Operator,
// maps and predicates are function objects for the device whose calls are const. A State is trivially
// copyable and can be constructed without arguments. The forms without maps convert with static_cast.
//
// States are combined left to right. If `combine` is associative only up to rounding, the last bits may
// differ from run to run.
//
// Arrays are in the memory of the current device, and `stream` is one of its streams. `result` may be
// `values` itself if both have one type; otherwise arrays do not overlap. n may be 0, and may be above 2^32.
// Functions that return something wait for `stream`; the others are in stream order and do not wait.
// Workspace is allocated and freed in stream order (cudaMallocAsync). CUDA errors throw
// satin::Error(environment).
//
// Merrill and Garland, Single-pass parallel prefix scan with decoupled look-back, 2016 (CUB).

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "satin/cuda/fused.cuh"
#include "satin/error.h"

namespace satin::gpu {

/// The default map: static_cast.
template <class To>
struct Cast {
  /// Converts a state.
  template <class From>
  __host__ __device__ To operator()(const From& value) const {
    return static_cast<To>(value);
  }
  /// Converts a value and ignores its index.
  template <class From>
  __host__ __device__ To operator()(const From& value, std::int64_t) const {
    return static_cast<To>(value);
  }
};

/// Throws Error(environment) unless the call succeeded.
inline void require(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // clears the error, so that it is not reported twice
  throw Error(ErrorKind::environment, std::string("CUDA failed while ") + doing + ": " +
                                          cudaGetErrorString(status) + " (" + cudaGetErrorName(status) +
                                          ").");
}

/// Device memory that is allocated and freed in stream order.
class StreamMemory {
 public:
  /// Throws Error(environment) if there is no memory.
  StreamMemory(std::size_t bytes, cudaStream_t stream) : stream_(stream) {
    require(cudaMallocAsync(&data_, bytes == 0 ? 1 : bytes, stream), "allocating the workspace of a scan");
  }
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;
  ~StreamMemory() { static_cast<void>(cudaFreeAsync(data_, stream_)); }
  /// The first byte.
  [[nodiscard]] void* get() const noexcept { return data_; }

 private:
  void* data_ = nullptr;
  cudaStream_t stream_;
};

/// Calls pass(workspace) twice: for the size of its memory, and with the memory.
template <class Pass>
void run_pass(const Pass& pass, cudaStream_t stream) {
  Workspace workspace;
  require(pass(workspace), "preparing a scan");
  const StreamMemory memory(workspace.bytes, stream);
  workspace.memory = memory.get();
  require(pass(workspace), "scanning");
}

/// Copies a value from device memory to the host. Waits for the stream.
template <class Value>
[[nodiscard]] Value download(const void* device, cudaStream_t stream) {
  Value value;
  require(cudaMemcpyAsync(&value, device, sizeof value, cudaMemcpyDeviceToHost, stream),
          "copying a result from the device");
  require(cudaStreamSynchronize(stream), "waiting for a scan");
  return value;
}

/// \cond
// --- Reading and writing element i ---

template <class In, class State, class ToState>
struct ReadState {
  const In* values;
  ToState to_state;
  __device__ State operator()(std::int64_t i) const { return to_state(values[i], i); }
};

template <class In, class State, class ToState>
struct ReadFlagged {
  ReadState<In, State, ToState> read;
  const std::uint8_t* heads;
  __device__ Flagged<State> operator()(std::int64_t i) const { return {read(i), heads[i] != 0 ? 1U : 0U}; }
};

/// A segment begins at the first value whatever its flag.
template <class In, class State, class ToState>
struct ReadCounted {
  ReadState<In, State, ToState> read;
  const std::uint8_t* heads;
  __device__ Counted<State> operator()(std::int64_t i) const {
    return {read(i), i == 0 || heads[i] != 0 ? 1 : 0};
  }
};

template <class Out, class State, class ToValue>
struct WriteValue {
  Out* result;
  ToValue to_value;
  __device__ void operator()(std::int64_t i, const State& state) const { result[i] = to_value(state); }
};

template <class Out, class State, class ToValue>
struct WriteFlagged {
  Out* result;
  ToValue to_value;
  __device__ void operator()(std::int64_t i, const Flagged<State>& state) const {
    result[i] = to_value(state.value);
  }
};

template <class Out, class State, class ToValue>
struct WriteFlaggedExclusive {
  Out* result;
  ToValue to_value;
  const std::uint8_t* heads;
  State identity;
  __device__ void operator()(std::int64_t i, const Flagged<State>& state) const {
    result[i] = to_value(heads[i] != 0 ? identity : state.value);
  }
};

/// Writes only the last state, to `result`.
template <class State>
struct WriteLast {
  State* result;
  std::int64_t last;
  __device__ void operator()(std::int64_t i, const State& state) const {
    if (i == last) *result = state;
  }
};

/// Writes the state at the end of each segment.
template <class Out, class State, class ToValue>
struct WriteEnds {
  Out* result;
  ToValue to_value;
  const std::uint8_t* heads;
  std::int64_t last;
  std::int64_t* segments;
  __device__ void operator()(std::int64_t i, const Counted<State>& state) const {
    if (i == last || heads[i + 1] != 0) result[state.segments - 1] = to_value(state.value);
    if (i == last) *segments = state.segments;
  }
};

template <class In, class Predicate>
struct Holds {
  const In* values;
  Predicate predicate;
  __device__ bool operator()(std::int64_t i) const { return predicate(values[i]); }
};

template <class Index>
struct IndexOf {
  __device__ Index operator()(std::int64_t i) const { return static_cast<Index>(i); }
};

/// Scans states; exclusively where there is an initial state.
template <class State, class Read, class Write, class Combine, class... Initial>
void run_scan(cudaStream_t stream, const Read& read, const Write& write, Combine combine, std::int64_t n,
              const Initial&... initial) {
  const Computed<State, Read> in(read);
  const Consumed<State, Write> out(write);
  run_pass(
      [&](Workspace& workspace) {
        if constexpr (sizeof...(initial) == 0)
          return inclusive_pass(workspace, in, out, combine, n, stream);
        else
          return exclusive_pass(workspace, in, out, combine, initial..., n, stream);
      },
      stream);
}

/// \endcond
// --- Functions ---

/// result[i] = to_value(s0 + s1 + ... + si), si = to_state(values[i], i).
template <class In, class Out, class Combine, class State, class ToState = Cast<State>,
          class ToValue = Cast<Out>>
void inclusive_scan(cudaStream_t stream, const In* values, Out* result, std::int64_t n, Combine combine,
                    State /*identity*/, ToState to_state = {}, ToValue to_value = {}) {
  if (n <= 0) return;
  run_scan<State>(stream, ReadState<In, State, ToState>{values, to_state},
                  WriteValue<Out, State, ToValue>{result, to_value}, combine, n);
}

/// result[i] = to_value(s0 + s1 + ... + s(i - 1)); result[0] = to_value(identity).
template <class In, class Out, class Combine, class State, class ToState = Cast<State>,
          class ToValue = Cast<Out>>
void exclusive_scan(cudaStream_t stream, const In* values, Out* result, std::int64_t n, Combine combine,
                    State identity, ToState to_state = {}, ToValue to_value = {}) {
  if (n <= 0) return;
  run_scan<State>(stream, ReadState<In, State, ToState>{values, to_state},
                  WriteValue<Out, State, ToValue>{result, to_value}, combine, n, identity);
}

/// Inclusive scan that restarts at every i with heads[i] != 0.
template <class In, class Out, class Combine, class State, class ToState = Cast<State>,
          class ToValue = Cast<Out>>
void segmented_inclusive_scan(cudaStream_t stream, const In* values, const std::uint8_t* heads, Out* result,
                              std::int64_t n, Combine combine, State /*identity*/, ToState to_state = {},
                              ToValue to_value = {}) {
  if (n <= 0) return;
  run_scan<Flagged<State>>(stream, ReadFlagged<In, State, ToState>{{values, to_state}, heads},
                           WriteFlagged<Out, State, ToValue>{result, to_value},
                           FlaggedCombine<State, Combine>{combine}, n);
}

/// Exclusive scan that restarts with the identity at every i with heads[i] != 0. Reads the flags twice.
template <class In, class Out, class Combine, class State, class ToState = Cast<State>,
          class ToValue = Cast<Out>>
void segmented_exclusive_scan(cudaStream_t stream, const In* values, const std::uint8_t* heads, Out* result,
                              std::int64_t n, Combine combine, State identity, ToState to_state = {},
                              ToValue to_value = {}) {
  if (n <= 0) return;
  run_scan<Flagged<State>>(stream, ReadFlagged<In, State, ToState>{{values, to_state}, heads},
                           WriteFlaggedExclusive<Out, State, ToValue>{result, to_value, heads, identity},
                           FlaggedCombine<State, Combine>{combine}, n, Flagged<State>{identity, 0U});
}

/// Returns s0 + s1 + ..., or the identity for no values. Waits.
template <class In, class Combine, class State, class ToState = Cast<State>>
[[nodiscard]] State reduce(cudaStream_t stream, const In* values, std::int64_t n, Combine combine,
                           State identity, ToState to_state = {}) {
  if (n <= 0) return identity;
  const StreamMemory last(sizeof(State), stream);
  run_scan<State>(stream, ReadState<In, State, ToState>{values, to_state},
                  WriteLast<State>{static_cast<State*>(last.get()), n - 1}, combine, n);
  return download<State>(last.get(), stream);
}

/// result[s] = to_value(the states of segment s combined); a segment begins at the first value and at every i
/// with heads[i] != 0. Returns the number of segments. Not in place. Waits.
template <class In, class Out, class Combine, class State, class ToState = Cast<State>,
          class ToValue = Cast<Out>>
std::int64_t segmented_reduce(cudaStream_t stream, const In* values, const std::uint8_t* heads, Out* result,
                              std::int64_t n, Combine combine, State /*identity*/, ToState to_state = {},
                              ToValue to_value = {}) {
  if (n <= 0) return 0;
  const StreamMemory segments(sizeof(std::int64_t), stream);
  run_scan<Counted<State>>(stream, ReadCounted<In, State, ToState>{{values, to_state}, heads},
                           WriteEnds<Out, State, ToValue>{result, to_value, heads, n - 1,
                                                          static_cast<std::int64_t*>(segments.get())},
                           CountedCombine<State, Combine>{combine}, n);
  return download<std::int64_t>(segments.get(), stream);
}

/// Keeps the values for which predicate(value) holds, in their order, and returns how many. Not in place.
/// Waits.
template <class In, class Predicate>
std::int64_t compact(cudaStream_t stream, const In* values, In* result, std::int64_t n, Predicate predicate) {
  if (n <= 0) return 0;
  const StreamMemory count(sizeof(std::int64_t), stream);
  run_pass(
      [&](Workspace& workspace) {
        return predicate_pass<false>(workspace, values, result, static_cast<std::int64_t*>(count.get()),
                                     predicate, n, stream);
      },
      stream);
  return download<std::int64_t>(count.get(), stream);
}

/// Writes the indices of those values in ascending order and returns how many. Waits.
template <class In, class Index, class Predicate>
std::int64_t compact_indices(cudaStream_t stream, const In* values, Index* indices, std::int64_t n,
                             Predicate predicate) {
  if (n <= 0) return 0;
  using Flag = Holds<In, Predicate>;
  const StreamMemory count(sizeof(std::int64_t), stream);
  run_pass(
      [&](Workspace& workspace) {
        return flagged_pass<false>(workspace, Computed<Index, IndexOf<Index>>(IndexOf<Index>()),
                                   Computed<bool, Flag>(Flag{values, predicate}), indices,
                                   static_cast<std::int64_t*>(count.get()), n, stream);
      },
      stream);
  return download<std::int64_t>(count.get(), stream);
}

}  // namespace satin::gpu
