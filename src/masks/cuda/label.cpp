// Connected components: runs of words, their trees and the scan over the roots in device memory.

#include "masks/label.h"
#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "kernels/masks/launch.h"
#include "scan/cuda/operations.h"

namespace satin::cuda {
namespace {

class Label final : public LabelOperation {
 public:
  Label(CudaBackend& backend, const LabelJob& job) : backend_(backend), job_(job) {
    check_label_size(job.width, job.height);
    tiles_ = kernels::tiles_of(job);
    const auto words = static_cast<std::size_t>(tiles_.words * job.height);
    bits_ = backend.allocate(words * sizeof(std::uint32_t));
    runs_before_ = backend.allocate(words * sizeof(std::uint16_t));
    firsts_ = backend.allocate(words * sizeof(std::uint32_t));
    counts_ = backend.allocate(words * sizeof(std::uint8_t));
    before_ = backend.allocate(words * sizeof(std::uint32_t));
    const std::size_t runs = std::size_t{tiles_.count} << tiles_.run_bits;
    part_of_run_ = backend.allocate(runs * sizeof(std::uint16_t));
    part_place_ = backend.allocate(runs * sizeof(std::uint16_t));
    parents_ = backend.allocate(runs * sizeof(std::uint32_t));
    runs_ = backend.allocate(tiles_.count * sizeof(std::uint16_t));
    parts_ = backend.allocate(tiles_.count * sizeof(std::uint16_t));
    total_ = backend.allocate(sizeof(std::uint32_t));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return bits_.size + runs_before_.size + firsts_.size + counts_.size + before_.size + part_of_run_.size +
           part_place_.size + parents_.size + runs_.size + parts_.size + total_.size + shapes_.size;
  }

  std::uint32_t run(const ImageView& mask, const MutableImageView& labels, Stream stream) override {
    backend_.select();
    kernels::LabelArguments arguments = workspace();
    arguments.mask = source_of(mask);
    arguments.labels = target_of(labels);
    kernels::find_components(arguments, backend_.stream_of(stream));
    check_launch("looking for components");
    const std::int64_t words = tiles_.words * job_.height;
    scan(backend_, ArrayView(arguments.counts, words, Memory::device),
         MutableArrayView(arguments.before, words, Memory::device), {.op = Operator::sum, .exclusive = true},
         stream);
    kernels::write_labels(arguments, backend_.stream_of(stream));
    check_launch("writing labels");
    backend_.download(&count_, total_.get(), sizeof count_, stream);
    return count_;
  }

  [[nodiscard]] const RegionShape* describe(Stream stream) override {
    backend_.select();
    if (shapes_.size < count_ * sizeof(RegionShape))
      shapes_ = backend_.allocate(count_ * sizeof(RegionShape));
    auto* shapes = reinterpret_cast<RegionShape*>(shapes_.get());
    kernels::describe_components(workspace(), shapes, backend_.stream_of(stream));
    check_launch("describing components");
    return shapes;
  }

 private:
  [[nodiscard]] kernels::LabelArguments workspace() const {
    kernels::LabelArguments arguments;
    arguments.job = job_;
    arguments.tiles = tiles_;
    arguments.bits = reinterpret_cast<std::uint32_t*>(bits_.get());
    arguments.runs_before = reinterpret_cast<std::uint16_t*>(runs_before_.get());
    arguments.firsts = reinterpret_cast<std::uint32_t*>(firsts_.get());
    arguments.counts = reinterpret_cast<std::uint8_t*>(counts_.get());
    arguments.before = reinterpret_cast<std::uint32_t*>(before_.get());
    arguments.part_of_run = reinterpret_cast<std::uint16_t*>(part_of_run_.get());
    arguments.part_place = reinterpret_cast<std::uint16_t*>(part_place_.get());
    arguments.parents = reinterpret_cast<std::uint32_t*>(parents_.get());
    arguments.runs = reinterpret_cast<std::uint16_t*>(runs_.get());
    arguments.parts = reinterpret_cast<std::uint16_t*>(parts_.get());
    arguments.total = reinterpret_cast<std::uint32_t*>(total_.get());
    return arguments;
  }

  CudaBackend& backend_;
  LabelJob job_;
  kernels::LabelTiles tiles_;
  Buffer bits_, runs_before_, firsts_, counts_, before_, part_of_run_, part_place_, parents_, runs_, parts_,
      total_;
  Buffer shapes_;  ///< grows
  std::uint32_t count_ = 0;
};

}  // namespace

std::unique_ptr<LabelOperation> prepare_label(Backend& backend, const LabelJob& job) {
  return std::make_unique<Label>(as_cuda(backend), job);
}

}  // namespace satin::cuda
