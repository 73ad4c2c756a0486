#pragma once
// Launcher of the box mean of RGB bytes by a map of whole radii, from a table of residues
// (residue_gather.cuh).

#include <cstdint>

#include "kernels/device/launch.h"
#include "kernels/tables/residue_table.h"

namespace satin::kernels {

/// RGB u8 as stored, without alpha and mask; a map of u8, boxes clipped by the picture, of which
/// residue::residues_suffice() is true.
struct ResidueGatherArguments {
  int width = 0;
  int height = 0;
  const int* reaches = nullptr;             ///< whole radii of the map's 256 codes
  const residue::Entry* entries = nullptr;  ///< the one before the first pixel of the row before the first
  int entries_row = 0;                      ///< bytes
  const std::uint32_t* coarse = nullptr;
  int coarse_row = 0;  ///< bytes
  Source radius_map;
  Target output;
};

void gather_by_residues(const ResidueGatherArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
