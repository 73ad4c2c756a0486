#pragma once
// The arrays of one call of satin/scan.h: what is refused before a backend sees them, and where they lie for
// the backend.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/backend.h"
#include "scan/scan.h"

namespace satin {

/// The arrays of one call, by the names that its declaration gives them. All that is refused throws
/// Error(usage).
class Arrays {
 public:
  Arrays(const Device& device, const char* function);

  /// Refuses an array with a negative size, without data, not aligned, or in memory of another device.
  void input(const char* name, const ArrayView& view);
  /// Refuses as well one that overlaps an array named before, unless it is the array `in_place` itself.
  void result(const char* name, const MutableArrayView& view, const std::string& in_place = {});

  /// The following refuse the array named last.
  void require_type(std::initializer_list<Type> types) const;
  void require_type_of(const char* other) const;
  void require_size_of(const char* other) const;
  void require_size(std::int64_t size, const std::string& why) const;
  /// Requires the type in which values of the array `values` are summed, or combined by another operator.
  void require_sum_of(const char* values, Operator op) const;

  [[noreturn]] void refuse(const std::string& what) const;

 private:
  struct Named {
    std::string name;
    ArrayView view;
  };
  [[nodiscard]] const ArrayView& find(const std::string& name) const;
  void note(const char* name, const ArrayView& view);

  const Device& device_;
  std::string function_;
  std::vector<Named> arrays_;
};

/// Throws Error(usage) unless the number fits the type.
void require_fit(const Arrays& arrays, const Scalar& number, Type type);

/// Refuses u32 for indices that need more.
void require_index_type(const Arrays& arrays, const ArrayView& indices);

/// "u32 or u64"
[[nodiscard]] std::string list_of(std::initializer_list<Type> types);

/// Arrays in the memory of the backend: host arrays of a GPU are copied there and back.
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
