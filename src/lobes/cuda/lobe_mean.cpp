// Means over lobes on CUDA: the tables of the levels, and launches level by level.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>
#include "kernels/lobes/launch.h"

#include "core/cuda/backend.h"
#include "lobes/lobe_mean.h"
#include "lobes/maths/lobe_cells.h"
#include "pixels/cuda/transfer.h"
#include "tables/table.h"

namespace satin::cuda {
namespace {

struct Level {
  Shape cells;
  kernels::LobeMeanArguments arguments;
  std::unique_ptr<TableOperation> build;  ///< null if the level before has the same table
};

class LobeMean final : public LobeMeanOperation {
 public:
  LobeMean(CudaBackend& backend, const LobeMeanJob& job)
      : backend_(backend),
        height_(job.height),
        row_weights_(backend.uploaded(job.row_weights)),
        boxes_(backend.uploaded(job.boxes)),
        rows_(backend.uploaded(job.rows)) {
    const std::vector<LobeMap> maps = lobe_maps(job);
    for (std::size_t i = 0; i < maps.size(); ++i) {
      Level level{maps[i].cells, level_arguments(job, job.levels[i]), nullptr};
      if (maps[i].builds_table)
        level.build = backend.prepare(TableJob{level.cells.width, level.cells.height,
                                               weighed_pixels(job.read), false, Accumulator::u64});
      levels_.push_back(std::move(level));
    }
    weighed_ = backend.allocate(largest_table(maps));
    table_ = backend.allocate(largest_table(maps));
    for (Level& level : levels_) {
      level.arguments.cells = reinterpret_cast<std::uint64_t*>(weighed_.get());
      level.arguments.table = reinterpret_cast<const std::uint64_t*>(table_.get());
    }
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = row_weights_.size + boxes_.size + rows_.size + weighed_.size + table_.size;
    for (const Level& level : levels_)
      if (level.build != nullptr) bytes += level.build->workspace_bytes();
    return bytes;
  }

  void run(const ImageView& source, const Measured* measured, const MutableImageView& output,
           Stream stream) override {
    backend_.select();
    std::int64_t first_row = 0;
    for (const Level& level : levels_) {
      kernels::LobeMeanArguments arguments = level.arguments;
      arguments.measured = measured;
      arguments.source = source_of(source);
      arguments.output = {output.at(0, first_row), output.strides.row};
      run_level(level, arguments, stream);
      first_row += height_;
    }
  }

 private:
  [[nodiscard]] kernels::LobeMeanArguments level_arguments(const LobeMeanJob& job, const LobeLevel& of) {
    kernels::LobeMeanArguments arguments;
    arguments.width = job.width;
    arguments.height = job.height;
    arguments.cells_wide = job.width / of.cell;
    arguments.cells_high = job.height / of.cell;
    arguments.cell_bits = cell_bits(of.cell);
    arguments.read = job.read;
    arguments.rule.weighted = job.read.weighted;
    arguments.rule.fixed_point = job.read.fixed_point;
    arguments.rule.transfer = device_transfer(backend_, job.write.type, job.write.transfer == Transfer::srgb);
    arguments.row_weights = reinterpret_cast<const std::uint32_t*>(row_weights_.get());
    arguments.boxes = reinterpret_cast<const LobeBox*>(boxes_.get());
    arguments.rows = reinterpret_cast<const LobeRow*>(rows_.get()) + of.first_row;
    return arguments;
  }

  void run_level(const Level& level, const kernels::LobeMeanArguments& arguments, Stream stream) {
    if (level.build != nullptr) {
      kernels::sum_cells(arguments, backend_.stream_of(stream));
      check_launch("summing the cells of a map");
      level.build->run(mutable_view_of(weighed_.get(), level.cells, Memory::device), arguments.measured,
                       mutable_view_of(table_.get(), level.cells, Memory::device), stream);
    }
    if (arguments.cell_bits == 0) {
      kernels::lobe_mean(arguments, backend_.stream_of(stream));
      return check_launch("averaging over lobes");
    }
    kernels::mean_cells(arguments, backend_.stream_of(stream));
    check_launch("averaging over lobes of cells");
    kernels::enlarge_cells(arguments, backend_.stream_of(stream));
    check_launch("interpolating between cells");
  }

  CudaBackend& backend_;
  std::int64_t height_;
  Buffer row_weights_, boxes_, rows_;
  std::vector<Level> levels_;
  Buffer weighed_;  ///< sums of cells, then their means
  Buffer table_;
};

}  // namespace

Prepared<LobeMeanJob> prepare_lobe_mean(Backend& backend, const LobeMeanJob& job) {
  return std::make_unique<LobeMean>(as_cuda(backend), job);
}

}  // namespace satin::cuda
