"use strict";
(() => {
  const body = document.querySelector(".runs tbody"), rows = [...body.rows];
  const filter = document.getElementById("filter"), shown = document.getElementById("shown");
  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/);
    rows.forEach((row) => { row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word)); });
    shown.value = rows.filter((row) => !row.hidden).length + " of " + rows.length;
  };
  filter.addEventListener("input", show);
  document.getElementById("filtering").hidden = false;
  show();
})();
