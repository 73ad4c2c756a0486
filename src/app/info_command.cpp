// satin info: format, size, metadata and depth of files, as a table or JSON.

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/analysis.h"
#include "app/commands.h"
#include "app/options.h"
#include "app/report.h"
#include "satin/error.h"
#include "satin/file_info.h"

namespace satin::app {
namespace {

const char* name_of(Alpha alpha) {
  if (alpha == Alpha::none) return "none";
  return alpha == Alpha::straight ? "straight" : "premultiplied";
}

const Photo& photo_of(const Picture& picture) {
  static const Photo none;
  return picture.photo ? *picture.photo : none;
}

const char* unit_of(const PhotoDepth& depth) {
  if (!depth.metric) return "";
  return depth.kind == DepthKind::disparity ? "1/m" : "m";
}

const char* name_of(GainMapOrigin origin) {
  if (origin == GainMapOrigin::apple) return "Apple";
  return origin == GainMapOrigin::iso_21496_1 ? "ISO 21496-1" : "Ultra HDR";
}

/// Returns how much brighter than SDR white the picture for HDR may be.
double headroom_of(const GainMapMetadata& metadata) {
  return std::exp2(std::max(metadata.base_headroom, metadata.alternate_headroom));
}

const char* name_of(DepthKind kind) { return kind == DepthKind::disparity ? "disparity" : "depth"; }

using Block = std::pair<const char*, std::size_t>;

/// Returns the metadata blocks of a file with their sizes in bytes.
std::vector<Block> blocks_of(const Metadata& metadata) {
  return {{"exif", metadata.exif.size()},
          {"xmp", metadata.xmp.size()},
          {"iptc", metadata.iptc.size()},
          {"icc", metadata.icc.size()}};
}

// --- JSON ---

void add_text(JsonWriter& json, const char* key, const std::string& text) {
  json.key(key);
  text.empty() ? json.null() : json.string(text);
}

/// Writes a value, or null if it is absent.
template <class Value, class Write>
void add(JsonWriter& json, const char* key, const std::optional<Value>& value, const Write& write) {
  json.key(key);
  if (!value) return static_cast<void>(json.null());
  write(*value);
}

void write_depth(JsonWriter& json, const PhotoDepth& depth) {
  json.begin_object().shape(depth.values.shape());
  json.key("kind").string(name_of(depth.kind));
  add_text(json, "unit", unit_of(depth));
  json.key("lowest").real(double{depth.lowest}).key("highest").real(double{depth.highest});
  json.key("format").string(depth.format).key("place").string(depth.place).end_object();
}

void write_focus(JsonWriter& json, const PhotoFocus& focus) {
  json.begin_object().key("source").string(focus.source);
  if (focus.distance) json.key("distance").real(*focus.distance);
  if (focus.place)
    json.key("x_percent").real(focus.place->x.value).key("y_percent").real(focus.place->y.value);
  json.end_object();
}

void write_gain_map(JsonWriter& json, const GainMap& map) {
  const GainMapMetadata& metadata = map.metadata;
  const auto colours = [&](const char* key, double GainMapChannel::*member) {
    json.key(key).array(metadata.channels,
                        [&](const GainMapChannel& channel) { json.real(channel.*member); });
  };
  json.begin_object().shape(map.pixels.shape()).key("kind").string(name_of(map.origin));
  json.key("headroom").real(headroom_of(metadata)).key("base_is_hdr").boolean(metadata.base_is_hdr());
  colours("min", &GainMapChannel::min);
  colours("max", &GainMapChannel::max);
  colours("gamma", &GainMapChannel::gamma);
  json.end_object();
}

void add_photo(JsonWriter& json, const Photo& photo) {
  add(json, "depth", photo.depth, [&](const PhotoDepth& depth) { write_depth(json, depth); });
  if (!photo.problem.empty()) json.key("depth_problem").string(photo.problem);
  json.key("mattes").array(photo.mattes, [&](const PhotoMatte& matte) {
    json.begin_object().key("name").string(matte.name).shape(matte.weights.shape()).end_object();
  });
  add_text(json, "original", photo.original.place);
  add(json, "focus", photo.focus, [&](const PhotoFocus& focus) { write_focus(json, focus); });
  add(json, "focal_length_35mm", photo.focal_length, [&](double length) { json.real(length); });
}

void add_info(JsonWriter& json, const FileInfo& info) {
  const Picture& picture = info.picture;
  json.key("format").string(info.format).key("bytes").integer(static_cast<long long>(info.bytes));
  json.shape(picture.image.shape()).key("alpha").string(name_of(picture.image.shape().alpha));
  add_text(json, "profile", info.profile);
  json.key("orientation").integer(info.orientation);
  json.key("pages").integer(static_cast<long long>(info.pages));
  if (!info.parts.empty()) json.key("parts").strings(info.parts);
  json.key("named_channels").array(picture.channels, [&](const NamedChannel& channel) {
    json.string(channel.name);
  });
  json.key("metadata").begin_object();
  for (const auto& [name, size] : blocks_of(picture.metadata))
    json.key(name).integer(static_cast<long long>(size));
  json.end_object().key("gain_map").boolean(info.gain_map);
  add(json, "gain_map_details", picture.gain_map, [&](const GainMap& map) { write_gain_map(json, map); });
  add_photo(json, photo_of(picture));
  json.key("warnings").strings(picture.warnings);
}

// --- The table ---

std::string row(const std::string& name, const std::string& text) {
  constexpr std::size_t width = 13;
  return text.empty() ? "" : "  " + name + std::string(width - name.size(), ' ') + text + "\n";
}

std::string size_of(const Shape& shape) {
  return std::to_string(shape.width) + " x " + std::to_string(shape.height);
}

std::string text_of(const PhotoDepth& depth) {
  const std::string unit = unit_of(depth);
  return size_of(depth.values.shape()) + ", " + name_of(depth.kind) + " from " +
         short_number(double{depth.lowest}) + " to " + short_number(double{depth.highest}) +
         (unit.empty() ? "" : " in " + unit) + " (" + depth.format + ", " + depth.place + ")";
}

std::string gain_map_of(const FileInfo& info) {
  if (!info.picture.gain_map) return info.gain_map ? "cannot be used" : "";
  const GainMap& map = *info.picture.gain_map;
  const int channels = map.pixels.shape().channels;
  return size_of(map.pixels.shape()) + ", " + std::to_string(channels) + " channel" +
         (channels == 1 ? "" : "s") + ", " + (map.metadata.base_is_hdr() ? "from HDR, " : "") + "up to " +
         short_number(headroom_of(map.metadata)) + " times white (" + name_of(map.origin) + ")";
}

std::string text_of(const PhotoFocus& focus) {
  std::string text;
  if (focus.place)
    text = short_number(focus.place->x.value, 1) + "%," + short_number(focus.place->y.value, 1) + "%";
  if (focus.distance) text += (text.empty() ? "" : ", ") + short_number(*focus.distance);
  return text + " (" + focus.source + ")";
}

std::string photo_rows(const Photo& photo) {
  std::string text = row("depth", photo.depth ? text_of(*photo.depth) : photo.problem);
  for (const PhotoMatte& matte : photo.mattes)
    text += row("matte", matte.name + ", " + size_of(matte.weights.shape()));
  text += row("original", photo.original.place);
  text += row("focus", photo.focus ? text_of(*photo.focus) : "");
  return text + row("focal length",
                    photo.focal_length ? short_number(*photo.focal_length, 1) + " mm before 35-mm film" : "");
}

std::string table_of(const std::string& name, const FileInfo& info) {
  const Picture& picture = info.picture;
  const Shape& shape = picture.image.shape();
  std::vector<std::string> blocks, channels;
  for (const auto& [block, size] : blocks_of(picture.metadata))
    if (size != 0) blocks.push_back(std::string(block) + " " + std::to_string(size));
  for (const NamedChannel& channel : picture.channels) channels.push_back(channel.name);
  return printable(name) + "\n" + row("format", info.format + ", " + std::to_string(info.bytes) + " bytes") +
         row("picture",
             describe(shape) +
                 (shape.alpha == Alpha::none ? "" : std::string(", ") + name_of(shape.alpha) + " alpha")) +
         row("pages", info.pages > 1 ? std::to_string(info.pages) : "") +
         row("parts", joined(info.parts, ", ")) + row("channels", joined(channels, ", ")) +
         row("profile", info.profile.empty() ? "none" : info.profile) +
         row("orientation", std::to_string(info.orientation)) +
         row("metadata", blocks.empty() ? "" : joined(blocks, ", ") + " bytes") +
         row("gain map", gain_map_of(info)) + photo_rows(photo_of(picture));
}

// --- The command ---

int run(const CommandSpec& /*command*/, const ParsedLine& line) {
  ReadOptions options = read_options_of(line);
  options.filterable = false;
  if (options.all_pages)
    throw Error(ErrorKind::usage, "info describes one picture of a file. Choose it with --page or --part.");
  JsonWriter json;
  JsonWriter* const writer = line.flag("json") ? &json : nullptr;
  json.begin_object();
  const int code =
      for_each_file(line, writer, [&](const BatchFile& file, bool alone) -> std::optional<Error> {
        const bool is_unread = writer == nullptr && output_is_closed();
        if (is_unread && !file.problem) return std::nullopt;
        return report_on(file, 0, writer, writer != nullptr, alone, [&] {
          if (file.problem) throw Error(*file.problem);
          const FileInfo info = read_file_info(file.input, options);
          warn(file.input.string(), info.picture.warnings);
          writer != nullptr ? add_info(json, info) : print(table_of(file.input.string(), info));
        });
      });
  if (writer != nullptr) print(json.end_object().text() + "\n");
  return code;
}

}  // namespace

CommandSpec info_command() {
  return {
      .name = "info",
      .help = "describe files: size, type, profile, pages, depth, mattes",
      .usage = "INPUT... [options]",
      .details =
          "The picture is decoded, so that a damaged file is found. Its size is the upright one; "
          "'orientation' says "
          "how\nit is stored, 1 to 8 as in EXIF. Depth, mattes and the sharp original are those that "
          "photographs carry.",
      .groups = {{"Options",
                  together({input_options(), read_options(), {flag("json", "print JSON"), help_option()}})}},
      .takes_files = true,
      .run = run};
}

}  // namespace satin::app
