#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "core/cpu/threads.h"

namespace satin::cpu {

struct Threads::Implementation {
  int count = 1;
};

Threads::Threads(int wanted) : implementation_(std::make_unique<Implementation>()) {
  const int available = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  implementation_->count = wanted > 0 ? std::min(wanted, available) : available;
}

Threads::~Threads() = default;

int Threads::count() const noexcept { return implementation_->count; }

void Threads::run_rows(std::int64_t rows, std::int64_t grain, const RowRange& body) {
  std::atomic<std::int64_t> next{0};
  const auto work = [&](int slot) {
    for (std::int64_t first = next.fetch_add(grain); first < rows; first = next.fetch_add(grain))
      body(first, std::min(first + grain, rows), slot);
  };
  std::vector<std::thread> others;
  for (int slot = 1; slot < count(); ++slot) others.emplace_back(work, slot);
  work(0);
  for (std::thread& other : others) other.join();
}

}  // namespace satin::cpu
