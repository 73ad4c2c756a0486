// satin bench: times the plans of filters beside a copy of the same number of bytes. The pictures are
// synthetic and the same on every machine.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/analysis.h"
#include "app/machine.h"
#include "app/options.h"
#include "app/report.h"
#include "satin/error.h"
#include "satin/filter.h"
#include "satin/image.h"
#include "satin/io.h"
#include "satin/param.h"
#include "satin/plan.h"

namespace satin::app {
namespace {

enum class BenchInput {
  photograph,  ///< areas of every size with shading, edges and grain; maps as from depth cameras and brushes
  noise        ///< random values everywhere, which no branch predictor or cache can foresee
};

class Random {
 public:
  explicit Random(std::uint32_t seed) : state_(seed) {}
  std::uint32_t bits() { return (state_ = state_ * 1664525U + 1013904223U) >> 8U; }
  /// Returns a uniform random number in 0..1.
  float part() { return static_cast<float>(bits()) / 0x1p24F; }
  /// Returns a uniform random number in -1/2..1/2.
  float error() { return part() - 0.5F; }

 private:
  std::uint32_t state_;
};

/// A disc of one colour and one disparity, both with a slope.
struct Leaf {
  std::array<float, 4> colour{};
  float disparity = 0;
  float across = 0;  ///< increase of colour and depth over the width of the picture
  float down = 0;
};

/// The dead leaves model of a photograph: discs that cover each other, with a density of 1 / radius^3, so
/// that edges and flat areas have every size (Lee, Mumford and Huang, Occlusion models for natural images,
/// 2001).
class DeadLeaves {
 public:
  DeadLeaves(std::int64_t width, std::int64_t height)
      : width_(width), height_(height), top_(static_cast<std::size_t>(width * height)) {
    for (std::uint16_t i = 0; i < count; ++i) fall(i);
  }

  /// Calls use(x, y, channel, value) for these channels of all pixels, with a shaded colour with grain, about
  /// 0 to 1.
  template <class Use>
  void colours(int channels, const Use& use) const {
    Random grain(2);
    each_pixel([&](std::int64_t x, std::int64_t y, std::uint16_t leaf, float slope) {
      for (int c = 0; c < channels; ++c)
        use(x, y, c, leaves_[leaf].colour[static_cast<std::size_t>(c)] + slope + 0.03F * grain.error());
    });
  }

  /// Calls use(x, y, value) with the disparity of all pixels, about 0 to 1.
  template <class Use>
  void depths(const Use& use) const {
    Random random(3);
    each_pixel([&](std::int64_t x, std::int64_t y, std::uint16_t leaf, float slope) {
      use(x, y, leaves_[leaf].disparity + 0.3F * slope + 0.01F * random.error());
    });
  }

 private:
  static constexpr std::uint16_t count = 5000;  // covers a picture four times

  static std::int64_t within(float at, std::int64_t size) {
    return static_cast<std::int64_t>(std::clamp(at, 0.0F, static_cast<float>(size)));
  }

  /// A uniform random 1 / radius^2 gives radii with the density 1 / radius^3. Small leaves are marks on the
  /// surface below them; others are nearer than all before them.
  void fall(std::uint16_t index) {
    const auto side = static_cast<float>(std::min(width_, height_));
    const float rarity = random_.part() * (32.0F * 32 - 1) + 1;
    const float radius = side / 4 / std::sqrt(rarity);
    const float x = random_.part() * static_cast<float>(width_);
    const float y = random_.part() * static_cast<float>(height_);
    Leaf& leaf = leaves_[index];
    const float grey = 0.1F + 0.8F * random_.part();
    for (float& channel : leaf.colour) channel = grey + 0.3F * random_.error();
    leaf.across = 0.6F * random_.error();
    leaf.down = 0.6F * random_.error();
    const Leaf& below =
        leaves_[top_[static_cast<std::size_t>(within(y, height_ - 1) * width_ + within(x, width_ - 1))]];
    leaf.disparity = rarity > 64 ? below.disparity : static_cast<float>(index) / count;
    paint(index, x, y, index == 0 ? 2 * static_cast<float>(width_ + height_) : radius);
  }

  void paint(std::uint16_t index, float x, float y, float radius) {
    for (std::int64_t row = within(y - radius, height_); row < within(y + radius + 1, height_); ++row) {
      const float away = static_cast<float>(row) - y;
      const float half = std::sqrt(std::max(0.0F, radius * radius - away * away));
      std::uint16_t* line = top_.data() + row * width_;
      std::fill(line + within(x - half, width_), line + within(x + half, width_), index);
    }
  }

  template <class Use>
  void each_pixel(const Use& use) const {
    const std::uint16_t* index = top_.data();
    for (std::int64_t y = 0; y < height_; ++y)
      for (std::int64_t x = 0; x < width_; ++x, ++index) {
        const Leaf& leaf = leaves_[*index];
        const float slope = leaf.across * static_cast<float>(x) / static_cast<float>(width_) +
                            leaf.down * static_cast<float>(y) / static_cast<float>(height_);
        use(x, y, *index, slope);
      }
  }

  std::int64_t width_;
  std::int64_t height_;
  Random random_{1};
  std::vector<Leaf> leaves_ = std::vector<Leaf>(count);
  std::vector<std::uint16_t> top_;  ///< index of the visible leaf
};

/// Stores a value of 0..1, scaled to the view's type.
void store(const MutableImageView& view, std::int64_t x, std::int64_t y, int channel, float value) {
  const float held = std::clamp(value, 0.0F, 1.0F);
  if (view.shape.type == Type::f32)
    view.value<float>(x, y, channel) = held;
  else if (view.shape.type == Type::u16)
    view.value<std::uint16_t>(x, y, channel) = static_cast<std::uint16_t>(held * 65535 + 0.5F);
  else
    view.value<std::uint8_t>(x, y, channel) = static_cast<std::uint8_t>(held * 255 + 0.5F);
}

/// Draws a white ellipse in the middle with a wide soft edge.
void brush(const MutableImageView& view, int channel) {
  for (std::int64_t y = 0; y < view.shape.height; ++y)
    for (std::int64_t x = 0; x < view.shape.width; ++x) {
      const float across = static_cast<float>(2 * x + 1) / static_cast<float>(view.shape.width) - 1;
      const float down = static_cast<float>(2 * y + 1) / static_cast<float>(view.shape.height) - 1;
      store(view, x, y, channel, 4 * (0.8F - across * across - down * down));
    }
}

Image photograph(const Shape& shape) {
  Image image(shape);
  const MutableImageView view = image.view();
  const int alpha = shape.alpha == Alpha::none ? 0 : 1;
  DeadLeaves(shape.width, shape.height)
      .colours(shape.channels - alpha, [&](std::int64_t x, std::int64_t y, int channel, float value) {
        store(view, x, y, channel, value);
      });
  if (alpha != 0) brush(view, shape.channels - alpha);
  return image;
}

Image noise(const Shape& shape) {
  Image image(shape);
  Random random(1);
  const std::size_t bytes = byte_size(shape);
  if (shape.type == Type::f32)
    std::generate_n(image.view().row<float>(0), bytes / sizeof(float), [&] { return random.part(); });
  else
    std::generate_n(image.data(), bytes, [&] { return static_cast<std::byte>(random.bits() >> 16U); });
  return image;
}

Image bench_picture(BenchInput input, const Shape& shape) {
  return input == BenchInput::noise ? noise(shape) : photograph(shape);
}

/// Makes the side input of u8 for this role.
Image bench_side_input(BenchInput input, Role role, const Shape& picture) {
  const Shape shape{picture.width, picture.height, 1, Type::u8};
  if (input == BenchInput::noise || role == Role::guide) return bench_picture(input, shape);
  Image image(shape);
  const MutableImageView view = image.view();
  if (role == Role::mask || role == Role::subject)
    brush(view, 0);
  else
    DeadLeaves(shape.width, shape.height).depths([&](std::int64_t x, std::int64_t y, float value) {
      store(view, x, y, 0, value);
    });
  return image;
}

constexpr int bench_repeats = 11;

struct BenchResult {
  std::vector<std::string> side_inputs;  ///< names of the synthetic side inputs
  std::size_t bytes = 0;    ///< bytes that must move: the inputs read once, the output written once
  double seconds = 0;       ///< median time of one run
  double copy_seconds = 0;  ///< median time of a copy that reads half the bytes and writes the other half

  [[nodiscard]] double bytes_per_second() const noexcept { return static_cast<double>(bytes) / seconds; }
  [[nodiscard]] double share_of_copy() const noexcept { return copy_seconds / seconds; }
};

struct Case {
  Shape picture{3840, 2160, 3, Type::u8};
  BenchInput input = BenchInput::photograph;
};

const std::vector<std::string> input_names = {"photograph", "noise"};  // in the order of BenchInput

using Clock = std::chrono::steady_clock;

constexpr std::size_t rotated_bytes = std::size_t{256} << 20;  // more than caches hold
constexpr std::size_t most_sets = 16;
constexpr double least_seconds = 0.005;  // shortest repeat, long beside the cost of a synchronisation
constexpr double most_runs = 1000;

/// Makes the host pictures: the one to filter, then the side inputs in the order of the record, empty if not
/// used.
std::vector<Image> make_inputs(const FilterRecord& filter, const Case& timed,
                               const std::vector<std::string>& optional_inputs) {
  std::vector<Image> inputs;
  inputs.push_back(bench_picture(timed.input, timed.picture));
  for (const InputRecord& input : filter.inputs) {
    const bool used = input.required || std::find(optional_inputs.begin(), optional_inputs.end(),
                                                  input.name) != optional_inputs.end();
    inputs.push_back(used ? bench_side_input(timed.input, input.role, timed.picture) : Image());
  }
  return inputs;
}

std::vector<std::string> names_of_used(const FilterRecord& filter, const std::vector<Image>& inputs) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < filter.inputs.size(); ++i)
    if (!inputs[i + 1].empty()) names.push_back(filter.inputs[i].name);
  return names;
}

/// Returns the shape of a picture with nearly `bytes` bytes, and at most that, in rows that copy fast.
Shape copied_shape(std::size_t bytes) {
  constexpr std::int64_t row = 16384;
  const auto wanted = std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes));
  const std::int64_t width = std::min(wanted, row);
  return {width, wanted / width};
}

/// Inputs and output of one run, in the device's memory.
struct WorkingSet {
  std::vector<Image> inputs;
  std::vector<ImageView> views;
  Image output;
  Image copy_source;
  Image copy_target;
};

WorkingSet working_set(const Device& device, const std::vector<Image>& inputs, const Shape& output,
                       const Image& copy_source) {
  WorkingSet set;
  for (const Image& input : inputs) {
    set.inputs.push_back(input.empty() ? Image() : device.upload(input));
    set.views.push_back(input.empty() ? ImageView() : set.inputs.back().view());
  }
  set.output = device.allocate(output);
  set.copy_source = device.upload(copy_source);
  set.copy_target = device.allocate(copy_source.shape());
  return set;
}

/// A function that runs repeatedly, on one working set after the other.
class Timed {
 public:
  Timed(const Device& device, std::span<WorkingSet> sets, std::function<void(WorkingSet&)> run)
      : device_(device), sets_(sets), run_(std::move(run)) {
    static_cast<void>(seconds_of(sets_.size()));
    const double expected = seconds_of(sets_.size());
    runs_ = static_cast<std::size_t>(std::clamp(least_seconds / expected, 1.0, most_runs));
  }

  void repeat() { seconds_.push_back(seconds_of(runs_)); }

  [[nodiscard]] double median() {
    const auto middle = seconds_.begin() + static_cast<std::ptrdiff_t>(seconds_.size() / 2);
    std::nth_element(seconds_.begin(), middle, seconds_.end());
    return *middle;
  }

 private:
  double seconds_of(std::size_t runs) {
    const Clock::time_point start = Clock::now();
    for (std::size_t i = 0; i < runs; ++i) run_(sets_[next_++ % sets_.size()]);
    device_.synchronize();
    return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(runs);
  }

  const Device& device_;
  std::span<WorkingSet> sets_;
  std::function<void(WorkingSet&)> run_;
  std::size_t next_ = 0;
  std::size_t runs_ = 1;
  std::vector<double> seconds_;
};

std::size_t bytes_to_move(const std::vector<Image>& inputs, const Shape& output) {
  std::size_t bytes = byte_size(output);
  for (const Image& input : inputs) bytes += input.empty() ? 0 : byte_size(input.shape());
  return bytes;
}

std::vector<WorkingSet> working_sets(const Device& device, const std::vector<Image>& inputs,
                                     const Shape& output) {
  const std::size_t bytes = bytes_to_move(inputs, output);
  const Image copy_source = bench_picture(BenchInput::noise, copied_shape(bytes / 2));
  std::vector<WorkingSet> sets(std::clamp<std::size_t>(rotated_bytes / bytes + 1, 2, most_sets));
  for (WorkingSet& set : sets) set = working_set(device, inputs, output, copy_source);
  return sets;
}

/// Times a case with all pictures in the device's memory. Runs and copies alternate, so that both see the
/// same state of the machine, and rotate through several pictures, so that only tiny pictures stay in a
/// cache. `optional_inputs` are made in addition to the inputs that the filter requires. Throws Error(usage)
/// if the filter refuses the picture.
BenchResult bench(const Device& device, const Parameters& parameters, const Case& timed,
                  const std::vector<std::string>& optional_inputs) {
  const std::vector<Image> inputs = make_inputs(parameters.filter(), timed, optional_inputs);
  std::vector<Shape> shapes(inputs.size());
  std::transform(inputs.begin(), inputs.end(), shapes.begin(),
                 [](const Image& input) { return input.shape(); });
  Plan plan = satin::plan(device, parameters, shapes);
  std::vector<WorkingSet> sets = working_sets(device, inputs, plan.output_shape());

  Timed filtering(device, sets, [&](WorkingSet& set) { plan.run(set.views, set.output.view()); });
  static_cast<void>(plan.check());
  Timed copying(device, sets,
                [&](WorkingSet& set) { device.copy(set.copy_source.view(), set.copy_target.view()); });
  for (int i = 0; i < bench_repeats; ++i) {
    filtering.repeat();
    copying.repeat();
  }

  BenchResult result;
  result.side_inputs = names_of_used(parameters.filter(), inputs);
  result.bytes = bytes_to_move(inputs, plan.output_shape());
  result.seconds = filtering.median();
  const std::size_t copied = 2 * byte_size(sets[0].copy_source.shape());
  result.copy_seconds = copying.median() * static_cast<double>(result.bytes) / static_cast<double>(copied);
  return result;
}

constexpr long longest_side = 1L << 24;

struct Row {
  Parameters parameters;
  std::optional<BenchResult> result;
  std::string refusal{};  ///< why there is no result
};

void set_size(Shape& shape, const std::string& text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string::npos)
    throw Error(ErrorKind::usage, "--size '" + text + "': give width and height, as in 3840x2160.");
  shape.width = parse_integer("--size, width", text.substr(0, cross), 1, longest_side);
  shape.height = parse_integer("--size, height", text.substr(cross + 1), 1, longest_side);
  if (static_cast<std::uint64_t>(shape.width) * static_cast<std::uint64_t>(shape.height) >
      ReadLimits{}.pixels)
    throw Error(ErrorKind::usage, "--size '" + text + "': a picture has at most " +
                                      std::to_string(ReadLimits{}.pixels) + " pixels.");
}

Case case_of(const ParsedLine& line) {
  constexpr std::array types = {Type::u8, Type::u16, Type::f32};
  static const std::vector<std::string> names = {"u8", "u16", "f32"};
  Case timed;
  Shape& shape = timed.picture;
  if (const auto text = line.value("size")) set_size(shape, *text);
  if (const auto text = line.value("type")) shape.type = types.at(parse_choice("--type", *text, names));
  if (const auto text = line.value("channels"))
    shape.channels = static_cast<int>(parse_integer("--channels", *text, 1, 4));
  if (shape.channels % 2 == 0) shape.alpha = Alpha::straight;
  if (const auto text = line.value("input"))
    timed.input = static_cast<BenchInput>(parse_choice("--input", *text, input_names));
  return timed;
}

/// Returns the names of the inputs that `wanted` accepts.
template <class Wanted>
std::vector<std::string> inputs_where(const FilterRecord& filter, const Wanted& wanted) {
  std::vector<std::string> names;
  for (const InputRecord& input : filter.inputs)
    if (wanted(input)) names.push_back(input.name);
  return names;
}

/// If no boxes are set, uses one in the middle that covers a quarter of the picture.
void choose_boxes(Parameters& parameters, const Shape& picture) {
  const PixelBox middle{picture.width / 4, picture.height / 4, (picture.width + 1) / 2,
                        (picture.height + 1) / 2};
  for (const ParameterRecord& parameter : parameters.filter().parameters)
    if (parameter.kind == ParameterKind::boxes && parameters.get(parameter.name).empty())
      parameters.set(parameter.name, print_boxes(std::span(&middle, 1)));
}

Row time_if_accepted(const Device& device, const FilterRecord& filter, const Case& timed) {
  Row row{Parameters(filter), {}};
  choose_boxes(row.parameters, timed.picture);
  try {
    const auto is_depth = [](const InputRecord& input) { return input.role == Role::depth; };
    row.result = bench(device, row.parameters, timed, inputs_where(filter, is_depth));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    row.refusal = error.what();
  }
  return row;
}

std::string fixed(double value, int digits) {
  std::array<char, 64> text{};
  const int size = std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return {text.data(), std::min(static_cast<std::size_t>(size), text.size() - 1)};
}

std::string milliseconds(double seconds) { return fixed(seconds * 1e3, seconds < 1e-3 ? 4 : 2); }

std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string line_of(const std::string& name, const std::array<std::string, 4>& cells) {
  std::size_t width = 0;
  for (const FilterRecord& filter : filters()) width = std::max(width, filter.name.size());
  std::string line = name + std::string(width - std::min(width, name.size()), ' ');
  for (const std::string& cell : cells) line += right(cell, 11);
  return line + "\n";
}

const std::string& name_of(BenchInput input) { return input_names[static_cast<std::size_t>(input)]; }

std::string heading(const Device& device, const Case& timed) {
  return device.info().id + " (" + device.info().name + "), " + describe(timed.picture) + ", " +
         name_of(timed.input) + ", medians of " + std::to_string(bench_repeats) + "\n\n" +
         line_of("filter", {"ms", "GB/s", "of copy", "ns/pixel"});
}

double nanoseconds_per_pixel(const BenchResult& result, const Shape& picture) {
  return result.seconds * 1e9 / (static_cast<double>(picture.width) * static_cast<double>(picture.height));
}

std::string line_of(const Row& row, const Shape& picture) {
  const std::string& name = row.parameters.filter().name;
  if (!row.result) return name + "  refused: " + row.refusal + "\n";
  return line_of(name, {milliseconds(row.result->seconds), fixed(row.result->bytes_per_second() / 1e9, 2),
                        fixed(row.result->share_of_copy() * 100, 1) + " %",
                        fixed(nanoseconds_per_pixel(*row.result, picture), 3)});
}

void add_result(JsonWriter& json, const BenchResult& result, const Shape& picture) {
  json.key("status").string("done");
  json.key("side_inputs").strings(result.side_inputs);
  json.key("bytes").integer(static_cast<long long>(result.bytes));
  json.key("seconds").real(result.seconds);
  json.key("copy_seconds").real(result.copy_seconds);
  json.key("bytes_per_second").real(result.bytes_per_second());
  json.key("share_of_copy").real(result.share_of_copy());
  json.key("nanoseconds_per_pixel").real(nanoseconds_per_pixel(result, picture));
}

void add_row(JsonWriter& json, const Row& row, const Shape& picture) {
  json.begin_object();
  add_filter(json, row.parameters);
  if (row.result)
    add_result(json, *row.result, picture);
  else
    json.key("status").string("refused").key("message").string(row.refusal);
  json.end_object();
}

std::string json_of(const Device& device, const Case& timed, const std::vector<Row>& rows) {
  JsonWriter json;
  json.begin_object();
  json.key("status").string("done").key("exit_code").integer(0);
  add_run(json, device);
  add_device(json, device.info());
  json.key("picture").begin_object().shape(timed.picture).end_object();
  json.key("input").string(name_of(timed.input));
  json.key("repeats").integer(bench_repeats);
  json.key("filters").begin_array();
  for (const Row& row : rows) add_row(json, row, timed.picture);
  json.end_array().end_object();
  return json.text() + "\n";
}

}  // namespace

int run_bench(const CommandSpec& /*command*/, const ParsedLine& line) {
  if (line.arguments.size() > 1)
    throw Error(ErrorKind::usage, "'satin bench' takes one filter; '" + line.arguments[1] +
                                      "' is too much. Pictures and maps are made up.");
  const FilterRecord* one = line.arguments.empty() ? nullptr : &find_filter(line.arguments.front());
  const Case timed = case_of(line);
  const bool json = line.flag("json");
  std::optional<Parameters> own;
  if (one != nullptr) own = parameters_of(*one, line);
  const Device device = open_device(line);

  std::vector<Row> rows;
  const auto add = [&](Row row) {
    if (!json) print((rows.empty() ? heading(device, timed) : "") + line_of(row, timed.picture));
    rows.push_back(std::move(row));
  };
  if (one != nullptr) {
    const std::vector<std::string> side_inputs =
        inputs_where(*one, [&](const InputRecord& input) { return line.flag(input.name); });
    if (side_inputs.empty()) choose_boxes(*own, timed.picture);
    add({*own, bench(device, *own, timed, side_inputs)});
  } else {
    for (const FilterRecord& filter : filters())
      if (filter.output != OutputKind::json) add(time_if_accepted(device, filter, timed));
  }
  if (json) print(json_of(device, timed, rows));
  return exit_good;
}

}  // namespace satin::app
