#pragma once
// The threads of one CPU device.

#include <cstdint>
#include <functional>
#include <memory>

namespace satin::cpu {

/// Rows [first, last) on one of the threads. `slot` is from 0 to Threads::count() - 1. No two calls of one
/// for_rows() that run at the same time have the same slot.
using RowRange = std::function<void(std::int64_t first, std::int64_t last, int slot)>;

/// Threads of oneTBB (threads_tbb.cpp), or plain ones for ThreadSanitizer, which does not see into a oneTBB
/// that was built without it (threads_std.cpp). Several threads may call for_rows() at the same time.
class Threads {
 public:
  /// The number of threads for a device: `wanted`, or fewer where the process may use fewer; 0: all of those.
  [[nodiscard]] static int usable(int wanted);

  explicit Threads(int count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  [[nodiscard]] int count() const noexcept;
  /// Calls body for ranges of rows that together cover [0, rows); returns when all are done. Every range but
  /// the last one has `grain` rows or a multiple. Throws Error(cancelled), and leaves ranges out, if the
  /// watch of this thread's run says so.
  void for_rows(std::int64_t rows, std::int64_t grain, const RowRange& body);

 private:
  void run_rows(std::int64_t rows, std::int64_t grain, const RowRange& body);
  /// Calls worker(0) to worker(workers - 1) once each, on as many threads as are free, and waits.
  void run_workers(int workers, const std::function<void(int)>& worker);

  struct Implementation;
  int count_;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace satin::cpu
