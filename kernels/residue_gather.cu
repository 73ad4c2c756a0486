#include "kernels/residue_gather.cuh"

namespace satin::kernels {
namespace {

/// H200, UHD, a smooth map to 510 and a constant one, without the table: 0.0570 and 0.0562 ms; 5 blocks a
/// multiprocessor 0.0596 and 0.0593, 8 (32 registers, which spill) 0.0685 and 0.0634; of those 4 rows a warp
/// 0.0720 and 0.0679, 16 rows 0.0663 and 0.0588, two lines of four warps the same.
using Shape = ResidueGatherShape<8, 1, 8, 6>;

}  // namespace

void gather_by_residues(const ResidueGatherArguments& arguments, StreamHandle stream) {
  const dim3 blocks(
      static_cast<unsigned>((arguments.width + Shape::columns_of_block - 1) / Shape::columns_of_block),
      static_cast<unsigned>((arguments.height + Shape::rows_of_block - 1) / Shape::rows_of_block));
  gather_residue_means<Shape><<<blocks, Shape::threads, 0, stream>>>(arguments);
}

}  // namespace satin::kernels
