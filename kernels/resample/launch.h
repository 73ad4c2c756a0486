#pragma once
// Launches of resampling (see kernels/device/launch.h).

#include <cstdint>

#include "kernels/device/launch.h"
#include "resample/resample.h"

namespace satin::kernels {

/// AxisWeights in device memory.
struct DeviceWeights {
  const std::int32_t* first = nullptr;
  const std::int32_t* count = nullptr;
  const std::int32_t* row = nullptr;
  const double* weights = nullptr;
  std::int64_t most = 0;
  double total = 1;
};

struct ResampleArguments {
  ResampleJob job;
  ResampleSums sums = ResampleSums::rounded;
  ResampleRule rule;
  DeviceWeights x;
  DeviceWeights y;
  Source picture;
  std::int64_t first_read = 0;  ///< row of the picture that `picture` begins with
  std::int64_t read = 0;        ///< first row of the box that is resampled along x
  std::int64_t read_rows = 0;
  std::byte* between = nullptr;  ///< these rows, resampled along x
  Target output;
  std::int64_t first = 0;  ///< first row of the result
  std::int64_t rows = 0;
};

void resample(const ResampleArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
