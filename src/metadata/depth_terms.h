#pragma once
// What the codes of a stored depth picture mean, by the words that a file has for it.

#include <optional>
#include <string>

#include "metadata/xmp_tree.h"
#include "satin/photo_depth.h"

namespace satin::io {

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

}  // namespace satin::io
