#pragma once
// What a backend is: memory, a stream, and the operations that it has.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/operation.h"
#include "core/windows.h"
#include "satin/device.h"
#include "satin/error.h"

namespace satin {

/// What a run does one after the other. Those of one picture that the device filters in windows, or that lies
/// in its memory already, are all `kernels`.
enum class RunPart { copy_up, kernels, copy_down };

/// Told when a part began and when the device was done with it, from the thread that called run().
using RunListener = std::function<void(RunPart part, std::chrono::steady_clock::time_point begin,
                                       std::chrono::steady_clock::time_point end)>;

/// Thrown where memory does not suffice, so that less may be tried.
struct NoMemory : Error {
  explicit NoMemory(const std::string& message) : Error(ErrorKind::environment, message) {}
};

/// One open device. Thread-safe: what operations share is set up when the backend is opened.
struct Backend : std::enable_shared_from_this<Backend> {
  DeviceInfo info;
  Operations operations;
  WindowCosts mean_windows;                   ///< of means over boxes
  WindowCosts box_windows;                    ///< of the mean over one box, of integers without alpha
  WindowCosts alpha_box_windows;              ///< of integers with alpha
  WindowCosts sliding_windows;                ///< of sliding minima and maxima
  std::atomic<std::size_t> memory_limit = 0;  ///< bytes that a plan may hold; 0: what there is
  Allocator allocator;                        ///< the caller's; empty: allocate_own()
  bool host_memory = true;                    ///< its memory is the host's: nothing needs to be staged
  int runs_at_once = 1;                       ///< that keep it busy, each in a stream of its own
  Allocator page_locked;                      ///< host memory for copies; empty: any does
  RunListener listener;                       ///< told of the parts of runs, which then end one by one

  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// The operation that the job describes; null where operations one after the other are as good.
  template <class Job>
  [[nodiscard]] std::unique_ptr<typename Job::Operation> prepare(const Job& job) {
    const Prepare<Job> function = operations.find<Job>();
    return function == nullptr ? nullptr : function(*this, job);
  }

  /// Throws NoMemory.
  [[nodiscard]] Buffer allocate(std::size_t bytes);
  /// A picture in its memory.
  [[nodiscard]] Image allocate(const Shape& shape) { return {shape, allocate(byte_size(shape)), memory()}; }
  /// Where its pictures lie.
  [[nodiscard]] Memory memory() const noexcept { return host_memory ? Memory::host : Memory::device; }
  /// Copies bytes in stream order; host memory is read, or filled, before they return.
  virtual void upload(void* device, const void* host, std::size_t bytes, Stream stream) = 0;
  virtual void download(void* host, const void* device, std::size_t bytes, Stream stream) = 0;
  virtual void synchronize(Stream stream) = 0;
  /// A stream that is destroyed with its last owner; null where there are none.
  [[nodiscard]] virtual std::shared_ptr<void> new_stream() { return nullptr; }

 protected:
  /// Memory for callers without an allocator. Throws NoMemory.
  [[nodiscard]] virtual Buffer allocate_own(std::size_t bytes) = 0;
};

// The factories behind Device. Each is the only name that the rest of the library knows of its backend.
[[nodiscard]] DeviceInfo describe_cpu();
[[nodiscard]] std::shared_ptr<Backend> open_cpu(int threads);
[[nodiscard]] std::vector<DeviceInfo> describe_cuda();          ///< never throws; at least one entry
[[nodiscard]] std::shared_ptr<Backend> open_cuda(int ordinal);  ///< throws Error(environment) with the reason

}  // namespace satin
