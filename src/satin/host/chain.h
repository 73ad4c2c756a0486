#pragma once
// A chained scan on threads, the basis of satin/host/scan.h and of Satin's own scans on the CPU. Values are
// divided into chunks of fixed length, and one state is passed from chunk to chunk.
//
// A thread computes the state of its chunk, waits for the state of all earlier values, passes the combination
// to the next chunk and then finishes its own chunk. Threads draw chunks in order from an atomic counter, so
// that no chunk waits for one that has not started, on any number of threads. States are combined in the
// order of the chunks, so that the result depends only on the number of values.
//
// Yan, Long, Zhang, StreamScan: fast scan algorithms for GPUs without global barrier synchronization, 2013;
// Merrill and Garland, Single-pass parallel prefix scan with decoupled look-back, 2016.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

namespace satin::host {

/// Number of values in a chunk with these input and output types: 128 KiB, so that the second pass over them
/// reads from the L2 cache.
template <class... T>
inline constexpr std::int64_t chunk_length = 131072 / static_cast<std::int64_t>((sizeof(T) + ...));

/// Passes states from chunk to chunk.
template <class State>
class Carries {
 public:
  /// `initial` is the state before the first chunk.
  explicit Carries(const State& initial) {
    slots_[0].state = initial;
    slots_[0].chunk.store(0, std::memory_order_release);
  }

  /// Draws the number of the next chunk.
  [[nodiscard]] std::int64_t draw() { return next_.fetch_add(1, std::memory_order_relaxed); }

  /// Waits for the state before `chunk`, passes on its combination with the chunk's own state, and returns
  /// it.
  template <class Combine>
  State pass(std::int64_t chunk, const State& own, const Combine& combine) {
    Slot& before = slot(chunk);
    wait_for(before, chunk);
    State carry = *before.state;
    // The last reader of this slot passed on its own state before `chunk` could get here.
    Slot& after = slot(chunk + 1);
    after.state = combine(carry, own);
    after.chunk.store(chunk + 1, std::memory_order_release);
    return carry;
  }

  /// Returns the state before `chunk`. All earlier chunks must have called pass().
  [[nodiscard]] const State& before(std::int64_t chunk) { return *slot(chunk).state; }

  /// Whether fail() was called.
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_acquire); }
  /// Keeps the first exception and ends all waiting.
  void fail(std::exception_ptr error) {
    if (claimed_.exchange(true)) return;
    error_ = std::move(error);
    failed_.store(true, std::memory_order_release);
  }
  /// Throws the exception that fail() keeps, if any.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  struct Abandoned {};
  struct alignas(64) Slot {  // one cache line each, so that waiting threads do not disturb one another
    std::atomic<std::int64_t> chunk{-1};
    std::optional<State> state;
  };

  [[nodiscard]] Slot& slot(std::int64_t chunk) {
    return slots_[static_cast<std::size_t>(chunk) % slots_.size()];
  }

  void wait_for(const Slot& slot, std::int64_t chunk) const {
    constexpr int spins_before_yield = 256;
    for (int spins = 0; slot.chunk.load(std::memory_order_acquire) != chunk; ++spins) {
      if (failed()) throw Abandoned();
      if (spins >= spins_before_yield) std::this_thread::yield();
    }
  }

  std::array<Slot, 32> slots_;
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> claimed_{false};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
};

/// Calls body(first, last, pass) for chunks of `length` that together cover [0, n). The body calls pass(own)
/// once: that returns the state of everything before `first`. `in_blocks(count, function)` runs a function of
/// an index for 0 ... count - 1 on threads of its choice. Returns the state of all chunks. An exception of
/// the body or of `combine` ends the work and is thrown again.
template <class State, class InBlocks, class Combine, class Body>
State chain(const InBlocks& in_blocks, std::int64_t n, std::int64_t length, const State& initial,
            const Combine& combine, const Body& body) {
  const std::int64_t chunks = n / length + (n % length != 0 ? 1 : 0);
  Carries<State> carries(initial);
  in_blocks(chunks, [&](std::int64_t) {
    if (carries.failed()) return;
    const std::int64_t chunk = carries.draw();
    const std::int64_t first = chunk * length;
    try {
      body(first, std::min(n, first + length),
           [&](const State& own) { return carries.pass(chunk, own, combine); });
    } catch (...) {
      carries.fail(std::current_exception());
    }
  });
  carries.rethrow();
  return carries.before(chunks);
}

/// Scans n states with load(i) -> State and store(i, State), which receives the inclusive or the exclusive
/// state of i. Each value is loaded twice, the second time just before it is stored. Returns the state of all
/// values.
template <bool Exclusive, class State, class InBlocks, class Combine, class Load, class Store>
State chained_scan(const InBlocks& in_blocks, std::int64_t n, std::int64_t length, const State& identity,
                   const State& initial, const Combine& combine, const Load& load, const Store& store) {
  const auto scan_chunk = [&](std::int64_t first, std::int64_t last, const auto& pass) {
    State own = identity;
    for (std::int64_t i = first; i < last; ++i) own = combine(own, load(i));
    State running = pass(own);
    for (std::int64_t i = first; i < last; ++i) {
      State next = combine(running, load(i));
      store(i, Exclusive ? running : next);
      running = next;
    }
  };
  return chain(in_blocks, n, length, initial, combine, scan_chunk);
}

}  // namespace satin::host
