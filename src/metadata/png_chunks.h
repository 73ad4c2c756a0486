#pragma once
// The chunk structure of PNG files, for what the decoders do not tell.

#include "metadata/bytes.h"
#include "satin/metadata.h"

namespace satin::io {

struct PngChunks {
  bool animated = false;  ///< has an acTL chunk
  bool complete = false;  ///< reaches its IEND chunk
  std::string bad_chunk;  ///< name of the first chunk with a wrong checksum; only looked for on request
  Bytes exif;             ///< content of the eXIf chunk
  /// Chunks with a right checksum that are carried as they are.
  std::vector<Bytes> texts;                             ///< from their names on
  Bytes time, physical, significant_bits, code_points;  ///< contents of tIME, pHYs, sBIT and cICP
  Bytes xmp, iptc;       ///< the last texts with these keywords, from their names on
  bool profile = false;  ///< has an iCCP chunk
};

/// The keywords of texts that hold XMP and, as ImageMagick writes it, IPTC: PNG has no chunk for that.
constexpr std::string_view png_xmp_keyword = "XML:com.adobe.xmp";
constexpr std::string_view png_iptc_keyword = "Raw profile type iptc";

/// IPTC data as the text of such a chunk, and back; empty if there is none.
[[nodiscard]] std::string png_text_of_iptc(Bytes iptc);
[[nodiscard]] FileBytes iptc_of_png_text(std::string_view text);

[[nodiscard]] bool sniff_png(Bytes bytes, std::string_view extension);
[[nodiscard]] PngChunks scan_png(Bytes bytes, bool check_sums);
[[nodiscard]] std::uint32_t crc32_of(Bytes bytes) noexcept;

/// Throws if the file is an animation, or if its cICP chunk says that its values are of HDR (PQ, HLG) or do
/// not fill the range: taken for sRGB they would be wrong.
void refuse_unreadable(const PngChunks& chunks);

/// What the chunks say beside EXIF, XMP and profiles, of a picture with so many channels of so many bits.
void add_chunks(Metadata& metadata, const PngChunks& chunks, int channels, int depth);

/// These say it again, written before PLTE and IDAT.
[[nodiscard]] std::vector<PngChunk> chunks_of(const Metadata& metadata, int channels, int depth);

}  // namespace satin::io
