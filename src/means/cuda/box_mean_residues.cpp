// Box mean of RGB bytes by a map of whole radii: a table of residues, then a gather.

#include <algorithm>
#include <array>
#include <optional>

#include "core/cuda/check.h"
#include "kernels/tables/launch.h"
#include "means/box_mean.h"
#include "means/cuda/box_mean.h"
#include "tables/cuda/residue_table.h"

namespace satin::cuda {
namespace {

constexpr std::int64_t widest = 1LL << 26;   // rows are below 2^31 bytes
constexpr std::int64_t highest = 65535 * 8;  // blocks of a grid

using Reaches = std::array<int, 256>;  // of the codes of a map

/// None if some radius is not whole.
std::optional<Reaches> whole_radii(const RadiusField& radius) {
  Reaches reaches{};
  for (std::uint32_t code = 0; code < reaches.size(); ++code) {
    const Radius256 of_code = radius_from_map(code, 0xFF, radius.low, radius.high);
    if (of_code % radius_one != 0) return std::nullopt;
    reaches[code] = of_code / radius_one;
  }
  return reaches;
}

bool serves(const BoxMeanJob& job) {
  return is_plain(job) && job.read.type == Type::u8 && job.read.channels == kernels::residue::channels &&
         job.read.transfer == Transfer::identity && job.border == Border::shrink &&
         job.radius.map_type == Type::u8 && job.width <= widest && job.height <= highest;
}

class BoxMeanResidues final : public BoxMeanOperation {
 public:
  BoxMeanResidues(CudaBackend& backend, const BoxMeanJob& job, const Reaches& reaches,
                  const kernels::TableTiles& tiles)
      : backend_(backend), table_(backend, tiles), reaches_(backend.uploaded(reaches)) {
    arguments_.width = static_cast<int>(job.width);
    arguments_.height = static_cast<int>(job.height);
    arguments_.reaches = reinterpret_cast<const int*>(reaches_.get());
    arguments_.entries = table_.entries();
    arguments_.entries_row = table_.entries_row();
    arguments_.coarse = table_.coarse();
    arguments_.coarse_row = table_.coarse_row();
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return table_.bytes() + reaches_.size;
  }

  void run(const BoxMeanImages& images, Stream stream) override {
    backend_.select();
    table_.build(images.source, stream);
    kernels::ResidueGatherArguments arguments = arguments_;
    arguments.radius_map = source_of(images.radius_map);
    arguments.output = target_of(images.output);
    kernels::gather_by_residues(arguments, backend_.stream_of(stream));
    check_launch("gathering by a map");
  }

 private:
  CudaBackend& backend_;
  ResidueTable table_;
  Buffer reaches_;
  kernels::ResidueGatherArguments arguments_;
};

}  // namespace

std::unique_ptr<BoxMeanOperation> prepare_box_mean_residues(CudaBackend& backend, const BoxMeanJob& job) {
  if (!serves(job)) return nullptr;
  const auto reaches = whole_radii(job.radius);
  if (!reaches) return nullptr;
  const std::int64_t window = 2 * std::int64_t{*std::max_element(reaches->begin(), reaches->end())} + 1;
  if (window == 1 ||
      !kernels::residue::residues_suffice(std::min(window, job.width), std::min(window, job.height)))
    return nullptr;
  const auto tiles = kernels::residue_tiles(job.width, job.height);
  if (!tiles) return nullptr;
  return std::make_unique<BoxMeanResidues>(backend, job, *reaches, *tiles);
}

}  // namespace satin::cuda
