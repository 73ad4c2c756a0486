#include <span>

#include "core/record.h"
#include "satin/statistics.h"

namespace satin {
namespace {

void describe(JsonWriter& json, const Device& device, std::span<const NamedView> pictures,
              const ToneBins& tones) {
  const ImageView& image = pictures[0].view;
  const Bins bins = tones.of(image.shape.type);
  add_bins(json, bins, tone_zones(device, image, bins).counts);
}

}  // namespace

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
  static const FilterRecord filter = record::of(
      &describe,
      {.name = "bins",
       .category = "measurement",
       .help = "sort the pixels of pictures into zones of tone",
       .parameters =
           {record::integer(&ToneBins::bins, 1, 256, {"bins", "", "number of zones"}),
            record::real(&ToneBins::lower, -1e30, 1e30, {"lower", "", "tone where the first zone begins"}),
            record::real(
                &ToneBins::upper, -1e30, 1e30,
                {"upper", "", "tone where the last zone ends; 256, 65536, or 1 of floats, unless told"})},
       .space = Space::encoded});
  return filter;
}

}  // namespace satin
