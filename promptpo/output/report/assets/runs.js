"use strict";
(() => {
  const body = document.querySelector(".runs tbody"), rows = [...body.rows];
  const filter = document.getElementById("filter"), shown = document.getElementById("shown");
  const number = (text) => parseFloat(text.replaceAll(",", ""));
  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/);
    rows.forEach((row) => { row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word)); });
    shown.value = rows.filter((row) => !row.hidden).length + " of " + rows.length;
  };
  filter.addEventListener("input", show);
  document.getElementById("filtering").hidden = false;
  show();
  document.querySelectorAll(".runs thead th").forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const way = head.ariaSort === "descending" ? 1 : -1;
      const text = (row) => row.cells[column].textContent;
      document.querySelectorAll(".runs thead th").forEach((other) => { other.ariaSort = null; });
      head.ariaSort = way < 0 ? "descending" : "ascending";
      const known = (row) => (text(row) ? 0 : 1);
      body.append(...[...rows].sort((a, b) => {
        const [x, y] = [number(text(a)), number(text(b))];
        const by = Number.isNaN(x) || Number.isNaN(y) ? text(a).localeCompare(text(b), undefined, { numeric: true }) : x - y;
        return known(a) - known(b) || way * by;
      }));
    });
  });
})();
