// Connected components: runs of words, their trees and the scan over the roots in device memory.

#include "kernels/label.h"
#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "core/cuda/scan/operations.h"

namespace satin::cuda {
namespace {

class Label final : public LabelOperation {
 public:
  Label(CudaBackend& backend, const LabelJob& job)
      : backend_(backend), job_(job), words_((job.width + kernels::label_word - 1) / kernels::label_word) {
    check_label_size(job.width, job.height);
    const auto all = static_cast<std::size_t>(words_ * job.height);
    bits_ = backend.allocate(all * sizeof(std::uint32_t));
    tile_roots_ = backend.allocate(all * sizeof(std::uint16_t));
    roots_ = backend.allocate(all * sizeof(std::uint16_t));
    counts_ = backend.allocate(all * sizeof(std::uint8_t));
    before_ = backend.allocate(all * sizeof(std::uint32_t));
    parents_ = backend.allocate(all * kernels::label_entries * sizeof(std::uint32_t));
    total_ = backend.allocate(sizeof(std::uint32_t));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return bits_.size + tile_roots_.size + roots_.size + counts_.size + before_.size + parents_.size +
           total_.size + shapes_.size;
  }

  std::uint32_t run(const ImageView& mask, const MutableImageView& labels, Stream stream) override {
    backend_.select();
    kernels::LabelArguments arguments = workspace();
    arguments.mask = source_of(mask);
    arguments.labels = target_of(labels);
    kernels::find_components(arguments, backend_.stream_of(stream));
    check_launch("looking for components");
    const std::int64_t words = words_ * job_.height;
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
    arguments.words = words_;
    arguments.bits = reinterpret_cast<std::uint32_t*>(bits_.get());
    arguments.tile_roots = reinterpret_cast<std::uint16_t*>(tile_roots_.get());
    arguments.roots = reinterpret_cast<std::uint16_t*>(roots_.get());
    arguments.counts = reinterpret_cast<std::uint8_t*>(counts_.get());
    arguments.before = reinterpret_cast<std::uint32_t*>(before_.get());
    arguments.parents = reinterpret_cast<std::uint32_t*>(parents_.get());
    arguments.total = reinterpret_cast<std::uint32_t*>(total_.get());
    return arguments;
  }

  CudaBackend& backend_;
  LabelJob job_;
  std::int64_t words_;  ///< of a row
  Buffer bits_, tile_roots_, roots_, counts_, before_, parents_, total_;
  Buffer shapes_;  ///< grows
  std::uint32_t count_ = 0;
};

}  // namespace

std::unique_ptr<LabelOperation> prepare_label(Backend& backend, const LabelJob& job) {
  return std::make_unique<Label>(as_cuda(backend), job);
}

}  // namespace satin::cuda
