#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "core/lens_memory.h"
#include "kernels/lens.h"

namespace satin::cuda {
namespace {

TableJob fill_table(const LensLayersJob& job, int channels) {
  TableJob table;
  table.width = job.width;
  table.height = job.height;
  table.read.type = Type::u32;
  table.read.channels = channels;
  table.accumulator = Accumulator::u32;
  return table;
}

/// One plane of numbers and its table.
template <class Numbers>
struct FillPlane {
  static constexpr int channels = sizeof(Numbers) / sizeof(std::uint32_t);

  FillPlane(CudaBackend& backend, const LensLayersJob& job)
      : shape{job.width, job.height, channels, Type::u32},
        numbers(backend.allocate(byte_size(shape))),
        sums(backend.allocate(byte_size(shape))),
        table(prepare_table(backend, fill_table(job, channels))) {}

  [[nodiscard]] std::size_t bytes() const noexcept {
    return numbers.size + sums.size + table->workspace_bytes();
  }
  [[nodiscard]] Numbers* number() const { return reinterpret_cast<Numbers*>(numbers.get()); }
  [[nodiscard]] const Numbers* sum() const { return reinterpret_cast<const Numbers*>(sums.get()); }
  void integrate(Stream stream) {
    table->run(mutable_view_of(numbers.get(), shape, Memory::device), nullptr,
               mutable_view_of(sums.get(), shape, Memory::device), stream);
  }

  Shape shape;
  Buffer numbers, sums;
  std::unique_ptr<TableOperation> table;
};

class LensLayers final : public LensLayersOperation {
 public:
  LensLayers(CudaBackend& backend, const LensLayersJob& job)
      : backend_(backend), memory_(backend, job), colours_(backend, job), others_(backend, job) {
    arguments_.job = job;
    arguments_.transfer = backend.transfer(job.type, job.transfer == Transfer::srgb);
    arguments_.planes = memory_.planes();
    arguments_.list = memory_.list();
    arguments_.work = memory_.work();
    arguments_.unit = memory_.unit();
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return memory_.bytes() + colours_.bytes() + others_.bytes();
  }
  [[nodiscard]] const LensPlanes& planes() const noexcept override { return memory_.planes(); }
  [[nodiscard]] const LensList& list() const noexcept override { return memory_.list(); }
  [[nodiscard]] const LensUnit* unit() const noexcept override { return memory_.unit(); }
  [[nodiscard]] const DepthGroups* groups() const noexcept override { return &memory_.work()->groups; }

  void run(const ImageView& picture, const Measured* measured, Stream stream) override {
    backend_.select();
    cudaStream_t queue = backend_.stream_of(stream);
    kernels::make_visible_samples(arguments_, picture, measured, queue);
    const FillTables tables{colours_.sum(), others_.sum(), arguments_.job.width, 0, 0};
    for (int group = 1; group < arguments_.job.most_groups; ++group) {
      kernels::make_fill_entries(arguments_, group, colours_.number(), others_.number(), queue);
      colours_.integrate(stream);
      others_.integrate(stream);
      kernels::fill_hidden(arguments_, group, tables, queue);
    }
    check_launch("making the layers of depth of field");
  }

  void show(const LensShow& shown, Stream stream) override {
    backend_.select();
    kernels::show_lens(arguments_, shown, backend_.stream_of(stream));
    check_launch("showing the layers of depth of field");
  }

 private:
  CudaBackend& backend_;
  LensMemory memory_;
  FillPlane<FillColours> colours_;
  FillPlane<FillOthers> others_;
  kernels::LensLayersArguments arguments_;
};

}  // namespace

std::unique_ptr<LensLayersOperation> prepare_lens_layers(Backend& backend, const LensLayersJob& job) {
  return std::make_unique<LensLayers>(as_cuda(backend), job);
}

}  // namespace satin::cuda
