"use strict";
(() => {
  // A link may lead into a closed <details>: open it and all that enclose it.
  const reveal = () => {
    let node = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const target = node;
    for (; node; node = node.parentElement) if (node instanceof HTMLDetailsElement) node.open = true;
    if (target) {
      target.scrollIntoView();
      const summary = target instanceof HTMLDetailsElement && target.querySelector("summary");
      if (summary) summary.focus({ preventScroll: true });
    }
  };
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
  addEventListener("beforeprint", () => document.querySelectorAll("#best details").forEach((d) => { d.open = true; }));

  const data = document.getElementById("frames");
  if (!data) return;
  const { fps, steps, frames } = JSON.parse(data.textContent);
  const [picture, slider, button, label] = ["frame", "at", "play", "step"].map((id) => document.getElementById(id));
  document.getElementById("controls").hidden = false;
  let timer = 0;
  const show = (n) => {
    const [step, png] = frames[n];
    picture.src = "data:image/png;base64," + png;
    picture.alt = "The environment at step " + step;
    label.value = "step " + step;
    slider.setAttribute("aria-valuetext", "step " + step);
    document.querySelectorAll(".lines .cursor").forEach((cursor) => {
      const x = 1 + (cursor.ownerSVGElement.viewBox.baseVal.width - 2) * step / Math.max(1, steps);
      cursor.setAttribute("x1", x);
      cursor.setAttribute("x2", x);
    });
  };
  const pause = () => {
    clearInterval(timer);
    timer = 0;
    button.textContent = "Play";
    button.setAttribute("aria-pressed", "false");
  };
  const play = () => {
    const between = frames.length > 1 ? frames[1][0] - frames[0][0] : 1;
    if (+slider.value === frames.length - 1) slider.value = 0;
    button.textContent = "Pause";
    button.setAttribute("aria-pressed", "true");
    timer = setInterval(() => {
      if (+slider.value === frames.length - 1) return pause();
      slider.value = +slider.value + 1;
      show(+slider.value);
    }, Math.max(33, Math.min(500, 1000 * between / fps)));
  };
  button.addEventListener("click", () => (timer ? pause() : play()));
  slider.addEventListener("input", () => { pause(); show(+slider.value); });
  show(0);
})();
