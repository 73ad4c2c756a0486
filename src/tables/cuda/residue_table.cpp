#include "tables/cuda/residue_table.h"

#include "core/cuda/check.h"
#include "kernels/tables/launch.h"

namespace satin::cuda {
namespace {

namespace residue = kernels::residue;

constexpr int alignment = 32;  // bytes: a sector of the L2, and the entries that a lane stores

int aligned_row(std::int64_t values, std::size_t size) {
  const std::int64_t bytes = values * static_cast<std::int64_t>(size);
  return static_cast<int>((bytes + alignment - 1) / alignment * alignment);
}

}  // namespace

ResidueTable::ResidueTable(CudaBackend& backend, const kernels::TableTiles& tiles)
    : backend_(backend),
      tiles_(tiles),
      entries_row_(aligned_row(tiles.width + 1, sizeof(residue::Entry))),
      coarse_row_(aligned_row(tiles.width / residue::column_step + 2, sizeof(std::uint32_t))),
      entries_(backend.allocate(static_cast<std::size_t>(alignment + (tiles.height + 1) * entries_row_))),
      coarse_(
          backend.allocate(static_cast<std::size_t>((tiles.height / residue::row_step + 1) * coarse_row_))),
      workspace_(backend.allocate(kernels::residue_workspace_bytes(tiles))) {
  for (const Buffer* buffer : {&entries_, &coarse_, &workspace_})
    check(cudaMemsetAsync(buffer->get(), 0, buffer->size, backend.stream_of({})), "clearing a table");
  backend.synchronize({});
}

const residue::Entry* ResidueTable::entries() const noexcept {
  return reinterpret_cast<const residue::Entry*>(entries_.get() + alignment) - 1;
}

const std::uint32_t* ResidueTable::coarse() const noexcept {
  return reinterpret_cast<const std::uint32_t*>(coarse_.get());
}

void ResidueTable::build(const ImageView& picture, Stream stream, const kernels::SinglePassTrial& trial) {
  kernels::ResidueArguments arguments;
  arguments.tiles = tiles_;
  arguments.picture = source_of(picture);
  arguments.entries = {entries_.get() + alignment + entries_row_, entries_row_};
  arguments.coarse = {coarse_.get(), coarse_row_};
  arguments.workspace = workspace_.get();
  kernels::build_residues_in_one_pass(arguments, backend_.stream_of(stream), trial);
  check_launch("building a table of residues");
}

}  // namespace satin::cuda
