#include "app/gallery_style.h"

namespace satin::app {

const std::string_view gallery_style = R"(
:root { color-scheme: light dark; --paper: #f6f6f4; --card: #fff; --ink: #222; --faint: #667; --line: #ddd; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #17181a; --card: #222428; --ink: #e6e6e6; --faint: #9aa0a6; --line: #3a3d42; --bad: #ff8a80; }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.4 system-ui, sans-serif; }
header { position: sticky; top: 0; z-index: 1; padding: 12px 20px; background: var(--paper); border-bottom: 1px solid var(--line); }
h1 { display: inline; margin: 0 12px 0 0; font-size: 18px; }
code { font: 13px ui-monospace, monospace; overflow-wrap: anywhere; }
form { margin-top: 8px; display: flex; flex-wrap: wrap; gap: 6px 16px; align-items: center; }
input[type=search] { font: inherit; width: min(24em, 90vw); padding: 3px 8px; }
main { display: grid; align-items: start; grid-template-columns: repeat(auto-fill, minmax(min(100%, 430px), 1fr)); gap: 16px; padding: 20px; }
figure { margin: 0; padding: 10px; background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  content-visibility: auto; contain-intrinsic-size: auto 300px; }
figure.failed { border-color: var(--bad); }
figure div { display: grid; grid-template-columns: 1fr 1fr; gap: 8px; align-items: end; }
figure div > * { text-align: center; font-size: 12px; color: var(--faint); text-decoration: none; }
img { display: block; margin: auto; max-width: 100%; height: auto; border-radius: 3px; }
figcaption { margin-top: 8px; overflow-wrap: anywhere; }
figcaption p { margin: 4px 0 0; color: var(--faint); font-size: 13px; }
.failed p { color: var(--bad); }
[hidden] { display: none !important; }
)";

const std::string_view gallery_script = R"(
const search = document.querySelector('input[type=search]'), only = document.querySelector('input[type=checkbox]');
const figures = [...document.querySelectorAll('figure')].map(f => [f, f.textContent.toLowerCase()]);
const show = () => {
  const wanted = search.value.toLowerCase();
  let count = 0;
  for (const [figure, text] of figures)
    count += !(figure.hidden = !text.includes(wanted) || (only.checked && figure.className !== 'failed'));
  document.querySelector('output').textContent = count + ' shown';
};
search.oninput = only.onchange = show;
document.querySelector('form').onsubmit = () => false;
document.querySelector('form').hidden = false;
show();
)";

const std::string_view gallery_policy =
    "default-src 'none'; img-src 'self' file:; style-src 'unsafe-inline'; "
    "script-src 'sha256-CpxlZIsDU4+9zp+OLfGXedFMSHThF+/gxrIzZqd6RG0='";

}  // namespace satin::app
