// The copy and active-tiles operations on the GPU: host side of kernels/device/plan_operations.cu.

#include "core/plan_operations.h"
#include "core/cuda/backend.h"
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

namespace {

class Copy final : public CopyOperation {
 public:
  explicit Copy(CudaBackend& backend) : backend_(backend) {}

  void run(const ImageView& source, const MutableImageView& target, Stream stream) override {
    backend_.select();
    for (std::int64_t frame = 0; frame < source.shape.frames; ++frame) {
      kernels::copy({source.frame(frame), target.frame(frame), static_cast<int>(size_of(source.shape.type))},
                    backend_.stream_of(stream));
      check_launch("copying between views");
    }
  }

 private:
  CudaBackend& backend_;
};

}  // namespace

Prepared<CopyJob> prepare_copy(Backend& backend, const CopyJob& /*job*/) {
  return std::make_unique<Copy>(as_cuda(backend));
}

}  // namespace satin::cuda
