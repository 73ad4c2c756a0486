#include "core/cuda/backend.h"

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/device/tuning.h"

namespace satin {
namespace cuda {
namespace {

/// The pool keeps 1 / share_of_pool of the device's memory, since returning memory to the driver costs a
/// call.
constexpr std::size_t share_of_pool = 8;

/// Returns "13.0" for 13000.
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string name_of_device(int ordinal) { return "cuda:" + std::to_string(ordinal); }

DeviceInfo unusable(const std::string& reason) {
  DeviceInfo info;
  info.id = "cuda";
  info.name = "NVIDIA GPU";
  info.reason = reason;
  return info;
}

/// Returns why there is no device.
std::string reason_for(cudaError_t status) {
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
  if (driver == 0)
    return "no NVIDIA driver was found; install one for CUDA " + version_text(CUDART_VERSION) + " or newer";
  if (status == cudaErrorInsufficientDriver)
    return "the NVIDIA driver supports CUDA " + version_text(driver) + ", but this build needs " +
           version_text(CUDART_VERSION) + ": update the driver";
  if (status == cudaErrorNoDevice || status == cudaSuccess)
    return "no NVIDIA GPU was found; if there is one, look at nvidia-smi and CUDA_VISIBLE_DEVICES";
  return message_of(status) + "; look at nvidia-smi";
}

/// Returns why a device cannot run the kernels.
std::string reason_for_device(cudaError_t status, const cudaDeviceProp& properties) {
  if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorUnsupportedPtxVersion) {
    const std::string capability = std::to_string(properties.major) + "." + std::to_string(properties.minor);
    return "this build has no kernels for its compute capability " + capability +
           " (or for a driver this old); build with -DCMAKE_CUDA_ARCHITECTURES=" +
           std::to_string(properties.major) + std::to_string(properties.minor);
  }
  return message_of(status) + "; look at nvidia-smi";
}

DeviceInfo describe(int ordinal) {
  DeviceInfo info = unusable("");
  info.id = name_of_device(ordinal);
  cudaDeviceProp properties{};
  cudaError_t status = cudaGetDeviceProperties(&properties, ordinal);
  if (status == cudaSuccess) {
    info.name = properties.name;
    info.memory = properties.totalGlobalMem;
    status = cudaSetDevice(ordinal);
  }
  if (status == cudaSuccess) status = static_cast<cudaError_t>(kernels::probe());
  info.usable = status == cudaSuccess;
  if (!info.usable) info.reason = reason_for_device(status, properties);
  static_cast<void>(cudaGetLastError());
  return info;
}

int count_devices(std::string& reason) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  static_cast<void>(cudaGetLastError());
  if (status == cudaSuccess && count > 0) return count;
  reason = reason_for(status);
  return 0;
}

[[noreturn]] void refuse(int ordinal, const std::string& reason) {
  throw Error(ErrorKind::environment,
              "Device " + name_of_device(ordinal) + " cannot be opened: " + reason + ".");
}

[[noreturn]] void refuse_memory(std::size_t bytes, const DeviceInfo& info) {
  static_cast<void>(cudaGetLastError());
  std::size_t available = 0;
  std::size_t all = 0;
  const bool known = cudaMemGetInfo(&available, &all) == cudaSuccess;
  throw NoMemory("There is no memory for " + std::to_string(bytes) + " bytes on " + info.id + " (" +
                 info.name + ")" + (known ? ", where " + std::to_string(available) + " are free" : "") +
                 ": use smaller pictures, or the device cpu.");
}

/// Returns an allocator of page-locked host memory for copies from and to all GPUs. Every call selects the
/// device first, since a thread without one would initialize cuda:0.
Allocator page_locked_memory(int ordinal) {
  const auto lock_pages = [ordinal](std::size_t bytes) -> void* {
    void* memory = nullptr;
    cudaError_t status = cudaSetDevice(ordinal);
    if (status == cudaSuccess)
      status = cudaHostAlloc(&memory, std::max<std::size_t>(bytes, 1), cudaHostAllocPortable);
    if (status == cudaSuccess) return memory;
    static_cast<void>(cudaGetLastError());
    return nullptr;
  };
  const auto unlock = [ordinal](void* memory, std::size_t) {
    static_cast<void>(cudaSetDevice(ordinal));
    static_cast<void>(cudaFreeHost(memory));
    static_cast<void>(cudaGetLastError());
  };
  return {lock_pages, unlock};
}

/// Makes a device current for the calling thread, and returns its number.
int selected(int ordinal) {
  check(cudaSetDevice(ordinal), "selecting the device");
  return ordinal;
}

/// Creates a stream of the current device that does not wait for the default stream.
cudaStream_t made_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  return stream;
}

/// Creates a pool of memory that is allocated and freed in stream order. It keeps up to `kept` unused bytes.
/// Null if the device has no pools.
cudaMemPool_t made_pool(int ordinal, std::uint64_t kept) {
  int supported = 0;
  check(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, ordinal),
        "asking for memory pools");
  if (supported == 0) return nullptr;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = ordinal;
  cudaMemPool_t pool = nullptr;
  check(cudaMemPoolCreate(&pool, &properties), "creating a memory pool");
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept), "setting up a memory pool");
  return pool;
}

}  // namespace

CudaBackend::CudaBackend(int ordinal, const DeviceInfo& description)
    : ordinal_(selected(ordinal)),
      stream_(made_stream()),
      pool_(made_pool(ordinal, description.memory / share_of_pool)) {
  info = description;
  host_memory = false;
  runs_at_once = 2;  // copies of one picture overlap kernels of another
  page_locked = page_locked_memory(ordinal);
  mean_windows.run = kernels::tuning::mean_window_run_pixels;
  mean_windows.least_pixels = kernels::tuning::mean_window_least_pixels;
  sliding_windows.run = kernels::tuning::sliding_window_run_pixels;
  sliding_windows.least_pixels = kernels::tuning::sliding_window_least_pixels;
  box_windows = sliding_windows;
  alpha_box_windows = mean_windows;
  check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, ordinal),
        "asking for the number of multiprocessors");
  check(cudaDeviceGetAttribute(&shared_memory_, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal),
        "asking for the size of shared memory");
}

CudaBackend::~CudaBackend() { static_cast<void>(cudaSetDevice(ordinal_)); }

void CudaBackend::select() const { selected(ordinal_); }

cudaStream_t CudaBackend::stream_of(Stream stream) const noexcept {
  return stream.handle == nullptr ? stream_.get() : static_cast<cudaStream_t>(stream.handle);
}

Buffer CudaBackend::allocate_own(std::size_t bytes) {
  select();
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, std::max<std::size_t>(bytes, 1));
  if (status == cudaErrorMemoryAllocation) refuse_memory(bytes, info);
  check(status, "allocating device memory");
  const auto free_memory = [ordinal = ordinal_](std::byte* p) {
    static_cast<void>(cudaSetDevice(ordinal));
    static_cast<void>(cudaFree(p));
  };
  return {{static_cast<std::byte*>(memory), free_memory}, bytes};
}

void CudaBackend::upload(void* device, const void* host, std::size_t bytes, Stream stream) {
  select();
  check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream_of(stream)),
        "copying to the device");
  check(cudaStreamSynchronize(stream_of(stream)), "copying to the device");
}

Buffer CudaBackend::upload_positions(std::int64_t size, int margin, Border border) {
  std::vector<int> sources;
  for (std::int64_t position = -margin; position < size + margin; ++position)
    sources.push_back(static_cast<int>(satin::source_of(position, size, border)));
  return uploaded(sources);
}

void CudaBackend::download(void* host, const void* device, std::size_t bytes, Stream stream) {
  select();
  check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream_of(stream)),
        "copying from the device");
  check(cudaStreamSynchronize(stream_of(stream)), "copying from the device");
}

void CudaBackend::synchronize(Stream stream) {
  select();
  check(cudaStreamSynchronize(stream_of(stream)), "waiting for the device");
}

std::shared_ptr<void> CudaBackend::new_stream() {
  select();
  const auto destroy = [device = shared_from_this(), ordinal = ordinal_](CUstream_st* stream) {
    static_cast<void>(cudaSetDevice(ordinal));
    Destroy()(stream);
  };
  return std::shared_ptr<CUstream_st>(made_stream(), destroy);
}

}  // namespace cuda

std::vector<DeviceInfo> describe_cuda() {
  std::string reason;
  const int count = cuda::count_devices(reason);
  if (count == 0) return {cuda::unusable(reason)};
  int current = 0;
  const bool known = cudaGetDevice(&current) == cudaSuccess;
  std::vector<DeviceInfo> list;
  list.reserve(static_cast<std::size_t>(count));
  for (int ordinal = 0; ordinal < count; ++ordinal) list.push_back(cuda::describe(ordinal));
  if (known) static_cast<void>(cudaSetDevice(current));
  static_cast<void>(cudaGetLastError());
  return list;
}

std::shared_ptr<Backend> open_cuda(int ordinal) {
  std::string reason;
  const int count = cuda::count_devices(reason);
  if (count == 0) cuda::refuse(ordinal, reason);
  if (ordinal < 0 || ordinal >= count)
    cuda::refuse(ordinal, "the devices are cuda:0 to " + cuda::name_of_device(count - 1));
  const DeviceInfo info = cuda::describe(ordinal);
  if (!info.usable) cuda::refuse(ordinal, info.reason);
  auto backend = std::make_shared<cuda::CudaBackend>(ordinal, info);
  cuda::add_operations(backend->operations);
  return backend;
}

}  // namespace satin
