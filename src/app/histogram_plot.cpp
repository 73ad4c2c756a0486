#include "app/histogram_plot.h"

#include <algorithm>
#include <cmath>

#include "app/analysis.h"

namespace satin::app {
namespace {

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

}  // namespace

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

}  // namespace satin::app
