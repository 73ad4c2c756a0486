#include "batch/filter_chains.h"

#include <algorithm>
#include <exception>

namespace satin::batch {

FilterChains::FilterChains(std::span<const Device> devices, const Batch& work) : work_(work) {
  for (const Device& device : devices) {
    OfDevice& of_device = devices_.emplace_back(
        OfDevice{device, static_cast<std::size_t>(std::max(device.runs_at_once(), 1)), {}});
    of_device.members.push_back({std::make_unique<FilterChain>(device, work)});
  }
}

std::vector<FilterChain*> FilterChains::first() const {
  std::vector<FilterChain*> chains;
  for (const OfDevice& device : devices_) chains.push_back(device.members.front().chain.get());
  return chains;
}

FilterChains::Next FilterChains::after_run(FilterChain& chain, bool lost) {
  const std::lock_guard lock(mutex_);
  OfDevice& device = device_of(chain);
  std::vector<Member>& members = device.members;
  const auto member = std::find_if(members.begin(), members.end(),
                                   [&](const Member& entry) { return entry.chain.get() == &chain; });
  const bool no_memory = lost || chain.in_windows();
  if (members.size() > 1 && (no_memory || device.over_limit(chain, members.size()))) {
    members.erase(member);
    device.most = members.size();
    return {{}, lost};
  }
  Next next{{&chain}, false};
  if (members.size() == 1 && member->had_company) {
    member->had_company = false;
    if (no_memory) chain.forget_plans();  // there is more memory for them now
    next.again = lost;
  }
  if (!no_memory) complete(device, chain, next.free);
  return next;
}

bool FilterChains::OfDevice::over_limit(const FilterChain& chain, std::size_t count) const {
  const std::size_t limit = memory_limit(device);
  return limit != 0 && chain.held_bytes() > limit / count;
}

FilterChains::OfDevice& FilterChains::device_of(const FilterChain& chain) {
  return *std::find_if(devices_.begin(), devices_.end(), [&](const OfDevice& device) {
    return std::any_of(device.members.begin(), device.members.end(),
                       [&](const Member& member) { return member.chain.get() == &chain; });
  });
}

/// Adds the chains that the device lacks, as far as there is memory for more like the example.
void FilterChains::complete(OfDevice& device, const FilterChain& example,
                            std::vector<FilterChain*>& free) const {
  std::vector<Member>& members = device.members;
  while (members.size() < device.most && !device.over_limit(example, members.size() + 1)) {
    try {
      members.push_back({std::make_unique<FilterChain>(device.device, work_)});
    } catch (const std::exception&) {
      device.most = members.size();
      break;
    }
    free.push_back(members.back().chain.get());
  }
  for (Member& member : members) member.had_company = members.size() > 1;
}

}  // namespace satin::batch
