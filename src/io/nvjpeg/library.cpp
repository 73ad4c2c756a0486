#include "io/nvjpeg/library.h"

#include <algorithm>
#include <bit>
#include <exception>

namespace satin::nvjpeg {
namespace {

const char* text_of(nvjpegStatus_t status) {
  constexpr std::pair<nvjpegStatus_t, const char*> texts[] = {
      {NVJPEG_STATUS_NOT_INITIALIZED, "not initialised"},
      {NVJPEG_STATUS_INVALID_PARAMETER, "invalid parameter"},
      {NVJPEG_STATUS_BAD_JPEG, "bad JPEG"},
      {NVJPEG_STATUS_JPEG_NOT_SUPPORTED, "JPEG not supported"},
      {NVJPEG_STATUS_ALLOCATOR_FAILURE, "no memory"},
      {NVJPEG_STATUS_EXECUTION_FAILED, "execution failed"},
      {NVJPEG_STATUS_ARCH_MISMATCH, "this GPU has none"},
      {NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED, "not supported here"},
      {NVJPEG_STATUS_INCOMPLETE_BITSTREAM, "incomplete JPEG"}};
  for (const auto& [known, text] : texts)
    if (known == status) return text;
  return "internal error";
}

/// Memory that is asked for outside of any stream of ours must be there for all of them.
int take_device_memory(void*, void** memory, std::size_t size, cudaStream_t stream) {
  cudaError_t status = cudaMallocAsync(memory, size, stream);
  if (status == cudaSuccess && stream == nullptr) status = cudaStreamSynchronize(stream);
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
  return status;
}

int give_back_device_memory(void*, void* memory, std::size_t, cudaStream_t stream) {
  return cudaFreeAsync(memory, stream);
}

int take_host_memory(void* blocks, void** memory, std::size_t size, cudaStream_t) {
  *memory = static_cast<HostBlocks*>(blocks)->take(size);
  return *memory != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}

int give_back_host_memory(void* blocks, void* memory, std::size_t, cudaStream_t) {
  static_cast<HostBlocks*>(blocks)->give_back(memory);
  return cudaSuccess;
}

/// Stricter than nvJPEG is by itself, and colours enlarged as smoothly as libjpeg does.
unsigned flags() {
  unsigned result = NVJPEG_FLAGS_BITSTREAM_STRICT;
#ifdef NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION
  result |= NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION;
#endif
  return result;
}

void require_memory_pools(int device) {
  int supported = 0;
  check(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device),
        "asking for memory pools");
  if (supported == 0) throw Failure{"its driver has no memory pools"};
}

std::vector<nvjpegBackend_t> backends_of(SatinNvjpegEngine engine) {
  switch (engine) {
    case satin_nvjpeg_gpu:
      return {NVJPEG_BACKEND_GPU_HYBRID};
    case satin_nvjpeg_cpu:
      return {NVJPEG_BACKEND_HYBRID};
    case satin_nvjpeg_hardware:
      return {NVJPEG_BACKEND_HARDWARE};
    case satin_nvjpeg_automatic:
      break;
  }
  return {NVJPEG_BACKEND_GPU_HYBRID, NVJPEG_BACKEND_HYBRID};
}

}  // namespace

void check(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw Failure{std::string("CUDA failed while ") + doing + ", " + cudaGetErrorString(status)};
}

void check(nvjpegStatus_t status, const char* doing) {
  if (status == NVJPEG_STATUS_SUCCESS) return;
  static_cast<void>(cudaGetLastError());
  Failure failure{std::string("nvJPEG failed while ") + doing + ", " + text_of(status)};
  failure.refused = refuses(status);
  throw failure;
}

bool refuses(nvjpegStatus_t status) noexcept {
  return status == NVJPEG_STATUS_BAD_JPEG || status == NVJPEG_STATUS_JPEG_NOT_SUPPORTED ||
         status == NVJPEG_STATUS_INCOMPLETE_BITSTREAM;
}

Library::Library(int device, SatinNvjpegEngine engine)
    : device_(device),
      device_memory_{take_device_memory, give_back_device_memory, nullptr},
      host_memory_{take_host_memory, give_back_host_memory, &host_blocks_} {
  select();
  require_memory_pools(device);
  const nvjpegBackend_t backend =
      engine == satin_nvjpeg_hardware ? NVJPEG_BACKEND_HARDWARE : NVJPEG_BACKEND_DEFAULT;
  handle_ =
      made<nvjpegHandle>("starting", nvjpegCreateExV2, backend, &device_memory_, &host_memory_, flags());
  for (const nvjpegBackend_t each : backends_of(engine))
    engines_.push_back(
        {each, made<nvjpegJpegDecoder>("making a decoder", nvjpegDecoderCreate, handle(), each)});
}

void Library::select() const try {
  check(cudaSetDevice(device_), "selecting the GPU");
} catch (Failure& failure) {
  failure.lost = true;
  throw;
}

void HostBlocks::Unlock::operator()(void* memory) const noexcept { static_cast<void>(cudaFreeHost(memory)); }

void* HostBlocks::take(std::size_t bytes) noexcept try {
  constexpr std::size_t least = std::size_t{1} << 16;
  const std::size_t size = std::bit_ceil(std::max(bytes, least));
  const std::lock_guard lock(mutex_);
  Blocks& idle = idle_[size];
  Block block;
  if (!idle.empty()) {
    block = std::move(idle.back());
    idle.pop_back();
  } else {
    idle.reserve(counts_[size] + 1);
    void* memory = nullptr;
    if (cudaHostAlloc(&memory, size, cudaHostAllocPortable) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return nullptr;
    }
    block.reset(memory);
    ++counts_[size];
  }
  void* memory = block.get();
  taken_.emplace(memory, std::pair(size, std::move(block)));
  return memory;
} catch (const std::exception&) {
  return nullptr;
}

void HostBlocks::give_back(void* memory) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = taken_.find(memory);
  if (found == taken_.end()) return;
  auto& [size, block] = found->second;
  idle_.find(size)->second.push_back(std::move(block));
  taken_.erase(found);
}

}  // namespace satin::nvjpeg
