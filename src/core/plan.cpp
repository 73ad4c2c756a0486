#include "satin/plan.h"

#include <algorithm>
#include <utility>

#include "core/backend.h"
#include "core/prepared_filter.h"
#include "satin/error.h"

namespace satin {
namespace {

template <class Byte>
std::pair<const std::byte*, const std::byte*> extent(const BasicImageView<Byte>& view) {
  const std::byte* low = view.data;
  const std::byte* high = view.data + size_of(view.shape.type);
  const std::ptrdiff_t steps[] = {
      (view.shape.width - 1) * view.strides.pixel, (view.shape.height - 1) * view.strides.row,
      (view.shape.channels - 1) * view.strides.channel, (view.shape.frames - 1) * view.strides.frame};
  for (const std::ptrdiff_t step : steps) (step < 0 ? low : high) += step;
  return {low, high};
}

bool overlap(const ImageView& a, const ImageView& b) {
  const auto [a_low, a_high] = extent(a);
  const auto [b_low, b_high] = extent(b);
  return a_low < b_high && b_low < a_high;
}

bool same_place(const ImageView& a, const ImageView& b) { return a.data == b.data && a.strides == b.strides; }

bool dense(const ImageView& view) { return view.strides == interleaved_strides(view.shape); }

void require_shape(const Shape& given, const Shape& planned, const char* what) {
  if (given != planned)
    throw Error(ErrorKind::usage, std::string("The ") + what + " has " + describe(given) +
                                      ", but the plan is for " + describe(planned) +
                                      " (or another meaning of alpha or order of colours).");
}

/// Writes densely packed host pixels to a host view of any strides.
void scatter(const Image& dense_image, const MutableImageView& target) {
  const ImageView source = dense_image.view();
  const std::size_t size = size_of(source.shape.type);
  for (std::int64_t frame = 0; frame < source.shape.frames; ++frame)
    for (std::int64_t y = 0; y < source.shape.height; ++y)
      for (std::int64_t x = 0; x < source.shape.width; ++x)
        for (int c = 0; c < source.shape.channels; ++c)
          std::copy_n(source.at(x, y, c, frame), size, target.at(x, y, c, frame));
}

}  // namespace

struct PlanImplementation {
  Device device;
  std::vector<Shape> inputs;
  Shape output;
  std::unique_ptr<PreparedFilter> filter;
  std::unique_ptr<CopyOperation> copy;
  Buffer measured;                        ///< one Measured a frame, or nothing
  std::vector<Buffer> staging;            ///< one an input, then the output; allocated when first needed
  std::vector<ImageView> ready{};         ///< inputs of one run as the filter takes them
  std::vector<ImageView> frame_inputs{};  ///< one frame of them

  Backend& backend() const { return device.backend(); }

  std::byte* staging_for(std::size_t index, const Shape& shape) {
    if (staging[index].get() == nullptr) staging[index] = backend().allocate(byte_size(shape));
    return staging[index].get();
  }

  Memory own_memory() const { return backend().host_memory ? Memory::host : Memory::device; }

  bool in_own_memory(const ImageView& view) const {
    return view.memory == Memory::host ? backend().host_memory : true;
  }

  /// The view itself if the filter can read it, otherwise a packed copy in the backend's memory.
  ImageView stage_input(std::size_t index, const ImageView& view, bool aliased, Stream stream) {
    if (in_own_memory(view) && view.interleaved() && !aliased) return view;
    const MutableImageView packed = mutable_view_of(staging_for(index, view.shape), view.shape, own_memory());
    if (in_own_memory(view)) {
      copy->run(view, packed, stream);
    } else if (dense(view)) {
      backend().upload(packed.data, view.data, byte_size(view.shape), stream);
    } else {
      const Image host = copy_of(view);
      backend().upload(packed.data, host.data(), byte_size(view.shape), stream);
    }
    return packed;
  }

  void deliver_output(const MutableImageView& result, const MutableImageView& target, Stream stream) {
    if (result.data == target.data) return;
    if (in_own_memory(target)) {
      copy->run(result, target, stream);
    } else if (dense(target)) {
      backend().download(target.data, result.data, byte_size(target.shape), stream);
    } else {
      Image host(target.shape);
      backend().download(host.data(), result.data, byte_size(target.shape), stream);
      scatter(host, target);
    }
  }

  void require_planned(std::span<const ImageView> given, const MutableImageView& target) const {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const bool present = i < given.size() && !given[i].empty();
      if (present != (inputs[i].width != 0))
        throw Error(ErrorKind::usage, present ? "A side input was given that the plan does not know of."
                                              : "An input that the plan knows of is missing.");
      if (!present) continue;
      require_shape(given[i].shape, inputs[i], i == 0 ? "picture" : "side input");
      const bool in_place = i == 0 && same_place(given[i], target) && given[i].interleaved();
      if (!in_place && overlap(given[i], target))
        throw Error(ErrorKind::usage, "Input and output overlap: use one place for both, or two apart.");
    }
    for (std::size_t i = inputs.size(); i < given.size(); ++i)
      if (!given[i].empty())
        throw Error(ErrorKind::usage, "A side input was given that the plan does not know of.");
    require_shape(target.shape, output, "output");
  }

  void run(std::span<const ImageView> given, const MutableImageView& target, Stream stream) {
    require_planned(given, target);
    bool host_views = target.memory == Memory::host;
    ready.assign(inputs.size(), {});
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].width == 0) continue;
      host_views = host_views || given[i].memory == Memory::host;
      ready[i] = stage_input(i, given[i], overlap(given[i], target), stream);
    }
    MutableImageView result = target;
    if (!in_own_memory(target) || !target.interleaved())
      result = mutable_view_of(staging_for(inputs.size(), output), output, own_memory());
    run_frames(result, stream);
    deliver_output(result, target, stream);
    if (host_views) static_cast<void>(check(stream));
  }

  void run_frames(const MutableImageView& result, Stream stream) {
    frame_inputs.resize(ready.size());
    auto* measure = reinterpret_cast<Measured*>(measured.get());
    for (std::int64_t frame = 0; frame < output.frames; ++frame) {
      for (std::size_t i = 0; i < ready.size(); ++i)
        frame_inputs[i] =
            ready[i].empty() ? ready[i] : ready[i].frame(ready[i].shape.frames == 1 ? 0 : frame);
      Measured* of_frame = measure == nullptr ? nullptr : measure + frame;
      filter->measure(frame_inputs, of_frame, stream);
      filter->run(frame_inputs, result.frame(frame), of_frame, stream);
    }
  }

  std::vector<std::string> check(Stream stream) const {
    std::vector<Measured> found(static_cast<std::size_t>(output.frames));
    if (measured.get() == nullptr) {
      backend().synchronize(stream);
      return {};
    }
    backend().download(found.data(), measured.get(), found.size() * sizeof(Measured), stream);
    bool vanished = false;
    for (const Measured& frame : found) {
      if (frame.picture_not_finite != 0)
        throw Error(ErrorKind::input,
                    "The picture holds NaN or infinite values: replace them before filtering.");
      if (frame.map_out_of_range != 0)
        throw Error(ErrorKind::input,
                    "The radius map holds values outside 0..1, or NaN: scale it to 0..1 first.");
      if (frame.guide_not_finite != 0)
        throw Error(ErrorKind::input,
                    "The guide holds NaN or infinite values: replace them before filtering.");
      for (int group = 0; group < 2; ++group)
        vanished = vanished || (frame.largest[group] != 0 &&
                                (frame.largest[group] >> 52) > (frame.smallest[group] >> 52) + 40);
    }
    if (!vanished) return {};
    return {"Values below 2^-40 of the largest one count as 0."};
  }
};

Plan::Plan(std::unique_ptr<PlanImplementation> implementation) : implementation_(std::move(implementation)) {}
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;
Plan::~Plan() = default;

const Shape& Plan::output_shape() const noexcept { return implementation_->output; }

std::size_t Plan::workspace_bytes() const noexcept {
  std::size_t bytes = implementation_->filter->workspace_bytes() + implementation_->measured.size;
  for (const Buffer& buffer : implementation_->staging) bytes += buffer.size;
  return bytes;
}

void Plan::run(std::span<const ImageView> inputs, const MutableImageView& output, Stream stream) {
  implementation_->run(inputs, output, stream);
}

std::vector<std::string> Plan::check(Stream stream) { return implementation_->check(stream); }

Plan make_plan(const Device& device, std::vector<Shape> inputs, const Shape& output, bool measures,
               std::unique_ptr<PreparedFilter> filter) {
  Backend& backend = device.backend();
  Buffer measured;
  if (measures) measured = backend.allocate(sizeof(Measured) * static_cast<std::size_t>(output.frames));
  std::vector<Buffer> staging(inputs.size() + 1);
  return Plan(std::make_unique<PlanImplementation>(
      PlanImplementation{device, std::move(inputs), output, std::move(filter),
                         backend.operations.copy(backend), std::move(measured), std::move(staging)}));
}

Image run_once(const Device& device, Plan plan, std::span<const ImageView> inputs) {
  Image result =
      inputs[0].memory == Memory::host ? Image(plan.output_shape()) : device.allocate(plan.output_shape());
  plan.run(inputs, result.view());
  static_cast<void>(plan.check());
  return result;
}

}  // namespace satin
