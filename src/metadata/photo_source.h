#pragma once
// Where a JPEG file holds what belongs to its photograph: Apple's auxiliary pictures by the MPF index, GDepth
// and GImage in XMP, Dynamic Depth's and Google's containers behind the picture; what the codes of its depth
// mean, and what EXIF (CIPA DC-008) says of lens and focus. Nothing is decoded here.

#include <optional>
#include <string>
#include <vector>

#include "metadata/bytes.h"
#include "metadata/xmp.h"
#include "satin/photo_depth.h"

namespace satin::io {

/// Throws Error(input): the depth that a photograph carries cannot be used.
[[noreturn]] void refuse_depth(const std::string& what);

/// Numbers as a file says them, with what follows from them.
struct DepthTerms {
  DepthCoding coding;
  bool turned = false;  ///< white, not black, is c = 0
  double metres = 1;    ///< in a unit of near and far
  bool metric = false;  ///< the file says the unit
  std::string name;     ///< "GDepth RangeInverse"
  /// The texts of GDepth: what is read from them gives the same coding.
  std::string format, near, far, units;
};

/// The words of a file for these terms; empty where it has none.
struct DepthWords {
  std::string format, near, far, units;
};

/// GDepth's terms or Dynamic Depth's, after `standard`. Throws Error(input) for terms that mean nothing.
[[nodiscard]] DepthTerms google_terms(const std::string& standard, const DepthWords& words);

/// Apple's, from the XMP of the depth picture itself. Nothing if it is no depth picture. Throws Error(input)
/// for terms that mean nothing.
[[nodiscard]] std::optional<DepthTerms> apple_terms(const XmpNode& xmp);

/// Terms without a unit: values of the darkest and the lightest code, distances or disparities. Throws
/// Error(input) if they are equal.
[[nodiscard]] DepthTerms relative_terms(double dark, double light, bool distances);

/// "portrait", "hair", ... from the XMP of an auxiliary picture; empty if it is no matte.
[[nodiscard]] std::string apple_matte(const XmpNode& xmp);

/// apple_matte() of a type's name: "urn:com:apple:photo:2018:aux:portraiteffectsmatte".
[[nodiscard]] std::string matte_of_type(std::string_view type);

/// A place of the stored picture, as parts of its width and height, in percent of the upright one.
[[nodiscard]] Point upright_point(double x, double y, int orientation);

/// The middle of SubjectArea in a picture of this stored size, unless the block tells another, and
/// orientation; nothing if it tells no area inside.
[[nodiscard]] std::optional<PhotoFocus> exif_focus(Bytes exif, std::int64_t width, std::int64_t height,
                                                   int orientation);

/// FocalLengthIn35mmFilm, in mm.
[[nodiscard]] std::optional<double> exif_focal_length(Bytes exif);

struct DepthItem {
  DepthTerms terms;
  FileBytes item;     ///< a PNG or JPEG file
  std::string mime;   ///< of it
  std::string place;  ///< where it lay
};

struct MatteItem {
  std::string name;
  FileBytes item;
};

struct PhotoSource {
  std::optional<DepthItem> depth;
  std::vector<MatteItem> mattes;
  PhotoOriginal original;           ///< empty if the file has none beside its picture
  std::optional<PhotoFocus> focus;  ///< by GFocus, its place turned upright
  std::string problem;              ///< why depth that is there cannot be used
};

/// `xmp` is the file's packet together with its extended part, `orientation` that of its picture.
[[nodiscard]] PhotoSource photo_source(Bytes file, Bytes xmp, int orientation);

}  // namespace satin::io
