#pragma once
// HDR gain maps: the second picture of a photograph, from which a display restores light that its base
// picture clips or compresses. ReadOptions::gain_map requests it; Picture::gain_map holds it.
//
// Sources: ISO 21496-1:2025, Ultra HDR 1.1 (XMP `hdrgm:`), and "Applying Apple HDR effect to your photos".

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "satin/image.h"

namespace [[gnu::visibility("default")]] satin {

/// Parameters of a colour of a gain map. For a code g of 0 to 1, in linear light in which SDR white is 1,
/// HDR = (SDR + offset_sdr) 2^(min + (max - min) g^(1 / gamma)) - offset_hdr.
struct GainMapChannel {
  double min = 0;    ///< log2 of the gain for code 0: ISO gain_map_min, hdrgm:GainMapMin
  double max = 1;    ///< log2 of the gain for code 1: ISO gain_map_max, hdrgm:GainMapMax
  double gamma = 1;  ///< exponent by which codes were encoded: ISO gain_map_gamma, hdrgm:Gamma
  /// Light added to SDR: ISO base_offset (alternate_offset if the base is HDR), hdrgm:OffsetSDR.
  double offset_sdr = 1.0 / 64;
  /// Light added to HDR: ISO alternate_offset (base_offset if the base is HDR), hdrgm:OffsetHDR.
  double offset_hdr = 1.0 / 64;
  friend bool operator==(const GainMapChannel&, const GainMapChannel&) = default;
};

/// Parameters of a gain map. The map applies in full on displays whose headroom (white over SDR white) is
/// the alternate one or more, and not at all where it is the base one or less.
struct GainMapMetadata {
  /// Red, green and blue. They are equal where the file has one set for all.
  std::array<GainMapChannel, 3> channels{};
  /// log2 of the headroom that the base picture is for, 0 for SDR: ISO base_hdr_headroom,
  /// hdrgm:HDRCapacityMin.
  double base_headroom = 0;
  /// log2 of the headroom that the restored picture is for: ISO alternate_hdr_headroom,
  /// hdrgm:HDRCapacityMax.
  double alternate_headroom = 1;
  /// Whether gains apply to the primaries of the base picture: ISO use_base_colour_space. Otherwise they
  /// apply to those of GainMap::alternate_icc. XMP and Apple know the base's only.
  bool use_base_colour_space = true;

  /// Whether the base is the picture for HDR, from which the map restores the one for SDR.
  [[nodiscard]] bool base_is_hdr() const noexcept { return base_headroom > alternate_headroom; }
  /// Whether all colours have the same parameters.
  [[nodiscard]] bool is_uniform() const noexcept {
    return channels[0] == channels[1] && channels[0] == channels[2];
  }
  /// Throws Error(input) that names the parameter, unless all of them are finite, gammas are 1/64 to 64,
  /// min <= max, gains and headrooms are at most 24 stops, headrooms differ and are not negative, and
  /// offsets are at most 1 in magnitude.
  void check() const;
  friend bool operator==(const GainMapMetadata&, const GainMapMetadata&) = default;
};

/// Form in which a file holds a gain map.
enum class GainMapOrigin : std::uint8_t {
  ultra_hdr_xmp,  ///< a JPEG file with the parameters as XMP
  iso_21496_1,    ///< parameters in binary form: APP2 of a JPEG file, or a `tmap` item of HEIC and AVIF
  apple           ///< an auxiliary picture with Apple's parameters, converted by apple_gain_map()
};

/// A gain map.
struct GainMap {
  GainMapMetadata metadata{};                           ///< parameters
  Image pixels{};                                       ///< codes, u8, 1 or 3 channels, upright, of any size
  GainMapOrigin origin = GainMapOrigin::ultra_hdr_xmp;  ///< form in the file
  /// ICC profile of the restored picture; empty: that of the base.
  std::vector<std::byte> alternate_icc{};

  /// Throws Error(input) that names the fault, unless the metadata pass GainMapMetadata::check(), and the
  /// pixels are u8 with 1 or 3 channels and cover a picture of this shape: their sides have the ratio of its
  /// sides, within 2 pixels.
  void check(const Shape& picture) const;
};

/// How a run treats gain maps.
enum class GainMapUse : std::uint8_t {
  use,   ///< the filter works on the restored light, too, and a new map is computed
  keep,  ///< the filter works on the base alone, and the map is carried with its geometry
  drop   ///< the map is left out
};

/// Returns the headroom (a factor, at least 1) from two numbers of Apple's maker notes: tag 0x21 and tag
/// 0x30.
[[nodiscard]] double apple_headroom(double tag_21, double tag_30);

/// Converts Apple's map, which multiplies by 1 + (headroom - 1) g where g is decoded by Rec. 709, to codes of
/// the logarithm of this gain, rounded to nearest. Throws Error(input) unless the headroom is above 1 and at
/// most 2^24 and the codes are u8 with 1 or 3 channels.
[[nodiscard]] GainMap apple_gain_map(Image codes, double headroom);

}  // namespace satin
