#pragma once
// A backend: one open device with its memory, streams and operations.

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/operation.h"
#include "core/windows.h"
#include "satin/device.h"
#include "satin/error.h"

namespace satin {

/// Thrown where memory does not suffice. The plan then tries with less.
struct NoMemory : Error {
  explicit NoMemory(const std::string& message) : Error(ErrorKind::environment, message) {}
};

/// An open device. Thread-safe: state that operations share is set up when the backend is opened.
struct Backend : std::enable_shared_from_this<Backend> {
  DeviceInfo info;
  Operations operations;
  WindowCosts mean_windows;                   ///< for means over boxes
  WindowCosts box_windows;                    ///< for the mean over one box, of integers without alpha
  WindowCosts alpha_box_windows;              ///< for the mean over one box, of integers with alpha
  WindowCosts sliding_windows;                ///< for sliding minima and maxima
  std::atomic<std::size_t> memory_limit = 0;  ///< bytes that a plan may hold; 0: no limit
  Allocator allocator;                        ///< the caller's allocator; empty: allocate_own()
  bool host_memory = true;                    ///< whether its memory is the host's, so that nothing is staged
  int runs_at_once = 1;                       ///< number of runs, each in its own stream, that keep it busy
  Allocator page_locked;                      ///< host memory for fast copies; empty if any memory will do

  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// Returns the operation that the job describes; null where a sequence of other operations is as good.
  template <class Job>
  [[nodiscard]] std::unique_ptr<typename Job::Operation> prepare(const Job& job) {
    const Prepare<Job> function = operations.find<Job>();
    return function == nullptr ? nullptr : function(*this, job);
  }

  /// Throws NoMemory.
  [[nodiscard]] Buffer allocate(std::size_t bytes);
  /// Allocates a picture. Throws NoMemory.
  [[nodiscard]] Image allocate(const Shape& shape) { return {shape, allocate(byte_size(shape)), memory()}; }
  [[nodiscard]] Memory memory() const noexcept { return host_memory ? Memory::host : Memory::device; }
  /// Copy bytes in stream order, and return when the host memory has been read or written.
  virtual void upload(void* device, const void* host, std::size_t bytes, Stream stream) = 0;
  virtual void download(void* host, const void* device, std::size_t bytes, Stream stream) = 0;
  virtual void synchronize(Stream stream) = 0;
  /// Returns a stream that is destroyed with its last owner; null where there are no streams.
  [[nodiscard]] virtual std::shared_ptr<void> new_stream() { return nullptr; }

 protected:
  /// Allocates memory where the caller gave no allocator. Throws NoMemory.
  [[nodiscard]] virtual Buffer allocate_own(std::size_t bytes) = 0;
};

// The factories behind Device: the only names that the rest of the library uses of each backend.
[[nodiscard]] DeviceInfo describe_cpu();
[[nodiscard]] std::shared_ptr<Backend> open_cpu(int threads);
[[nodiscard]] std::vector<DeviceInfo> describe_cuda();          ///< never throws; at least one entry
[[nodiscard]] std::shared_ptr<Backend> open_cuda(int ordinal);  ///< throws Error(environment) with the reason

}  // namespace satin
