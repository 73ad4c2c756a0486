// satin_bench: benchmarks beyond `satin bench`. Scans, tables and means against CUB and NPP, regions, filters
// under masks, depth of field of a scene without lamps, pipelines, and the stages of a batch. usage() lists
// the options.
//
// Prints one line for each case and writes a JSON file: {"date", "commit", "machine", "device", "cases":
// [{"name", "parameters", "seconds", "runs", "bytes", "copy_seconds", "share_of_copy", "peers"}]}. Times are
// medians. On a GPU events measure them behind a kernel that spins, so that no launch is part of the time.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <span>

#include "app/machine.h"
#include "satin/error.h"
#include "satin/host/scan.h"
#include "satin/json.h"
#include "tests/bench/bench.h"

namespace satin::bench {

constexpr std::size_t rotated_bytes = std::size_t{256} << 20;  // more than any cache of the machines measured
constexpr int warm_up = 2;

std::vector<std::byte> noise(Type type, std::size_t bytes) {
  std::vector<std::byte> result((bytes + 3) / 4 * 4);
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < result.size(); i += 4) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto word = static_cast<std::uint32_t>(state >> 32);
    const float part = static_cast<float>(word >> 8) * 0x1p-24F;
    std::memcpy(&result[i], type == Type::f32 ? static_cast<const void*>(&part) : &word, 4);
  }
  return result;
}

Rotation::Rotation(const Device& device, Type type, std::size_t bytes, std::size_t bytes_of_set) {
  bytes = std::max<std::size_t>(bytes, 16);
  const std::vector<std::byte> contents = noise(type, bytes);
  buffers_.resize(std::clamp<std::size_t>(rotated_bytes / std::max(bytes_of_set, bytes) + 1, 2, 64));
  for (Buffer& buffer : buffers_) {
    buffer = device.backend().allocate(bytes);
    device.backend().upload(buffer.get(), contents.data(), bytes, {});
  }
  device.synchronize();
}

namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The clock of the CPU. Copies use one thread or all.
class HostBench : public Bench {
 public:
  using Bench::Bench;

 protected:
  double seconds_of(const Call& call, int i) override {
    const auto start = std::chrono::steady_clock::now();
    call(i);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  std::vector<Call> copies(std::size_t read, std::size_t written) override {
    const std::size_t bytes = (read + written) / 2;
    const auto from = std::make_shared<Rotation>(device(), Type::u8, bytes, 2 * bytes);
    const auto to = std::make_shared<Rotation>(device(), Type::u8, bytes, 2 * bytes);
    constexpr std::size_t block = std::size_t{1} << 20;
    const auto blocks = static_cast<std::int64_t>((bytes + block - 1) / block);
    return {[=](int i) { std::memcpy((*to)[i], (*from)[i], bytes); },
            [=, this](int i) {
              host::for_blocks(device(), blocks, [&](std::int64_t b) {
                const std::size_t first = static_cast<std::size_t>(b) * block;
                std::memcpy((*to)[i] + first, (*from)[i] + first, std::min(block, bytes - first));
              });
            }};
  }
};

}  // namespace

Result Bench::measure(const Work& work) {
  std::vector<Call> calls{work.run};
  for (const Peer& peer : work.peers) calls.push_back(peer.run);
  const std::vector<Call> copying = copies(work.read, work.written);
  calls.insert(calls.end(), copying.begin(), copying.end());
  std::vector<std::vector<double>> times(calls.size());
  for (int i = 0; i < warm_up + runs_; ++i)
    for (std::size_t k = 0; k < calls.size(); ++k)
      if (const double seconds = seconds_of(calls[k], i); i >= warm_up) times[k].push_back(seconds);
  Result result{.seconds = median(times[0]), .runs = runs_, .bytes = work.read + work.written};
  for (std::size_t p = 0; p < work.peers.size(); ++p)
    result.peers.emplace_back(work.peers[p].name, median(times[1 + p]));
  for (std::size_t k = 1 + work.peers.size(); k < calls.size(); ++k) {
    const double copy = median(times[k]);
    if (result.copy_seconds == 0 || copy < result.copy_seconds) result.copy_seconds = copy;
  }
  return result;
}

namespace {

struct Options {
  bool list = false;
  std::vector<std::string> wanted;  ///< NAME or NAME,KEY=VALUE,...
  std::string device = "auto";
  std::string json;
  std::optional<int> runs;
  BatchCase batch;
};

[[noreturn]] void usage(const std::string& reason) {
  std::fprintf(
      stderr,
      "satin_bench: %s\n"
      "usage: satin_bench [--list] [--case NAME[,KEY=VALUE]...]... [--device cpu|cuda:N] [--threads N]\n"
      "                   [--simd NAME] [--runs N] [--json FILE]\n"
      "       satin_bench --case batch --folder PICTURES [--pipeline TEXT] [--device cuda:0,cuda:1]\n"
      "                   [--trace FILE] [--threads N] [--json FILE]\n"
      "--list prints the cases that the others select, and runs none.\n",
      reason.c_str());
  std::exit(2);
}

int number_of(const std::string& option, const std::string& text, int least) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [read, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc{} || read != end || number < least)
    usage(option + " takes a whole number of at least " + std::to_string(least) + ", not '" + text + "'.");
  return number;
}

Options options_of(std::span<char*> words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i];
    if (word == "--list") {
      options.list = true;
      continue;
    }
    static const std::set<std::string> valued = {"--case", "--device", "--threads",  "--simd", "--runs",
                                                 "--json", "--folder", "--pipeline", "--trace"};
    if (!valued.contains(word)) usage("'" + word + "' is no option.");
    if (++i == words.size()) usage(word + " takes a value.");
    const std::string value = words[i];
    if (word == "--case") options.wanted.push_back(value);
    if (word == "--device") options.device = value;
    if (word == "--threads") options.batch.threads = number_of(word, value, 0);
    if (word == "--simd") limit_simd(value);
    if (word == "--runs") options.runs = number_of(word, value, 1);
    if (word == "--json") options.json = value;
    if (word == "--folder") options.batch.folder = value;
    if (word == "--pipeline") options.batch.pipeline = value;
    if (word == "--trace") options.batch.trace = value;
  }
  return options;
}

std::string text_of(const Case& test) {
  std::string text = test.name;
  for (const auto& [key, value] : test.parameters) text += ", " + key + "=" + value;
  return text;
}

/// Whether the case has the name and all of the parameters of "NAME,KEY=VALUE,...".
bool matches(const Case& test, const std::string& wanted) {
  std::vector<std::string> words{""};
  for (const char c : wanted)
    if (c == ',')
      words.emplace_back();
    else
      words.back() += c;
  if (words.front() != test.name) return false;
  return std::all_of(words.begin() + 1, words.end(), [&](const std::string& word) {
    return std::any_of(test.parameters.begin(), test.parameters.end(), [&](const auto& parameter) {
      return parameter.first + "=" + parameter.second == word;
    });
  });
}

/// Returns the cases that --case names; without it all but "batch", which needs a folder.
std::vector<Case> chosen_cases(const Options& options, bool on_gpu) {
  std::vector<Case> all = scan_cases(on_gpu);
  for (Case& test : picture_cases(on_gpu)) all.push_back(std::move(test));
  if (options.wanted.empty()) return all;
#ifdef SATIN_BENCH_BATCH
  all.push_back(batch_case(options.batch));
#endif
  std::vector<Case> chosen;
  for (const std::string& wanted : options.wanted) {
    const std::size_t before = chosen.size();
    for (const Case& test : all)
      if (matches(test, wanted)) chosen.push_back(test);
    if (chosen.size() == before) usage("no case is '" + wanted + "'. See --list.");
  }
  return chosen;
}

/// Writes whole numbers as numbers and everything else as text.
void add_parameter(JsonWriter& json, const std::string& key, const std::string& value) {
  long long number = 0;
  const char* const end = value.data() + value.size();
  const auto [read, code] = std::from_chars(value.data(), end, number);
  json.key(key);
  code == std::errc{} && read == end ? json.integer(number) : json.string(value);
}

void add_case(JsonWriter& json, const Case& test, const Result& result) {
  json.begin_object();
  json.key("name").string(test.name);
  json.key("parameters").begin_object();
  for (const auto& [key, value] : test.parameters) add_parameter(json, key, value);
  json.end_object();
  json.key("seconds").real(result.seconds).key("runs").integer(result.runs);
  if (result.copy_seconds > 0) {
    json.key("bytes").integer(static_cast<long long>(result.bytes));
    json.key("copy_seconds").real(result.copy_seconds);
    json.key("share_of_copy").real(result.copy_seconds / result.seconds);
  }
  for (const auto& [key, value] : result.figures) json.key(key).real(value);
  json.key("peers").array(result.peers, [&](const auto& peer) {
    json.begin_object().key("name").string(peer.first).key("seconds").real(peer.second).end_object();
  });
  json.end_object();
}

void print_case(const Case& test, const Result& result) {
  std::printf("%s: %.4f ms", text_of(test).c_str(), 1e3 * result.seconds);
  if (result.copy_seconds > 0)
    std::printf(", copy %.4f (%.2f)", 1e3 * result.copy_seconds, result.copy_seconds / result.seconds);
  for (const auto& [name, seconds] : result.peers)
    std::printf(", %s %.4f (%.2f)", name.c_str(), 1e3 * seconds, seconds / result.seconds);
  for (const auto& [key, value] : result.figures) std::printf(", %s %.4g", key.c_str(), value);
  std::printf("\n");
  std::fflush(stdout);
}

std::unique_ptr<Bench> open_bench(const Options& options) {
  const Device device =
      Device::open(options.device.substr(0, options.device.find(',')), {options.batch.threads});
#ifdef SATIN_BENCH_CUDA
  if (device.is_cuda()) return cuda_bench(device, options.runs.value_or(31));
#endif
  return std::make_unique<HostBench>(device, options.runs.value_or(11));
}

void run(Options options) {
  const std::unique_ptr<Bench> bench = open_bench(options);
  const Device& device = bench->device();
  options.batch.devices = options.device == "auto" ? device.info().id : options.device;
  const std::vector<Case> cases = chosen_cases(options, device.is_cuda());
  std::ofstream file;
  if (!options.json.empty() && !options.list) file.open(options.json);
  const auto require_file = [&] {
    if (!file)
      throw Error(ErrorKind::environment, "'" + options.json + "' cannot be written. Choose another --json.");
  };
  require_file();
  JsonWriter json;
  json.begin_object();
  app::add_run(json, device);
  json.key("device").begin_object();
  json.key("id").string(device.info().id).key("name").string(device.info().name).end_object();
  json.key("cases").begin_array();
  for (const Case& test : cases) {
    if (options.list) {
      std::printf("%s\n", text_of(test).c_str());
      continue;
    }
    const Result result = test.measure(*bench);
    print_case(test, result);
    add_case(json, test, result);
  }
  json.end_array().end_object();
  if (!file.is_open()) return;
  file << json.text() << '\n' << std::flush;
  require_file();
}

}  // namespace
}  // namespace satin::bench

int main(int count, char** words) try {
  satin::bench::run(satin::bench::options_of({words + 1, static_cast<std::size_t>(count - 1)}));
  return 0;
} catch (const satin::Error& error) {
  std::fprintf(stderr, "satin_bench: %s\n", error.what());
  return error.kind() == satin::ErrorKind::usage ? 2 : error.kind() == satin::ErrorKind::environment ? 3 : 1;
}
