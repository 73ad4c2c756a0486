// Unsharp by successive boxes of bytes whose windows reach a few pixels: each reads what the one before has
// left in split rows (kernels/means/small_box.h).

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "kernels/means/small_box.h"
#include "means/box_mean.h"
#include "means/cuda/running_window.h"
#include "means/residual_precision.h"
#include "means/unsharp_residual.h"

namespace satin::cuda {
namespace {

using kernels::SmallBoxArguments;
using kernels::SmallBoxJob;

constexpr std::int64_t largest_side = 1LL << 25;  // offsets within a row are 32-bit integers in the kernels

bool reaches_little(const kernels::RunningWindow& window) {
  return window.outer_reach() <= SmallBoxJob::largest_reach;
}

/// Whether sums over the windows, and what they are divided by, fit what MixedDivision (exact_division.cuh)
/// asks for.
bool sums_fit(const BoxMeanJob& box, const SmallBoxJob& job) {
  const std::uint64_t columns = largest_size(job.x, box.width, true);
  const std::uint64_t rows = largest_size({job.y.reach + (job.fractional() ? 1 : 0)}, box.height, true);
  const std::uint64_t size = columns * largest_size(job.y, box.height, true);
  const int up = std::max(job.more_bits, 0);
  const int down = std::max(-job.more_bits, 0);
  return box.read.maximum << up <= 0xFFFF && columns * rows * (box.read.maximum << up) <= 0xFFFFFFFFU &&
         size << down < 1ULL << 31;
}

void choose_division(const BoxMeanJob& box, SmallBoxJob& job) {
  if (job.fractional()) return;
  const auto side = [](int reach) { return 2 * static_cast<std::uint64_t>(reach) + 1; };
  const int down = std::max(-job.more_bits, 0);
  const std::uint64_t largest = (box.read.maximum << std::max(job.more_bits, 0)) >> down;
  // A mean that has fewer bits may be rounded up to one more than the largest value without them.
  const kernels::ScaledDivisor whole =
      kernels::scaled_divisor(side(job.x.reach) * side(job.y.reach) << down, largest + (down > 0 ? 1 : 0));
  if (whole.exact) job.whole = whole;
}

/// Nothing if the box is none for these kernels.
std::optional<SmallBoxJob> small_box(const BoxMeanJob& box, bool first, bool last) {
  const PixelRead& read = box.read;
  if (box.border != Border::shrink || box.radius.from_map || box.mask_maximum != 0 || box.excludes ||
      read.weighted || read.premultiplied || read.transfer != Transfer::identity || read.fixed_point ||
      box.width > largest_side || box.height > largest_side || (read.channels != 1 && read.channels != 3))
    return std::nullopt;
  if (read.type != (first ? Type::u8 : Type::u16)) return std::nullopt;
  SmallBoxJob job;
  job.width = static_cast<int>(box.width);
  job.height = static_cast<int>(box.height);
  job.channels = read.channels;
  job.first = first;
  job.last = last;
  job.more_bits = box.write.fraction - read.fraction;
  job.x = window_of(box.radius.x);
  job.y = window_of(box.radius.y);
  if (!reaches_little(job.x) || !reaches_little(job.y) || !sums_fit(box, job)) return std::nullopt;
  choose_division(box, job);
  return job;
}

/// Jobs of all boxes; empty if some of them are none for these kernels.
std::vector<SmallBoxJob> small_boxes(std::span<const BoxMeanJob> boxes) {
  std::vector<SmallBoxJob> jobs;
  if (boxes.size() < 2) return jobs;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const bool last = i + 1 == boxes.size();
    if (boxes[i].write.type != Type::u16) return {};
    const std::optional<SmallBoxJob> job = small_box(boxes[i], i == 0, last);
    if (!job) return {};
    jobs.push_back(*job);
  }
  return jobs;
}

class SmallBoxes {
 public:
  SmallBoxes(CudaBackend& backend, const std::vector<SmallBoxJob>& jobs) : backend_(backend) {
    for (const SmallBoxJob& job : jobs) {
      SmallBoxArguments& arguments = boxes_.emplace_back();
      arguments.job = job;
      arguments.tiles = kernels::tiles_of(job, backend.multiprocessors(), backend.shared_memory());
      check(static_cast<cudaError_t>(kernels::prepare_mean(arguments)), "asking for shared memory");
    }
    const SmallBoxJob& job = jobs.front();
    row_ = kernels::split_row_bytes(job.width, job.channels);
    const std::size_t buffers = std::min(jobs.size() - 1, rows_.size());
    for (std::size_t i = 0; i < buffers; ++i) {
      rows_[i] = backend.allocate(row_ * static_cast<std::size_t>(job.height));
      check(cudaMemsetAsync(rows_[i].get(), 0, rows_[i].size, backend.stream_of({})), "clearing split rows");
    }
    backend.synchronize({});
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept { return rows_[0].size + rows_[1].size; }

  /// finish(arguments of the last box) says where it writes.
  template <class Finish>
  void run(const ImageView& picture, Stream stream, const Finish& finish) {
    backend_.select();
    const auto row = static_cast<std::int64_t>(row_);
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      SmallBoxArguments arguments = boxes_[i];
      arguments.source = i == 0 ? source_of(picture) : kernels::Source{rows_[(i + 1) % 2].get(), row};
      if (arguments.job.last) {
        finish(arguments);
      } else {
        arguments.output = {rows_[i % 2].get(), row};
      }
      kernels::launch_mean(arguments, backend_.stream_of(stream));
      check_launch("averaging over successive boxes");
    }
  }

 private:
  CudaBackend& backend_;
  std::vector<SmallBoxArguments> boxes_;
  std::size_t row_ = 0;
  std::array<Buffer, 2> rows_;
};

class SmallBoxResidual final : public UnsharpResidualOperation {
 public:
  SmallBoxResidual(CudaBackend& backend, const std::vector<SmallBoxJob>& jobs, const UnsharpResidualJob& job)
      : boxes_(backend, jobs),
        rule_(residual_rule(job, {})),
        exact_in_float_(exact_in_float(job.amount, job.threshold)) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return boxes_.workspace_bytes(); }

  void run(const UnsharpResidualImages& images, Stream stream) override {
    boxes_.run(images.picture, stream, [&](SmallBoxArguments& last) {
      last.output = target_of(images.output);
      last.picture = source_of(images.picture);
      last.rule = rule_;
      last.exact_in_float = exact_in_float_;
    });
  }

 private:
  SmallBoxes boxes_;
  UnsharpResidualRule rule_;
  bool exact_in_float_;
};

}  // namespace

std::unique_ptr<UnsharpResidualOperation> prepare_unsharp_residual_chain(Backend& backend,
                                                                         const UnsharpResidualChainJob& job) {
  const UnsharpResidualJob& residual = job.residual;
  const bool bytes = residual.write.type == Type::u8 && residual.write.transfer == Transfer::identity;
  if (!is_plain(residual) || !bytes || residual.level) return nullptr;
  const std::vector<SmallBoxJob> jobs = small_boxes(job.boxes);
  if (jobs.empty()) return nullptr;
  return std::make_unique<SmallBoxResidual>(as_cuda(backend), jobs, residual);
}

}  // namespace satin::cuda
