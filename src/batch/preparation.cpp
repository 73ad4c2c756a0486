#include "batch/preparation.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "batch/file_stamp.h"
#include "batch/manifest.h"
#include "batch/outputs.h"
#include "batch/photographs.h"
#include "batch/side_inputs.h"
#include "batch/streaming.h"

namespace satin::batch {
namespace {

void check_options(const BatchOptions& options) {
  if (options.skip_existing && (options.overwrite || options.resume))
    throw Error(ErrorKind::usage, std::string("--skip-existing leaves outputs as they are: drop it or ") +
                                      (options.overwrite ? "--overwrite." : "--resume."));
  const Shard& shard = options.shard;
  if (shard.count < 1 || shard.index < 1 || shard.index > shard.count)
    throw Error(ErrorKind::usage, "The shard " + std::to_string(shard.index) + "/" +
                                      std::to_string(shard.count) + " is not one of 1/N to N/N.");
}

void keep_shard(PictureList& files, const Shard& shard) {
  if (shard.count == 1) return;
  const auto count = static_cast<std::uint64_t>(shard.count);
  const auto wanted = static_cast<std::uint64_t>(shard.index - 1);
  files.filter([&](std::string_view name) { return Hash().add(name).value() % count == wanted; });
}

}  // namespace

Batch batch_without_files(const Pipeline& pipeline, const BatchOptions& options,
                          const std::function<bool()>& finds_many) {
  if (pipeline.empty()) throw Error(ErrorKind::usage, "There is no filter to run.");
  check_options(options);
  check_row_options(pipeline, options);
  check_side_inputs(pipeline, options);
  check_photo_options(pipeline, options, finds_many());
  Batch work;
  work.options = options;
  work.options.read.filterable = true;
  work.options.list = std::string();  // frees their memory
  work.options.inputs = std::vector<std::filesystem::path>();
  work.pipeline = pipeline;
  return work;
}

void take_files(Batch& work, InputList inputs) {
  const OutputKind kind = output_kind(work.pipeline);
  check_output_name(inputs, work.options, kind);
  work.folder_output = output_is_folder(inputs, work.options);
  work.files = std::move(inputs.files);
  work.unread = std::move(inputs.unread);
  choose_stand_ins(work);
  if (const BatchFile first = work.file(0); !is_stream(first.input))
    static_cast<void>(output_format(first, work.options, kind));
  check_distinct(work);
  check_row_outputs(work);
}

void read_manifest(Batch& work) {
  if (!work.options.resume) return;
  work.manifest = std::make_shared<Manifest>(manifest_file(work.options, work.folder_output));
}

void check_files(const Batch& work) {
  check_outputs(work);
  check_depth_out(work);
}

void read_shared_sides(Batch& work) {
  for (const PipelineStep& step : work.pipeline)
    if (work.options.stream) {
      check_side_rows(step, work.options.read);
      work.side_images.emplace_back(step.parameters.filter().inputs.size());
    } else {
      work.side_images.push_back(read_side_inputs(step, work.options.read, work.side_warnings));
    }
}

bool meets_unknown_output(const Batch& work) {
  if (!work.manifest) return false;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const std::filesystem::path output = work.file(i).output;
    std::error_code ignored;
    if (std::filesystem::exists(output, ignored) && !work.manifest->knows(output)) return true;
  }
  return false;
}

}  // namespace satin::batch

namespace satin {

Batch prepare_batch(const Pipeline& pipeline, const BatchOptions& options) {
  batch::InputList inputs;
  Batch work = batch::batch_without_files(pipeline, options, [&] {
    inputs = batch::find_inputs(options);
    return inputs.many;
  });
  batch::take_files(work, std::move(inputs));
  batch::keep_shard(work.files, options.shard);
  batch::read_manifest(work);
  batch::check_files(work);
  batch::read_shared_sides(work);
  return work;
}

}  // namespace satin
