#pragma once
// The renderer: a thread that filters what the page shows. A preview comes first, then the true pixels. A new
// generation of the settings cancels the work for the old one.

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "satin/batch.h"
#include "satin/device.h"
#include "view/open_picture.h"
#include "view/pyramid.h"
#include "view/server.h"

namespace satin::view {

/// The picture and pipeline that the page shows.
struct Scene {
  int generation = 0;
  std::shared_ptr<const Batch> work;           ///< pipeline for one file
  std::shared_ptr<const OpenPicture> picture;  ///< null while it is being read
  std::optional<Error> problem;                ///< reason for a missing picture
};

/// A view that the page requests.
struct Wish {
  int generation = 0;
  Viewport viewport;
  std::string overlay;
  bool before = false;
  bool exact = false;
};

using Reply = std::function<void(Answer)>;

class Renderer {
 public:
  explicit Renderer(const Device& device);
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  /// Shows another scene and cancels the work for an earlier generation.
  void show(Scene scene);
  /// Answers at once if the pixels are known, otherwise from the worker.
  void view(const Wish& wish, Reply reply);
  /// When the worker runs a task: before the pixels that the page waits for, or when nothing else is left.
  enum class Turn { first, last };
  /// Runs a task on the worker.
  void post(std::function<void()> task, Turn turn = Turn::first);
  /// Ends the worker. Nothing is answered afterwards.
  void stop();

  /// Returns a pixel of the current result, as exactly as it is known, or nothing.
  [[nodiscard]] std::optional<std::vector<int>> result_at(double x, double y) const;
  /// Returns the values that filters of this generation found.
  [[nodiscard]] std::vector<FoundValue> found() const;
  /// Returns the side inputs that were read last.
  [[nodiscard]] Sides sides() const;
  /// Returns the completed fraction of the true pixels.
  [[nodiscard]] double progress() const;

 private:
  using Clock = std::chrono::steady_clock;

  /// Known pixels in 8 bits. Level 0 of `pixels` is level `level` of the result.
  struct Shown {
    std::shared_ptr<Pyramid> pixels;
    int level = 0;
    Shape picture{};  ///< shape of the whole result
    bool exact = false;
  };
  /// Known pixels of the result, or of an overlay.
  struct Known {
    std::optional<Shown> quick;
    std::optional<Shown> exact;
    std::optional<Error> error;
  };
  struct Waiting {
    Wish wish;
    Reply reply;
  };

  void run();
  void run_task(std::deque<std::function<void()>>& tasks, std::unique_lock<std::mutex>& lock);
  bool answer_if_known(const Wish& wish, const Reply& reply);
  std::optional<Shown> best(const Wish& wish) const;
  void answer_waiting();
  void work_on(const Wish& wish);
  void make_levels(const Wish& wish, const Shown& shown);
  void filter(const Scene& scene, const Wish& wish);
  [[nodiscard]] Sides read_sides(const Scene& scene);
  void show_depth(const Scene& scene, const Wish& wish);
  [[nodiscard]] Filtered run_filters(const Scene& scene, const Wish& wish, int level);
  void filter_quickly(const Scene& scene, const Wish& wish, int level);
  void filter_truly(const Scene& scene, const Wish& wish);
  [[nodiscard]] int preview_level(const Scene& scene, const Wish& wish) const;
  void keep(const Scene& scene, const Wish& wish, Shown shown);
  static void learn(double& per_pixel, double seconds, const Shape& shape);

  Device device_;
  SidePictures side_pictures_;  ///< used by the worker only
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  Scene scene_;
  Clock::time_point changed_{};
  std::map<std::string, Known> known_;  ///< known pixels by overlay
  std::vector<FoundValue> found_;
  Sides sides_;
  double done_ = 0;
  std::vector<Waiting> waiting_;
  std::deque<std::function<void()>> tasks_;
  std::deque<std::function<void()>> late_tasks_;
  double seconds_per_pixel_ = 1e-7;  ///< time of the filters, estimated from the last runs
  double halving_per_pixel_ = 5e-9;  ///< seconds to make the smaller copies of a result
  std::thread thread_;
};

}  // namespace satin::view
