#pragma once
// The records of all filters; each is defined in the filter's own file.

#include "satin/filter.h"

namespace satin {

FilterRecord blur_record();
FilterRecord dilate_record();
FilterRecord dof_record();
FilterRecord edge_smooth_record();
FilterRecord erode_record();
FilterRecord gloss_record();
FilterRecord guided_record();
FilterRecord integral_record();
FilterRecord mask_record();
FilterRecord redact_record();
FilterRecord local_deviation_record();
FilterRecord local_mean_record();
FilterRecord normalize_record();
FilterRecord smooth_record();
FilterRecord threshold_record();
FilterRecord tilt_shift_record();
FilterRecord unsharp_record();

}  // namespace satin
