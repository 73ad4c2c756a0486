#pragma once

#include "core/operation.h"

namespace satin {

/// Copies pixels of one type between two views of the same shape in the backend's memory, whatever their
/// strides.
struct CopyOperation : Operation {
  virtual void run(const ImageView& source, const MutableImageView& target, Stream stream) = 0;
};

struct CopyJob {
  using Operation = CopyOperation;
};

}  // namespace satin
