#include <cstring>

#include "core/copy.h"
#include "core/cpu/backend.h"

namespace satin::cpu {
namespace {

template <class Element>
void copy_row(const ImageView& source, const MutableImageView& target, std::int64_t y, std::int64_t frame) {
  for (std::int64_t x = 0; x < source.shape.width; ++x)
    for (int c = 0; c < source.shape.channels; ++c)
      std::memcpy(target.at(x, y, c, frame), source.at(x, y, c, frame), sizeof(Element));
}

void copy_any_row(const ImageView& source, const MutableImageView& target, std::int64_t y,
                  std::int64_t frame) {
  if (source.interleaved() && target.interleaved()) {
    const auto bytes = static_cast<std::size_t>(source.shape.width * source.strides.pixel);
    std::memcpy(target.at(0, y, 0, frame), source.at(0, y, 0, frame), bytes);
    return;
  }
  switch (size_of(source.shape.type)) {
    case 1:
      return copy_row<std::uint8_t>(source, target, y, frame);
    case 2:
      return copy_row<std::uint16_t>(source, target, y, frame);
    case 4:
      return copy_row<std::uint32_t>(source, target, y, frame);
    default:
      return copy_row<std::uint64_t>(source, target, y, frame);
  }
}

class Copy final : public CopyOperation {
 public:
  explicit Copy(CpuBackend& backend) : backend_(backend) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  void run(const ImageView& source, const MutableImageView& target, Stream) override {
    const std::int64_t height = source.shape.height;
    parallel_rows(backend_, height * source.shape.frames, 16, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) copy_any_row(source, target, i % height, i / height);
    });
  }

 private:
  CpuBackend& backend_;
};

}  // namespace

std::unique_ptr<CopyOperation> prepare_copy(Backend& backend, const CopyJob& /*job*/) {
  return std::make_unique<Copy>(as_cpu(backend));
}

}  // namespace satin::cpu
