#pragma once
// Launchers of unsharp_residual.cu and unsharp_residual_threshold.cu, in the manner of launch.h.

#include "core/maths/fixed_point.h"
#include "kernels/device/launch.h"
#include "means/unsharp_residual.h"

namespace satin::kernels {

struct UnsharpResidualArguments {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  Type type = Type::u8;  ///< of the picture and the output
  Type means_type = Type::u32;
  UnsharpResidualRule rule;
  const Measured* measured = nullptr;
  Source picture;
  Source means;
  Source mask;
  Target output;
};

void add_residual(const UnsharpResidualArguments& arguments, StreamHandle stream);

/// For jobs that join_threshold(): the output has one byte a pixel.
void compare_residual(const UnsharpResidualArguments& arguments, const FixedThresholdRule& level,
                      StreamHandle stream);

}  // namespace satin::kernels
