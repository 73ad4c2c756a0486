#include "io/file_pictures.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

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

/// Returns "3 pages", or "2 parts ('beauty', 'depth')" with the first names.
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

/// Finds a part by its name, or else by its number, which counts from 1.
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

/// Returns the only picture, or the main one with the number of others that are left out.
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

/// Refuses pages and parts for formats whose files hold one picture.
void check_choice_of_one(const Codec& codec, const ReadOptions& options) {
  if (!options.part.empty())
    refuse_choice(std::string(codec.name) + " files have no parts. Leave out --part.");
  if (options.page && *options.page != 1)
    refuse_choice("there is no page " + std::to_string(*options.page) + ": " + codec.name +
                  " files hold one picture. Leave out --page.");
}

}  // namespace

const Codec& reader_of(Bytes bytes, std::string_view extension) {
  for (const Codec& codec : codecs()) {
    if (!codec.sniff(bytes, extension)) continue;
    if (!codec.reads())
      throw Error(ErrorKind::input, std::string(codec.name) + " files are not read. " + codec.advice);
    return codec;
  }
  throw Error(ErrorKind::input, "this is not an image format that Satin reads. Convert it to " +
                                    one_of_codecs(&Codec::reads) + ".");
}

const Codec& codec_for(Bytes bytes, std::string_view extension) {
  return loaded(reader_of(bytes, extension));
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
                  "Save the picture that you need as a file of its own.");
}

void warn_left_out(const FilePicture& picture, std::vector<std::string>& warnings) {
  if (picture.left_out != 0)
    warnings.push_back("the file has " + std::to_string(picture.left_out) + " further picture" +
                       (picture.left_out == 1 ? ", which was" : "s, which were") +
                       " left out. Choose one with --page N, or take all with --all-pages.");
}

}  // namespace satin::io
