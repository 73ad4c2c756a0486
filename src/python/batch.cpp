// Many files: the batch of the command, in one call and bit by bit.

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/module.h"
#include "satin/batch.h"
#include "satin/batch_report.h"

NB_MAKE_OPAQUE(satin::Pipeline)  // a class of its own, not a list

namespace nb = nanobind;
using namespace nb::literals;

namespace satin::python {
namespace {

namespace fs = std::filesystem;

constexpr int exit_interrupted = 130;

std::string json_of(const FileResult& file) {
  JsonWriter json;
  add_file(json, file);
  return json.text();
}

int exit_code(const BatchResult& result) {
  if (result.cancelled) return exit_interrupted;
  if (!result.failure) return 0;
  return *result.failure == ErrorKind::environment ? 3 : *result.failure == ErrorKind::usage ? 2 : 1;
}

/// A function of the caller's, or None.
using Callback = std::optional<nb::callable>;

/// Tells callers in Python of a batch that runs without Python's lock. What they raise, and Ctrl-C, ends the
/// batch.
class Listener {
 public:
  Listener(const Batch* batch, Callback finished, Callback reading)
      : finished_(std::move(finished)), reading_(std::move(reading)) {
    if (batch == nullptr) return;
    const BatchOptions& options = batch->options;
    if (!options.report.empty()) lines_.emplace(options.report, options.overwrite, options.resume);
    if (!options.gallery.empty())
      gallery_.emplace(options.gallery, batch->pipeline, options.read, options.overwrite || options.resume);
  }

  BatchEvents events() {
    BatchEvents events;
    events.finished = [this](const FileResult& file, const BatchResult&) { tell(file); };
    events.cancelled = [this] { return ended_.load(); };
    if (reading_)
      events.stage = [this](const BatchFile& file, Stage stage, bool begins) {
        if (stage == Stage::reading && begins) call([&] { (*reading_)(file.input); });
      };
    return events;
  }

  /// Ends the report and the gallery. The caller holds Python's lock.
  void finish(const BatchResult& result) {
    if (failure_) std::rethrow_exception(failure_);
    if (lines_) lines_->finish(result, exit_code(result));
    if (gallery_) gallery_->finish(result);
  }

 private:
  void tell(const FileResult& file) {
    if (lines_) lines_->add(file);
    if (gallery_) gallery_->add(file);
    call([&] {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (finished_) (*finished_)(nb::str(json_of(file).c_str()), file.input);
    });
  }

  template <class Work>
  void call(const Work& work) {
    const nb::gil_scoped_acquire lock;
    try {
      work();
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
      ended_ = true;
    }
  }

  Callback finished_;
  Callback reading_;
  std::optional<JsonLines> lines_;
  std::optional<Gallery> gallery_;
  std::exception_ptr failure_;  ///< guarded by Python's lock
  std::atomic<bool> ended_{false};
};

nb::dict summary_of(const BatchResult& result) {
  nb::dict counts;
  counts["total"] = result.total;
  counts["done"] = result.done;
  counts["failed"] = result.failed;
  counts["skipped"] = result.skipped;
  counts["not_started"] = result.not_started();
  counts["seconds"] = result.time.count();
  counts["exit_code"] = exit_code(result);
  nb::list unread;
  for (const fs::path& path : result.unread) unread.append(path);
  counts["unread"] = unread;
  return counts;
}

/// A batch in Python's hands. (A class that holds pictures cannot be copied, and nanobind would try.)
struct Prepared {
  std::unique_ptr<const Batch> batch;
};

nb::dict run(const Prepared& prepared, const std::vector<Device>& devices, const Callback& finished) {
  const Batch& batch = *prepared.batch;
  return with_file_errors([&] {
    Listener listener(&batch, finished, std::nullopt);
    const BatchResult result = released([&] { return run_batch(devices, batch, listener.events()); });
    listener.finish(result);
    return summary_of(result);
  });
}

using Names = std::vector<std::pair<fs::path, fs::path>>;

nb::dict run_session(BatchSession& session, const Names& names, const Callback& finished,
                     const Callback& reading) {
  std::vector<PictureName> files;
  for (const auto& [folder, relative] : names) files.push_back({folder, relative});
  return with_file_errors([&] {
    Listener listener(nullptr, finished, reading);
    const BatchResult result = released([&] { return session.run(files, listener.events()); });
    listener.finish(result);
    return summary_of(result);
  });
}

nb::list intentions(const Prepared& prepared) {
  nb::list rows;
  foresee_batch(*prepared.batch,
                [&](const FileResult& file) { rows.append(nb::str(json_of(file).c_str())); });
  return rows;
}

nb::list names_in(const Prepared& prepared) {
  const Batch& batch = *prepared.batch;
  nb::list names;
  for (std::size_t i = 0; i < batch.size(); ++i)
    names.append(nb::make_tuple(batch.files.path(i), batch.files.relative(i)));
  return names;
}

void bind_options(nb::module_& module) {
  nb::class_<BatchOptions>(module, "BatchOptions")
      .def(nb::init<>())
      .def_rw("inputs", &BatchOptions::inputs)
      .def_rw("output", &BatchOptions::output)
      .def_rw("format", &BatchOptions::format)
      .def_rw("recursive", &BatchOptions::recursive)
      .def_rw("overwrite", &BatchOptions::overwrite)
      .def_rw("skip_existing", &BatchOptions::skip_existing)
      .def_rw("resume", &BatchOptions::resume)
      .def_rw("manifest_part", &BatchOptions::manifest_part)
      .def_rw("fail_fast", &BatchOptions::fail_fast)
      .def_rw("memory", &BatchOptions::memory)
      .def_rw("threads", &BatchOptions::threads)
      .def_rw("report", &BatchOptions::report)
      .def_rw("gallery", &BatchOptions::gallery)
      .def_rw("read", &BatchOptions::read)
      .def_rw("quality", &BatchOptions::quality)
      .def_rw("dither", &BatchOptions::dither)
      .def_rw("strip", &BatchOptions::strip)
      .def_rw("keep_depth", &BatchOptions::keep_depth)
      .def_rw("depth_out", &BatchOptions::depth_out)
      .def_rw("keep_metadata", &BatchOptions::keep_metadata)
      .def_rw("stream", &BatchOptions::stream)
      .def_rw("pyramid", &BatchOptions::pyramid)
      .def("set_shard",
           [](BatchOptions& options, const std::string& text) { options.shard = parse_shard(text); })
      .def("set_mask_from", [](BatchOptions& options, const std::string& name) {
        options.mask_from = choice<MaskSource>("mask_from", name, {"file", "matte", "background"});
      });
}

}  // namespace

void bind_batch(nb::module_& module) {
  bind_options(module);
  nb::class_<Prepared>(module, "Batch")
      .def(
          "__init__",
          [](Prepared* self, const Pipeline& pipeline, const BatchOptions& options) {
            with_file_errors([&] {
              const nb::gil_scoped_release lock;
              new (self) Prepared{std::make_unique<const Batch>(prepare_batch(pipeline, options))};
            });
          },
          "pipeline"_a, "options"_a)
      .def("__len__", [](const Prepared& prepared) { return prepared.batch->size(); })
      .def_prop_ro("unread", [](const Prepared& prepared) { return prepared.batch->unread; })
      .def_prop_ro("notice", [](const Prepared& prepared) { return prepared.batch->notice(); })
      .def("names", &names_in)
      .def("intentions", &intentions)
      .def("run", &run, "devices"_a, "finished"_a.none());
  nb::class_<BatchSession>(module, "BatchSession")
      .def(
          "__init__",
          [](BatchSession* self, std::vector<Device> devices, const Pipeline& pipeline,
             const BatchOptions& options) {
            with_file_errors([&] {
              const nb::gil_scoped_release lock;
              new (self) BatchSession(std::move(devices), pipeline, options);
            });
          },
          "devices"_a, "pipeline"_a, "options"_a)
      .def_prop_ro("manifest_folder", &BatchSession::manifest_folder)
      .def("run", &run_session, "names"_a, "finished"_a.none(), "reading"_a.none());
  module.def("find_pictures", [](const BatchOptions& options) {
    return with_file_errors([&] {
      const FoundPictures found = released([&] { return find_pictures(options); });
      nb::list names;
      for (const BatchFile& file : found.files) names.append(nb::make_tuple(file.input, file.output));
      return nb::make_tuple(names, found.unread);
    });
  });
}

}  // namespace satin::python
