// The C interface: views, pipelines and the records of filters for callers without C++. No exception leaves
// it; the message of the last error is kept for each thread.

#include "satin/c_api.h"

#include <new>
#include <string>
#include <vector>

#include "satin/error.h"
#include "satin/pipeline.h"
#include "satin/version.h"

struct satin_device {
  satin::Device device;
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

/// A pipeline planned for the views of one call.
struct Planned {
  Planned(const satin_device* device, const char* text, const satin_view* picture,
          const satin_named_view* sides, std::int32_t side_count)
      : pipeline(satin::parse_pipeline(required(text, "pipeline"))),
        inputs(inputs_from(view_from(*required(picture, "picture")), sides, side_count)),
        steps(required(device, "device")->device, pipeline, shapes()) {
    if (satin::output_kind(pipeline) == satin::OutputKind::json)
      refuse("The pipeline makes JSON, not a picture.");
  }

  satin::Pipeline pipeline;
  std::vector<satin::ImageView> inputs;
  satin::PipelinePlan steps;

 private:
  /// The picture of satin_output_view() may lack data.
  std::vector<satin::Shape> shapes() const {
    std::vector<satin::Shape> result = satin::shapes_of(inputs);
    result.front() = inputs.front().shape;
    return result;
  }

  std::vector<satin::ImageView> inputs_from(const satin::ImageView& picture, const satin_named_view* sides,
                                            std::int32_t side_count) const {
    if (side_count < 0) refuse("The number of side inputs is negative.");
    if (side_count > 0) required(sides, "sides");
    std::vector<satin::NamedView> named;
    for (std::int32_t i = 0; i < side_count; ++i)
      named.push_back({required(sides[i].name, "name of a side input"), view_from(sides[i].view)});
    return satin::inputs_of(pipeline, picture, named);
  }
};

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
      inputs_.back().push_back({input.name.c_str(), input.help.c_str(), input.required ? 1 : 0});
    filters_.push_back({record.name.c_str(), record.category.c_str(), record.help.c_str(),
                        record.paper.c_str(), parameters_.back().data(),
                        static_cast<std::int32_t>(parameters_.back().size()), inputs_.back().data(),
                        static_cast<std::int32_t>(inputs_.back().size())});
  }

  satin_parameter described(const satin::ParameterRecord& parameter) {
    choices_.emplace_back();
    for (const std::string& choice : parameter.choices) choices_.back().push_back(choice.c_str());
    return {parameter.name.c_str(), parameter.unit.c_str(),
            parameter.help.c_str(), parameter.default_text.c_str(),
            parameter.minimum,      parameter.maximum,
            choices_.back().data(), static_cast<std::int32_t>(choices_.back().size())};
  }
};

}  // namespace

const char* satin_version(void) { return satin::version(); }

const char* satin_last_error(void) { return last_error.c_str(); }

satin_status satin_open(const char* name, satin_device** device) {
  return guarded([&] {
    *required(device, "device") = nullptr;
    *device = new satin_device{satin::Device::open(required(name, "name"))};
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
    const Planned planned(device, pipeline, picture, sides, side_count);
    *output = {};
    output->memory = picture->memory;
    set_shape(*output, planned.steps.output_shape());
  });
}

satin_status satin_run(satin_device* device, const char* pipeline, const satin_view* picture,
                       const satin_named_view* sides, int32_t side_count, const satin_view* output,
                       void* stream) {
  return guarded([&] {
    const satin::MutableImageView target = view_from(*required(output, "output"));
    required(target.data, "output->data");
    required(required(picture, "picture")->data, "picture->data");
    Planned planned(device, pipeline, picture, sides, side_count);
    planned.steps.run(planned.inputs, target, {stream});
    static_cast<void>(planned.steps.check({stream}));
  });
}
