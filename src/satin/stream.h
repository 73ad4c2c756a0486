#pragma once
// A stream: a queue of work that a GPU runs in order.

namespace [[gnu::visibility("default")]] satin {

/// A caller's cudaStream_t (a pointer to CUstream_st), or null for the device's own stream. The CPU ignores
/// it.
struct Stream {
  void* handle = nullptr;  ///< a cudaStream_t
};

}  // namespace satin
