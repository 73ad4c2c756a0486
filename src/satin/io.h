#pragma once
// Reading and writing image files. This is the target satin_io; the core library knows no file format.
//
// The first bytes of an input determine its format; the extension of an output determines its format. Bit
// depth is kept: a 16-bit PNG is read as u16 and written as 16 bits. Palettes and 1, 2 and 4 bits become u8.
// Colour order is always RGB. CMYK becomes sRGB by the profile in the file (relative colorimetric, black
// point compensation), or without one by the product of ink and black, with a warning. Files with alpha give
// Alpha::straight; OpenEXR and float TIFF with associated alpha give Alpha::premultiplied. A file with
// several pictures (pages of TIFF or PNM, parts of OpenEXR) is refused unless one or all of them are chosen.
// JPEG with an MPF index, HEIC and AVIF have a primary picture, and a TIFF page may have transparency masks;
// the primary picture is read, with a warning that counts the others, unless one or all are chosen.
// Thumbnails, levels of a pyramid, gain maps, depth and mattes are not pages.
//
// HEIC, AVIF and JPEG 2000 of 9 to 16 bits are scaled to the whole range of u16, rounded to nearest.
// Premultiplied alpha of HEIC and AVIF is divided out, and their nclx colours become an ICC profile; PQ and
// HLG without a profile are refused. Messages distinguish a variant that a library does not read from a
// damaged file.
//
// Metadata. ICC profile, EXIF and XMP travel as opaque blocks between JPEG, PNG, TIFF and WebP, and IPTC
// between JPEG and TIFF, with these changes: the orientation becomes 1, as pictures are read upright; sizes
// become those of the picture; EXIF and XMP thumbnails and maker notes that hold a preview are dropped, as
// they show the picture as it was. The subject's place and the resolution of the focal plane are turned with
// the picture. EXIF of TIFF files is rebuilt from the tags that describe the picture.
//
// Depth, gain maps and originals beside a picture are dropped, with the metadata entries that refer to them,
// unless WriteOptions::photo and WriteOptions::gain_map keep them.
//
// Several threads may call any function at once.

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
  std::uint64_t pixels = std::uint64_t{1} << 30;  ///< largest width times height
  std::uint64_t bytes = std::uint64_t{1} << 34;   ///< largest size of the decoded picture, and of the file
};

/// Options for reading a file.
struct ReadOptions {
  ReadLimits limits{};                 ///< limits above which a file is refused
  std::optional<std::int64_t> page{};  ///< page to read, from 1
  std::string part{};                  ///< part of an OpenEXR file to read, by its name or its number from 1
  bool all_pages = false;              ///< makes read_pictures() read all pages or parts
  /// Reads the intact part of a JPEG, PNG, TIFF or OpenEXR file that is truncated or damaged behind its
  /// header, with a warning. Missing pixels are 0; in JPEG they repeat the last colour.
  bool allow_partial = false;
  /// Reads depth, mattes and focus of a photograph into Picture::photo. The picture is then the sharp
  /// original, if the file has one.
  bool photo_depth = false;
  /// Reads the gain map of a photograph into Picture::gain_map. A map that cannot be used is left out with a
  /// warning.
  bool gain_map = false;
  bool filterable = false;  ///< refuses u32, u64 and f64, which no filter accepts
  /// Source of memory for decoded pixels and named channels, such as page-locked memory for a GPU. Empty: the
  /// system.
  Allocator allocator{};
  /// Called before memory is allocated for the picture, and again when more is known, with the stored shape
  /// and the additional bytes that decoding needs. Its exceptions reach the caller.
  std::function<void(const Shape& shape, std::uint64_t beside)> accept{};
  /// Returns the size that suffices for an upright picture of this size. JPEG is then decoded at a half, a
  /// quarter or an eighth, as long as neither side is smaller. The pixels differ from those of a reduced
  /// picture. Empty: every picture is decoded in its own size.
  std::function<Shape(const Shape& picture)> enough{};
};

/// A file format.
struct FormatInfo {
  std::string name;                     ///< name, such as "PNG"
  std::vector<std::string> extensions;  ///< extensions in lower case, such as ".png"
  bool reads = false;                   ///< whether this build reads it
  bool writes = false;                  ///< whether this build writes it
  bool pages = false;    ///< whether a file may hold several pictures with none of them primary
  std::string types;     ///< types that it can hold when written, such as "u8 u16"
  std::string channels;  ///< numbers of channels that it can hold when written, such as "1 2 3 4"
};

/// Returns the formats that this build reads or writes.
[[nodiscard]] std::vector<FormatInfo> formats();

/// Reads a picture, upright (EXIF orientation applied), in host memory. `-` is standard input. Throws
/// Error(input) with the file's name, the reason and the remedy for missing, unreadable, empty, damaged and
/// truncated files, files over the limits, files of several pictures and formats that are not read;
/// Error(environment) if there is no memory or a library that the format needs is not installed.
[[nodiscard]] Image read_image(const std::filesystem::path& path, const ReadLimits& limits = {});

/// Reads a picture with metadata, named channels and warnings, or another picture of the file. Throws as
/// read_image(), and Error(usage) for a page or a part that does not exist.
[[nodiscard]] Picture read_picture(const std::filesystem::path& path, const ReadOptions& options = {});

/// Reads the picture that read_picture() reads or, with ReadOptions::all_pages, all pictures of the file.
/// Together they must be within ReadLimits::bytes. Throws as read_picture().
[[nodiscard]] std::vector<Picture> read_pictures(const std::filesystem::path& path,
                                                 const ReadOptions& options = {});

/// Reads a file that must hold a single picture, such as a mask, whatever the options choose. Throws as
/// read_picture().
[[nodiscard]] Picture read_only_picture(const std::filesystem::path& path, const ReadOptions& options = {});

/// Returns how many pictures read_pictures() would read. Throws as read_pictures(), except for errors that
/// only decoding finds. A file of a format with a single picture is not read beyond its beginning.
[[nodiscard]] std::size_t count_pictures(const std::filesystem::path& path, const ReadOptions& options = {});

/// Returns the size of the upright picture that read_picture() would read, or of the first of
/// read_pictures(). JPEG, PNG and formats that are read row by row are not decoded. Throws as read_picture(),
/// and Error(usage) for standard input, devices and pipes.
[[nodiscard]] Shape read_shape(const std::filesystem::path& path, const ReadOptions& options = {});

/// Decodes a picture from memory; `name` is used in messages only.
[[nodiscard]] Image decode_image(std::span<const std::byte> bytes, const std::string& name,
                                 const ReadLimits& limits = {});
/// Decodes a picture with metadata, named channels and warnings from memory.
[[nodiscard]] Picture decode_picture(std::span<const std::byte> bytes, const std::string& name,
                                     const ReadOptions& options = {});

/// Options for writing a file.
struct WriteOptions {
  bool overwrite = false;  ///< replaces an existing file, which is otherwise refused with Error(usage)
  /// Quality of JPEG and WebP, 1 to 100. Unset: a JPEG uses the quantisers and the subsampling of
  /// `metadata.jpeg`; without those, 95.
  std::optional<int> quality{};
  /// Converts pictures to a type that the format can hold; without it they are refused. u16 and f32 are
  /// rounded to the deepest type of the format; floats count as linear light, are clipped to 0 to 1 and
  /// become sRGB codes. u8 and u16 are written to formats of floats as linear light, decoded by the profile's
  /// curves or sRGB's.
  bool convert = false;
  bool dither =
      false;  ///< dithers 8-bit results of `convert`, in an ordered pattern that is the same every time
  std::string format{};  ///< extension with its dot; empty: that of the path. Required if the path is `-`
  Metadata metadata{};   ///< metadata to write
  std::span<const NamedChannel>
      channels{};  ///< named channels, written by OpenEXR only; they must outlive the call
  /// Depth, sharp original and focus, stored as GDepth, GImage and GFocus so that ReadOptions::photo_depth
  /// finds them; the picture is stored in their orientation. JPEG only. Must outlive the call.
  const Photo* photo = nullptr;
  /// Gain map, stored as Ultra HDR (XMP) and ISO 21496-1 both. JPEG only; what_is_lost() names it for other
  /// formats. Must outlive the call.
  const GainMap* gain_map = nullptr;
  PhotoBlur blur{};                                           ///< focus and blur to store with `photo`
  std::optional<std::filesystem::file_time_type> modified{};  ///< modification time; unset: now
  /// Called with the complete temporary file before it is renamed; if it throws, nothing is replaced.
  std::function<void(const std::filesystem::path& temporary)> before_rename{};
};

/// Describes the conversion by WriteOptions::convert of a picture of this shape to this format; empty if
/// there is none.
[[nodiscard]] std::string what_is_converted(const std::string& extension, const Shape& shape);

/// Lists the metadata (and the channels, and the gain map) that a file of this format cannot hold; empty if
/// there are none.
[[nodiscard]] std::string what_is_lost(const std::string& extension, const Metadata& metadata,
                                       std::span<const NamedChannel> channels = {}, bool gain_map = false);

/// Whether JPEG can hold the picture in this file (8 bits without alpha), according to its header. Does not
/// throw for the contents of the file.
[[nodiscard]] bool fits_jpeg(const std::filesystem::path& file);

/// Throws Error(usage) if a picture of this shape cannot be written under this name: unknown extension, a
/// type or a number of channels that the format does not hold, a missing folder, an existing file without
/// `overwrite`, no permission. Error(environment) if a library that the format needs is not installed.
/// Creates nothing.
void check_writable(const std::filesystem::path& path, const Shape& shape, const WriteOptions& options = {});

/// Writes a host picture atomically: encoded in memory, written to a temporary file in the same folder,
/// synchronised, renamed. On failure an existing file is untouched and no temporary file remains.
/// Permissions of a replaced file are kept; a symbolic link stays one, and its file is replaced. `-` is
/// standard output; devices and pipes are written to directly (a closed pipe raises SIGPIPE unless the
/// program ignores that; then it is no error at standard output). Throws as check_writable(); Error(input) if
/// the file cannot be written or the format cannot hold its values (PBM: other than 0 and 255, HDR: negative
/// or not finite); Error(environment) if the disk is full.
void write_image(const std::filesystem::path& path, const ImageView& image, const WriteOptions& options = {});

/// Writes one file with a page (TIFF) or a part (OpenEXR) for each picture, with its own metadata and
/// channels; options for the file as a whole come from the first element. `images` and `options` have the
/// same length, at least 1. Throws as write_image(), Error(usage) if the format holds one picture and there
/// are several.
void write_pages(const std::filesystem::path& path, std::span<const ImageView> images,
                 std::span<const WriteOptions> options);

/// Throws Error(usage) if files of this format hold one picture only.
void check_holds_pages(const std::filesystem::path& path, const WriteOptions& options = {});

/// Throws Error(usage) if no file can be written under this name: a missing folder, no permission, an
/// existing file without `overwrite`. Creates nothing.
void check_target(const std::filesystem::path& path, bool overwrite);

/// Whether the name has the extension of a picture or a table, in which nobody expects JSON.
[[nodiscard]] bool is_misleading_for_json(const std::filesystem::path& path);

/// Writes any other file atomically, as write_image() does.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes, bool overwrite);

/// Encodes a file in memory; `extension` with its dot selects the format.
[[nodiscard]] std::vector<std::byte> encode_image(const ImageView& image, const std::string& extension,
                                                  const WriteOptions& options = {});

/// Whether both names lead to one file, also through links. Files that do not exist yet are compared by their
/// absolute names. `-` differs from everything, even itself.
[[nodiscard]] bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace satin
