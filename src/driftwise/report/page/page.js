// The page works without this script. The script shows values under the pointer or with the arrow keys, zooms and saves
// figures, hides series, and sorts and filters the table. The state of the page is kept in the address after the #.
(() => {
  "use strict";

  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const root = document.documentElement;
  const tip = document.getElementById("tip");
  const live = document.getElementById("said"); // is read out by screen readers when it changes
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
    for (const hint of all("#hint")) {
      hint.hidden = false;
      hint.append(" Point at a figure for its values, drag over a part to zoom in. With the keyboard: arrow keys, +, - and 0.");
    }
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
    return text;
  }

  function say(text) {
    live.textContent = text;
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

  function attach(figure, makeReader) {
    const chart = figure.querySelector(".chart");
    const data = JSON.parse(figure.querySelector("script").textContent);
    const view = startView(chart, data);
    const reader = makeReader(chart, view, (text, x, y) => showTip(text, chart, x, y), data);
    chart.setAttribute("tabindex", "0");
    chart.setAttribute("role", "application"); // so that screen readers leave the arrow keys to the chart
    chart.setAttribute("aria-roledescription", "chart");
    chart.setAttribute("aria-description", "Arrow keys show the values, with Shift they move the part that is shown; + and - zoom, 0 shows all.");
    let now = null;
    let last = null; // the place of the last reading, around which buttons zoom
    let drag = null;

    function read(reading) {
      clearReading();
      now = reading;
      if (!reading) return "";
      last = reader.place(reading);
      return reader.show(reading);
    }

    function zoom(change) {
      read(null);
      change();
      for (const button of [out, whole]) button.disabled = !view.zoomed();
      say(view.text());
    }

    // ---- Pointer ----

    function follow(event) {
      const place = under(event, chart);
      if (drag) {
        dragTo(place, event.pointerId);
        if (drag.frame) return;
      }
      read(reader.nearest(place));
    }

    function dragTo({ x, y }, pointer) {
      const [across, down] = [Math.abs(x - drag.x) > 8, Math.abs(y - drag.y) > 8 && view.y.scale];
      if (!drag.frame && !across && !down) return;
      if (!drag.frame) {
        read(null);
        chart.setPointerCapture(pointer);
        drag.frame = view.svg("rect", { class: "selection" });
        chart.append(drag.frame);
      }
      const part = (axis, from, to, moved) => {
        const within = (place) => Math.max(axis.start, Math.min(axis.end, place));
        return moved ? [from, to].map(within).sort((a, b) => a - b) : [axis.start, axis.end];
      };
      const [left, right] = part(view.x, drag.x, x, across);
      const [top, bottom] = part(view.y, drag.y, y, down);
      const sides = { x: left, y: top, width: right - left, height: bottom - top };
      for (const [name, value] of Object.entries(sides)) drag.frame.setAttribute(name, value);
      drag.window = [[left, right].map((place) => view.x.from(place)), [top, bottom].map((place) => view.y.from(place))];
      drag.wide = right > left && bottom > top;
    }

    function endDrag(isChosen) {
      const { frame, window, wide } = drag ?? {};
      drag = null;
      frame?.remove();
      if (frame && isChosen && wide) zoom(() => view.show(window));
    }

    chart.addEventListener("pointermove", follow);
    chart.addEventListener("pointerdown", (event) => {
      if (event.isPrimary && event.button === 0) drag = under(event, chart);
      follow(event);
    });
    chart.addEventListener("pointerup", () => endDrag(true));
    chart.addEventListener("pointercancel", () => endDrag(false));
    chart.addEventListener("pointerleave", () => {
      if (drag?.frame) return; // the pointer is captured
      drag = null;
      read(null);
    });
    chart.addEventListener("blur", () => read(null));

    // ---- Keys ----

    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Home: [-Infinity, 0], End: [Infinity, 0] };
    const zooms = { "+": () => view.scale(2, last), "=": () => view.scale(2, last), "-": () => view.scale(0.5, last), 0: view.whole };
    chart.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key === "Escape") {
        endDrag(false);
        read(null);
      }
      const move = moves[event.key];
      if (!move && !zooms[event.key]) return;
      event.preventDefault();
      if (!move) {
        const reading = now;
        zoom(zooms[event.key]);
        if (reading && view.contains(last)) read(reading);
      } else if (event.shiftKey && move.every(Number.isFinite)) zoom(() => view.move(...move));
      else {
        const reading = reader.neighbour(now, ...move);
        if (reading) view.reveal(reader.place(reading));
        say(read(reading).replaceAll("\n", ", "));
      }
    });

    // ---- Buttons ----

    const button = (text, title, act) => {
      const made = document.createElement("button");
      Object.assign(made, { type: "button", textContent: text, title });
      made.addEventListener("click", act);
      return made;
    };
    const group = (...buttons) => {
      const made = document.createElement("span");
      made.append(...buttons);
      return made;
    };
    const file = (text, kind, type) => {
      const name = `${figure.id}.${kind}`;
      saveFile(text, name, type);
      say(`Saved ${name}.`);
    };
    const out = button("Zoom out", "Zoom out (key -)", () => zoom(zooms["-"]));
    const whole = button("Show all", "Show the whole figure (key 0)", () => zoom(view.whole));
    for (const disabled of [out, whole]) disabled.disabled = true;
    const actions = document.createElement("div");
    actions.className = "actions";
    actions.setAttribute("role", "group");
    actions.setAttribute("aria-labelledby", `${figure.id}-title`);
    actions.append(
      group(
        button("CSV", "Save the numbers as CSV", () => file(csvText(data), "csv", "text/csv")),
        button("SVG", "Save the figure as it is shown as SVG", () => file(svgText(figure, chart), "svg", "image/svg+xml"))
      ),
      group(button("Zoom in", "Zoom in (key +); or drag over a part", () => zoom(zooms["+"])), out, whole)
    );
    figure.querySelector("details").before(actions);
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
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
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
  for (const figure of all(".panel")) attach(figure, readPanel);
  for (const figure of all(".history")) attach(figure, readHistory);
  addEventListener("hashchange", () => {
    readAddress();
    show();
  });
  readAddress();
  show();
})();
