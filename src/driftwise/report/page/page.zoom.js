// The part of a chart that is shown. A window is a part of each axis, in positions of the whole chart; shapes are moved
// to where they are in the window, and the axes get new ticks. The shapes of the whole chart come back unchanged.
"use strict";

function startView(chart, data) {
  const [left, right, top, bottom] = data.box;
  const most = 64; // times larger than the whole chart
  const svg = (name, attributes, text = "") => {
    const made = document.createElementNS(chart.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    return made;
  };

  function axis(start, end, scale) {
    return {
      start,
      end,
      scale, // undefined for an axis that does not zoom
      low: start,
      high: end,
      to(place) {
        return this.start + ((place - this.low) / (this.high - this.low)) * (this.end - this.start);
      },
      from(place) {
        return this.low + ((place - this.start) / (this.end - this.start)) * (this.high - this.low);
      },
      share() {
        return (this.high - this.low) / (this.end - this.start);
      },
      // Show the part between two places, inside the chart and not smaller than the smallest window.
      set(low, high) {
        if (!this.scale) return;
        const whole = this.end - this.start;
        const size = Math.min(whole, Math.max(whole / most, high - low));
        const middle = (low + high) / 2;
        this.low = Math.max(this.start, Math.min(this.end - size, middle - size / 2));
        this.high = size === whole ? this.end : this.low + size;
      },
      // The numbers at the start and the end of the scale, as logarithms if it has them.
      ends() {
        const { low, high, start: from, end: to } = this.scale;
        const at = (place) => low + ((place - from) / (to - from)) * (high - low);
        return [at(this.low), at(this.high)].sort((a, b) => a - b);
      },
    };
  }

  const x = axis(left, right, data.x);
  const y = axis(top, bottom, data.y);
  const view = { x, y, svg };
  const axes = [x, y];

  // ---- Shapes of the whole chart ----

  const clip = chart.querySelector("clipPath") ?? svg("clipPath", { id: `${chart.closest("figure").id}-clip` });
  if (!clip.isConnected) {
    clip.append(svg("rect", { x: left, y: top, width: right - left, height: bottom - top }));
    chart.prepend(clip);
  }
  const selector = ".curve, .band, .bound, .whisker, .center, .area, .changes path";
  const shapes = [...chart.querySelectorAll(selector)].map((shape) => ({
    shape,
    outline: shape.getAttribute("d"),
    from: shape.getAttribute("x"),
    width: shape.getAttribute("width"),
    clip: shape.getAttribute("clip-path"),
  }));
  const points = [...chart.querySelectorAll(".point")].map((point) => {
    const { e, f } = point.transform.baseVal.consolidate().matrix;
    return { point, x: e, y: f, transform: point.getAttribute("transform") };
  });
  const groups = ["rules", "across", "up"].map((name) => chart.querySelector(`.axes .${name}`));
  const ticks = groups.map((group) => (group ? [...group.childNodes] : []));

  function moved(outline) {
    return outline.replace(/([MLHV])([^MLHVvhz]*)/g, (_, command, numbers) => {
      if (!numbers) return command; // there are no rounds
      const [a, b] = numbers.split(",").map(Number);
      if (command === "H") return `H${x.to(a).toFixed(2)}`;
      if (command === "V") return `V${y.to(a).toFixed(2)}`;
      return `${command}${x.to(a).toFixed(2)},${y.to(b).toFixed(2)}`;
    });
  }

  function draw() {
    const zoomed = view.zoomed();
    chart.classList.toggle("zoomed", zoomed);
    for (const { shape, outline, from, width, clip: own } of shapes) {
      if (outline === null) {
        shape.setAttribute("x", zoomed ? x.to(Number(from)) : from);
        shape.setAttribute("width", zoomed ? width / x.share() : width);
      } else shape.setAttribute("d", zoomed ? moved(outline) : outline);
      if (zoomed) shape.setAttribute("clip-path", `url(#${clip.id})`);
      else if (own) shape.setAttribute("clip-path", own);
      else shape.removeAttribute("clip-path");
    }
    for (const { point, x: across, y: down, transform } of points) {
      const moved = `translate(${x.to(across).toFixed(2)},${y.to(down).toFixed(2)})`;
      point.setAttribute("transform", zoomed ? moved : transform);
      point.classList.toggle("out", !view.contains({ x: across, y: down }));
    }
    groups.forEach((group, i) => group?.replaceChildren(...ticks[i]));
    if (zoomed) drawTicks();
  }

  // ---- Axes ----

  function drawTicks() {
    const [rules, across, up] = groups;
    const xTicks = ticksOf(x);
    if (data.rules === "x") {
      rules.replaceChildren(...xTicks.map((tick) => rule(tick, `M${tick.at},${top}V${bottom}`)));
    }
    const marks = data.rules === "x" ? [] : xTicks.map(({ at }) => svg("path", { d: `M${at},${data.foot}v4` }));
    const below = xTicks.map(({ at, text }) => svg("text", { x: at, y: data.foot + 18, class: "middle" }, text));
    across?.replaceChildren(...marks, ...below);
    if (!data.y) return;
    const yTicks = ticksOf(y);
    rules.replaceChildren(...yTicks.map((tick) => rule(tick, `M${left},${tick.at}H${right}`)));
    const fits = yTicks.every(({ text }) => text.length * 8.4 + 10 <= left); // 8.4: of a digit on narrow screens
    const beside = (at) => (fits ? { x: left - 7, y: at + 4, class: "end" } : { x: left + 3, y: at - 3, class: "inside" });
    up.replaceChildren(...yTicks.map(({ at, text }) => svg("text", beside(at), text)));
  }

  // A grid line; that at zero is marked, as in the whole chart.
  function rule({ number }, d) {
    const { low, high, log } = data.rules === "x" ? data.x : data.y;
    return svg("path", number === 0 && !log && low < 0 && high > 0 ? { d, class: "zero" } : { d });
  }

  // The ticks of an axis: their numbers, positions in the chart, and texts.
  function ticksOf(one) {
    const { scale } = one;
    const [low, high] = one.ends();
    const value = (number) => (scale.log ? Math.log10(number) : number);
    const { low: first, high: last, start, end } = scale;
    const at = (number) => one.to(start + ((value(number) - first) / (last - first)) * (end - start));
    const found = scale.times?.[1].length ? timesBetween(scale.times, low, high, value) : numbersBetween(scale, low, high);
    return found.map(([number, text]) => ({ number, text, at: Number(at(number).toFixed(2)) }));
  }

  view.zoomed = () => axes.some((one) => one.share() < 0.999);
  view.contains = (place) => axes.every((one, i) => {
    const at = i ? place.y : place.x;
    return !one.scale || (at >= one.low - 0.01 && at <= one.high + 0.01);
  });
  view.show = (windows) => {
    axes.forEach((one, i) => one.set(...(windows[i] ?? [one.low, one.high])));
    draw();
  };
  view.whole = () => view.show(axes.map((one) => [one.start, one.end]));
  // The point nearest to the middle of the window, so that there is something to see around it; else the middle.
  function middle() {
    const [across, down] = axes.map((one) => (one.low + one.high) / 2);
    const far = (point) => Math.hypot(point.x - across, point.y - down);
    const visible = points.filter((point) => view.contains(point) && !point.point.closest(".off"));
    return visible.reduce((a, b) => (a && far(a) <= far(b) ? a : b), null) ?? { x: across, y: down };
  }

  // Make the window smaller by a factor, around a place, or larger if it is below 1.
  view.scale = (factor, place) => {
    const { x: across, y: down } = place && view.contains(place) ? place : middle();
    const around = [across, down];
    view.show(axes.map((one, i) => {
      const half = (one.high - one.low) / (2 * factor);
      return [around[i] - half, around[i] + half];
    }));
  };
  view.move = (across, down) => {
    const steps = [across, down].map((step, i) => (step * (axes[i].high - axes[i].low)) / 4);
    view.show(axes.map((one, i) => [one.low + steps[i], one.high + steps[i]]));
  };
  // Move the window so that a place is in it.
  view.reveal = (place) => {
    if (view.contains(place)) return;
    view.show(axes.map((one, i) => {
      const at = i ? place.y : place.x;
      if (at >= one.low && at <= one.high) return [one.low, one.high];
      return [at - (one.high - one.low) / 2, at + (one.high - one.low) / 2];
    }));
  };
  view.text = () => {
    const parts = axes.filter((one) => one.scale).map((one) => {
      const [low, high] = one.ends().map((end) => (one.scale.log ? 10 ** end : end));
      return `${one.scale.label} from ${Number(low.toPrecision(4))} to ${Number(high.toPrecision(4))}`;
    });
    return view.zoomed() ? `Shown: ${parts.join(", ")}.` : "The whole figure is shown.";
  };
  return view;
}

// Times between two ends of a scale, so few that their texts fit below a chart.
function timesBetween([rounds, texts], low, high, value) {
  const inside = rounds.map((round, i) => [round, texts[i]]).filter(([round]) => value(round) >= low && value(round) <= high);
  const longest = Math.max(1, ...inside.map(([, text]) => text.length));
  const every = Math.ceil(inside.length / Math.max(1, Math.min(7, Math.floor(52 / (longest + 3)))));
  return inside.filter((_, i) => i % every === Math.floor(every / 2));
}

// Round numbers between two ends of a scale, logarithms if it is logarithmic, with their texts.
function numbersBetween(scale, low, high) {
  if (scale.log && high - low >= 0.6) { // as many decades as hold at least one of 1, 2, 5
    const powers = Array.from({ length: Math.ceil(high) - Math.floor(low) + 1 }, (_, i) => Math.floor(low) + i);
    const every = Math.ceil((high - low) / 7);
    let inside = [];
    for (const multiples of [[1, 2, 5], [1, 3], [1]]) {
      const all = powers.filter((power) => power % every === 0).flatMap((power) => multiples.map((m) => [m, power]));
      inside = all.filter(([m, power]) => Math.log10(m) + power >= low && Math.log10(m) + power <= high);
      if (inside.length <= 7) break;
    }
    return inside.map(([m, power]) => {
      const number = Number(`${m}e${power}`);
      return [number, power > -3 && power < 5 ? String(number) : withPower(String(m), power)];
    });
  }
  const [from, to] = scale.log ? [10 ** low, 10 ** high] : [low, high];
  let ticks = [];
  for (let power = Math.floor(Math.log10(to - from)) - 1; ; power++) {
    if (power < 0 && scale.whole) continue;
    for (const multiple of [1, 2, 5]) {
      const step = Number(`${multiple}e${power}`);
      const first = Math.ceil(from / step);
      const last = Math.floor(to / step);
      if (ticks.length && last <= first) return ticks;
      const places = Array.from({ length: last - first + 1 }, (_, i) => (first + i) * multiple);
      const texts = textsOf(places, power);
      ticks = places.map((place, i) => [Number(`${place}e${power}`), texts[i]]);
      const characters = texts.reduce((sum, text) => sum + text.length + 1, 0);
      if (ticks.length <= 7 && characters <= 48) return ticks;
    }
  }
}

// The texts of equally spaced multiples of a power of ten, all with the same number of decimals.
function textsOf(places, power) {
  const largest = Math.max(...places.map(Math.abs));
  const top = power + String(largest).length - 1;
  return places.map((place) => {
    if (place === 0) return "0";
    if (power >= -4 && top < 6) return Number(`${place}e${power}`).toFixed(Math.max(0, -power));
    return withPower((place / 10 ** (top - power)).toFixed(Math.max(0, top - power)), top);
  });
}

function withPower(multiple, power) {
  const ten = `10${[...String(power)].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).join("")}`;
  return { 1: ten, "-1": `-${ten}` }[multiple] ?? `${multiple}·${ten}`;
}
