#include "core/copy.h"
#include "core/cpu/backend.h"
#include "core/host_memory.h"

namespace satin::cpu {
namespace {

class Copy final : public CopyOperation {
 public:
  explicit Copy(CpuBackend& backend) : backend_(backend) {}

  void run(const ImageView& source, const MutableImageView& target, Stream) override {
    const std::int64_t height = source.shape.height;
    parallel_rows(backend_, height * source.shape.frames, 16, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) copy_row(source, target, i % height, i / height);
    });
  }

 private:
  CpuBackend& backend_;
};

}  // namespace

Prepared<CopyJob> prepare_copy(Backend& backend, const CopyJob& /*job*/) {
  return std::make_unique<Copy>(as_cpu(backend));
}

}  // namespace satin::cpu
