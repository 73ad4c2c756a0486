// The C interface: views, pipelines and the records of filters for callers without C++. No exception leaves
// it; the message of the last error is kept for each thread.

#include "satin/c_api.h"

#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "satin/error.h"
#include "satin/pipeline.h"
#include "satin/version.h"

struct satin_device {
  satin::Device device;
};

struct satin_plan {
  satin::Device device;
  satin::Pipeline pipeline;
  std::vector<satin::Shape> shapes;
  satin::PipelinePlan steps;
  satin::Progress progress{};
};

namespace {

thread_local std::string last_error;

satin_status failed(satin_status status, const char* message) noexcept {
  try {
    last_error = message;
  } catch (...) {
    last_error.clear();
  }
  return status;
}

/// Statuses in the order of satin::ErrorKind.
constexpr satin_status statuses[] = {SATIN_INPUT, SATIN_USAGE, SATIN_ENVIRONMENT, SATIN_CANCELLED};

/// Runs `work` and turns its exceptions into a status.
template <class Work>
satin_status guarded(const Work& work) noexcept {
  try {
    work();
    return SATIN_OK;
  } catch (const satin::Error& error) {
    return failed(statuses[static_cast<std::size_t>(error.kind())], error.what());
  } catch (const std::bad_alloc&) {
    return failed(SATIN_ENVIRONMENT, "There is not enough memory.");
  } catch (const std::exception& error) {
    return failed(SATIN_INPUT, error.what());
  }
}

[[noreturn]] void refuse(const std::string& what) { throw satin::Error(satin::ErrorKind::usage, what); }

template <class Pointer>
Pointer required(Pointer pointer, const char* name) {
  if (pointer == nullptr) refuse(std::string("The argument ") + name + " is null.");
  return pointer;
}

template <class Enum>
Enum checked(std::int32_t number, int count, const char* name) {
  if (number < 0 || number >= count)
    refuse(std::string("The view's ") + name + " is " + std::to_string(number) +
           ", which is not a valid number.");
  return static_cast<Enum>(number);
}

satin::Shape shape_of_view(const satin_view& view) {
  satin::Shape shape;
  shape.width = view.width;
  shape.height = view.height;
  shape.channels = view.channels;
  shape.type = checked<satin::Type>(view.type, 7, "type");
  shape.alpha = checked<satin::Alpha>(view.alpha, 3, "alpha");
  shape.order = checked<satin::Order>(view.order, 2, "order");
  shape.frames = view.frames;
  satin::validate(shape);
  return shape;
}

satin::MutableImageView view_from(const satin_view& view) {
  satin::MutableImageView result;
  result.data = static_cast<std::byte*>(view.data);
  result.shape = shape_of_view(view);
  result.strides = {view.pixel_stride, view.row_stride, view.channel_stride, view.frame_stride};
  result.memory = checked<satin::Memory>(view.memory, 2, "memory");
  return result;
}

void set_shape(satin_view& view, const satin::Shape& shape) {
  const satin::Strides strides = satin::interleaved_strides(shape);
  view.width = shape.width;
  view.height = shape.height;
  view.frames = shape.frames;
  view.channels = shape.channels;
  view.type = static_cast<std::int32_t>(shape.type);
  view.alpha = static_cast<std::int32_t>(shape.alpha);
  view.order = static_cast<std::int32_t>(shape.order);
  view.pixel_stride = strides.pixel;
  view.row_stride = strides.row;
  view.channel_stride = strides.channel;
  view.frame_stride = strides.frame;
}

satin::Pipeline pipeline_from(const char* text) {
  satin::Pipeline pipeline = satin::parse_pipeline(required(text, "pipeline"));
  if (satin::output_kind(pipeline) == satin::OutputKind::json)
    refuse("The pipeline makes JSON, not a picture.");
  return pipeline;
}

std::vector<satin::ImageView> inputs_from(const satin::Pipeline& pipeline, const satin_view* picture,
                                          const satin_named_view* sides, std::int32_t side_count) {
  if (side_count < 0) refuse("The number of side inputs is negative.");
  if (side_count > 0) required(sides, "sides");
  std::vector<satin::NamedView> named;
  for (std::int32_t i = 0; i < side_count; ++i)
    named.push_back({required(sides[i].name, "name of a side input"), view_from(sides[i].view)});
  return satin::inputs_of(pipeline, view_from(*required(picture, "picture")), named);
}

/// Returns the shapes of inputs_from(). Views may lack data; unused side inputs have no width.
std::vector<satin::Shape> shapes_from(std::span<const satin::ImageView> inputs) {
  std::vector<satin::Shape> shapes;
  for (const satin::ImageView& input : inputs) shapes.push_back(input.shape);
  return shapes;
}

/// A pipeline and the shapes of its inputs.
struct Task {
  Task(const char* text, const satin_view* picture, const satin_named_view* sides, std::int32_t side_count)
      : pipeline(pipeline_from(text)),
        inputs(inputs_from(pipeline, picture, sides, side_count)),
        shapes(shapes_from(inputs)) {}

  [[nodiscard]] satin::PipelinePlan plan(const satin_device* device) const {
    return {required(device, "device")->device, pipeline, shapes};
  }

  satin::Pipeline pipeline;
  std::vector<satin::ImageView> inputs;
  std::vector<satin::Shape> shapes;
};

void run_steps(satin::PipelinePlan& steps, std::span<const satin::ImageView> inputs, const satin_view* output,
               void* stream) {
  const satin::MutableImageView target = view_from(*required(output, "output"));
  required(target.data, "output->data");
  required(inputs.front().data, "picture->data");
  steps.run(inputs, target, {stream});
  static_cast<void>(steps.check({stream}));
}

/// Whether the settings of the only step of `to` may be reached from those of `from` by vary().
bool may_vary(const satin::Pipeline& from, const satin::Pipeline& to) {
  return from.size() == 1 && to.size() == 1 && to[0].parameters.varied_from(from[0].parameters);
}

/// Throws unless both have the same filters and the same side inputs.
void require_same_filters(const satin::Pipeline& planned, const satin::Pipeline& pipeline) {
  bool same = planned.size() == pipeline.size();
  for (std::size_t i = 0; same && i < planned.size(); ++i) {
    const satin::FilterRecord& filter = planned[i].parameters.filter();
    same = &filter == &pipeline[i].parameters.filter();
    for (const satin::InputRecord& input : filter.inputs)
      same = same && planned[i].side(input.name) == pipeline[i].side(input.name);
  }
  if (!same) refuse("The plan has other filters or side inputs: make another plan.");
}

template <class Enum, class CEnum>
constexpr bool same_number(Enum number, CEnum c_number) {
  return static_cast<int>(number) == static_cast<int>(c_number);
}
static_assert(same_number(satin::ParameterKind::ratio, SATIN_RATIO) &&
              same_number(satin::ParameterKind::radius, SATIN_RADIUS) &&
              same_number(satin::ParameterKind::box, SATIN_PICTURE_BOX));
static_assert(same_number(satin::ParameterRole::may_vanish, SATIN_ROLE_MAY_VANISH) &&
              same_number(satin::ParameterRole::space, SATIN_ROLE_SPACE));
static_assert(same_number(satin::Role::subject, SATIN_INPUT_SUBJECT) &&
              same_number(satin::Role::depth, SATIN_INPUT_DEPTH));
static_assert(same_number(satin::OutputKind::json, SATIN_OUTPUT_JSON) &&
              same_number(satin::OutputShape::other, SATIN_SHAPE_OTHER) &&
              same_number(satin::Space::encoded, SATIN_ENCODED) &&
              same_number(satin::Scale::logarithmic, SATIN_SCALE_LOGARITHMIC));

/// The records as C structs. They point to the texts of the records, which live as long as the library.
class Described {
 public:
  Described() {
    for (const satin::FilterRecord& record : satin::filters()) add(record);
  }

  [[nodiscard]] const std::vector<satin_filter>& filters() const noexcept { return filters_; }

 private:
  // Inner vectors are moved when the outer one grows, so pointers to their elements stay valid.
  std::vector<satin_filter> filters_;
  std::vector<std::vector<satin_parameter>> parameters_;
  std::vector<std::vector<satin_input>> inputs_;
  std::vector<std::vector<const char*>> choices_;

  void add(const satin::FilterRecord& record) {
    parameters_.emplace_back();
    for (const satin::ParameterRecord& parameter : record.parameters)
      parameters_.back().push_back(described(parameter));
    inputs_.emplace_back();
    for (const satin::InputRecord& input : record.inputs)
      inputs_.back().push_back({input.name.c_str(), input.help.c_str(), input.required ? 1 : 0,
                                static_cast<std::int32_t>(input.role), input.group.c_str()});
    filters_.push_back({record.name.c_str(), record.category.c_str(), record.help.c_str(),
                        record.paper.c_str(), parameters_.back().data(),
                        static_cast<std::int32_t>(parameters_.back().size()), inputs_.back().data(),
                        static_cast<std::int32_t>(inputs_.back().size()),
                        static_cast<std::int32_t>(record.output), static_cast<std::int32_t>(record.shape),
                        static_cast<std::int32_t>(record.space)});
  }

  satin_parameter described(const satin::ParameterRecord& parameter) {
    choices_.emplace_back();
    for (const std::string& choice : parameter.choices) choices_.back().push_back(choice.c_str());
    satin_parameter result{};
    result.name = parameter.name.c_str();
    result.unit = parameter.unit.c_str();
    result.help = parameter.help.c_str();
    result.default_text = parameter.default_text.c_str();
    result.minimum = parameter.minimum;
    result.maximum = parameter.maximum;
    result.choices = choices_.back().data();
    result.choice_count = static_cast<std::int32_t>(choices_.back().size());
    result.kind = static_cast<std::int32_t>(parameter.kind);
    result.role = static_cast<std::int32_t>(parameter.role);
    result.whole = parameter.whole ? 1 : 0;
    result.odd = parameter.odd ? 1 : 0;
    result.instead_of = parameter.instead_of.c_str();
    result.may_be_unset = parameter.may_be_unset() ? 1 : 0;
    result.unset_number = parameter.unset_number();
    result.usual_minimum = parameter.usual_minimum;
    result.usual_maximum = parameter.usual_maximum;
    result.scale = static_cast<std::int32_t>(parameter.scale);
    result.group = parameter.group.c_str();
    result.rank = parameter.rank;
    return result;
  }
};

}  // namespace

const char* satin_version(void) { return satin::version(); }

const char* satin_last_error(void) { return last_error.c_str(); }

satin_status satin_open(const char* name, satin_device** device) {
  return satin_open_threads(name, 0, device);
}

satin_status satin_open_threads(const char* name, int32_t threads, satin_device** device) {
  return guarded([&] {
    *required(device, "device") = nullptr;
    if (threads < 0) refuse("The number of threads is negative.");
    satin::DeviceOptions options;
    options.threads = threads;
    *device = new satin_device{satin::Device::open(required(name, "name"), options)};
  });
}

void satin_close(satin_device* device) { delete device; }

const char* satin_device_name(const satin_device* device) {
  return device == nullptr ? "" : device->device.info().id.c_str();
}

const satin_filter* satin_filters(int32_t* count) {
  const satin_filter* list = nullptr;
  std::int32_t size = 0;
  static_cast<void>(guarded([&] {
    static const Described described;
    list = described.filters().data();
    size = static_cast<std::int32_t>(described.filters().size());
  }));
  if (count != nullptr) *count = size;
  return list;
}

satin_view satin_view_of(void* data, int64_t width, int64_t height, int32_t channels, int32_t type) {
  satin_view view{};
  satin::Shape shape;
  shape.width = width;
  shape.height = height;
  shape.channels = channels;
  if (type >= SATIN_U8 && type <= SATIN_F64) shape.type = static_cast<satin::Type>(type);
  set_shape(view, shape);
  view.data = data;
  view.type = type;
  return view;
}

satin_status satin_output_view(satin_device* device, const char* pipeline, const satin_view* picture,
                               const satin_named_view* sides, int32_t side_count, satin_view* output) {
  return guarded([&] {
    required(output, "output");
    const Task task(pipeline, picture, sides, side_count);
    const satin::Shape shape = task.plan(device).output_shape();
    *output = {};
    output->memory = picture->memory;
    set_shape(*output, shape);
  });
}

satin_status satin_run(satin_device* device, const char* pipeline, const satin_view* picture,
                       const satin_named_view* sides, int32_t side_count, const satin_view* output,
                       void* stream) {
  return guarded([&] {
    required(output, "output");
    const Task task(pipeline, picture, sides, side_count);
    satin::PipelinePlan steps = task.plan(device);
    run_steps(steps, task.inputs, output, stream);
  });
}

satin_status satin_reach(satin_device* device, const char* pipeline, const satin_view* picture,
                         const satin_named_view* sides, int32_t side_count, int64_t* x, int64_t* y) {
  return guarded([&] {
    required(x, "x");
    required(y, "y");
    const Task task(pipeline, picture, sides, side_count);
    const satin::LocalReach reach =
        satin::local_reach(required(device, "device")->device, task.pipeline, task.shapes);
    *x = reach.x;
    *y = reach.y;
  });
}

satin_status satin_plan_make(satin_device* device, const char* pipeline, const satin_view* picture,
                             const satin_named_view* sides, int32_t side_count, satin_plan** plan) {
  return guarded([&] {
    *required(plan, "plan") = nullptr;
    const Task task(pipeline, picture, sides, side_count);
    satin::PipelinePlan steps = task.plan(device);
    *plan = new satin_plan{device->device, task.pipeline, task.shapes, std::move(steps)};
  });
}

satin_status satin_plan_output(const satin_plan* plan, satin_view* output) {
  return guarded([&] {
    const satin::Shape shape = required(plan, "plan")->steps.output_shape();
    *required(output, "output") = {};
    set_shape(*output, shape);
  });
}

satin_status satin_plan_set(satin_plan* plan, const char* pipeline) {
  return guarded([&] {
    const satin::Pipeline next = pipeline_from(pipeline);
    require_same_filters(required(plan, "plan")->pipeline, next);
    if (!may_vary(plan->pipeline, next) || !plan->steps.vary(next, false)) {
      plan->steps = satin::PipelinePlan(plan->device, next, plan->shapes);
      plan->steps.watch(plan->progress);
    }
    plan->pipeline = next;
  });
}

satin_status satin_plan_run(satin_plan* plan, const satin_view* picture, const satin_named_view* sides,
                            int32_t side_count, const satin_view* output, void* stream) {
  return guarded([&] {
    const auto inputs = inputs_from(required(plan, "plan")->pipeline, picture, sides, side_count);
    run_steps(plan->steps, inputs, output, stream);
  });
}

satin_status satin_plan_watch(satin_plan* plan, satin_progress progress, void* context) {
  return guarded([&] {
    required(plan, "plan")->progress = {};
    if (progress != nullptr)
      plan->progress = [progress, context](double done) { return progress(done, context) != 0; };
    plan->steps.watch(plan->progress);
  });
}

void satin_plan_destroy(satin_plan* plan) { delete plan; }
