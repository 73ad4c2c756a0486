// Files: pictures read and written with what they carry beside the pixels, and batches. Left out of modules
// that are built without codecs.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "python/foreign_array.h"
#include "python/module.h"
#include "satin/error.h"
#include "satin/io.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace satin::python {
namespace {

namespace fs = std::filesystem;

const char* name_of(Alpha alpha) {
  static const char* const names[] = {"none", "straight", "premultiplied"};
  return names[static_cast<std::size_t>(alpha)];
}

nb::bytes bytes_of(const std::vector<std::byte>& block) { return nb::bytes(block.data(), block.size()); }

std::vector<std::byte> block_of(const nb::bytes& bytes) {
  const auto* first = reinterpret_cast<const std::byte*>(bytes.c_str());
  return {first, first + bytes.size()};
}

/// The metadata, channels and warnings that were read with the pixels.
struct Carried {
  Metadata metadata;
  std::shared_ptr<const std::vector<NamedChannel>> channels = std::make_shared<std::vector<NamedChannel>>();
  std::string format;
  std::string alpha = "none";
  std::vector<std::string> warnings;
};

/// A block of the metadata as bytes that may be replaced.
template <std::vector<std::byte> Metadata::*block>
void bind_block(nb::class_<Carried>& type, const char* name, const char* help) {
  type.def_prop_rw(
      name, [](const Carried& carried) { return bytes_of(carried.metadata.*block); },
      [](Carried& carried, const nb::bytes& bytes) { carried.metadata.*block = block_of(bytes); }, help);
}

nb::dict channels_of(const Carried& carried) {
  nb::dict all;
  for (const NamedChannel& channel : *carried.channels)
    all[nb::str(channel.name.c_str())] = array_of(copy_of(channel.plane.view()), 0);
  return all;
}

std::pair<nb::object, Carried> result_of(satin::Picture&& picture) {
  Carried carried{
      std::move(picture.metadata), std::make_shared<std::vector<NamedChannel>>(std::move(picture.channels)),
      std::move(picture.format), name_of(picture.image.shape().alpha), std::move(picture.warnings)};
  return {array_of(std::move(picture.image), 0), std::move(carried)};
}

nb::list results_of(std::vector<satin::Picture>&& pictures) {
  nb::list results;
  for (satin::Picture& picture : pictures) results.append(nb::cast(result_of(std::move(picture))));
  return results;
}

ReadOptions read_options(std::optional<std::int64_t> page, const std::string& part, bool all_pages,
                         bool allow_partial, std::uint64_t max_pixels, std::uint64_t max_bytes) {
  ReadOptions options;
  options.page = page;
  options.part = part;
  options.all_pages = all_pages;
  options.allow_partial = allow_partial;
  options.limits = {max_pixels, max_bytes};
  return options;
}

nb::list read(const fs::path& path, const ReadOptions& options) {
  return with_file_errors([&] { return results_of(released([&] { return read_pictures(path, options); })); });
}

std::pair<nb::object, Carried> decode(const nb::bytes& bytes, const std::string& name,
                                      const ReadOptions& options) {
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(bytes.c_str()), bytes.size());
  return with_file_errors(
      [&] { return result_of(released([&] { return decode_picture(file, name, options); })); });
}

WriteOptions write_options(const Carried* carried, bool overwrite, std::optional<int> quality, bool convert,
                           bool dither, std::string format) {
  WriteOptions options;
  options.overwrite = overwrite;
  options.quality = quality;
  options.convert = convert;
  options.dither = dither;
  options.format = std::move(format);
  if (carried == nullptr) return options;
  options.metadata = carried->metadata;
  options.channels = *carried->channels;
  return options;
}

using Page = std::pair<const Picture*, const Carried*>;

void write(const fs::path& path, const std::vector<Page>& pages, bool overwrite, std::optional<int> quality,
           bool convert, bool dither, const std::string& format) {
  std::vector<ImageView> views;
  std::vector<WriteOptions> options;
  for (const auto& [picture, carried] : pages) {
    views.emplace_back(host_view(*picture));
    options.push_back(write_options(carried, overwrite, quality, convert, dither, format));
  }
  with_file_errors([&] { released([&] { write_pages(path, views, options); }); });
}

nb::bytes encode(const Picture& picture, const Carried* carried, const std::string& extension,
                 std::optional<int> quality, bool convert, bool dither) {
  const ImageView view = host_view(picture);
  const WriteOptions options = write_options(carried, false, quality, convert, dither, extension);
  return with_file_errors(
      [&] { return bytes_of(released([&] { return encode_image(view, extension, options); })); });
}

nb::list describe_formats() {
  nb::list all;
  for (const FormatInfo& format : formats()) {
    nb::dict entry;
    entry["name"] = format.name;
    entry["extensions"] = format.extensions;
    entry["reads"] = format.reads;
    entry["writes"] = format.writes;
    entry["pages"] = format.pages;
    entry["types"] = format.types;
    entry["channels"] = format.channels;
    all.append(entry);
  }
  return all;
}

}  // namespace

void bind_files(nb::module_& module) {
  nb::class_<Carried> carried(module, "Metadata",
                              "What a file carries beside the pixels: read() gives it, write() puts it into "
                              "another file.\n\nBlocks are bytes, empty where the file has none.");
  carried.def(nb::init<>());
  bind_block<&Metadata::icc>(carried, "icc", "ICC profile of the pixels.");
  bind_block<&Metadata::exif>(carried, "exif", "EXIF, from its TIFF header on.");
  bind_block<&Metadata::xmp>(carried, "xmp", "XMP packet, UTF-8.");
  bind_block<&Metadata::iptc>(carried, "iptc", "The data sets of IIM.");
  carried
      .def_prop_ro("channels", &channels_of,
                   "Channels of OpenEXR beside red, green, blue and alpha: name to array (height, width).")
      .def_ro("format", &Carried::format, "Usual extension of the file's format: '.jpg'.")
      .def_ro("alpha", &Carried::alpha,
              "What the last of 2 or 4 channels is: 'none', 'straight' or 'premultiplied'.")
      .def_ro("warnings", &Carried::warnings, "What was read but may surprise.");
  nb::class_<ReadOptions>(module, "ReadOptions")
      .def(
          "__init__",
          [](ReadOptions* self, std::optional<std::int64_t> page, const std::string& part, bool all_pages,
             bool allow_partial, std::uint64_t max_pixels, std::uint64_t max_bytes) {
            new (self) ReadOptions(read_options(page, part, all_pages, allow_partial, max_pixels, max_bytes));
          },
          "page"_a.none() = nb::none(), "part"_a = "", "all_pages"_a = false, "allow_partial"_a = false,
          "max_pixels"_a = ReadLimits{}.pixels, "max_bytes"_a = ReadLimits{}.bytes);
  module.def("formats", &describe_formats);
  module.def("read_file", &read, "path"_a, "options"_a);
  module.def("decode", &decode, "data"_a, "name"_a, "options"_a);
  module.def("write_file", &write, "path"_a, "pages"_a, "overwrite"_a, "quality"_a.none(), "convert"_a,
             "dither"_a, "format"_a);
  module.def("encode", &encode, "picture"_a, "metadata"_a.none(), "format"_a, "quality"_a.none(), "convert"_a,
             "dither"_a);
}

}  // namespace satin::python
