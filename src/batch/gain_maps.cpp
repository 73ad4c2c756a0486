#include "batch/gain_maps.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "satin/error.h"
#include "satin/io.h"
#include "satin/pipeline.h"
#include "satin/restored_light.h"

namespace satin::batch {
namespace {

/// An interval of an axis that is divided into cells of one size, each the mean of the samples below it.
struct Cells {
  double first, size;  ///< start of the interval, and size of a cell, in samples
  std::int64_t count, samples;

  /// Calls add(sample, weight) for the samples below a cell. The weights add up to 1, but for rounding.
  template <class Add>
  void for_samples(std::int64_t cell, const Add& add) const {
    const double begin =
        std::clamp(first + static_cast<double>(cell) * size, 0.0, static_cast<double>(samples));
    const double end =
        std::clamp(first + static_cast<double>(cell + 1) * size, begin, static_cast<double>(samples));
    const auto last = static_cast<double>(samples - 1);
    auto sample = static_cast<std::int64_t>(std::min(begin, last));
    if (end <= begin) return add(sample, 1.0);
    for (; sample < samples && static_cast<double>(sample) < end; ++sample) {
      const double covered =
          std::min(end, static_cast<double>(sample + 1)) - std::max(begin, static_cast<double>(sample));
      add(sample, covered / (end - begin));
    }
  }
};

/// Returns the means of u8 samples, rounded to nearest, ties up.
Image means_of(const Image& samples, const Cells& columns, const Cells& rows) {
  const Shape& shape = samples.shape();
  Shape size = shape;
  size.width = columns.count;
  size.height = rows.count;
  Image result(size);
  const auto channels = static_cast<std::size_t>(shape.channels);
  const std::size_t row_length = static_cast<std::size_t>(shape.width) * channels;
  std::vector<double> sums(row_length);
  std::byte* to = result.data();
  for (std::int64_t y = 0; y < rows.count; ++y) {
    std::fill(sums.begin(), sums.end(), 0.0);
    rows.for_samples(y, [&](std::int64_t row, double weight) {
      const std::byte* from = samples.data() + static_cast<std::size_t>(row) * row_length;
      for (std::size_t i = 0; i < row_length; ++i) sums[i] += weight * std::to_integer<int>(from[i]);
    });
    for (std::int64_t x = 0; x < columns.count; ++x)
      for (std::size_t c = 0; c < channels; ++c) {
        double mean = 0;
        columns.for_samples(x, [&](std::int64_t column, double weight) {
          mean += weight * sums[static_cast<std::size_t>(column) * channels + c];
        });
        *to++ = static_cast<std::byte>(static_cast<int>(std::min(mean + 0.5, 255.0)));
      }
  }
  return result;
}

GainMap with_pixels(const GainMap& map, Image pixels) {
  return {map.metadata, std::move(pixels), map.origin, map.alternate_icc};
}

/// Returns the size of the map of a result. `box` is the part of the map that it shows, in codes.
Shape size_of_map(const Shape& map, const Framing& framing) {
  const double columns = framing.box_width / framing.width * static_cast<double>(map.width);
  const double rows = framing.box_height / framing.height * static_cast<double>(map.height);
  const double factor = std::min(
      1.0, std::max(framing.box_width / framing.result_width, framing.box_height / framing.result_height));
  const auto whole = [&](double codes, double result, double box) {
    return std::max<std::int64_t>(std::llround(codes * result / box * factor), 1);
  };
  Shape size = map;
  size.width = whole(columns, framing.result_width, framing.box_width);
  size.height = whole(rows, framing.result_height, framing.box_height);
  return size;
}

/// Returns the names of the types that a format holds.
std::string types_in(const std::string& extension) {
  for (const FormatInfo& format : formats())
    if (std::ranges::find(format.extensions, extension) != format.extensions.end()) return format.types;
  return {};
}

}  // namespace

GainMapUse gain_map_use_of(const Pipeline& pipeline, const BatchOptions& options) {
  if (options.gain_map == GainMapUse::use && !uses_restored_light(pipeline)) return GainMapUse::keep;
  if (options.gain_map) return *options.gain_map;
  if (options.strip) return GainMapUse::drop;
  if (uses_restored_light(pipeline)) return GainMapUse::use;
  return std::ranges::all_of(pipeline, keeps_gain_map) ? GainMapUse::keep : GainMapUse::drop;
}

std::string gain_map_warning(const Pipeline& pipeline, const BatchOptions& options, const Picture& source) {
  if (options.gain_map || options.strip ||
      std::ranges::find(source.left_out, "gain map") == source.left_out.end())
    return {};
  for (const PipelineStep& step : pipeline)
    if (!is_photographic(step) && !step.parameters.filter().traits.covers && !keeps_gain_map(step))
      return "its gain map was left out, as " + step.parameters.filter().name +
             " makes another picture of it.";
  return {};
}

GainMap framed(const GainMap& map, const Framing& framing) {
  const Shape& shape = map.pixels.shape();
  const Shape size = size_of_map(shape, framing);
  const auto cells = [](double first, double box, double side, std::int64_t samples, std::int64_t count) {
    const double scale = static_cast<double>(samples) / side;
    return Cells{first * scale, box * scale / static_cast<double>(count), count, samples};
  };
  return with_pixels(
      map, means_of(map.pixels, cells(framing.x, framing.box_width, framing.width, shape.width, size.width),
                    cells(framing.y, framing.box_height, framing.height, shape.height, size.height)));
}

GainMap covered(const Device& device, const GainMap& map, const Shape& picture, const Framing& framing,
                const std::function<Image(const Image& codes)>& run) {
  const Image large =
      satin::run(device,
                 parse_pipeline("resize size=" + std::to_string(picture.width) + "x" +
                                std::to_string(picture.height) + " fit=stretch kernel=nearest enlarge=true"),
                 map.pixels);
  const Image result = run(large);
  const Shape size = size_of_map(map.pixels.shape(), framing);
  const auto cells = [](std::int64_t samples, std::int64_t count) {
    return Cells{0, static_cast<double>(samples) / static_cast<double>(count), count, samples};
  };
  return with_pixels(map, means_of(result, cells(result.shape().width, size.width),
                                   cells(result.shape().height, size.height)));
}

bool uses_light(const Picture& picture, const Pipeline& pipeline, const BatchOptions& options) {
  return picture.gain_map && restores_light(*picture.gain_map) &&
         gain_map_use_of(pipeline, options) == GainMapUse::use;
}

void drop_unusable_map(Picture& picture, const Pipeline& pipeline, const BatchOptions& options) {
  if (!picture.gain_map || restores_light(*picture.gain_map) ||
      gain_map_use_of(pipeline, options) != GainMapUse::use)
    return;
  picture.gain_map.reset();
  picture.warnings.emplace_back(
      "its gain map was left out, as it does not lead from SDR to HDR in the picture's own primaries.");
}

bool writes_light(const Picture& picture, const BatchOptions& options, const std::string& extension) {
  if (!picture.gain_map || !restores_light(*picture.gain_map)) return false;
  const std::string types = types_in(extension);
  const bool has_integers = types.find("u8") != std::string::npos;
  const bool asked = options.gain_map == GainMapUse::use && !holds_gain_map(extension);
  return types.find("f32") != std::string::npos && (!has_integers || asked);
}

bool holds_gain_map(const std::string& extension) { return what_is_lost(extension, {}, {}, true).empty(); }

void check_gain_map_use(const Pipeline& pipeline, const BatchOptions& options) {
  const auto keeps_values = [](const PipelineStep& step) {
    const FilterRecord& filter = step.parameters.filter();
    return filter.frame || &filter == &convert_record();
  };
  if (options.gain_map != GainMapUse::use || uses_restored_light(pipeline) ||
      std::ranges::all_of(pipeline, keeps_values))
    return;
  throw Error(ErrorKind::usage,
              "--gain-map use needs a filter that works in linear light, and none that makes another picture "
              "or covers parts. Give keep or drop.");
}

}  // namespace satin::batch
