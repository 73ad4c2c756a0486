#include "app/option_specs.h"

#include <utility>

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

std::vector<OptionSpec> device_options() {
  OptionSpec device = valued("device", "NAME", "auto, cpu or cuda:N");
  device.default_text = "auto";
  OptionSpec threads = valued("threads", "N", "threads of the CPU");
  threads.range = "1 to 1024";
  threads.default_text = "all";
  return {device, threads};
}

OptionGroup analysis_options(std::vector<OptionSpec> own, const std::string& json_help) {
  for (const OptionSpec& option : device_options()) own.push_back(option);
  own.push_back(flag("json", json_help));
  own.push_back(help_option());
  return {"Common options", std::move(own)};
}

}  // namespace satin::app
