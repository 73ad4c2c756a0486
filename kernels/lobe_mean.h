#pragma once
// Launches of lobe_mean.cu, in the manner of launch.h.

#include <cstdint>

#include "core/maths/lobe.h"
#include "core/maths/mean.h"
#include "core/operations/pixels.h"
#include "kernels/launch.h"

namespace satin::kernels {

struct LobeMeanArguments {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t result_rows = 0;  ///< of all levels
  PixelRead read;
  MeanRule rule;
  const Measured* measured = nullptr;  ///< floats
  const std::uint32_t* row_weights = nullptr;
  const LobeBand* bands = nullptr;
  const LobeRow* rows = nullptr;
  Source source;
  std::uint64_t* weighed = nullptr;      ///< dense rows
  const std::uint64_t* table = nullptr;  ///< of `weighed`; dense rows
  Target output;
};

/// Working values times the weights of their rows.
void weigh_rows(const LobeMeanArguments& arguments, StreamHandle stream);
void lobe_mean(const LobeMeanArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
