// satin regions: prints the regions of masks as JSON, and writes them as label pictures, arrays of
// coordinates and overlays.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/analysis.h"
#include "app/interrupt.h"
#include "app/options.h"
#include "app/report.h"
#include "satin/error.h"
#include "satin/image.h"
#include "satin/io.h"
#include "satin/regions.h"

namespace satin::app {
namespace {

using Colour = std::array<std::uint8_t, 3>;

constexpr std::int64_t readable_side = 600;
constexpr double pixels_per_unit = 1000;  ///< length of the longer side for which lines are one pixel wide

constexpr Colour dark = {16, 16, 16};
constexpr std::array<Colour, 6> bright = {
    {{255, 225, 0}, {0, 220, 255}, {120, 255, 60}, {255, 150, 30}, {255, 130, 205}, {190, 165, 255}}};

constexpr std::int64_t digit_width = 5;
constexpr std::int64_t digit_height = 7;
/// The rows of the digits, from the top; a bit for each pixel, the leftmost is 16.
constexpr std::uint8_t digits[10][digit_height] = {
    {0x0E, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0E}, {0x04, 0x0C, 0x04, 0x04, 0x04, 0x04, 0x0E},
    {0x0E, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1F}, {0x0E, 0x11, 0x01, 0x06, 0x01, 0x11, 0x0E},
    {0x02, 0x06, 0x0A, 0x12, 0x1F, 0x02, 0x02}, {0x1F, 0x10, 0x1E, 0x01, 0x01, 0x11, 0x0E},
    {0x0E, 0x10, 0x10, 0x1E, 0x11, 0x11, 0x0E}, {0x1F, 0x01, 0x02, 0x02, 0x04, 0x04, 0x04},
    {0x0E, 0x11, 0x11, 0x0E, 0x11, 0x11, 0x0E}, {0x0E, 0x11, 0x11, 0x0F, 0x01, 0x01, 0x0E},
};

/// Columns [left, right) and rows [top, bottom).
struct Rectangle {
  std::int64_t left;
  std::int64_t top;
  std::int64_t right;
  std::int64_t bottom;

  [[nodiscard]] Rectangle grown(std::int64_t by) const {
    return {left - by, top - by, right + by, bottom + by};
  }
  [[nodiscard]] Rectangle within(const Shape& shape) const {
    return {std::clamp<std::int64_t>(left, 0, shape.width), std::clamp<std::int64_t>(top, 0, shape.height),
            std::clamp<std::int64_t>(right, 0, shape.width),
            std::clamp<std::int64_t>(bottom, 0, shape.height)};
  }
};

/// Encodes linear light from 0 to 1 as sRGB with 8 bits.
std::uint8_t encoded(float light) {
  const double value = std::isnan(light) ? 0 : std::clamp<double>(light, 0, 1);
  const double code = value <= 0.0031308 ? 12.92 * value : 1.055 * std::pow(value, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255 * code));
}

std::uint8_t eight_bits(const ImageView& view, std::int64_t x, std::int64_t y, int channel) {
  switch (view.shape.type) {
    case Type::u8:
      return view.value<std::uint8_t>(x, y, channel);
    case Type::u16:
      return static_cast<std::uint8_t>((view.value<std::uint16_t>(x, y, channel) + 128) / 257);
    default:
      return encoded(view.value<float>(x, y, channel));
  }
}

Image magnified(const ImageView& picture, std::int64_t factor) {
  const Shape& from = picture.shape;
  Image result({from.width * factor, from.height * factor, 3});
  const MutableImageView to = result.view();
  const auto row_bytes = static_cast<std::size_t>(to.strides.row);
  for (std::int64_t y = 0; y < from.height; ++y) {
    auto* pixel = to.row<std::uint8_t>(y * factor);
    for (std::int64_t x = 0; x < from.width; ++x) {
      Colour colour{};
      for (int c = 0; c < 3; ++c)
        colour[static_cast<std::size_t>(c)] = eight_bits(picture, x, y, from.channels >= 3 ? c : 0);
      for (std::int64_t i = 0; i < factor; ++i) pixel = std::copy(colour.begin(), colour.end(), pixel);
    }
    for (std::int64_t i = 1; i < factor; ++i)
      std::memcpy(to.at(0, y * factor + i), to.at(0, y * factor), row_bytes);
  }
  return result;
}

class Canvas {
 public:
  explicit Canvas(Image& image)
      : view_(image.view()),
        unit_(std::max<std::int64_t>(
            1, std::llround(static_cast<double>(std::max(image.shape().width, image.shape().height)) /
                            pixels_per_unit))) {}

  /// Draws a bright line around the box and a dark line around that, both inside the picture.
  void outline(const Rectangle& box, const Colour& colour) {
    ring(box.grown(2 * unit_).within(view_.shape), 2 * unit_, dark);
    ring(box.grown(unit_).within(view_.shape), unit_, colour);
  }

  /// Draws the number above the box, in its upper corner, or at the nearest place inside the picture.
  void number(const Rectangle& box, std::uint32_t label, const Colour& colour) {
    const std::string text = std::to_string(label);
    const auto dots = static_cast<std::int64_t>(text.size()) * (digit_width + 1) + 1;
    const bool roomy = 3 * dots * unit_ <= box.right - box.left;  // many small boxes lie close together
    const std::int64_t dot = roomy ? 2 * unit_ : unit_;
    const std::int64_t width = dots * dot;
    const std::int64_t height = (digit_height + 2) * dot;
    std::int64_t left = box.left - unit_;
    std::int64_t top = box.top - unit_ - height;
    if (top < unit_) top = 2 * height < box.bottom - box.top ? box.top : box.bottom + unit_;
    left = std::clamp<std::int64_t>(left, 0, std::max<std::int64_t>(0, view_.shape.width - width));
    top = std::clamp<std::int64_t>(top, 0, std::max<std::int64_t>(0, view_.shape.height - height));
    const Rectangle plate{left, top, left + width, top + height};
    fill(plate.grown(unit_), dark);
    fill(plate, colour);
    for (std::size_t i = 0; i < text.size(); ++i)
      digit(left + (static_cast<std::int64_t>(i) * (digit_width + 1) + 1) * dot, top + dot, text[i], dot);
  }

 private:
  void fill(const Rectangle& wanted, const Colour& colour) {
    const Rectangle area = wanted.within(view_.shape);
    for (std::int64_t y = area.top; y < area.bottom; ++y) {
      auto* pixel = &view_.value<std::uint8_t>(area.left, y);
      for (std::int64_t x = area.left; x < area.right; ++x)
        pixel = std::copy(colour.begin(), colour.end(), pixel);
    }
  }

  void ring(const Rectangle& outer, std::int64_t thickness, const Colour& colour) {
    const std::int64_t across = std::min(thickness, outer.right - outer.left);
    const std::int64_t down = std::min(thickness, outer.bottom - outer.top);
    fill({outer.left, outer.top, outer.right, outer.top + down}, colour);
    fill({outer.left, outer.bottom - down, outer.right, outer.bottom}, colour);
    fill({outer.left, outer.top, outer.left + across, outer.bottom}, colour);
    fill({outer.right - across, outer.top, outer.right, outer.bottom}, colour);
  }

  void digit(std::int64_t left, std::int64_t top, char character, std::int64_t dot) {
    const std::uint8_t* const rows = digits[character - '0'];
    for (std::int64_t y = 0; y < digit_height; ++y)
      for (std::int64_t x = 0; x < digit_width; ++x)
        if ((rows[y] >> (digit_width - 1 - x) & 1) != 0)
          fill({left + x * dot, top + y * dot, left + (x + 1) * dot, top + (y + 1) * dot}, dark);
  }

  MutableImageView view_;
  std::int64_t unit_;
};

/// Returns the picture as 8-bit RGB with a box just outside the pixels of every region and its label beside
/// it, bright on dark. Pictures with a longer side below 600 pixels are magnified by an integer factor so
/// that the digits are readable; lines and digits grow with larger pictures. Alpha is dropped; floats count
/// as linear light.
Image region_overlay(const ImageView& picture, std::span<const Region> regions) {
  const std::int64_t longer = std::max(picture.shape.width, picture.shape.height);
  const std::int64_t factor = (readable_side + longer - 1) / longer;
  Image result = magnified(picture, factor);
  Canvas canvas(result);
  const auto box_of = [&](const Region& region) {
    return Rectangle{region.x * factor, region.y * factor, (region.x + region.width) * factor,
                     (region.y + region.height) * factor};
  };
  const auto colour_of = [](const Region& region) { return bright[region.label % bright.size()]; };
  for (const Region& region : regions) canvas.outline(box_of(region), colour_of(region));
  for (const Region& region : regions) canvas.number(box_of(region), region.label, colour_of(region));
  return result;
}

namespace fs = std::filesystem;

/// Outputs for the regions of each mask.
struct Task {
  RegionSearch search;
  std::string image_path;  ///< path of --image; empty if there is none
  Image image;
  std::optional<fs::path> labels, coordinates, overlay;
  bool overwrite = false;
};

std::optional<fs::path> path_of(const ParsedLine& line, const std::string& name) {
  const auto text = line.value(name);
  return text ? std::optional<fs::path>(*text) : std::nullopt;
}

Task task_of(const CommandSpec& command, const ParsedLine& line) {
  Task task;
  const Parameters parameters = parameters_of(*command.filter, line);
  task.search = *static_cast<const RegionSearch*>(parameters.data());
  task.image_path = line.value("image").value_or("");
  task.labels = path_of(line, "labels");
  task.coordinates = path_of(line, "coordinates");
  task.overlay = path_of(line, "overlay");
  task.overwrite = line.flag("overwrite");
  validate(task.search, !task.image_path.empty());
  return task;
}

/// Refuses outputs that are the same file as another output or an input.
void check_distinct(const ParsedLine& line, const Task& task) {
  std::vector<fs::path> taken(line.arguments.begin(), line.arguments.end());
  if (!task.image_path.empty()) taken.emplace_back(task.image_path);
  for (const auto& output : {path_of(line, "output"), task.labels, task.coordinates, task.overlay}) {
    if (!output) continue;
    for (const fs::path& other : taken)
      if (same_file(*output, other))
        throw Error(ErrorKind::usage, "The output '" + output->string() + "' is the same file as '" +
                                          other.string() + "'.\nName another output.");
    taken.push_back(*output);
  }
}

/// Checks the outputs as far as possible before a mask is read.
void check_outputs(const ParsedLine& line, const Task& task) {
  if (!names_one_file(line) && (task.labels || task.coordinates || task.overlay))
    throw Error(ErrorKind::usage,
                "--labels, --coordinates and --overlay are of one mask: name one, or leave them away.");
  check_distinct(line, task);
  const WriteOptions options{.overwrite = task.overwrite};
  if (const auto output = path_of(line, "output"); output && *output != "-") {
    check_target(*output, task.overwrite);
    if (is_misleading_for_json(*output))
      throw Error(ErrorKind::usage, "The output '" + output->string() + "' of regions is JSON, not " +
                                        output->extension().string().substr(1) +
                                        ". Name a .json file; --labels, --overlay and --coordinates write "
                                        "pictures and arrays.");
  }
  if (task.labels) check_writable(*task.labels, Shape{1, 1, 1, Type::u16}, options);
  if (task.overlay) check_writable(*task.overlay, Shape{1, 1, 3, Type::u8}, options);
  if (!task.coordinates) return;
  if (task.coordinates->extension() != ".npy")
    throw Error(ErrorKind::usage, "--coordinates '" + task.coordinates->string() +
                                      "': an array of numbers is written as .npy. Name such a file.");
  check_writable(*task.coordinates, Shape{1, 1, 1, Type::u32}, options);
}

std::int64_t pixels_of(const std::vector<Region>& regions) {
  return std::accumulate(regions.begin(), regions.end(), std::int64_t{0},
                         [](std::int64_t sum, const Region& region) { return sum + region.area; });
}

/// Returns the bytes of an NPY file without rows, which an Image cannot represent.
std::string empty_npy() {
  std::string header = "{'descr': '<u4', 'fortran_order': False, 'shape': (0, 3), }";
  constexpr std::size_t fixed = 10, alignment = 64;
  header.resize(alignment * 2 - fixed - 1, ' ');
  header += '\n';
  std::string npy("\x93NUMPY\x01\x00", 8);
  npy += static_cast<char>(header.size());
  npy += '\0';
  return npy.append(header);
}

/// Returns the label picture as u16 if the largest label fits, otherwise u32. Throws Error(usage) if the
/// format then holds only 16 bits.
void write_labels(const std::filesystem::path& path, const Regions& regions, bool overwrite) {
  const PatientWork patient(patience_to_write(path));
  const WriteOptions options{.overwrite = overwrite};
  if (regions.regions.size() > std::numeric_limits<std::uint16_t>::max()) {
    try {
      write_image(path, regions.labels, options);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      throw Error(ErrorKind::usage, std::to_string(regions.regions.size()) +
                                        " regions need labels of 32 bits.\n" + error.what());
    }
    return;
  }
  Shape shape = regions.labels.shape();
  const auto* from = reinterpret_cast<const std::uint32_t*>(regions.labels.data());
  shape.type = Type::u16;
  Image labels(shape);
  std::transform(from, from + shape.width * shape.height, reinterpret_cast<std::uint16_t*>(labels.data()),
                 [](std::uint32_t label) { return static_cast<std::uint16_t>(label); });
  write_image(path, labels, options);
}

/// Returns every pixel of every region as a row of label, x and y (u32), region after region, each in raster
/// order.
void write_coordinates(const std::filesystem::path& path, const Regions& regions, bool overwrite) {
  const std::int64_t pixels = pixels_of(regions.regions);
  if (pixels == 0) {
    const std::string npy = empty_npy();
    return write_file(path, std::as_bytes(std::span(npy)), overwrite);
  }
  std::vector<std::int64_t> next(regions.regions.size() + 1, 0);  // row of a label's next pixel
  for (const Region& region : regions.regions) next[region.label - 1] = region.area;
  std::exclusive_scan(next.begin(), next.end(), next.begin(), std::int64_t{0});
  Image rows({3, pixels, 1, Type::u32});
  const MutableImageView to = rows.view();
  const ImageView labels = regions.labels;
  for (std::int64_t y = 0; y < labels.shape.height; ++y) {
    const auto* label = labels.row<std::uint32_t>(y);
    for (std::int64_t x = 0; x < labels.shape.width; ++x) {
      if (label[x] == 0) continue;
      auto* row = to.row<std::uint32_t>(next[label[x] - 1]++);
      row[0] = label[x];
      row[1] = static_cast<std::uint32_t>(x);
      row[2] = static_cast<std::uint32_t>(y);
    }
  }
  write_image(path, rows, {.overwrite = overwrite});
}

void do_mask(const Device& device, const std::string& name, const Image& picture, const Task& task,
             JsonWriter& json) {
  const ImageView image = task.image.empty() ? ImageView{} : task.image.view();
  const Regions regions = search_regions(device, picture, image, task.search);
  if (task.labels) write_labels(*task.labels, regions, task.overwrite);
  if (task.coordinates) {
    const PatientWork patient(patience_to_write(*task.coordinates));
    write_coordinates(*task.coordinates, regions, task.overwrite);
  }
  if (task.overlay) {
    const PatientWork patient(patience_to_write(*task.overlay));
    write_image(*task.overlay, region_overlay(image.empty() ? picture.view() : image, regions.regions),
                {.overwrite = task.overwrite});
  }
  const NamedView pictures[] = {{name, picture}, {task.image_path, image}};
  add_regions(json, pictures, task.search, regions);
}

int run(const CommandSpec& command, const ParsedLine& line) {
  Task task = task_of(command, line);
  check_outputs(line, task);
  const Device device = open_device(line);
  const ReadOptions reading = analysis_reading(line);
  if (!task.image_path.empty()) task.image = read_only_picture(task.image_path, reading).image;
  JsonWriter json;
  json.begin_object();
  int code = exit_good;
  if (names_one_file(line)) {
    const BatchFile input = find_pictures(input_options_of(line)).files.front();
    if (input.problem) throw Error(*input.problem);
    do_mask(device, input.input.string(), read_picture(input.input, reading).image, task, json);
  } else {
    code = for_each_picture(line, &json, [&](const BatchFile& file, const Image& picture, std::size_t) {
      do_mask(device, file.input.string(), picture, task, json);
    });
  }
  const std::string text = json.end_object().text() + "\n";
  const std::string output = line.value("output").value_or("-");
  const PatientWork patient(patience_to_write(output));
  write_file(output, std::as_bytes(std::span(text)), task.overwrite);
  return code;
}

}  // namespace

CommandSpec regions_command(CommandSpec command) {
  command.usage = "MASK... [-o regions.json] [options]";
  command.details =
      "Labels count from 1 in the raster order of the first pixels of the regions that are kept, whatever "
      "the\n"
      "list is sorted by; pixels of the others are 0 in the label picture. Colours of a mask count by their\n"
      "luminance. Several masks or a folder give {\"files\": [...]}, an object for each.";
  command.run = run;
  std::vector<OptionSpec> own = input_options();
  own.push_back(flag("overwrite", "replace existing outputs"));
  command.groups = {
      {"Filter options", own_options(*command.filter)},
      {"Results",
       {file("output", "file for the JSON, or - for standard output", {.letter = 'o', .default_text = "-"}),
        file("labels", "write the label of every pixel, 0 outside: 16 bits, 32 above 65535 regions"),
        file("coordinates", "write label, x and y of every pixel inside as rows of a .npy file"),
        file("overlay", "draw boxes and labels over the image, or over the mask")}},
      analysis_options(std::move(own), "print errors as JSON too")};
  return command;
}

}  // namespace satin::app
