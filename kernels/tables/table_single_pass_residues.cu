#include "kernels/tables/launch.h"
#include "kernels/tables/single_pass_launch.cuh"

namespace satin::kernels {
namespace {

using namespace single_pass;

/// 128 RGB pixels. H200, UHD: 0.0508 ms; looking 8 tiles to the left 0.0525, 4 tiles 0.0565, 8 and 14 up
/// (which spills) 0.0556; with 24 warps a multiprocessor (80 registers, which spill) 0.0628, tiles of 16
/// warps 0.0584.
using Residues = Tiling<PixelQuads, TileShape<1, 8, 16, 2, 6, 12>, true>;

}  // namespace

std::optional<TableTiles> residue_tiles(std::int64_t width, std::int64_t height) {
  const TableTiles tiles = tiles_of(width, height, Residues::sizes);
  return fits(tiles, Residues::sizes, Residues::channels) ? std::optional(tiles) : std::nullopt;
}

std::size_t residue_workspace_bytes(const TableTiles& tiles) {
  return Layout(tiles, Residues::sizes, nullptr).bytes;
}

void build_residues_in_one_pass(const ResidueArguments& arguments, StreamHandle stream,
                                const SinglePassTrial& trial) {
  TableArguments table;
  table.tiles = arguments.tiles;
  table.picture = arguments.picture;
  table.table = arguments.entries;
  table.workspace = arguments.workspace;
  Job job = job_of<Residues>(table, trial);
  job.coarse = arguments.coarse.data;
  job.coarse_row = arguments.coarse.row;
  const auto kernel = are_aligned(job.picture.data, job.picture.row, 4) ? build<Residues, true, 0>
                                                                        : build<Residues, false, 0>;
  const dim3 blocks(static_cast<unsigned>(job.tile_columns), static_cast<unsigned>(job.tile_rows));
  kernel<<<blocks, Residues::threads, 0, stream>>>(job);
}

}  // namespace satin::kernels
