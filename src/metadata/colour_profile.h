#pragma once
// ICC profiles: what they are called, and those of colours by the numbers of ITU-T H.273, as video codecs
// have them.

#include <string>

#include "metadata/bytes.h"

namespace satin::io {

struct CodedColour {
  int primaries = 2;  ///< 2: unknown
  int transfer = 2;
};

/// True for PQ and HLG, whose codes are far from those of sRGB.
[[nodiscard]] bool is_hdr(const CodedColour& colour);

/// A profile of such colours; empty if they are sRGB's, unknown, or if there is no Little CMS to make one.
/// The curves of BT.601, BT.709 and BT.2020 count as that of sRGB, as displays show them.
[[nodiscard]] FileBytes icc_profile(const CodedColour& colour);

/// What a profile calls itself; "unnamed" if it does not, is damaged, or if there is no Little CMS to ask.
[[nodiscard]] std::string profile_name(Bytes icc);

/// False for a profile of colours beside grey pixels, about which it says nothing, and the other way round
/// (ICC.1, 7.2.6).
[[nodiscard]] bool describes(Bytes icc, int channels);

}  // namespace satin::io
