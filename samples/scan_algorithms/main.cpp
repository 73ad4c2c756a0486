// satin_scan_algorithms: a study of scan algorithms. Its pages are README.md and wavelet_matrix.md.

#include <charconv>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "measure.h"
#include "pictures.h"
#include "satin/error.h"
#include "study.h"

namespace {

constexpr std::string_view usage =
    R"(Usage: satin_scan_algorithms [measure] [--max-n N] [--plot FILE.svg] [--json]
       satin_scan_algorithms check | costs | list | trace NAME | picture NAME

  measure        operations, depth, bytes and time of every algorithm for n = 1000, 10000 ... N, as a table;
                 with kernels on the first GPU, if there is one; bins up to 10^7 values on the CPU,
                 the sort and the wavelet matrix up to 10^6, window medians up to 10^5
  check          every algorithm and kernel against the library, medians against std::nth_element,
                 every count against its formula
  costs          the counts alone, for n = 2^10 and 2^20
  list           the names of the algorithms
  trace NAME     the steps of one algorithm on eight elements
  picture NAME   an SVG of who adds what to what: hillis_steele or blelloch

  --max-n N      1000 to 100000000; default 1000000
  --plot FILE    an SVG of the table
  --json         the table as JSON
)";

struct Options {
  std::string command = "measure";
  std::string name;
  std::string plot;
  study::Index max_n = 1'000'000;
  bool json = false;
};

[[noreturn]] void refuse(const std::string& message) {
  throw satin::Error(satin::ErrorKind::usage, message + "\nTry: satin_scan_algorithms --help");
}

study::Index parse_size(std::string_view text) {
  study::Index n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || n < 1000 || n > 100'000'000)
    refuse("--max-n takes a whole number from 1000 to 100000000, not '" + std::string(text) + "'.");
  return n;
}

/// Returns nothing if help was requested.
std::optional<Options> parse(std::span<char*> arguments) {
  Options options;
  std::size_t i = 1;
  const auto value = [&] {
    if (i + 1 == arguments.size()) refuse("'" + std::string(arguments[i]) + "' needs a value.");
    return std::string(arguments[++i]);
  };
  bool measure_options = false;
  for (; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--help" || argument == "-h") return std::nullopt;
    if (argument.starts_with("--")) measure_options = true;
    if (argument == "--max-n")
      options.max_n = parse_size(value());
    else if (argument == "--plot")
      options.plot = value();
    else if (argument == "--json")
      options.json = true;
    else if (i == 1 && (argument == "trace" || argument == "picture")) {
      options.command = argument;
      options.name = value();
    } else if (i == 1 &&
               (argument == "measure" || argument == "check" || argument == "costs" || argument == "list"))
      options.command = argument;
    else
      refuse("Unknown argument '" + std::string(argument) + "'.");
  }
  if (measure_options && options.command != "measure") refuse("'" + options.command + "' takes no options.");
  return options;
}

void measure(const Options& options) {
  const auto rows = study::measure(options.max_n);
  const auto gpu_rows = study::measure_gpu(options.max_n);
  if (options.json) {
    study::print_json(std::cout, rows, gpu_rows);
  } else {
    study::print_table(std::cout, rows);
    std::cout << '\n' << study::gpu_name() << '\n';
    if (!gpu_rows.empty()) study::print_table(std::cout, gpu_rows);
  }
  if (options.plot.empty()) return;
  std::ofstream file(options.plot);
  study::plot(file, rows, gpu_rows);
  if (!file.flush()) throw satin::Error(satin::ErrorKind::input, options.plot + " cannot be written.");
}

int run(const Options& options) {
  if (options.command == "check") return study::check(std::cout) ? 0 : 1;
  if (options.command == "measure") measure(options);
  if (options.command == "costs") study::print_costs(std::cout);
  if (options.command == "trace") study::algorithm_named(options.name).trace(std::cout);
  if (options.command == "picture") study::draw_network(std::cout, options.name);
  if (options.command == "list")
    for (const study::Algorithm& algorithm : study::algorithms()) std::cout << algorithm.name << '\n';
  return 0;
}

int exit_code(satin::ErrorKind kind) {
  if (kind == satin::ErrorKind::input) return 1;
  return kind == satin::ErrorKind::usage ? 2 : 3;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto options = parse({argv, static_cast<std::size_t>(argc)});
    if (!options) {
      std::cout << usage;
      return 0;
    }
    return run(*options);
  } catch (const satin::Error& error) {
    std::cerr << "satin_scan_algorithms: " << error.what() << '\n';
    return exit_code(error.kind());
  } catch (const std::invalid_argument& error) {
    std::cerr << "satin_scan_algorithms: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "satin_scan_algorithms: " << error.what() << '\n';
    return 1;
  }
}
