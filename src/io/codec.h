#pragma once
// The interface between a file format and the rest of satin_io: one record, `Codec`, in the list of
// codecs.cpp.

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

/// Returns a set of enum values or small numbers as bits.
template <class... Values>
constexpr unsigned set_of(Values... values) {
  return (0U | ... | (1U << static_cast<unsigned>(values)));
}

/// Data that a file may carry beside the pixels.
enum class Carried { icc, exif, xmp, iptc, resolution, comments, png, channels, windows, gain_map };

/// Limits of a format that is written.
struct Holds {
  unsigned types = 0;                    ///< bits of Type
  unsigned channels = 0;                 ///< bits of channel counts
  unsigned alpha = set_of(Alpha::none);  ///< bits of Alpha
  bool extra = false;                    ///< 2 or 4 channels may mean something other than opacity
  std::int64_t max_side = (std::int64_t{1} << 31) - 1;  ///< largest width and height
  unsigned metadata = 0;                                ///< bits of Carried
  std::size_t longest_exif = SIZE_MAX;                  ///< bytes
};

/// A picture of a file that may hold several.
struct FilePicture {
  std::string name;          ///< name of an OpenEXR part; empty if it has none
  std::uint64_t at = 0;      ///< position for the codec; 0 for the picture that Codec::decode reads
  bool beside = false;       ///< another picture is the main one, which is read if none is chosen
  std::size_t left_out = 0;  ///< number of other pictures that are not read; the user is told
  std::uint64_t shift =
      0;  ///< TIFF stacks: bytes between the pixels that the directory names and those of this picture
};

/// Functions of a format whose files may hold several pictures. All are null for other formats.
struct SeveralPictures {
  const char* word = nullptr;  ///< "page" or "part", for messages
  /// Returns the pictures in their order, at least one. Throws like Codec::decode.
  std::vector<FilePicture> (*list)(Bytes bytes, const ReadOptions& options) = nullptr;
  /// Decodes one picture of the file. If Codec::decode reads the main picture, this function reads the
  /// others. If it is null, Codec::decode reads them too, from FilePicture::at on.
  Picture (*decode)(Bytes bytes, const FilePicture& picture, const ReadOptions& options) = nullptr;
  /// Encodes all images, each with its options, into one file. Null if a file holds one picture only.
  FileBytes (*encode)(std::span<const ImageView> images, std::span<const WriteOptions> options) = nullptr;
};

/// Facts about a file that decoding does not return.
struct FileFacts {
  std::optional<int> orientation{};  ///< orientation of the stored picture; empty if EXIF says it
  bool gain_map = false;
};

class InputFile;

/// Reads rows of a picture that stays in its file. Errors lack the name of the file.
class RowReader {
 public:
  RowReader(const RowReader&) = delete;
  RowReader& operator=(const RowReader&) = delete;
  virtual ~RowReader() = default;

  /// Reads rows into interleaved host memory, from row `y` on. All of them must exist.
  virtual void read(std::int64_t y, const MutableImageView& rows) = 0;

  Shape shape{};
  Metadata metadata{};  ///< same as from Codec::decode
  std::vector<std::string> warnings{};

 protected:
  RowReader() = default;
};

struct ModuleOfCodecs;

struct Codec {
  const char* name = "";
  std::vector<std::string_view> extensions;  ///< lower case, with the dot, the usual one first
  /// Recognises the format by the first bytes (at least 64 KiB, or the whole file). `extension` is that of
  /// the file name, in lower case, and decides only where the bytes alone cannot.
  bool (*sniff)(Bytes bytes, std::string_view extension) = nullptr;
  /// Null if the format is not read. Throws Error with the reason alone. The caller adds the name of the
  /// file.
  Picture (*decode)(Bytes bytes, const ReadOptions& options) = nullptr;
  /// Null if the format is not written, or by SeveralPictures::encode. The view is a dense, interleaved RGB
  /// picture that `holds` allows.
  FileBytes (*encode)(const ImageView& image, const WriteOptions& options) = nullptr;
  Holds holds = {};
  const char* advice = "";                 ///< reason and remedy where decode or encode is missing
  const ModuleOfCodecs* module = nullptr;  ///< holds the functions that loaded() sets; null: none is missing
  /// Returns the shape by the first bytes of the file (as for sniff), so that limits are checked before the
  /// rest is read. Throws like decode(). Null where files are not much larger than their header.
  Shape (*shape)(Bytes start) = nullptr;
  /// For formats that are only read: whether the picture has 8 bits and no alpha. Empty if these bytes, which
  /// may be just the start of a file, do not say.
  std::optional<bool> (*fits_jpeg)(Bytes bytes) = nullptr;
  /// Decodes like `decode` and fills in Picture::photo, except for facts from EXIF. Null for formats without
  /// depth.
  Picture (*decode_photo)(Bytes bytes, const ReadOptions& options) = nullptr;
  /// Returns the gain map of a file whose picture was decoded; nothing if it has none. Throws Error(input) if
  /// the map cannot be used. Null for formats without gain maps.
  std::optional<GainMap> (*read_gain_map)(Bytes bytes, const Picture& picture,
                                          const ReadOptions& options) = nullptr;
  /// Null if EXIF says everything.
  FileFacts (*facts)(Bytes bytes) = nullptr;
  SeveralPictures several = {};
  /// Opens a picture for reading row by row. Null if the format does not support it. `bytes` is the mapped
  /// file, valid during the call; `file` outlives the reader. Throws like `decode`, and Error(usage) with a
  /// remedy for files of the format that can be read only as a whole.
  std::unique_ptr<RowReader> (*open_rows)(const InputFile& file, Bytes bytes, const FilePicture& picture,
                                          const ReadOptions& options) = nullptr;
  /// Writes a file row by row. Null if the format does not support it. `rows` is at its first row, and
  /// `holds` allows its shape.
  void (*write_rows)(NewFile& file, RowSource& rows, const RowWriteOptions& options) = nullptr;

  [[nodiscard]] bool reads() const noexcept {
    return module != nullptr || decode != nullptr || several.decode != nullptr;
  }
  [[nodiscard]] bool writes() const noexcept {
    return encode != nullptr || several.encode != nullptr || (module != nullptr && holds.types != 0);
  }
};

/// Returns all formats, in the order in which inputs are compared with them.
[[nodiscard]] const std::vector<Codec>& codecs();

/// Returns an element of codecs() with the functions of its module. Throws Error(environment) if that is not
/// installed.
[[nodiscard]] const Codec& loaded(const Codec& codec);

/// Return the names of the types and the numbers of channels that a format holds.
[[nodiscard]] std::vector<std::string> types_in(const Holds& holds);
[[nodiscard]] std::vector<std::string> channels_in(const Holds& holds);

/// Returns the reason why the codec cannot hold the shape, with a remedy. Empty if it can.
[[nodiscard]] std::string why_not(const Codec& codec, const Shape& shape);

// Photographs with depth and mattes, and more pictures in a JPEG file (photo_depth.cpp).

/// Decodes the picture to be filtered and everything that the JPEG file carries with it. This is
/// Codec::decode_photo of JPEG.
[[nodiscard]] Picture decode_jpeg_photo(Bytes bytes, const ReadOptions& options);

/// Lists the picture of a JPEG file and those of its MPF index. This is SeveralPictures::list of JPEG.
[[nodiscard]] std::vector<FilePicture> list_jpegs(Bytes bytes, const ReadOptions& options);

/// Adds the facts from EXIF: the focus, unless a more exact one is known, and the focal length. `shape` is
/// that of the upright picture. Call it before describe_in_exif().
void complete_photo(Photo& photo, const Metadata& metadata, const Shape& shape);

/// A picture to be written, with the metadata blocks that hold its depth and original.
struct KeptPhoto {
  Image image;           ///< oriented like the depth and the original
  GainMap gain_map;      ///< likewise; empty if the options have none
  WriteOptions options;  ///< WriteOptions::photo is null
};

/// Stores depth and original of the photograph that the options name as GDepth and GImage in XMP, for JPEG.
[[nodiscard]] KeptPhoto keep_photo(const ImageView& image, const WriteOptions& options);

// Gain maps (gain_maps.cpp), those in JPEG files above all.

/// Adds the gain map of the main picture. One that cannot be used becomes a warning.
void add_gain_map(const Codec& codec, Bytes bytes, const ReadOptions& options, Picture& picture);

/// Encodes a picture without a gain map.
using Encoder = FileBytes(const ImageView& image, const WriteOptions& options);

/// This is Codec::read_gain_map of JPEG. A map of the photograph's original has precedence.
[[nodiscard]] std::optional<GainMap> read_jpeg_gain_map(Bytes bytes, const Picture& picture,
                                                        const ReadOptions& options);

/// Returns whether the file has a gain map, usable or not. This is Codec::facts of JPEG.
[[nodiscard]] FileFacts jpeg_facts(Bytes bytes);

/// Encodes picture and gain map as Ultra HDR with binary parameters beside those in XMP.
[[nodiscard]] FileBytes encode_with_gain_map(const ImageView& image, const WriteOptions& options,
                                             Encoder* encode);

/// Like jpeg_alone(), with the gain map of the file if that can be used.
[[nodiscard]] FileBytes jpeg_alone_with_gain_map(Bytes file);

// Records of the codecs, each defined in its codec_*.cpp.
[[nodiscard]] Codec png_codec();
[[nodiscard]] Codec jpeg_codec();
[[nodiscard]] Codec tiff_codec();
[[nodiscard]] Codec bmp_codec();
[[nodiscard]] Codec tga_codec();
[[nodiscard]] Codec hdr_codec();
[[nodiscard]] std::vector<Codec> pnm_codecs();
[[nodiscard]] Codec pfm_codec();
[[nodiscard]] Codec npy_codec();

/// The signature of TIFF, which camera RAW shares.
[[nodiscard]] bool sniff_tiff(Bytes bytes, std::string_view extension);

}  // namespace satin::io
