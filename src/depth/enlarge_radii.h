#pragma once
// Enlarges the radii of a small depth image to the size of the picture, guided by its colours.
//
// A sample is a radius of the depth image. Where the 4 x 4 samples around a pixel are one surface they are
// interpolated. Where they are two, the pixel belongs to the surface whose samples look like it, by a vote in
// the manner of joint bilateral upsampling (Kopf et al. 2007), and only samples of that surface are
// interpolated: near and far are never mixed.

#include <cstdint>

#include "core/maths/hd.h"
#include "core/with_type.h"
#include "depth/maths/signed_radius.h"
#include "pixels/maths/rows.h"
#include "pixels/pixelwise.h"

namespace satin {

/// Sizes of the picture and of the depth image.
struct EnlargeSizes {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t depth_width = 0;
  std::int64_t depth_height = 0;
};

/// The four samples around the centre of a pixel along one axis.
struct SamplePosition {
  std::int64_t first = 0;     ///< index of the first one
  std::int32_t fraction = 0;  ///< offset of the pixel's centre from the second one, in 1/256 sample
};

SATIN_HD std::int64_t clamped_index(std::int64_t i, std::int64_t samples) {
  return i < 0 ? 0 : i < samples ? i : samples - 1;
}

/// Returns the four samples around the centre of pixel `i` of an axis with `size` pixels and
/// `samples` <= `size` samples. Centres of pixels and samples are at i + 1/2.
SATIN_HD SamplePosition sample_position(std::int64_t i, std::int64_t size, std::int64_t samples) {
  const std::int64_t twice = 2 * size;
  const std::int64_t centre = (2 * i + 1) * samples + size;  // plus one sample, times `twice`
  const std::int64_t whole = centre / twice;
  return {whole - 2, static_cast<std::int32_t>((centre - whole * twice) * 256 / twice)};
}

/// A colour that guides: the first three channels, or the first one, from 0 to 1.
struct GuideColour {
  float value[3] = {};
};

/// Floats are linear light v, which becomes v / (1 + v); negative and non-finite values become 0.
SATIN_HD float guide_value(float v) { return v > 0.0F && v <= 3.4e38F ? v / (1.0F + v) : 0.0F; }
SATIN_HD float guide_value(std::uint8_t v) { return static_cast<float>(v) / 255.0F; }
SATIN_HD float guide_value(std::uint16_t v) { return static_cast<float>(v) / 65535.0F; }

template <class T>
SATIN_HD GuideColour guide_colour(const T* pixel, int colours) {
  GuideColour colour;
  for (int c = 0; c < colours; ++c) colour.value[c] = guide_value(pixel[c]);
  return colour;
}

/// Returns the first pixel of an axis that sample `i` covers.
SATIN_HD std::int64_t first_of_sample(std::int64_t i, std::int64_t size, std::int64_t samples) {
  return i * size / samples;
}

/// Returns one past the last pixel that sample `i` covers, which is one pixel at least.
SATIN_HD std::int64_t last_of_sample(std::int64_t i, std::int64_t first, std::int64_t size,
                                     std::int64_t samples) {
  const std::int64_t last = (i + 1) * size / samples;
  return last > first ? last : first + 1;
}

/// Returns the mean colour over the pixels that sample (i, j) covers. `row_at(y)` returns a row of the
/// picture.
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

/// Sorted samples with a larger gap between neighbours are two surfaces: 1 pixel.
inline constexpr SignedRadius256 surface_gap = 256;
/// Squared difference of colours that says little.
inline constexpr double indistinct_colours = 0.001;

struct RadiusSamples {
  static constexpr int side = 4;
  static constexpr int count = side * side;
  SignedRadius256 radius[count];
  SignedRadius256 limit;  ///< see surface_limit()
  GuideColour colour[count];
};

/// Returns the middle of the largest gap among the sorted radii, above which samples are the nearer surface;
/// unknown_radius if all samples are one surface.
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
    int at = i;
    for (; at > 0 && sorted[at - 1] > samples.radius[i]; --at) sorted[at] = sorted[at - 1];
    sorted[at] = samples.radius[i];
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

/// Returns the weight, in 1/256, of sample `i` of four in a tent of that reach around the pixel's centre.
SATIN_HD std::int32_t tent_weight(int i, std::int32_t fraction, std::int32_t reach) {
  const std::int32_t distance = (i - 1) * 256 - fraction;
  const std::int32_t weight = reach * 256 - (distance < 0 ? -distance : distance);
  return weight > 0 ? weight : 0;
}

/// Interpolates the samples on one side of the limit with the weights of a tent. Returns false if all of
/// their weights are 0.
SATIN_HD bool interpolate(const RadiusSamples& samples, bool nearer, std::int32_t fx, std::int32_t fy,
                          std::int32_t reach, SignedRadius256& result) {
  std::int64_t sum = 0;
  std::int64_t weights = 0;
  const int first = reach == 1 ? 1 : 0;  // the outer samples have weight 0
  for (int j = first; j < RadiusSamples::side - first; ++j)
    for (int i = first; i < RadiusSamples::side - first; ++i) {
      const SignedRadius256 radius = samples.radius[j * RadiusSamples::side + i];
      if (samples.limit != unknown_radius && (radius > samples.limit) != nearer) continue;
      const std::int64_t weight =
          static_cast<std::int64_t>(tent_weight(i, fx, reach)) * tent_weight(j, fy, reach);
      sum += weight * (static_cast<std::int64_t>(radius) +
                       (1 << 24));  // raised, so that the quotient is of positive numbers
      weights += weight;
    }
  if (weights == 0) return false;
  result = static_cast<SignedRadius256>((2 * sum + weights) / (2 * weights)) - (1 << 24);
  return true;
}

/// Whether the nearer samples look more like the pixel. Samples vote with a tent of reach 2 times the
/// likeness 1 / (indistinct_colours + |difference|^2).
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
      const double weight = static_cast<double>(tent_weight(i, fx, 2) * tent_weight(j, fy, 2));
      const double vote = weight / (indistinct_colours + difference);
      votes += samples.radius[at] > samples.limit ? vote : -vote;
    }
  return votes > 0;
}

/// Loads the samples around the pixels whose first sample is (first_column, first_row). Colours are loaded
/// only if the samples are two surfaces.
template <class RadiusAt, class ColourAt>
SATIN_HD void load_samples(RadiusSamples& samples, std::int64_t first_column, std::int64_t first_row,
                           const EnlargeSizes& sizes, const RadiusAt& radius_at, const ColourAt& colour_at) {
  std::int64_t columns[RadiusSamples::side];
  std::int64_t rows[RadiusSamples::side];
  for (int i = 0; i < RadiusSamples::side; ++i) {
    columns[i] = clamped_index(first_column + i, sizes.depth_width);
    rows[i] = clamped_index(first_row + i, sizes.depth_height);
  }
  for (int at = 0; at < RadiusSamples::count; ++at)
    samples.radius[at] = radius_at(columns[at % RadiusSamples::side], rows[at / RadiusSamples::side]);
  samples.limit = surface_limit(samples);
  if (samples.limit == unknown_radius) return;
  for (int at = 0; at < RadiusSamples::count; ++at)
    samples.colour[at] = colour_at(columns[at % RadiusSamples::side], rows[at / RadiusSamples::side]);
}

/// Returns the radius of a pixel of that colour at the offset (fx, fy) from the second samples.
SATIN_HD SignedRadius256 enlarged_radius(const RadiusSamples& samples, std::int32_t fx, std::int32_t fy,
                                         const GuideColour& pixel) {
  const bool nearer = samples.limit != unknown_radius && looks_nearer(samples, fx, fy, pixel);
  SignedRadius256 result = 0;
  if (!interpolate(samples, nearer, fx, fy, 1, result))
    static_cast<void>(interpolate(samples, nearer, fx, fy, 2, result));
  return result;
}

/// Returns the sample at the centre of pixel `i` of an axis that has more samples than pixels.
SATIN_HD std::int64_t sample_at_centre(std::int64_t i, std::int64_t size, std::int64_t samples) {
  return (2 * i + 1) * samples / (2 * size);
}

/// Stores the colour of every sample.
template <class T>
struct ColourSamples {
  EnlargeSizes sizes;
  Rows<const T> picture;
  int channels;
  int colours;
  GuideColour* sample_colours;  ///< densely packed rows

  SATIN_HD void operator()(int i, int j) const {
    sample_colours[j * sizes.depth_width + i] =
        sample_colour(i, j, sizes, channels, colours, [&](std::int64_t y) { return picture.row(y); });
  }
};

/// Finds the radius of every pixel of the picture. Neighbours along a row share their samples.
template <class T>
struct EnlargeRadii {
  EnlargeSizes sizes;
  Rows<const T> picture;
  int channels;
  int colours;
  const GuideColour* sample_colours;
  Rows<const SignedRadius256> samples;
  Rows<SignedRadius256> radii;

  struct Row {
    const EnlargeRadii& step;
    const T* pixels;
    SignedRadius256* radii;
    SamplePosition row;
    std::int64_t loaded = INT64_MIN;  ///< first column of `around`
    RadiusSamples around;

    SATIN_HD Row(const EnlargeRadii& of, int y)
        : step(of),
          pixels(of.picture.row(y)),
          radii(of.radii.row(y)),
          row(sample_position(y, of.sizes.height, of.sizes.depth_height)) {}

    SATIN_HD void operator()(int x) {
      const SamplePosition column = sample_position(x, step.sizes.width, step.sizes.depth_width);
      if (column.first != loaded)
        load_samples(
            around, column.first, row.first, step.sizes,
            [&](std::int64_t i, std::int64_t j) { return step.samples.row(j)[i]; },
            [&](std::int64_t i, std::int64_t j) {
              return step.sample_colours[j * step.sizes.depth_width + i];
            });
      loaded = column.first;
      radii[x] = enlarged_radius(around, column.fraction, row.fraction,
                                 guide_colour(pixels + std::int64_t{x} * step.channels, step.colours));
    }
  };
  SATIN_HD Row row(int y) const { return {*this, y}; }
};

/// Reads the sample at each pixel's centre, for a depth image that is wider than the picture.
struct SampleCentres {
  EnlargeSizes sizes;
  Rows<const SignedRadius256> samples;
  Rows<SignedRadius256> radii;

  SATIN_HD void operator()(int x, int y) const {
    const SignedRadius256* row = samples.row(sample_at_centre(y, sizes.height, sizes.depth_height));
    radii.row(y)[x] = row[sample_at_centre(x, sizes.width, sizes.depth_width)];
  }
};

/// Radii of a depth image of another size at the pixels of a picture.
struct EnlargeRadiiJob {
  using Operation = PixelwiseOperation<EnlargeRadiiJob>;
  static constexpr const char* doing = "enlarging radii";

  EnlargeSizes sizes;
  Type type = Type::u8;  ///< type of the picture: u8, u16 or f32
  int channels = 1;
  int colours = 1;  ///< number of channels that guide: 1 or 3

  struct Images {
    ImageView picture;
    ImageView samples;                      ///< i32, of the depth image's size, no unknown_radius
    GuideColour* sample_colours = nullptr;  ///< workspace in the backend's memory: one for each sample
    MutableImageView radii;                 ///< i32, of the picture's size
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    const Rows<const SignedRadius256> samples(images.samples);
    const Rows<SignedRadius256> radii(images.radii);
    if (sizes.depth_width > sizes.width)
      return launch(sizes.width, sizes.height, SampleCentres{sizes, samples, radii});
    with_pixel_type(type, [&]<class T>() {
      const Rows<const T> picture(images.picture);
      launch(sizes.depth_width, sizes.depth_height,
             ColourSamples<T>{sizes, picture, channels, colours, images.sample_colours});
      launch(sizes.width, sizes.height,
             EnlargeRadii<T>{sizes, picture, channels, colours, images.sample_colours, samples, radii});
    });
  }
};

}  // namespace satin
