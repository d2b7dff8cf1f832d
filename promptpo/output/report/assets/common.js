"use strict";
(() => {
  // Sort a table by the column whose heading is clicked.
  const number = (text) => parseFloat(text.replaceAll(",", ""));
  document.querySelectorAll("table.sortable").forEach((table) => {
    const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const way = head.ariaSort === "descending" ? 1 : -1;
        const text = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
        heads.forEach((other) => { other.ariaSort = null; });
        head.ariaSort = way < 0 ? "descending" : "ascending";
        const known = (row) => (text(row).trim() ? 0 : 1);
        body.append(...[...body.rows].sort((a, b) => {
          const [x, y] = [number(text(a)), number(text(b))];
          const by = Number.isNaN(x) || Number.isNaN(y) ? text(a).localeCompare(text(b), undefined, { numeric: true }) : x - y;
          return known(a) - known(b) || way * by;
        }));
      });
    });
  });

  // Copy a text at the press of a button.
  document.querySelectorAll("pre").forEach((pre) => {
    if (!navigator.clipboard || pre.closest("#prompts, .foreign")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", () => {
      navigator.clipboard.writeText(pre.textContent).then(() => { button.textContent = "Copied"; });
    });
    const around = document.createElement("div");
    around.className = "copied";
    pre.replaceWith(around);
    around.append(button, pre);
  });

  // Show the tooltip of a chart's mark beside the pointer.
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  document.querySelectorAll("figure > svg").forEach((chart) => {
    const marks = [...chart.querySelectorAll("circle")];
    const said = (mark) => mark.closest("g").querySelector("title")?.textContent;
    chart.addEventListener("pointermove", (event) => {
      let nearest = null, least = 24;
      marks.forEach((mark) => {
        const box = mark.getBoundingClientRect();
        const away = Math.hypot(event.clientX - box.x - box.width / 2, event.clientY - box.y - box.height / 2);
        if (away < least) [nearest, least] = [mark, away];
      });
      tip.hidden = !nearest || !said(nearest);
      if (tip.hidden) return;
      tip.textContent = said(nearest);
      tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
      tip.style.top = event.clientY + 14 + "px";
    });
    chart.addEventListener("pointerleave", () => { tip.hidden = true; });
  });
})();
