// Connected components and sums of values under labels on CUDA: workspaces and launches.

#include "masks/regions.h"

#include <numeric>
#include <vector>

#include "core/cuda/backend.h"
#include "kernels/masks/launch.h"
#include "scan/cuda/operations.h"

namespace satin::cuda {
namespace {

class Label final : public LabelOperation {
 public:
  Label(CudaBackend& backend, const LabelJob& job) : backend_(backend) {
    check_label_size(job.width, job.height);
    const kernels::LabelTiles tiles = kernels::tiles_of(job);
    const auto words = static_cast<std::size_t>(tiles.words * job.height);
    arguments_.job = job;
    arguments_.tiles = tiles;
    allocate(arguments_.bits, words);
    allocate(arguments_.runs_before, words);
    allocate(arguments_.firsts, words);
    allocate(arguments_.counts, words);
    allocate(arguments_.before, words);
    const std::size_t runs = std::size_t{tiles.count} << tiles.run_bits;
    allocate(arguments_.part_of_run, runs);
    allocate(arguments_.part_place, runs);
    allocate(arguments_.parents, runs);
    allocate(arguments_.runs, tiles.count);
    allocate(arguments_.parts, tiles.count);
    allocate(arguments_.total, 1);
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return std::accumulate(buffers_.begin(), buffers_.end(), shapes_.size,
                           [](std::size_t sum, const Buffer& buffer) { return sum + buffer.size; });
  }

  std::uint32_t run(const ImageView& mask, const MutableImageView& labels, Stream stream) override {
    backend_.select();
    kernels::LabelArguments arguments = arguments_;
    arguments.mask = source_of(mask);
    arguments.labels = target_of(labels);
    kernels::find_components(arguments, backend_.stream_of(stream));
    check_launch("looking for components");
    const std::int64_t words = arguments.tiles.words * arguments.job.height;
    scan(backend_, ArrayView(arguments.counts, words, Memory::device),
         MutableArrayView(arguments.before, words, Memory::device), {.op = Operator::sum, .exclusive = true},
         stream);
    kernels::write_labels(arguments, backend_.stream_of(stream));
    check_launch("writing labels");
    backend_.download(&count_, arguments.total, sizeof count_, stream);
    return count_;
  }

  [[nodiscard]] const RegionShape* describe(Stream stream) override {
    backend_.select();
    if (shapes_.size < count_ * sizeof(RegionShape))
      shapes_ = backend_.allocate(count_ * sizeof(RegionShape));
    auto* shapes = reinterpret_cast<RegionShape*>(shapes_.get());
    kernels::describe_components(arguments_, shapes, backend_.stream_of(stream));
    check_launch("describing components");
    return shapes;
  }

 private:
  template <class T>
  void allocate(T*& values, std::size_t count) {
    buffers_.push_back(backend_.allocate(count * sizeof(T)));
    values = reinterpret_cast<T*>(buffers_.back().get());
  }

  CudaBackend& backend_;
  kernels::LabelArguments arguments_;
  std::vector<Buffer> buffers_;
  Buffer shapes_;  ///< grows with the number of components
  std::uint32_t count_ = 0;
};

class SumRegionValues final : public RegionValuesOperation {
 public:
  SumRegionValues(CudaBackend& backend, const RegionValuesJob& job) : backend_(backend), job_(job) {}

  void run(const ImageView& labels, const ImageView& picture, const Measured* measured, std::uint32_t count,
           RegionSums* sums, Stream stream) override {
    backend_.select();
    kernels::sum_region_values({job_, source_of(labels), source_of(picture), measured, count, sums},
                               backend_.stream_of(stream));
    check_launch("summing the values of regions");
  }

 private:
  CudaBackend& backend_;
  RegionValuesJob job_;
};

}  // namespace

Prepared<LabelJob> prepare_label(Backend& backend, const LabelJob& job) {
  return std::make_unique<Label>(as_cuda(backend), job);
}

Prepared<RegionValuesJob> prepare_region_values(Backend& backend, const RegionValuesJob& job) {
  return std::make_unique<SumRegionValues>(as_cuda(backend), job);
}

}  // namespace satin::cuda
