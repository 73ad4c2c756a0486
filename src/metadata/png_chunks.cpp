#include "metadata/png_chunks.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "metadata/exif.h"
#include "metadata/iptc.h"

namespace satin::io {
namespace {

constexpr std::string_view signature = "\x89PNG\r\n\x1a\n";

constexpr std::string_view hexadecimal = "0123456789abcdef";

std::string_view keyword_of(Bytes content) { return text_of(content).substr(0, text_of(content).find('\0')); }

/// Whether the text has a valid keyword (PNG, 11.3.3.2) and no metadata block. XMP and, from ImageMagick,
/// EXIF, IPTC and profiles are blocks, which may contain pictures of the old state.
bool is_plain_text(Bytes content) {
  constexpr std::size_t longest_keyword = 79;
  const std::string_view text = text_of(content);
  const std::string_view keyword = keyword_of(content);
  return !keyword.empty() && keyword.size() <= longest_keyword && keyword.size() < text.size() &&
         keyword != png_xmp_keyword && !keyword.starts_with("Raw profile type ");
}

/// `chunk` begins with its name.
void keep(PngChunks& chunks, Bytes chunk) {
  const std::string_view name = text_of(chunk.first(4));
  const Bytes content = chunk.subspan(4);
  if ((name == "tEXt" || name == "zTXt" || name == "iTXt") && is_plain_text(content))
    chunks.texts.push_back(chunk);
  if (name == "iTXt" && keyword_of(content) == png_xmp_keyword) chunks.xmp = chunk;
  if ((name == "tEXt" || name == "zTXt") && keyword_of(content) == png_iptc_keyword) chunks.iptc = chunk;
  if (name == "iCCP") chunks.profile = true;
  if (name == "tIME" && content.size() == 7) chunks.time = content;
  if (name == "pHYs") chunks.physical = content;
  if (name == "sBIT") chunks.significant_bits = content;
  if (name == "cICP" && content.size() == 4) chunks.code_points = content;
}

PngChunk chunk_of(const char* name, Bytes content) { return {name, copy_of(content)}; }

}  // namespace

bool sniff_png(Bytes bytes, std::string_view) { return starts_with(bytes, signature); }

PngChunks scan_png(Bytes bytes, bool check_sums) {
  PngChunks result;
  std::size_t at = signature.size();
  while (at <= bytes.size() && bytes.size() - at >= 12) {
    const std::size_t length = be32(bytes, at);
    if (length > bytes.size() - at - 12) break;
    const auto is = [&](std::string_view name) { return starts_with(bytes, name, at + 4); };
    const Bytes chunk = bytes.subspan(at + 4, length + 4);
    const bool is_pixels = is("IDAT");
    if ((!is_pixels || check_sums) && crc32_of(chunk) == be32(bytes, at + 8 + length))
      keep(result, chunk);
    else if (check_sums && result.bad_chunk.empty())
      result.bad_chunk = text_of(chunk.first(4));
    if (is("acTL")) result.animated = true;
    if (is("eXIf")) result.exif = bytes.subspan(at + 8, length);
    if (is("IEND")) {
      result.complete = true;
      break;
    }
    at += length + 12;
  }
  return result;
}

void refuse_unreadable(const PngChunks& chunks) {
  if (chunks.animated)
    unsupported("PNG", "animation (APNG)",
                "Save the frames as separate .png files first, for example with ffmpeg.");
  if (chunks.code_points.empty()) return;
  constexpr unsigned pq = 16, hlg = 18;  // ITU-T H.273, table 3
  constexpr std::string_view advice = "Convert it to sRGB first, for example with ffmpeg.";
  const unsigned transfer = byte_at(chunks.code_points, 1);
  if (transfer == pq || transfer == hlg)
    unsupported("PNG", std::string("the HDR transfer ") + (transfer == pq ? "PQ" : "HLG") + " (cICP)",
                std::string(advice));
  if (byte_at(chunks.code_points, 3) == 0)
    unsupported("PNG", "values of narrow range (cICP)", std::string(advice));
}

std::string png_text_of_iptc(Bytes iptc) {
  if (iptc.empty()) return {};
  constexpr std::size_t bytes_a_line = 36;
  const FileBytes resources = resources_of_iptc(iptc);
  std::string text = "\niptc\n" + std::to_string(resources.size());
  for (std::size_t i = 0; i < resources.size(); ++i) {
    if (i % bytes_a_line == 0) text += '\n';
    text += hexadecimal[byte_at(resources, i) >> 4];
    text += hexadecimal[byte_at(resources, i) & 15U];
  }
  return text += '\n';
}

FileBytes iptc_of_png_text(std::string_view text) {
  // Digits follow an empty line, a name and a length.
  for (int line = 0; line < 3; ++line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  FileBytes bytes;
  unsigned value = 1;  // a one, followed by the digits of the current byte
  for (const char c : text) {
    const std::size_t digit = hexadecimal.find(c);
    if (digit == std::string_view::npos) continue;
    value = value << 4 | static_cast<unsigned>(digit);
    if (value < 0x100) continue;
    bytes.push_back(static_cast<std::byte>(value & 255U));
    value = 1;
  }
  const FileBytes in_resources = iptc_in_resources(bytes);
  return in_resources.empty() ? copy_of(iptc_data_sets(bytes)) : in_resources;
}

void add_chunks(Metadata& metadata, const PngChunks& chunks, int channels, int depth) {
  for (const Bytes text : chunks.texts)
    metadata.png_texts.push_back({std::string(text_of(text.first(4))), copy_of(text.subspan(4))});
  metadata.png_time = copy_of(chunks.time);
  metadata.resolution = resolution_of_physical(chunks.physical);
  for (const std::byte bits : chunks.significant_bits)
    metadata.significant_bits.push_back(std::to_integer<std::uint8_t>(bits));
  // Alpha from a tRNS chunk has no number of its own.
  const std::size_t numbers = metadata.significant_bits.size();
  if (numbers != 0 && numbers + 1 == static_cast<std::size_t>(channels))
    metadata.significant_bits.push_back(static_cast<std::uint8_t>(depth));
  if (chunks.code_points.empty()) return;
  std::array<std::uint8_t, 4>& code_points = metadata.png.code_points.emplace();
  for (std::size_t i = 0; i < code_points.size(); ++i)
    code_points[i] = std::to_integer<std::uint8_t>(chunks.code_points[i]);
}

std::vector<PngChunk> chunks_of(const Metadata& metadata, int channels, int depth) {
  std::vector<PngChunk> chunks;
  if (metadata.png.code_points)
    chunks.push_back(chunk_of("cICP", std::as_bytes(std::span(*metadata.png.code_points))));
  // With another number of channels it is another picture, such as a mask.
  if (metadata.significant_bits.size() == static_cast<std::size_t>(channels)) {
    std::vector<std::uint8_t> bits = metadata.significant_bits;
    for (std::uint8_t& channel : bits)
      channel = std::clamp<std::uint8_t>(channel, 1, static_cast<std::uint8_t>(depth));
    chunks.push_back(chunk_of("sBIT", std::as_bytes(std::span(bits))));
  }
  if (const auto physical = metadata.resolution ? physical_of(*metadata.resolution) : std::nullopt) {
    Sink sink;
    sink.be32(physical->x);
    sink.be32(physical->y);
    sink.u8(physical->unit);
    chunks.push_back({"pHYs", std::move(sink.bytes)});
  }
  if (!metadata.png_time.empty()) chunks.push_back({"tIME", metadata.png_time});
  constexpr std::size_t name_size = 4;
  std::ranges::copy_if(metadata.png_texts, std::back_inserter(chunks),
                       [](const PngChunk& text) { return text.name.size() == name_size; });
  return chunks;
}

}  // namespace satin::io
