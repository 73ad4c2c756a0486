#include "methods.h"

namespace lens {

std::optional<Method> method_with_true_hidden() { return std::nullopt; }

}  // namespace lens
