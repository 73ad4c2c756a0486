#pragma once
// What every file format is to the rest of satin_io: one record in the list of codecs.cpp.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metadata/bytes.h"
#include "satin/image.h"
#include "satin/io.h"
#include "satin/new_file.h"
#include "satin/row_files.h"

namespace satin::io {

/// The set of values of an enum or of small numbers, as bits.
template <class... Values>
constexpr unsigned set_of(Values... values) {
  return (0U | ... | (1U << static_cast<unsigned>(values)));
}

/// What a file may carry beside the pixels.
enum class Carried { icc, exif, xmp, iptc, resolution, comments, png, channels, windows };

/// What a format can hold when it is written.
struct Holds {
  unsigned types = 0;                    ///< set of Type
  unsigned channels = 0;                 ///< set of channel counts
  unsigned alpha = set_of(Alpha::none);  ///< set of Alpha
  bool extra = false;                    ///< 2 or 4 channels may mean something other than opacity
  std::int64_t max_side = (std::int64_t{1} << 31) - 1;  ///< largest width and height
  unsigned metadata = 0;                                ///< set of Carried
  std::size_t longest_exif = SIZE_MAX;                  ///< in bytes
};

/// One of the pictures in a file.
struct FilePicture {
  std::string name;          ///< of a part of OpenEXR; empty if it has none
  std::uint64_t at = 0;      ///< where the codec finds it; 0 for the picture that Codec::decode reads
  bool beside = false;       ///< there is a chief picture, which is read if none is chosen
  std::size_t left_out = 0;  ///< pictures beside this one that are not read; the user is told
  std::uint64_t shift = 0;   ///< of TIFF: bytes between the pixels that its directory names and its own
};

/// What a format has whose files may hold several pictures; otherwise nothing is set.
struct SeveralPictures {
  const char* word = nullptr;  ///< "page"
  /// The pictures in their order, one at least. Throws as Codec::decode.
  std::vector<FilePicture> (*list)(Bytes bytes, const ReadOptions& options) = nullptr;
  /// Decodes one picture of the file. Where Codec::decode reads the chief picture, this reads the others;
  /// null: it reads them too, from FilePicture::at on.
  Picture (*decode)(Bytes bytes, const FilePicture& picture, const ReadOptions& options) = nullptr;
  /// One file of all, with as many options as images; null if such files are read alone.
  FileBytes (*encode)(std::span<const ImageView> images, std::span<const WriteOptions> options) = nullptr;
};

/// What a file says of itself beside what is decoded.
struct FileFacts {
  std::optional<int> orientation{};  ///< of the stored picture; absent: as EXIF says
  bool gain_map = false;
};

class InputFile;

/// One picture of a file. Errors lack the name of the file.
class RowReader {
 public:
  RowReader(const RowReader&) = delete;
  RowReader& operator=(const RowReader&) = delete;
  virtual ~RowReader() = default;

  /// Those from row `y` on, which exist, to interleaved host memory.
  virtual void read(std::int64_t y, const MutableImageView& rows) = 0;

  Shape shape{};
  Metadata metadata{};  ///< as Codec::decode gives it
  std::vector<std::string> warnings{};

 protected:
  RowReader() = default;
};

struct Codec {
  const char* name = "";
  std::vector<std::string_view> extensions;  ///< lower case, with the dot; the first one is the usual one
  /// Tells the format by the first bytes (64 KiB at least, or the whole file). `extension` is that of the
  /// file's name, in lower case, and decides only where the bytes alone cannot.
  bool (*sniff)(Bytes bytes, std::string_view extension) = nullptr;
  /// Null if the format is not read. Throws Error with the reason alone; the caller adds the name of the
  /// file.
  Picture (*decode)(Bytes bytes, const ReadOptions& options) = nullptr;
  /// Null if the format is not written. The view is a dense, interleaved RGB picture that `holds` allows.
  FileBytes (*encode)(const ImageView& image, const WriteOptions& options) = nullptr;
  Holds holds = {};
  const char* advice = "";  ///< where decode or encode is missing: why, and what to do
  /// Loads what the codec needs. Throws Error(environment) if that is not installed.
  void (*require)() = nullptr;
  /// For files that may be far larger than their header: checks what the header says, from the first bytes
  /// (as for sniff), as decode() will do. What is damaged there is left to decode().
  void (*look)(Bytes start, const ReadOptions& options) = nullptr;
  /// Of a format that is read alone: true for 8 bits without alpha; nothing if these bytes, which may be the
  /// start of a file, do not tell.
  std::optional<bool> (*fits_jpeg)(Bytes bytes) = nullptr;
  /// As decode, with Picture::photo but for what EXIF tells; null for formats that carry no depth.
  Picture (*decode_photo)(Bytes bytes, const ReadOptions& options) = nullptr;
  /// Null: nothing but EXIF tells.
  FileFacts (*facts)(Bytes bytes) = nullptr;
  SeveralPictures several = {};
  /// Null if the format is read as a whole only. `bytes` are those of the file, mapped for the length of the
  /// call; `file` outlives the reader. Throws as `decode`, and Error(usage) with the remedy for what is read
  /// as a whole only.
  std::unique_ptr<RowReader> (*open_rows)(const InputFile& file, Bytes bytes, const FilePicture& picture,
                                          const ReadOptions& options) = nullptr;
  /// Null if the format is written as a whole only. The source stands at its top, and `holds` allows its
  /// shape.
  void (*write_rows)(NewFile& file, RowSource& rows, const RowWriteOptions& options) = nullptr;

  [[nodiscard]] bool reads() const noexcept { return decode != nullptr || several.decode != nullptr; }
};

/// Every format that Satin knows, in the order in which inputs are compared with them.
[[nodiscard]] const std::vector<Codec>& codecs();

/// The types that it can hold, by name, and the numbers of channels.
[[nodiscard]] std::vector<std::string> types_in(const Holds& holds);
[[nodiscard]] std::vector<std::string> channels_in(const Holds& holds);

/// Empty if the codec can hold the shape, otherwise the reason with a remedy.
[[nodiscard]] std::string why_not(const Codec& codec, const Shape& shape);

// Records, one function a file of codec_*.cpp.
[[nodiscard]] Codec png_codec();
[[nodiscard]] Codec jpeg_codec();
[[nodiscard]] Codec tiff_codec();
[[nodiscard]] Codec bmp_codec();
[[nodiscard]] Codec tga_codec();
[[nodiscard]] Codec hdr_codec();
[[nodiscard]] std::vector<Codec> pnm_codecs();
[[nodiscard]] Codec pfm_codec();
[[nodiscard]] Codec npy_codec();
[[nodiscard]] Codec exr_codec();
[[nodiscard]] Codec webp_codec();
[[nodiscard]] Codec jpeg2000_codec();
[[nodiscard]] Codec heic_codec();
[[nodiscard]] Codec avif_codec();
[[nodiscard]] std::vector<Codec> refused_codecs();

/// A format that is told by its bytes, so that it can be refused with advice.
[[nodiscard]] Codec refused(const char* name, std::vector<std::string_view> extensions,
                            bool (*sniff)(Bytes, std::string_view), const char* advice);

// Signatures that are needed where the codec itself is not built.
[[nodiscard]] bool sniff_tiff(Bytes bytes, std::string_view extension);
[[nodiscard]] bool sniff_exr(Bytes bytes, std::string_view extension);
[[nodiscard]] bool sniff_webp(Bytes bytes, std::string_view extension);
[[nodiscard]] bool sniff_jpeg2000(Bytes bytes, std::string_view extension);
[[nodiscard]] bool sniff_heic(Bytes bytes, std::string_view extension);
[[nodiscard]] bool sniff_avif(Bytes bytes, std::string_view extension);

}  // namespace satin::io
