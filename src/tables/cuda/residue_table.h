#pragma once
// The table of kernels/tables/residue_table.h with its memory.

#include <optional>

#include "core/cuda/backend.h"
#include "kernels/tables/launch.h"
#include "kernels/tables/residue_gather.h"
#include "kernels/tables/table_single_pass.h"

namespace satin::cuda {

class ResidueTable {
 public:
  /// `tiles`: of kernels::residue_tiles().
  ResidueTable(CudaBackend& backend, const kernels::TableTiles& tiles);

  [[nodiscard]] std::size_t bytes() const noexcept { return entries_.size + coarse_.size + workspace_.size; }
  /// Of RGB bytes.
  void build(const ImageView& picture, Stream stream, const kernels::SinglePassTrial& trial = {});

  /// Rows and columns count from -1 on.
  [[nodiscard]] const kernels::residue::Entry* entries() const noexcept;
  [[nodiscard]] int entries_row() const noexcept { return entries_row_; }  ///< bytes
  [[nodiscard]] const std::uint32_t* coarse() const noexcept;
  [[nodiscard]] int coarse_row() const noexcept { return coarse_row_; }  ///< bytes

 private:
  CudaBackend& backend_;
  kernels::TableTiles tiles_;
  int entries_row_;
  int coarse_row_;
  Buffer entries_;
  Buffer coarse_;
  Buffer workspace_;
};

}  // namespace satin::cuda
