#pragma once
// A picture of histograms.

#include <string>
#include <vector>

#include "satin/image.h"
#include "satin/statistics.h"

namespace satin::app {

/// SVG of one histogram a channel over each other. Heights are roots of the counts, so that rare values show.
[[nodiscard]] std::string histogram_svg(const std::string& title, const Shape& shape,
                                        const std::vector<ChannelStatistics>& channels);

}  // namespace satin::app
