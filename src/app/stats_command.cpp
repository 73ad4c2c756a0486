// satin stats: the record's statistics for people, and the JSON of several pictures.

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
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

// --- The plot. ---

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

/// One step a bin, from its left to its right edge.
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

/// SVG of one histogram a channel over each other. Heights are roots of the counts, so that rare values show.
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

/// Checks before any work whether the plot can be written.
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

// --- The table. ---

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

int run(const CommandSpec& command, const ParsedLine& line) {
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
  command.run = run;
  std::vector<OptionSpec> statistics = own_options(*command.filter);
  statistics.push_back(file("plot", "write the histograms of one picture as SVG"));
  std::vector<OptionSpec> own = input_options();
  own.push_back(flag("overwrite", "replace a plot that exists"));
  command.groups = {{"Filter options", statistics}, analysis_options(std::move(own), "print it as JSON")};
  return command;
}

}  // namespace satin::app
