#pragma once
// Launchers of detail.cu and detail_level.cu, in the manner of launch.h.

#include "core/operations/detail.h"
#include "kernels/launch.h"

namespace satin::kernels {

struct DetailArguments {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  Type type = Type::u8;  ///< of the picture and the output
  Type means_type = Type::u32;
  DetailRule rule;
  const Measured* measured = nullptr;
  Source picture;
  Source means;
  Source mask;
  Target output;
};

void add_detail(const DetailArguments& arguments, StreamHandle stream);

/// For jobs that join_level(): the output has one byte a pixel.
void compare_detail(const DetailArguments& arguments, const LevelRule& level, StreamHandle stream);

}  // namespace satin::kernels
