#pragma once
// What a file carries beside the pixels: opaque blocks, of which only what would lie about a new picture is
// changed (satin/io.h).

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "satin/image.h"
#include "satin/photo_depth.h"
#include "satin/pixel_box.h"

namespace [[gnu::visibility("default")]] satin {

/// How the pixels of a JPEG file were quantised: what "the same quality" means, without guessing a number.
struct JpegCoding {
  /// One component of the colours.
  struct Component {
    int horizontal = 1;                     ///< sampling factors, 1 to 4
    int vertical = 1;                       ///< likewise
    std::array<std::uint16_t, 64> steps{};  ///< quantiser in natural order
    friend bool operator==(const Component&, const Component&) = default;
  };
  std::vector<Component> components;  ///< 1 (grey) or 3 (YCbCr)
  bool progressive = false;           ///< several scans of growing detail
  friend bool operator==(const JpegCoding&, const JpegCoding&) = default;
};

/// How many pixels lie on a length, as a file says it.
struct Resolution {
  /// The length.
  enum class Unit {
    none,        ///< unknown
    inch,        ///< 0.0254 m
    centimetre,  ///< 0.01 m
    metre        ///< 1 m
  };
  double x = 0;            ///< pixels per unit; without a unit the ratio of the two alone says something
  double y = 0;            ///< likewise
  Unit unit = Unit::none;  ///< of both
  friend bool operator==(const Resolution&, const Resolution&) = default;
};

/// The colour chunks of a PNG file, as stored; those behind the first one are left out beside a profile.
struct PngColour {
  std::optional<std::array<std::uint8_t, 4>> code_points;      ///< cICP: primaries, transfer, matrix, range
  std::optional<std::uint32_t> gamma;                          ///< gAMA: exponent times 100,000
  std::optional<std::array<std::uint32_t, 8>> chromaticities;  ///< cHRM: white, red, green, blue x, y
  std::optional<std::uint8_t> srgb_intent;                     ///< sRGB
};

/// What an OpenEXR file says of its picture. Another one takes it over if the picture keeps its size.
struct ExrHeader {
  PixelBox data{};         ///< data window: where the picture lies
  PixelBox display{};      ///< display window: what is shown
  float pixel_aspect = 1;  ///< width of a pixel over its height
  std::string part{};      ///< name of the part; empty if it has none
  std::string view{};      ///< the eye that a part is for, such as left; likewise
  std::string channel{};   ///< name of the only channel, such as Z; empty for a picture of colours
};

/// A chunk of a PNG file, as stored.
struct PngChunk {
  std::string name;                ///< "tEXt"
  std::vector<std::byte> content;  ///< without its length and checksum
  friend bool operator==(const PngChunk&, const PngChunk&) = default;
};

/// The blocks of a file.
struct Metadata {
  std::vector<std::byte> icc;                         ///< profile of the pixels
  std::vector<std::byte> exif;                        ///< from its TIFF header on
  std::vector<std::byte> xmp;                         ///< the packet, UTF-8
  std::vector<std::byte> iptc;                        ///< the data sets of IIM
  std::optional<Resolution> resolution;               ///< of the upright picture
  std::vector<std::vector<std::byte>> jpeg_comments;  ///< COM segments of a JPEG file
  std::vector<PngChunk> png_texts;                    ///< tEXt, zTXt and iTXt of a PNG file, without XMP
  /// tIME of a PNG file. It is kept, as the time of the file and the dates of EXIF are: a new time would make
  /// other bytes at every run. (PNG, 11.3.6.1, intends it for the time of the last change.)
  std::vector<std::byte> png_time;
  std::vector<std::uint8_t> significant_bits;  ///< sBIT of a PNG file: one number a channel
  PngColour png;                               ///< of a PNG file
  std::optional<JpegCoding> jpeg;              ///< of a JPEG file
  bool half_floats = false;                    ///< of an OpenEXR file
  std::optional<ExrHeader> exr;                ///< of an OpenEXR file
};

/// What may stay when parts of the picture were covered: the profile, how the file was coded, and of the EXIF
/// block, written anew, resolution, times, camera, lens, exposure and copyright, each a short text or a few
/// numbers. Places, names, comments, texts, previews, the maker's note, XMP and IPTC are not among them.
[[nodiscard]] Metadata redacted(const Metadata& metadata);

/// A channel beside red, green, blue and alpha: of OpenEXR, where `Z` is depth.
struct NamedChannel {
  std::string name;  ///< "Z"
  Image plane;       ///< one channel, f32 or u32, of the picture's size
};

/// A picture with everything that was read from its file.
struct Picture {
  Image image;                           ///< upright
  Metadata metadata{};                   ///< what travels with it
  std::string format{};                  ///< of its file: the usual extension, with the dot
  std::vector<NamedChannel> channels{};  ///< beside red, green, blue and alpha
  std::vector<std::string> warnings{};   ///< what was read but may surprise
  std::optional<Photo> photo{};          ///< where ReadOptions::photo_depth asked for it

  /// No picture.
  Picture() = default;
  /// Pixels alone.
  // NOLINTNEXTLINE(google-explicit-constructor): most formats hold pixels alone
  Picture(Image pixels) : image(std::move(pixels)) {}

  /// Null if there is no such channel.
  [[nodiscard]] const Image* find_channel(const std::string& name) const noexcept {
    for (const NamedChannel& channel : channels)
      if (channel.name == name) return &channel.plane;
    return nullptr;
  }
};

}  // namespace satin
