#include "lens/enlarge_radii.h"

#include "core/cpu/backend.h"

namespace satin::cpu {
namespace {

class EnlargeRadii final : public EnlargeRadiiOperation {
 public:
  EnlargeRadii(CpuBackend& backend, const EnlargeRadiiJob& job)
      : backend_(backend), job_(job), colours_(colour_bytes(backend, job.sizes)) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return colours_.size; }

  void run(const ImageView& picture, const ImageView& samples, const MutableImageView& radii,
           Stream) override {
    if (job_.sizes.depth_width > job_.sizes.width) return take_centres(samples, radii);
    if (job_.type == Type::u8) return enlarge<std::uint8_t>(picture, samples, radii);
    if (job_.type == Type::u16) return enlarge<std::uint16_t>(picture, samples, radii);
    enlarge<float>(picture, samples, radii);
  }

 private:
  static Buffer colour_bytes(CpuBackend& backend, const EnlargeSizes& sizes) {
    return backend.allocate(static_cast<std::size_t>(sizes.depth_width * sizes.depth_height) *
                            sizeof(GuideColour));
  }

  void take_centres(const ImageView& samples, const MutableImageView& radii) {
    const EnlargeSizes& sizes = job_.sizes;
    for_rows(sizes.height, [&](std::int64_t y) {
      const auto* from = samples.row<SignedRadius256>(sample_at_centre(y, sizes.height, sizes.depth_height));
      auto* to = radii.row<SignedRadius256>(y);
      for (std::int64_t x = 0; x < sizes.width; ++x)
        to[x] = from[sample_at_centre(x, sizes.width, sizes.depth_width)];
    });
  }

  template <class T>
  void enlarge(const ImageView& picture, const ImageView& samples, const MutableImageView& radii) {
    const EnlargeSizes& sizes = job_.sizes;
    auto* colours = reinterpret_cast<GuideColour*>(colours_.get());
    for_rows(sizes.depth_height, [&](std::int64_t j) {
      for (std::int64_t i = 0; i < sizes.depth_width; ++i)
        colours[j * sizes.depth_width + i] = sample_colour(i, j, sizes, job_.channels, job_.colours,
                                                           [&](std::int64_t y) { return picture.row<T>(y); });
    });
    for_rows(sizes.height, [&](std::int64_t y) {
      const T* pixels = picture.row<T>(y);
      auto* to = radii.row<SignedRadius256>(y);
      const SamplePlace row = sample_place(y, sizes.height, sizes.depth_height);
      RadiusSamples around{};
      std::int64_t loaded = INT64_MIN;  // column of the samples
      for (std::int64_t x = 0; x < sizes.width; ++x) {
        const SamplePlace column = sample_place(x, sizes.width, sizes.depth_width);
        if (column.first != loaded)
          load_samples(
              around, column.first, row.first, sizes,
              [&](std::int64_t i, std::int64_t j) { return samples.row<SignedRadius256>(j)[i]; },
              [&](std::int64_t i, std::int64_t j) { return colours[j * sizes.depth_width + i]; });
        loaded = column.first;
        to[x] = enlarged_radius(around, column.fraction, row.fraction,
                                guide_colour(pixels + x * job_.channels, job_.colours));
      }
    });
  }

  template <class Row>
  void for_rows(std::int64_t rows, const Row& row) {
    parallel_rows(backend_, rows, 16, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y) row(y);
    });
  }

  CpuBackend& backend_;
  EnlargeRadiiJob job_;
  Buffer colours_;  ///< of the samples
};

}  // namespace

std::unique_ptr<EnlargeRadiiOperation> prepare_enlarge_radii(Backend& backend, const EnlargeRadiiJob& job) {
  return std::make_unique<EnlargeRadii>(as_cpu(backend), job);
}

}  // namespace satin::cpu
