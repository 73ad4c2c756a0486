#pragma once
// Launcher of the box mean by a radius map that is gathered from a table in memory (map_gather.cuh).

#include <cstdint>

#include "kernels/device/launch.h"
#include "means/box_mean.h"

namespace satin::kernels {

/// u8 of 1 to 4 channels as they are stored, without alpha and mask, largest boxes below 2^24 pixels.
struct MapGatherArguments {
  int width = 0;
  int height = 0;
  int channels = 1;
  bool clipped = false;  ///< only pixels of the picture count: Border::shrink. Otherwise boxes that leave the
                         ///< picture are left out
  RadiusField radius;
  const Radius256* radii_of_codes = nullptr;  ///< of the 256 values of an 8-bit map
  const std::uint32_t* table = nullptr;       ///< with zeros to the left of it and above it
  int table_row = 0;                          ///< bytes
  Source source;
  Source radius_map;
  Target output;
};

void gather_by_map(const MapGatherArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
