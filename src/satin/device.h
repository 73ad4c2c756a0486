#pragma once
// A device: where filters run. Opening one is explicit; there is no global state.

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

/// What is known about one possible device.
struct DeviceInfo {
  std::string id;                   ///< "cpu" or "cuda:0": what Device::open() takes
  std::string name;                 ///< "AVX3, 2 threads" or "NVIDIA H200"
  std::size_t memory = 0;           ///< bytes in all
  bool usable = false;              ///< Device::open() takes it
  std::string reason;               ///< if not usable: why, and what to do
  std::vector<std::string> simd{};  ///< of the CPU: the instruction sets to choose from, the one in use first
};

/// Every device of this machine, the CPU first. A build without CUDA, a missing driver or a driver that is
/// too old shows as an entry "cuda" with usable = false and the reason. Never throws for a missing GPU.
[[nodiscard]] std::vector<DeviceInfo> devices();

/// Lets the CPU use this of the instruction sets that DeviceInfo::simd names, or lesser ones: to see that
/// results are the same bytes, or to leave one out. It holds for Highway in the whole process, so call it
/// before any device is opened. Throws Error(usage) for a name that this machine or this build has not.
void limit_simd(std::string_view name);

/// A stream that is destroyed with the last copy of this. Give it up after what was planned for it.
struct OwnedStream {
  std::shared_ptr<void> handle;  ///< a cudaStream_t; null on the CPU

  /// The stream, for run().
  [[nodiscard]] Stream get() const noexcept { return {handle.get()}; }
};

/// How a device is opened.
struct DeviceOptions {
  /// CPU threads, at most; 0: all that the process may use; 1: every run stays on the thread that calls it.
  int threads = 0;
  /// Where the device's memory (the host's on the CPU) comes from: that of pictures, of arrays, and what
  /// plans and results hold as long as they live; empty: from the system. Memory must be usable in any stream
  /// at once. Work that streams were given may still use what is freed: wait for that, as cudaFree() does.
  /// Not asked for: what the scan family needs during one call, and small memory of the host.
  Allocator allocator{};
};

/// An open device. Copies share it. It may be used from several threads at once; one Plan may not be run by
/// two threads at a time. On a CUDA device work that names no stream is in the device's own; streams of their
/// own let threads' work overlap.
class Device {
 public:
  /// `auto` takes the first usable GPU, otherwise the CPU, and never fails; `cpu`; `cuda:N` (or `cuda` =
  /// `cuda:0`), which throws Error(environment) with the reason if it cannot be met. Any other text:
  /// Error(usage).
  [[nodiscard]] static Device open(std::string_view spec = "auto", const DeviceOptions& options = {});

  /// What is known about it.
  [[nodiscard]] const DeviceInfo& info() const noexcept;
  /// True if its memory is a GPU's; otherwise it is the host's.
  [[nodiscard]] bool is_cuda() const noexcept;

  /// A picture in this device's memory (host memory on the CPU); its pixels are not initialised.
  [[nodiscard]] Image allocate(const Shape& shape) const;
  /// Copies densely packed pictures between host and device; waits for the copy. A copy on the CPU. Throws
  /// Error(usage) for pictures in the other memory or with other strides.
  [[nodiscard]] Image upload(const ImageView& host) const;
  /// The other way; after what is in the device's own stream.
  [[nodiscard]] Image download(const ImageView& device) const;
  /// Copies between two views of one shape in this device's memory, whatever their strides, in stream order
  /// and without waiting. They must not overlap. Throws Error(usage) for other shapes or other memory.
  void copy(const ImageView& from, const MutableImageView& to, Stream stream = {}) const;
  /// Waits for everything that was given to the stream.
  void synchronize(Stream stream = {}) const;

  /// A new stream of this device, whose work runs beside that of its other streams. On the CPU, where run()
  /// returns with its result, it has no handle. Throws Error(environment) if there is none to be had.
  [[nodiscard]] OwnedStream new_stream() const;
  /// How many runs at a time, each of a plan and in a stream of its own, keep it busy: 2 on a GPU, as one is
  /// copied while the kernels of the other work; 1 on the CPU, where one run takes all threads.
  [[nodiscard]] int runs_at_once() const noexcept;
  /// Page-locked host memory: pictures in it are copied from and to any GPU at the full speed of the bus,
  /// beside kernels of other streams. Every block takes milliseconds, so keep it; null where the system lets
  /// no more be locked. Empty on the CPU.
  [[nodiscard]] Allocator page_locked_memory() const;

  /// The library's own parts use this.
  explicit Device(std::shared_ptr<Backend> backend) : backend_(std::move(backend)) {}
  /// Likewise.
  [[nodiscard]] Backend& backend() const noexcept { return *backend_; }

 private:
  std::shared_ptr<Backend> backend_;
};

}  // namespace satin
