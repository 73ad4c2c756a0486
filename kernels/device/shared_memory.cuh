#pragma once
// Kernels must opt in to more than 48 KB of shared memory.

namespace satin::kernels {

/// Allows launches of a kernel to use all shared memory of the current device. The limit belongs to the
/// kernel and not to a launch, so it is the same for all plans. Returns a cudaError_t.
template <class... Parameters>
int allow_all_shared_memory(void (*kernel)(Parameters...)) {
  int device = 0;
  int limit = 0;
  cudaFuncAttributes attributes{};
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (status == cudaSuccess) status = cudaFuncGetAttributes(&attributes, kernel);
  if (status == cudaSuccess)
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  limit - static_cast<int>(attributes.sharedSizeBytes));
  return static_cast<int>(status);
}

}  // namespace satin::kernels
