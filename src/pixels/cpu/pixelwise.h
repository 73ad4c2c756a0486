#pragma once
// The CPU's class for all operations on each pixel alone.

#include "core/cpu/backend.h"
#include "pixels/pixelwise.h"
#include "pixels/transfer.h"

namespace satin::cpu {

/// launch(width, height, step) of pixels/pixelwise.h, by rows. A topic whose steps have rows of SIMD derives
/// from it and adds overloads for them.
class EachRow {
 public:
  explicit EachRow(CpuBackend& backend) : backend_(backend) {}

  template <class Step>
  void operator()(std::int64_t width, std::int64_t height, const Step& step) const {
    each(width, height, step);
  }

 protected:
  template <class Row>
  void rows(std::int64_t height, const Row& row) const {
    parallel_rows(backend_, height, 16, [&](std::int64_t first, std::int64_t last) {
      for (auto y = static_cast<int>(first); y < last; ++y) row(y);
    });
  }

  template <class Step>
  void each(std::int64_t width, std::int64_t height, const Step& step) const {
    rows(height, [&](int y) {
      if constexpr (requires { step.row(y); }) {
        auto row = step.row(y);
        for (int x = 0; x < width; ++x) row(x);
      } else {
        const Step own = step;  // what is stored cannot change it
        for (int x = 0; x < width; ++x) own(x, y);
      }
    });
  }

 private:
  CpuBackend& backend_;
};

template <class Job, class Launch>
class Pixelwise final : public PixelwiseOperation<Job> {
 public:
  Pixelwise(Backend& backend, const Job& job)
      : backend_(as_cpu(backend)), job_(job), transfer_(pixelwise_transfer(job, host_transfer)) {}

  void run(const typename Job::Images& images, Stream) override {
    job_.each(images, transfer_, Launch(backend_));
  }

 private:
  CpuBackend& backend_;
  Job job_;
  TransferView transfer_;
};

template <class Launch, class Job>
std::unique_ptr<PixelwiseOperation<Job>> prepare_pixelwise(Backend& backend, const Job& job) {
  return std::make_unique<Pixelwise<Job, Launch>>(backend, job);
}

}  // namespace satin::cpu
