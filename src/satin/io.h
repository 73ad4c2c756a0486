#pragma once
// Reading and writing image files. A target of its own (satin_io); the core library knows no file format.
//
// The format of an input is told by its first bytes, that of an output by the extension of its name. Depth is
// kept: a 16-bit PNG is read as u16 and written as 16 bits. Palettes and 1, 2 and 4 bits become u8. Colour
// order is always RGB. CMYK becomes sRGB by the profile in the file (relative colorimetric, black point
// compensation), without one by the plain product of ink and black, with a warning. Files with alpha give
// Alpha::straight; OpenEXR and float TIFF with associated alpha give Alpha::premultiplied. A file
// of several pictures, the pages of a TIFF or PNM file or the parts of an OpenEXR file, is refused until one
// of them is chosen. JPEG (by its MPF index), HEIC and AVIF have a chief picture, and a TIFF page may have
// transparency masks: it is read, with a warning that counts the others, unless one or all are chosen.
// Thumbnails, steps of a pyramid, gain maps, depth and mattes are no pages.
//
// HEIC, AVIF and JPEG 2000 of 9 to 16 bits become u16 over its whole range, rounded to nearest; the alpha of
// HEIC and AVIF is divided out. Their colours by numbers (nclx) become an ICC profile; PQ and HLG without a
// profile are refused. A file whose kind a library does not read is told from a damaged one.
//
// Metadata. ICC profile, EXIF and XMP travel as opaque blocks between JPEG, PNG, TIFF and WebP, and IPTC
// between JPEG and TIFF, with these changes: the orientation becomes 1, as pictures are read upright; sizes
// become those of the picture; EXIF and XMP thumbnails and maker notes that hold a preview are dropped, as
// they show the picture as it was. EXIF of TIFF files is rebuilt from the tags that describe the picture.
//
// Depth, gain maps and originals beside a picture stay behind, with the words of metadata that name them,
// unless WriteOptions::photo keeps them.
//
// Every function may be called from several threads at once.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "satin/image.h"
#include "satin/metadata.h"

namespace [[gnu::visibility("default")]] satin {

/// Limits that are checked before anything is allocated.
struct ReadLimits {
  std::uint64_t pixels = std::uint64_t{1} << 30;  ///< width times height
  std::uint64_t bytes = std::uint64_t{1} << 34;   ///< of the decoded picture, and of the file
};

/// How a file is read.
struct ReadOptions {
  ReadLimits limits{};                 ///< above them it is refused
  std::optional<std::int64_t> page{};  ///< the page of a file that is read, from 1
  std::string part{};      ///< likewise the part of an OpenEXR file, by its name or its number from 1
  bool all_pages = false;  ///< read_pictures() reads all pages or parts
  /// Takes what there is of a JPEG, PNG, TIFF or OpenEXR file that ends early or is damaged behind its
  /// header, with a warning. What is missing is 0; in JPEG the last colour goes on.
  bool allow_partial = false;
  /// Reads what a photograph carries for refocusing into Picture::photo, with its depth decoded. The picture
  /// is then the sharp original, where the file has one.
  bool photo_depth = false;
  bool filterable = false;  ///< refuses pixels of u32, u64 and f64, which no filter takes
  /// Where decoded pixels lie, those of named channels too: page-locked memory for a GPU, for instance.
  /// Empty: in memory of the system.
  Allocator allocator{};
  /// Told what the header says before memory is taken for the picture, and again when more of it is known:
  /// the shape as it is stored, and the bytes beside it that decoding takes. What it throws is thrown on.
  std::function<void(const Shape& shape, std::uint64_t beside)> accept{};
};

/// One entry of the list of formats.
struct FormatInfo {
  std::string name;                     ///< "PNG"
  std::vector<std::string> extensions;  ///< ".png"; lower case
  bool reads = false;                   ///< this build does
  bool writes = false;                  ///< this build does
  bool pages = false;                   ///< a file may hold several pictures of which none is the chief one
  std::string types;                    ///< "u8 u16"; what it can hold when written
  std::string channels;                 ///< "1 2 3 4"; likewise
};

/// The formats that this build reads or writes.
[[nodiscard]] std::vector<FormatInfo> formats();

/// Reads a picture, upright (EXIF orientation applied), in host memory. `-` is standard input. Throws
/// Error(input) with the file's name, the reason and the remedy for missing, unreadable, empty, damaged and
/// truncated files, files over the limits, files of several pictures and formats that are not read;
/// Error(environment) if there is no memory or a library that the format needs is not installed.
[[nodiscard]] Image read_image(const std::filesystem::path& path, const ReadLimits& limits = {});

/// read_image() with metadata, named channels and warnings, or another picture of the file. Throws
/// Error(usage) for a page or a part that is not there.
[[nodiscard]] Picture read_picture(const std::filesystem::path& path, const ReadOptions& options = {});

/// The picture that read_picture() reads or, with ReadOptions::all_pages, all of the file: together they must
/// be within ReadLimits::bytes. Throws as read_picture().
[[nodiscard]] std::vector<Picture> read_pictures(const std::filesystem::path& path,
                                                 const ReadOptions& options = {});

/// The picture of a file that must hold no other one, such as a mask, whatever the options choose. Throws as
/// read_picture().
[[nodiscard]] Picture read_only_picture(const std::filesystem::path& path, const ReadOptions& options = {});

/// How many pictures read_pictures() would read. Throws as it does what can be told without decoding; a file
/// of a format that holds one picture is not read beyond its beginning.
[[nodiscard]] std::size_t count_pictures(const std::filesystem::path& path, const ReadOptions& options = {});

/// Decodes a picture from memory; `name` is used in messages only.
[[nodiscard]] Image decode_image(std::span<const std::byte> bytes, const std::string& name,
                                 const ReadLimits& limits = {});
/// decode_image() with metadata, named channels and warnings.
[[nodiscard]] Picture decode_picture(std::span<const std::byte> bytes, const std::string& name,
                                     const ReadOptions& options = {});

/// How a file is written.
struct WriteOptions {
  bool overwrite = false;  ///< otherwise an existing file is refused with Error(usage)
  /// JPEG and WebP, 1 to 100. Without it a JPEG takes the quantisers and the subsampling of `metadata.jpeg`;
  /// otherwise it is 95.
  std::optional<int> quality{};
  /// Writes u16 and f32 to formats that do not hold them, in the deepest type that they do: rounded; floats
  /// as linear light of 0 to 1, clipped, in sRGB codes. Writes u8 and u16 to formats of floats as linear
  /// light by the profile's curves, or sRGB's. Otherwise such pictures are refused.
  bool convert = false;
  bool dither = false;   ///< of 8 bits made by `convert`: ordered, the same every time
  std::string format{};  ///< extension with its dot; empty: that of the path. Needed when the path is `-`
  Metadata metadata{};   ///< what goes into the file beside the pixels
  std::span<const NamedChannel> channels{};  ///< written by OpenEXR; they must outlive the call
  /// Not null: JPEG alone. Depth, sharp original and focus go into the file, as GDepth, GImage and GFocus, so
  /// that ReadOptions::photo_depth finds them there; the picture is stored as those lie. It must outlive the
  /// call.
  const Photo* photo = nullptr;
  PhotoBlur blur{};                                           ///< of `photo`: where the picture is sharp
  std::optional<std::filesystem::file_time_type> modified{};  ///< time of the file; otherwise now
};

/// Says what WriteOptions::convert does to a picture of this shape in a file of this format; empty if
/// nothing.
[[nodiscard]] std::string what_is_converted(const std::string& extension, const Shape& shape);

/// Says which blocks of the metadata (and which channels) a file of this format does not hold; empty if none.
[[nodiscard]] std::string what_is_lost(const std::string& extension, const Metadata& metadata,
                                       std::span<const NamedChannel> channels = {});

/// True if JPEG holds the bits and the channels of the picture in this file, as far as the file's header
/// tells: 8 bits without alpha. Never throws for what is in the file.
[[nodiscard]] bool fits_jpeg(const std::filesystem::path& file);

/// Throws Error(usage) if a picture of this shape cannot be written under this name: unknown extension, a
/// type or a number of channels that the format does not hold, a missing folder, an existing file without
/// `overwrite`, no permission. Error(environment) if a library that the format needs is not installed.
/// Creates nothing.
void check_writable(const std::filesystem::path& path, const Shape& shape, const WriteOptions& options = {});

/// Writes a host picture atomically: encoded in memory, written to a temporary file in the same folder,
/// synchronised, renamed. On failure an existing file is untouched and nothing is left behind. Permissions of
/// a replaced file are kept; a symbolic link stays one, and its file is replaced. `-` is standard output;
/// devices and pipes are written to directly (a closed pipe raises SIGPIPE unless the program ignores that).
/// Throws as check_writable(); Error(input) if it cannot be written, or holds values that the format does not
/// (PBM: other than 0 and 255, HDR: negative or not finite); Error(environment) if the disk is full.
void write_image(const std::filesystem::path& path, const ImageView& image, const WriteOptions& options = {});

/// Writes one file with a page (TIFF) or a part (OpenEXR) for each picture, with its own metadata and
/// channels; what concerns the file as a whole is that of the first of the options. There are as many of them
/// as images, one at least. Throws as write_image(), Error(usage) if the format holds one picture and there
/// are several.
void write_pages(const std::filesystem::path& path, std::span<const ImageView> images,
                 std::span<const WriteOptions> options);

/// Throws Error(usage) if files of this format hold one picture only.
void check_holds_pages(const std::filesystem::path& path, const WriteOptions& options = {});

/// Throws Error(usage) if no file can be written under this name: a missing folder, no permission, an
/// existing file without `overwrite`. Creates nothing.
void check_target(const std::filesystem::path& path, bool overwrite);

/// Writes a file that is no picture, as write_image() does: all of it or nothing.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes, bool overwrite);

/// The encoded file in memory; `extension` with its dot chooses the format.
[[nodiscard]] std::vector<std::byte> encode_image(const ImageView& image, const std::string& extension,
                                                  const WriteOptions& options = {});

/// True if both names lead to one file, by links too; files that do not exist yet are compared by their full
/// names. `-` is the same as nothing.
[[nodiscard]] bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace satin
