#include "view/renderer.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "batch/outputs.h"
#include "satin/error.h"
#include "satin/pipeline.h"
#include "view/answers.h"
#include "view/depth_map.h"
#include "view/open_picture.h"
#include "view/settings.h"

namespace satin::view {
namespace {

using std::chrono::duration;

/// Pause after the last change before true pixels are computed: nobody waits for them while a slider moves.
constexpr std::chrono::milliseconds settling{150};
/// Time limits in seconds: for showing true pixels without a preview, and for a preview. A change should be
/// visible within 0.1 s, including halving, cutting and sending.
constexpr double at_once = 0.03;
constexpr double preview_time = 0.05;
/// Runs on fewer pixels do not predict the time for larger pictures, because planning takes time too.
constexpr double telling_pixels = 200'000;

double pixels_of(const Shape& shape) {
  return static_cast<double>(shape.width) * static_cast<double>(shape.height);
}

Answer pixels_answer(const Wish& wish, std::string pixels, bool exact) {
  Answer answer{200, "application/octet-stream", std::move(pixels)};
  answer.fields = {{state_field, exact ? "true" : "preview"},
                   {"X-Satin-Generation", std::to_string(wish.generation)},
                   {"X-Satin-Width", std::to_string(wish.viewport.width)},
                   {"X-Satin-Height", std::to_string(wish.viewport.height)}};
  return answer;
}

}  // namespace

Renderer::Renderer(const Device& device)
    : device_(device), side_pictures_(device), thread_([this] { run(); }) {}

Renderer::~Renderer() { stop(); }

void Renderer::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    waiting_.clear();
    tasks_.clear();
    late_tasks_.clear();
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Renderer::show(Scene scene) {
  std::vector<Waiting> stale;
  {
    const std::lock_guard lock(mutex_);
    scene_ = std::move(scene);
    changed_ = Clock::now();
    known_.clear();
    found_.clear();
    done_ = 0;
    stale.swap(waiting_);
  }
  wake_.notify_all();
  for (Waiting& waiting : stale) view(waiting.wish, std::move(waiting.reply));
}

void Renderer::view(const Wish& wish, Reply reply) {
  if (answer_if_known(wish, reply)) return;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    waiting_.push_back({wish, std::move(reply)});
  }
  wake_.notify_all();
}

void Renderer::post(std::function<void()> task, Turn turn) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    (turn == Turn::first ? tasks_ : late_tasks_).push_back(std::move(task));
  }
  wake_.notify_all();
}

/// Returns the best known pixels for a wish, whether or not the level it needs has been made.
std::optional<Renderer::Shown> Renderer::best(const Wish& wish) const {
  if (scene_.picture == nullptr) return std::nullopt;
  if (wish.before) return Shown{scene_.picture->shown, 0, scene_.picture->shape(), true};
  const auto known = known_.find(wish.overlay);
  if (known == known_.end()) return std::nullopt;
  if (known->second.exact) return known->second.exact;
  return wish.exact ? std::nullopt : known->second.quick;
}

bool Renderer::answer_if_known(const Wish& wish, const Reply& reply) {
  std::optional<Shown> shown;
  std::optional<Error> error;
  {
    const std::lock_guard lock(mutex_);
    if (wish.generation != scene_.generation) return reply(stale_answer()), true;
    error = scene_.problem;
    if (const auto known = known_.find(wish.overlay);
        !wish.before && known != known_.end() && known->second.error)
      error = known->second.error;
    shown = best(wish);
  }
  if (error) return reply(refused_answer(*error)), true;
  if (!shown) return false;
  const int wanted = std::max(level_for(wish.viewport, shown->picture) - shown->level, 0);
  int level = wanted;
  std::shared_ptr<const Image> image = shown->pixels->find(level);
  if (!wish.exact && is_very_large(shown->picture))
    while (image == nullptr) image = shown->pixels->find(--level);  // grainy, but available at once
  if (image == nullptr) return false;
  const bool exact = shown->exact && level == wanted;
  reply(pixels_answer(wish, cut(*image, shown->level + level, shown->picture, wish.viewport), exact));
  return true;
}

void Renderer::answer_waiting() {
  std::vector<Waiting> waiting;
  {
    const std::lock_guard lock(mutex_);
    waiting.swap(waiting_);
  }
  for (Waiting& each : waiting) {
    if (answer_if_known(each.wish, each.reply)) continue;
    const std::lock_guard lock(mutex_);
    if (!stopped_) waiting_.push_back(std::move(each));
  }
}

void Renderer::run_task(std::deque<std::function<void()>>& tasks, std::unique_lock<std::mutex>& lock) {
  const std::function<void()> task = std::move(tasks.front());
  tasks.pop_front();
  lock.unlock();
  task();
  lock.lock();
}

void Renderer::run() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    const bool is_waited_for = !waiting_.empty() && scene_.picture != nullptr;
    if (!tasks_.empty()) {
      run_task(tasks_, lock);
      continue;
    }
    if (!is_waited_for) {
      late_tasks_.empty() ? wake_.wait(lock) : run_task(late_tasks_, lock);
      continue;
    }
    const auto quick = std::ranges::find_if(waiting_, [](const Waiting& each) { return !each.wish.exact; });
    const Wish wish = quick != waiting_.end() ? quick->wish : waiting_.front().wish;
    if (wish.exact && !wish.before && Clock::now() < changed_ + settling) {
      wake_.wait_until(lock, changed_ + settling);
      continue;
    }
    lock.unlock();
    work_on(wish);
    answer_waiting();
    lock.lock();
  }
}

void Renderer::work_on(const Wish& wish) {
  std::optional<Error> error;
  try {
    std::unique_lock lock(mutex_);
    if (wish.generation != scene_.generation) return;
    const std::optional<Shown> shown = best(wish);
    const Scene scene = scene_;
    lock.unlock();
    shown ? make_levels(wish, *shown) : filter(scene, wish);
  } catch (const Error& failure) {
    error = failure;
  } catch (const std::bad_alloc&) {
    error = Error(ErrorKind::environment, "There is not enough memory.");
  } catch (const std::exception& failure) {
    error = Error(ErrorKind::input, failure.what());
  }
  if (!error || error->kind() == ErrorKind::cancelled) return;
  const std::lock_guard lock(mutex_);
  if (wish.generation == scene_.generation) known_[wish.overlay].error = error;
}

void Renderer::make_levels(const Wish& wish, const Shown& shown) {
  const int level = std::max(level_for(wish.viewport, shown.picture) - shown.level, 0);
  const bool is_result = level > 0 && !wish.before && shown.pixels->find(1) == nullptr;
  const Clock::time_point start = Clock::now();
  shown.pixels->make(level);
  if (is_result)
    learn(halving_per_pixel_, duration<double>(Clock::now() - start).count(),
          shape_at(shown.picture, shown.level));
}

void Renderer::filter(const Scene& scene, const Wish& wish) {
  if (wish.overlay == depth_overlay) return show_depth(scene, wish);
  if (const int level = wish.exact ? 0 : preview_level(scene, wish); level > 0) try {
      return filter_quickly(scene, wish, level);
    } catch (const Error& error) {
      // A smaller picture may be refused although the whole one is not.
      if (error.kind() == ErrorKind::cancelled) throw;
    }
  filter_truly(scene, wish);
}

int Renderer::preview_level(const Scene& scene, const Wish& wish) const {
  const Shape& shape = scene.picture->shape();
  // Boxes and sizes cannot be halved exactly, so the result would change its size with the preview.
  if (changes_size(scene.work->pipeline)) return 0;
  const int shown = level_for(wish.viewport, shape);
  const double per_pixel = seconds_per_pixel_ + (shown > 0 ? halving_per_pixel_ : 0);
  if (pixels_of(shape) * per_pixel <= at_once) return 0;
  const int last = last_level(shape);
  int level = std::min(std::max(shown, 1), last);
  while (level < last && pixels_of(shape_at(shape, level)) * seconds_per_pixel_ > preview_time) ++level;
  return level;
}

Sides Renderer::read_sides(const Scene& scene) {
  Sides sides = side_pictures_.of(*scene.work, *scene.picture);
  const std::lock_guard lock(mutex_);
  sides_ = sides;
  return sides;
}

/// Shows the depth that the pipeline reads. No filter runs.
void Renderer::show_depth(const Scene& scene, const Wish& wish) {
  const Pipeline steps = steps_for(device_, scene.work->pipeline, *scene.picture);
  const std::optional<DepthMap> depth = DepthMap::of(steps, read_sides(scene), *scene.picture);
  if (!depth) throw Error(ErrorKind::usage, "No filter of the pipeline reads depth.");
  const Shape& whole = scene.picture->shape();
  const int level = wish.exact ? 0 : level_for(wish.viewport, whole);
  auto pixels = std::make_shared<const Image>(depth->grey(shape_at(whole, level)));
  keep(scene, wish,
       {std::make_shared<Pyramid>(device_, std::move(pixels), Space::encoded), level, whole, level == 0});
}

/// Runs the pipeline, or the steps up to the overlay, and learns how long that takes.
Filtered Renderer::run_filters(const Scene& scene, const Wish& wish, int level) {
  const Sides sides = read_sides(scene);
  Pipeline steps = steps_for(device_, scene.work->pipeline, *scene.picture);
  if (!wish.overlay.empty()) steps = with_overlay(steps, wish.overlay);
  if (level > 0) {
    steps = scaled(steps, level);
    scene.picture->pixels->make_quickly(level);
  }
  const auto progress = [this, generation = scene.generation](double done) {
    const std::lock_guard lock(mutex_);
    done_ = done;
    return !stopped_ && scene_.generation == generation;
  };
  const Clock::time_point start = Clock::now();
  Filtered result =
      filtered(device_, steps, *scene.picture, level, sides, scene.work->file(0).input, progress);
  learn(seconds_per_pixel_, duration<double>(Clock::now() - start).count(), result.pixels.shape());
  return result;
}

void Renderer::filter_quickly(const Scene& scene, const Wish& wish, int level) {
  Filtered result = run_filters(scene, wish, level);
  const Shape& whole = scene.picture->shape();
  const Shape small = shape_at(whole, level);
  Shape picture = result.pixels.shape();
  const bool keeps_size = picture.width == small.width && picture.height == small.height;
  picture.width = keeps_size ? whole.width : picture.width << level;
  picture.height = keeps_size ? whole.height : picture.height << level;
  auto pixels =
      in_8_bits(std::make_shared<const Image>(std::move(result.pixels)), scene.picture->source->metadata);
  keep(scene, wish,
       {std::make_shared<Pyramid>(device_, std::move(pixels), Space::linear), level, picture, false});
}

void Renderer::filter_truly(const Scene& scene, const Wish& wish) {
  Filtered result = run_filters(scene, wish, 0);
  {
    const std::lock_guard lock(mutex_);
    if (scene_.generation == scene.generation) found_ = std::move(result.found);
  }
  const BatchFile file = scene.work->file(0);
  const auto pixels = std::make_shared<const Image>(std::move(result.pixels));
  const WriteOptions options = batch::write_options(file, *scene.picture->source, scene.work->options,
                                                    output_kind(scene.work->pipeline));
  const bool is_shown_as_it_is = !wish.overlay.empty() || file_keeps(pixels->shape(), file.output, options);
  Shown shown{std::make_shared<Pyramid>(device_, in_8_bits(pixels, options.metadata), Space::linear), 0,
              pixels->shape(), is_shown_as_it_is};
  keep(scene, wish, shown);
  if (is_shown_as_it_is) return;
  answer_waiting();
  shown.pixels = std::make_shared<Pyramid>(device_, as_in_file(*pixels, file.output, options), Space::linear);
  shown.exact = true;
  keep(scene, wish, std::move(shown));
}

void Renderer::keep(const Scene& scene, const Wish& wish, Shown shown) {
  const std::lock_guard lock(mutex_);
  if (scene_.generation != scene.generation) return;
  Known& known = known_[wish.overlay];
  if (shown.exact) {
    known.exact = std::move(shown);
    known.quick.reset();
  } else {
    known.quick = std::move(shown);
  }
}

void Renderer::learn(double& per_pixel, double seconds, const Shape& shape) {
  const double pixels = pixels_of(shape);
  if (pixels < telling_pixels) return;
  constexpr double trust = 0.7;
  per_pixel = trust * seconds / pixels + (1 - trust) * per_pixel;
}

std::optional<std::vector<int>> Renderer::result_at(double x, double y) const {
  std::optional<Shown> shown;
  {
    const std::lock_guard lock(mutex_);
    shown = best({scene_.generation, {}, "", false, false});
  }
  if (!shown) return std::nullopt;
  return colour_at(*shown->pixels->find(0), shown->level, shown->picture, x, y);
}

std::vector<FoundValue> Renderer::found() const {
  const std::lock_guard lock(mutex_);
  return found_;
}

Sides Renderer::sides() const {
  const std::lock_guard lock(mutex_);
  return sides_;
}

double Renderer::progress() const {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find("");
  return known != known_.end() && known->second.exact ? 1 : done_;
}

}  // namespace satin::view
