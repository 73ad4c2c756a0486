#pragma once
// Finds the depth, mattes, original and focus of a photograph in its JPEG file: Apple's auxiliary pictures in
// the MPF index, GDepth and GImage in XMP, containers of Google and Dynamic Depth behind the picture, and
// lens and focus in EXIF (CIPA DC-008). Pictures are not decoded here.

#include <optional>
#include <string>
#include <vector>

#include "metadata/bytes.h"
#include "metadata/xmp.h"
#include "satin/photo_depth.h"

namespace satin::io {

/// Throws Error(input): the depth of a photograph cannot be used.
[[noreturn]] void refuse_depth(const std::string& what);

/// The meaning of the codes of a depth picture.
struct DepthTerms {
  DepthCoding coding;
  bool turned = false;  ///< c = 0 is white instead of black
  double metres = 1;    ///< length of the unit of near and far, in metres
  bool metric = false;  ///< the file gives the unit
  std::string name;     ///< name for users, such as "GDepth RangeInverse"
  /// Texts for GDepth that give the same coding when read again.
  std::string format, near, far, units;
};

/// Returns Apple's terms from the XMP of an auxiliary picture; nothing if it is no depth picture. Throws
/// Error(input) for invalid terms.
[[nodiscard]] std::optional<DepthTerms> apple_terms(const XmpNode& xmp);

/// Returns terms without a unit, from the values of the darkest and the lightest code, which are distances or
/// disparities. Throws Error(input) if they are equal.
[[nodiscard]] DepthTerms relative_terms(double dark, double light, bool distances);

/// Returns "portrait", "hair" and so on for a type such as
/// "urn:com:apple:photo:2018:aux:portraiteffectsmatte"; empty if it is no matte.
[[nodiscard]] std::string matte_of_type(std::string_view type);

/// Converts a point of the stored picture, as fractions of its width and height, to percent of the upright
/// picture.
[[nodiscard]] Point upright_point(double x, double y, int orientation);

/// Returns the middle of SubjectArea; nothing if it is missing or outside. `width` and `height` are the
/// stored size, unless the block gives another.
[[nodiscard]] std::optional<PhotoFocus> exif_focus(Bytes exif, std::int64_t width, std::int64_t height,
                                                   int orientation);

/// Returns FocalLengthIn35mmFilm, in mm.
[[nodiscard]] std::optional<double> exif_focal_length(Bytes exif);

/// A file behind the picture of a JPEG file.
struct ContainerItem {
  std::string uri, semantic;
  Bytes bytes;  ///< empty if it is not inside the file
};

/// Returns the items of the containers that the XMP of a JPEG file describes (Google, Dynamic Depth).
[[nodiscard]] std::vector<ContainerItem> container_items(Bytes file, const XmpNode& xmp);

struct DepthItem {
  DepthTerms terms;
  FileBytes item;     ///< a PNG or JPEG file
  std::string place;  ///< where the item was found
};

struct MatteItem {
  std::string name;
  FileBytes item;
};

struct PhotoSource {
  std::optional<DepthItem> depth;
  std::vector<MatteItem> mattes;
  PhotoOriginal original;           ///< empty if the file has only its picture
  std::optional<PhotoFocus> focus;  ///< GFocus, in the upright picture
  std::string problem;              ///< why existing depth cannot be used
};

/// `xmp` is the file's packet including its extended packet, `orientation` that of its picture.
[[nodiscard]] PhotoSource photo_source(Bytes file, Bytes xmp, int orientation);

}  // namespace satin::io
