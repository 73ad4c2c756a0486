#pragma once
// Launches over the pixels of a picture (see kernels/device/launch.h).

#include <cstdint>

#include "core/maths/fixed_point.h"
#include "core/plan_operations.h"
#include "kernels/device/launch.h"
#include "pixels/fixed_threshold.h"
#include "pixels/maths/pixel.h"

namespace satin::kernels {

/// Runs the steps of a pixelwise job (each_place.cuh). Images are in device memory.
template <class Job>
void run_pixelwise(const Job& job, const typename Job::Images& images, const TransferView& transfer,
                   StreamHandle stream);

void clear_measured(Measured* result, StreamHandle stream);
void measure(const MeasureJob& job, const Source& picture, Measured* result, StreamHandle stream);
void check_map(std::int64_t width, std::int64_t height, const Source& map, Measured* result,
               StreamHandle stream);

struct FixedThresholdArguments {
  FixedThresholdJob job;
  const Measured* measured = nullptr;
  Source picture;
  double level = 0;
  Target output;
};

/// Counts the codes of the plane. Clears `counts` first.
void count_codes(const FixedThresholdArguments& arguments, std::uint64_t* counts, StreamHandle stream);
void apply_fixed_threshold(const FixedThresholdArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
