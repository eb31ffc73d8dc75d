// Readers of charts. A reader finds the reading nearest to a position, and the neighbour of a reading; it also shows a
// reading, with a function that shows text beside a position of the chart.
"use strict";

function readPanel(chart, showTip) {
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
      const far = (point) => Math.hypot(point.x - x, point.y - y);
      const best = shown().flat().reduce((a, b) => (a && far(a) <= far(b) ? a : b), null);
      return best && far(best) < reach ? best : null;
    },
    neighbour(now, across, down) {
      const rows = shown();
      if (!rows.length) return null;
      const at = rows.findIndex((row) => row.includes(now));
      if (at < 0) return rows[0][0];
      const row = rows[(at + down + rows.length) % rows.length];
      return row[Math.max(0, Math.min(row.length - 1, rows[at].indexOf(now) + across))];
    },
    show({ mark, text, x, y }) {
      mark.classList.add("read");
      chart.classList.add("reading");
      mark.closest(".series").classList.add("near");
      showTip(text, chart, x, y);
    },
  };
}

function readHistory(chart, showTip) {
  const data = JSON.parse(chart.closest("figure").querySelector("script").textContent);
  const { rounds, best, weights, names, times, box } = data;
  const [left, right, top, bottom] = box;
  const last = rounds.length - 1;
  const place = (i) => left + ((rounds[i] - rounds[0]) / Math.max(1, rounds[last] - rounds[0])) * (right - left);
  const written = (k, i) => `${names[k]}: ${weights[k][i] === null ? "-" : weights[k][i].toFixed(3)}`;
  const every = Math.max(1, Math.round(last / 60));
  return {
    nearest({ x }) {
      let at = null;
      for (let i = 0; i <= last; i++) {
        if (at === null || Math.abs(place(i) - x) < Math.abs(place(at.i) - x)) at = { i };
      }
      return at;
    },
    neighbour(now, across) {
      if (last < 0) return null;
      return { i: now ? Math.max(0, Math.min(last, now.i + across * every)) : 0 };
    },
    show({ i }) {
      const line = document.createElementNS(chart.namespaceURI, "path");
      line.setAttribute("class", "cursor");
      line.setAttribute("d", `M${place(i)},${top}V${bottom}`);
      chart.append(line);
      const heavy = weights.map((_, k) => k).sort((a, b) => weights[b][i] - weights[a][i]);
      const others = heavy.filter((k) => k !== best[i]).slice(0, best[i] < 0 ? 3 : 2);
      const time = times[i] ? ` (${times[i]})` : "";
      const first = best[i] < 0 ? [] : [`best ${written(best[i], i)}`];
      const lines = [`Round ${rounds[i]}${time}`, ...first, ...others.map((k) => written(k, i))];
      showTip(lines.join("\n"), chart, place(i), top);
    },
  };
}

