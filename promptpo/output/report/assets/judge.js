"use strict";
const films = JSON.parse((document.getElementById("films") || { textContent: "[]" }).textContent);
let at = 0;
setInterval(() => {
  at += 1;
  films.forEach((frames, side) => {
    if (!frames.length) return;
    const [step, data, place] = frames[at % (frames.length + 8) < frames.length ? at % (frames.length + 8) : frames.length - 1];
    document.getElementById(`film${side}`).src = `data:image/png;base64,${data}`;
    document.getElementById(`step${side}`).textContent = `step ${step}${place && `, ${place}`}`;
  });
}, 100);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const button = { 1: "one", 2: "two", "=": "same", 0: "same" }[event.key];
  const found = button && document.getElementById(button);
  if (found) found.click();
});
