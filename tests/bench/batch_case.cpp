// The case "batch": where the time of a folder of pictures goes, stage by stage.
//
// The batch runs three times: once to warm up disks and drivers, once as usual, which is the time of the
// case, and once with a listener. For each stage the JSON has the seconds per file, the share of the wall
// time in which at least one file is in it, and the mean number of files in it during that time; for the
// devices the share of time without a picture.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "satin/batch.h"
#include "satin/error.h"
#include "satin/json.h"
#include "tests/bench/bench.h"

namespace satin::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// The stay of one file in one stage, in seconds since the start.
struct Interval {
  std::string stage;
  std::string file;
  int thread = 0;
  double begin = 0;
  double end = 0;
};

std::string name_of(Stage stage) {
  if (stage == Stage::reading) return "decode";
  return stage == Stage::filtering ? "filter" : "encode";
}

/// Collects the reports of the threads of a batch. A thread is in one stage at a time.
class Timeline {
 public:
  void stage(const BatchFile& file, Stage stage, bool begins) {
    const std::lock_guard lock(mutex_);
    Now& now = now_[std::this_thread::get_id()];
    if (begins) {
      if (now.number == 0) now.number = static_cast<int>(now_.size());
      now.file = file.input.filename().string();
      now.begin = Clock::now();
    } else {
      add(name_of(stage), now);
    }
  }

  [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }

 private:
  struct Now {
    int number = 0;
    std::string file;
    Clock::time_point begin;
  };

  void add(const std::string& stage, const Now& now) {
    const auto seconds = [this](Clock::time_point at) {
      return std::chrono::duration<double>(at - start_).count();
    };
    intervals_.push_back({stage, now.file, now.number, seconds(now.begin), seconds(Clock::now())});
  }

  Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  std::map<std::thread::id, Now> now_;
  std::vector<Interval> intervals_;
};

/// Returns the time covered by at least one interval, and the time from the first begin to the last end.
std::pair<double, double> covered(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  double sum = 0;
  double end = intervals.front().begin;
  for (const Interval& interval : intervals) {
    sum += std::max(0.0, interval.end - std::max(interval.begin, end));
    end = std::max(end, interval.end);
  }
  return {sum, end - intervals.front().begin};
}

template <class Wanted>
std::vector<Interval> intervals_where(const std::vector<Interval>& intervals, const Wanted& wanted) {
  std::vector<Interval> found;
  std::copy_if(intervals.begin(), intervals.end(), std::back_inserter(found), wanted);
  return found;
}

Numbers figures_of(const std::vector<Interval>& intervals, double wall, double files) {
  Numbers figures{{"files", files}, {"files_per_second_measured", files / wall}};
  for (const std::string stage : {"decode", "filter", "encode"}) {
    const std::vector<Interval> own =
        intervals_where(intervals, [&](const Interval& interval) { return interval.stage == stage; });
    if (own.empty()) continue;
    double busy = 0;
    for (const Interval& interval : own) busy += interval.end - interval.begin;
    const double any = covered(own).first;
    figures.emplace_back(stage + "_seconds_per_file", busy / files);
    figures.emplace_back(stage + "_share_of_wall", any / wall);
    figures.emplace_back(stage + "_at_once", busy / any);
  }
  const auto [any, whole] = covered(
      intervals_where(intervals, [](const Interval& interval) { return interval.stage == "filter"; }));
  figures.emplace_back("share_without_picture", 1 - any / whole);
  return figures;
}

/// Writes the intervals for chrome://tracing and ui.perfetto.dev.
void write_trace(const std::vector<Interval>& intervals, const std::string& path) {
  JsonWriter json;
  json.begin_object().key("traceEvents").array(intervals, [&](const Interval& interval) {
    json.begin_object().key("name").string(interval.stage).key("ph").string("X");
    json.key("pid").integer(0).key("tid").integer(interval.thread);
    json.key("ts").real(1e6 * interval.begin).key("dur").real(1e6 * (interval.end - interval.begin));
    json.key("args").begin_object().key("file").string(interval.file).end_object().end_object();
  });
  json.end_object();
  std::ofstream file(path);
  if (!(file << json.text() << std::flush))
    throw Error(ErrorKind::environment, "'" + path + "' cannot be written. Choose another --trace.");
}

std::vector<Device> open_devices(const std::string& names, int threads) {
  std::vector<Device> devices;
  for (std::size_t first = 0; first <= names.size();) {
    const std::size_t comma = std::min(names.find(',', first), names.size());
    devices.push_back(Device::open(names.substr(first, comma - first), {threads}));
    first = comma + 1;
  }
  return devices;
}

double seconds_of_all(const std::vector<Device>& devices, const Batch& batch,
                      const BatchEvents& events = {}) {
  const BatchResult result = run_batch(devices, batch, events);
  if (result.done != result.total)
    throw Error(ErrorKind::input, "Not every file of the batch could be done.");
  return result.time.count();
}

Result measure_batch(const BatchCase& wanted, const fs::path& output) {
  BatchOptions options;
  options.inputs = {wanted.folder};
  options.output = output / "";
  options.overwrite = true;
  options.threads = wanted.threads;
  const Batch batch = prepare_batch(parse_pipeline(wanted.pipeline), options);
  const std::vector<Device> devices = open_devices(wanted.devices, wanted.threads);
  static_cast<void>(seconds_of_all(devices, batch));
  Result result{.seconds = seconds_of_all(devices, batch), .runs = 1};
  Timeline timeline;
  BatchEvents events;
  events.stage = [&](const BatchFile& file, Stage stage, bool begins) {
    timeline.stage(file, stage, begins);
  };
  const double wall = seconds_of_all(devices, batch, events);
  result.figures = figures_of(timeline.intervals(), wall, static_cast<double>(batch.size()));
  if (!wanted.trace.empty()) write_trace(timeline.intervals(), wanted.trace);
  return result;
}

}  // namespace

Case batch_case(const BatchCase& options) {
  return {"batch", {{"pipeline", options.pipeline}, {"devices", options.devices}}, [options](Bench&) {
            if (options.folder.empty())
              throw Error(ErrorKind::usage, "The case \"batch\" needs --folder, a folder of pictures.");
            const fs::path output = fs::temp_directory_path() / ("satin_bench_" + std::to_string(::getpid()));
            fs::create_directories(output);
            try {
              const Result result = measure_batch(options, output);
              fs::remove_all(output);
              return result;
            } catch (...) {
              fs::remove_all(output);
              throw;
            }
          }};
}

}  // namespace satin::bench
