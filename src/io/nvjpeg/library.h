#pragma once
// nvJPEG's objects that all threads share, and the owners of all of its objects.

#include <cuda_runtime_api.h>
#include <nvjpeg.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "io/nvjpeg_interface.h"

namespace satin::nvjpeg {

struct Destroy {
  void operator()(CUstream_st* it) const noexcept { static_cast<void>(cudaStreamDestroy(it)); }
  void operator()(CUevent_st* it) const noexcept { static_cast<void>(cudaEventDestroy(it)); }
  void operator()(nvjpegHandle* it) const noexcept { static_cast<void>(nvjpegDestroy(it)); }
  void operator()(nvjpegJpegDecoder* it) const noexcept { static_cast<void>(nvjpegDecoderDestroy(it)); }
  void operator()(nvjpegJpegState* it) const noexcept { static_cast<void>(nvjpegJpegStateDestroy(it)); }
  void operator()(nvjpegJpegStream* it) const noexcept { static_cast<void>(nvjpegJpegStreamDestroy(it)); }
  void operator()(nvjpegDecodeParams* it) const noexcept { static_cast<void>(nvjpegDecodeParamsDestroy(it)); }
  void operator()(nvjpegBufferPinned* it) const noexcept { static_cast<void>(nvjpegBufferPinnedDestroy(it)); }
  void operator()(nvjpegBufferDevice* it) const noexcept { static_cast<void>(nvjpegBufferDeviceDestroy(it)); }
};

template <class Object>
using Owned = std::unique_ptr<Object, Destroy>;

/// What was being done when it went wrong, and how.
struct Failure {
  std::string reason;
  bool lost = false;     ///< the GPU does not answer any more
  bool refused = false;  ///< nvJPEG says that it is the file
};

void check(cudaError_t status, const char* doing);
void check(nvjpegStatus_t status, const char* doing);

/// create(arguments..., pointer to a null object) as all of nvJPEG's functions that make something.
template <class Object, class Create, class... Arguments>
[[nodiscard]] Owned<Object> made(const char* doing, const Create& create, const Arguments&... arguments) {
  Object* object = nullptr;
  check(create(arguments..., &object), doing);
  return Owned<Object>(object);
}

/// True if the status says that the file is not one for nvJPEG.
[[nodiscard]] bool refuses(nvjpegStatus_t status) noexcept;

/// One way to decode.
struct Engine {
  nvjpegBackend_t backend = NVJPEG_BACKEND_DEFAULT;
  Owned<nvjpegJpegDecoder> decoder;
};

/// Page-locked memory: blocks whose sizes are powers of two. Those that are given back are kept for others
/// until the end, because returning page-locked memory to the driver may wait for the whole device. For any
/// number of threads.
class HostBlocks {
 public:
  /// Null if the system lets no more be locked.
  [[nodiscard]] void* take(std::size_t bytes) noexcept;
  void give_back(void* memory) noexcept;

 private:
  struct Unlock {
    void operator()(void* memory) const noexcept;
  };
  using Block = std::unique_ptr<void, Unlock>;
  using Blocks = std::vector<Block>;

  std::mutex mutex_;
  std::map<std::size_t, Blocks> idle_;  ///< by size, with room for all blocks of that size
  std::map<std::size_t, std::size_t> counts_;
  std::map<void*, std::pair<std::size_t, Block>> taken_;
};

/// The handle of one GPU and the engines on it. Device memory is taken and given back in stream order. Throws
/// Failure.
class Library {
 public:
  Library(int device, SatinNvjpegEngine engine);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Makes the GPU the calling thread's current one: at the entry of every call from outside.
  void select() const;
  [[nodiscard]] int device() const noexcept { return device_; }
  [[nodiscard]] nvjpegHandle_t handle() const noexcept { return handle_.get(); }
  /// Those to be tried, the best one first.
  [[nodiscard]] const std::vector<Engine>& engines() const noexcept { return engines_; }
  /// True if several engines may be tried, by the size of the picture.
  [[nodiscard]] bool chooses() const noexcept { return engines_.size() > 1; }
  [[nodiscard]] nvjpegDevAllocatorV2_t* device_memory() const noexcept { return &device_memory_; }
  [[nodiscard]] nvjpegPinnedAllocatorV2_t* host_memory() const noexcept { return &host_memory_; }

 private:
  int device_;
  HostBlocks host_blocks_;
  mutable nvjpegDevAllocatorV2_t device_memory_;  // nvJPEG's interface knows no const
  mutable nvjpegPinnedAllocatorV2_t host_memory_;
  Owned<nvjpegHandle> handle_;
  std::vector<Engine> engines_;
};

}  // namespace satin::nvjpeg
