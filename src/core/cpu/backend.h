#pragma once
// The CPU backend: threads by oneTBB (threads.h); SIMD by Highway, whose target is chosen when a plan is
// made.

#include <cstdint>

#include "core/backend.h"
#include "core/cpu/threads.h"

namespace satin::cpu {

struct CpuBackend final : Backend {
  explicit CpuBackend(int thread_count);

  void upload(void* device, const void* host, std::size_t bytes, Stream stream) override;
  void download(void* host, const void* device, std::size_t bytes, Stream stream) override;
  void synchronize(Stream) override {}

  Threads threads;

 private:
  [[nodiscard]] Buffer allocate_own(std::size_t bytes) override;
};

inline CpuBackend& as_cpu(Backend& backend) { return static_cast<CpuBackend&>(backend); }

/// Calls body(first, last) for ranges of rows that together cover [0, rows), on the backend's threads.
template <class Body>
void parallel_rows(CpuBackend& backend, std::int64_t rows, std::int64_t grain, const Body& body) {
  backend.threads.for_rows(rows, grain,
                           [&](std::int64_t first, std::int64_t last, int) { body(first, last); });
}

/// Adds every operation of this backend (src/backends/cpu.cpp).
void add_operations(Operations& operations);

}  // namespace satin::cpu
