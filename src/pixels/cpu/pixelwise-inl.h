// The CPU's class for all operations of pixels/pixelwise.h, for files that Highway compiles for every SIMD
// target: the compiler vectorizes the loop over a row for the target.

#if defined(SATIN_PIXELWISE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_PIXELWISE_INL_H
#undef SATIN_PIXELWISE_INL_H
#else
#define SATIN_PIXELWISE_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "core/cpu/backend.h"
#include "pixels/pixelwise.h"
#include "pixels/transfer.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// The launch(width, height, step) of pixels/pixelwise.h, by rows. Topics derive from it and add overloads
/// for steps with a faster loop of their own.
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
    parallel_rows(backend_, height, 16, [&](std::int64_t first, std::int64_t last) HWY_ATTR {
      for (auto y = static_cast<int>(first); y < last; ++y) row(y);
    });
  }

  template <class Step>
  void each(std::int64_t width, std::int64_t height, const Step& step) const {
    if constexpr (requires { step.idle(); })
      if (step.idle()) return;
    // A step with at_once computes stretches of a row of at most that many pixels. `flatten` compiles their
    // loops for the SIMD target, too.
    if constexpr (requires { Step::at_once; }) {
      const auto stretches = [&](int y) HWY_ATTR __attribute__((flatten)) {
        const int last = static_cast<int>(width);
        for (int x = 0; x < last; x += Step::at_once) step.columns(x, std::min(x + Step::at_once, last), y);
      };
      return rows(height, stretches);
    }
    rows(height, [&](int y) HWY_ATTR {
      if constexpr (requires { step.row(y); }) {
        columns(static_cast<int>(width), step.row(y));
      } else {
        const Step own = step;  // a copy, which no store can change
        for (int x = 0; x < width; ++x) own(x, y);
      }
    });
  }

 private:
  /// Runs a row. Where the row tells rare pixels from usual ones, 64 columns at a time are searched for rare
  /// ones in a loop that compilers vectorize. Rows with inner() treat their two ends, which lack a neighbour,
  /// apart.
  template <class Row>
  static HWY_INLINE void columns(int width, Row row) {
    if constexpr (requires { row.is_rare(0); }) {
      constexpr int at_once = 64;
      for (int first = 0; first < width; first += at_once) {
        const int last = std::min(first + at_once, width);
        unsigned rare = 0;
        for (int x = first; x < last; ++x) rare |= row.is_rare(x) ? 1U : 0U;
        if (rare != 0)
          for (int x = first; x < last; ++x) row(x);
        else
          for (int x = first; x < last; ++x) row.usual(x);
      }
    } else if constexpr (requires { row.inner(0); }) {
      for (const int end : {0, width - 1}) row(end);
      for (int x = 1; x < width - 1; ++x) row.inner(x);
    } else {
      for (int x = 0; x < width; ++x) row(x);
    }
  }

  CpuBackend& backend_;
};

/// The CPU's operation for the jobs of pixels/pixelwise.h. `Launch` is EachRow or derives from it.
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

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
