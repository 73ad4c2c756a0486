#include <algorithm>
#include <thread>
#include <vector>

#include "core/cpu/threads.h"

namespace satin::cpu {

struct Threads::Implementation {};

Threads::Threads(int count) : count_(count) {}

Threads::~Threads() = default;

int Threads::usable(int wanted) {
  const int available = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return wanted > 0 ? std::min(wanted, available) : available;
}

void Threads::run_workers(int workers, const std::function<void(int)>& worker) {
  std::vector<std::thread> others;
  for (int i = 1; i < workers; ++i) others.emplace_back(worker, i);
  worker(0);
  for (std::thread& other : others) other.join();
}

}  // namespace satin::cpu
