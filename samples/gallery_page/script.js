
for (const frame of document.querySelectorAll('.frame')) {
  const slider = frame.querySelector('input');
  const show = () => {
    frame.style.setProperty('--at', slider.value + '%');
    slider.setAttribute('aria-valuetext', slider.value + ' % before, ' + (100 - slider.value) + ' % after');
    frame.classList.toggle('no-before', slider.value < 20);
    frame.classList.toggle('no-after', slider.value > 80);
  };
  slider.oninput = show;
  show();
}

const said = document.getElementById('said');
document.addEventListener('click', async (event) => {
  const button = event.target.closest('.command button');
  if (!button) return;
  const code = button.previousElementSibling;
  getSelection().selectAllChildren(code);
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = 'Copied';
    said.textContent = 'The command is copied.';
  } catch {
    button.textContent = 'Selected';
    said.textContent = 'The command is selected: copy it by Ctrl C.';
  }
  setTimeout(() => { button.textContent = 'Copy'; }, 1500);
});
