#pragma once
// Outputs: their names, the checks before any of them is written, and the metadata that they take from their
// inputs.

#include <filesystem>
#include <string>
#include <vector>

#include "batch/file_names.h"
#include "satin/batch.h"
#include "satin/io.h"
#include "satin/pipeline.h"

namespace satin::batch {

/// Whether OUTPUT names a folder or is a pattern, in which case folders are created.
[[nodiscard]] bool output_is_folder(const InputList& inputs, const BatchOptions& options);

/// Chooses formats for inputs whose format is read but not written, where outputs have the extensions of
/// their inputs. Reads the beginning of those files.
void choose_stand_ins(Batch& work);

/// Throws Error(usage) for a format that cannot be written, for several pictures with an output that is not a
/// folder, and for JSON under the name of a picture or a table.
void check_output_name(const InputList& inputs, const Pipeline& pipeline, const BatchOptions& options);

/// Throws Error(usage) if the extension of an output in a folder names no format.
void check_extension(const std::filesystem::path& output);

/// Returns the name of the outputs as a pattern. Throws as NamePattern.
[[nodiscard]] NamePattern output_pattern(const BatchOptions& options);

/// Reads the headers of all files if the names of outputs have {width} or {height}, and sets the sizes of the
/// outputs.
void find_sizes(Batch& work);

/// Throws unless all outputs are different (but for sizes of one file) and their names have the extension of
/// a format.
void check_distinct(const Batch& work);

/// Throws unless every output differs from all inputs and side inputs, exists only if it may be replaced or
/// skipped, and is in a folder that can be written.
void check_outputs(const Batch& work);

/// Returns the values of the placeholders for one picture. `extension` is that of its output, with the dot.
[[nodiscard]] NameFields name_fields(const std::filesystem::path& input,
                                     const std::filesystem::path& relative,
                                     const std::filesystem::path& extension);

/// Creates the folder of a file. Throws Error(input), or Error(environment) on a full disk.
void create_folder_of(const std::filesystem::path& file);

/// Returns the extension that decides the format of an output. For standard output it comes from the options,
/// the name of the input, or `of_input`, in this order. For other outputs it comes from the options and may
/// be empty.
[[nodiscard]] std::string output_format(const BatchFile& file, const BatchOptions& options, OutputKind kind,
                                        const std::string& of_input = {});

/// Returns the options for writing: metadata, named channels and the time of the input as far as `options`
/// ask for them. Nothing is overwritten. `source` must outlive the result.
[[nodiscard]] WriteOptions write_options(const BatchFile& file, const Picture& source,
                                         const BatchOptions& options, OutputKind kind);

/// Removes metadata that may show what a pipeline covers in the picture. Throws Error(input) for channels
/// beside the picture's own, which would remain uncovered.
void drop_revealing_data(Picture& source, const BatchOptions& options);

/// Returns everything of a picture but its pixels, adapted to a result of another size. One warning names
/// what was left out.
[[nodiscard]] Picture framed(const Picture& source, const Framing& framing, const BatchOptions& options);

/// Returns the warnings about reading and writing a file.
[[nodiscard]] std::vector<std::string> file_warnings(const BatchFile& file, const Picture& source,
                                                     const Shape& output, const WriteOptions& options);

}  // namespace satin::batch
