#include "app/option_specs.h"

#include <string>
#include <utility>

#include "satin/io.h"

namespace satin::app {

OptionSpec flag(const std::string& name, const std::string& help, char letter) {
  OptionSpec option;
  option.name = name;
  option.letter = letter;
  option.help = help;
  return option;
}

OptionSpec valued(const std::string& name, const std::string& value, const std::string& help, char letter) {
  OptionSpec option = flag(name, help, letter);
  option.value = value;
  return option;
}

OptionSpec file(const std::string& name, const std::string& help, char letter) {
  OptionSpec option = valued(name, "FILE", help, letter);
  option.is_file = true;
  return option;
}

OptionSpec help_option() { return flag("help", "show this page", 'h'); }

std::vector<OptionSpec> input_options() {
  return {flag("recursive", "take folders with all folders below them", 'r'),
          file("files-from", "take the files that this list names as well, one a line; - for standard input"),
          flag("null", "the names in that list end with zero bytes (find -print0)", '0')};
}

std::vector<OptionSpec> device_options() {
  OptionSpec device = valued("device", "NAME", "auto, cpu or cuda:N");
  device.default_text = "auto";
  OptionSpec threads = valued("threads", "N", "threads of the CPU");
  threads.range = "1 to 1024";
  threads.default_text = "all";
  return {device, threads};
}

std::vector<OptionSpec> read_options() {
  OptionSpec pixels = valued("max-pixels", "N", "refuse pictures of more pixels");
  pixels.default_text = std::to_string(ReadLimits{}.pixels);
  OptionSpec bytes = valued("max-bytes", "N", "refuse files and pictures of more bytes");
  bytes.default_text = std::to_string(ReadLimits{}.bytes);
  return {pixels, bytes,
          flag("allow-partial", "take what there is of damaged or incomplete files, with a warning")};
}

OptionSpec jpeg_decoder_option() {
  OptionSpec decoder = valued("jpeg-decoder", "NAME",
                              "what decodes JPEG files; nvjpeg does so on the GPU, to slightly other pixels");
  decoder.default_text = "libjpeg";
  decoder.choices = {"libjpeg", "nvjpeg"};
  return decoder;
}

std::vector<OptionSpec> write_options() {
  OptionSpec quality = valued("jpeg-quality", "N", "quality of JPEG and WebP");
  quality.range = "1 to 100";
  quality.default_text = "that of a JPEG input, else 95";
  return {quality, flag("dither", "dither where 8 bits are made of more"),
          flag("strip", "leave out ICC profile, EXIF, XMP, IPTC and named channels")};
}

OptionGroup analysis_options(std::vector<OptionSpec> own, const std::string& json_help) {
  for (const OptionSpec& option : device_options()) own.push_back(option);
  for (const OptionSpec& option : read_options()) own.push_back(option);
  own.push_back(flag("json", json_help));
  own.push_back(help_option());
  return {"Common options", std::move(own)};
}

}  // namespace satin::app
