#pragma once
// The records of all filters; each is defined in the filter's own file.

#include "satin/filter.h"

namespace satin {

const FilterRecord& bins_record();
const FilterRecord& blur_record();
const FilterRecord& dilate_record();
const FilterRecord& dof_record();
const FilterRecord& edge_smooth_record();
const FilterRecord& erode_record();
const FilterRecord& gloss_record();
const FilterRecord& guided_record();
const FilterRecord& integral_record();
const FilterRecord& mask_record();
const FilterRecord& redact_record();
const FilterRecord& local_deviation_record();
const FilterRecord& local_mean_record();
const FilterRecord& normalize_record();
const FilterRecord& regions_record();
const FilterRecord& smooth_record();
const FilterRecord& stats_record();
const FilterRecord& threshold_record();
const FilterRecord& tilt_shift_record();
const FilterRecord& unsharp_record();

}  // namespace satin
