#include "app/regions_command.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

#include "app/analysis.h"
#include "app/batch_options.h"
#include "app/exit_code.h"
#include "app/option_specs.h"
#include "app/region_files.h"
#include "app/region_overlay.h"
#include "app/report.h"
#include "app/settings.h"
#include "app/terminal.h"
#include "satin/error.h"
#include "satin/filters/threshold.h"
#include "satin/io.h"

namespace satin::app {
namespace {

namespace fs = std::filesystem;

constexpr long most = std::numeric_limits<long>::max();

/// In the order of RegionKey.
const std::vector<std::string> key_names = {"label",  "area", "x",   "y",   "width",
                                            "height", "mean", "min", "max", "deviation"};
/// In the order of RunLengthText.
const std::vector<std::string> run_length_names = {"compressed", "uncompressed", "none"};
const std::vector<std::string> connectivity_names = {"4", "8"};

/// What is done to each mask.
struct Task {
  double level = 0;
  bool invert = false;
  Connectivity connectivity = Connectivity::eight;
  RegionFilter filter;
  RegionKey key = RegionKey::label;
  bool descending = false;
  std::optional<long> limit;
  RunLengthText text = RunLengthText::compressed;
  std::optional<std::string> image_path;
  Image image;  ///< empty if there is none
  std::optional<fs::path> labels, coordinates, overlay;
  bool overwrite = false;
};

std::size_t choice_of(const ParsedLine& line, const std::string& name,
                      const std::vector<std::string>& choices, const std::string& otherwise) {
  return parse_choice("--" + name, line.value(name).value_or(otherwise), choices);
}

/// Sets the lower and the upper bound of one size from --min-NAME and --max-NAME.
void take_bounds(const ParsedLine& line, const std::string& name, std::int64_t& low, std::int64_t& high) {
  if (const auto text = line.value("min-" + name)) low = parse_integer("--min-" + name, *text, 0, most);
  if (const auto text = line.value("max-" + name)) high = parse_integer("--max-" + name, *text, 0, most);
  if (low > high)
    throw Error(ErrorKind::usage, "--min-" + name + " " + std::to_string(low) + " is above --max-" + name +
                                      " " + std::to_string(high) + ": no region can be both.");
}

RegionFilter filter_of(const ParsedLine& line) {
  RegionFilter filter;
  take_bounds(line, "area", filter.min_area, filter.max_area);
  take_bounds(line, "width", filter.min_width, filter.max_width);
  take_bounds(line, "height", filter.min_height, filter.max_height);
  if (line.flag("no-border")) filter.touches_border = false;
  return filter;
}

std::optional<fs::path> path_of(const ParsedLine& line, const std::string& name) {
  const auto text = line.value(name);
  return text ? std::optional<fs::path>(*text) : std::nullopt;
}

Task task_of(const ParsedLine& line) {
  Task task;
  if (const auto text = line.value("level")) task.level = parse_real("--level", *text, -1e30, 1e30);
  task.invert = line.flag("invert");
  task.connectivity = static_cast<Connectivity>(choice_of(line, "connectivity", connectivity_names, "8"));
  task.filter = filter_of(line);
  task.key = static_cast<RegionKey>(choice_of(line, "sort", key_names, "label"));
  task.descending = line.flag("descending");
  if (const auto text = line.value("limit")) task.limit = parse_integer("--limit", *text, 1, most);
  task.text = static_cast<RunLengthText>(choice_of(line, "rle", run_length_names, "compressed"));
  task.image_path = line.value("image");
  task.labels = path_of(line, "labels");
  task.coordinates = path_of(line, "coordinates");
  task.overlay = path_of(line, "overlay");
  task.overwrite = line.flag("overwrite");
  if (task.key >= RegionKey::mean && !task.image_path)
    throw Error(ErrorKind::usage,
                "--sort " + *line.value("sort") + " looks at values: name a picture with --image.");
  return task;
}

Shape one_pixel(int channels, Type type) {
  Shape shape{1, 1, channels};
  shape.type = type;
  return shape;
}

/// Refuses two names for one file among the outputs, and outputs that are inputs.
void check_distinct(const ParsedLine& line, const Task& task) {
  std::vector<fs::path> taken(line.arguments.begin(), line.arguments.end());
  if (task.image_path) taken.emplace_back(*task.image_path);
  for (const auto& output : {path_of(line, "output"), task.labels, task.coordinates, task.overlay}) {
    if (!output) continue;
    for (const fs::path& other : taken)
      if (same_file(*output, other))
        throw Error(ErrorKind::usage, "The output '" + output->string() + "' is the same file as '" +
                                          other.string() + "'.\nName another output.");
    taken.push_back(*output);
  }
}

bool is_one_file(const ParsedLine& line) {
  if (line.arguments.size() != 1 || line.value("files-from")) return false;
  const std::string& name = line.arguments.front();
  const bool is_pattern = name.find_first_of("*?[") != std::string::npos && !fs::exists(name);
  return !is_pattern && !fs::is_directory(name);
}

/// Everything that can be known of the outputs before a mask is read.
void check_outputs(const ParsedLine& line, const Task& task) {
  if (!is_one_file(line) && (task.labels || task.coordinates || task.overlay))
    throw Error(ErrorKind::usage,
                "--labels, --coordinates and --overlay are of one mask: name one, or leave them away.");
  check_distinct(line, task);
  WriteOptions options;
  options.overwrite = task.overwrite;
  if (const auto output = path_of(line, "output"); output && *output != "-")
    check_target(*output, task.overwrite);
  if (task.labels) check_writable(*task.labels, one_pixel(1, Type::u16), options);
  if (task.overlay) check_writable(*task.overlay, one_pixel(3, Type::u8), options);
  if (!task.coordinates) return;
  if (task.coordinates->extension() != ".npy")
    throw Error(ErrorKind::usage, "--coordinates '" + task.coordinates->string() +
                                      "': an array of numbers is written as .npy. Name such a file.");
  check_writable(*task.coordinates, one_pixel(1, Type::u32), options);
}

Image mask_of(const Device& device, const Image& picture, const Task& task) {
  Threshold level;
  level.method = Binarisation::fixed;
  level.level = task.level;
  level.invert = task.invert;
  return threshold(device, picture, level);
}

/// Keeps what passes the filter and stands among the first by the key, numbered from 1 in raster order.
void choose(const Device& device, Regions& regions, const Task& task) {
  std::vector<Region>& list = regions.regions;
  std::erase_if(list, [&](const Region& region) { return !passes(region, task.filter); });
  if (task.limit && list.size() > static_cast<std::size_t>(*task.limit)) {
    sort_by(list, task.key, task.descending);
    list.resize(static_cast<std::size_t>(*task.limit));
    sort_by(list, RegionKey::label);
  }
  renumber(device, regions);
  sort_by(list, task.key, task.descending);
}

std::vector<RunLengths> run_lengths_of(const Regions& regions) {
  std::vector<std::uint32_t> labels;
  labels.reserve(regions.regions.size());
  for (const Region& region : regions.regions) labels.push_back(region.label);
  return encode_run_lengths(regions.labels, labels);
}

void add_regions(JsonWriter& json, const std::string& name, const Shape& shape, const Task& task,
                 std::size_t found, const Regions& regions) {
  json.key("image").begin_object();
  json.key("input").string(name);
  add_shape(json, shape);
  json.key("level").real(task.level);
  json.key("inverted").boolean(task.invert);
  json.key("connectivity").integer(task.connectivity == Connectivity::four ? 4 : 8);
  if (task.image_path) json.key("values_of").string(*task.image_path);
  json.key("found").integer(static_cast<long long>(found));
  json.end_object();
  std::vector<RunLengths> runs;
  if (task.text != RunLengthText::none) runs = run_lengths_of(regions);
  json.key("regions").begin_array();
  for (std::size_t i = 0; i < regions.regions.size(); ++i)
    add_region(json, regions.regions[i], runs.empty() ? nullptr : &runs[i], task.text);
  json.end_array();
}

void do_mask(const Device& device, const std::string& name, const Image& picture, const Task& task,
             JsonWriter& json) {
  RegionsOptions options;
  options.connectivity = task.connectivity;
  if (!task.image.empty()) options.image = task.image.view();
  Regions regions = find_regions(device, mask_of(device, picture, task), options);
  const std::size_t found = regions.regions.size();
  choose(device, regions, task);
  if (task.labels) write_labels(*task.labels, regions, task.overwrite);
  if (task.coordinates) write_coordinates(*task.coordinates, regions, task.overwrite);
  if (task.overlay) {
    WriteOptions write;
    write.overwrite = task.overwrite;
    write_image(*task.overlay, region_overlay(task.image.empty() ? picture : task.image, regions.regions),
                write);
  }
  add_regions(json, name, picture.shape(), task, found, regions);
}

void deliver(const ParsedLine& line, const std::string& text, bool overwrite) {
  const auto path = path_of(line, "output");
  if (!path || *path == "-") return print(text);
  write_file(*path, std::as_bytes(std::span(text)), overwrite);
}

int do_one(const ParsedLine& line, const Device& device, const Task& task) {
  const BatchFile input = find_pictures(input_options_of(line)).front();
  if (input.problem) throw Error(*input.problem);
  JsonWriter json;
  json.begin_object();
  do_mask(device, input.input.string(), read_picture(input.input, read_options_of(line)).image, task, json);
  deliver(line, json.end_object().text() + "\n", task.overwrite);
  return exit_good;
}

int do_several(const ParsedLine& line, const Device& device, const Task& task) {
  JsonWriter json;
  json.begin_object().key("files").begin_array();
  const int code = for_each_picture(line, &json, [&](const BatchFile& file, const Image& picture) {
    do_mask(device, file.input.string(), picture, task, json);
  });
  json.end_array().key("exit_code").integer(code);
  deliver(line, json.end_object().text() + "\n", task.overwrite);
  return code;
}

int run(const ParsedLine& line) {
  Task task = task_of(line);
  check_outputs(line, task);
  const Device device = open_device(line);
  if (task.image_path) task.image = read_picture(*task.image_path, read_options_of(line)).image;
  return is_one_file(line) ? do_one(line, device, task) : do_several(line, device, task);
}

OptionSpec with_default(OptionSpec option, const std::string& text) {
  option.default_text = text;
  return option;
}

OptionSpec choice(const std::string& name, const std::vector<std::string>& choices, const std::string& text,
                  const std::string& help) {
  OptionSpec option = with_default(valued(name, "NAME", help), text);
  option.choices = choices;
  return option;
}

OptionGroup mask_options() {
  return {"Regions",
          {choice("connectivity", connectivity_names, "8",
                  "neighbours of a pixel: those that share a side, or a corner too"),
           with_default(valued("level", "X", "inside is what is above, as a fraction of white"), "0"),
           flag("invert", "inside is what is not above"),
           file("image", "give mean, extremes and deviation of this picture under every region")}};
}

OptionGroup choosing_options() {
  std::vector<OptionSpec> options;
  for (const auto& [name, unit] : std::array<std::pair<std::string, std::string>, 3>{
           {{"area", "pixels"}, {"width", "px"}, {"height", "px"}}})
    for (const char* end : {"min-", "max-"}) {
      options.push_back(valued(end + name, "N", (end[1] == 'i' ? "least " : "largest ") + name + " to keep"));
      options.back().unit = unit;
    }
  options.push_back(flag("no-border", "drop regions that touch the border of the picture"));
  options.push_back(choice("sort", key_names, "label", "order of the list; values: of the first channel"));
  options.push_back(flag("descending", "the largest first"));
  options.push_back(valued("limit", "N", "keep the first N in this order"));
  options.back().range = "1 or more";
  return {"Choosing", std::move(options)};
}

OptionGroup result_options() {
  OptionSpec output = file("output", "file for the JSON, or - for standard output", 'o');
  output.default_text = "-";
  return {"Results",
          {output, choice("rle", run_length_names, "compressed", "run lengths as COCO has them"),
           file("labels", "write the label of every pixel, 0 outside: 16 bits, 32 above 65535 regions"),
           file("coordinates", "write label, x and y of every pixel inside as rows of a .npy file"),
           file("overlay", "draw boxes and labels over the image, or over the mask")}};
}

}  // namespace

CommandSpec regions_command() {
  CommandSpec command;
  command.name = "regions";
  command.help = "connected areas of a mask: place, size, values and run lengths, as JSON";
  command.usage = "MASK... [-o regions.json] [options]";
  command.details =
      "Labels count from 1 in the raster order of the first pixels of the regions that are kept, whatever "
      "the\n"
      "list is sorted by; pixels of the others are 0 in the label picture. Colours of a mask count by their\n"
      "luminance. Several masks or a folder give {\"files\": [...]}, an object for each.";
  command.takes_files = true;
  command.run = run;
  std::vector<OptionSpec> own = input_options();
  own.push_back(flag("overwrite", "replace outputs that exist"));
  command.groups = {mask_options(), choosing_options(), result_options(),
                    analysis_options(std::move(own), "print errors as JSON too")};
  return command;
}

}  // namespace satin::app
