#pragma once
// Step 3 of depth of field: the samples of every group but the nearest that nearer pixels hide, by tiles
// whose tables stay in the L2 cache. Tiles that hold nothing to fill in, or nothing to fill in from, cost
// nothing.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/cpu/backend.h"
#include "lens/cpu/fill_tables.h"
#include "lens/lens_layers.h"

namespace satin::cpu {

/// One bit a group, of the groups that tiles hold.
class TileGroups {
 public:
  TileGroups(int width, int height);

  void find(CpuBackend& backend, const LensPlanes& planes);
  [[nodiscard]] bool holds_nearer(int column, int row, int group) const;
  /// In the tile or those around it.
  [[nodiscard]] bool holds_around(int column, int row, int group) const;

  const int columns;
  const int rows;

 private:
  [[nodiscard]] std::size_t place(int column, int row) const;

  std::vector<std::uint8_t> bits_;
};

class DisocclusionFill {
 public:
  DisocclusionFill(CpuBackend& backend, int width, int height);

  /// Adds the fill of every group but the nearest to the list, which it completes after
  /// each of them.
  void run(const LensScene& scene);
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  template <int Channels>
  void fill_group(const FillDisocclusions<Channels>& fill);
  template <int Channels>
  void fill_tile(const FillDisocclusions<Channels>& fill, int column, int row, FillTables& tables) const;

  CpuBackend& backend_;
  TileGroups tile_groups_;
  std::vector<FillTables> tables_;  ///< of each thread
};

}  // namespace satin::cpu
