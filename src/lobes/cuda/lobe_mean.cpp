// Means over lobes on CUDA: the tables of the levels, and launches level by level.

#include <memory>
#include <vector>
#include "kernels/lobes/launch.h"

#include "core/cuda/backend.h"
#include "lobes/lobe_mean.h"
#include "lobes/maths/lobe_cells.h"
#include "pixels/cuda/transfer.h"

namespace satin::cuda {
namespace {

class LobeMean final : public LobeMeanOperation {
 public:
  LobeMean(CudaBackend& backend, const LobeMeanJob& job)
      : backend_(backend),
        height_(job.height),
        row_weights_(backend.uploaded(job.row_weights)),
        boxes_(backend.uploaded(job.boxes)),
        rows_(backend.uploaded(job.rows)),
        levels_(backend, job) {
    for (const LobeLevel& level : job.levels) arguments_.push_back(level_arguments(job, level));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return row_weights_.size + boxes_.size + rows_.size + levels_.bytes();
  }

  void run(const ImageView& source, const Measured* measured, const MutableImageView& output,
           Stream stream) override {
    backend_.select();
    std::int64_t first_row = 0;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      kernels::LobeMeanArguments arguments = arguments_[i];
      arguments.measured = measured;
      arguments.source = source_of(source);
      arguments.output = {output.at(0, first_row), output.strides.row};
      run_level(levels_.maps[i], arguments, stream);
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
    arguments.cells = reinterpret_cast<std::uint64_t*>(levels_.weighed.get());
    arguments.table = reinterpret_cast<const std::uint64_t*>(levels_.table.get());
    return arguments;
  }

  void run_level(const LobeMap& level, const kernels::LobeMeanArguments& arguments, Stream stream) {
    if (level.build != nullptr) {
      kernels::sum_cells(arguments, backend_.stream_of(stream));
      check_launch("summing the cells of a map");
      level.build->run(mutable_view_of(levels_.weighed.get(), level.cells, Memory::device),
                       arguments.measured, mutable_view_of(levels_.table.get(), level.cells, Memory::device),
                       stream);
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
  LobeMaps levels_;
  std::vector<kernels::LobeMeanArguments> arguments_;  ///< of each level
};

}  // namespace

Prepared<LobeMeanJob> prepare_lobe_mean(Backend& backend, const LobeMeanJob& job) {
  return std::make_unique<LobeMean>(as_cuda(backend), job);
}

}  // namespace satin::cuda
