#include "app/bench.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "satin/plan.h"

namespace satin::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t rotated_bytes = std::size_t{256} << 20;  // more than caches hold
constexpr std::size_t most_turns = 16;
constexpr double least_seconds = 0.005;  // of a repeat: beside it, what synchronising costs is little
constexpr double most_runs = 1000;

/// Numbers in 0..1 where the type is real, otherwise every value.
Image random_picture(const Shape& shape) {
  Image image(shape);
  std::uint32_t state = 1;
  const auto next = [&state] { return (state = state * 1664525U + 1013904223U) >> 8U; };
  const std::size_t bytes = byte_size(shape);
  if (shape.type == Type::f32)
    std::generate_n(image.view().row<float>(0), bytes / sizeof(float),
                    [&] { return static_cast<float>(next()) / 0x1p24F; });
  else
    std::generate_n(image.data(), bytes, [&] { return static_cast<std::byte>(next() >> 16U); });
  return image;
}

/// Soft patches that hold every value: a map as people draw them.
Image patches(const Shape& picture) {
  Image image(Shape{picture.width, picture.height, 1, Type::u8});
  for (std::int64_t y = 0; y < picture.height; ++y) {
    std::uint8_t* row = image.view().row<std::uint8_t>(y);
    for (std::int64_t x = 0; x < picture.width; ++x) row[x] = static_cast<std::uint8_t>(x / 16 + y / 9);
  }
  return image;
}

/// Host pictures: the one to filter, then the side inputs in the order of the record, empty if not used.
std::vector<Image> make_inputs(const FilterRecord& filter, const Shape& picture,
                               const std::vector<std::string>& optional_inputs) {
  std::vector<Image> inputs;
  inputs.push_back(random_picture(picture));
  for (const InputRecord& input : filter.inputs) {
    const bool used = input.required || std::find(optional_inputs.begin(), optional_inputs.end(),
                                                  input.name) != optional_inputs.end();
    inputs.push_back(used ? patches(picture) : Image());
  }
  return inputs;
}

std::vector<std::string> names_of_used(const FilterRecord& filter, const std::vector<Image>& inputs) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < filter.inputs.size(); ++i)
    if (!inputs[i + 1].empty()) names.push_back(filter.inputs[i].name);
  return names;
}

/// A picture with at most `bytes` bytes, and nearly as many, in rows that are copied fast.
Shape copied_shape(std::size_t bytes) {
  constexpr std::int64_t row = 16384;
  const auto wanted = std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes));
  const std::int64_t width = std::min(wanted, row);
  return {width, wanted / width};
}

/// What one run works on, in the device's memory.
struct Turn {
  std::vector<Image> inputs;
  std::vector<ImageView> views;
  Image output;
  Image copy_source;
  Image copy_target;
};

Turn make_turn(const Device& device, const std::vector<Image>& inputs, const Shape& output,
               const Image& copy_source) {
  Turn turn;
  for (const Image& input : inputs) {
    turn.inputs.push_back(input.empty() ? Image() : device.upload(input));
    turn.views.push_back(input.empty() ? ImageView() : turn.inputs.back().view());
  }
  turn.output = device.allocate(output);
  turn.copy_source = device.upload(copy_source);
  turn.copy_target = device.allocate(copy_source.shape());
  return turn;
}

/// Something that is run again and again, on each turn after the other.
class Timed {
 public:
  Timed(const Device& device, std::span<Turn> turns, std::function<void(Turn&)> run)
      : device_(device), turns_(turns), run_(std::move(run)) {
    static_cast<void>(seconds_of(turns_.size()));
    const double expected = seconds_of(turns_.size());
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
    for (std::size_t i = 0; i < runs; ++i) run_(turns_[next_++ % turns_.size()]);
    device_.synchronize();
    return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(runs);
  }

  const Device& device_;
  std::span<Turn> turns_;
  std::function<void(Turn&)> run_;
  std::size_t next_ = 0;
  std::size_t runs_ = 1;
  std::vector<double> seconds_;
};

std::size_t bytes_to_move(const std::vector<Image>& inputs, const Shape& output) {
  std::size_t bytes = byte_size(output);
  for (const Image& input : inputs) bytes += input.empty() ? 0 : byte_size(input.shape());
  return bytes;
}

std::vector<Turn> make_turns(const Device& device, const std::vector<Image>& inputs, const Shape& output) {
  const std::size_t bytes = bytes_to_move(inputs, output);
  const Image copy_source = random_picture(copied_shape(bytes / 2));
  std::vector<Turn> turns(std::clamp<std::size_t>(rotated_bytes / bytes + 1, 2, most_turns));
  for (Turn& turn : turns) turn = make_turn(device, inputs, output, copy_source);
  return turns;
}

}  // namespace

BenchResult bench(const Device& device, const Parameters& parameters, const Shape& picture,
                  const std::vector<std::string>& optional_inputs) {
  const std::vector<Image> inputs = make_inputs(parameters.filter(), picture, optional_inputs);
  std::vector<Shape> shapes(inputs.size());
  std::transform(inputs.begin(), inputs.end(), shapes.begin(),
                 [](const Image& input) { return input.shape(); });
  Plan plan = satin::plan(device, parameters, shapes);
  std::vector<Turn> turns = make_turns(device, inputs, plan.output_shape());

  Timed filtering(device, turns, [&](Turn& turn) { plan.run(turn.views, turn.output.view()); });
  static_cast<void>(plan.check());
  Timed copying(device, turns,
                [&](Turn& turn) { device.copy(turn.copy_source.view(), turn.copy_target.view()); });
  for (int i = 0; i < bench_repeats; ++i) {
    filtering.repeat();
    copying.repeat();
  }

  BenchResult result;
  result.side_inputs = names_of_used(parameters.filter(), inputs);
  result.bytes = bytes_to_move(inputs, plan.output_shape());
  result.seconds = filtering.median();
  const std::size_t copied = 2 * byte_size(turns[0].copy_source.shape());
  result.copy_seconds = copying.median() * static_cast<double>(result.bytes) / static_cast<double>(copied);
  return result;
}

}  // namespace satin::app
