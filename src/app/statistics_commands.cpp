// satin stats and satin bins: the two filters of satin/statistics.h as commands.
//
// stats prints a table or JSON, for several pictures too, and plots histograms. bins writes the masks and the
// pixels of the zones to files.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/analysis.h"
#include "app/interrupt.h"
#include "app/options.h"
#include "app/report.h"
#include "satin/error.h"
#include "satin/io.h"
#include "satin/statistics.h"

namespace satin::app {
namespace {

namespace fs = std::filesystem;

// --- The plot ---

constexpr double left = 20, right = 660, top = 40, bottom = 300;

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '&')
      result += "&amp;";
    else
      result += c;
  }
  return result;
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return "<text x=\"" + short_number(x, 1) + "\" y=\"" + short_number(y, 1) + "\" text-anchor=\"" + anchor +
         "\">" + escaped(text) + "</text>\n";
}

const char* colour_of(const std::string& channel) {
  if (channel == "red") return "#d62828";
  if (channel == "green") return "#2a9d3a";
  if (channel == "blue") return "#2861d6";
  return channel == "alpha" ? "#999999" : "#333333";
}

std::uint64_t largest_count(const std::vector<ChannelStatistics>& channels) {
  std::uint64_t largest = 1;
  for (const ChannelStatistics& channel : channels)
    largest = std::max(largest, *std::max_element(channel.histogram.begin(), channel.histogram.end()));
  return largest;
}

/// Draws the histogram of a channel as steps, one per bin.
std::string outline(const std::vector<std::uint64_t>& counts, std::uint64_t largest, const char* colour) {
  const double width = (right - left) / static_cast<double>(counts.size());
  std::string path = "M" + short_number(left, 1) + "," + short_number(bottom, 1);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double height = std::sqrt(static_cast<double>(counts[i]) / static_cast<double>(largest));
    path += "V" + short_number(bottom - (bottom - top) * height, 1) + "H" +
            short_number(left + width * static_cast<double>(i + 1), 1);
  }
  return "<path d=\"" + path + "V" + short_number(bottom, 1) + "Z\" fill=\"" + colour +
         "\" fill-opacity=\"0.25\" stroke=\"" + colour + "\" stroke-width=\"1\"/>\n";
}

/// Draws the histograms of all channels over each other as SVG. Heights are square roots of the counts, so
/// that rare values are visible.
std::string histogram_svg(const std::string& title, const Shape& shape,
                          const std::vector<ChannelStatistics>& channels) {
  const std::vector<std::string> names = channel_names(shape);
  const std::uint64_t largest = largest_count(channels);
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"680\" height=\"340\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  svg += text_at(left, 22, "start", title);
  for (std::size_t c = 0; c < channels.size(); ++c) {
    svg += outline(channels[c].histogram, largest, colour_of(names[c]));
    svg += "<g fill=\"" + std::string(colour_of(names[c])) + "\">" +
           text_at(right - 50 * static_cast<double>(channels.size() - 1 - c), 22, "end", names[c]) + "</g>\n";
  }
  double lower = channels.front().lower;
  double upper = channels.front().upper;
  for (const ChannelStatistics& channel : channels) {
    lower = std::min(lower, channel.lower);
    upper = std::max(upper, channel.upper);
  }
  svg += text_at(left, bottom + 18, "start", short_number(lower)) +
         text_at(right, bottom + 18, "end", short_number(upper)) +
         text_at((left + right) / 2, bottom + 18, "middle",
                 "value; height: root of the count, largest " + std::to_string(largest));
  return svg + "</svg>\n";
}

/// Checks before any work that the plot can be written.
void check_plot(const ParsedLine& line) {
  const auto path = line.value("plot");
  if (!path) return;
  if (line.flag("all-pages"))
    throw Error(ErrorKind::usage,
                "--plot shows one picture. Choose it with --page or --part, not --all-pages.");
  if (line.arguments.size() > 1)
    throw Error(ErrorKind::usage, "--plot shows one picture, but there are " +
                                      std::to_string(line.arguments.size()) + " inputs.");
  check_target(*path, line.flag("overwrite"));
}

// --- The table ---

std::string table_line(const std::string& first, const std::vector<std::string>& cells) {
  constexpr std::size_t width = 11;
  std::string line = first + std::string(8 - std::min<std::size_t>(8, first.size()), ' ');
  for (const std::string& cell : cells)
    line += std::string(width - std::min(width - 1, cell.size()), ' ') + cell;
  return line + "\n";
}

std::string table_of(const std::string& name, const Shape& shape, const std::vector<double>& percents,
                     const std::vector<ChannelStatistics>& channels) {
  std::vector<std::string> heads = {"count", "min", "max", "mean", "deviation"};
  for (const double percent : percents) heads.push_back(short_number(percent) + " %");
  std::string text = printable(name) + ": " + describe(shape) + "\n" + table_line("", heads);
  const std::vector<std::string> names = channel_names(shape);
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const ChannelStatistics& channel = channels[c];
    std::vector<std::string> cells = {std::to_string(channel.count), short_number(channel.minimum),
                                      short_number(channel.maximum), short_number(channel.mean),
                                      short_number(channel.deviation)};
    for (const double value : channel.percentiles) cells.push_back(short_number(value));
    text += table_line(names[c], cells);
    if (channel.nan != 0) text += "        " + std::to_string(channel.nan) + " values are NaN\n";
    if (channel.infinite != 0)
      text += "        " + std::to_string(channel.infinite) + " values are infinite\n";
  }
  return text;
}

Image mask_of(const ParsedLine& line) {
  const auto path = line.value("mask");
  if (!path) return {};
  Image mask = read_only_picture(*path, read_options_of(line)).image;
  if (mask.shape().channels != 1 || mask.shape().type != Type::u8)
    throw Error(ErrorKind::usage,
                "The mask '" + *path + "' is " + describe(mask.shape()) + ": give a grey picture of 8 bits.");
  return mask;
}

int run_stats(const CommandSpec& command, const ParsedLine& line) {
  const Parameters parameters = parameters_of(*command.filter, line);
  const auto& options = *static_cast<const StatisticsOptions*>(parameters.data());
  check_plot(line);
  const Image mask = mask_of(line);
  const ImageView mask_view = mask.empty() ? ImageView{} : mask.view();
  const Device device = open_device(line);
  const bool as_json = line.flag("json");
  const auto plot = line.value("plot");

  JsonWriter json;
  json.begin_object();
  add_device(json, device.info());
  json.key("percents").reals(options.percents);
  const int code = for_each_picture(
      line, as_json ? &json : nullptr, [&](const BatchFile& file, const Image& picture, std::size_t page) {
        const std::string name = name_with_page(file, page);
        const std::vector<ChannelStatistics> channels = statistics(device, picture, mask_view, options);
        if (plot) {
          const std::string svg = histogram_svg(name, picture.shape(), channels);
          const PatientWork patient(patience_to_write(*plot));
          write_file(*plot, std::as_bytes(std::span(svg)), line.flag("overwrite"));
        }
        if (as_json) return add_statistics(json, picture.shape(), channels);
        print(table_of(name, picture.shape(), options.percents, channels));
      });
  if (as_json) print(json.end_object().text() + "\n");
  return code;
}

}  // namespace

CommandSpec stats_command(CommandSpec command) {
  command.usage = "INPUT... [options]";
  command.details =
      "Values are those of the file. Counts, extremes and percentiles are exact; a percentile between two "
      "values is\ninterpolated. NaN is counted apart.";
  command.run = run_stats;
  command.groups = {
      {"Filter options", together({own_options(*command.filter),
                                   {file("plot", "write the histograms of one picture as SVG")}})},
      analysis_options(together({input_options(), {flag("overwrite", "replace an existing plot")}}),
                       "print JSON")};
  return command;
}

namespace {

// --- bins ---

/// Returns the name of a zone's mask, such as "zone_03.png", with as many digits as the last zone has.
std::string zone_name(std::int64_t zone, std::int64_t zones) {
  const std::string last = std::to_string(zones - 1);
  const std::string number = std::to_string(zone);
  return "zone_" + std::string(last.size() - number.size(), '0') + number + ".png";
}

std::vector<fs::path> outputs_of(const fs::path& folder, std::int64_t zones) {
  std::vector<fs::path> paths;
  for (std::int64_t zone = 0; zone < zones; ++zone) paths.push_back(folder / zone_name(zone, zones));
  paths.push_back(folder / "pixels.npy");
  paths.push_back(folder / "positions.npy");
  return paths;
}

void check_outputs(const std::vector<fs::path>& paths, bool overwrite) {
  const auto found =
      std::find_if(paths.begin(), paths.end(), [](const fs::path& p) { return fs::exists(p); });
  if (found != paths.end() && !overwrite)
    throw Error(ErrorKind::usage,
                "The output '" + found->string() + "' exists. Use --overwrite to replace it.");
}

Image mask_of_zone(const Image& zones, std::int64_t zone) {
  Shape shape = zones.shape();
  shape.type = Type::u8;
  Image mask(shape);
  const auto* from = reinterpret_cast<const std::uint16_t*>(zones.data());
  const auto wanted = static_cast<std::uint16_t>(zone);
  std::transform(from, from + shape.width * shape.height, reinterpret_cast<std::uint8_t*>(mask.data()),
                 [&](std::uint16_t value) { return static_cast<std::uint8_t>(value == wanted ? 255 : 0); });
  return mask;
}

void write_zones(const ToneZones& zones, const std::vector<fs::path>& paths, bool overwrite) {
  const auto write = [&](const fs::path& path, const Image& image) {
    const PatientWork patient(Patience::endless);
    write_image(path, image, {.overwrite = overwrite});
  };
  const std::size_t count = zones.counts.size();
  for (std::size_t zone = 0; zone < count; ++zone)
    write(paths[zone], mask_of_zone(zones.zones, static_cast<std::int64_t>(zone)));
  write(paths[count], zones.pixels);
  write(paths[count + 1], zones.positions);
}

std::string table_of(const ToneZones& zones, const Bins& bins, const std::vector<fs::path>& paths) {
  std::string text;
  for (std::size_t zone = 0; zone < zones.counts.size(); ++zone)
    text += printable(paths[zone].native()) + ": " + std::to_string(zones.counts[zone]) + " pixels from " +
            short_number(edge_of(bins, zone)) + " to below " + short_number(edge_of(bins, zone + 1)) + "\n";
  return text;
}

void add_zones(JsonWriter& json, const ToneZones& zones, const Bins& bins,
               const std::vector<fs::path>& paths) {
  const std::size_t count = zones.counts.size();
  json.key("pixels").string(paths[count].string()).key("positions").string(paths[count + 1].string());
  add_bins(json, bins, zones.counts, std::vector<std::string>(paths.begin(), paths.begin() + bins.count()));
}

fs::path folder_of(const ParsedLine& line) {
  const auto folder = line.value("output");
  if (!folder) throw Error(ErrorKind::usage, "There is no output: name a folder with -o DIR.");
  if (fs::exists(*folder) && !fs::is_directory(*folder))
    throw Error(ErrorKind::usage, "The output '" + *folder + "' is a file: name a folder with -o DIR.");
  return *folder;
}

/// Returns the folder for the results of one of several pictures: DIR/sub/a for sub/a.png.
fs::path folder_of(const fs::path& folder, const BatchFile& file) {
  return folder / fs::path(file.output).replace_extension();
}

/// Throws Error(usage) if two pictures share a folder, or a result exists.
void check_folders(const ParsedLine& line, const fs::path& folder, std::int64_t zones) {
  std::set<fs::path> folders;
  for (const BatchFile& file : find_pictures(input_options_of(line)).files) {
    const fs::path own = folder_of(folder, file);
    if (!folders.insert(own).second)
      throw Error(ErrorKind::usage, "Two pictures would both be sorted into '" + own.string() +
                                        "'. Rename one of them, or run them separately.");
    check_outputs(outputs_of(own, zones), line.flag("overwrite"));
  }
}

void create_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    throw Error(ErrorKind::input,
                "The folder '" + folder.string() + "' cannot be made: " + failed.message() + ".");
}

int run_bins(const CommandSpec& command, const ParsedLine& line) {
  const Parameters parameters = parameters_of(*command.filter, line);
  const auto& tones = *static_cast<const ToneBins*>(parameters.data());
  const fs::path folder = folder_of(line);
  const bool one = names_one_file(line) && fs::is_regular_file(line.arguments.front());
  if (!one) check_folders(line, folder, tones.bins);
  const bool as_json = line.flag("json");
  const Device device = open_device(line);
  JsonWriter json;
  const auto sort = [&](const BatchFile& file, const Image& picture, std::size_t page) {
    const Bins bins = tones.of(picture.shape().type);
    fs::path own = one ? folder : folder_of(folder, file);
    if (page != 0) own /= "page_" + std::to_string(page);
    const std::vector<fs::path> paths = outputs_of(own, tones.bins);
    check_outputs(paths, line.flag("overwrite"));
    const ToneZones zones = tone_zones(device, picture, bins);
    create_folder(own);
    write_zones(zones, paths, line.flag("overwrite"));
    if (as_json) return add_zones(json, zones, bins, paths);
    print(table_of(zones, bins, paths));
  };
  json.begin_object();
  const int code = for_each_picture(line, as_json ? &json : nullptr, sort, one);
  if (as_json) print(json.end_object().text() + "\n");
  return code;
}

}  // namespace

CommandSpec bins_command(CommandSpec command) {
  command.usage = "INPUT... -o DIR [options]";
  command.details =
      "Writes a mask for each zone (zone_0.png, ...), all pixels zone after zone in raster order\n"
      "(pixels.npy), and x and y of each (positions.npy). The tone is the luminance\n"
      "0.2126 R + 0.7152 G + 0.0722 B of the values as stored. Values beyond the ends belong to the first\n"
      "and to the last zone. Of several pictures each has a folder in DIR, named after it, with one for each "
      "page.";
  command.run = run_bins;
  std::vector<OptionSpec> own = input_options();
  own.push_back(file("output", "folder for the results; it is created", {.letter = 'o', .value = "DIR"}));
  own.push_back(flag("overwrite", "replace existing outputs"));
  command.groups = {{"Filter options", own_options(*command.filter)},
                    analysis_options(std::move(own), "print a report as JSON on standard output")};
  return command;
}

}  // namespace satin::app
