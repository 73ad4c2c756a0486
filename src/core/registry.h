#pragma once
// The records of all filters; each is defined in the filter's own file.

#include "satin/filter.h"

namespace satin {

FilterRecord blur_record();
FilterRecord edge_smooth_record();
FilterRecord integral_record();
FilterRecord smooth_record();

}  // namespace satin
