#pragma once
// The depth that photographs carry, with what lies beside it: mattes, the sharp original, the focus that was
// chosen when the photograph was taken. ReadOptions::photo_depth asks for it; Picture::photo holds it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "satin/image.h"
#include "satin/lens_focus.h"

namespace [[gnu::visibility("default")]] satin {

/// How codes of a stored depth picture become values, in the terms of Google's GDepth, to which Apple's
/// disparity translates. A code is c of 0 to 1.
struct DepthCoding {
  /// Which value lies between the two ends.
  enum class Format : std::uint8_t {
    range_inverse,  ///< 1 / z = 1 / near + c (1 / far - 1 / near): the value is disparity
    range_linear    ///< z = near + c (far - near): the value is depth
  };
  Format format = Format::range_inverse;  ///< RangeInverse or RangeLinear
  double near = 1;                        ///< distance where c = 0
  double far = 1;                         ///< distance where c = 1
};

/// The depth picture as a file may keep it, so that the depth can be read from there again with the same
/// bits. It lies as the stored picture lies, before the orientation is applied.
struct StoredDepth {
  std::vector<std::byte> item;  ///< a whole PNG or JPEG file; empty: `codes` are to be written as PNG
  std::string mime;             ///< of the item: "image/png"
  Image codes;                  ///< u8 or u16, one channel; where there is no item
  std::string format;           ///< "RangeInverse" or "RangeLinear"
  std::string near;             ///< as text, from which the same number is read
  std::string far;              ///< likewise
  std::string units;            ///< "m", "mm"; empty if the file does not say
};

/// The depth of a photograph.
struct PhotoDepth {
  Image values;                           ///< f32, one channel, upright, of a size of its own
  DepthKind kind = DepthKind::disparity;  ///< what the values are
  bool metric = false;                    ///< in 1/m or m; otherwise the file says no unit
  float lowest = 0;                       ///< of the values
  float highest = 0;                      ///< of the values
  std::string format;                     ///< "Apple disparity", "GDepth RangeInverse"
  std::string place;                      ///< where it lay: "picture 3 of the MPF index"
  StoredDepth stored;                     ///< for a result that can be refocused
};

/// A picture of how much of every pixel belongs to something.
struct PhotoMatte {
  std::string name;  ///< "portrait", "hair", "skin", "teeth", "glasses", "sky"
  Image weights;     ///< u8, one channel, upright, of a size of its own
};

/// The picture before blur was added to it.
struct PhotoOriginal {
  std::vector<std::byte> file;  ///< a JPEG file in one piece that holds no word of other pictures
  std::string place;            ///< where it lay: "GImage:Data"; empty: it is the picture of the file itself
};

/// Where a photograph is sharp.
struct PhotoFocus {
  std::optional<double> distance;  ///< in the unit of the depth
  std::optional<Point> place;      ///< in the upright picture, in percent
  std::string source;              ///< "GFocus", "EXIF SubjectArea"
};

/// What a photograph carries for refocusing.
struct Photo {
  std::optional<PhotoDepth> depth;  ///< absent: the file has none, or `problem` says why it is not read
  std::string problem;              ///< why depth that is there was not read, with the remedy
  std::vector<PhotoMatte> mattes;   ///< in the order of the file
  /// What Picture::image was decoded from, where that can be kept; empty bytes otherwise.
  PhotoOriginal original;
  int orientation = 1;  ///< how the stored picture, its original and its stored depth lie, as in EXIF
  std::optional<PhotoFocus> focus;  ///< of the file; absent if it does not tell
  /// FocalLengthIn35mmFilm of the EXIF block: mm before a sensor of 36 mm; absent if it does not tell.
  std::optional<double> focal_length;
};

/// Where a photograph is sharp after depth of field was added to it.
struct PhotoBlur {
  double disparity = 0;               ///< that is sharp, by the values' own unit
  std::optional<Point> place;         ///< in the upright picture, in percent, if it was chosen by place
  std::string source;                 ///< "--focus-at", "GFocus", "the middle"
  double largest = 0;                 ///< radius that others are held to, in pixels
  double at_infinity = 0;             ///< radius there, as a part of the picture's longer side; a run tells
  std::vector<std::string> warnings;  ///< what was assumed
};

/// Sets what is open in the lens by what the photograph tells: the kind of its depth; the focus, unless one
/// is set; and the focal length, if any of the lens (f_number, focal_length, sensor_width) is set, but not
/// that. The f-number is then one of a camera with 35-mm film that sees what the photograph shows.
void set_by_photo(LensFocus& lens, const Photo& photo);

/// What follows for a picture of this shape from a lens as it was before set_by_photo(). Throws as dof().
[[nodiscard]] PhotoBlur photo_blur(LensFocus lens, const Photo& photo, const Shape& picture);

}  // namespace satin
