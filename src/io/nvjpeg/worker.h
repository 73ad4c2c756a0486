#pragma once
// What one decode at a time needs of its own.

#include <cstddef>
#include <vector>

#include "io/nvjpeg/library.h"
#include "io/nvjpeg_interface.h"

namespace satin::nvjpeg {

/// Device memory that grows, in the order of one stream. All work of the stream on it must be done when it
/// goes.
class DeviceBlock {
 public:
  explicit DeviceBlock(cudaStream_t stream) : stream_(stream) {}
  ~DeviceBlock() { give_back(); }
  DeviceBlock(const DeviceBlock&) = delete;
  DeviceBlock& operator=(const DeviceBlock&) = delete;

  /// That many bytes or more; what was in them is lost. Throws Failure.
  [[nodiscard]] unsigned char* at_least(std::size_t bytes);

 private:
  void give_back() noexcept;

  cudaStream_t stream_;
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

/// A stream, its buffers and a state for each engine. To be used, and to be destroyed, by one thread at a
/// time, with the library's GPU current. Throws Failure; a worker that did is of no more use.
class Worker {
 public:
  /// `library` must outlive it.
  explicit Worker(const Library& library);
  /// Waits for the stream.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// False if nvJPEG does not take the file; otherwise the pixels are there.
  [[nodiscard]] bool decode(const SatinNvjpegJob& job);

 private:
  [[nodiscard]] bool parsed(const SatinNvjpegJob& job);
  [[nodiscard]] const Engine* engine_for(const SatinNvjpegJob& job);
  void run(const Engine& engine, const SatinNvjpegJob& job);

  const Library& library_;
  Owned<CUstream_st> stream_;
  Owned<CUevent_st> done_;
  Owned<nvjpegJpegStream> file_;
  Owned<nvjpegDecodeParams> parameters_;
  Owned<nvjpegBufferPinned> host_buffer_;
  Owned<nvjpegBufferDevice> device_buffer_;
  std::vector<Owned<nvjpegJpegState>> states_;  ///< in the order of the engines
  DeviceBlock pixels_;
};

}  // namespace satin::nvjpeg
