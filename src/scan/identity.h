#pragma once

#include "scan/stage.h"

namespace satin {

/// Every element of `result`, host or device memory, becomes the operator's identity.
void fill_identity(Stage& stage, const MutableArrayView& result, Operator op);

}  // namespace satin
