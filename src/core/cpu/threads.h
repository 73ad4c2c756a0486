#pragma once
// The threads of one CPU device.

#include <cstdint>
#include <functional>
#include <memory>

namespace satin::cpu {

/// Processes rows [first, last) on one of the threads. `slot` is from 0 to Threads::count() - 1; calls of one
/// for_rows() that run at the same time have different slots.
using RowRange = std::function<void(std::int64_t first, std::int64_t last, int slot)>;

/// Several threads may call for_rows() at the same time.
class Threads {
 public:
  /// Returns the number of threads for a device: `wanted`, at most what the process may use; 0 means all of
  /// those.
  [[nodiscard]] static int usable(int wanted);

  explicit Threads(int count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  [[nodiscard]] int count() const noexcept;
  /// Calls body for ranges of rows that together cover [0, rows), and returns when all are done. Every range
  /// but the last has a multiple of `grain` rows. Skips the remaining ranges and throws Error(cancelled) if
  /// the watch of this thread's run is cancelled.
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
