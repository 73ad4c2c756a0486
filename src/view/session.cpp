#include "view/session.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "batch/file_names.h"
#include "batch/gain_maps.h"
#include "batch/outputs.h"
#include "batch/side_inputs.h"
#include "satin/pipeline.h"
#include "view/settings.h"

namespace satin::view {
namespace {

namespace fs = std::filesystem;

/// Returns the default output: beside the picture, or for several pictures the folder "satin" beside the
/// first.
fs::path usual_output(const batch::InputList& inputs) {
  const fs::path first = inputs.files.path(0);
  if (inputs.many) return batch::folder_of(first) / "satin" / "";
  const std::string extension = first.extension().string();
  const bool writes = batch::is_extension_of(&FormatInfo::writes, extension);
  return first.parent_path() / (first.stem().string() + "-satin" +
                                (writes             ? extension
                                 : fits_jpeg(first) ? ".jpg"
                                                    : ".png"));
}

std::string text_in(const nlohmann::json& body, const char* name) {
  const auto found = body.find(name);
  if (found == body.end() || !found->is_string())
    throw Error(ErrorKind::usage, std::string("The body lacks the text ") + name + ".");
  return found->get<std::string>();
}

double number_in(const nlohmann::json& body, const char* name) {
  const auto found = body.find(name);
  if (found == body.end() || !found->is_number())
    throw Error(ErrorKind::usage, std::string("The body lacks the number ") + name + ".");
  return found->get<double>();
}

/// Returns a pipeline of the filter that uses the depth of photographs, or nothing.
std::optional<Pipeline> pipeline_for_photos() {
  for (const FilterRecord& filter : filters()) {
    const ParameterRecord* source = filter.find_parameter(ParameterRole::depth_source);
    if (!filter.set_by_photo || source == nullptr) continue;
    Parameters parameters(filter);
    parameters.set(source->name, "photo");
    return Pipeline{{parameters, {}}};
  }
  return std::nullopt;
}

/// Returns the answer of the work. Errors become refusals, which the page expects.
Answer answer_of(const std::function<Answer()>& work) {
  try {
    return work();
  } catch (const SettingsError& error) {
    return refused_answer(error, error.parameter());
  } catch (const Error& error) {
    return refused_answer(error);
  } catch (const std::exception& error) {
    return error_answer(500, Error(ErrorKind::input, error.what()));
  }
}

int status_of(const Error& error) { return error.kind() == ErrorKind::usage ? 400 : 500; }

}  // namespace

Session::Session(const Start& start) : start_(start), line_(start.line), renderer_(start.device) {
  inputs_ = batch::find_inputs(line_.options);
  if (batch::is_stream(inputs_.files.path(0)))
    throw Error(ErrorKind::usage, "satin view reads files, not standard input.");
  if (!inputs_.many)
    if (const auto problem = batch::reading_problem(inputs_.files.path(0))) throw Error(*problem);
  if (line_.options.output.empty()) line_.options.output = usual_output(inputs_);
  static_cast<void>(pipeline_of(settings_of(line_.pipeline)));
  batch::check_output_name(inputs_, line_.pipeline, line_.options);
  folder_output_ = batch::output_is_folder(inputs_, line_.options);
  batch::check_side_inputs(line_.pipeline, line_.options);
  for (const PipelineStep& step : line_.pipeline)
    for (const SideInput& side : step.side_inputs) pictures_.push_back(side.path.string());
  show();
  renderer_.post([this] { load(); });
}

Session::~Session() {
  Session::stop();
  remove_masks();
  remove_dropped();
}

void Session::stop() {
  save_ends_ = true;
  remove_dropped();  // before anything is waited for: a second signal would end the process
  renderer_.stop();
  if (saver_.joinable()) saver_.join();
}

void Session::answer(const Request& request, std::function<void(Answer)> reply) {
  try {
    take(request, reply);
  } catch (const SettingsError& error) {
    reply(error_answer(400, error, error.parameter()));
  } catch (const Error& error) {
    reply(error_answer(status_of(error), error));
  } catch (const std::exception& error) {
    reply(error_answer(500, Error(ErrorKind::environment, error.what())));
  }
}

void Session::take(const Request& request, const Reply& reply) {
  const std::string name = request.method + " " + request.path;
  if (name == "GET /api/view") return renderer_.view(wish_of(query_of(request.query)), reply);
  if (name == "GET /api/session") return tell_session(reply);
  if (name == "GET /api/thumbnail")
    return later(
        reply, [this, query = query_of(request.query)] { return thumbnail(query); }, Renderer::Turn::last);
  if (name == "GET /api/beside") return reply(answer_of([&] { return list_beside(); }));
  if (request.method == "POST" && request.path == upload_path)
    return reply(answer_of([&] { return drop(query_of(request.query), request.body); }));
  const Json body = request.method == "POST" ? object_of(request.body) : Json::object();
  if (name == "POST /api/keep") return reply(answer_of([&] { return keep_dropped(body); }));
  if (name == "POST /api/open") return open(body, reply);
  if (name == "POST /api/save") return begin_save(body, reply);
  if (name == "POST /api/mask") return later(reply, [this, body] { return paint(body); });
  if (name == "POST /api/list") return later(reply, [this] { return write_list(); });
  reply(at_once(name, request.query, body));
}

Answer Session::at_once(const std::string& name, const std::string& query, const Json& body) {
  const std::lock_guard lock(mutex_);
  if (name == "POST /api/settings") return change_settings(body);
  if (name == "POST /api/command") return take_command(body);
  if (name == "POST /api/focus") return set_focus(body);
  if (name == "POST /api/cancel") return save_ends_ = true, json_answer(Json::object());
  if (name == "POST /api/copied") return keep_masks(), json_answer(Json::object());
  if (name == "GET /api/changes") return tell_changes();
  if (name == "GET /api/at") return look_at(query_of(query));
  if (name == "GET /api/found") return tell_found();
  return error_answer(404, Error(ErrorKind::usage, "There is nothing here."));
}

void Session::later(const Reply& reply, std::function<Answer()> work, Renderer::Turn turn) {
  renderer_.post([reply, work = std::move(work)] { reply(answer_of(work)); }, turn);
}

void Session::begin_save(const Json& body, const Reply& reply) try {
  const std::lock_guard lock(mutex_);
  if (saving_) throw Error(ErrorKind::usage, "A file is being saved.");
  if (const auto generation = body.find("generation"); generation != body.end() && *generation != generation_)
    return reply(stale_answer());
  SaveJob job = save_job(body);
  if (saver_.joinable()) saver_.join();  // it has ended
  save_ends_ = false;
  saved_ = 0;
  saving_ = true;
  saver_ = std::thread([this, job = std::move(job), reply] {
    const Answer answer = answer_of([&] { return save(job); });
    saving_ = false;
    reply(answer);
  });
} catch (const Error& error) {
  reply(refused_answer(error));
}

void Session::tell_session(const Reply& reply) {
  const std::lock_guard lock(mutex_);
  if (picture_ == nullptr && !problem_) return waiting_.push_back(reply);
  reply(json_answer(session_json()));
}

void Session::open(const Json& body, const Reply& reply) {
  const double index = number_in(body, "index");
  const std::lock_guard lock(mutex_);
  if (!(index >= 0 && index < static_cast<double>(inputs_.files.size())))
    throw Error(ErrorKind::usage, "There is no picture with that number.");
  drop_paintings();
  index_ = static_cast<std::size_t>(index);
  picture_.reset();
  problem_.reset();
  restore_paintings();
  ++generation_;
  show();
  waiting_.push_back(reply);
  renderer_.post([this] { load(); });
}

/// Removes painted masks: they belong to the picture on which they were painted, and wait for its return.
void Session::drop_paintings() {
  Settings settings = settings_of(line_.pipeline);
  former_[index_].clear();
  for (const auto& [step, painting] : std::exchange(paintings_, {})) {
    if (step >= settings.size()) continue;
    const auto count =
        std::erase_if(settings[step].values,
                      [file = painting.file.string()](const auto& value) { return value.second == file; });
    if (count != 0) former_[index_][step] = painting;
  }
  line_.pipeline = pipeline_of(settings);
}

/// Sets the masks again that were painted on the picture when it was open before.
void Session::restore_paintings() {
  Settings settings = settings_of(line_.pipeline);
  std::error_code ignored;
  for (const auto& [step, painting] : former_[index_]) {
    if (step >= settings.size() || !fs::exists(painting.file, ignored)) continue;
    const std::optional<std::string> name = mask_input(settings[step].filter);
    if (!name || !settings[step].get(*name).empty()) continue;
    settings[step].set(*name, painting.file.string());
    paintings_[step] = painting;
  }
  line_.pipeline = pipeline_of(settings);
}

/// Reads the picture. Runs on the worker.
void Session::load() {
  std::unique_lock lock(mutex_);
  if (picture_ != nullptr) return;
  const std::size_t index = index_;
  const fs::path file = input();
  ReadOptions options = line_.options.read;
  const bool chooses = std::exchange(start_.may_choose, false) && line_.pipeline.size() == 1;
  const PhotoUse use = photo_use_of(line_.pipeline, line_.options);
  const bool wants = use == PhotoUse::carried;
  const Pipeline pipeline = line_.pipeline;
  const BatchOptions batch_options = line_.options;
  options.photo_depth = true;  // the page offers it
  options.gain_map = true;     // the page says whether it is used
  lock.unlock();
  std::shared_ptr<const OpenPicture> picture;
  std::optional<Error> problem;
  std::optional<Pipeline> chosen;
  try {
    Picture read;
    try {
      read = read_picture(file, options);
    } catch (const Error&) {
      if (wants) throw;
      options.photo_depth = false;  // the picture itself may be intact
      read = read_picture(file, options);
    }
    const bool has_depth = read.photo && read.photo->depth;
    if (chooses && has_depth) chosen = pipeline_for_photos();
    if (!chosen && !wants && read.photo && !read.photo->original.place.empty()) {
      options.photo_depth = false;  // this is the sharp original, which only depth of field uses
      std::optional<Photo> photo = std::move(read.photo);
      read = read_picture(file, options);
      read.photo = std::move(photo);
    }
    if (use == PhotoUse::estimated) estimate(pipeline, batch_options, index, read);
    picture = std::make_shared<const OpenPicture>(start_.device, std::move(read),
                                                  chosen ? PhotoUse::carried : use, has_depth);
  } catch (const Error& error) {
    problem = error;
  } catch (const std::exception& error) {
    problem = Error(ErrorKind::environment, error.what());
  }
  lock.lock();
  if (index != index_) return;
  if (chosen) line_.pipeline = *chosen;
  picture_ = std::move(picture);
  problem_ = std::move(problem);
  const bool settles = picture_ == nullptr && problem_ && problem_->kind() != ErrorKind::cancelled;
  if (!settles &&
      (picture_ == nullptr || picture_->photo_use != photo_use_of(line_.pipeline, line_.options))) {
    picture_.reset();  // the settings changed while the picture was read
    return renderer_.post([this] { load(); });
  }
  remember(file);
  remember(output());
  remember_sides();
  show();
  for (const Reply& reply : std::exchange(waiting_, {})) reply(json_answer(session_json()));
}

/// Adds the depth that the session's model estimates, unless another picture or other settings end that.
void Session::estimate(const Pipeline& pipeline, const BatchOptions& options, std::size_t index,
                       Picture& picture) {
  const auto cancelled = [&] {
    if (start_.ended()) return true;
    const std::lock_guard lock(mutex_);
    return index != index_ || photo_use_of(line_.pipeline, line_.options) != PhotoUse::estimated;
  };
  batch::use_model(*batch::model_of(pipeline, options), options, {}, {0, cancelled}, picture);
}

/// Returns the settings after a change, or the unchanged ones with the reason.
Answer Session::attempt(const std::function<void()>& change) {
  try {
    change();
    return settings_answer({});
  } catch (const SettingsError& error) {
    return settings_answer({{"error", error_json(error, error.parameter())}});
  } catch (const Error& error) {
    return settings_answer({{"error", error_json(error)}});
  }
}

Answer Session::change_settings(const Json& body) {
  return attempt([&] { use(checked(settings_from(body))); });
}

Answer Session::take_command(const Json& body) {
  return attempt([&] {
    Line line = start_.understand(shell_words(text_in(body, "text")));
    if (line.pipeline.size() > most_steps)
      throw Error(ErrorKind::usage, "The command has more than " + std::to_string(most_steps) + " filters.");
    const Pipeline pipeline = checked(settings_of(line.pipeline));
    line.options.inputs = line_.options.inputs;
    line.options.list = line_.options.list;
    line.options.output = line_.options.output;
    const fs::path& model = line_.options.model;
    if (!line.options.model.empty() && line.options.model != model)
      throw Error(ErrorKind::usage, "The page may not use another model. Name it when satin view starts.");
    line.options.model = model;
    line_.options = std::move(line.options);
    line_.kept = std::move(line.kept);
    use(pipeline);
  });
}

Answer Session::set_focus(const Json& body) {
  constexpr const char* place = "focus-at";
  Settings settings = settings_of(line_.pipeline);
  const auto step = std::find_if(settings.rbegin(), settings.rend(), [&](const StepSettings& each) {
    return find_filter(each.filter).find_parameter(place) != nullptr;
  });
  if (step == settings.rend()) throw Error(ErrorKind::usage, "No filter of the pipeline has a focus.");
  step->set("focus", "");
  step->set(place, print_point({number_in(body, "x"), number_in(body, "y")}));
  use(pipeline_of(settings));
  return settings_answer({});
}

Answer Session::tell_changes() const {
  Json changed = Json::array();
  const auto has_changed = [&](const fs::path& file) {
    const auto known = stamps_.find(file.string());
    return known != stamps_.end() && known->second != batch::stamp_of(file);
  };
  if (has_changed(input())) changed.push_back("picture");
  if (std::ranges::any_of(pictures_, has_changed)) changed.push_back("depth");
  if (has_changed(output())) changed.push_back("output");
  return json_answer({{"changed", changed},
                      {"generation", generation_},
                      {"progress", renderer_.progress()},
                      {"saving", saving_ ? Json(saved_.load()) : Json(nullptr)}});
}

Answer Session::look_at(const Query& query) const {
  const double x = view::number_in(query, "x", -1e9, 1e9), y = view::number_in(query, "y", -1e9, 1e9);
  Json json{{"before", nullptr}, {"after", nullptr}, {"depth", nullptr}, {"radius", nullptr}};
  if (picture_ == nullptr) return json_answer(json);
  const Shape& shape = picture_->shape();
  if (const auto colour = colour_at(*picture_->shown->find(0), 0, shape, x, y)) json["before"] = *colour;
  if (const auto colour = renderer_.result_at(x, y)) json["after"] = *colour;
  const std::vector<FoundValue> all_found = renderer_.found();
  const auto map = DepthMap::of(steps_for(start_.device, line_.pipeline, *picture_), renderer_.sides(),
                                *picture_, all_found);
  const std::optional<double> depth = map ? map->at(x, y) : std::nullopt;
  if (!depth) return json_answer(json);
  json["depth"] = *depth;
  for (const FoundValue& found : all_found)
    if (found.step == map->step() && found.parameter == "strength")
      if (const auto radius = map->radius(*depth, found.value)) json["radius"] = *radius;
  return json_answer(json);
}

/// Tells what a photograph and the filters set that the settings leave open, and the depth of the lens.
Answer Session::tell_found() {
  Json steps = Json::array(), depth;
  if (picture_ == nullptr)
    return json_answer({{"generation", generation_}, {"steps", steps}, {"depth", depth}});
  const Pipeline pipeline = steps_for(start_.device, line_.pipeline, *picture_);
  for (std::size_t i = 0; i < pipeline.size(); ++i) {
    Json& own = steps.emplace_back(Json::object());
    for (const ParameterRecord& parameter : pipeline[i].parameters.filter().parameters) {
      const std::string text = pipeline[i].parameters.get(parameter.name);
      if (text != line_.pipeline[i].parameters.get(parameter.name)) own[parameter.name] = text;
    }
  }
  const std::vector<FoundValue> all_found = renderer_.found();
  for (const FoundValue& found : all_found)
    if (found.step < steps.size()) steps[found.step][found.parameter] = found.value;
  if (const auto map = DepthMap::of(pipeline, renderer_.sides(), *picture_, all_found)) {
    if (const auto focus = map->focus()) steps[map->step()]["focus"] = *focus;
    steps[map->step()]["focus-at"] = print_point(map->focus_place());
    if (!surveyed_ || !surveyed_->equals(*map)) histogram_ = text_of(map->histogram());
    surveyed_ = map;
    depth = Json::parse(histogram_);
  }
  return json_answer({{"generation", generation_}, {"steps", steps}, {"depth", depth}});
}

/// Sets the pipeline. Depth and mattes of a photograph are read when they are first needed.
void Session::use(const Pipeline& pipeline) {
  line_.pipeline = pipeline;
  ++generation_;
  for (const PipelineStep& step : pipeline)
    for (const SideInput& side : step.side_inputs)
      if (std::ranges::find(pictures_, side.path.string()) == pictures_.end())
        pictures_.push_back(side.path.string());
  if (picture_ != nullptr && photo_use_of(pipeline, line_.options) != picture_->photo_use) {
    picture_.reset();
    renderer_.post([this] { load(); });
  }
  remember_sides();
  show();
}

void Session::show() { renderer_.show({generation_, work(), picture_, problem_}); }

Answer Session::settings_answer(const Json& more) const {
  Json json{{"generation", generation_},  {"command", command()},
            {"line", line_json()},        {"settings", settings_json(settings_of(line_.pipeline))},
            {"uses_light", uses_light()}, {"error", nullptr}};
  if (!more.is_null()) json.update(more);
  return json_answer(json);
}

bool Session::uses_light() const {
  return picture_ != nullptr && batch::uses_light(*picture_->source, line_.pipeline, line_.options);
}

Session::Json Session::session_json() const {
  Json files = Json::array();
  for (std::size_t i = 0; i < inputs_.files.size(); ++i) files.push_back(inputs_.files.relative(i).string());
  Json json{{"picture", nullptr},
            {"files", files},
            {"index", index_},
            {"filters", filters_json(pictures_)},
            {"settings", settings_json(settings_of(line_.pipeline))},
            {"paintings", paintings_json()},
            {"generation", generation_},
            {"command", command()},
            {"line", line_json()},
            {"output", output().string()},
            {"uses_light", uses_light()},
            {"error", problem_ ? error_json(*problem_) : Json(nullptr)}};
  if (picture_ == nullptr) return json;
  const Shape& shape = picture_->shape();
  json["picture"] = {{"name", input().filename().string()},
                     {"width", shape.width},
                     {"height", shape.height},
                     {"channels", shape.channels},
                     {"has_depth", picture_->has_depth},
                     {"has_model", !line_.options.model.empty() || !usual_depth_model().empty()},
                     {"type", name_of(shape.type)}};
  return json;
}

Session::Json Session::paintings_json() const {
  Json all = Json::array();
  for (const auto& [step, painting] : paintings_) {
    all.push_back(
        {{"step", step}, {"mask", painting.file.string()}, {"strokes", Json::parse(painting.strokes)}});
    if (painting.is_inverted) all.back()["inverted"] = true;
    if (!painting.below.empty()) all.back()["below"] = painting.below;
  }
  return all;
}

/// Returns a batch of the open file only.
std::shared_ptr<const Batch> Session::work() const {
  auto work = std::make_shared<Batch>();
  work->pipeline = line_.pipeline;
  work->options = line_.options;
  work->folder_output = folder_output_;
  const fs::path file = input();
  const fs::path below = inputs_.files.relative(index_);
  fs::path folder = file;
  for (auto part = below.begin(); part != below.end(); ++part) folder = folder.parent_path();
  if (!folder.empty()) work->files.below(folder);
  work->files.add(below.native());
  batch::choose_stand_ins(*work);
  return work;
}

/// Returns the output of the command. The command makes a folder if there is none.
std::string Session::target() const {
  return (folder_output_ ? output().parent_path() / "" : output()).string();
}

std::string Session::command() const {
  return command_line(line_.pipeline, {argument_of(input())}, target(), kept());
}

/// Returns the texts with which a page writes the command when it cannot reach the server, and the dropped
/// files that the command names.
Session::Json Session::line_json() const {
  Json unkept = Json::array();
  for (const PipelineStep& step : line_.pipeline)
    for (const SideInput& side : step.side_inputs)
      if (dropped_.contains(side.path.string())) unkept.push_back(side.path.string());
  return {{"files", files_text({argument_of(input())}, target())},
          {"kept", options_text(kept())},
          {"unkept", unkept}};
}

/// Returns the options that the command repeats, with the model if the pipeline needs one.
LineOptions Session::kept() const {
  LineOptions kept = line_.kept;
  if (batch::takes_model(line_.pipeline) && !line_.options.model.empty())
    kept.emplace_back("model", line_.options.model.string());
  return kept;
}

/// Checks the files that the page names: pictures that the session reads already, and files beside the
/// picture, with or without the folder. A dropped file that was kept is that under its name.
Pipeline Session::checked(Settings settings) const {
  for (StepSettings& step : settings)
    for (const InputRecord& record : find_filter(step.filter).inputs) {
      const std::string name = step.get(record.name);
      if (const auto kept = dropped_.find(name); kept != dropped_.end() && !kept->second.empty())
        step.set(record.name, kept->second);
      if (name.empty() || std::ranges::find(pictures_, name) != pictures_.end()) continue;
      const fs::path file = name, folder = input().parent_path();
      const fs::path beside = folder / file.filename();
      std::error_code ignored;
      if ((file != beside && file != file.filename()) || name.find('\0') != std::string::npos ||
          !fs::is_regular_file(beside, ignored))
        throw SettingsError(
            Error(ErrorKind::usage, "The page may not use the file " + batch::quoted(name) +
                                        ": put it beside the picture, or name it when satin view "
                                        "starts."),
            record.name);
      step.set(record.name, beside.string());
    }
  return pipeline_of(settings);
}

void Session::remember(const fs::path& file) { stamps_[file.string()] = batch::stamp_of(file); }

void Session::remember_sides() {
  for (const std::string& picture : pictures_) remember(picture);
}

}  // namespace satin::view
