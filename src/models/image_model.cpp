#include "satin/image_model.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "io/convert.h"
#include "models/description.h"
#include "models/runtime.h"
#include "satin/device.h"
#include "satin/enlarged.h"
#include "satin/error.h"
#include "satin/pipeline.h"

namespace satin {

using namespace models;

namespace {

namespace fs = std::filesystem;

constexpr int colours = 3;
constexpr std::int64_t usual_multiple = 14;  ///< patches of vision transformers
constexpr std::int64_t largest_aspect = 4;   ///< of an input whose size the graph leaves open

/// Shape and type of a graph's input or output.
struct Tensor {
  std::string name;
  int type = 0;                           ///< ElementType; 0 if it is no tensor
  std::vector<std::int64_t> sides;        ///< -1 where the graph leaves it open
  std::vector<std::string> side_names{};  ///< names of open sides
};

std::string text_of(const Tensor& tensor) {
  std::string text = tensor.name + " of " +
                     (tensor.type == element_f32  ? "f32"
                      : tensor.type == element_u8 ? "u8"
                      : tensor.type == 0          ? "no tensor"
                                                  : "another type");
  for (std::size_t i = 0; i < tensor.sides.size(); ++i) {
    const std::string& name = tensor.side_names[i];
    text += (i == 0 ? ", " : " x ") + (tensor.sides[i] >= 0 ? std::to_string(tensor.sides[i])
                                       : name.empty()       ? "?"
                                                            : name);
  }
  return text;
}

Tensor tensor_of(const Runtime& runtime, std::string name, const TensorInfo* info) {
  Tensor tensor{std::move(name), 0, {}};
  if (info == nullptr) return tensor;
  const Functions& call = runtime.functions();
  runtime.check(call.element_type(info, &tensor.type));
  std::size_t count = 0;
  runtime.check(call.dimension_count(info, &count));
  tensor.sides.resize(count);
  runtime.check(call.dimensions(info, tensor.sides.data(), count));
  std::vector<const char*> names(count);
  runtime.check(call.dimension_names(info, names.data(), count));
  for (const char* each : names) tensor.side_names.emplace_back(each == nullptr ? "" : each);
  return tensor;
}

/// Returns the inputs or the outputs of a session.
std::vector<Tensor> tensors_of(const Runtime& runtime, const Session* session, bool of_outputs) {
  const Functions& call = runtime.functions();
  AllocatorTable* allocator = nullptr;
  runtime.check(call.default_allocator(&allocator));
  std::size_t count = 0;
  runtime.check((of_outputs ? call.output_count : call.input_count)(session, &count));
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < count; ++i) {
    char* name = nullptr;
    runtime.check((of_outputs ? call.output_name : call.input_name)(session, i, allocator, &name));
    const std::string copy = name;
    runtime.check(call.allocator_free(allocator, name));
    const auto type = owned<TypeInfo>(runtime, call.release_type_info, [&](TypeInfo** out) {
      return (of_outputs ? call.output_type : call.input_type)(session, i, out);
    });
    const TensorInfo* info = nullptr;
    runtime.check(call.tensor_of_type(type.get(), &info));
    tensors.push_back(tensor_of(runtime, copy, info));
  }
  return tensors;
}

std::string joined(const std::vector<Tensor>& tensors) {
  std::string text;
  for (const Tensor& tensor : tensors) text += (text.empty() ? "" : "; ") + text_of(tensor);
  return text.empty() ? "none" : text;
}

/// Returns the factor in the name of an open side, such as 14 in "14*rows"; 0 if it has none.
std::int64_t factor_in(const std::string& name) {
  const std::size_t star = name.find('*');
  if (star == std::string::npos) return 0;
  const auto number = [](const std::string& text) {
    const bool digits = !text.empty() && text.find_first_not_of("0123456789 ") == std::string::npos;
    return digits && text.size() < 6 ? std::atoll(text.c_str()) : 0LL;
  };
  return std::max<std::int64_t>(number(name.substr(0, star)), number(name.substr(star + 1)));
}

/// Stamp of a model and its description, which says whether both are as they were.
std::string stamp_of(const fs::path& file) {
  std::string stamp = file.native();
  for (const fs::path& each : {file, models::description_file(file)}) {
    std::error_code missing;
    const auto size = fs::file_size(each, missing);
    const auto time = fs::last_write_time(each, missing).time_since_epoch().count();
    stamp += missing ? "|" : "|" + std::to_string(size) + " " + std::to_string(time);
  }
  return stamp;
}

/// Ends a run when `cancelled` says so, which it asks every 20 ms.
class Watch {
 public:
  Watch(const Runtime& runtime, RunOptions* run, const std::function<bool()>& cancelled) {
    if (!cancelled) return;
    thread_ = std::thread([this, &runtime, run, &cancelled] {
      std::unique_lock lock(mutex_);
      while (!ended_.wait_for(lock, std::chrono::milliseconds(20), [this] { return done_; })) {
        if (!cancelled()) continue;
        was_cancelled_ = true;
        static_cast<void>(runtime.message_of(runtime.functions().set_terminate(run)));
        return;
      }
    });
  }
  ~Watch() { static_cast<void>(end()); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Returns whether the run was cancelled.
  bool end() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    ended_.notify_all();
    if (thread_.joinable()) thread_.join();
    return was_cancelled_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  bool was_cancelled_ = false;
  std::thread thread_;
};

/// Fills the input of a graph from a picture of its size in sRGB codes.
template <class Value, class Convert>
void fill(std::span<Value> to, const ImageView& picture, Layout layout, const Convert& convert) {
  const Shape& shape = picture.shape;
  const bool grey = shape.channels < colours;
  std::size_t at = 0;
  const auto value_at = [&](std::int64_t x, std::int64_t y, int c) {
    const int channel = grey ? 0 : shape.order == Order::bgr ? colours - 1 - c : c;
    to[at++] = convert(picture.value<std::uint8_t>(x, y, channel), c);
  };
  const int planes = layout == Layout::nchw ? colours : 1;
  for (int plane = 0; plane < planes; ++plane)
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t x = 0; x < shape.width; ++x)
        for (int c = plane; c < (planes == 1 ? colours : plane + 1); ++c) value_at(x, y, c);
}

/// Returns the lowest and the highest finite value; the first is larger if there is none.
std::pair<float, float> extremes_of(const Image& values) {
  std::pair range{std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  const auto* value = reinterpret_cast<const float*>(values.data());
  for (std::int64_t i = 0; i < values.shape().width * values.shape().height; ++i)
    if (std::isfinite(value[i])) range = {std::min(range.first, value[i]), std::max(range.second, value[i])};
  return range;
}

/// Returns a picture in another size, by its values as they are stored.
Image resized(const ImageView& picture, std::int64_t width, std::int64_t height, const std::string& kernel) {
  return run(Device::open("cpu"),
             parse_pipeline("resize size=" + std::to_string(width) + "x" + std::to_string(height) +
                            " fit=stretch enlarge=true space=encoded kernel=" + kernel),
             picture);
}

/// Returns the output for a picture that was stretched to the size of the input, without the stretch. Exact
/// areas add no values beyond those that they mix.
Image in_aspect_of(const Shape& picture, Image plane) {
  const Shape& shape = plane.shape();
  if (has_aspect_of(picture, shape)) return plane;
  const auto share = [](std::int64_t samples, std::int64_t pixels) {
    return static_cast<double>(samples) / static_cast<double>(pixels);
  };
  const double factor =
      std::min(std::max(share(shape.width, picture.width), share(shape.height, picture.height)), 1.0);
  const auto length = [&](std::int64_t pixels) {
    return std::max<std::int64_t>(std::llround(static_cast<double>(pixels) * factor), 1);
  };
  return resized(plane, length(picture.width), length(picture.height), "area");
}

/// A graph and its session.
class GraphModel final : public ImageModel {
 public:
  GraphModel(const fs::path& path, int threads)
      : file_(existing(path)), runtime_(Runtime::get()), description_(read_description(path)) {
    open_session(threads);
    check_graph();
  }

  [[nodiscard]] Estimate estimates() const noexcept override { return description_.output; }
  [[nodiscard]] const fs::path& file() const noexcept override { return file_; }
  [[nodiscard]] fs::path description_file() const override { return models::description_file(file_); }
  [[nodiscard]] std::uint64_t bytes() const noexcept override { return bytes_; }

  [[nodiscard]] std::string notice() const override {
    if (!description_.is_assumed) return "";
    std::string text = "The model '" + name() + "' has no " +
                       printable(description_file().filename().native()) +
                       " beside it. Assumed: its output is inverse depth";
    if (input_.type == element_f32)
      text +=
          ", and values from 0 to 1 have ImageNet's mean (0.485, 0.456, 0.406) and deviation (0.229, 0.224, "
          "0.225)";
    if (has_open_size())
      text += "; the shorter side is " + std::to_string(description_.shorter) + ", in multiples of " +
              std::to_string(multiple());
    return text + ".";
  }

  [[nodiscard]] PhotoDepth depth(const ImageView& picture, const Metadata& metadata,
                                 const EstimateOptions& options) const override {
    if (estimates() == Estimate::mask) refuse("makes masks, and no depth. Name another model.");
    PhotoDepth depth;
    depth.values = in_aspect_of(picture.shape, estimate(picture, metadata, options));
    std::tie(depth.lowest, depth.highest) = extremes_of(depth.values);
    if (depth.lowest > depth.highest)
      throw Error(ErrorKind::input, "The model '" + name() + "' makes no finite value of this picture.");
    depth.metric = estimates() == Estimate::depth;
    depth.kind = depth.metric ? DepthKind::depth : DepthKind::disparity;
    depth.is_estimated = true;
    depth.format = "model";
    depth.place = name();
    return depth;
  }

  [[nodiscard]] Image mask(const ImageView& picture, const Metadata& metadata,
                           const EstimateOptions& options) const override {
    if (estimates() != Estimate::mask)
      refuse("makes depth, and no mask. Name another model, or say \"output\": \"mask\" in '" +
             printable(description_file().native()) + "'.");
    Image values = estimate(picture, metadata, options);
    if (description_.stretches) {
      const auto [low, high] = extremes_of(values);
      auto* value = reinterpret_cast<float*>(values.data());
      for (std::int64_t i = 0; high > low && i < values.shape().width * values.shape().height; ++i)
        value[i] = (value[i] - low) / (high - low);
    }
    return enlarged_along_edges(Device::open("cpu"), values, picture);
  }

 private:
  static const fs::path& existing(const fs::path& path) {
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) return path;
    throw Error(ErrorKind::input, "There is no model '" + printable(path.native()) + "'. Check the path.");
  }

  void open_session(int threads) {
    const Functions& call = runtime_.functions();
    const auto options =
        owned<SessionOptions>(runtime_, call.release_session_options, call.create_session_options);
    const int usual = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    runtime_.check(call.set_threads(options.get(), threads > 0 ? threads : usual));
    // Threads that wait for work would take time from decoding and filtering.
    runtime_.check(call.add_session_entry(options.get(), "session.intra_op.allow_spinning", "0"));
    runtime_.check(call.add_session_entry(options.get(), "session.use_env_allocators", "1"));
    const std::lock_guard lock(runtime_.mutex());
    runtime_.limit(0);
    const std::uint64_t before = runtime_.held();
    Session* made = nullptr;
    const std::string problem =
        runtime_.message_of(call.create_session(runtime_.environment(), file_.c_str(), options.get(), &made));
    if (!problem.empty())
      throw Error(ErrorKind::input, "ONNX Runtime " + runtime_.version() + " cannot open the model '" +
                                        name() + "': " + printable(problem) +
                                        ". Check that it is an ONNX file.");
    session_ = {made, call.release_session};
    bytes_ = runtime_.held() - before;
  }

  /// Throws Error(usage) unless the graph has one image as its input, and the described output.
  void check_graph() {
    const std::vector<Tensor> inputs = tensors_of(runtime_, session_.get(), false);
    const std::vector<Tensor> outputs = tensors_of(runtime_, session_.get(), true);
    const auto wants = [](std::int64_t side, std::int64_t wanted) { return side == wanted || side < 0; };
    const auto fits = [&](std::size_t channel) {
      return inputs.front().sides[channel] == colours ||
             (inputs.front().sides[channel] < 0 && description_.layout == layout_of(channel));
    };
    const bool is_image = inputs.size() == 1 && inputs.front().sides.size() == 4 &&
                          wants(inputs.front().sides[0], 1) &&
                          (inputs.front().type == element_f32 || inputs.front().type == element_u8);
    const bool nchw = is_image && description_.layout != Layout::nhwc && fits(1);
    const bool nhwc = is_image && description_.layout != Layout::nchw && !nchw && fits(3);
    if (!nchw && !nhwc)
      refuse("has the input " + joined(inputs) +
             ". One image of f32 or u8 is wanted: 1 x 3 x height x width or 1 x height x width x 3" +
             (description_.layout ? ", as its description says." : "."));
    input_ = inputs.front();
    layout_ = nchw ? Layout::nchw : Layout::nhwc;
    const auto named = [&](const Tensor& each) {
      return description_.output_name.empty() || each.name == description_.output_name;
    };
    const auto found = std::ranges::find_if(outputs, named);
    if (found == outputs.end() || found->type != element_f32)
      refuse("has the output " + joined(outputs) + ". " +
             (description_.output_name.empty() ? "The first one" : "'" + description_.output_name + "'") +
             " is wanted as f32; output_name in its description names another.");
    output_ = *found;
    if (input_.type == element_u8 && description_.is_normalised)
      refuse("reads u8, to which mean and deviation do not apply. Drop them from its description.");
    const bool other_size =
        description_.width > 0 && ((side(true) > 0 && side(true) != description_.width) ||
                                   (side(false) > 0 && side(false) != description_.height));
    if (other_size)
      refuse("has the input " + text_of(input_) + ", which is not the size in its description.");
  }

  static Layout layout_of(std::size_t channel) { return channel == 1 ? Layout::nchw : Layout::nhwc; }

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::usage, "The model '" + name() + "' " + what);
  }

  [[nodiscard]] std::string name() const { return printable(file_.native()); }

  /// Index of the input's width or height.
  [[nodiscard]] std::size_t axis(bool of_width) const {
    return (layout_ == Layout::nchw ? 2U : 1U) + (of_width ? 1U : 0U);
  }
  /// Width or height of the input; -1 if the graph leaves it open.
  [[nodiscard]] std::int64_t side(bool of_width) const { return input_.sides[axis(of_width)]; }

  [[nodiscard]] std::int64_t multiple() const {
    if (description_.multiple > 0) return description_.multiple;
    const std::int64_t factor =
        std::max(factor_in(input_.side_names[axis(true)]), factor_in(input_.side_names[axis(false)]));
    return factor > 0 ? factor : usual_multiple;
  }

  [[nodiscard]] bool has_open_size() const { return side(true) < 0 || side(false) < 0; }

  /// Returns the size of the input for a picture: that of the graph or the description, or else its shorter
  /// side with the picture's aspect, both sides rounded to the nearest multiple that is not below it.
  [[nodiscard]] Shape input_size(const Shape& picture) const {
    const auto shorter = static_cast<double>(std::min(picture.width, picture.height));
    const auto length = [&](bool of_width) {
      if (side(of_width) > 0) return side(of_width);
      if (description_.width > 0) return of_width ? description_.width : description_.height;
      const double aspect = static_cast<double>(of_width ? picture.width : picture.height) / shorter;
      const double wanted =
          static_cast<double>(description_.shorter) * std::min(aspect, static_cast<double>(largest_aspect));
      const std::int64_t step = multiple();
      std::int64_t rounded = std::llround(wanted / static_cast<double>(step)) * step;
      if (rounded < description_.shorter) rounded += step;
      return rounded;
    };
    return {length(true), length(false), colours, Type::u8};
  }

  /// Returns the picture in the size of the input, as sRGB codes.
  [[nodiscard]] Image prepared(const ImageView& picture, const Metadata& metadata) const {
    if (picture.shape.frames != 1 || (picture.shape.type != Type::u8 && picture.shape.type != Type::u16 &&
                                      picture.shape.type != Type::f32))
      throw Error(ErrorKind::usage, "A model reads one picture of u8, u16 or f32, but this one is " +
                                        describe(picture.shape) + ".");
    const Image copy = picture.interleaved() ? Image() : copy_of(picture);
    const ImageView dense = copy.empty() ? picture : copy.view();
    Shape codes = dense.shape;
    codes.type = Type::u8;
    if (codes.alpha == Alpha::premultiplied) codes.alpha = Alpha::straight;
    const bool has_codes = dense.shape.type != Type::f32;  // floats are linear light in sRGB's primaries
    const Image converted = codes == dense.shape ? Image() : io::converted(dense, codes, false, metadata);
    const Shape size = input_size(dense.shape);
    // Networks are trained with pictures that were scaled as they are stored.
    Image small = resized(converted.empty() ? dense : converted.view(), size.width, size.height, "lanczos");
    std::optional<Image> managed;
    if (has_codes && codes.channels >= colours) managed = io::in_srgb(small, metadata.icc);
    return managed ? std::move(*managed) : std::move(small);
  }

  /// Returns the output for a picture: f32, one channel, in the size that the graph gives it.
  [[nodiscard]] Image estimate(const ImageView& picture, const Metadata& metadata,
                               const EstimateOptions& options) const {
    const Image small = prepared(picture, metadata);
    const auto count = static_cast<std::size_t>(small.shape().width * small.shape().height * colours);
    std::vector<float> floats(input_.type == element_f32 ? count : 0);
    std::vector<std::uint8_t> codes(input_.type == element_u8 ? count : 0);
    fill(std::span(floats), floats.empty() ? ImageView{} : small.view(), layout_,
         [&](std::uint8_t code, int c) {
           const auto channel = static_cast<std::size_t>(c);
           return (static_cast<float>(code) / 255.0F - description_.mean[channel]) /
                  description_.deviation[channel];
         });
    fill(std::span(codes), codes.empty() ? ImageView{} : small.view(), layout_,
         [](std::uint8_t code, int) { return code; });
    void* const data = floats.empty() ? static_cast<void*>(codes.data()) : floats.data();
    return run_session(data, count * (floats.empty() ? 1 : sizeof(float)), small.shape(), options);
  }

  [[nodiscard]] Image run_session(void* data, std::size_t size, const Shape& shape,
                                  const EstimateOptions& options) const {
    const Functions& call = runtime_.functions();
    const std::int64_t planar[] = {1, colours, shape.height, shape.width};
    const std::int64_t packed[] = {1, shape.height, shape.width, colours};
    const auto tensor = owned<Value>(runtime_, call.release_value, [&](Value** out) {
      return call.create_tensor(runtime_.memory(), data, size, layout_ == Layout::nchw ? planar : packed, 4,
                                input_.type, out);
    });
    const auto run = owned<RunOptions>(runtime_, call.release_run_options, call.create_run_options);
    const char* const input_name = input_.name.c_str();
    const char* const output_name = output_.name.c_str();
    const Value* const value = tensor.get();
    const std::lock_guard lock(runtime_.mutex());
    runtime_.limit(options.memory);
    static_cast<void>(runtime_.was_limited());
    Value* made = nullptr;
    Watch watch(runtime_, run.get(), options.cancelled);
    const std::string problem = runtime_.message_of(
        call.run(session_.get(), run.get(), &input_name, &value, 1, &output_name, 1, &made));
    const bool cancelled = watch.end();
    const Owned<Value> result(made, call.release_value);
    if (cancelled) throw Error(ErrorKind::cancelled, "The model was cancelled.");
    if (!problem.empty() && runtime_.was_limited())
      throw Error(ErrorKind::environment, "The model '" + name() + "' needs more memory than the limit of " +
                                              std::to_string(options.memory) + " bytes, of which it holds " +
                                              std::to_string(bytes_) +
                                              " between pictures: raise --memory-limit.");
    if (!problem.empty())
      throw Error(ErrorKind::input,
                  "The model '" + name() + "' fails for an input of " + std::to_string(shape.width) + " x " +
                      std::to_string(shape.height) + ": " + printable(problem) +
                      (has_open_size() ? ". Set size and multiple in its description." : "."));
    return plane_of(result.get());
  }

  /// Returns a copy of the output, whose only sides other than 1 are height and width.
  [[nodiscard]] Image plane_of(Value* value) const {
    const Functions& call = runtime_.functions();
    const auto info = owned<TensorInfo>(runtime_, call.release_tensor_info,
                                        [&](TensorInfo** out) { return call.tensor_of_value(value, out); });
    const Tensor made = tensor_of(runtime_, output_.name, info.get());
    std::vector<std::int64_t> sides = made.sides;
    const auto drop = [&](bool first) {
      const bool one = sides.size() > 2 && (first ? sides.front() : sides.back()) == 1;
      if (one) sides.erase(first ? sides.begin() : sides.end() - 1);
      return one;
    };
    while (drop(true)) {
    }
    while (drop(false)) {
    }
    if (made.type != element_f32 || sides.size() != 2 || sides[0] < 1 || sides[1] < 1)
      refuse("makes " + text_of(made) + ". One plane of f32 is wanted: 1 x height x width.");
    Image plane({sides[1], sides[0], 1, Type::f32});
    void* values = nullptr;
    runtime_.check(call.tensor_data(value, &values));
    std::memcpy(plane.data(), values, byte_size(plane.shape()));
    return plane;
  }

  fs::path file_;
  Runtime& runtime_;
  Description description_;
  Owned<Session> session_{nullptr, nullptr};
  std::uint64_t bytes_ = 0;
  Tensor input_, output_;
  Layout layout_ = Layout::nchw;
};

}  // namespace

std::shared_ptr<const ImageModel> ImageModel::open(const fs::path& file, int threads) {
  static std::mutex mutex;
  static std::pair<std::string, std::shared_ptr<const ImageModel>> last;
  const std::lock_guard lock(mutex);
  const std::string stamp = stamp_of(file) + "|" + std::to_string(threads);
  if (last.second != nullptr && last.first == stamp) return last.second;
  last = {};  // frees its memory before the next one needs as much
  last.second = std::make_shared<const GraphModel>(file, threads);
  last.first = stamp;
  return last.second;
}

fs::path usual_depth_model() {
  const char* file = std::getenv("SATIN_DEPTH_MODEL");
  return file == nullptr ? "" : file;
}

ModelRuntime model_runtime() {
  try {
    const Runtime& runtime = Runtime::get();
    return {runtime.version(), runtime.file(), ""};
  } catch (const Error& error) {
    return {"", {}, error.what()};
  }
}

}  // namespace satin
