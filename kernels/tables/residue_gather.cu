#include "kernels/tables/residue_gather.cuh"

namespace satin::kernels {
namespace {

/// H200, UHD, a smooth map to 510 and a constant one, without the table: 0.0563 and 0.0553 ms; with eight
/// warps a block 0.0569 and 0.0560, of those 12 rows a warp 0.0573 and 0.0547, five blocks a multiprocessor
/// 0.0596 and 0.0593; 64 warps a multiprocessor (32 registers, which spill) 0.0687 and 0.0632.
using Shape = ResidueGatherShape<4, 1, 8, 12>;

}  // namespace

void gather_by_residues(const ResidueGatherArguments& arguments, StreamHandle stream) {
  const dim3 blocks(
      static_cast<unsigned>((arguments.width + Shape::columns_of_block - 1) / Shape::columns_of_block),
      static_cast<unsigned>((arguments.height + Shape::rows_of_block - 1) / Shape::rows_of_block));
  gather_residue_means<Shape><<<blocks, Shape::threads, 0, stream>>>(arguments);
}

}  // namespace satin::kernels
