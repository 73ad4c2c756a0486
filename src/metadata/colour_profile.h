#pragma once
// ICC profiles: their names, and profiles for the colour codes of ITU-T H.273 that video codecs use.

#include <string>

#include "metadata/bytes.h"

namespace satin::io {

struct CodedColour {
  int primaries = 2;  ///< code of H.273, table 2; 2: unknown
  int transfer = 2;   ///< code of H.273, table 3; 2: unknown
};

/// Whether the transfer is PQ or HLG, whose codes are far from those of sRGB.
[[nodiscard]] bool is_hdr(const CodedColour& colour);

/// Returns a profile of these colours; empty if they are those of sRGB or unknown, or without Little CMS. The
/// curves of BT.601, BT.709 and BT.2020 count as that of sRGB, as on displays.
[[nodiscard]] FileBytes icc_profile(const CodedColour& colour);

/// Returns the name in a profile; "unnamed" if there is none, if it is damaged, or without Little CMS.
[[nodiscard]] std::string profile_name(Bytes icc);

/// Whether the profile is for colours if the picture has colours, or for grey if it is grey (ICC.1, 7.2.6).
[[nodiscard]] bool describes(Bytes icc, int channels);

}  // namespace satin::io
