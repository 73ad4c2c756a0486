#include "tables/table.h"
#include "core/cuda/backend.h"
#include "kernels/tables/launch.h"
#include "pixels/cuda/transfer.h"

namespace satin::cuda {
namespace {

class Table final : public TableOperation {
 public:
  Table(CudaBackend& backend, const TableJob& job)
      : backend_(backend),
        job_(job),
        tiles_(kernels::table_tiles(job, backend.multiprocessors())),
        transfer_(device_transfer(backend, job.read.type, job.read.transfer == Transfer::srgb)),
        carries_(backend.allocate(kernels::table_workspace_bytes(tiles_))) {
    check(cudaMemsetAsync(carries_.get(), 0, carries_.size, backend.stream_of({})), "clearing a workspace");
    backend.synchronize({});
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return carries_.size; }

  void run(const ImageView& picture, const Measured* measured, const MutableImageView& table,
           Stream stream) override {
    backend_.select();
    kernels::TableArguments arguments;
    arguments.job = job_;
    arguments.tiles = tiles_;
    arguments.transfer = transfer_;
    arguments.measured = measured;
    arguments.picture = source_of(picture);
    arguments.table = target_of(table);
    arguments.workspace = carries_.get();
    kernels::build_table(arguments, backend_.stream_of(stream));
    check_launch("building a summed-area table");
  }

  void to_double(const MutableImageView& table, const Measured* measured, Stream stream) override {
    backend_.select();
    kernels::to_double({job_, measured, target_of(table)}, backend_.stream_of(stream));
    check_launch("converting a summed-area table to doubles");
  }

 private:
  CudaBackend& backend_;
  TableJob job_;
  kernels::TableTiles tiles_;
  TransferView transfer_;
  Buffer carries_;
};

}  // namespace

Prepared<TableJob> prepare_table(Backend& backend, const TableJob& job) {
  return std::make_unique<Table>(as_cuda(backend), job);
}

}  // namespace satin::cuda
