// The filters stats and bins, which write JSON about whole pictures.

#include "satin/statistics.h"

#include <span>

#include "core/record.h"

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

void describe(JsonWriter& json, const Device& device, std::span<const NamedView> pictures,
              const ToneBins& tones) {
  const ImageView& image = pictures[0].view;
  const Bins bins = tones.of(image.shape.type);
  add_bins(json, bins, tone_zones(device, image, bins).counts);
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
  static const FilterRecord filter = record::of<StatisticsOptions>(
      &describe,
      {.name = "stats",
       .category = "measurement",
       .help = "count, extremes, mean, deviation, percentiles and histogram of every channel",
       .parameters =
           {record::reals(&StatisticsOptions::percents, 0, 100,
                          {"percentiles", "", "percentiles to report, separated by commas"}),
            record::usual_decades(1, 1024,
                                  record::integer(&StatisticsOptions::bins, 1, 65536,
                                                  {"bins", "", "number of bins in the histogram"})),
            record::usual(
                0, 256,
                record::real(
                    &StatisticsOptions::lower, -1e30, 1e30,
                    {"lower", "", "start of the histogram; default: 0, for floats the smallest value"})),
            record::usual(
                0, 256,
                record::real(
                    &StatisticsOptions::upper, -1e30, 1e30,
                    {"upper", "",
                     "end of the histogram; default: 256 or 65536, for floats the largest value"}))},
       .inputs = {{"mask", Role::mask, "count only pixels where this 8-bit grey picture is not 0"}},
       .space = Space::encoded});
  return filter;
}

Bins ToneBins::of(Type type) const {
  const double whole = type == Type::u8 ? 256 : type == Type::u16 ? 65536 : 1;
  return Bins::even(lower, upper.value_or(whole), bins);
}

double edge_of(const Bins& bins, std::size_t edge) {
  return bins.lower() +
         (bins.upper() - bins.lower()) * static_cast<double>(edge) / static_cast<double>(bins.count());
}

void add_bins(JsonWriter& json, const Bins& bins, std::span<const std::int64_t> counts,
              std::span<const std::string> masks) {
  std::int64_t first = 0;
  json.key("bins").begin_array();
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    json.begin_object();
    if (!masks.empty()) json.key("mask").string(masks[bin]);
    json.key("lower").real(edge_of(bins, bin)).key("upper").real(edge_of(bins, bin + 1));
    json.key("first").integer(first).key("count").integer(counts[bin]);
    json.end_object();
    first += counts[bin];
  }
  json.end_array();
}

const FilterRecord& bins_record() {
  static const FilterRecord filter = record::of<ToneBins>(
      &describe,
      {.name = "bins",
       .category = "measurement",
       .help = "count the pixels in each zone of tone",
       .parameters = {record::integer(&ToneBins::bins, 1, 256, {"bins", "", "number of zones"}),
                      record::usual(0, 256,
                                    record::real(&ToneBins::lower, -1e30, 1e30,
                                                 {"lower", "", "tone where the first zone begins"})),
                      record::usual(
                          0, 256,
                          record::real(
                              &ToneBins::upper, -1e30, 1e30,
                              {"upper", "",
                               "tone where the last zone ends; default: 256 or 65536, for floats 1"}))},
       .space = Space::encoded});
  return filter;
}

}  // namespace satin
