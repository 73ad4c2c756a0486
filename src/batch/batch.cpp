#include "satin/batch.h"

#include <exception>
#include <new>
#include <system_error>

#include "batch/checks.h"
#include "batch/filter_chain.h"
#include "batch/inputs.h"
#include "batch/outputs.h"
#include "batch/quoted.h"
#include "batch/side_inputs.h"
#include "satin/io.h"

namespace satin {
namespace {

using Clock = std::chrono::steady_clock;

/// Thrown between stages to leave a file that the user no longer wants.
struct Cancelled {};

/// Names the file in a message that does not do so itself.
Error with_name(const Error& error, const BatchFile& file) {
  const std::string message = error.what();
  if (message.find(file.input.string()) != std::string::npos ||
      message.find(file.output.string()) != std::string::npos)
    return error;
  const std::string name = batch::is_stream(file.input) ? "standard input" : file.input.string();
  return {error.kind(), name + ": " + message};
}

void create_folder(const std::filesystem::path& file) {
  if (!file.has_parent_path()) return;
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (!error) return;
  const bool full = error == std::errc::no_space_on_device;
  throw Error(
      full ? ErrorKind::environment : ErrorKind::input,
      "The folder " + batch::quoted(file.parent_path()) + " cannot be created: " + error.message() + ".");
}

class Runner {
 public:
  Runner(const Device& device, const Batch& work, const BatchEvents& events)
      : work_(work), events_(events), chain_(device, work) {}

  BatchResult run() {
    if (work_.files.size() > 1) chain_.check_parameters();
    const auto start = Clock::now();
    BatchResult result;
    result.total = work_.files.size();
    int lost_in_a_row = 0;
    for (index_ = 0; index_ < work_.files.size() && lost_in_a_row < 2 && !result.cancelled; ++index_) {
      FileResult file = do_file(work_.files[index_], result.cancelled);
      if (result.cancelled) break;
      if (file.error) ++result.failed;
      lost_in_a_row = file.error && file.error->kind() == ErrorKind::environment ? lost_in_a_row + 1 : 0;
      if (events_.finished) events_.finished(file);
      result.files.push_back(std::move(file));
    }
    result.time = Clock::now() - start;
    return result;
  }

 private:
  FileResult do_file(const BatchFile& file, bool& cancelled) {
    FileResult result{file.input, file.output, Shape{}, Shape{}, {}, file.problem, {}};
    const auto start = Clock::now();
    try {
      if (!file.problem) filter_file(file, result);
    } catch (const Cancelled&) {
      cancelled = true;
    } catch (const Error& error) {
      result.error = with_name(error, file);
    } catch (const std::bad_alloc&) {
      result.error = with_name({ErrorKind::environment, "There is not enough memory."}, file);
    } catch (const std::exception& error) {
      result.error = with_name({ErrorKind::input, error.what()}, file);
    }
    result.time = Clock::now() - start;
    return result;
  }

  void filter_file(const BatchFile& file, FileResult& result) {
    enter(file, Stage::reading);
    const Image picture = read_image(file.input);
    result.shape = picture.shape();

    enter(file, Stage::filtering);
    const Shape shape = chain_.plan(file.input, picture.shape());
    WriteOptions options;
    options.overwrite = work_.options.overwrite;
    options.format = batch::output_format(file, work_.options, batch::output_kind(work_.pipeline));
    create_folder(file.output);
    check_writable(file.output, shape, options);
    Image output(shape);
    result.warnings = chain_.run(picture, output.view());

    enter(file, Stage::writing);
    write_image(file.output, output, options);
    result.output_shape = output.shape();
  }

  void enter(const BatchFile& file, Stage stage) const {
    if (events_.cancelled && events_.cancelled()) throw Cancelled{};
    if (events_.stage) events_.stage(index_, work_.files.size(), file, stage);
  }

  const Batch& work_;
  const BatchEvents& events_;
  batch::FilterChain chain_;
  std::size_t index_ = 0;
};

}  // namespace

Batch prepare_batch(const Pipeline& pipeline, const BatchOptions& options) {
  if (pipeline.empty()) throw Error(ErrorKind::usage, "There is no filter to run.");
  batch::check_side_inputs(pipeline, options);
  const OutputKind kind = batch::output_kind(pipeline);
  const batch::InputList inputs = batch::find_inputs(options);
  const std::vector<std::filesystem::path> outputs = batch::name_outputs(inputs, options, kind);
  Batch work;
  work.options = options;
  work.pipeline = pipeline;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    work.files.push_back({inputs.files[i].path, outputs[i], inputs.files[i].problem});
  static_cast<void>(batch::output_format(work.files.front(), options, kind));
  batch::check_outputs(work, batch::output_is_folder(inputs, options));
  for (const PipelineStep& step : pipeline) work.side_images.push_back(batch::read_side_inputs(step));
  return work;
}

BatchResult run_batch(const Device& device, const Batch& batch, const BatchEvents& events) {
  return Runner(device, batch, events).run();
}

}  // namespace satin
