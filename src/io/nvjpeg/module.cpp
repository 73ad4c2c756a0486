// The module itself.

#include <cuda_runtime_api.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "io/nvjpeg/worker.h"
#include "io/nvjpeg_interface.h"

using satin::nvjpeg::Failure;
using satin::nvjpeg::Library;
using satin::nvjpeg::Worker;

/// One worker for every decode at the same time; those that are idle wait for the next.
struct SatinNvjpegDecoder {
 public:
  SatinNvjpegDecoder(int device, SatinNvjpegEngine engine) : library_(device, engine) {
    idle_.push_back(std::make_unique<Worker>(library_));  // what cannot work is told at once
  }
  ~SatinNvjpegDecoder() { static_cast<void>(cudaSetDevice(library_.device())); }
  SatinNvjpegDecoder(const SatinNvjpegDecoder&) = delete;
  SatinNvjpegDecoder& operator=(const SatinNvjpegDecoder&) = delete;

  /// False if nvJPEG does not take the file. A worker that fails is given up.
  bool decode(const SatinNvjpegJob& job) {
    library_.select();
    std::unique_ptr<Worker> worker = take();
    const bool good = worker->decode(job);
    put(std::move(worker));
    return good;
  }

 private:
  std::unique_ptr<Worker> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Worker> worker = std::move(idle_.back());
        idle_.pop_back();
        return worker;
      }
    }
    return std::make_unique<Worker>(library_);
  }

  void put(std::unique_ptr<Worker> worker) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(worker));
  }

  Library library_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

namespace {

void say(SatinNvjpegMessage* message, const char* text) {
  std::snprintf(message->text, sizeof message->text, "%s", text);
}

SatinNvjpegDecoder* open(int device, SatinNvjpegEngine engine, SatinNvjpegMessage* message) try {
  return std::make_unique<SatinNvjpegDecoder>(device, engine).release();
} catch (const Failure& failure) {
  say(message, failure.reason.c_str());
  return nullptr;
} catch (const std::exception& error) {
  say(message, error.what());
  return nullptr;
}

void close(SatinNvjpegDecoder* decoder) { const std::unique_ptr<SatinNvjpegDecoder> last(decoder); }

SatinNvjpegResult decode(SatinNvjpegDecoder* decoder, const SatinNvjpegJob* job,
                         SatinNvjpegMessage* message) try {
  return decoder->decode(*job) ? satin_nvjpeg_good : satin_nvjpeg_refused;
} catch (const Failure& failure) {
  say(message, failure.reason.c_str());
  if (failure.lost) return satin_nvjpeg_lost;
  return failure.refused ? satin_nvjpeg_refused : satin_nvjpeg_passed_on;
} catch (const std::exception& error) {
  say(message, error.what());
  return satin_nvjpeg_passed_on;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const SatinNvjpeg* satin_nvjpeg() {
  static const SatinNvjpeg table{satin::io::nvjpeg_interface_version, open, close, decode};
  return &table;
}
