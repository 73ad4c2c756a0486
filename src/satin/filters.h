#pragma once
// Every filter. A filter has three functions: blur() filters a picture, plan() prepares the filter for
// pictures of one shape, and blur_record() returns its record. plan() reads only the shapes of the views
// among the parameters; Plan::run() is given the picture and the side inputs.
//
// Unless a filter says otherwise, its result has the input's shape, is in the input's memory without aliasing
// it, and is the same on every device, byte for byte. Filters throw Error(usage) for parameters and shapes
// that do not fit, Error(input) for NaN or infinity in the picture, a map or a guide.

#include "satin/error.h"                     // IWYU pragma: export
#include "satin/filters/blur.h"              // IWYU pragma: export
#include "satin/filters/crop.h"              // IWYU pragma: export
#include "satin/filters/dof.h"               // IWYU pragma: export
#include "satin/filters/edge_smooth.h"       // IWYU pragma: export
#include "satin/filters/gloss.h"             // IWYU pragma: export
#include "satin/filters/guided.h"            // IWYU pragma: export
#include "satin/filters/integral.h"          // IWYU pragma: export
#include "satin/filters/local_statistics.h"  // IWYU pragma: export
#include "satin/filters/mask.h"              // IWYU pragma: export
#include "satin/filters/median.h"            // IWYU pragma: export
#include "satin/filters/morphology.h"        // IWYU pragma: export
#include "satin/filters/normalize.h"         // IWYU pragma: export
#include "satin/filters/redact.h"            // IWYU pragma: export
#include "satin/filters/resize.h"            // IWYU pragma: export
#include "satin/filters/smooth.h"            // IWYU pragma: export
#include "satin/filters/stretch.h"           // IWYU pragma: export
#include "satin/filters/threshold.h"         // IWYU pragma: export
#include "satin/filters/tilt_shift.h"        // IWYU pragma: export
#include "satin/filters/unsharp.h"           // IWYU pragma: export
