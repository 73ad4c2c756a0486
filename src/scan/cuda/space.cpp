#include "scan/cuda/space.h"

#include <algorithm>

namespace satin::cuda {

StreamBuffer::StreamBuffer(const CudaBackend& backend, std::size_t bytes, Stream stream)
    : data_(nullptr, FreeInOrder{backend.stream_of(stream)}) {
  void* data = nullptr;
  check(cudaMallocFromPoolAsync(&data, std::max<std::size_t>(bytes, 1), backend.pool(),
                                backend.stream_of(stream)),
        "allocating workspace");
  data_.reset(data);
}

void StreamBuffer::clear(std::size_t bytes) const {
  check(cudaMemsetAsync(data_.get(), 0, bytes, data_.get_deleter().stream), "clearing workspace");
}

}  // namespace satin::cuda
