#pragma once
// Independent blocks of work on the threads of the backend.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>

#include "core/cpu/backend.h"

namespace satin::cpu {

/// Calls body(block) for 0 ... blocks - 1. The first exception ends the work and is rethrown.
inline void for_blocks(CpuBackend& backend, std::int64_t blocks,
                       const std::function<void(std::int64_t block)>& body) {
  std::atomic<bool> failed{false};
  std::exception_ptr error;  // written by the thread that sets `failed`, read after all blocks
  const auto run = [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t block = first; block < last && !failed.load(std::memory_order_relaxed); ++block) try {
        body(block);
      } catch (...) {
        if (!failed.exchange(true)) error = std::current_exception();
      }
  };
  if (blocks == 1) {
    run(0, 1, 0);
  } else if (blocks > 1) {
    backend.threads.for_rows(blocks, 1, run);
  }
  if (error) std::rethrow_exception(error);
}

/// for_blocks() as host::chain() expects it.
struct BlocksOf {
  CpuBackend& backend;
  template <class Body>
  void operator()(std::int64_t blocks, const Body& body) const {
    for_blocks(backend, blocks, body);
  }
};

/// Calls body(first, last) for ranges of at most `length` that together cover [0, n).
template <class Body>
void for_ranges(CpuBackend& backend, std::int64_t n, std::int64_t length, const Body& body) {
  for_blocks(backend, (n + length - 1) / length,
             [&](std::int64_t block) { body(block * length, std::min(n, (block + 1) * length)); });
}

}  // namespace satin::cpu
