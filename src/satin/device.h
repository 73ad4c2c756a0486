#pragma once
// Devices that filters run on. A program opens them explicitly; there is no global state.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "satin/image.h"
#include "satin/stream.h"

namespace satin {
struct Backend;
}

namespace [[gnu::visibility("default")]] satin {

/// Description of a device that exists or could exist.
struct DeviceInfo {
  std::string id;                   ///< name for Device::open(), such as "cpu" or "cuda:0"
  std::string name;                 ///< description, such as "AVX3, 2 threads" or "NVIDIA H200"
  std::size_t memory = 0;           ///< total memory in bytes
  bool usable = false;              ///< whether Device::open() accepts it
  std::string reason;               ///< why it is not usable, and what to do
  std::vector<std::string> simd{};  ///< instruction sets of the CPU, the one in use first
};

/// Lists every device of this machine, the CPU first. A build without CUDA, a missing driver or an old driver
/// appears as an entry "cuda" with usable = false and the reason. Never throws for a missing GPU.
[[nodiscard]] std::vector<DeviceInfo> devices();

/// Limits the CPU to one of the instruction sets in DeviceInfo::simd or a lesser one, for instance to check
/// that results have the same bytes. The limit applies to Highway in the whole process, so set it before
/// opening a device. Throws Error(usage) for a name that this machine or this build does not have.
void limit_simd(std::string_view name);

/// A stream that is destroyed with its last copy. Destroy it after the plans that use it.
struct OwnedStream {
  std::shared_ptr<void> handle;  ///< a cudaStream_t; null on the CPU

  /// The stream to pass to run().
  [[nodiscard]] Stream get() const noexcept { return {handle.get()}; }
};

/// How a device is opened.
struct DeviceOptions {
  /// Maximum number of CPU threads. 0: all that the process may use. 1: every run stays on the calling
  /// thread.
  int threads = 0;
  /// Source of the device's memory (host memory on the CPU) for pictures, arrays, plans and results; empty:
  /// the system. Memory must be usable in any stream at once. Queued work may still use memory when it is
  /// freed, so `free` must wait for it as cudaFree() does. The temporary memory of the scan functions and
  /// small host memory do not come from here.
  Allocator allocator{};
};

/// An open device. Copies share it. Several threads may use it at once, but only one thread at a time may run
/// a Plan. On a CUDA device, work without a stream goes to the device's own stream; threads with streams of
/// their own can overlap their work.
class Device {
 public:
  /// Opens `cpu`, `cuda:N` (`cuda` means `cuda:0`) or `auto`, the first usable GPU or else the CPU, which
  /// never fails. Throws Error(environment) with the reason if a CUDA device cannot be used, and Error(usage)
  /// for any other text.
  [[nodiscard]] static Device open(std::string_view spec = "auto", const DeviceOptions& options = {});

  /// Description of the device.
  [[nodiscard]] const DeviceInfo& info() const noexcept;
  /// Whether its memory is a GPU's; otherwise it is host memory.
  [[nodiscard]] bool is_cuda() const noexcept;

  /// Allocates an uninitialised picture in this device's memory (host memory on the CPU).
  [[nodiscard]] Image allocate(const Shape& shape) const;
  /// Copies a densely packed host picture to the device and waits for the copy. On the CPU the result is in
  /// host memory. Throws Error(usage) for device memory or other strides.
  [[nodiscard]] Image upload(const ImageView& host) const;
  /// Copies a densely packed picture of this device to host memory, after the work in the device's own
  /// stream, and waits. Throws Error(usage) for other memory or other strides.
  [[nodiscard]] Image download(const ImageView& device) const;
  /// Copies between two views of one shape and any strides in this device's memory, in stream order and
  /// without waiting. They must not overlap. Throws Error(usage) for different shapes or other memory.
  void copy(const ImageView& from, const MutableImageView& to, Stream stream = {}) const;
  /// Waits for all work in the stream.
  void synchronize(Stream stream = {}) const;

  /// Makes a new stream of this device, whose work may overlap with other streams. On the CPU, where run()
  /// returns with its result, the handle is null. Throws Error(environment) if the stream cannot be made.
  [[nodiscard]] OwnedStream new_stream() const;
  /// Number of concurrent runs, each with its own plan and stream, that keep the device busy: 2 on a GPU,
  /// where one picture is copied while another is filtered; 1 on the CPU, where one run uses all threads.
  [[nodiscard]] int runs_at_once() const noexcept;
  /// Returns an allocator of page-locked host memory, empty on the CPU. Pictures in it are copied from and to
  /// any GPU at the full speed of the bus, beside kernels of other streams. Allocating a block costs
  /// milliseconds, so reuse it. The allocator returns null if the system allows no more memory to be locked.
  [[nodiscard]] Allocator page_locked_memory() const;

  /// For use inside the library.
  explicit Device(std::shared_ptr<Backend> backend) : backend_(std::move(backend)) {}
  /// For use inside the library.
  [[nodiscard]] Backend& backend() const noexcept { return *backend_; }

 private:
  std::shared_ptr<Backend> backend_;
};

}  // namespace satin
