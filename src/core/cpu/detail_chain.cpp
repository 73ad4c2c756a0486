// Successive boxes whose last means are never stored: every row of them becomes a row of unsharp masking.

#include "core/cpu/box_chain.h"
#include "core/cpu/detail_rows.h"

namespace satin::cpu {
namespace {

class DetailChain final : public DetailOperation, private MeanRows {
 public:
  DetailChain(CpuBackend& backend, std::vector<ChainBox> boxes, const DetailJob& job)
      : strips_(backend, std::move(boxes)), rows_(job, backend.threads.count()) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return strips_.bytes() + rows_.bytes();
  }

  void run(const DetailImages& images, Stream) override {
    images_ = &images;
    BoxMeanImages boxes;
    boxes.source = boxes.original = images.picture;
    boxes.output = images.output;
    strips_.run(boxes, this);
  }

 private:
  void take(std::int64_t y, std::int64_t left, std::int64_t right, const std::byte* means,
            int slot) override {
    rows_.store(*images_, y, left, right, means, slot);
  }

  ChainStrips strips_;
  DetailRows rows_;
  const DetailImages* images_ = nullptr;  ///< of the run
};

}  // namespace

std::unique_ptr<DetailOperation> prepare_detail_chain(Backend& backend, std::span<const BoxMeanJob> boxes,
                                                      const DetailJob& detail) {
  if (!is_plain(detail)) return nullptr;
  auto chain = chain_of(boxes);
  if (!chain) return nullptr;
  return std::make_unique<DetailChain>(as_cpu(backend), std::move(*chain), detail);
}

}  // namespace satin::cpu
