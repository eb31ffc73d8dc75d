// Readers of charts. A reader finds the reading nearest to a position, and the neighbour of a reading; it also shows a
// reading, with a function that shows text beside a position of the chart. A view maps positions of the whole chart to
// those in the part that is shown.
"use strict";

function readPanel(chart, view, showText) {
  const series = [...chart.querySelectorAll(".series")].reverse(); // in the order of the legend; the first is drawn last
  const points = series.map((group) =>
    [...group.querySelectorAll(".point")].map((mark) => {
      const title = mark.querySelector("title");
      const text = title.textContent;
      title.remove(); // otherwise the browser would also show it
      const { e: x, f: y } = mark.transform.baseVal.consolidate().matrix;
      return { mark, text, x, y };
    })
  );
  const shown = () => points.filter((row, i) => row.length && !series[i].classList.contains("off"));
  const reach = 60;
  return {
    nearest({ x, y }) {
      const far = (point) => Math.hypot(view.x.to(point.x) - x, view.y.to(point.y) - y);
      const visible = shown().flat().filter((point) => view.contains(point));
      const best = visible.reduce((a, b) => (a && far(a) <= far(b) ? a : b), null);
      return best && far(best) < reach ? best : null;
    },
    neighbour(now, across, down) {
      const rows = shown();
      if (!rows.length) return null;
      const at = rows.findIndex((row) => row.includes(now));
      if (at < 0) return rows[0].find((point) => view.contains(point)) ?? rows[0][0];
      const row = rows[(at + down + rows.length) % rows.length];
      return row[Math.max(0, Math.min(row.length - 1, rows[at].indexOf(now) + across))];
    },
    place: ({ x, y }) => ({ x, y }),
    show({ mark, text, x, y }) {
      mark.classList.add("read");
      chart.classList.add("reading");
      mark.closest(".series").classList.add("near");
      return showText(text, view.x.to(x), view.y.to(y));
    },
  };
}

function readHistory(chart, view, showText, data) {
  const { rounds, best, weights, names, times, box } = data;
  const [left, right, top, bottom] = box;
  const last = rounds.length - 1;
  const place = (i) => left + ((rounds[i] - rounds[0]) / Math.max(1, rounds[last] - rounds[0])) * (right - left);
  const known = (weight) => (typeof weight === "number" ? weight : 0);
  const written = (k, i) => `${names[k]}: ${typeof weights[k][i] === "number" ? weights[k][i].toFixed(3) : "-"}`;
  return {
    nearest({ x }) {
      let at = null;
      for (let i = 0; i <= last; i++) {
        if (at === null || Math.abs(view.x.to(place(i)) - x) < Math.abs(view.x.to(place(at.i)) - x)) at = { i };
      }
      return at;
    },
    neighbour(now, across) {
      if (last < 0) return null;
      const every = Math.max(1, Math.round((last * view.x.share()) / 60));
      const first = rounds.findIndex((_, i) => view.contains({ x: place(i), y: top }));
      return { i: now ? Math.max(0, Math.min(last, now.i + across * every)) : Math.max(0, first) };
    },
    place: ({ i }) => ({ x: place(i), y: top }),
    show({ i }) {
      const line = document.createElementNS(chart.namespaceURI, "path");
      line.setAttribute("class", "cursor");
      line.setAttribute("d", `M${view.x.to(place(i))},${top}V${bottom}`);
      chart.append(line);
      const heavy = weights.map((_, k) => k).sort((a, b) => known(weights[b][i]) - known(weights[a][i]));
      const others = heavy.filter((k) => k !== best[i]).slice(0, best[i] < 0 ? 3 : 2);
      const time = times[i] ? ` (${times[i]})` : "";
      const first = best[i] < 0 ? [] : [`best ${written(best[i], i)}`];
      const lines = [`Round ${rounds[i]}${time}`, ...first, ...others.map((k) => written(k, i))];
      return showText(lines.join("\n"), view.x.to(place(i)), top);
    },
  };
}
