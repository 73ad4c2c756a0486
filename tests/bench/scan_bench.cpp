// The scan family on the CPU beside a copy of the same bytes and the standard library, in one run. Prints the
// rows of RESULTS.md.
//   scan_bench [VALUES] [REPEATS] [THREADS] [PART OF A NAME]
// With one thread the times are CPU time.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <execution>
#include <functional>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "satin/host/scan.h"
#include "satin/scan.h"

namespace {

using U32 = std::uint32_t;

/// Wall time, or the CPU time of the process, which other programs disturb less.
bool cpu_time = false;

double milliseconds() {
  if (cpu_time) return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

double time_of(const std::function<void()>& call) {
  const double start = milliseconds();
  call();
  return milliseconds() - start;
}

/// The least of all runs: on a machine that is shared, the one that was disturbed least.
double least(const std::vector<double>& times) { return *std::min_element(times.begin(), times.end()); }

struct Peer {
  std::string name;
  std::function<void()> run;
};

struct Case {
  std::string name;
  std::size_t read;     ///< bytes that must be read
  std::size_t written;  ///< bytes that must be written
  std::function<void()> ours;
  std::vector<Peer> peers;
};

/// What copies fastest here: memcpy by one thread, or by all.
class Copy {
 public:
  explicit Copy(std::size_t most) : from_(most, 1), to_(most, 2) {}

  double time(const satin::Device& device, std::size_t bytes) {
    const double alone = time_of([&] { std::memcpy(to_.data(), from_.data(), bytes); });
    constexpr std::size_t block = std::size_t{1} << 20;
    const double together = time_of([&] {
      satin::host::for_blocks(
          device, static_cast<std::int64_t>((bytes + block - 1) / block), [&](std::int64_t b) {
            const std::size_t first = static_cast<std::size_t>(b) * block;
            std::memcpy(to_.data() + first, from_.data() + first, std::min(block, bytes - first));
          });
    });
    return std::min(alone, together);
  }

 private:
  std::vector<unsigned char> from_;
  std::vector<unsigned char> to_;
};

/// Ours, the peers and a copy of half the bytes that move take turns.
void report(const satin::Device& device, Copy& copier, const Case& test, int repeats) {
  std::vector<double> ours;
  std::vector<double> copy;
  std::vector<std::vector<double>> peers(test.peers.size());
  for (int i = -1; i < repeats; ++i) {
    const double a = time_of(test.ours);
    const double c = copier.time(device, (test.read + test.written) / 2);
    for (std::size_t p = 0; p < peers.size(); ++p)
      if (const double t = time_of(test.peers[p].run); i >= 0) peers[p].push_back(t);
    if (i < 0) continue;
    ours.push_back(a);
    copy.push_back(c);
  }
  const double t = least(ours);
  std::printf("| %s | %.2f | %.2f | %.2f |", test.name.c_str(), t, least(copy), t / least(copy));
  for (std::size_t p = 0; p < peers.size(); ++p)
    std::printf("%s %s %.2f (%.1f)", p == 0 ? "" : ",", test.peers[p].name.c_str(), least(peers[p]),
                least(peers[p]) / t);
  std::printf(" |\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const auto n = static_cast<std::size_t>(argc > 1 ? std::atof(argv[1]) : 1e7);
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 9;
  const satin::Device device = satin::Device::open("cpu", {argc > 3 ? std::atoi(argv[3]) : 0});
  cpu_time = argc > 3 && std::atoi(argv[3]) == 1;
  std::vector<U32> numbers(n);
  std::vector<float> floats(n);
  std::vector<std::uint8_t> bytes(n);
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < n; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    numbers[i] = static_cast<U32>(state >> 32);
    floats[i] = static_cast<float>(state >> 40) / (1 << 24);
    bytes[i] = static_cast<std::uint8_t>(state >> 56);
  }
  std::vector<U32> result(n);
  std::vector<U32> peer_result(n);
  std::vector<float> float_result(n);
  std::vector<U32> counts(256);
  Copy copier(8 * n / 2 + 8 * n / 2);
  const auto words = [](float x) { return x < 0.5F; };
  const satin::Bins bins = satin::Bins::even(0, 1, 256);
  const satin::Bins codes = satin::Bins::even(0, 256, 256);
  const auto histogram_by_loop = [&] {
    std::fill(counts.begin(), counts.end(), 0U);
    for (const float x : floats) ++counts[static_cast<std::size_t>(std::min(255.0F, x * 256))];
  };
  const auto byte_histogram_by_loop = [&] {
    std::fill(counts.begin(), counts.end(), 0U);
    for (const std::uint8_t x : bytes) ++counts[x];
  };
  const satin::Predicate below_half{satin::Comparison::less, 0.5};
  const std::vector<Case> cases = {
      {"inclusive sums, u32",
       4 * n,
       4 * n,
       [&] { satin::inclusive_scan(device, numbers, result); },
       {{"std::inclusive_scan",
         [&] { std::inclusive_scan(numbers.begin(), numbers.end(), peer_result.begin()); }}}},
      {"inclusive sums, f32",
       4 * n,
       4 * n,
       [&] { satin::inclusive_scan(device, floats, float_result); },
       {{"std::inclusive_scan",
         [&] { std::inclusive_scan(floats.begin(), floats.end(), float_result.begin()); }}}},
      {"exclusive sums, u8 to u32",
       n,
       4 * n,
       [&] { satin::exclusive_scan(device, bytes, result); },
       {{"std::exclusive_scan",
         [&] { std::exclusive_scan(bytes.begin(), bytes.end(), peer_result.begin(), 0U); }}}},
      {"running maxima, f32",
       4 * n,
       4 * n,
       [&] { satin::inclusive_scan(device, floats, float_result, satin::Operator::max); },
       {}},
      {"own operator: f32 sums by satin/host/scan.h",
       4 * n,
       4 * n,
       [&] {
         satin::host::inclusive_scan(device, floats.data(), float_result.data(), static_cast<std::int64_t>(n),
                                     std::plus<float>(), 0.0F);
       },
       {}},
      {"reduce, u32",
       4 * n,
       0,
       [&] { result[0] = satin::reduce<U32>(device, numbers, satin::Operator::sum); },
       {{"std::reduce", [&] { peer_result[0] = std::reduce(numbers.begin(), numbers.end()); }}}},
      {"segmented sums, u32, 1 head in 256",
       5 * n,
       4 * n,
       [&] { satin::segmented_inclusive_scan(device, numbers, satin::Segments::by_flags(bytes), result); },
       {}},
      {"compaction, half of f32",
       4 * n,
       2 * n,
       [&] { satin::compact(device, floats, below_half, float_result); },
       {{"std::copy_if", [&] { std::copy_if(floats.begin(), floats.end(), float_result.begin(), words); }}}},
      {"partition, f32",
       8 * n,
       4 * n,
       [&] { satin::partition(device, floats, below_half, float_result); },
       {{"std::partition_copy",
         [&] {
           std::partition_copy(floats.begin(), floats.end(), float_result.begin(), float_result.rbegin(),
                               words);
         }}}},
      {"histogram, 256 bins, f32",
       4 * n,
       0,
       [&] { satin::histogram(device, floats, bins, counts); },
       {{"a loop", histogram_by_loop}}},
      {"histogram, 256 bins, u8",
       n,
       0,
       [&] { satin::histogram(device, bytes, codes, counts); },
       {{"a loop", byte_histogram_by_loop}}},
      {"radix sort, u32",
       4 * n,
       4 * n,
       [&] { satin::radix_sort(device, numbers, result); },
       {{"std::sort",
         [&] {
           peer_result = numbers;
           std::sort(peer_result.begin(), peer_result.end());
         }},
        {"std::sort(par)",
         [&] {
           peer_result = numbers;
           std::sort(std::execution::par, peer_result.begin(), peer_result.end());
         }}}},
      {"radix sort, f32", 4 * n, 4 * n, [&] { satin::radix_sort(device, floats, float_result); }, {}},
      {"counting sort, u8",
       n,
       n,
       [&] {
         satin::counting_sort(device, bytes, 256,
                              satin::MutableArrayView(reinterpret_cast<std::byte*>(result.data()),
                                                      static_cast<std::int64_t>(n), satin::Type::u8));
       },
       {}},
  };
  std::printf("%s, %zu values, %s, least of %d\n\n", device.info().name.c_str(), n,
              cpu_time ? "CPU time" : "wall time", repeats);
  std::printf("| case | ms | copy ms | times the copy | peers ms (times ours) |\n|---|---|---|---|---|\n");
  for (const Case& test : cases)
    if (test.name.find(argc > 4 ? argv[4] : "") != std::string::npos) report(device, copier, test, repeats);
}
