#include <span>

#include "core/record.h"
#include "satin/statistics.h"

namespace satin {
namespace {

void add_channel(JsonWriter& json, const std::string& name, const ChannelStatistics& channel) {
  json.begin_object();
  json.key("channel").string(name);
  json.key("count").integer(channel.count).key("nan").integer(channel.nan);
  json.key("infinite").integer(channel.infinite);
  json.key("min").real(channel.minimum).key("max").real(channel.maximum);
  json.key("mean").real(channel.mean).key("deviation").real(channel.deviation);
  json.key("percentiles").reals(channel.percentiles);
  json.key("histogram").begin_object();
  json.key("lower").real(channel.lower).key("upper").real(channel.upper);
  json.key("counts").integers(channel.histogram);
  json.end_object().end_object();
}

void describe(JsonWriter& json, const Device& device, std::span<const NamedView> pictures,
              const StatisticsOptions& options) {
  const ImageView& image = pictures[0].view;
  add_statistics(json, image.shape, statistics(device, image, pictures[1].view, options));
}

}  // namespace

std::vector<std::string> channel_names(const Shape& shape) {
  std::vector<std::string> names = {"grey"};
  if (shape.channels >= 3) names = {"red", "green", "blue"};
  if (shape.channels % 2 == 0) names.emplace_back("alpha");
  return names;
}

void add_statistics(JsonWriter& json, const Shape& shape, std::span<const ChannelStatistics> channels) {
  const std::vector<std::string> names = channel_names(shape);
  json.key("statistics").begin_array();
  for (std::size_t c = 0; c < channels.size(); ++c) add_channel(json, names[c], channels[c]);
  json.end_array();
}

const FilterRecord& stats_record() {
  static const FilterRecord filter = record::of(
      &describe,
      {.name = "stats",
       .category = "measurement",
       .help = "count, extremes, mean, deviation, percentiles and histogram of every channel",
       .parameters =
           {record::reals(&StatisticsOptions::percents, 0, 100,
                          {"percentiles", "", "percentiles to give, with commas between them"}),
            record::integer(&StatisticsOptions::bins, 1, 65536, {"bins", "", "bins of the histogram"}),
            record::real(&StatisticsOptions::lower, -1e30, 1e30,
                         {"lower", "",
                          "where the histogram begins; 0, or of floats the smallest value, unless told"}),
            record::real(
                &StatisticsOptions::upper, -1e30, 1e30,
                {"upper", "",
                 "where the histogram ends; 256, 65536, or of floats the largest value, unless told"})},
       .inputs = {{"mask", Role::mask, "look only at pixels where this grey picture of 8 bits is not 0"}},
       .space = Space::encoded});
  return filter;
}

}  // namespace satin
