#include "core/active_tiles.h"
#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "kernels/device/launch.h"

namespace satin::cuda {
namespace {

class ActiveTiles final : public ActiveTilesOperation {
 public:
  ActiveTiles(CudaBackend& backend, const ActiveTilesJob& job)
      : backend_(backend),
        job_(job),
        active_(backend.allocate(static_cast<std::size_t>((job.width + job.tile - 1) / job.tile *
                                                          ((job.height + job.tile - 1) / job.tile)))) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return active_.size; }

  void find(const ImageView& mask, Stream stream) override {
    backend_.select();
    kernels::ActiveTilesArguments arguments;
    arguments.job = job_;
    arguments.mask = source_of(mask);
    arguments.active = reinterpret_cast<std::uint8_t*>(active_.get());
    kernels::find_active_tiles(arguments, backend_.stream_of(stream));
    check_launch("looking for the active tiles of a mask");
  }

  void fetch(std::uint8_t* active, Stream stream) override {
    backend_.download(active, active_.get(), active_.size, stream);
  }

 private:
  CudaBackend& backend_;
  ActiveTilesJob job_;
  Buffer active_;
};

}  // namespace

Prepared<ActiveTilesJob> prepare_active_tiles(Backend& backend, const ActiveTilesJob& job) {
  return std::make_unique<ActiveTiles>(as_cuda(backend), job);
}

}  // namespace satin::cuda
