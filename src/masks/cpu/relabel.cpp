#include "masks/relabel.h"
#include "core/cpu/backend.h"

namespace satin::cpu {
namespace {

template <class T>
class Relabel final : public RelabelOperation {
 public:
  Relabel(CpuBackend& backend, const RelabelJob& job) : backend_(backend), job_(job) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  void run(const ImageView& labels, const std::uint32_t* table, const MutableImageView& output,
           Stream) override {
    constexpr std::int64_t rows_at_once = 16;
    parallel_rows(backend_, job_.height, rows_at_once, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y) {
        const auto* from = labels.row<std::uint32_t>(y);
        auto* to = output.row<T>(y);
        for (std::int64_t x = 0; x < job_.width; ++x) to[x] = static_cast<T>(table[from[x]]);
      }
    });
  }

 private:
  CpuBackend& backend_;
  RelabelJob job_;
};

}  // namespace

std::unique_ptr<RelabelOperation> prepare_relabel(Backend& backend, const RelabelJob& job) {
  switch (job.output) {
    case Type::u8:
      return std::make_unique<Relabel<std::uint8_t>>(as_cpu(backend), job);
    case Type::u16:
      return std::make_unique<Relabel<std::uint16_t>>(as_cpu(backend), job);
    default:
      return std::make_unique<Relabel<std::uint32_t>>(as_cpu(backend), job);
  }
}

}  // namespace satin::cpu
