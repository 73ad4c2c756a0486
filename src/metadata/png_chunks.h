#pragma once
// The chunks of PNG files that decoders do not report.

#include "metadata/bytes.h"
#include "satin/metadata.h"

namespace satin::io {

struct PngChunks {
  bool animated = false;  ///< has an acTL chunk
  bool complete = false;  ///< reaches its IEND chunk
  std::string bad_chunk;  ///< name of the first chunk with a wrong checksum, if checksums are tested
  Bytes exif;             ///< content of the eXIf chunk
  // The members below come from chunks with a correct checksum.
  std::vector<Bytes> texts;                             ///< texts, including the chunks' names
  Bytes time, physical, significant_bits, code_points;  ///< contents of tIME, pHYs, sBIT and cICP
  Bytes xmp, iptc;       ///< last texts with these keywords, including the chunks' names
  bool profile = false;  ///< has an iCCP chunk
};

/// Keywords of texts with XMP and, from ImageMagick, IPTC, for which PNG has no chunk.
constexpr std::string_view png_xmp_keyword = "XML:com.adobe.xmp";
constexpr std::string_view png_iptc_keyword = "Raw profile type iptc";

/// Converts IPTC data to the text of such a chunk, and back; empty if there is none.
[[nodiscard]] std::string png_text_of_iptc(Bytes iptc);
[[nodiscard]] FileBytes iptc_of_png_text(std::string_view text);

[[nodiscard]] bool sniff_png(Bytes bytes, std::string_view extension);
[[nodiscard]] PngChunks scan_png(Bytes bytes, bool check_sums);
/// Returns the checksum of a chunk, by the library of the PNG codec, in which it is defined.
[[nodiscard]] std::uint32_t crc32_of(Bytes chunk) noexcept;

/// Throws if the file is an animation, or if its cICP chunk gives HDR values (PQ, HLG) or narrow range, which
/// would be wrong as sRGB.
void refuse_unreadable(const PngChunks& chunks);

/// Adds the metadata of chunks other than EXIF, XMP and profiles. `depth` is the number of bits of a channel.
void add_chunks(Metadata& metadata, const PngChunks& chunks, int channels, int depth);

/// Returns chunks with the same metadata, to be written before PLTE and IDAT.
[[nodiscard]] std::vector<PngChunk> chunks_of(const Metadata& metadata, int channels, int depth);

}  // namespace satin::io
