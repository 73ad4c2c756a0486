#pragma once
// Scans of host arrays with a caller's own operator, state and maps, on the threads of a CPU device.
// (satin/cuda/scan.cuh has the same functions for a GPU; satin/scan.h has the usual operators and types.)
//
// A scan combines states. to_state(value, index) converts a value to a state and to_value(state) converts a
// state to a result. Both are fused into the scan, which reads and writes memory once. `combine(earlier,
// later)` must be associative, and need not commute; `identity` changes nothing on either side. A State is
// copyable. The forms without maps convert with static_cast.
//
// Maps and the operator are called from several threads at once, twice per value, and must not call Satin. An
// exception from them ends the scan and reaches the caller; the results are then unspecified.
//
// States are combined left to right within chunks of fixed length, and chunks in their order: the bytes of
// the result depend on the number of values and their types, not on threads or runs.
//
// `result` may be `values` itself if both have one type; otherwise arrays do not overlap. n may be 0. All
// functions wait for the result and throw Error(usage) for a CUDA device.

#include <cstdint>
#include <functional>

#include "satin/device.h"
#include "satin/host/chain.h"

namespace satin::host {

/// Calls body(block) for 0 ... blocks - 1 on the device's threads, each once, and returns when all are done.
/// If calls throw, one of the exceptions is rethrown, and blocks that have not started are skipped. Throws
/// Error(usage) for a CUDA device.
[[gnu::visibility("default")]] void for_blocks(const Device& device, std::int64_t blocks,
                                               const std::function<void(std::int64_t block)>& body);

/// The state of a range of values and whether a segment begins in it, for segmented scans (Sengupta, Harris,
/// Zhang and Owens, 2007): (v1, f1) + (v2, f2) = (f2 ? v2 : v1 op v2, f1 | f2).
template <class State>
struct Flagged {
  State value;  ///< state since the last head
  bool head;    ///< whether a segment begins in the range
};

/// The operator on flagged states.
template <class Combine>
struct FlaggedCombine {
  Combine combine;  ///< operator on plain states
  /// Combines two adjacent ranges; `a` is the earlier one.
  template <class State>
  Flagged<State> operator()(const Flagged<State>& a, const Flagged<State>& b) const {
    return {b.head ? b.value : combine(a.value, b.value), a.head || b.head};
  }
};

/// for_blocks() bound to a device.
struct BlocksOf {
  const Device& device;  ///< a CPU device
  /// Runs the body as for_blocks() does.
  template <class Body>
  void operator()(std::int64_t blocks, const Body& body) const {
    for_blocks(device, blocks, body);
  }
};

/// The default map: static_cast.
template <class To>
struct Cast {
  /// Converts a state.
  template <class From>
  constexpr To operator()(const From& value) const {
    return static_cast<To>(value);
  }
  /// Converts a value and ignores its index.
  template <class From>
  constexpr To operator()(const From& value, std::int64_t) const {
    return static_cast<To>(value);
  }
};

/// result[i] = to_value(s0 + s1 + ... + si), si = to_state(values[i], i).
template <class In, class Out, class Combine, class State, class ToState = Cast<State>,
          class ToValue = Cast<Out>>
void inclusive_scan(const Device& device, const In* values, Out* result, std::int64_t n, Combine combine,
                    State identity, ToState to_state = {}, ToValue to_value = {}) {
  chained_scan<false>(
      BlocksOf{device}, n, chunk_length<In, Out>, identity, identity, combine,
      [&](std::int64_t i) -> State { return to_state(values[i], i); },
      [&](std::int64_t i, const State& state) { result[i] = to_value(state); });
}

/// result[i] = to_value(s0 + s1 + ... + s(i - 1)); result[0] = to_value(identity).
template <class In, class Out, class Combine, class State, class ToState = Cast<State>,
          class ToValue = Cast<Out>>
void exclusive_scan(const Device& device, const In* values, Out* result, std::int64_t n, Combine combine,
                    State identity, ToState to_state = {}, ToValue to_value = {}) {
  chained_scan<true>(
      BlocksOf{device}, n, chunk_length<In, Out>, identity, identity, combine,
      [&](std::int64_t i) -> State { return to_state(values[i], i); },
      [&](std::int64_t i, const State& state) { result[i] = to_value(state); });
}

/// Inclusive scan that restarts at every i with heads[i] != 0.
template <class In, class Out, class Combine, class State, class ToState = Cast<State>,
          class ToValue = Cast<Out>>
void segmented_inclusive_scan(const Device& device, const In* values, const std::uint8_t* heads, Out* result,
                              std::int64_t n, Combine combine, State identity, ToState to_state = {},
                              ToValue to_value = {}) {
  const Flagged<State> nothing{identity, false};
  chained_scan<false>(
      BlocksOf{device}, n, chunk_length<In, Out>, nothing, nothing, FlaggedCombine<Combine>{combine},
      [&](std::int64_t i) -> Flagged<State> {
        return {to_state(values[i], i), heads[i] != 0};
      },
      [&](std::int64_t i, const Flagged<State>& state) { result[i] = to_value(state.value); });
}

/// Exclusive scan that restarts with the identity at every i with heads[i] != 0.
template <class In, class Out, class Combine, class State, class ToState = Cast<State>,
          class ToValue = Cast<Out>>
void segmented_exclusive_scan(const Device& device, const In* values, const std::uint8_t* heads, Out* result,
                              std::int64_t n, Combine combine, State identity, ToState to_state = {},
                              ToValue to_value = {}) {
  const Flagged<State> nothing{identity, false};
  chained_scan<true>(
      BlocksOf{device}, n, chunk_length<In, Out>, nothing, nothing, FlaggedCombine<Combine>{combine},
      [&](std::int64_t i) -> Flagged<State> {
        return {to_state(values[i], i), heads[i] != 0};
      },
      [&](std::int64_t i, const Flagged<State>& state) {
        result[i] = to_value(heads[i] != 0 ? identity : state.value);
      });
}

/// Returns s0 + s1 + ..., or the identity for no values.
template <class In, class Combine, class State, class ToState = Cast<State>>
[[nodiscard]] State reduce(const Device& device, const In* values, std::int64_t n, Combine combine,
                           State identity, ToState to_state = {}) {
  const auto reduce_chunk = [&](std::int64_t first, std::int64_t last, const auto& pass) {
    State own = identity;
    for (std::int64_t i = first; i < last; ++i) own = combine(own, to_state(values[i], i));
    static_cast<void>(pass(own));
  };
  return chain(BlocksOf{device}, n, chunk_length<In>, identity, combine, reduce_chunk);
}

}  // namespace satin::host
