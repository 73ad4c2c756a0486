#include "order/rank.h"

#include "core/backend.h"
#include "satin/error.h"

namespace satin {

Prepared<RankJob> prepare_rank(Backend& backend, const RankJob& job) {
  auto rank = backend.prepare(job);
  if (rank == nullptr)
    throw Error(ErrorKind::environment, "This device has no order statistics: use --device cpu.");
  return rank;
}

}  // namespace satin
