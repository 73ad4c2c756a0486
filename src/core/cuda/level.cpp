#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "kernels/box_stats.h"

namespace satin::cuda {
namespace {

class Level final : public LevelOperation {
 public:
  Level(CudaBackend& backend, const LevelJob& job)
      : backend_(backend),
        job_(job),
        counts_(backend.allocate(codes_of(job.plane.type) * sizeof(std::uint64_t))) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return counts_.size; }

  Quantised count(const ImageView& picture, const Measured* measured, std::uint64_t* counts,
                  Stream stream) override {
    backend_.select();
    kernels::LevelArguments arguments = arguments_of(picture);
    arguments.measured = measured;
    kernels::count_codes(arguments, reinterpret_cast<std::uint64_t*>(counts_.get()),
                         backend_.stream_of(stream));
    check_launch("counting the codes of a picture");
    Measured known{};
    if (measured != nullptr) backend_.download(&known, measured, sizeof known, stream);
    backend_.download(counts, counts_.get(), counts_.size, stream);
    return quantised(job_.plane, plane_exponent(job_.plane, measured == nullptr ? nullptr : &known));
  }

  void run(const ImageView& picture, double level, const MutableImageView& output, Stream stream) override {
    backend_.select();
    kernels::LevelArguments arguments = arguments_of(picture);
    arguments.level = level;
    arguments.output = target_of(output);
    kernels::apply_level(arguments, backend_.stream_of(stream));
    check_launch("comparing a picture with a level");
  }

 private:
  kernels::LevelArguments arguments_of(const ImageView& picture) const {
    kernels::LevelArguments arguments;
    arguments.job = job_;
    arguments.job.width = picture.shape.width;
    arguments.job.height = picture.shape.height;
    arguments.picture = source_of(picture);
    return arguments;
  }

  CudaBackend& backend_;
  LevelJob job_;
  Buffer counts_;
};

}  // namespace

std::unique_ptr<LevelOperation> prepare_level(Backend& backend, const LevelJob& job) {
  return std::make_unique<Level>(as_cuda(backend), job);
}

}  // namespace satin::cuda
