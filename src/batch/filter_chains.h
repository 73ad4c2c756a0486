#pragma once
// Which filters of a batch's devices run, and how many pictures a device has at a time.

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "batch/filter_chain.h"
#include "satin/batch.h"

namespace satin::batch {

/// The chains of all devices. Each device begins with one. When a run has told what it holds, the device gets
/// the others that keep it busy (Device::runs_at_once()), if all together hold no more than
/// limit_memory() says. Where memory does not suffice after all, the chain that noticed gives way, and the
/// device goes on with the rest.
class FilterChains {
 public:
  /// `work` must outlive the chains.
  FilterChains(std::span<const Device> devices, const Batch& work);

  /// Those to begin with, one a device.
  [[nodiscard]] std::vector<FilterChain*> first() const;

  /// What follows a run.
  struct Next {
    std::vector<FilterChain*> free;  ///< chains that may take a picture now
    bool again = false;              ///< the run failed for want of memory that others had: do it once more
  };

  /// To be called after every run of a chain, which may be gone afterwards; from any thread. `lost`: it ended
  /// with Error(environment).
  [[nodiscard]] Next after_run(FilterChain& chain, bool lost);

 private:
  struct Member {
    std::unique_ptr<FilterChain> chain;
    bool had_company = false;  ///< since it was made, or since it last began anew alone
  };
  struct OfDevice {
    Device device;
    std::size_t most;  ///< chains
    std::vector<Member> members;

    /// True if so many chains like this one are above the memory limit.
    [[nodiscard]] bool over_limit(const FilterChain& chain, std::size_t count) const;
  };

  [[nodiscard]] OfDevice& device_of(const FilterChain& chain);
  void complete(OfDevice& device, const FilterChain& example, std::vector<FilterChain*>& free) const;

  const Batch& work_;
  std::mutex mutex_;
  std::vector<OfDevice> devices_;
};

}  // namespace satin::batch
