// Bindings for files: reading and writing pictures with their metadata, and batches, in one call or as a
// session. Modules that are built without codecs omit this file.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "python/foreign_array.h"
#include "python/module.h"
#include "satin/batch.h"
#include "satin/batch_report.h"
#include "satin/error.h"
#include "satin/image_model.h"
#include "satin/io.h"
#include "satin/restored_light.h"
#include "satin/tone_curves.h"

NB_MAKE_OPAQUE(satin::Pipeline)  // a class of its own, not a list

namespace nb = nanobind;
using namespace nb::literals;

namespace satin::python {
namespace {

namespace fs = std::filesystem;

const char* name_of(Alpha alpha) {
  static const char* const names[] = {"none", "straight", "premultiplied"};
  return names[static_cast<std::size_t>(alpha)];
}

nb::bytes bytes_of(const std::vector<std::byte>& block) { return nb::bytes(block.data(), block.size()); }

std::vector<std::byte> block_of(const nb::bytes& bytes) {
  const auto* first = reinterpret_cast<const std::byte*>(bytes.c_str());
  return {first, first + bytes.size()};
}

/// Metadata, channels and warnings that were read with the pixels.
struct Carried {
  Metadata metadata;
  std::shared_ptr<const std::vector<NamedChannel>> channels = std::make_shared<std::vector<NamedChannel>>();
  std::string format;
  std::string alpha = "none";
  std::vector<std::string> warnings;
};

/// Binds a block of metadata as a property of type bytes.
template <std::vector<std::byte> Metadata::*block>
void bind_block(nb::class_<Carried>& type, const char* name, const char* help) {
  type.def_prop_rw(
      name, [](const Carried& carried) { return bytes_of(carried.metadata.*block); },
      [](Carried& carried, const nb::bytes& bytes) { carried.metadata.*block = block_of(bytes); }, help);
}

nb::dict channels_of(const Carried& carried) {
  nb::dict all;
  for (const NamedChannel& channel : *carried.channels)
    all[nb::str(channel.name.c_str())] = array_of(copy_of(channel.plane.view()), 0);
  return all;
}

/// Returns the linear light of a picture as f32: what its gain map restores, or that of its own values.
Image light_of(const satin::Picture& picture) {
  const Shape& shape = picture.image.shape();
  if (shape.type != Type::u8 && shape.type != Type::u16) return picture.image.clone();
  const auto curves = ToneCurves::of(picture.metadata, shape);
  Image linear = (curves ? *curves : ToneCurves::srgb(shape.type)).decoded(picture.image);
  if (!picture.gain_map || !restores_light(*picture.gain_map)) return linear;
  return restore_light(Device::open("cpu"), linear, *picture.gain_map);
}

/// A picture of 8 bits, and the gain map that restores light beyond its white.
struct Photograph {
  Image base;
  GainMap map;
};

/// Returns linear light, clipped at white and encoded by the curves of the metadata, with a gain map.
Photograph photograph_of(const ImageView& view, const Metadata& metadata) {
  if (view.shape.type != Type::f32)
    throw Error(ErrorKind::usage, "gain_map needs linear light as float32, where white is 1.");
  const Image copy = view.interleaved() ? Image() : copy_of(view);
  const ImageView light = copy.empty() ? view : copy.view();
  Shape codes = light.shape;
  codes.type = Type::u8;
  const auto own = ToneCurves::of(metadata, codes);
  const ToneCurves& curves = own ? *own : ToneCurves::srgb(Type::u8);
  Image base = curves.encoded(light);
  GainMap map = gain_map_of(Device::open("cpu"), {curves.decoded(base), light});
  return {std::move(base), std::move(map)};
}

std::pair<nb::object, Carried> result_of(satin::Picture&& picture, bool as_light) {
  if (as_light) picture.image = light_of(picture);
  Carried carried{
      std::move(picture.metadata), std::make_shared<std::vector<NamedChannel>>(std::move(picture.channels)),
      std::move(picture.format), name_of(picture.image.shape().alpha), std::move(picture.warnings)};
  return {array_of(std::move(picture.image), 0), std::move(carried)};
}

nb::list results_of(std::vector<satin::Picture>&& pictures, bool as_light) {
  nb::list results;
  for (satin::Picture& picture : pictures) results.append(nb::cast(result_of(std::move(picture), as_light)));
  return results;
}

nb::list read(const fs::path& path, const ReadOptions& options) {
  return with_file_errors(
      [&] { return results_of(released([&] { return read_pictures(path, options); }), options.gain_map); });
}

std::pair<nb::object, Carried> decode(const nb::bytes& bytes, const std::string& name,
                                      const ReadOptions& options) {
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(bytes.c_str()), bytes.size());
  return with_file_errors([&] {
    return result_of(released([&] { return decode_picture(file, name, options); }), options.gain_map);
  });
}

WriteOptions write_options(const Carried* carried, bool overwrite, std::optional<int> quality, bool convert,
                           bool dither, std::string format) {
  WriteOptions options;
  options.overwrite = overwrite;
  options.quality = quality;
  options.convert = convert;
  options.dither = dither;
  options.format = std::move(format);
  if (carried == nullptr) return options;
  options.metadata = carried->metadata;
  options.channels = *carried->channels;
  return options;
}

using Page = std::pair<const Picture*, const Carried*>;

void write(const fs::path& path, const std::vector<Page>& pages, bool overwrite, std::optional<int> quality,
           bool convert, bool dither, const std::string& format, bool gain_map) {
  std::vector<ImageView> views;
  std::vector<WriteOptions> options;
  for (const auto& [picture, carried] : pages) {
    views.emplace_back(host_view(*picture));
    options.push_back(write_options(carried, overwrite, quality, convert, dither, format));
  }
  with_file_errors([&] {
    released([&] {
      const std::string extension = format.empty() ? path.extension().string() : format;
      if (gain_map && !what_is_lost(extension, {}, {}, true).empty())
        throw Error(ErrorKind::usage,
                    "'" + extension + "' holds no gain map. Write a JPEG, or linear light as .exr.");
      std::vector<Photograph> photographs;
      photographs.reserve(gain_map ? views.size() : 0);
      for (std::size_t i = 0; gain_map && i < views.size(); ++i) {
        const Photograph& made = photographs.emplace_back(photograph_of(views[i], options[i].metadata));
        views[i] = made.base.view();
        options[i].gain_map = &made.map;
      }
      write_pages(path, views, options);
    });
  });
}

nb::bytes encode(const Picture& picture, const Carried* carried, const std::string& extension,
                 std::optional<int> quality, bool convert, bool dither) {
  const ImageView view = host_view(picture);
  const WriteOptions options = write_options(carried, false, quality, convert, dither, extension);
  return with_file_errors(
      [&] { return bytes_of(released([&] { return encode_image(view, extension, options); })); });
}

nb::object estimate_depth(const Picture& picture, const Carried* carried, const fs::path& file, int threads,
                          std::uint64_t memory) {
  const ImageView view = host_view(picture);
  const Metadata metadata = carried == nullptr ? Metadata() : carried->metadata;
  return with_file_errors([&] {
    return array_of(released([&] {
                      const auto model = ImageModel::open(file.empty() ? usual_depth_model() : file, threads);
                      return std::move(model->depth(view, metadata, {memory, {}}).values);
                    }),
                    0);
  });
}

nb::list describe_formats() {
  nb::list all;
  for (const FormatInfo& format : formats()) {
    nb::dict entry;
    entry["name"] = format.name;
    entry["extensions"] = format.extensions;
    entry["reads"] = format.reads;
    entry["writes"] = format.writes;
    entry["pages"] = format.pages;
    entry["types"] = format.types;
    entry["channels"] = format.channels;
    all.append(entry);
  }
  return all;
}

}  // namespace

void bind_files(nb::module_& module) {
  nb::class_<Carried> carried(module, "Metadata",
                              "What a file carries beside the pixels: read() gives it, write() puts it into "
                              "another file.\n\nBlocks are bytes, empty where the file has none.");
  carried.def(nb::init<>());
  bind_block<&Metadata::icc>(carried, "icc", "ICC profile of the pixels.");
  bind_block<&Metadata::exif>(carried, "exif", "EXIF, from its TIFF header on.");
  bind_block<&Metadata::xmp>(carried, "xmp", "XMP packet, UTF-8.");
  bind_block<&Metadata::iptc>(carried, "iptc", "The data sets of IIM.");
  carried
      .def_prop_ro("channels", &channels_of,
                   "Channels of OpenEXR beside red, green, blue and alpha: name to array (height, width).")
      .def_ro("format", &Carried::format, "Usual extension of the file's format: '.jpg'.")
      .def_ro("alpha", &Carried::alpha,
              "What the last of 2 or 4 channels is: 'none', 'straight' or 'premultiplied'.")
      .def_ro("warnings", &Carried::warnings, "What was read but may surprise.");
  nb::class_<ReadOptions>(module, "ReadOptions")
      .def(
          "__init__",
          [](ReadOptions* self, std::optional<std::int64_t> page, const std::string& part, bool all_pages,
             bool allow_partial, std::uint64_t max_pixels, std::uint64_t max_bytes, bool gain_map) {
            new (self) ReadOptions{{max_pixels, max_bytes}, page, part, all_pages, allow_partial};
            self->gain_map = gain_map;
          },
          "page"_a.none() = nb::none(), "part"_a = "", "all_pages"_a = false, "allow_partial"_a = false,
          "max_pixels"_a = ReadLimits{}.pixels, "max_bytes"_a = ReadLimits{}.bytes, "gain_map"_a = false);
  module.def("formats", &describe_formats);
  module.def("estimate_depth", &estimate_depth, "picture"_a, "metadata"_a.none(), "model"_a, "threads"_a,
             "memory"_a);
  module.def("read_file", &read, "path"_a, "options"_a);
  module.def("decode", &decode, "data"_a, "name"_a, "options"_a);
  module.def("write_file", &write, "path"_a, "pages"_a, "overwrite"_a, "quality"_a.none(), "convert"_a,
             "dither"_a, "format"_a, "gain_map"_a = false);
  module.def("encode", &encode, "picture"_a, "metadata"_a.none(), "format"_a, "quality"_a.none(), "convert"_a,
             "dither"_a);
}

// --- Batches ---

namespace {

constexpr int exit_interrupted = 130;

int exit_code(const BatchResult& result) {
  if (result.cancelled) return exit_interrupted;
  if (!result.failure) return 0;
  return *result.failure == ErrorKind::environment ? 3 : *result.failure == ErrorKind::usage ? 2 : 1;
}

/// A Python function, or None.
using Callback = std::optional<nb::callable>;

/// Calls back into Python from a batch that runs without Python's lock. Exceptions of the callbacks, and
/// Ctrl-C, end the batch.
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

  /// Finishes the report and the gallery. The caller holds Python's lock.
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
      if (!finished_) return;
      JsonWriter json;
      add_file(json, file);
      (*finished_)(json.text(), file.input);
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

/// A batch as a Python object. The pointer is needed because nanobind would try to copy a class that holds
/// pictures.
struct Prepared {
  std::unique_ptr<const Batch> batch;
};

/// Returns the first members of Python's BatchResult, in their order.
nb::tuple run(const Prepared& prepared, const std::vector<Device>& devices, const Callback& finished) {
  const Batch& batch = *prepared.batch;
  return with_file_errors([&] {
    Listener listener(&batch, finished, std::nullopt);
    const BatchResult result = released([&] { return run_batch(devices, batch, listener.events()); });
    listener.finish(result);
    return nb::make_tuple(result.total, result.done, result.failed, result.skipped, result.not_started(),
                          result.time.count(), exit_code(result), result.unread);
  });
}

using Names = std::vector<std::pair<fs::path, fs::path>>;

void run_session(BatchSession& session, const Names& names, const Callback& finished,
                 const Callback& reading) {
  std::vector<PictureName> files;
  for (const auto& [folder, relative] : names) files.push_back({folder, relative});
  return with_file_errors([&] {
    Listener listener(nullptr, finished, reading);
    listener.finish(released([&] { return session.run(files, listener.events()); }));
  });
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
      .def_rw("in_place", &BatchOptions::in_place)
      .def_rw("backup", &BatchOptions::backup)
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
      .def_rw("invert_mask", &BatchOptions::invert_mask)
      .def_rw("keep_depth", &BatchOptions::keep_depth)
      .def_rw("depth_out", &BatchOptions::depth_out)
      .def_rw("model", &BatchOptions::model)
      .def_rw("keep_metadata", &BatchOptions::keep_metadata)
      .def_rw("stream", &BatchOptions::stream)
      .def_rw("pyramid", &BatchOptions::pyramid)
      .def("set_shard",
           [](BatchOptions& options, const std::string& text) { options.shard = parse_shard(text); })
      .def("set_gain_map",
           [](BatchOptions& options, const std::string& name) {
             options.gain_map = choice<GainMapUse>("gain_map", name, {"use", "keep", "drop"});
           })
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
      .def("names", &names_in)
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
