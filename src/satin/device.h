#pragma once
// A device: where filters run. Opening one is explicit; there is no global state.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "satin/image.h"

namespace satin {

struct Backend;

/// What is known about one possible device.
struct DeviceInfo {
  std::string id;          ///< "cpu" or "cuda:0": what Device::open() takes
  std::string name;        ///< "AVX3, 2 threads" or "NVIDIA H200"
  std::size_t memory = 0;  ///< bytes in all
  bool usable = false;
  std::string reason;  ///< if not usable: why, and what to do
};

/// Every device of this machine, the CPU first. A build without CUDA, a missing driver or a driver that is
/// too old shows as an entry "cuda" with usable = false and the reason. Never throws for a missing GPU.
[[nodiscard]] std::vector<DeviceInfo> devices();

/// Order of work on a CUDA device: a caller's cudaStream_t (a pointer to CUstream_st), or null for the
/// device's own stream. The CPU ignores it.
struct Stream {
  void* handle = nullptr;
};

struct DeviceOptions {
  int threads = 0;  ///< CPU threads, at most; 0: all that the process may use
};

/// An open device. Copies share it. One device may be used from several threads at once; one Plan may not.
class Device {
 public:
  /// `auto` takes the first usable GPU, otherwise the CPU, and never fails; `cpu`; `cuda:N` (or `cuda` =
  /// `cuda:0`), which throws Error(environment) with the reason if it cannot be met. Any other text:
  /// Error(usage).
  [[nodiscard]] static Device open(std::string_view spec = "auto", const DeviceOptions& options = {});

  [[nodiscard]] const DeviceInfo& info() const noexcept;
  [[nodiscard]] bool is_cuda() const noexcept;

  /// A picture in this device's memory (host memory on the CPU); its pixels are not initialised.
  [[nodiscard]] Image allocate(const Shape& shape) const;
  /// Copies densely packed pictures between host and device; waits for the copy. A copy on the CPU.
  [[nodiscard]] Image upload(const ImageView& host) const;
  [[nodiscard]] Image download(const ImageView& device) const;
  /// Copies between two views of one shape in this device's memory, whatever their strides, in stream order
  /// and without waiting. They must not overlap. Throws Error(usage) for other shapes or other memory.
  void copy(const ImageView& from, const MutableImageView& to, Stream stream = {}) const;
  /// Waits for everything that was given to the stream.
  void synchronize(Stream stream = {}) const;

  /// For the library's own parts.
  [[nodiscard]] Backend& backend() const noexcept { return *backend_; }

 private:
  explicit Device(std::shared_ptr<Backend> backend) : backend_(std::move(backend)) {}
  std::shared_ptr<Backend> backend_;
};

}  // namespace satin
