// A batch writes two files beside its outputs: a report in JSON lines, and a gallery, which is an HTML page
// with thumbnails.

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "batch/file_names.h"
#include "batch/file_stamp.h"
#include "batch/outputs.h"
#include "satin/batch_report.h"
#include "satin/error.h"
#include "satin/io.h"
#include "satin/json.h"
#include "satin/new_file.h"
#include "satin/param.h"

namespace satin {
namespace {

/// Names of the enumerators of ErrorKind and of FileStatus, in order.
constexpr const char* kinds[] = {"input", "usage", "environment", "cancelled"};
constexpr const char* statuses[] = {"done", "failed", "exists", "unchanged", "repeated"};

/// Adds a name that is not UTF-8 as hexadecimal bytes: as text it would lose some.
void add_bytes(JsonWriter& json, const char* key, const std::filesystem::path& path) {
  if (batch::is_utf8(path.native())) return;
  std::string text;
  for (const char c : path.native()) text += batch::hexadecimal(static_cast<unsigned char>(c), 2);
  json.key(key).string(text);
}

void add_photo(JsonWriter& json, const PhotoReport& photo) {
  const bool disparity = photo.kind == DepthKind::disparity;
  json.key("photo").begin_object();
  json.key("depth").begin_object();
  json.key("format").string(photo.format).key("place").string(photo.place);
  json.key("kind").string(disparity ? "disparity" : "depth");
  if (photo.metric) json.key("unit").string(disparity ? "1/m" : "m");
  json.key("width").integer(photo.depth.width).key("height").integer(photo.depth.height);
  json.key("lowest").real(photo.lowest).key("highest").real(photo.highest);
  if (!photo.depth_out.empty()) json.key("written").string(photo.depth_out.string());
  json.end_object();
  if (!photo.original.empty()) json.key("original").string(photo.original);
  if (photo.blur.source.empty()) return static_cast<void>(json.end_object());  // nothing was focused
  json.key("focus").begin_object();
  json.key("source").string(photo.blur.source).key("disparity").real(photo.blur.disparity);
  if (photo.blur.place) json.key("place").string(print_point(*photo.blur.place));
  json.end_object().end_object();
}

const char* status_of(const BatchResult& result) {
  if (result.cancelled) return "interrupted";
  return result.failed == 0 ? "done" : "failed";
}

}  // namespace

Error write_failure(const std::string& what, int code) {
  const bool full = code == ENOSPC || code == EDQUOT || code == EFBIG;
  return {full ? ErrorKind::environment : ErrorKind::input,
          what + " cannot be written: " + std::strerror(code) + "."};
}

void add_error(JsonWriter& json, const Error& error) {
  json.key("error").begin_object();
  json.key("kind").string(kinds[static_cast<std::size_t>(error.kind())]);
  json.key("message").string(error.what());
  json.end_object();
}

void add_file(JsonWriter& json, const FileResult& file) {
  json.begin_object();
  json.key("input").string(file.input.string());
  json.key("output").string(file.output.string());
  json.key("status").string(statuses[static_cast<std::size_t>(file.status)]);
  add_bytes(json, "input_bytes", file.input);
  add_bytes(json, "output_bytes", file.output);
  if (file.index != 0)
    json.key("index").integer(static_cast<long long>(file.index)).key("pipeline").string(file.pipeline);
  if (file.shape.width != 0) json.shape(file.shape);
  if (file.reduction > 1) json.key("fast_decode").string("1/" + std::to_string(file.reduction));
  if (file.pages > 1) json.key("pages").integer(static_cast<long long>(file.pages));
  if (file.output_shape.width != 0) json.key("output_type").string(name_of(file.output_shape.type));
  json.key("seconds").real(file.time.count());
  if (file.bytes != 0) json.key("bytes").integer(static_cast<long long>(file.bytes));
  if (file.bytes != 0) json.key("hash").string(batch::hexadecimal(file.hash));
  if (!file.found.empty()) {
    json.key("found").begin_object();
    for (const FoundValue& found : file.found) json.key(found.parameter).real(found.value);
    json.end_object();
  }
  if (file.error) add_error(json, *file.error);
  if (file.photo) add_photo(json, *file.photo);
  if (!file.warnings.empty()) json.key("warnings").strings(file.warnings);
  json.end_object();
}

void add_unread(JsonWriter& json, const std::vector<std::filesystem::path>& files) {
  json.key("unread").begin_array();
  for (const std::filesystem::path& file : files) json.string(file.string());
  json.end_array();
}

void add_outcome(JsonWriter& json, const BatchResult& result, int exit_code) {
  json.key("status").string(status_of(result));
  json.key("exit_code").integer(exit_code);
}

void add_summary(JsonWriter& json, const BatchResult& result) {
  json.key("summary").begin_object();
  json.key("total").integer(static_cast<long long>(result.total));
  json.key("done").integer(static_cast<long long>(result.done));
  json.key("skipped").integer(static_cast<long long>(result.skipped));
  json.key("failed").integer(static_cast<long long>(result.failed));
  json.key("not_started").integer(static_cast<long long>(result.not_started()));
  add_unread(json, result.unread);
  json.key("seconds").real(result.time.count());
  json.end_object();
}

JsonLines::JsonLines(const std::filesystem::path& path, bool overwrite, bool resume) : path_(path) {
  const char* mode = resume ? "ae" : overwrite ? "we" : "wxe";
  stream_.reset(std::fopen(path.c_str(), mode));
  if (stream_) return;
  const int code = errno;
  if (code == EEXIST)
    throw Error(ErrorKind::usage, "The report '" + path.string() + "' exists. --overwrite replaces it.");
  throw write_failure("The report '" + path_.string() + "'", code);
}

void JsonLines::add(const FileResult& file) {
  JsonWriter json;
  add_file(json, file);
  write(json.text());
}

void JsonLines::finish(const BatchResult& result, int exit_code) {
  JsonWriter json;
  json.begin_object();
  add_outcome(json, result, exit_code);
  add_summary(json, result);
  json.end_object();
  write(json.text());
}

void JsonLines::write(const std::string& line) {
  const std::string text = line + "\n";
  const bool written = std::fwrite(text.data(), 1, text.size(), stream_.get()) == text.size() &&
                       std::fflush(stream_.get()) == 0;
  if (!written) throw write_failure("The report '" + path_.string() + "'", errno);
}

// Gallery.

namespace {

namespace fs = std::filesystem;

constexpr std::string_view gallery_style = R"(
:root { color-scheme: light dark; --paper: #f6f6f4; --card: #fff; --ink: #222; --faint: #667; --line: #ddd; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #17181a; --card: #222428; --ink: #e6e6e6; --faint: #9aa0a6; --line: #3a3d42; --bad: #ff8a80; }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.4 system-ui, sans-serif; }
header { position: sticky; top: 0; z-index: 1; padding: 12px 20px; background: var(--paper); border-bottom: 1px solid var(--line); }
h1 { display: inline; margin: 0 12px 0 0; font-size: 18px; }
code { font: 13px ui-monospace, monospace; overflow-wrap: anywhere; }
form { margin-top: 8px; display: flex; flex-wrap: wrap; gap: 6px 16px; align-items: center; }
input[type=search] { font: inherit; width: min(24em, 90vw); padding: 3px 8px; }
main { display: grid; align-items: start; grid-template-columns: repeat(auto-fill, minmax(min(100%, 430px), 1fr)); gap: 16px; padding: 20px; }
figure { margin: 0; padding: 10px; background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  content-visibility: auto; contain-intrinsic-size: auto 300px; }
figure.failed { border-color: var(--bad); }
figure div { display: grid; grid-template-columns: 1fr 1fr; gap: 8px; align-items: end; }
figure div > * { text-align: center; font-size: 12px; color: var(--faint); text-decoration: none; }
img { display: block; margin: auto; max-width: 100%; height: auto; border-radius: 3px; }
figcaption { margin-top: 8px; overflow-wrap: anywhere; }
figcaption p { margin: 4px 0 0; color: var(--faint); font-size: 13px; }
.failed p { color: var(--bad); }
[hidden] { display: none !important; }
)";

/// Script that searches the names.
constexpr std::string_view gallery_script = R"(
const search = document.querySelector('input[type=search]'), only = document.querySelector('input[type=checkbox]');
const figures = [...document.querySelectorAll('figure')].map(f => [f, f.textContent.toLowerCase()]);
const show = () => {
  const wanted = search.value.toLowerCase();
  let count = 0;
  for (const [figure, text] of figures)
    count += !(figure.hidden = !text.includes(wanted) || (only.checked && figure.className !== 'failed'));
  document.querySelector('output').textContent = count + ' shown';
};
search.oninput = only.onchange = show;
document.querySelector('form').onsubmit = () => false;
document.querySelector('form').hidden = false;
show();
)";

/// Content security policy of the page. Contains the hash of the script.
constexpr std::string_view gallery_policy =
    "default-src 'none'; img-src 'self' file:; style-src 'unsafe-inline'; "
    "script-src 'sha256-CpxlZIsDU4+9zp+OLfGXedFMSHThF+/gxrIzZqd6RG0='";

/// Escapes text for HTML: no tag, no quote, only UTF-8.
std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view special = "&<>\"'";
    if (length == 0)
      result += "\xEF\xBF\xBD";
    else if (special.find(text.front()) != std::string_view::npos)
      result += "&#" + std::to_string(static_cast<int>(text.front())) + ";";
    else
      result += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

std::string name_text(const fs::path& path) { return "<bdi>" + escaped(printable(path.native())) + "</bdi>"; }

std::string address(const fs::path& file, const fs::path& page) {
  static constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/";
  return batch::reference(file, page, [](char c) { return plain.find(c) != std::string_view::npos; });
}

std::string format_of_pictures() {
  for (const FormatInfo& format : formats())
    if (format.writes && format.name == "JPEG") return ".jpg";
  return ".png";
}

std::string linked(const fs::path& file, const fs::path& page, const std::string& content) {
  if (file == "-") return "<span>" + content + "</span>";
  return "<a href=\"" + address(file, page) + "\">" + content + "</a>";
}

std::string details(const FileResult& file) {
  if (file.status == FileStatus::exists) return "left out: the output existed";
  if (file.status == FileStatus::unchanged) return "made by an earlier run";
  if (file.status == FileStatus::repeated) return "left out: no larger than an earlier size";
  if (file.status == FileStatus::failed) return file.error ? file.error->what() : "";
  return describe(file.shape) + ", " + short_number(file.time.count(), 2) + " s";
}

std::string head(const std::string& pipeline, const BatchResult& result) {
  std::string counts = std::to_string(result.done) + " done, " + std::to_string(result.skipped) +
                       " left out, " + std::to_string(result.failed) + " failed";
  if (result.not_started() != 0) counts += ", " + std::to_string(result.not_started()) + " not begun";
  if (result.cancelled) counts += " (interrupted)";
  std::string text = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  text += "<meta http-equiv=\"Content-Security-Policy\" content=\"" + std::string(gallery_policy) + "\">\n";
  text += "<meta name=\"viewport\" content=\"width=device-width\">\n<title>Satin: " + counts + "</title>\n";
  text +=
      "<style>" + std::string(gallery_style) + "</style>\n</head>\n<body>\n<header><h1>" + counts + "</h1>";
  text += "<code>" + escaped(pipeline) + "</code>\n" + escaped(describe_unread(result.unread)) +
          "<form hidden><input type=\"search\" placeholder=\"Search\" ";
  text += "aria-label=\"Search\"><label><input type=\"checkbox\"> only failures</label>";
  return text + "<output></output></form></header>\n<main>\n";
}

std::string tail() {
  return "</main>\n<script>" + std::string(gallery_script) + "</script>\n</body>\n</html>\n";
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

Gallery::Gallery(fs::path page, const Pipeline& pipeline, const ReadOptions& read, bool replaces)
    : page_(std::move(page)),
      folder_(folder_of_gallery(page_)),
      pipeline_(print_pipeline(pipeline)),
      read_(read),
      shows_before_(!covers(pipeline)),
      replaces_(replaces) {
  entries_.reset(std::tmpfile());
  if (!entries_) throw failure(errno);
}

void Gallery::add(const FileResult& file) {
  std::string text = file.status == FileStatus::failed ? "<figure class=\"failed\">" : "<figure>";
  const std::string before = picture(file, "before");
  const std::string after = picture(file, "after");
  if (!before.empty() || !after.empty())
    text += "<div>" + (before.empty() ? "" : linked(file.input, page_, before + "before")) +
            (file.status == FileStatus::failed ? "" : linked(file.output, page_, after + "after")) + "</div>";
  text += "<figcaption>" + name_text(file.input) + "<p>" + escaped(details(file)) + "</p>";
  for (const std::string& warning : file.warnings) text += "<p>" + escaped(warning) + "</p>";
  text += "</figcaption></figure>\n";
  if (std::fwrite(text.data(), 1, text.size(), entries_.get()) != text.size()) throw failure(errno);
}

/// Makes the thumbnail of a file that this run skipped, from the file on the disk.
Image Gallery::left_out(const FileResult& file, const std::string& when) const {
  if (file.status == FileStatus::done || file.status == FileStatus::failed) return {};
  if (when == "after") return thumbnail_of(file.output, {.all_pages = read_.all_pages});
  return shows_before_ ? thumbnail_of(file.input, read_) : Image();
}

/// Returns the HTML of a thumbnail, which it writes or finds. Empty if there is none.
std::string Gallery::picture(const FileResult& file, const std::string& when) {
  static const std::string extension = format_of_pictures();
  const fs::path path = folder_ / (batch::hexadecimal(batch::Hash().add(file.output.native()).value()) + "-" +
                                   when + extension);
  std::string size;
  std::error_code ignored;
  if (file.status != FileStatus::unchanged || !fs::exists(path, ignored)) {
    const Image made = file.thumbnails ? Image() : left_out(file, when);
    const Image& image = !file.thumbnails   ? made
                         : when == "before" ? file.thumbnails->before
                                            : file.thumbnails->after;
    if (image.empty()) return "";
    WriteOptions options;
    options.convert = true;
    options.quality = 85;
    const std::vector<std::byte> bytes = encode_image(image, extension, options);
    batch::create_folder_of(path);
    const std::unique_ptr<std::FILE, Close> stream(std::fopen(path.c_str(), "wbe"));
    if (!stream || std::fwrite(bytes.data(), 1, bytes.size(), stream.get()) != bytes.size() ||
        std::fflush(stream.get()) != 0)
      throw failure(errno);
    size = " width=\"" + std::to_string(image.shape().width) + "\" height=\"" +
           std::to_string(image.shape().height) + "\"";
  }
  return "<img loading=\"lazy\" alt=\"\"" + size + " src=\"" + address(path, page_) + "\">";
}

void Gallery::finish(const BatchResult& result) {
  if (std::fflush(entries_.get()) != 0 || std::fseek(entries_.get(), 0, SEEK_SET) != 0) throw failure(errno);
  NewFile page(page_, replaces_);
  page.add(bytes_of(head(pipeline_, result)));
  std::array<char, 1 << 16> block{};
  while (const std::size_t size = std::fread(block.data(), 1, block.size(), entries_.get()))
    page.add(std::as_bytes(std::span(block).first(size)));
  if (std::ferror(entries_.get()) != 0) throw failure(errno);
  page.add(bytes_of(tail()));
  page.finish();
}

Error Gallery::failure(int code) const {
  return write_failure("The gallery '" + printable(page_.native()) + "'", code);
}

}  // namespace satin
