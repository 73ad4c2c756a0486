#pragma once
// The arrays of one call in the memory of the backend: host arrays of a GPU are copied there and back.

#include <cstdint>
#include <vector>

#include "core/backend.h"
#include "scan/scan.h"

namespace satin {

class Stage {
 public:
  Stage(const Device& device, Stream stream) : backend_(device.backend()), stream_(stream) {}

  /// The array itself, or its copy.
  [[nodiscard]] ArrayView input(const ArrayView& view);
  /// The array itself, or one whose values finish() copies to it.
  [[nodiscard]] MutableArrayView result(const MutableArrayView& view);
  /// Workspace of this call in the backend's memory.
  [[nodiscard]] MutableArrayView workspace(Type type, std::int64_t size);
  /// The values of a host array at the beginning of `view`, wherever that is.
  void fill(const MutableArrayView& view, const ArrayView& host);

  /// Every element of `result`, host or device memory, becomes the operator's identity.
  void fill_identity(const MutableArrayView& result, Operator op);

  /// Copies results to the host, at most the first `most` values of each, and waits if anything was staged.
  void finish(std::int64_t most = INT64_MAX);

  [[nodiscard]] Backend& backend() const noexcept { return backend_; }
  [[nodiscard]] const ScanOperations& operations() const noexcept {
    return backend_.operations.table<ScanOperations>();
  }
  [[nodiscard]] Stream stream() const noexcept { return stream_; }

 private:
  struct Copied {
    MutableArrayView host;
    MutableArrayView device;
  };
  [[nodiscard]] bool needs_copy(const ArrayView& view) const {
    return !backend_.host_memory && view.memory == Memory::host && view.size > 0;
  }

  Backend& backend_;
  Stream stream_;
  std::vector<Buffer> buffers_;
  std::vector<Copied> results_;
};

/// Stages the arrays, which have been checked, and selects; returns how many.
std::int64_t select(const Device& device, Selection selection, MutableArrayView result, Stream stream);

}  // namespace satin
