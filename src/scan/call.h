#pragma once
// The arrays of one call of satin/scan.h: Arrays refuses invalid ones before a backend sees them, Stage
// copies host arrays to a GPU and back.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/backend.h"
#include "scan/scan.h"

namespace satin {

/// The arrays of one call, by their names in its declaration. To refuse is to throw Error(usage).
class Arrays {
 public:
  Arrays(const Device& device, const char* function);

  /// Adds an array. Refuses a negative size, missing data, bad alignment and memory of another device.
  void input(const char* name, const ArrayView& view);
  /// Adds a result. Refuses also an overlap with an array added before, unless it is `in_place` itself.
  void result(const char* name, const MutableArrayView& view, const std::string& in_place = {});

  // Requirements on the array added last.
  void require_type(std::initializer_list<Type> types) const;
  void require_type_of(const char* other) const;
  void require_size_of(const char* other) const;
  void require_size(std::int64_t size, const std::string& why) const;
  /// Requires a type in which the operator can combine the elements of the array `values`.
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

/// Puts the arrays of a call into the backend's memory: a GPU gets copies of host arrays.
class Stage {
 public:
  Stage(const Device& device, Stream stream) : backend_(device.backend()), stream_(stream) {}

  /// Returns the array itself or its copy.
  [[nodiscard]] ArrayView input(const ArrayView& view);
  /// Returns the array itself, or a device array that finish() copies back.
  [[nodiscard]] MutableArrayView result(const MutableArrayView& view);
  /// Workspace of this call in the backend's memory.
  [[nodiscard]] MutableArrayView workspace(Type type, std::int64_t size);
  /// Sets every element of `result`, in any memory, to the operator's identity.
  void fill_identity(const MutableArrayView& result, Operator op);

  /// Copies the first `most` values of each result to the host, and waits if anything was staged.
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

}  // namespace satin
