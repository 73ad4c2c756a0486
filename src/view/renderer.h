#pragma once
// The thread that filters what the page shows. A newer generation of the settings ends its work.

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
  std::shared_ptr<const Batch> work;           ///< the pipeline for one file
  std::shared_ptr<const OpenPicture> picture;  ///< null: it is being read
  std::optional<Error> problem;                ///< why there is no picture
};

/// A view that the page asks for.
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

  /// Shows another scene; ends the work for an earlier generation.
  void show(Scene scene);
  /// Answers at once where all is there, otherwise from the worker.
  void view(const Wish& wish, Reply reply);
  /// The turn of a task of the worker: before pixels that the page waits for, or when nothing else is there.
  enum class Turn { first, last };
  /// Runs the task on the worker.
  void post(std::function<void()> task, Turn turn = Turn::first);
  /// Ends the worker; nothing is answered afterwards.
  void stop();

  /// The pixel of the result of this generation, as good as it is known; nothing if it is not.
  [[nodiscard]] std::optional<std::vector<int>> result_at(double x, double y) const;
  /// The values that filters of this generation found.
  [[nodiscard]] std::vector<FoundValue> found() const;
  /// The side inputs that were read last.
  [[nodiscard]] Sides sides() const;
  /// The share of the true pixels that is done.
  [[nodiscard]] double progress() const;

 private:
  using Clock = std::chrono::steady_clock;

  /// Pixels in 8 bits; its level 0 is this level of the picture.
  struct Shown {
    std::shared_ptr<Pyramid> pixels;
    int level = 0;
    Shape picture{};  ///< the shape of the whole result
    bool exact = false;
  };
  /// The known pixels of the result, or of an overlay.
  struct Slot {
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
  void filter(const Wish& wish);
  void filter_quickly(const Scene& scene, const Wish& wish, int level);
  void filter_truly(const Scene& scene, const Wish& wish);
  [[nodiscard]] int preview_level(const Scene& scene, const Wish& wish) const;
  [[nodiscard]] Sides read_sides(const Scene& scene);
  [[nodiscard]] Pipeline steps_of(const Scene& scene, const Wish& wish) const;
  [[nodiscard]] Progress progress_of(const Scene& scene);
  void keep(const Scene& scene, const Wish& wish, Shown shown);
  void learn(double seconds, const Shape& shape);

  Device device_;
  SidePictures side_pictures_;  ///< the worker's alone
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  Scene scene_;
  Clock::time_point changed_{};
  std::map<std::string, Slot> slots_;  ///< known pixels by overlay
  std::vector<FoundValue> found_;
  Sides sides_;
  double done_ = 0;
  std::vector<Waiting> waiting_;
  std::deque<std::function<void()>> tasks_;
  std::deque<std::function<void()>> late_tasks_;
  double seconds_per_pixel_ = 1e-7;  ///< of the last runs
  std::thread thread_;
};

}  // namespace satin::view
