#include "core/cpu/scan/operations.h"

namespace satin::cpu {

ScanOperations scan_operations() {
  return {reduce, mean,      scan,         combine,    segmented_scan, segmented_reduce,
          select, histogram, extract_bins, radix_sort, counting_sort};
}

}  // namespace satin::cpu
