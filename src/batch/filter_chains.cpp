#include "batch/filter_chains.h"

#include <algorithm>
#include <exception>
#include <numeric>
#include <optional>
#include <utility>

#include "batch/side_inputs.h"
#include "satin/error.h"

namespace satin::batch {
namespace {

/// Returns the steps as text. In a series the parameters that vary are left out.
std::string text_of(const Pipeline& steps, bool series) {
  if (!series) return print_pipeline(steps);
  std::string text;
  for (const PipelineStep& step : steps) {
    text += "|" + step.parameters.filter().name;
    for (const ParameterRecord& parameter : step.parameters.filter().parameters)
      if (!parameter.varies) text += " " + parameter.name + "=" + step.parameters.get(parameter.name);
  }
  return text;
}

}  // namespace

FilterChain::FilterChain(const Device& device, const Batch& work)
    : device_(device), work_(work), stream_(device.new_stream()), shared_(1) {
  for (std::size_t step = 0; step < work.pipeline.size(); ++step) {
    const std::size_t end = shared_.size() + work.pipeline[step].parameters.filter().inputs.size();
    for (const Image& image : work.side_images[step]) share(image);
    shared_.resize(end);
  }
  inputs_ = shared_;
}

/// Adds a shared image, copied to the device unless that lacks memory.
void FilterChain::share(const Image& image) {
  shared_.push_back(image.view());
  if (!device_.is_cuda() || image.empty()) return;
  try {
    device_images_.push_back(device_.upload(image));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::environment) throw;
    return;
  }
  shared_.back() = device_images_.back().view();
}

void check_with_usual_channels(const std::function<void(int channels)>& plan) {
  std::optional<Error> refusal;
  for (const int channels : {3, 1, 4}) {
    try {
      return plan(channels);
    } catch (const SizeError&) {
      return;  // depends on the picture
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::input) return;  // depends on the picture
      if (error.kind() != ErrorKind::usage) throw;
      if (!refusal) refusal = error;
    }
  }
  throw Error(*refusal);
}

void FilterChain::check_parameters() const {
  check_with_usual_channels([this](int channels) {
    static_cast<void>(PipelinePlan(device_, work_.pipeline, shapes_with(usual_shape(channels))));
  });
}

void FilterChain::take_sides(const ChainInput& input, const ImageView& base) {
  inputs_ = shared_;
  std::size_t next = 1;
  for (const std::vector<Image>& of_step : input.own_images)
    for (const Image& image : of_step) {
      if (!image.empty()) inputs_[next] = image.view();
      ++next;
    }
  if (base.empty()) return;
  const std::vector<InputRecord>& sides = work_.pipeline.front().parameters.filter().inputs;
  for (std::size_t i = 0; i < sides.size(); ++i)
    if (sides[i].role == Role::guide && inputs_[i + 1].empty()) inputs_[i + 1] = base;
}

const Pipeline& FilterChain::steps_of(const ChainInput& input) const {
  return input.own_steps != nullptr && !input.own_steps->empty() ? *input.own_steps : work_.pipeline;
}

const Shape& FilterChain::plan(const ChainInput& input, const Shape& picture, const ImageView& base) {
  planned_ = nullptr;
  take_sides(input, base);
  if (!base.empty()) {
    kept_plans_ = 2 * kept_plans;
    if (work_.size() == 1 && work_.options.series.empty()) plans_.clear();  // no further base: frees memory
  }
  std::vector<Shape> shapes = shapes_with(picture);
  const bool series = !work_.options.series.empty();
  const Pipeline& steps = steps_of(input);
  std::string text = &steps == &work_.pipeline ? std::string() : text_of(steps, series);
  source_ = input.source;
  const auto known = std::find_if(plans_.begin(), plans_.end(), [&](ShapedPlan& entry) {
    return entry.shapes == shapes && entry.own_steps == text && (!series || vary(entry, steps, input.source));
  });
  if (known != plans_.end()) {
    std::rotate(plans_.begin(), known, known + 1);
  } else {
    if (plans_.size() == (memory_limit(device_) == 0 ? kept_plans_ : 1)) plans_.pop_back();
    const auto check = [&](std::size_t step, const Shape& shape) {
      check_sizes(work_.pipeline, step, shapes, input.name, shape);
    };
    PipelinePlan made(device_, steps, shapes, check);
    plans_.insert(plans_.begin(), ShapedPlan{std::move(shapes), std::move(text), std::move(made)});
  }
  planned_ = &plans_.front().plan;
  return planned_->output_shape();
}

std::unique_ptr<ChainRows> FilterChain::rows(const ChainInput& input, RowSource& picture,
                                             const ImageView& base) try {
  take_sides(input, base);
  auto rows = std::make_unique<ChainRows>();
  std::vector<RowSource*> sides;
  for (std::size_t i = 1; i < inputs_.size(); ++i) {
    if (!inputs_[i].empty()) rows->sides.push_back(std::make_unique<ImageRows>(inputs_[i]));
    sides.push_back(inputs_[i].empty() ? nullptr : rows->sides.back().get());
  }
  rows->pipeline.emplace(device_, steps_of(input), picture, sides);
  constexpr std::size_t least_share = 4;
  if (rows->pipeline->workspace_bytes() * least_share > byte_size(picture.shape())) return nullptr;
  return rows;
} catch (const Error& error) {
  if (error.kind() != ErrorKind::usage) throw;
  return nullptr;  // a filter needs the whole picture
}

bool FilterChain::vary(ShapedPlan& planned, const Pipeline& steps,
                       const std::shared_ptr<const void>& source) {
  const bool same = source != nullptr && planned.source.lock() == source;
  planned.source.reset();
  return planned.plan.vary(steps, same);
}

FilterChain::Needs FilterChain::foresee(const Shape& picture) const {
  std::vector<Shape> shapes = shapes_with(picture);
  std::size_t next = 1;
  for (const PipelineStep& step : work_.pipeline)
    for (const InputRecord& input : step.parameters.filter().inputs) {
      if (is_own_side(step, input, work_.options))
        shapes[next] = {picture.width, picture.height, 1, Type::u8};
      ++next;
    }
  return needs_of(PipelinePlan(device_, work_.pipeline, shapes));
}

FilterChain::Needs FilterChain::needs() const { return needs_of(*planned_); }

FilterChain::Needs FilterChain::needs_of(const PipelinePlan& plan) const {
  const bool is_json = output_kind(work_.pipeline) == OutputKind::json;
  return {plan.workspace_bytes(), is_json ? 0 : byte_size(plan.output_shape())};
}

std::vector<std::string> FilterChain::run(const ImageView& picture, const MutableImageView& output,
                                          const Progress& progress) {
  inputs_.front() = picture;
  planned_->watch(progress);
  planned_->run(inputs_, output, stream_.get());
  plans_.front().source = source_;
  return planned_->check(stream_.get());
}

std::vector<std::string> FilterChain::json(const std::filesystem::path& input, const ImageView& picture,
                                           std::string& text, const Progress& progress) {
  inputs_.front() = picture;
  planned_->watch(progress);
  const PipelineStep& last = work_.pipeline.back();
  std::vector<std::string> names{input.string()};
  for (const InputRecord& side : last.parameters.filter().inputs) names.push_back(last.side(side.name));
  text = planned_->json(inputs_, names, stream_.get()) + "\n";
  return planned_->check(stream_.get());
}

void FilterChain::forget_plans() {
  planned_ = nullptr;
  plans_.clear();
}

std::size_t FilterChain::held_bytes() const noexcept {
  return std::accumulate(
      plans_.begin(), plans_.end(), std::size_t{0},
      [](std::size_t bytes, const ShapedPlan& entry) { return bytes + entry.plan.workspace_bytes(); });
}

bool FilterChain::in_windows() const noexcept { return planned_ != nullptr && planned_->in_windows(); }

std::vector<Shape> FilterChain::shapes_with(const Shape& picture) const {
  std::vector<Shape> shapes = shapes_of(inputs_);
  shapes.front() = picture;
  return shapes;
}

Shape FilterChain::usual_shape(int channels) const {
  Shape shape{256, 256, channels};
  for (const ImageView& side : shared_) {
    if (side.empty()) continue;
    shape.width = side.shape.width;
    shape.height = side.shape.height;
  }
  return shape;
}

FilterChains::FilterChains(std::span<const Device> devices, const Batch& work) : work_(work) {
  for (const Device& device : devices) {
    OfDevice& of_device = devices_.emplace_back(
        OfDevice{device, static_cast<std::size_t>(std::max(device.runs_at_once(), 1)), {}});
    of_device.members.push_back({std::make_unique<FilterChain>(device, work)});
  }
}

std::vector<FilterChain*> FilterChains::first() const {
  std::vector<FilterChain*> chains;
  for (const OfDevice& device : devices_)
    for (const Member& member : device.members) chains.push_back(member.chain.get());
  return chains;
}

FilterChains::Next FilterChains::after_run(FilterChain& chain, bool lost) {
  const std::lock_guard lock(mutex_);
  OfDevice& device = device_of(chain);
  std::vector<Member>& members = device.members;
  const auto member = std::find_if(members.begin(), members.end(),
                                   [&](const Member& entry) { return entry.chain.get() == &chain; });
  const bool no_memory = lost || chain.in_windows();
  if (members.size() > 1 && (no_memory || device.over_limit(chain, members.size()))) {
    members.erase(member);
    device.most = members.size();
    return {{}, lost};
  }
  Next next{{&chain}, false};
  if (members.size() == 1 && member->had_company) {
    member->had_company = false;
    if (no_memory) chain.forget_plans();  // plans can use more memory now
    next.again = lost;
  }
  if (!no_memory) complete(device, chain, next.free);
  return next;
}

bool FilterChains::OfDevice::over_limit(const FilterChain& chain, std::size_t count) const {
  const std::size_t limit = memory_limit(device);
  return limit != 0 && chain.held_bytes() > limit / count;
}

FilterChains::OfDevice& FilterChains::device_of(const FilterChain& chain) {
  return *std::find_if(devices_.begin(), devices_.end(), [&](const OfDevice& device) {
    return std::any_of(device.members.begin(), device.members.end(),
                       [&](const Member& member) { return member.chain.get() == &chain; });
  });
}

/// Adds missing chains, as long as there is memory for one more like the example.
void FilterChains::complete(OfDevice& device, const FilterChain& example,
                            std::vector<FilterChain*>& free) const {
  std::vector<Member>& members = device.members;
  while (members.size() < device.most && !device.over_limit(example, members.size() + 1)) {
    try {
      members.push_back({std::make_unique<FilterChain>(device.device, work_)});
    } catch (const std::exception&) {
      device.most = members.size();
      break;
    }
    free.push_back(members.back().chain.get());
  }
  for (Member& member : members) member.had_company = members.size() > 1;
}

}  // namespace satin::batch
