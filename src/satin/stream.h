#pragma once
// Where work is put: the order in which a GPU does it.

namespace [[gnu::visibility("default")]] satin {

/// Order of work on a CUDA device: a caller's cudaStream_t (a pointer to CUstream_st), or null for the
/// device's own stream. The CPU ignores it.
struct Stream {
  void* handle = nullptr;  ///< a cudaStream_t
};

}  // namespace satin
