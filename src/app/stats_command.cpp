#include "app/stats_command.h"

#include <algorithm>
#include <span>

#include "app/analysis.h"
#include "app/histogram_plot.h"
#include "app/option_specs.h"
#include "app/report.h"
#include "app/terminal.h"
#include "satin/error.h"
#include "satin/io.h"
#include "satin/statistics.h"

namespace satin::app {
namespace {

constexpr long most_bins = 65536;

std::vector<double> percents_of(const std::string& text) {
  std::vector<double> percents;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t comma = std::min(text.find(',', first), text.size());
    percents.push_back(parse_real("--percentiles", text.substr(first, comma - first), 0, 100));
    first = comma + 1;
  }
  return percents;
}

StatisticsOptions options_of(const ParsedLine& line) {
  StatisticsOptions options;
  if (const auto text = line.value("percentiles")) options.percents = percents_of(*text);
  if (const auto text = line.value("bins")) options.bins = parse_integer("--bins", *text, 1, most_bins);
  if (const auto text = line.value("lower")) options.lower = parse_real("--lower", *text, -1e30, 1e30);
  if (const auto text = line.value("upper")) options.upper = parse_real("--upper", *text, -1e30, 1e30);
  return options;
}

Image mask_of(const ParsedLine& line) {
  const auto path = line.value("mask");
  if (!path) return {};
  Image mask = read_image(*path);
  if (mask.shape().channels != 1 || mask.shape().type != Type::u8)
    throw Error(ErrorKind::usage,
                "The mask '" + *path + "' is " + describe(mask.shape()) + ": give a grey picture of 8 bits.");
  return mask;
}

/// Checks before any work whether the plot can be written.
void check_plot(const ParsedLine& line) {
  const auto path = line.value("plot");
  if (!path) return;
  if (line.arguments.size() > 1)
    throw Error(ErrorKind::usage, "--plot shows one picture, but there are " +
                                      std::to_string(line.arguments.size()) + " inputs.");
  check_target(*path, line.flag("overwrite"));
}

void write_plot(const std::string& path, const std::string& svg, bool overwrite) {
  write_file(path, std::as_bytes(std::span(svg)), overwrite);
}

void add_reals(JsonWriter& json, const char* key, const std::vector<double>& values) {
  json.key(key).begin_array();
  for (const double value : values) json.real(value);
  json.end_array();
}

void add_channel(JsonWriter& json, const std::string& name, const ChannelStatistics& channel) {
  json.begin_object();
  json.key("channel").string(name);
  json.key("count").integer(channel.count);
  json.key("nan").integer(channel.nan);
  json.key("min").real(channel.minimum);
  json.key("max").real(channel.maximum);
  json.key("mean").real(channel.mean);
  json.key("deviation").real(channel.deviation);
  add_reals(json, "percentiles", channel.percentiles);
  json.key("histogram").begin_object();
  json.key("lower").real(channel.lower);
  json.key("upper").real(channel.upper);
  json.key("counts").begin_array();
  for (const std::uint64_t count : channel.histogram) json.integer(static_cast<long long>(count));
  json.end_array().end_object().end_object();
}

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
  std::string text = name + ": " + describe(shape) + "\n" + table_line("", heads);
  const std::vector<std::string> names = channel_names(shape);
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const ChannelStatistics& channel = channels[c];
    std::vector<std::string> cells = {std::to_string(channel.count), short_number(channel.minimum),
                                      short_number(channel.maximum), short_number(channel.mean),
                                      short_number(channel.deviation)};
    for (const double value : channel.percentiles) cells.push_back(short_number(value));
    text += table_line(names[c], cells);
    if (channel.nan != 0) text += "        " + std::to_string(channel.nan) + " values are NaN\n";
  }
  return text;
}

int run(const ParsedLine& line) {
  const StatisticsOptions options = options_of(line);
  check_plot(line);
  const Image mask = mask_of(line);
  const ImageView mask_view = mask.empty() ? ImageView{} : mask.view();
  const Device device = open_device(line);
  const bool as_json = line.flag("json");

  JsonWriter json;
  json.begin_object();
  add_device(json, device.info());
  add_reals(json, "percents", options.percents);
  json.key("files").begin_array();
  const int code =
      for_each_picture(line, as_json ? &json : nullptr, [&](const BatchFile& file, const Image& picture) {
        const std::string name = file.input.string();
        const std::vector<ChannelStatistics> channels = statistics(device, picture, mask_view, options);
        if (const auto path = line.value("plot"))
          write_plot(*path, histogram_svg(name, picture.shape(), channels), line.flag("overwrite"));
        if (!as_json) return print(table_of(name, picture.shape(), options.percents, channels));
        const std::vector<std::string> names = channel_names(picture.shape());
        json.key("statistics").begin_array();
        for (std::size_t c = 0; c < channels.size(); ++c) add_channel(json, names[c], channels[c]);
        json.end_array();
      });
  json.end_array().key("exit_code").integer(code).end_object();
  if (as_json) print(json.text() + "\n");
  return code;
}

std::vector<OptionSpec> own_options() {
  OptionSpec percentiles = valued("percentiles", "LIST", "percentiles to give, with commas between them");
  percentiles.default_text = "1,5,25,50,75,95,99";
  OptionSpec bins = valued("bins", "N", "bins of the histogram");
  bins.range = "1 to 65536";
  bins.default_text = "256";
  OptionSpec lower = valued("lower", "X", "where the histogram begins");
  lower.default_text = "0; floats: the smallest value";
  OptionSpec upper = valued("upper", "X", "where the histogram ends");
  upper.default_text = "256 or 65536; floats: the largest value";
  return {percentiles,
          bins,
          lower,
          upper,
          file("mask", "look only at pixels where this grey picture of 8 bits is not 0"),
          file("plot", "write the histograms of one picture as SVG")};
}

}  // namespace

CommandSpec stats_command() {
  CommandSpec command;
  command.name = "stats";
  command.help = "count, extremes, mean, deviation, percentiles and histogram of every channel";
  command.usage = "INPUT... [options]";
  command.details =
      "Values are those of the file. Counts, extremes and percentiles are exact; a percentile between two "
      "values "
      "is\ninterpolated. NaN is counted apart.";
  command.takes_files = true;
  command.run = run;
  std::vector<OptionSpec> own = input_options();
  own.push_back(flag("overwrite", "replace a plot that exists"));
  command.groups = {{"Statistics", own_options()}, analysis_options(std::move(own), "print it as JSON")};
  return command;
}

}  // namespace satin::app
