// When the stages of a batch begin and end: what tests/bench/batch_timeline draws.
//   batch_timeline_bench FOLDER OUTPUT PIPELINE DEVICES [THREADS]
// DEVICES is such as cuda:0,cuda:1; 0 THREADS are all. The files are done three times: once to wake up disks
// and drivers; then as always, a line "unmeasured" with the seconds; then every run of a filter waits after
// copying up, after its kernels and after copying down, and each part of it is a line of six words: its name,
// the file, the device, the thread, and the seconds since the start at which it began and ended. A line
// "measured" with the seconds of that run is last.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/backend.h"
#include "satin/batch.h"

namespace {

using satin::RunPart;
using satin::Stage;
using Clock = std::chrono::steady_clock;

struct Span {
  const char* part = "";
  std::string file;
  std::string device;
  int thread = 0;
  Clock::time_point begin;
  Clock::time_point end;
};

const char* name_of(RunPart part) {
  if (part == RunPart::copy_up) return "copy-up";
  return part == RunPart::kernels ? "kernels" : "copy-down";
}

const char* name_of(Stage stage) {
  if (stage == Stage::reading) return "decode";
  return stage == Stage::filtering ? "filter" : "encode";
}

/// What the threads of a batch tell. A thread has one stage at a time.
class Timeline {
 public:
  void stage(const satin::BatchFile& file, Stage stage, bool begins) {
    const std::lock_guard lock(mutex_);
    Now& now = now_[std::this_thread::get_id()];
    if (begins) {
      if (now.number == 0) now.number = static_cast<int>(now_.size());
      now.file = file.input.filename().string();
      now.device = "-";
      now.begin = Clock::now();
    } else {
      spans_.push_back({name_of(stage), now.file, now.device, now.number, now.begin, Clock::now()});
    }
  }

  void part(RunPart part, const std::string& device, Clock::time_point begin, Clock::time_point end) {
    const std::lock_guard lock(mutex_);
    Now& now = now_[std::this_thread::get_id()];
    now.device = device;
    spans_.push_back({name_of(part), now.file, device, now.number, begin, end});
  }

  void print(Clock::time_point start) const {
    const auto seconds = [start](Clock::time_point at) {
      return std::chrono::duration<double>(at - start).count();
    };
    for (const Span& span : spans_)
      std::printf("%s %s %s %d %.6f %.6f\n", span.part, span.file.c_str(), span.device.c_str(), span.thread,
                  seconds(span.begin), seconds(span.end));
  }

 private:
  struct Now {
    int number = 0;
    std::string file;
    std::string device;
    Clock::time_point begin;
  };
  std::mutex mutex_;
  std::map<std::thread::id, Now> now_;
  std::vector<Span> spans_;
};

std::vector<satin::Device> open_devices(const std::string& names) {
  std::vector<satin::Device> devices;
  for (std::size_t first = 0; first <= names.size();) {
    const std::size_t comma = std::min(names.find(',', first), names.size());
    devices.push_back(satin::Device::open(names.substr(first, comma - first)));
    first = comma + 1;
  }
  return devices;
}

void require_all(const satin::BatchResult& result) {
  if (result.done != result.total) throw satin::Error(satin::ErrorKind::input, "Not every file was done.");
}

void run(int count, char** words) {
  satin::BatchOptions options;
  options.inputs = {words[1]};
  options.output = words[2];
  options.overwrite = true;
  if (count > 5) options.threads = std::atoi(words[5]);
  const satin::Batch batch = prepare_batch(satin::parse_pipeline(words[3]), options);
  const std::vector<satin::Device> devices = open_devices(words[4]);

  require_all(run_batch(devices, batch));
  satin::BatchResult result = run_batch(devices, batch);
  require_all(result);
  std::printf("unmeasured %.6f\n", result.time.count());

  Timeline timeline;
  for (const satin::Device& device : devices) {
    satin::Backend& backend = device.backend();
    const bool copies = device.is_cuda();
    backend.listener = [&timeline, copies, id = device.info().id](RunPart part, Clock::time_point begin,
                                                                  Clock::time_point end) {
      if (copies || part == RunPart::kernels) timeline.part(part, id, begin, end);
    };
  }
  satin::BatchEvents events;
  events.stage = [&](const satin::BatchFile& file, Stage stage, bool begins) {
    timeline.stage(file, stage, begins);
  };
  const Clock::time_point start = Clock::now();
  result = run_batch(devices, batch, events);
  require_all(result);
  timeline.print(start);
  std::printf("measured %.6f\n", result.time.count());
}

}  // namespace

int main(int count, char** words) {
  if (count < 5) {
    std::fprintf(stderr, "usage: batch_timeline_bench FOLDER OUTPUT PIPELINE DEVICES [THREADS]\n");
    return 2;
  }
  try {
    run(count, words);
    return 0;
  } catch (const satin::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
