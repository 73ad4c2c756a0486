#pragma once
// An operation is described once, prepared once by a backend (which allocates its workspace there) and then
// run often. Views given to run() are single frames, interleaved, and in memory of the backend; row strides
// are free.

#include <cstddef>

#include "satin/stream.h"
#include "satin/view.h"

namespace satin {

struct Backend;

/// Base of every prepared operation.
struct Operation {
  Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  virtual ~Operation() = default;
  [[nodiscard]] virtual std::size_t workspace_bytes() const noexcept = 0;
};

}  // namespace satin
