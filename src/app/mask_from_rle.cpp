// `satin mask --from-rle FILE -o OUTPUT`: converts run lengths to a mask.

#include <set>
#include <utility>

#include "app/interrupt.h"
#include "app/options.h"
#include "app/report.h"
#include "app/rle_file.h"
#include "satin/error.h"
#include "satin/filter.h"
#include "satin/io.h"
#include "satin/json.h"

namespace satin::app {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

std::set<std::int64_t> labels_of(const std::string& text) {
  std::set<std::int64_t> labels;
  for (const std::string& label : split(text, ','))
    labels.insert(parse_integer("--label", label, 0, INT64_MAX));
  return labels;
}

/// Keeps only the masks of these labels.
void choose(MaskList& list, std::set<std::int64_t> labels) {
  const std::set<std::int64_t> wanted = labels;
  std::erase_if(list.masks, [&](const LabelledMask& mask) {
    labels.erase(mask.label);
    return !wanted.contains(mask.label);
  });
  if (!labels.empty())
    refuse("There is no mask with --label " + std::to_string(*labels.begin()) + " in the file.");
}

/// Returns the union of the masks. Moves the run lengths out of the list.
Image mask_of(MaskList& list, const std::string& name) {
  if (list.width == 0)
    throw Error(ErrorKind::input, name + ": it holds no masks, and does not say how large the picture is.");
  std::vector<RunLengths> runs = {
      {list.height, list.width, {static_cast<std::uint32_t>(list.height * list.width)}}};
  for (LabelledMask& mask : list.masks) runs.push_back(std::move(mask.runs));
  return decode_run_lengths(unite(runs));
}

/// Refuses the options of the filter that --from-rle does not use.
void check_options(const ParsedLine& line) {
  static const std::set<std::string> taken = {"from-rle", "label",   "output", "format", "overwrite",
                                              "device",   "threads", "simd",   "quiet",  "json"};
  if (!line.arguments.empty())
    refuse("--from-rle makes the mask: there is no input besides, such as '" + line.arguments.front() + "'.");
  for (const auto& [name, text] : line.options)
    if (!taken.contains(name))
      refuse("--" + name + " has no meaning with --from-rle. Write the mask, then filter it.");
}

int write_mask(const ParsedLine& line) {
  check_options(line);
  const std::string source = *line.value("from-rle");
  const auto output = line.value("output");
  if (!output) refuse("There is no output: name a file with -o.");
  WriteOptions options{.overwrite = line.flag("overwrite")};
  if (const auto format = line.value("format"); format && !format->empty())
    options.format = format->front() == '.' ? *format : "." + *format;
  if (same_file(source, *output))
    refuse("The output '" + *output + "' is the same file as the input. Name another output.");
  if (*output == "-" && (line.flag("json") || output_is_terminal()))
    refuse("Standard output cannot hold the mask, with --json or on a terminal. Name a file with -o.");
  Shape pixel{1, 1};
  check_writable(*output, pixel, options);
  std::set<std::int64_t> labels;
  if (const auto text = line.value("label")) labels = labels_of(*text);

  MaskList list = read_masks(source);
  if (!labels.empty()) choose(list, std::move(labels));
  const Image mask = mask_of(list, source);
  {
    const PatientWork patient(patience_to_write(*output));
    write_image(*output, mask, options);
  }
  if (line.flag("json")) {
    JsonWriter json;
    json.begin_object().key("status").string("done").key("exit_code").integer(exit_good);
    json.key("output").string(*output);
    json.key("width").integer(list.width).key("height").integer(list.height);
    json.key("masks").integer(static_cast<long long>(list.masks.size()));
    print(json.end_object().text() + "\n");
  }
  return exit_good;
}

int run(const CommandSpec& command, const ParsedLine& line) {
  if (line.value("from-rle")) return write_mask(line);
  if (line.value("label")) refuse("--label chooses among run lengths: name their file with --from-rle.");
  return run_filter_command(command, line);
}

}  // namespace

CommandSpec with_run_lengths(CommandSpec mask) {
  mask.groups.insert(
      mask.groups.begin() + 1,
      {"In place of INPUT",
       {file("from-rle", "JSON of 'satin regions' or of COCO: write the union of its masks"),
        valued("label", "LIST", "use only these labels or ids, separated by commas", {.default_text = "all"}),
        file("from-model",
             "ONNX model of masks, such as U2-Net, with MODEL.json beside it: filter the mask that "
             "it makes of INPUT")}});
  mask.run = run;
  return mask;
}

}  // namespace satin::app
