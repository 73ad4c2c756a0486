#pragma once
// Metadata of picture files. Blocks are opaque; only entries that would be wrong for a new picture are
// changed (see satin/io.h).

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "satin/framing.h"
#include "satin/gain_map.h"
#include "satin/image.h"
#include "satin/photo_depth.h"
#include "satin/pixel_box.h"

namespace [[gnu::visibility("default")]] satin {

/// Quantisation of a JPEG file, which reproduces its quality without guessing a number.
struct JpegCoding {
  /// A colour component.
  struct Component {
    int horizontal = 1;                     ///< horizontal sampling factor, 1 to 4
    int vertical = 1;                       ///< vertical sampling factor, 1 to 4
    std::array<std::uint16_t, 64> steps{};  ///< quantiser in natural order
    friend bool operator==(const Component&, const Component&) = default;
  };
  std::vector<Component> components;  ///< 1 (grey) or 3 (YCbCr)
  bool progressive = false;           ///< whether there are several scans of growing detail
  friend bool operator==(const JpegCoding&, const JpegCoding&) = default;
};

/// Pixels per length, as stored in a file.
struct Resolution {
  /// Unit of length.
  enum class Unit {
    none,        ///< unknown
    inch,        ///< 0.0254 m
    centimetre,  ///< 0.01 m
    metre        ///< 1 m
  };
  double x = 0;  ///< pixels per unit along a row; without a unit only the ratio of x and y has a meaning
  double y = 0;  ///< pixels per unit along a column
  Unit unit = Unit::none;  ///< unit of both
  friend bool operator==(const Resolution&, const Resolution&) = default;
};

/// The colour chunks of a PNG file, as stored. Beside a profile only cICP is kept.
struct PngColour {
  std::optional<std::array<std::uint8_t, 4>> code_points;      ///< cICP: primaries, transfer, matrix, range
  std::optional<std::uint32_t> gamma;                          ///< gAMA: exponent times 100,000
  std::optional<std::array<std::uint32_t, 8>> chromaticities;  ///< cHRM: white, red, green, blue x, y
  std::optional<std::uint8_t> srgb_intent;                     ///< sRGB: rendering intent
};

/// Header of an OpenEXR file. It is written to the output if the picture keeps its size.
struct ExrHeader {
  PixelBox data{};         ///< data window: position of the picture
  PixelBox display{};      ///< display window: visible area
  float pixel_aspect = 1;  ///< width of a pixel over its height
  std::string part{};      ///< name of the part; empty if it has none
  std::string view{};      ///< view of the part, such as left for one eye; empty if it has none
  std::string channel{};   ///< name of the only channel, such as Z; empty for a picture of colours
};

/// A chunk of a PNG file, as stored.
struct PngChunk {
  std::string name;                ///< name of the chunk, such as "tEXt"
  std::vector<std::byte> content;  ///< content without length and checksum
  friend bool operator==(const PngChunk&, const PngChunk&) = default;
};

/// Metadata of one file.
struct Metadata {
  std::vector<std::byte> icc;                         ///< ICC profile of the pixels
  std::vector<std::byte> exif;                        ///< EXIF, starting with its TIFF header
  std::vector<std::byte> xmp;                         ///< XMP packet, UTF-8
  std::vector<std::byte> iptc;                        ///< IPTC data sets (IIM)
  std::optional<Resolution> resolution;               ///< pixels per length of the upright picture
  std::vector<std::vector<std::byte>> jpeg_comments;  ///< COM segments of a JPEG file
  std::vector<PngChunk> png_texts;                    ///< tEXt, zTXt and iTXt of a PNG file, without XMP
  /// tIME of a PNG file. It is kept although PNG 11.3.6.1 intends it for the last change, because a new time
  /// would give different bytes in every run.
  std::vector<std::byte> png_time;
  std::vector<std::uint8_t> significant_bits;  ///< sBIT of a PNG file: significant bits per channel
  PngColour png;                               ///< colour chunks of a PNG file
  std::optional<JpegCoding> jpeg;              ///< quantisation of a JPEG file
  bool half_floats = false;                    ///< whether an OpenEXR file stores half floats
  std::optional<ExrHeader> exr;                ///< header of an OpenEXR file
};

/// Returns the metadata that may stay when parts of the picture were covered: the profile, the coding of the
/// file, and a new EXIF block with resolution, times, camera, lens, exposure and copyright, each a short text
/// or a few numbers. Locations, names, comments, texts, previews, maker notes, XMP and IPTC are dropped.
[[nodiscard]] Metadata redacted(const Metadata& metadata);

/// Adapts metadata of an upright picture to a result of another size: pixel sizes, the subject's place, the
/// resolution of the focal plane, and panoramas. Drops crops and, where the picture was cut, regions. Returns
/// the names of dropped entries. Times, places on Earth and the density for printing stay.
std::vector<std::string> frame(Metadata& metadata, const Framing& framing);

/// A channel of an OpenEXR file other than red, green, blue and alpha, such as `Z` for depth.
struct NamedChannel {
  std::string name;  ///< name, such as "Z"
  Image plane;       ///< values as one channel, f32 or u32, of the picture's size
};

/// A picture with everything that was read from its file, or that goes into one.
struct Picture {
  Image image;                           ///< the pixels, upright
  Metadata metadata{};                   ///< metadata of the file
  std::string format{};                  ///< format of its file: the usual extension, with the dot
  std::vector<NamedChannel> channels{};  ///< channels other than red, green, blue and alpha
  std::vector<std::string> warnings{};   ///< warnings of the reader
  std::optional<Photo> photo{};          ///< depth and focus, if ReadOptions::photo_depth was set
  std::optional<GainMap> gain_map{};     ///< gain map, if ReadOptions::gain_map was set and the file has one
  /// Names of pictures and data of the file that belong to its whole picture and are not kept: "gain map".
  std::vector<std::string> left_out{};
  std::int64_t reduction = 1;   ///< the file was decoded at this part of its size (ReadOptions::enough)
  std::int64_t full_width = 0;  ///< width of the picture in its file, if it was decoded at a part of its size
  std::int64_t full_height = 0;  ///< height of that picture

  /// Holds no picture.
  Picture() = default;
  /// Holds pixels without metadata.
  // NOLINTNEXTLINE(google-explicit-constructor): most formats hold pixels alone
  Picture(Image pixels) : image(std::move(pixels)) {}

  /// Returns the channel of this name, or null.
  [[nodiscard]] const Image* find_channel(const std::string& name) const noexcept {
    for (const NamedChannel& channel : channels)
      if (channel.name == name) return &channel.plane;
    return nullptr;
  }
};

}  // namespace satin
