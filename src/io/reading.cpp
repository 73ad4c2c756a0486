#include "io/reading.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "io/photo_depth.h"
#include "io/support.h"
#include "metadata/colour_profile.h"
#include "metadata/exif.h"
#include "metadata/resolution.h"
#include "metadata/xmp.h"
#include "satin/param.h"

namespace satin::io {
namespace {

using Pictures = std::vector<FilePicture>;

std::vector<std::string> names_of(const Pictures& pictures) {
  std::vector<std::string> names;
  for (const FilePicture& picture : pictures)
    if (!picture.name.empty()) names.push_back(picture.name);
  return names;
}

/// "3 pages", or "2 parts ('beauty', 'depth')" with the first names.
std::string describe(const Codec& codec, const Pictures& pictures) {
  constexpr std::size_t most = 8;
  const std::vector<std::string> names = names_of(pictures);
  std::string list;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    list += (i == 0 ? " ('" : ", '") + names[i] + "'";
  if (!list.empty()) list += names.size() > most ? ", ...)" : ")";
  return std::to_string(pictures.size()) + " " + codec.several.word + (pictures.size() == 1 ? "" : "s") +
         list;
}

[[noreturn]] void refuse_choice(const std::string& reason) { throw Error(ErrorKind::usage, reason); }

FilePicture page_of(const Codec& codec, const Pictures& pages, std::int64_t page) {
  if (page >= 1 && static_cast<std::uint64_t>(page) <= pages.size())
    return pages[static_cast<std::size_t>(page - 1)];
  refuse_choice("there is no page " + std::to_string(page) + ". The file has " + describe(codec, pages) +
                (pages.size() == 1 ? "." : "; --page counts from 1."));
}

/// A name comes before a number, from 1.
FilePicture part_of(const Codec& codec, const Pictures& parts, const std::string& part) {
  const auto found = std::find_if(parts.begin(), parts.end(),
                                  [&](const FilePicture& picture) { return picture.name == part; });
  if (found != parts.end()) return *found;
  std::size_t number = 0;
  const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), number);
  if (code == std::errc() && end == part.data() + part.size() && number >= 1 && number <= parts.size())
    return parts[number - 1];
  refuse_choice("there is no part '" + part + "'." + did_you_mean(part, names_of(parts)) + " The file has " +
                describe(codec, parts) + "; numbers count from 1.");
}

/// The only picture, or the chief one with those beside it.
FilePicture only_one(const Codec& codec, Pictures pictures, const std::string& remedy) {
  if (pictures.size() == 1) return std::move(pictures.front());
  const auto is_chief = [](const FilePicture& picture) { return !picture.beside; };
  if (std::ranges::count_if(pictures, is_chief) == 1) {
    FilePicture& chief = *std::ranges::find_if(pictures, is_chief);
    chief.left_out = pictures.size() - 1;
    return std::move(chief);
  }
  throw Error(ErrorKind::input, "the file has " + describe(codec, pictures) + ". " + remedy);
}

/// Formats whose files hold one picture.
void check_choice_of_one(const Codec& codec, const ReadOptions& options) {
  if (!options.part.empty())
    refuse_choice(std::string(codec.name) + " files have no parts. Leave out --part.");
  if (options.page && *options.page != 1)
    refuse_choice("there is no page " + std::to_string(*options.page) + ": " + codec.name +
                  " files hold one picture. Leave out --page.");
}

/// Phones name the standard of their gain map in the XMP of the picture.
bool names_gain_map(Bytes xmp) {
  const std::string_view text = text_of(xmp);
  return text.find("http://ns.adobe.com/hdr-gain-map/") != std::string_view::npos ||
         text.find("http://ns.apple.com/HDRGainMap/") != std::string_view::npos;
}

}  // namespace

const Codec& codec_for(Bytes bytes, std::string_view extension) {
  for (const Codec& codec : codecs()) {
    if (!codec.sniff(bytes, extension)) continue;
    if (!codec.reads())
      throw Error(ErrorKind::input, std::string(codec.name) + " files are not read. " + codec.advice);
    return codec;
  }
  std::vector<std::string> names;
  for (const Codec& codec : codecs())
    if (codec.reads()) names.emplace_back(codec.name);
  throw Error(ErrorKind::input,
              "this is not an image format that Satin reads. Convert it to " + one_of(names) + ".");
}

void describe(Metadata& metadata, const Shape& shape, std::vector<std::string>& warnings) {
  if (!metadata.resolution) metadata.resolution = resolution_of_exif(metadata.exif);
  describe_in_exif(metadata.exif, shape.width, shape.height);
  if (!describe_in_xmp(metadata.xmp, shape.width, shape.height))
    warnings.emplace_back("The XMP packet is damaged and was left out.");
  if (describes(metadata.icc, shape.channels)) return;
  metadata.icc.clear();
  warnings.emplace_back(std::string("The ICC profile is not one of ") +
                        (shape.channels >= 3 ? "RGB" : "grey") +
                        " pixels, as the picture has, and was left out.");
}

Pictures chosen_pictures(const Codec& codec, Bytes bytes, const ReadOptions& options) {
  const SeveralPictures& several = codec.several;
  if (several.list == nullptr) {
    check_choice_of_one(codec, options);
    return {FilePicture{}};
  }
  const bool pages = std::string_view(several.word) == "page";
  if (pages && !options.part.empty())
    refuse_choice(std::string(codec.name) + " files have pages, not parts. Choose one with --page N.");
  Pictures pictures = several.list(bytes, options);
  if (!options.part.empty()) return {part_of(codec, pictures, options.part)};
  if (!options.page) return pictures;
  if (!pages && (pictures.size() > 1 || *options.page != 1))
    refuse_choice(std::string(codec.name) + " files have parts, not pages. Choose one with --part N|NAME.");
  return {page_of(codec, pictures, *options.page)};
}

FilePicture chosen_picture(const Codec& codec, Bytes bytes, const ReadOptions& options) {
  const bool pages = codec.several.word != nullptr && std::string_view(codec.several.word) == "page";
  return only_one(codec, chosen_pictures(codec, bytes, options),
                  std::string("Choose one with --") + (pages ? "page N" : "part N|NAME") +
                      ", or take all with --all-pages.");
}

FilePicture only_picture(const Codec& codec, Bytes bytes, const ReadOptions& options) {
  if (codec.several.list == nullptr) return {};
  return only_one(codec, codec.several.list(bytes, options),
                  "Save the one that is meant as a file of its own.");
}

void check_holds_several(const Codec& codec) {
  if (codec.several.encode != nullptr) return;
  refuse_choice(
      std::string(codec.name) +
      " files hold one picture, and there are several. Use .tiff or .exr, or choose one with --page.");
}

void tell_left_out(const FilePicture& picture, std::vector<std::string>& warnings) {
  if (picture.left_out != 0)
    warnings.push_back("the file has " + std::to_string(picture.left_out) + " further picture" +
                       (picture.left_out == 1 ? ", which was" : "s, which were") +
                       " left out. Choose one with --page N, or take all with --all-pages.");
}

Picture decode(const Codec& codec, Bytes bytes, const FilePicture& picture, const ReadOptions& options) {
  const auto read = [&] {
    if (codec.several.decode != nullptr && (codec.decode == nullptr || picture.at != 0))
      return codec.several.decode(bytes, picture, options);
    if (picture.at != 0) return codec.decode(bytes.subspan(picture.at), options);
    const bool photo = options.photo_depth && codec.decode_photo != nullptr;
    return photo ? codec.decode_photo(bytes, options) : codec.decode(bytes, options);
  };
  Picture result = read();
  tell_left_out(picture, result.warnings);
  result.format = codec.extensions.front();
  return result;
}

FileInfo file_info(const Codec& codec, Bytes bytes, const ReadOptions& options) {
  std::vector<FilePicture> pictures{FilePicture{}};
  if (codec.several.list != nullptr) pictures = codec.several.list(bytes, options);
  const bool chosen = options.page || !options.part.empty();
  FileInfo info;
  info.picture =
      decode(codec, bytes, chosen ? chosen_picture(codec, bytes, options) : pictures.front(), options);
  const Metadata& metadata = info.picture.metadata;
  if (info.picture.photo) complete_photo(*info.picture.photo, metadata, info.picture.image.shape());
  const FileFacts facts = codec.facts != nullptr ? codec.facts(bytes) : FileFacts{};
  info.format = codec.name;
  info.bytes = bytes.size();
  info.pages = pictures.size();
  for (const FilePicture& picture : pictures)
    if (!picture.name.empty()) info.parts.push_back(picture.name);
  info.orientation = facts.orientation.value_or(stored_orientation(metadata.exif, metadata.xmp).value_or(1));
  info.gain_map = facts.gain_map || names_gain_map(metadata.xmp);
  if (!metadata.icc.empty()) info.profile = profile_name(metadata.icc);
  return info;
}

}  // namespace satin::io
