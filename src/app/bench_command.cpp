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
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

/// Memory layout of the pictures of a measurement.
struct Layout {
  std::string_view name = "RGB";
  int channels = 3;
  int unused_channels = 0;          ///< values between a pixel and the next one
  std::int64_t unused_columns = 0;  ///< pixels between a row and the next one
  bool is_planar = false;           ///< whether each channel has a plane
};

// Columns and rows of the matrix of --types.
constexpr std::array layouts = {Layout{"grey", 1},         Layout{"RGB", 3},
                                Layout{"RGBA", 4},         Layout{"RGBX", 3, 1},
                                Layout{"pitch", 3, 0, 64}, Layout{"planar", 3, 0, 0, true}};
constexpr std::array bench_types = {Type::u8, Type::u16, Type::f32};

constexpr int bench_repeats = 11;
constexpr int cell_repeats = 5;
// Shortest repeats, long beside the cost of a synchronisation.
constexpr double least_seconds = 0.005;
constexpr double least_cell_seconds = 0.001;

struct BenchResult {
  std::size_t bytes = 0;    ///< bytes that must move: the inputs read once, the output written once
  double seconds = 0;       ///< median time of one run
  double copy_seconds = 0;  ///< median time of a copy that reads half the bytes and writes the other half

  [[nodiscard]] double bytes_per_second() const noexcept { return static_cast<double>(bytes) / seconds; }
  [[nodiscard]] double share_of_copy() const noexcept { return copy_seconds / seconds; }
};

struct Case {
  Shape picture{3840, 2160, 3, Type::u8};
  BenchInput input = BenchInput::photograph;
  Layout layout{};  ///< layout of the picture and of an output with as many channels
};

/// Time for one picture of the matrix; NaN if the filter refuses it.
struct Cell {
  Type type;
  std::string_view layout;
  double seconds = std::nan("");  ///< fastest repeat
  double ratio = std::nan("");    ///< to packed RGB u8, or to grey u8 if the filter refuses RGB
};

struct Row {
  Parameters parameters;
  std::vector<std::string> side_inputs{};  ///< names of the synthetic side inputs
  std::optional<BenchResult> result{};
  std::string refusal{};      ///< why there is no result
  std::vector<Cell> cells{};  ///< empty without --types
};

const std::vector<std::string> input_names = {"photograph", "noise"};  // in the order of BenchInput

using Clock = std::chrono::steady_clock;

constexpr std::size_t rotated_bytes = std::size_t{256} << 20;  // more than caches hold
constexpr std::size_t most_sets = 16;
constexpr double most_runs = 1000;

/// Makes the host pictures: the one to filter, then the side inputs in the order of the record, empty if not
/// used.
std::vector<Image> make_inputs(const Row& row, const Case& timed) {
  std::vector<Image> inputs;
  inputs.push_back(bench_picture(timed.input, timed.picture));
  for (const InputRecord& input : row.parameters.filter().inputs) {
    const bool used = std::ranges::find(row.side_inputs, input.name) != row.side_inputs.end();
    inputs.push_back(used ? bench_side_input(timed.input, input.role, timed.picture) : Image());
  }
  return inputs;
}

Plan plan_of(const Device& device, const Row& row, const std::vector<Image>& inputs) {
  std::vector<Shape> shapes(inputs.size());
  std::ranges::transform(inputs, shapes.begin(), &Image::shape);
  return plan(device, row.parameters, shapes);
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
  std::vector<Image> memory;
  std::vector<ImageView> inputs;
  MutableImageView output;
  Image copy_source;
  Image copy_target;
};

/// Returns uninitialised pixels in new memory of the set, or nothing for an empty shape.
MutableImageView place(WorkingSet& set, const Device& device, const Shape& shape, const Layout& layout) {
  if (shape.width == 0) return {};
  const bool planar = layout.is_planar;
  const Shape around{shape.width + layout.unused_columns,
                     planar ? shape.height * shape.channels : shape.height,
                     planar ? 1 : shape.channels + layout.unused_channels, shape.type};
  MutableImageView view = set.memory.emplace_back(device.allocate(around)).view();
  view.shape = shape;
  if (planar) view.strides = planar_strides(shape);
  return view;
}

/// A function that runs repeatedly, on one working set after the other.
class Timed {
 public:
  Timed(const Device& device, std::span<WorkingSet> sets, double shortest,
        std::function<void(WorkingSet&)> run)
      : device_(device), sets_(sets), run_(std::move(run)) {
    static_cast<void>(seconds_of(sets_.size()));
    const double expected = seconds_of(std::min<std::size_t>(sets_.size(), 4));
    runs_ = static_cast<std::size_t>(std::clamp(shortest / expected, 1.0, most_runs));
  }

  /// Returns the seconds of one run.
  double repeat() { return seconds_of(runs_); }

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
};

/// Repeats both in turns, so that they see the same state of the machine, and returns the seconds of each in
/// ascending order.
std::array<std::vector<double>, 2> take_turns(Timed& one, Timed& other, int repeats) {
  std::array<std::vector<double>, 2> seconds;
  for (int i = 0; i < repeats; ++i) {
    seconds[0].push_back(one.repeat());
    seconds[1].push_back(other.repeat());
  }
  for (std::vector<double>& each : seconds) std::ranges::sort(each);
  return seconds;
}

std::size_t bytes_to_move(const std::vector<Image>& inputs, const Shape& output) {
  std::size_t bytes = byte_size(output);
  for (const Image& input : inputs) bytes += input.empty() ? 0 : byte_size(input.shape());
  return bytes;
}

std::vector<WorkingSet> working_sets(const Device& device, const std::vector<Image>& inputs,
                                     const Shape& output, const Layout& layout) {
  std::vector<WorkingSet> sets(
      std::clamp<std::size_t>(rotated_bytes / bytes_to_move(inputs, output) + 1, 2, most_sets));
  for (WorkingSet& set : sets) {
    for (const Image& input : inputs) {
      const MutableImageView view = place(set, device, input.shape(), set.inputs.empty() ? layout : Layout{});
      if (!input.empty()) device.copy(device.upload(input), view);
      set.inputs.emplace_back(view);
    }
    set.output = place(set, device, output, output.channels == layout.channels ? layout : Layout{});
  }
  return sets;
}

/// A filter that is prepared for a case, with all pictures in the device's memory. Runs rotate through
/// several pictures, so that only tiny pictures stay in a cache.
struct TimedFilter {
  std::vector<Image> inputs;  ///< in host memory
  Plan plan;
  std::vector<WorkingSet> sets;
  Timed runs;

  /// Throws Error(usage) if the filter refuses the picture.
  TimedFilter(const Device& device, const Row& row, const Case& timed, double shortest)
      : inputs(make_inputs(row, timed)),
        plan(plan_of(device, row, inputs)),
        sets(working_sets(device, inputs, plan.output_shape(), timed.layout)),
        runs(device, sets, shortest, [this](WorkingSet& set) { plan.run(set.inputs, set.output); }) {
    static_cast<void>(plan.check());
  }
  TimedFilter(const TimedFilter&) = delete;  // `runs` refers to the other members
};

/// Returns null and sets the reason if the filter refuses the picture.
std::unique_ptr<TimedFilter> prepare(const Device& device, const Row& row, const Case& timed, double shortest,
                                     std::string& refusal) {
  try {
    return std::make_unique<TimedFilter>(device, row, timed, shortest);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    refusal = error.what();
    return nullptr;
  }
}

/// Times a case beside copies, unless the filter refuses it.
void bench(const Device& device, const Case& timed, Row& row) {
  const std::unique_ptr<TimedFilter> filter = prepare(device, row, timed, least_seconds, row.refusal);
  if (filter == nullptr) return;
  BenchResult& result = row.result.emplace();
  result.bytes = bytes_to_move(filter->inputs, filter->plan.output_shape());
  const Image copied = bench_picture(BenchInput::noise, copied_shape(result.bytes / 2));
  for (WorkingSet& set : filter->sets) {
    set.copy_source = device.upload(copied);
    set.copy_target = device.allocate(copied.shape());
  }
  Timed copying(device, filter->sets, least_seconds,
                [&](WorkingSet& set) { device.copy(set.copy_source.view(), set.copy_target.view()); });
  const auto [runs, copies] = take_turns(filter->runs, copying, bench_repeats);
  result.seconds = runs[runs.size() / 2];
  const auto copied_bytes = static_cast<double>(2 * byte_size(copied.shape()));
  result.copy_seconds = copies[copies.size() / 2] * static_cast<double>(result.bytes) / copied_bytes;
}

constexpr long longest_side = 1L << 24;

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

void set_format(Shape& shape, Type type, int channels) {
  shape.type = type;
  shape.channels = channels;
  shape.alpha = channels % 2 == 0 ? Alpha::straight : Alpha::none;
}

Case case_of(const ParsedLine& line) {
  static const std::vector<std::string> names = {"u8", "u16", "f32"};  // in the order of bench_types
  if (line.flag("types") && (line.value("type") || line.value("channels")))
    throw Error(ErrorKind::usage, "--types times every type and layout: leave out --type and --channels.");
  Case timed;
  Shape& shape = timed.picture;
  if (const auto text = line.value("size")) set_size(shape, *text);
  const auto type = line.value("type"), channels = line.value("channels");
  set_format(shape, type ? bench_types.at(parse_choice("--type", *type, names)) : shape.type,
             channels ? static_cast<int>(parse_integer("--channels", *channels, 1, 4)) : shape.channels);
  if (const auto text = line.value("input"))
    timed.input = static_cast<BenchInput>(parse_choice("--input", *text, input_names));
  return timed;
}

/// Sets what has no default: a box in the middle that covers a quarter of the picture, a square, half the
/// size (--size is the picture's).
void complete(Parameters& parameters, const Shape& picture) {
  const PixelBox middle{picture.width / 4, picture.height / 4, (picture.width + 1) / 2,
                        (picture.height + 1) / 2};
  for (const ParameterRecord& parameter : parameters.filter().parameters) {
    if (parameter.kind == ParameterKind::boxes && parameters.get(parameter.name).empty())
      parameters.set(parameter.name, print_boxes(std::span(&middle, 1)));
    if (parameter.kind == ParameterKind::ratio && parameters.get(parameter.name).empty() &&
        parameters.get(parameter.instead_of).empty())
      parameters.set(parameter.name, "1:1");
    if (parameter.kind == ParameterKind::size) parameters.set(parameter.name, "50%");
  }
}

/// Times the matrix of --types, each cell in turns with the base: on a busy machine the fastest repeats are
/// the ones that compare. All cells are NaN if the base is refused.
std::vector<Cell> time_types(const Device& device, const Row& row, const Case& timed) {
  const auto prepared = [&](Type type, const Layout& layout) {
    Case own{timed.picture, timed.input, layout};
    set_format(own.picture, type, layout.channels);
    std::string ignored;
    return prepare(device, row, own, least_cell_seconds, ignored);
  };
  const Layout& base_layout = layouts[row.result ? 1 : 0];
  const std::unique_ptr<TimedFilter> base = prepared(Type::u8, base_layout);
  std::vector<Cell> cells;
  for (const Type type : bench_types)
    for (const Layout& layout : layouts) {
      Cell& cell = cells.emplace_back(Cell{type, layout.name});
      const std::unique_ptr<TimedFilter> other = base != nullptr ? prepared(type, layout) : nullptr;
      if (other == nullptr) continue;
      const auto [base_seconds, seconds] = take_turns(base->runs, other->runs, cell_repeats);
      cell.seconds = seconds.front();
      cell.ratio = type == Type::u8 && &layout == &base_layout ? 1 : cell.seconds / base_seconds.front();
    }
  return cells;
}

/// Returns the filters to time: the named one, or all that make a picture or a table.
std::vector<Row> rows_of(const ParsedLine& line, const Shape& picture) {
  const bool named = !line.arguments.empty();
  std::vector<Row> rows;
  for (const FilterRecord& filter : filters()) {
    if (named ? filter.name != line.arguments.front() : filter.output == OutputKind::json) continue;
    Row& row = rows.emplace_back(Row{named ? parameters_of(filter, line) : Parameters(filter)});
    for (const InputRecord& input : filter.inputs)
      if (input.required || (named ? line.flag(input.name) : input.role == Role::depth))
        row.side_inputs.push_back(input.name);
    if (!named || row.side_inputs.empty()) complete(row.parameters, picture);
  }
  return rows;
}

/// Returns "-" for NaN.
std::string fixed(double value, int digits) {
  if (std::isnan(value)) return "-";
  std::array<char, 64> text{};
  const int size = std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return {text.data(), std::min(static_cast<std::size_t>(size), text.size() - 1)};
}

std::string milliseconds(double seconds) { return fixed(seconds * 1e3, seconds < 1e-3 ? 4 : 2); }

std::string line_of(const std::string& name, const std::vector<std::string>& cells) {
  std::size_t width = 0;
  for (const FilterRecord& filter : filters()) width = std::max(width, filter.name.size());
  std::string line = name + std::string(width - std::min(width, name.size()), ' ');
  constexpr std::size_t column = 11;
  for (const std::string& cell : cells)
    line += std::string(column - std::min(column, cell.size()), ' ') + cell;
  return line + "\n";
}

const std::string& name_of(BenchInput input) { return input_names[static_cast<std::size_t>(input)]; }

std::string heading(const Device& device, const Case& timed, bool types) {
  const std::string picture = device.info().id + " (" + device.info().name + "), " + describe(timed.picture) +
                              ", " + name_of(timed.input);
  std::vector<std::string> titles{"ms", "GB/s", "of copy", "ns/pixel"};
  if (!types)
    return picture + ", medians of " + std::to_string(bench_repeats) + "\n\n" + line_of("filter", titles);
  titles = {"type", "ms"};
  for (const Layout& layout : layouts) titles.emplace_back(layout.name);
  return picture + "; ms of packed RGB (grey if RGB is refused), and all times as multiples of u8's\n\n" +
         line_of("filter", titles);
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

/// Returns the lines of the matrix.
std::string lines_of_types(const Row& row) {
  std::string lines;
  for (std::size_t start = 0; start < row.cells.size(); start += layouts.size()) {
    const std::span cells = std::span(row.cells).subspan(start, layouts.size());
    std::vector<std::string> texts{name_of(cells.front().type),
                                   milliseconds(cells[row.result ? 1 : 0].seconds)};
    for (const Cell& cell : cells) texts.push_back(fixed(cell.ratio, 2));
    lines += line_of(row.parameters.filter().name, texts);
  }
  return lines;
}

void add_row(JsonWriter& json, const Row& row, const Shape& picture) {
  json.begin_object();
  add_filter(json, row.parameters);
  json.key("status").string(row.result ? "done" : "refused");
  if (row.result) {
    json.key("side_inputs").strings(row.side_inputs);
    json.key("bytes").integer(static_cast<long long>(row.result->bytes));
    json.key("seconds").real(row.result->seconds);
    json.key("copy_seconds").real(row.result->copy_seconds);
    json.key("bytes_per_second").real(row.result->bytes_per_second());
    json.key("share_of_copy").real(row.result->share_of_copy());
    json.key("nanoseconds_per_pixel").real(nanoseconds_per_pixel(*row.result, picture));
  } else {
    json.key("message").string(row.refusal);
  }
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
  json.key("filters").array(rows, [&](const Row& row) { add_row(json, row, timed.picture); });
  if (!rows.front().cells.empty()) {
    json.key("types").begin_array();
    for (const Row& row : rows)
      for (const Cell& cell : row.cells) {
        json.begin_object().key("filter").string(row.parameters.filter().name);
        json.key("type").string(name_of(cell.type)).key("layout").string(cell.layout);
        json.key("seconds").real(cell.seconds).key("ratio").real(cell.ratio).end_object();
      }
    json.end_array();
  }
  json.end_object();
  return json.text() + "\n";
}

}  // namespace

int run_bench(const CommandSpec& /*command*/, const ParsedLine& line) {
  if (line.arguments.size() > 1)
    throw Error(ErrorKind::usage, "'satin bench' takes one filter; '" + line.arguments[1] +
                                      "' is too much. Pictures and maps are made up.");
  const bool named = !line.arguments.empty();
  if (named) static_cast<void>(find_filter(line.arguments.front()));
  const Case timed = case_of(line);
  const bool json = line.flag("json"), types = line.flag("types");
  std::vector<Row> rows = rows_of(line, timed.picture);
  const Device device = open_device(line);

  for (Row& row : rows) {
    bench(device, timed, row);
    if (types) row.cells = time_types(device, row, timed);
    const bool is_refused = row.cells.empty() || std::isnan(row.cells.front().seconds);
    if (named && !row.result && is_refused) throw Error(ErrorKind::usage, row.refusal);
    if (json) continue;
    if (&row == &rows.front()) print(heading(device, timed, types));
    print(types ? lines_of_types(row) : line_of(row, timed.picture));
  }
  if (json) print(json_of(device, timed, rows));
  return exit_good;
}

}  // namespace satin::app
