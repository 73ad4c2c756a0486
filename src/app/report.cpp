#include "app/report.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <span>

#include "app/interrupt.h"
#include "satin/io.h"

namespace satin::app {
namespace {

bool error_has_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool refused = no_colour != nullptr && *no_colour != '\0';
  const bool able = terminal != nullptr && *terminal != '\0' && std::strcmp(terminal, "dumb") != 0;
  return !refused && able && error_is_terminal();
}

}  // namespace

int exit_code(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::input:
      return 1;
    case ErrorKind::usage:
      return 2;
    case ErrorKind::environment:
      return 3;
    case ErrorKind::cancelled:
      return exit_interrupted();
  }
  return 1;
}

int exit_code(const BatchResult& result) noexcept {
  if (result.cancelled) return exit_interrupted();
  return result.failure ? exit_code(*result.failure) : exit_good;
}

void print(std::string_view text) { write_file("-", std::as_bytes(std::span(text)), true); }

void print_error(std::string_view message) {
  std::string text = error_has_colour() ? "\x1b[1;31msatin:\x1b[0m " : "satin: ";
  for (std::size_t first = 0; first <= message.size();) {
    const std::size_t end = std::min(message.find('\n', first), message.size());
    text += printable(message.substr(first, end - first)) + "\n";
    first = end + 1;
  }
  std::cerr << text << std::flush;  // a failure cannot be reported
}

bool output_is_closed() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

bool output_is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }

bool error_is_terminal() { return ::isatty(STDERR_FILENO) == 1; }

std::size_t output_columns() {
  winsize size{};
  if (output_is_terminal() && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0)
    return std::clamp<std::size_t>(size.ws_col, 60, 120);
  return 100;
}

void add_filter(JsonWriter& json, const Parameters& parameters) {
  json.key("filter").string(parameters.filter().name);
  json.key("parameters").begin_object();
  for (const ParameterRecord& parameter : parameters.filter().parameters) {
    const std::string text = parameters.get(parameter.name);
    if (!text.empty()) json.key(parameter.name).string(text);
  }
  json.end_object();
}

void add_device(JsonWriter& json, const DeviceInfo& device) {
  json.key("device").begin_object();
  json.key("id").string(device.id).key("name").string(device.name);
  json.end_object();
}

std::string json_report(const Error& error) {
  JsonWriter json;
  json.begin_object();
  json.key("status").string("failed");
  json.key("exit_code").integer(exit_code(error.kind()));
  add_error(json, error);
  json.end_object();
  return json.text() + "\n";
}

std::string summary_of_failure(const BatchResult& result) {
  const std::string count =
      std::to_string(result.done + result.skipped) + " of " + std::to_string(result.total) + " files done";
  if (result.cancelled) return "Interrupted; " + count + ".";
  if (result.failed == 0 || result.total == 1) return "";
  if (result.not_started() != 0)
    return "Stopped early; " + count + ", " + std::to_string(result.failed) + " failed.";
  return std::to_string(result.failed) + " of " + std::to_string(result.total) + " files failed.";
}

}  // namespace satin::app
