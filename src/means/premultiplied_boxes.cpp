#include "means/premultiplied_boxes.h"

#include "means/box_mean.h"
#include "means/kernel_boxes.h"
#include "pixels/premultiplied.h"

namespace satin {
namespace {

/// The same boxes of values that are premultiplied already.
std::vector<BoxMeanJob> plain_jobs(std::span<const BoxMeanJob> jobs) {
  std::vector<BoxMeanJob> plain(jobs.begin(), jobs.end());
  PixelRead values = working_pixels(jobs.front().read);
  values.premultiplied = false;
  values.alpha_maximum = 0;
  for (BoxMeanJob& job : plain) {
    job.read = values;
    if (!job.write.working) job.write = written_as(values);
    job.mask_maximum = 0;
  }
  return plain;
}

}  // namespace

PremultipliedBoxes::PremultipliedBoxes(Backend& backend, std::span<const BoxMeanJob> jobs)
    : boxes_(prepare_boxes(backend, plain_jobs(jobs))) {
  const BoxMeanJob& first = jobs.front();
  const BoxMeanJob& last = jobs.back();
  const PremultipliedJob ends{first.width, first.height, first.read, last.mask_maximum};
  premultiply_ = backend.prepare(PremultiplyJob{ends});
  if (!last.write.working) unpremultiply_ = backend.prepare(UnpremultiplyJob{ends});
  shape_ = {first.width, first.height, first.read.channels, values_type(ends)};
  for (Buffer& buffer : values_) buffer = backend.allocate(byte_size(shape_));
}

std::size_t PremultipliedBoxes::workspace_bytes() const noexcept {
  std::size_t bytes = premultiply_->workspace_bytes();
  if (unpremultiply_ != nullptr) bytes += unpremultiply_->workspace_bytes();
  for (const auto& box : boxes_) bytes += box->workspace_bytes();
  for (const Buffer& buffer : values_) bytes += buffer.size;
  return bytes;
}

void PremultipliedBoxes::run(const BoxMeanImages& images, Stream stream) {
  const auto values = [&](std::size_t i) {
    return mutable_view_of(values_[i % 2].get(), shape_, images.output.memory);
  };
  premultiply_->run({images.source, values(0)}, stream);
  for (std::size_t i = 0; i < boxes_.size(); ++i) {
    BoxMeanImages part;
    part.source = part.original = values(i);
    const bool writes_result = i + 1 == boxes_.size() && unpremultiply_ == nullptr;
    part.output = writes_result ? images.output : values(i + 1);
    boxes_[i]->run(part, stream);
  }
  if (unpremultiply_ == nullptr) return;
  unpremultiply_->run({values(boxes_.size()), images.original, images.mask, images.output}, stream);
}

}  // namespace satin
