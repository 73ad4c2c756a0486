#pragma once
// The outputs: their names, what must hold before any is written, and what they take over from their inputs.

#include <filesystem>
#include <string>
#include <vector>

#include "batch/file_names.h"
#include "satin/batch.h"
#include "satin/io.h"
#include "satin/pipeline.h"

namespace satin::batch {

/// True if OUTPUT names a folder or is a pattern: its folders are created.
[[nodiscard]] bool output_is_folder(const InputList& inputs, const BatchOptions& options);

/// Where outputs take their extension from inputs, finds what stands for one that is not written: looks into
/// those files.
void find_stand_ins(Batch& work);

/// Throws Error(usage) for a format that cannot be written, and if several pictures are to go into what is no
/// folder. JSON may have any name.
void check_output_name(const InputList& inputs, const BatchOptions& options, OutputKind kind);

/// Throws Error(usage) if the extension of an output of a folder names no format.
void check_extension(const std::filesystem::path& output);

/// Throws unless every output differs from every other and its name tells a format.
void check_distinct(const Batch& work);

/// Throws unless every output differs from every input and every side input, exists only if it may be
/// replaced or left out, and lies in a folder that can be written.
void check_outputs(const Batch& work);

/// What the placeholders mean for one picture; `extension` is that of its output, with the dot.
[[nodiscard]] NameFields name_fields(const std::filesystem::path& input,
                                     const std::filesystem::path& relative,
                                     const std::filesystem::path& extension);

/// FileResult::index and `pipeline` of a picture of a series.
void tell_place_in_series(const Batch& work, std::size_t index, FileResult& result);

/// Creates the folders above a file. Throws Error(input), or Error(environment) on a full disk.
void create_folder_of(const std::filesystem::path& file);

/// The extension that decides the format of standard output, which is that of the input (`of_input` where
/// its name does not tell) unless options say another; for other outputs that of `options`.
[[nodiscard]] std::string output_format(const BatchFile& file, const BatchOptions& options, OutputKind kind,
                                        const std::string& of_input = {});

/// Metadata, named channels and the time of the input, as the options want them; nothing is overwritten.
/// `source` must outlive the result.
[[nodiscard]] WriteOptions write_options(const BatchFile& file, const Picture& source,
                                         const BatchOptions& options, OutputKind kind);

/// For pipelines that cover parts of the picture: what may show these outside the picture's own channels
/// goes, or the picture is refused with Error(input).
void drop_what_may_show(Picture& source, const BatchOptions& options);

/// What a user should know about the reading and the writing of this file.
[[nodiscard]] std::vector<std::string> file_warnings(const BatchFile& file, const Picture& source,
                                                     const Shape& output, const WriteOptions& options);

}  // namespace satin::batch
