#include "app/bench_command.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <span>

#include "app/bench.h"
#include "app/json.h"
#include "app/report.h"
#include "app/settings.h"
#include "app/terminal.h"
#include "satin/error.h"
#include "satin/io.h"
#include "satin/param.h"

namespace satin::app {
namespace {

constexpr long longest_side = 1L << 24;

struct Row {
  Parameters parameters;
  std::optional<BenchResult> result;
  std::string refusal{};  ///< where there is no result
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

Shape shape_of(const ParsedLine& line) {
  constexpr std::array types = {Type::u8, Type::u16, Type::f32};
  std::vector<std::string> names(types.size());
  std::transform(types.begin(), types.end(), names.begin(), name_of);

  Shape shape{3840, 2160, 3, Type::u8};
  if (const auto text = line.value("size")) set_size(shape, *text);
  if (const auto text = line.value("type")) shape.type = types.at(parse_choice("--type", *text, names));
  if (const auto text = line.value("channels"))
    shape.channels = static_cast<int>(parse_integer("--channels", *text, 1, 4));
  if (shape.channels % 2 == 0) shape.alpha = Alpha::straight;
  return shape;
}

std::vector<std::string> optional_inputs_of(const FilterRecord& filter, const ParsedLine& line) {
  std::vector<std::string> names;
  for (const InputRecord& input : filter.inputs)
    if (line.flag(input.name)) names.push_back(input.name);
  return names;
}

/// Boxes that nobody named are one in the middle, a quarter of the picture.
void choose_boxes(Parameters& parameters, const Shape& picture) {
  const PixelBox middle{picture.width / 4, picture.height / 4, (picture.width + 1) / 2,
                        (picture.height + 1) / 2};
  for (const ParameterRecord& parameter : parameters.filter().parameters)
    if (parameter.kind == ParameterKind::boxes && parameters.get(parameter.name).empty())
      parameters.set(parameter.name, print_boxes(std::span(&middle, 1)));
}

Row time_if_accepted(const Device& device, const FilterRecord& filter, const Shape& picture) {
  Row row{Parameters(filter), {}};
  choose_boxes(row.parameters, picture);
  try {
    row.result = bench(device, row.parameters, picture, {});
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

std::string heading(const Device& device, const Shape& picture) {
  return device.info().id + " (" + device.info().name + "), " + describe(picture) + ", medians of " +
         std::to_string(bench_repeats) + "\n\n" + line_of("filter", {"ms", "GB/s", "of copy", "ns/pixel"});
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
  json.key("side_inputs").begin_array();
  for (const std::string& name : result.side_inputs) json.string(name);
  json.end_array();
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

std::string json_of(const Device& device, const Shape& picture, const std::vector<Row>& rows) {
  JsonWriter json;
  json.begin_object();
  json.key("status").string("done").key("exit_code").integer(0);
  add_device(json, device.info());
  json.key("picture").begin_object();
  add_shape(json, picture);
  json.end_object();
  json.key("repeats").integer(bench_repeats);
  json.key("filters").begin_array();
  for (const Row& row : rows) add_row(json, row, picture);
  json.end_array().end_object();
  return json.text() + "\n";
}

}  // namespace

const FilterRecord* filter_to_time(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments)
    for (const FilterRecord& filter : filters())
      if (argument == filter.name) return &filter;
  const bool names_one =
      !arguments.empty() && (arguments.front().empty() || arguments.front().front() != '-');
  return names_one ? &find_filter(arguments.front()) : nullptr;
}

void run_bench_command(const ParsedLine& line) {
  if (line.arguments.size() > 1)
    throw Error(ErrorKind::usage, "'satin bench' takes one filter; '" + line.arguments[1] +
                                      "' is too much. Pictures and maps are made up.");
  const FilterRecord* one = line.arguments.empty() ? nullptr : &find_filter(line.arguments.front());
  const Shape picture = shape_of(line);
  const bool json = line.flag("json");
  std::optional<Parameters> own;
  if (one != nullptr) own = parameters_of(*one, line);
  const Device device = Device::open(line.value("device").value_or("auto"), device_options_of(line));

  std::vector<Row> rows;
  const auto add = [&](Row row) {
    if (!json) print((rows.empty() ? heading(device, picture) : "") + line_of(row, picture));
    rows.push_back(std::move(row));
  };
  if (one != nullptr) {
    const std::vector<std::string> side_inputs = optional_inputs_of(*one, line);
    if (side_inputs.empty()) choose_boxes(*own, picture);
    add({*own, bench(device, *own, picture, side_inputs)});
  } else {
    for (const FilterRecord& filter : filters()) add(time_if_accepted(device, filter, picture));
  }
  if (json) print(json_of(device, picture, rows));
}

}  // namespace satin::app
