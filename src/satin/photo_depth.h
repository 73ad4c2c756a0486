#pragma once
// Depth inside photographs, with mattes, the sharp original and the focus of the camera.
// ReadOptions::photo_depth requests it; Picture::photo holds it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "satin/image.h"
#include "satin/lens_focus.h"

namespace [[gnu::visibility("default")]] satin {

/// Conversion from the codes of a stored depth picture to values, as in Google's GDepth. Apple's disparity
/// translates to the same form. A code c is 0 to 1.
struct DepthCoding {
  /// Quantity that codes interpolate.
  enum class Format : std::uint8_t {
    range_inverse,  ///< 1 / z = 1 / near + c (1 / far - 1 / near): the value is disparity
    range_linear    ///< z = near + c (far - near): the value is depth
  };
  Format format = Format::range_inverse;  ///< RangeInverse or RangeLinear
  double near = 1;                        ///< distance where c = 0
  double far = 1;                         ///< distance where c = 1
};

/// The depth picture as stored in a file, so that reading it again gives the same bits. Its orientation is
/// that of the stored picture.
struct StoredDepth {
  std::vector<std::byte> item;  ///< complete PNG or JPEG file; empty: `codes` are to be written as PNG
  std::string mime;             ///< MIME type of the item, such as "image/png"
  Image codes;                  ///< depth codes, u8 or u16, one channel; used if there is no item
  std::string format;           ///< "RangeInverse" or "RangeLinear"
  std::string near;             ///< GDepth:Near as text that parses to the same number
  std::string far;              ///< GDepth:Far as text that parses to the same number
  std::string units;            ///< "m", "mm"; empty if the file does not say
};

/// The depth of a photograph.
struct PhotoDepth {
  Image values;                           ///< values, f32, one channel, upright, of any size
  DepthKind kind = DepthKind::disparity;  ///< meaning of the values
  bool metric = false;                    ///< whether values are in 1/m or m; otherwise the unit is unknown
  bool is_estimated = false;              ///< whether a model estimated it (satin/image_model.h)
  float lowest = 0;                       ///< smallest value
  float highest = 0;                      ///< largest value
  std::string format;                     ///< format, such as "Apple disparity" or "GDepth RangeInverse"
  std::string place;                      ///< position in the file, such as "picture 3 of the MPF index"
  StoredDepth stored;                     ///< stored form, for a result that can be refocused
};

/// A matte: how much of every pixel belongs to a subject.
struct PhotoMatte {
  std::string name;  ///< "portrait", "hair", "skin", "teeth", "glasses", "sky"
  Image weights;     ///< weights, u8, one channel, upright, of any size
};

/// The photograph before the camera blurred it.
struct PhotoOriginal {
  std::vector<std::byte> file;  ///< complete JPEG file without references to other pictures
  std::string place;  ///< position in the file, such as "GImage:Data"; empty: it is the file's own picture
};

/// Focus that a photograph records.
struct PhotoFocus {
  std::optional<double> distance;  ///< distance in the unit of the depth
  std::optional<Point> place;      ///< point of the upright picture in percent
  std::string source;              ///< "GFocus", "EXIF SubjectArea"
};

/// Data in a photograph for refocusing.
struct Photo {
  std::optional<PhotoDepth>
      depth;            ///< depth; absent if the file has none or `problem` says why it cannot be read
  std::string problem;  ///< why existing depth cannot be read, with the remedy
  std::vector<PhotoMatte> mattes;  ///< mattes in the order of the file
  /// File that Picture::image was decoded from, or no bytes if it cannot be kept.
  PhotoOriginal original;
  int orientation = 1;              ///< orientation of the stored picture, original and depth, as in EXIF
  std::optional<PhotoFocus> focus;  ///< focus; absent if the file does not record it
  /// FocalLengthIn35mmFilm of the EXIF block: mm for a sensor of 36 mm.
  std::optional<double> focal_length;
};

/// Focus and blur of a photograph after depth of field was applied.
struct PhotoBlur {
  double disparity = 0;  ///< disparity that is sharp, in the unit of the values
  std::optional<Point>
      place;           ///< point of the upright picture in percent, if the focus was chosen by a point
  std::string source;  ///< source of the focus: "--focus-at", "GFocus", "the middle"
  double largest = 0;  ///< largest allowed radius in pixels
  double at_infinity =
      0;  ///< radius at infinity, as a fraction of the picture's longer side; known after a run
  std::vector<std::string> warnings;  ///< assumptions that were made
};

/// Returns the codes of the stored depth, u8 or u16, one channel, upright. This function is in satin_io.
[[nodiscard]] Image upright_codes(const Photo& photo);

/// Completes the lens from the photograph: the kind of depth; the focus, unless it is set; and the focal
/// length, if f_number or sensor_width is set but focal_length is not. The f-number then belongs to a 35-mm
/// camera with the same field of view.
void set_by_photo(LensFocus& lens, const Photo& photo);

/// Returns focus and blur for a picture of this shape. `lens` is the lens before set_by_photo(). Throws as
/// dof().
[[nodiscard]] PhotoBlur photo_blur(LensFocus lens, const Photo& photo, const Shape& picture);

}  // namespace satin
