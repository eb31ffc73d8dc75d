// Files that the page makes itself: the numbers of a figure as CSV, and the figure as SVG that needs no page.
"use strict";

function saveFile(text, name, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000); // the browser may still read it
}

// ---- CSV ----

function csvText({ heads, parts, rounds, times, best, names, weights }) {
  const history = () => [rounds, ...(times.length ? [times] : []), best.map((k) => names[k] ?? ""), ...weights];
  const lines = (parts ?? [[[], history()]]).flatMap(([texts, columns]) =>
    columns[0].map((_, i) => heads.map((_, j) => (j < texts.length ? texts[j] : columns[j - texts.length]?.[i]) ?? ""))
  );
  const cell = (value) => (/[",\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  return [heads, ...lines].map((line) => `${line.map(cell).join(",")}\n`).join("");
}

// ---- SVG ----

// The chart as it is shown, with its title above, its legend and notes below, and the style sheet of separate figures.
function svgText(figure, chart) {
  const margin = 16;
  const line = 20; // the height of a line of text
  const character = 6.6; // about its width
  const { width, height } = chart.viewBox.baseVal;
  const svg = (name, attributes, ...children) => {
    const made = document.createElementNS(chart.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  const copy = chart.cloneNode(true);
  const unwanted = ".cursor, .selection, .series.off, .out, title";
  for (const part of copy.querySelectorAll(unwanted)) part.remove();
  if (copy.classList.contains("zoomed")) {
    for (const part of copy.querySelectorAll(".leader, .slope, .axes > .word.end")) part.remove();
  }
  for (const part of copy.querySelectorAll(".read, .near")) part.classList.remove("read", "near");
  const label = copy.getAttribute("aria-label");
  for (const { name } of [...copy.attributes]) if (name !== "viewBox") copy.removeAttribute(name);
  const placed = { class: "chart", x: margin, width, height, overflow: "visible", role: "img", "aria-label": label };
  for (const [name, value] of Object.entries(placed)) copy.setAttribute(name, value);

  const parts = [copy];
  let y = margin;
  const write = (text, style) => {
    parts.push(svg("text", { x: margin, y: y + 12, ...style }, text));
    y += line;
  };
  const heading = figure.querySelector("h4");
  const learner = heading.querySelector(".learner-name")?.textContent;
  const title = learner ? `${learner}: ${heading.firstChild.textContent}` : heading.textContent;
  for (const text of wrapped(title.trim(), 70)) write(text, { class: "title" });
  copy.setAttribute("y", y + 6);
  y += height + line;
  let x = margin;
  for (const [sign, text] of legendOf(figure, svg)) {
    const short = text.length > 72 ? `${text.slice(0, 71)}…` : text;
    const length = 48 + character * short.length;
    if (x > margin && x + length - 14 > margin + width) [x, y] = [margin, y + line];
    parts.push(svg("g", { transform: `translate(${x},${y})` }, sign, svg("text", { x: 34, y: 11 }, short)));
    x += length;
  }
  if (x > margin) y += line;
  for (const note of figure.querySelectorAll(".note")) for (const text of wrapped(note.textContent, 80)) write(text, {});

  const size = { width: width + 2 * margin, height: y + margin / 2 };
  const whole = svg("svg", { class: "chart", viewBox: `0 0 ${size.width} ${size.height}`, ...size });
  whole.append(svg("style", {}, document.getElementById("figure-style").textContent), svg("rect", { class: "paper", ...size }), ...parts);
  return `${new XMLSerializer().serializeToString(whole)}\n`;
}

// The signs and labels of the series that are shown, and of the lines or the areas.
function legendOf(figure, svg) {
  const isLabelled = figure.querySelector(".chart text.row") !== null; // rows have the labels of their series
  const visible = new Set([...figure.querySelectorAll(".series:not(.off)")].map((series) => series.dataset.series));
  const keys = isLabelled ? [] : [...figure.closest(".setting")?.querySelectorAll(".legend .key") ?? []];
  const series = keys.filter((key) => visible.has(key.dataset.series)).map((key) => [key.querySelector("svg").cloneNode(true), key.textContent]);
  const lines = [...figure.querySelectorAll(".lines li")].map((item) => {
    const patch = item.querySelector(".patch");
    const area = () => svg("rect", { class: patch.className.replace("patch", "area"), x: 1, y: 1, width: 26, height: 12 });
    return [patch ? area() : item.querySelector("svg").cloneNode(true), item.dataset.label];
  });
  return [...series, ...lines];
}

function wrapped(text, most) {
  const lines = [""];
  for (const word of text.split(/\s+/)) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length <= most || !lines.at(-1)) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
