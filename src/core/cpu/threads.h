#pragma once
// The threads of one CPU device.

#include <cstdint>
#include <functional>
#include <memory>

namespace satin::cpu {

/// Rows [first, last) on one of the threads; `slot` is from 0 to Threads::count() - 1, and no two calls that
/// run at the same time have the same one.
using RowRange = std::function<void(std::int64_t first, std::int64_t last, int slot)>;

/// Threads of oneTBB (threads_tbb.cpp), or plain ones for ThreadSanitizer, which does not see into a oneTBB
/// that was built without it (threads_std.cpp).
class Threads {
 public:
  /// `wanted` threads at most, 0: all that the process may use.
  explicit Threads(int wanted);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  [[nodiscard]] int count() const noexcept;
  /// Calls body for ranges of at most about `grain` rows that together cover [0, rows); returns when all are
  /// done. Throws Error(cancelled), and leaves ranges out, if the watch of this thread's run says so.
  void for_rows(std::int64_t rows, std::int64_t grain, const RowRange& body);

 private:
  void run_rows(std::int64_t rows, std::int64_t grain, const RowRange& body);

  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace satin::cpu
