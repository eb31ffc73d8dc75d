// The page works without this script. The script shows values under the pointer or with the arrow keys, hides series,
// and sorts and filters the table. The state of the page is kept in the address after the #.
(() => {
  "use strict";

  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const root = document.documentElement;
  const tip = document.getElementById("tip");
  const labels = new Set(all(".key").map((key) => key.dataset.series));
  const view = { hidden: new Set(), chosen: "", sort: "", order: "" };

  // ---- State of the page, in the address ----

  function readAddress() {
    const parameters = new URLSearchParams(location.hash.slice(1));
    view.hidden = new Set(parameters.getAll("hide").filter((label) => labels.has(label)));
    view.chosen = parameters.get("filter") ?? "";
    view.sort = parameters.get("sort") ?? "";
    view.order = parameters.get("order") === "descending" ? "descending" : "ascending";
  }

  function writeAddress() {
    const parameters = new URLSearchParams([...view.hidden].sort().map((label) => ["hide", label]));
    if (view.chosen) parameters.set("filter", view.chosen);
    if (view.sort) {
      parameters.set("sort", view.sort);
      parameters.set("order", view.order);
    }
    history.replaceState(null, "", parameters.size ? `#${parameters}` : location.pathname + location.search);
  }

  function show() {
    for (const key of all(".key")) key.setAttribute("aria-pressed", String(!view.hidden.has(key.dataset.series)));
    for (const series of all(".series")) series.classList.toggle("off", view.hidden.has(series.dataset.series));
    arrangeTable();
    clearReading();
  }

  function change(changes) {
    Object.assign(view, changes);
    writeAddress();
    show();
  }

  // ---- Legend ----

  function highlight(label) {
    for (const chart of all(".panel .chart")) chart.classList.toggle("reading", label !== null);
    for (const series of all(".series")) series.classList.toggle("near", series.dataset.series === label);
  }

  function startLegend() {
    for (const hint of all("#hint")) hint.hidden = false;
    for (const key of all(".key")) {
      const label = key.dataset.series;
      key.disabled = false;
      key.addEventListener("click", () => {
        const hidden = new Set(view.hidden);
        if (!hidden.delete(label)) hidden.add(label);
        highlight(null);
        change({ hidden });
      });
      key.addEventListener("pointerenter", () => highlight(view.hidden.has(label) ? null : label));
      key.addEventListener("pointerleave", () => highlight(null));
    }
  }

  // ---- Reading values ----

  function showTip(text, chart, x, y) {
    const place = new DOMPoint(x, y).matrixTransform(chart.getScreenCTM());
    tip.textContent = text;
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.max(8, Math.min(place.x + 14, root.clientWidth - width - 8));
    const top = place.y - height - 14 < 8 ? place.y + 14 : place.y - height - 14;
    tip.style.transform = `translate(${left + scrollX}px, ${top + scrollY}px)`;
  }

  function clearReading() {
    tip.hidden = true;
    highlight(null);
    for (const point of all(".read")) point.classList.remove("read");
    for (const line of all(".cursor")) line.remove();
  }

  function under(event, chart) {
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(chart.getScreenCTM().inverse());
  }

  function attach(chart, reader) {
    chart.setAttribute("tabindex", "0");
    chart.setAttribute("aria-description", "Arrow keys show the values.");
    let now = null;
    const read = (reading) => {
      clearReading();
      now = reading;
      if (reading) reader.show(reading);
    };
    const follow = (event) => read(reader.nearest(under(event, chart)));
    chart.addEventListener("pointermove", follow);
    chart.addEventListener("pointerdown", follow);
    chart.addEventListener("pointerleave", () => read(null));
    chart.addEventListener("blur", () => read(null));
    chart.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (event.key === "Escape") read(null);
      if (!move) return;
      event.preventDefault();
      read(reader.neighbour(now, ...move));
    });
  }

  // ---- Table ----

  const table = document.querySelector(".measured");
  const rows = table ? all("tbody tr", table) : [];
  const chooser = document.getElementById("filter"); // null if the table has no filter

  function compare(a, b, numeric) {
    const known = (text) => text !== "" && !(numeric && text === "nan");
    if (!known(a) || !known(b)) return known(b) - known(a); // unknown values come last in both orders
    const order = numeric ? number(a) - number(b) || 0 : a.localeCompare(b, "en");
    return view.order === "descending" ? -order : order;
  }

  function number(text) {
    return text.endsWith("inf") ? Number(text.replace("inf", "Infinity")) : Number(text);
  }

  function filterTable() {
    if (!chooser) return;
    chooser.value = view.chosen;
    if (chooser.selectedIndex < 0) chooser.value = view.chosen = "";
    for (const row of rows) row.hidden = view.chosen !== "" && row.dataset.filter !== view.chosen;
    document.getElementById("count").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
  }

  function sortTable() {
    const heads = all("th[data-sort]", table);
    const head = heads.find((head) => head.dataset.sort === view.sort);
    for (const other of heads) other.removeAttribute("aria-sort");
    if (head) head.setAttribute("aria-sort", view.order);
    const value = (row) => row.cells[head.cellIndex].dataset.value;
    const ordered = head ? [...rows].sort((a, b) => compare(value(a), value(b), head.dataset.order === "number")) : rows;
    table.classList.toggle("sorted", Boolean(head)); // in the original order, a blank cell means: same as above
    table.tBodies[0].append(...ordered);
  }

  function arrangeTable() {
    if (!table) return;
    filterTable();
    sortTable();
  }

  function startTable() {
    if (!table) return;
    for (const tools of all(".tools")) tools.hidden = false;
    if (chooser) chooser.addEventListener("change", () => change({ chosen: chooser.value }));
    for (const head of all("th[data-sort]", table)) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      const sort = head.dataset.sort;
      button.addEventListener("click", () => {
        // Ascending, descending, and back to the original order.
        if (view.sort !== sort) change({ sort, order: "ascending" });
        else if (view.order === "ascending") change({ order: "descending" });
        else change({ sort: "", order: "" });
      });
    }
  }

  // ---- Light and dark ----

  function startTheme() {
    const button = document.getElementById("theme");
    const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    const label = () => button.setAttribute("aria-pressed", String(dark()));
    try {
      const kept = localStorage.getItem("driftwise-theme");
      if (kept === "dark" || kept === "light") root.dataset.theme = kept;
    } catch {} // a browser may forbid storage; then the theme is not kept
    button.hidden = false;
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      try {
        localStorage.setItem("driftwise-theme", root.dataset.theme);
      } catch {}
      label();
    });
    label();
  }

  // A link scrolls to its section and does not change the address.
  function startLinks() {
    for (const link of all("nav a")) {
      link.addEventListener("click", (event) => {
        event.preventDefault();
        document.getElementById(link.hash.slice(1)).scrollIntoView();
      });
    }
  }

  startTheme();
  startLinks();
  startLegend();
  startTable();
  for (const chart of all(".panel .chart")) attach(chart, readPanel(chart, showTip));
  for (const chart of all(".history .chart")) attach(chart, readHistory(chart, showTip));
  addEventListener("hashchange", () => {
    readAddress();
    show();
  });
  readAddress();
  show();
})();
