#pragma once
// Radii of a smaller depth image at the pixels of a picture, guided by its colours. Where the samples around
// a pixel are one surface they are interpolated; where they are two, the pixel belongs to the one whose
// samples look like it (a vote in the manner of joint bilateral upsampling, Kopf et al. 2007), and only that
// one is interpolated: near and far are never mixed.

#include <cstdint>

#include "core/maths/hd.h"
#include "depth/maths/circle_of_confusion.h"
#include "pixels/maths/rows.h"

namespace satin {

/// Sizes of the picture, and of the depth image.
struct EnlargeSizes {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t depth_width = 0;
  std::int64_t depth_height = 0;
};

/// A place between the samples along one axis: 4 samples from `first` on, of which the pixel's centre lies
/// between the second and the third; `fraction` 1/256 parts from the second on.
struct SamplePlace {
  std::int64_t first = 0;
  std::int32_t fraction = 0;
};

SATIN_HD std::int64_t held_inside(std::int64_t i, std::int64_t samples) {
  return i < 0 ? 0 : i < samples ? i : samples - 1;
}

/// Of pixel i of `size` among `samples` <= size; centres lie at i + 1/2.
SATIN_HD SamplePlace sample_place(std::int64_t i, std::int64_t size, std::int64_t samples) {
  const std::int64_t twice = 2 * size;
  const std::int64_t place =
      (2 * i + 1) * samples + size;  // of the centre, one sample further, times `twice`
  const std::int64_t whole = place / twice;
  return {whole - 2, static_cast<std::int32_t>((place - whole * twice) * 256 / twice)};
}

/// Colours that guide: the first three channels, or the first one, from 0 to 1.
struct GuideColour {
  float value[3] = {};
};

/// A float of linear light v is taken as v / (1 + v), below 0 and what is no number as 0.
SATIN_HD float guide_value(float v) { return v > 0.0F && v <= 3.4e38F ? v / (1.0F + v) : 0.0F; }
SATIN_HD float guide_value(std::uint8_t v) { return static_cast<float>(v) / 255.0F; }
SATIN_HD float guide_value(std::uint16_t v) { return static_cast<float>(v) / 65535.0F; }

template <class T>
SATIN_HD GuideColour guide_colour(const T* pixel, int colours) {
  GuideColour colour;
  for (int c = 0; c < colours; ++c) colour.value[c] = guide_value(pixel[c]);
  return colour;
}

/// Pixels of an axis that sample i stands for: those from its left edge on, one at least.
SATIN_HD std::int64_t first_of_sample(std::int64_t i, std::int64_t size, std::int64_t samples) {
  return i * size / samples;
}

/// One beyond them.
SATIN_HD std::int64_t last_of_sample(std::int64_t i, std::int64_t first, std::int64_t size,
                                     std::int64_t samples) {
  const std::int64_t last = (i + 1) * size / samples;
  return last > first ? last : first + 1;
}

/// The mean colour over the pixels that sample (i, j) stands for. `row_at(y)` is a row of the picture.
template <class RowAt>
SATIN_HD GuideColour sample_colour(std::int64_t i, std::int64_t j, const EnlargeSizes& sizes, int channels,
                                   int colours, const RowAt& row_at) {
  const std::int64_t left = first_of_sample(i, sizes.width, sizes.depth_width);
  const std::int64_t top = first_of_sample(j, sizes.height, sizes.depth_height);
  const std::int64_t right = last_of_sample(i, left, sizes.width, sizes.depth_width);
  const std::int64_t bottom = last_of_sample(j, top, sizes.height, sizes.depth_height);
  double sums[3] = {};
  for (std::int64_t y = top; y < bottom; ++y)
    for (std::int64_t x = left; x < right; ++x) {
      const GuideColour pixel = guide_colour(row_at(y) + x * channels, colours);
      for (int c = 0; c < 3; ++c) sums[c] += static_cast<double>(pixel.value[c]);
    }
  const auto count = static_cast<double>((right - left) * (bottom - top));
  GuideColour mean;
  for (int c = 0; c < 3; ++c) mean.value[c] = static_cast<float>(sums[c] / count);
  return mean;
}

/// Sorted samples with a larger gap among them are two surfaces: a pixel of radius.
inline constexpr SignedRadius256 surface_gap = 256;
/// Differences of colour, squared and summed, that say little.
inline constexpr double indistinct_colours = 0.001;

struct RadiusSamples {
  static constexpr int side = 4;
  static constexpr int count = side * side;
  SignedRadius256 radius[count];
  SignedRadius256 limit;  ///< see surface_limit()
  GuideColour colour[count];
};

/// Above this radius samples are the nearer surface: the middle of the largest gap, or unknown_radius where
/// all are one.
SATIN_HD SignedRadius256 surface_limit(const RadiusSamples& samples) {
  SignedRadius256 least = samples.radius[0];
  SignedRadius256 most = samples.radius[0];
  for (const SignedRadius256 radius : samples.radius) {
    least = radius < least ? radius : least;
    most = radius > most ? radius : most;
  }
  if (most - least <= surface_gap) return unknown_radius;
  SignedRadius256 sorted[RadiusSamples::count];
  for (int i = 0; i < RadiusSamples::count; ++i) {
    int place = i;
    for (; place > 0 && sorted[place - 1] > samples.radius[i]; --place) sorted[place] = sorted[place - 1];
    sorted[place] = samples.radius[i];
  }
  SignedRadius256 limit = unknown_radius;
  SignedRadius256 gap = surface_gap;
  for (int i = 1; i < RadiusSamples::count; ++i) {
    const SignedRadius256 here = sorted[i] - sorted[i - 1];
    if (here <= gap) continue;
    gap = here;
    limit = sorted[i - 1] + here / 2;
  }
  return limit;
}

/// A tent over `reach` samples, of sample i of four, in 1/256.
SATIN_HD std::int32_t tent_weight(int i, std::int32_t fraction, std::int32_t reach) {
  const std::int32_t distance = (i - 1) * 256 - fraction;
  const std::int32_t weight = reach * 256 - (distance < 0 ? -distance : distance);
  return weight > 0 ? weight : 0;
}

/// The mean of the samples on one side of the limit with the weights of a tent; false where it has none.
SATIN_HD bool interpolate(const RadiusSamples& samples, bool nearer, std::int32_t fx, std::int32_t fy,
                          std::int32_t reach, SignedRadius256& result) {
  std::int64_t sum = 0;
  std::int64_t weights = 0;
  const int first = reach == 1 ? 1 : 0;  // beyond it weights are 0
  for (int j = first; j < RadiusSamples::side - first; ++j)
    for (int i = first; i < RadiusSamples::side - first; ++i) {
      const SignedRadius256 radius = samples.radius[j * RadiusSamples::side + i];
      if (samples.limit != unknown_radius && (radius > samples.limit) != nearer) continue;
      const std::int64_t weight =
          static_cast<std::int64_t>(tent_weight(i, fx, reach)) * tent_weight(j, fy, reach);
      sum += weight * (static_cast<std::int64_t>(radius) + (1 << 24));  // raised: quotients of positives
      weights += weight;
    }
  if (weights == 0) return false;
  result = static_cast<SignedRadius256>((2 * sum + weights) / (2 * weights)) - (1 << 24);
  return true;
}

/// True if the nearer samples look more like the pixel: sums over the samples of a tent of reach 2 by the
/// likeness 1 / (indistinct + |difference|^2).
SATIN_HD bool looks_nearer(const RadiusSamples& samples, std::int32_t fx, std::int32_t fy,
                           const GuideColour& pixel) {
  double votes = 0;
  for (int j = 0; j < RadiusSamples::side; ++j)
    for (int i = 0; i < RadiusSamples::side; ++i) {
      const int at = j * RadiusSamples::side + i;
      double difference = 0;
      for (int c = 0; c < 3; ++c) {
        const double d =
            static_cast<double>(samples.colour[at].value[c]) - static_cast<double>(pixel.value[c]);
        difference += d * d;
      }
      const double place = static_cast<double>(tent_weight(i, fx, 2) * tent_weight(j, fy, 2));
      const double vote = place / (indistinct_colours + difference);
      votes += samples.radius[at] > samples.limit ? vote : -vote;
    }
  return votes > 0;
}

/// The samples around all pixels of one cell of the depth image's grid. `radius_at(i, j)` and
/// `colour_at(i, j)` are of a sample; colours are wanted only where there are two surfaces.
template <class RadiusAt, class ColourAt>
SATIN_HD void load_samples(RadiusSamples& samples, std::int64_t first_column, std::int64_t first_row,
                           const EnlargeSizes& sizes, const RadiusAt& radius_at, const ColourAt& colour_at) {
  std::int64_t columns[RadiusSamples::side];
  std::int64_t rows[RadiusSamples::side];
  for (int i = 0; i < RadiusSamples::side; ++i) {
    columns[i] = held_inside(first_column + i, sizes.depth_width);
    rows[i] = held_inside(first_row + i, sizes.depth_height);
  }
  for (int at = 0; at < RadiusSamples::count; ++at)
    samples.radius[at] = radius_at(columns[at % RadiusSamples::side], rows[at / RadiusSamples::side]);
  samples.limit = surface_limit(samples);
  if (samples.limit == unknown_radius) return;
  for (int at = 0; at < RadiusSamples::count; ++at)
    samples.colour[at] = colour_at(columns[at % RadiusSamples::side], rows[at / RadiusSamples::side]);
}

/// The radius of a pixel of that colour, so far between the samples.
SATIN_HD SignedRadius256 enlarged_radius(const RadiusSamples& samples, std::int32_t fx, std::int32_t fy,
                                         const GuideColour& pixel) {
  const bool nearer = samples.limit != unknown_radius && looks_nearer(samples, fx, fy, pixel);
  SignedRadius256 result = 0;
  if (!interpolate(samples, nearer, fx, fy, 1, result))
    static_cast<void>(interpolate(samples, nearer, fx, fy, 2, result));
  return result;
}

/// The sample at the centre of pixel i of an axis that has more samples than pixels.
SATIN_HD std::int64_t sample_at_centre(std::int64_t i, std::int64_t size, std::int64_t samples) {
  return (2 * i + 1) * samples / (2 * size);
}

/// One place a sample: its colour.
template <class T>
struct ColourSamples {
  EnlargeSizes sizes;
  Rows<const T> picture;
  int channels;
  int colours;
  GuideColour* of_samples;  ///< densely packed

  SATIN_HD void operator()(int i, int j) const {
    of_samples[j * sizes.depth_width + i] =
        sample_colour(i, j, sizes, channels, colours, [&](std::int64_t y) { return picture.row(y); });
  }
};

/// One place a pixel of the picture. The samples around are those of the last pixel until the cell ends.
template <class T>
struct EnlargeRadii {
  EnlargeSizes sizes;
  Rows<const T> picture;
  int channels;
  int colours;
  const GuideColour* of_samples;
  Rows<const SignedRadius256> samples;
  Rows<SignedRadius256> radii;

  struct Row {
    const EnlargeRadii& step;
    const T* pixels;
    SignedRadius256* radii;
    SamplePlace place;
    std::int64_t loaded = INT64_MIN;  ///< column of the samples
    RadiusSamples around;

    SATIN_HD Row(const EnlargeRadii& of, int y)
        : step(of),
          pixels(of.picture.row(y)),
          radii(of.radii.row(y)),
          place(sample_place(y, of.sizes.height, of.sizes.depth_height)) {}

    SATIN_HD void operator()(int x) {
      const SamplePlace column = sample_place(x, step.sizes.width, step.sizes.depth_width);
      if (column.first != loaded)
        load_samples(
            around, column.first, place.first, step.sizes,
            [&](std::int64_t i, std::int64_t j) { return step.samples.row(j)[i]; },
            [&](std::int64_t i, std::int64_t j) { return step.of_samples[j * step.sizes.depth_width + i]; });
      loaded = column.first;
      radii[x] = enlarged_radius(around, column.fraction, place.fraction,
                                 guide_colour(pixels + std::int64_t{x} * step.channels, step.colours));
    }
  };
  SATIN_HD Row row(int y) const { return {*this, y}; }
};

/// Of a depth image that is wider than the picture.
struct TakeCentres {
  EnlargeSizes sizes;
  Rows<const SignedRadius256> samples;
  Rows<SignedRadius256> radii;

  SATIN_HD void operator()(int x, int y) const {
    const SignedRadius256* row = samples.row(sample_at_centre(y, sizes.height, sizes.depth_height));
    radii.row(y)[x] = row[sample_at_centre(x, sizes.width, sizes.depth_width)];
  }
};

}  // namespace satin
