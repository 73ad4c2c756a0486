#include "app/examples.h"

#include <algorithm>
#include <array>

namespace satin::app {
namespace {

struct Examples {
  std::string_view command;
  std::array<std::string_view, 2> lines;
};

constexpr std::array examples = {
    Examples{"blur",
             {"satin blur photo.jpg -o soft.jpg --radius 12",
              "satin blur photo.jpg -o varied.jpg --radius-map depth.png --radius-max 24"}},
    Examples{"smooth",
             {"satin smooth photo.jpg -o smooth.jpg --sigma 40",
              "satin smooth photo.jpg -o sky_only.jpg --sigma 40 --mask mask.png"}},
    Examples{"edge-smooth",
             {"satin edge-smooth photo.jpg -o flat.jpg --sigma-s 30 --sigma-r 0.2",
              "satin edge-smooth depth.png -o clean_depth.png --guide photo.jpg"}},
    Examples{"guided",
             {"satin guided photo.jpg -o even.jpg --radius 8",
              "satin guided depth.png -o fitted_depth.png --guide photo.jpg --eps 0.0004"}},
    Examples{
        "dof",
        {"satin dof photo.jpg --depth depth.png -o portrait.jpg --focus-at 40%,55% --strength 20",
         "satin dof photo.jpg --depth depth.png -o lights.jpg --focus 0.9 --strength 3% --highlights 4"}},
    Examples{"tilt-shift",
             {"satin tilt-shift photo.jpg -o toy.jpg --band 8 --falloff 25 --radius 12",
              "satin tilt-shift photo.jpg -o slanted.jpg --angle 20 --place 50%,60%"}},
    Examples{"median",
             {"satin median page.png -o clean.png --radius 2",
              "satin median page.png -o repaired.png --radius 1 --threshold 0.3"}},
    Examples{
        "dilate",
        {"satin dilate mask.png -o grown.png --radius 3", "satin dilate page.png -o faint.png --radius 1"}},
    Examples{
        "erode",
        {"satin erode page.png -o bold.png --radius 3", "satin erode mask.png -o shrunk.png --radius 5x1"}},
    Examples{"integral",
             {"satin integral page.png -o table.npy", "satin integral page.png -o squares.npy --squared"}},
    Examples{"threshold",
             {"satin threshold page.png -o ink.png --window 75",
              "satin threshold page.png -o global.png --method otsu"}},
    Examples{"mask",
             {"satin mask mask.png -o whole.png --fill-all-holes --min-area 50",
              "satin mask mask.png -o edge.png --grow 5 --feather 8"}},
    Examples{"redact",
             {"satin redact photo.jpg -o safe.jpg --box 12,8,24,16",
              "satin redact photo.jpg -o blocks.jpg --mask mask.png --method mosaic"}},
    Examples{"local-mean",
             {"satin local-mean photo.jpg -o mean.png --window 15",
              "satin local-mean depth.png -o depth_mean.png --window 31"}},
    Examples{"local-deviation",
             {"satin local-deviation photo.jpg -o busy.png --window 15",
              "satin local-deviation page.png -o writing.png --window 31"}},
    Examples{"normalize",
             {"satin normalize page.png -o even_page.png",
              "satin normalize photo.jpg -o even_light.jpg --window 201"}},
    Examples{"stretch",
             {"satin stretch page.png -o contrast.png --window 101",
              "satin stretch photo.jpg -o local_contrast.jpg --low 1 --high 99"}},
    Examples{"unsharp",
             {"satin unsharp photo.jpg -o crisp.jpg --sigma 1.5",
              "satin unsharp photo.jpg -o depth_of_light.jpg --radius 5% --amount 0.2"}},
    Examples{"gloss",
             {"satin gloss sky.pfm -o rough.pfm --roughness 0.5",
              "satin gloss sky.pfm -o levels.pfm --roughness 1 --levels 5"}},
    Examples{"stats", {"satin stats photo.jpg", "satin stats photo.jpg --json --plot histogram.svg"}},
    Examples{"bins", {"satin bins photo.jpg -o zones/ --bins 8", "satin bins depth.png -o layers/ --bins 4"}},
    Examples{
        "regions",
        {"satin regions mask.png", "satin regions mask.png --image photo.jpg --min-area 50 -o regions.json"}},
    Examples{"run",
             {"satin run 'blur radius=2 | unsharp amount=0.5' photo.jpg -o clear.jpg",
              "satin run 'threshold window=75 | regions min-area=20' page.png -o letters.json"}},
    Examples{"info", {"satin info photo.jpg", "satin info photo.jpg depth.png --json"}},
    Examples{"bench",
             {"satin bench blur --radius 32 --size 640x480",
              "satin bench median --radius 20 --size 640x480 --json"}},
};

}  // namespace

std::vector<std::string> examples_of(std::string_view command) {
  const auto* found = std::find_if(examples.begin(), examples.end(),
                                   [&](const Examples& each) { return each.command == command; });
  if (found == examples.end()) return {};
  return {found->lines.begin(), found->lines.end()};
}

}  // namespace satin::app
