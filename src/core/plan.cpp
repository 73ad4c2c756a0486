// A plan: a filter prepared for pictures of one shape. It stages inputs and the output in the device's
// memory, runs the filter on whole frames or chunk by chunk, measures and checks what the filter asks for,
// and never exceeds its memory.

#include <algorithm>
#include <optional>
#include <utility>

#include "core/backend.h"
#include "core/chunk_runner.h"
#include "core/plan_operations.h"
#include "core/prepared_filter.h"
#include "core/workspace.h"
#include "satin/error.h"
#include "satin/plan.h"

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

[[noreturn]] void refuse_whole(const NoMemory& reason) {
  throw NoMemory(
      std::string(reason.what()) +
      " The filter cannot run on chunks, since it reads the whole picture or sums from its corner.");
}

}  // namespace

struct PlanImplementation {
  PlanImplementation(const Device& on, FilterPlan wanted)
      : device(on), planned(std::move(wanted)), staging(planned.inputs.size() + 1) {
    prepare();
  }

  Device device;
  FilterPlan planned;
  std::unique_ptr<CopyOperation> copy_operation;  ///< prepared when first needed
  Buffer measured;                                ///< see allocate_measured()
  Few<Buffer, most_inputs + 1> staging;  ///< one for each input, then the output; allocated when first needed
  std::unique_ptr<PreparedFilter> filter;        ///< for the whole picture
  std::unique_ptr<ChunkedFilter> chunked;        ///< instead of `filter` where memory does not suffice
  std::optional<std::vector<std::string>> told;  ///< warnings of the last run if it has been checked already
  Watch watch;

  Backend& backend() const { return device.backend(); }

  void copy(const ImageView& source, const MutableImageView& target, Stream stream) {
    if (copy_operation == nullptr) copy_operation = backend().prepare(CopyJob{});
    copy_operation->run(source, target, stream);
  }

  void prepare() {
    WorkspaceBudget budget(backend());
    measured = allocate_measured(backend(), planned);
    try {
      filter = prepare_whole(backend(), planned);
    } catch (const NoMemory& reason) {
      if (!has_chunks()) refuse_whole(reason);
      budget.clear();
      use_chunks();
    }
  }

  std::size_t workspace_bytes() const noexcept {
    std::size_t bytes = measured.size;
    if (filter != nullptr) bytes += filter->workspace_bytes();
    if (chunked != nullptr) bytes += chunked->workspace_bytes();
    for (const Buffer& buffer : staging) bytes += buffer.size;
    return bytes;
  }

  bool has_chunks() const { return planned.reach.has_value() || planned.geometry != nullptr; }

  /// Switches to chunks if `more` bytes exceed the limit.
  void make_room(std::size_t more) {
    try {
      const WorkspaceBudget budget(backend(), workspace_bytes());
      WorkspaceBudget::take(more);
    } catch (const NoMemory& reason) {
      if (!has_chunks()) refuse_whole(reason);
      use_chunks();
    }
  }

  void use_chunks() {
    filter.reset();
    for (Buffer& buffer : staging) buffer = {};
    chunked = std::make_unique<ChunkedFilter>(backend(), planned, measured.size);
  }

  std::byte* staging_for(std::size_t index, const Shape& shape) {
    if (staging[index].get() == nullptr) staging[index] = backend().allocate(byte_size(shape));
    return staging[index].get();
  }

  bool in_own_memory(const ImageView& view) const {
    return view.memory != Memory::host || backend().host_memory;
  }

  /// Returns the view itself if the filter can read it, otherwise a packed copy in the backend's memory.
  ImageView stage_input(std::size_t index, const ImageView& view, bool aliased, Stream stream) {
    if (!needs_staging(index, view) && !aliased) return view;
    const MutableImageView packed =
        mutable_view_of(staging_for(index, view.shape), view.shape, backend().memory());
    if (in_own_memory(view)) {
      copy(view, packed, stream);
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
      copy(result, target, stream);
    } else if (dense(target)) {
      backend().download(target.data, result.data, byte_size(target.shape), stream);
    } else {
      Image host(target.shape);
      backend().download(host.data(), result.data, byte_size(target.shape), stream);
      copy_pixels(host.view(), target);
    }
  }

  void require_planned(std::span<const ImageView> given, const MutableImageView& target) const {
    for (std::size_t i = 0; i < std::max(planned.inputs.size(), given.size()); ++i) {
      const bool present = i < given.size() && !given[i].empty();
      if (present != (i < planned.inputs.size() && uses(i)))
        throw Error(ErrorKind::usage, present ? "A side input was given that the plan does not know of."
                                              : "An input that the plan knows of is missing.");
      if (!present) continue;
      require_shape(given[i].shape, planned.inputs[i], i == 0 ? "picture" : "side input");
      const bool in_place = i == 0 && same_place(given[i], target) && given[i].interleaved();
      if (!in_place && overlap(given[i], target))
        throw Error(ErrorKind::usage, "Input and output overlap: use one place for both, or two apart.");
    }
    require_shape(target.shape, planned.output, "output");
  }

  /// Whether the filter cannot use a view as it is. `index`: of an input, or one past the last one for the
  /// output.
  bool needs_staging(std::size_t index, const ImageView& view) const {
    if (!in_own_memory(view)) return true;
    const bool is_side = index != 0 && index != planned.inputs.size();
    return is_side || filter == nullptr ? !view.interleaved() : !filter->accepts(view);
  }
  bool uses(std::size_t input) const { return planned.inputs[input].width != 0; }

  /// Returns the bytes that a run on the whole picture has yet to allocate.
  std::size_t staging_to_come(std::span<const ImageView> given, const MutableImageView& target) const {
    const auto missing = [&](std::size_t i, const Shape& shape) {
      return staging[i].get() == nullptr ? byte_size(shape) : 0;
    };
    std::size_t bytes =
        needs_staging(planned.inputs.size(), target) ? missing(planned.inputs.size(), planned.output) : 0;
    for (std::size_t i = 0; i < planned.inputs.size(); ++i)
      if (uses(i) && (needs_staging(i, given[i]) || overlap(given[i], target)))
        bytes += missing(i, planned.inputs[i]);
    return bytes;
  }

  void run(std::span<const ImageView> given, const MutableImageView& target, Stream stream) {
    require_planned(given, target);
    bool host_views = target.memory == Memory::host;
    for (std::size_t i = 0; i < planned.inputs.size(); ++i)
      host_views = host_views || (uses(i) && given[i].memory == Memory::host);
    told.reset();
    try {
      if (chunked == nullptr && filter == nullptr) use_chunks();  // the run before ran out of memory
      if (chunked == nullptr) make_room(staging_to_come(given, target));
      if (chunked == nullptr) run_whole(given, target, stream);
      if (chunked != nullptr) run_chunks(given, target, stream);
    } catch (...) {
      if (filter != nullptr) filter->forget(stream);
      throw;
    }
    if (host_views) told = check_run(stream);
  }

  /// Runs on the whole picture; or only switches to chunks if there is no memory to stage it.
  void run_whole(std::span<const ImageView> given, const MutableImageView& target, Stream stream) {
    MutableImageView result = target;
    OfInputs<ImageView> ready(planned.inputs.size());  // views that the filter reads
    try {
      for (std::size_t i = 0; i < planned.inputs.size(); ++i)
        if (uses(i)) ready[i] = stage_input(i, given[i], overlap(given[i], target), stream);
      if (needs_staging(planned.inputs.size(), target))
        result = mutable_view_of(staging_for(planned.inputs.size(), planned.output), planned.output,
                                 backend().memory());
    } catch (const NoMemory&) {
      if (!has_chunks()) throw;
      backend().synchronize(stream);
      return use_chunks();
    }
    run_frames(ready, result, stream);
    deliver_output(result, target, stream);
  }

  void run_chunks(std::span<const ImageView> given, const MutableImageView& target, Stream stream) {
    OfInputs<ImageView> ready(planned.inputs.size());  // views that the filter reads
    for (std::size_t i = 0; i < planned.inputs.size(); ++i)
      if (uses(i)) ready[i] = given[i];
    const Image original = overlap(ready[0], target) ? kept(ready[0], stream) : Image();
    if (!original.empty()) ready[0] = original.view();
    run_frames(ready, target, stream);
    if (!original.empty()) backend().synchronize(stream);
  }

  /// Returns a copy of a picture that is overwritten while chunks still read it.
  Image kept(const ImageView& picture, Stream stream) {
    if (picture.memory == Memory::host) return copy_of(picture);
    Image copied = backend().allocate(picture.shape);
    copy(picture, copied.view(), stream);
    return copied;
  }

  void run_frames(std::span<const ImageView> ready, const MutableImageView& result, Stream stream) {
    const WorkspaceBudget budget(backend(), workspace_bytes());
    const std::int64_t steps = chunked != nullptr ? chunked->steps() : filter->measurements() + 1;
    watch.begin(planned.output.frames * steps);
    const WatchedRun watched(watch);
    OfInputs<ImageView> inputs(ready.size());
    auto* measure = reinterpret_cast<Measured*>(measured.get());
    for (std::int64_t frame = 0; frame < planned.output.frames; ++frame) {
      for (std::size_t i = 0; i < ready.size(); ++i)
        inputs[i] = ready[i].empty() ? ready[i] : ready[i].frame(ready[i].shape.frames == 1 ? 0 : frame);
      run_frame(inputs, result.frame(frame), measure, stream);
      measure += planned.measures.count();
    }
  }

  void run_frame(std::span<const ImageView> inputs, const MutableImageView& result, Measured* found,
                 Stream stream) {
    if (chunked != nullptr) return chunked->run(inputs, result, found, stream, watch);
    const Rectangle all{{0, planned.output.width}, {0, planned.output.height}};
    filter->begin(found, stream);
    for (int step = 0; step < filter->measurements(); ++step) {
      filter->measure(step, inputs, all, found, stream);
      watch.step();
    }
    filter->run(inputs, result, found, stream);
    watch.step();
  }

  std::vector<std::string> check(Stream stream) {
    if (!told) return check_run(stream);
    return std::exchange(told, std::nullopt).value();
  }

  std::vector<std::string> check_run(Stream stream) const {
    std::vector<std::string> warnings;
    backend().synchronize(stream);
    if (filter != nullptr)
      filter->check(warnings, stream);  // first, since it must reset its state even if the next call throws
    check_measured(backend(), planned, measured, warnings, stream);
    return warnings;
  }
};

Plan::Plan(std::unique_ptr<PlanImplementation> implementation) : implementation_(std::move(implementation)) {}
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;
Plan::~Plan() = default;

const Shape& Plan::output_shape() const noexcept { return implementation_->planned.output; }

std::size_t Plan::workspace_bytes() const noexcept { return implementation_->workspace_bytes(); }

bool Plan::in_windows() const noexcept {
  return implementation_->chunked != nullptr || implementation_->filter == nullptr;
}

std::optional<LocalReach> Plan::local_reach() const noexcept {
  return satin::local_reach(implementation_->planned);
}

std::optional<LocalReach> local_reach(const FilterPlan& filter) {
  const bool looks_at_all = filter.measures.count() != 0 || filter.searches;
  if (!filter.reach || filter.reach->wraps || looks_at_all) return std::nullopt;
  return LocalReach{filter.reach->x, filter.reach->y};
}

void Plan::run(std::span<const ImageView> inputs, const MutableImageView& output, Stream stream) {
  implementation_->run(inputs, output, stream);
}

bool Plan::vary(const void* parameters, bool same_sides) {
  const std::unique_ptr<PreparedFilter>& filter = implementation_->filter;
  const bool single = implementation_->planned.output.frames == 1;
  return single && filter != nullptr && filter->vary(parameters, same_sides);
}

void Plan::watch(Progress progress) { implementation_->watch = Watch(std::move(progress)); }

std::vector<std::string> Plan::check(Stream stream) { return implementation_->check(stream); }

std::vector<FoundValue> Plan::found() const {
  const PreparedFilter* filter = implementation_->filter.get();
  return filter == nullptr ? std::vector<FoundValue>() : filter->found();
}

void limit_memory(const Device& device, std::size_t bytes) { device.backend().memory_limit = bytes; }

std::size_t memory_limit(const Device& device) { return device.backend().memory_limit; }

Plan make_plan(const Device& device, FilterPlan filter) {
  return Plan(std::make_unique<PlanImplementation>(device, std::move(filter)));
}

Image result_image(const Device& device, const Shape& shape, Memory input) {
  return input == Memory::host && device.is_cuda() ? Image(shape) : device.allocate(shape);
}

}  // namespace satin
