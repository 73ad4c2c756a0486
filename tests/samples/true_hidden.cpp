// The lens study's row that knows what is hidden: the steps of dof() with the hidden samples exchanged for
// true ones before they are spread. What is left of the error is not the fill's.

#include "samples/lens/methods.h"
#include "samples/lens/render.h"
#include "tests/samples/lens_steps.h"

namespace lens {
namespace {

constexpr int peeled_layers = 3;

}  // namespace

std::optional<Method> method_with_true_hidden() {
  return Method{"dof high, true hidden layers", [](const Input& input) {
                  satin::LensSteps steps(input);
                  steps.see(input.picture, input.plain);
                  steps.forget_hidden();
                  steps.add_hidden(render_hidden(input.scene, peeled_layers));
                  return steps.spread(input.picture);
                }};
}

}  // namespace lens
