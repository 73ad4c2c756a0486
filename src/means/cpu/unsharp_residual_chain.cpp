// Successive boxes whose last means are never stored: every row of them becomes a row of unsharp masking.

#include "means/box_mean.h"
#include "means/cpu/box_chain.h"
#include "means/cpu/unsharp_residual_rows.h"
#include "means/unsharp_residual.h"

namespace satin::cpu {
namespace {

class UnsharpResidualChain final : public UnsharpResidualOperation, private MeanRows {
 public:
  UnsharpResidualChain(CpuBackend& backend, std::vector<ChainBox> boxes, const UnsharpResidualJob& job)
      : tiles_(backend, std::move(boxes)), rows_(make_unsharp_residual_rows(job, backend.threads.count())) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return tiles_.bytes() + rows_->bytes();
  }

  void run(const UnsharpResidualImages& images, Stream) override {
    images_ = &images;
    BoxMeanImages boxes;
    boxes.source = boxes.original = images.picture;
    boxes.output = images.output;
    tiles_.run(boxes, this);
  }

 private:
  void take(std::int64_t y, std::int64_t left, std::int64_t right, const std::byte* means,
            int slot) override {
    rows_->store(*images_, y, left, right, means, slot);
  }

  ChainTiles tiles_;
  std::unique_ptr<UnsharpResidualRows> rows_;
  const UnsharpResidualImages* images_ = nullptr;  ///< of the run
};

}  // namespace

std::unique_ptr<UnsharpResidualOperation> prepare_unsharp_residual_chain(Backend& backend,
                                                                         const UnsharpResidualChainJob& job) {
  if (!is_plain(job.residual)) return nullptr;
  auto chain = chain_of(job.boxes);
  if (!chain) return nullptr;
  return std::make_unique<UnsharpResidualChain>(as_cpu(backend), std::move(*chain), job.residual);
}

}  // namespace satin::cpu
