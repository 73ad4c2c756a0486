// The files of a session besides the picture: results, painted masks, lists of files, and pictures that the
// page picks for a filter.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "batch/file_names.h"
#include "batch/side_inputs.h"
#include "io/file.h"
#include "view/session.h"
#include "view/settings.h"

namespace satin::view {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr double largest_brush = 4096;

constexpr std::size_t most_points = 200'000;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

constexpr std::size_t most_beside = 500;  ///< names of files beside the picture in one answer

/// Returns the name without folders that the page chose, or an empty path.
fs::path plain_name(const Json& body) {
  const auto found = body.find("name");
  if (found == body.end() || found->is_null()) return {};
  if (!found->is_string()) refuse("The name of the file is not a text.");
  const auto name = found->get<std::string>();
  const bool is_plain = !name.empty() && name.front() != '.' && name.find('/') == std::string::npos &&
                        name.find('\0') == std::string::npos && name != "-" &&
                        !batch::NamePattern::is_one(name);
  if (!is_plain) refuse("The name of the file must be a plain one, such as result.jpg.");
  return name;
}

/// Returns what the page is told about a target that exists, with the place to which a link leads out of the
/// folder; null if there is none.
Json found_at(const fs::path& target) {
  std::error_code ignored;
  const bool is_link = fs::is_symlink(fs::symlink_status(target, ignored));
  if (!is_link && !fs::exists(target, ignored)) return nullptr;
  Json found{{"exists", target.string()}};
  if (!is_link) return found;
  const fs::path folder = fs::canonical(target.parent_path() / ".", ignored);
  const fs::path end = fs::weakly_canonical(folder / fs::read_symlink(target, ignored), ignored);
  if (end.parent_path() != folder) found["leads_to"] = end.string();
  return found;
}

void refuse_used(const fs::path& target, const std::vector<std::string>& used) {
  std::error_code ignored;
  for (const std::string& file : used)
    if (fs::equivalent(target, file, ignored))
      refuse(batch::quoted(target) + " is a file that this session reads: choose another name.");
}

bool wants_overwrite(const Json& body) { return body.contains("overwrite") && body["overwrite"] == true; }

double finite(const Json& value) {
  if (!value.is_number() || !std::isfinite(value.get<double>()))
    refuse("A stroke has a value that is not a number.");
  return value.get<double>();
}

double finite_in(const Json& stroke, const char* name, double least, double most) {
  if (!stroke.contains(name)) refuse("A stroke has points, radius, hardness and erase.");
  return std::clamp(finite(stroke[name]), least, most);
}

Stroke stroke_from(const Json& json) {
  if (!json.is_object() || !json.contains("points") || !json["points"].is_array())
    refuse("A stroke has points, radius, hardness and erase.");
  constexpr double farthest = 1e7;
  Stroke stroke{{},
                finite_in(json, "radius", 0.5, largest_brush),
                finite_in(json, "hardness", 0, 1),
                json.contains("erase") && json["erase"] == true};
  for (const Json& point : json["points"]) {
    if (!point.is_array() || point.size() != 2) refuse("A point is [x, y].");
    stroke.points.push_back({std::clamp(finite(point[0]), -farthest, farthest),
                             std::clamp(finite(point[1]), -farthest, farthest)});
  }
  return stroke;
}

std::vector<Stroke> strokes_from(const Json& body) {
  if (!body.contains("strokes") || !body["strokes"].is_array()) refuse("The body lacks strokes.");
  std::vector<Stroke> strokes;
  std::size_t points = 0;
  for (const Json& each : body["strokes"]) {
    strokes.push_back(stroke_from(each));
    points += strokes.back().points.size();
  }
  if (points > most_points) refuse("The strokes have too many points.");
  return strokes;
}

}  // namespace

/// Returns an unused name beside the picture.
fs::path Session::free_name(const std::string& end) const {
  const fs::path stem = input().parent_path() / input().stem();
  for (int number = 1;; ++number) {
    fs::path name = stem;
    name += "-" + end.substr(0, end.find('.')) + (number == 1 ? "" : std::to_string(number)) +
            end.substr(end.find('.'));
    if (!fs::exists(fs::symlink_status(name))) return name;
  }
}

/// Keeps the masks of the current command beyond the session.
void Session::keep_masks() {
  for (const auto& [step, painting] : paintings_) masks_[painting.file.string()] = true;
}

/// Removes masks that no command names any more.
void Session::remove_masks() noexcept {
  for (const auto& [step, painting] : paintings_) masks_.erase(painting.file.string());
  std::error_code ignored;
  for (const auto& [file, is_kept] : masks_)
    if (!is_kept) fs::remove(file, ignored);
}

/// Returns the files that the session reads. They are never replaced.
std::vector<std::string> Session::used_files() const {
  std::vector<std::string> used = pictures_;
  for (std::size_t i = 0; i < inputs_.files.size(); ++i) used.push_back(inputs_.files.path(i).string());
  return used;
}

Session::SaveJob Session::save_job(const Json& body) const {
  const fs::path name = plain_name(body);
  SaveJob job{name, name.empty() ? output() : input().parent_path() / name, line_.pipeline, line_.options,
              used_files()};
  job.options.inputs = {input()};
  job.options.list.clear();
  job.options.output = job.target;
  job.options.overwrite = wants_overwrite(body);
  return job;
}

Answer Session::save(const SaveJob& job) {
  const fs::path& target = job.target;
  std::error_code ignored;
  if (Json found = found_at(target); !job.options.overwrite && !found.is_null()) return json_answer(found);
  refuse_used(target, job.used);
  if (folder_output_ && job.name.empty()) fs::create_directories(target.parent_path(), ignored);
  Json warnings = Json::array();
  std::optional<Error> failure;
  BatchEvents events;
  events.finished = [&](const FileResult& file, const BatchResult&) {
    failure = file.error;
    for (const std::string& warning : file.warnings) warnings.push_back(warning);
  };
  events.cancelled = [this] { return save_ends_ || start_.ended(); };
  events.filtering = [this](const BatchFile&, double done) { saved_ = done; };
  const BatchResult result = run_batch(start_.device, prepare_batch(job.pipeline, job.options), events);
  if (failure) throw Error(*failure);
  if (result.cancelled) throw Error(ErrorKind::cancelled, "Nothing was saved.");
  const std::lock_guard lock(mutex_);
  if (!job.name.empty() && !folder_output_) line_.options.output = target;
  remember(target);
  keep_masks();
  return json_answer(
      {{"saved", target.string()}, {"warnings", warnings}, {"command", command()}, {"line", line_json()}});
}

/// Lists the pictures beside the open one, which the page may name with their folder.
Answer Session::list_beside() const {
  std::unique_lock lock(mutex_);
  const fs::path picture = input();
  lock.unlock();
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(batch::folder_of(picture), error), end; !error && entry != end;
       entry.increment(error)) {
    if (start_.ended()) break;
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (name.front() != '.' && batch::is_picture(name) && batch::is_utf8(name) &&
        name != picture.filename() && entry->is_regular_file(ignored))
      names.push_back(name);
  }
  if (error) refuse("The folder of the picture cannot be read: " + error.message() + ".");
  std::ranges::sort(names);
  const std::size_t count = names.size();
  names.resize(std::min(count, most_beside));
  const std::string folder = (picture.parent_path() / "").string();
  return json_answer({{"folder", batch::is_utf8(folder) ? folder : ""}, {"files", names}, {"count", count}});
}

/// Stores a picture that was dropped on the page, in a private folder until the session ends.
Answer Session::drop(const Query& query, const std::string& body) {
  const auto extension = query.find("extension");
  if (extension == query.end() || !batch::is_extension_of(&FormatInfo::reads, "." + extension->second))
    refuse("The name of the file does not end like that of a picture that Satin reads.");
  const std::string name = "dropped." + extension->second;
  const auto bytes = std::as_bytes(std::span(body));
  const ReadLimits& limits = start_.line.options.read.limits;
  if (bytes.size() > limits.bytes)
    refuse("The file is over the limit of " + std::to_string(limits.bytes) + " bytes (--max-bytes).");
  static_cast<void>(decode_image(bytes, name, limits));  // throws with the reason
  std::string folder = (fs::temp_directory_path() / "satin-view-XXXXXX").string();
  std::unique_lock lock(mutex_);
  if (::mkdtemp(folder.data()) == nullptr)
    throw Error(ErrorKind::environment, "A dropped file cannot be stored in " + batch::quoted(folder) + ".");
  const std::string file = folder + "/" + name;
  dropped_[file];
  lock.unlock();
  write_file(file, bytes, false);
  lock.lock();
  pictures_.push_back(file);
  return json_answer({{"file", file}});
}

/// Copies a dropped file to a name beside the picture. The pipeline then reads that.
Answer Session::keep_dropped(const Json& body) {
  const fs::path name = plain_name(body);
  const Json file = body.value("file", Json());
  std::unique_lock lock(mutex_);
  const auto dropped = dropped_.find(file.is_string() ? file.get<std::string>() : "");
  if (dropped == dropped_.end() || name.empty()) refuse("The body lacks a dropped file and its name.");
  const fs::path target = input().parent_path() / name;
  const std::vector<std::string> used = used_files();
  lock.unlock();
  const bool overwrite = wants_overwrite(body);
  if (Json found = found_at(target); !overwrite && !found.is_null()) return json_answer(found);
  refuse_used(target, used);
  const auto all = [](std::span<const std::byte>) { return true; };
  write_file(target, io::read_file(dropped->first, longest_upload, all), overwrite);
  lock.lock();
  dropped->second = target.string();
  use(checked(settings_of(line_.pipeline)));
  return settings_answer({{"kept", target.string()}});
}

/// Removes the dropped files and their folders.
void Session::remove_dropped() noexcept {
  const std::lock_guard lock(mutex_);
  std::error_code ignored;
  for (const auto& [file, kept] : dropped_) fs::remove_all(fs::path(file).parent_path(), ignored);
}

/// Returns a thumbnail of a picture of the folder as RGBA.
Answer Session::thumbnail(const Query& query) {
  const auto last = static_cast<double>(inputs_.files.size() - 1);
  const auto index = static_cast<std::size_t>(number_in(query, "index", 0, last));
  std::unique_lock lock(mutex_);
  const ReadOptions options = line_.options.read;
  lock.unlock();
  const fs::path& file = inputs_.files.path(index);
  auto small = std::make_shared<const Image>(thumbnail_of(file, options));
  if (small->shape().width == 0) static_cast<void>(read_pictures(file, options));  // throws with the reason
  const std::shared_ptr<const Image> shown = in_8_bits(std::move(small), Metadata());
  const Shape& shape = shown->shape();
  Answer answer{200, "application/octet-stream", cut(*shown, 0, shape, {0, 0, 1, shape.width, shape.height})};
  answer.fields = {{"X-Satin-Width", std::to_string(shape.width)},
                   {"X-Satin-Height", std::to_string(shape.height)}};
  return answer;
}

/// Makes the canvas: black, or with the mask that is the only side input of the step. Runs on the worker.
void Session::prepare_canvas(const Shape& picture, const PipelineStep& step, const ReadOptions& options) {
  const Shape shape{picture.width, picture.height, 1, Type::u8};
  const fs::path base = step.side_inputs.empty() ? "" : step.side_inputs.front().path;
  const batch::FileStamp stamp = batch::stamp_of(base);
  std::string key = base.string() + " " + std::to_string(stamp.size) + " " + std::to_string(stamp.time);
  if (canvas_ && canvas_->shape() == shape && key == canvas_key_) return;
  Image start(shape);
  std::memset(start.data(), 0, byte_size(shape));
  std::vector<std::string> warnings;  // the command that the page shows reports them
  for (Image& image : batch::read_side_inputs(step, options, false, warnings))
    if (!image.empty())
      start = in_8_bits(std::make_shared<const Image>(std::move(image)), Metadata())->clone();
  if (start.shape() != shape) refuse("The mask has another size than the picture.");
  canvas_.emplace(std::move(start));
  canvas_key_ = std::move(key);
}

Answer Session::paint(const Json& body) {
  const std::vector<Stroke> strokes = strokes_from(body);
  std::unique_lock lock(mutex_);
  if (picture_ == nullptr) throw Error(ErrorKind::usage, "There is no picture to paint on.");
  const double number = body.contains("step") ? finite(body["step"]) : 0;
  const std::shared_ptr<const OpenPicture> picture = picture_;
  const std::size_t steps = line_.pipeline.size();
  if (number < 0 || number >= static_cast<double>(steps)) refuse("There is no filter with that number.");
  const auto step = static_cast<std::size_t>(number);
  const std::string& filter = line_.pipeline[step].parameters.filter().name;
  const std::optional<std::string> input_name = mask_input(filter);
  if (!input_name) refuse("The filter '" + filter + "' has no mask.");
  const bool inverts = body.contains("inverted") && body["inverted"] == true;
  const Json below = body.value("below", Json(""));
  if (!below.is_string()) refuse("The name of the mask below the strokes is not a text.");
  Settings start = settings_of(line_.pipeline);
  start[step].set(*input_name, below.get<std::string>());
  const std::string base = checked(start)[step].side(*input_name);
  const bool paints = !strokes.empty() || (inverts && !base.empty());
  const ReadOptions reading = line_.options.read;
  const auto former = paintings_.find(step);
  const bool continues = former != paintings_.end() && !masks_[former->second.file.string()] &&
                         body.contains("continued") && body["continued"] == true;
  const fs::path target = continues ? former->second.file : free_name("mask.png");
  if (paints) masks_[target.string()] = false;
  lock.unlock();
  if (paints) {
    PipelineStep masked{Parameters(find_filter(filter)), {}};
    if (!base.empty()) masked.side_inputs = {{*input_name, base}};
    prepare_canvas(picture->shape(), masked, reading);
    Image mask = canvas_->paint(strokes, start_.ended);
    if (inverts)
      for (std::byte& value : std::span(mask.data(), byte_size(mask.shape()))) value = ~value;
    WriteOptions options;
    options.overwrite = continues;
    write_image(target, mask, options);
  }
  lock.lock();
  Settings settings = settings_of(line_.pipeline);
  if (step >= settings.size() || picture != picture_) refuse("The picture has changed meanwhile.");
  if (const auto before = paintings_.extract(step)) std::erase(pictures_, before.mapped().file.string());
  const std::string mask = paints ? target.string() : base;
  if (paints) {
    paintings_[step] = {target, body["strokes"].dump(), inverts, below.get<std::string>()};
    pictures_.push_back(mask);
  }
  settings[step].set(*input_name, mask);
  use(pipeline_of(settings));
  return settings_answer({{"mask", mask.empty() ? Json(nullptr) : Json(mask)}});
}

Answer Session::write_list() {
  std::unique_lock lock(mutex_);
  std::string names;
  for (std::size_t i = 0; i < inputs_.files.size(); ++i) names += inputs_.files.path(i).string() + '\0';
  const bool has_newlines = names.find('\n') != std::string::npos;
  if (!has_newlines) std::ranges::replace(names, '\0', '\n');
  const fs::path list = free_name("files.txt");
  keep_masks();
  const fs::path folder = folder_output_ ? line_.options.output : line_.options.output.parent_path() / "";
  std::vector<std::string> inputs{"--files-from", argument_of(list)};
  if (has_newlines) inputs.push_back("--null");
  const std::string command =
      command_line(line_.pipeline, inputs, folder.empty() ? "./" : folder.string(), kept());
  lock.unlock();
  write_file(list, std::as_bytes(std::span(names)), false);
  return json_answer({{"list", list.string()}, {"command", command}});
}

}  // namespace satin::view
