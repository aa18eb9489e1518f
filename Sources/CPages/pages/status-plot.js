"use strict";

const vector = "http://www.w3.org/2000/svg";
const span = 600;

function draw(tag, attributes, ...children) {
  const element = document.createElementNS(vector, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Lines at round numbers from zero to one that is not below the largest value. */
function evenLines(values, least = 0) {
  const largest = Math.max(1, ...values);
  const rough = largest / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max([1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= rough * 0.999), least);
  const lines = [];
  for (let value = 0; value < largest + step * 0.999; value += step) lines.push(value);
  return lines;
}

/** As evenLines, for what comes in wholes. */
function wholeLines(values) {
  return evenLines(values, 1);
}

/** Lines at powers of ten around all values, for what spans many sizes. */
function powerLines(values) {
  const positive = values.filter((one) => one > 0);
  const first = positive.length ? Math.floor(Math.log10(Math.min(...positive))) : -3;
  const last = positive.length ? Math.ceil(Math.log10(Math.max(...positive))) : 0;
  const lines = [];
  for (let power = first; power <= Math.max(last, first + 1); power += 1) lines.push(10 ** power);
  return lines;
}

/** The last ten minutes of some series, with what they are at the pointer, or now. */
class Plot {
  constructor(id, title, series, format, linesOf = evenLines, size = (value) => value) {
    Object.assign(this, { series, format, linesOf, size, points: [], at: null });
    this.figure = document.getElementById(id);
    this.keys = series.map((one) => make("b", {}, "–"));
    this.svg = draw("svg", { role: "img", "aria-label": title });
    this.figure.append(
      make("figcaption", {}, make("h2", {}, title), series.map((one, index) =>
        make("span", { class: "key" }, make("i", { class: one.color }), one.name + " ", this.keys[index]))),
      this.svg
    );
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => { this.at = null; this.show(); });
    new ResizeObserver(() => this.show()).observe(this.figure);
  }

  point(event) {
    const box = this.svg.getBoundingClientRect();
    const age = ((this.right - (event.clientX - box.left)) / (this.right - this.left)) * span;
    const nearest = this.points.reduce((best, one, index) =>
      (best === null || Math.abs(one.age - age) < Math.abs(this.points[best].age - age) ? index : best), null);
    this.at = nearest;
    this.show();
  }

  update(points) {
    this.points = points.filter((one) => one.age <= span + 10);
    if (this.at !== null) this.at = Math.min(this.at, this.points.length - 1);
    this.show();
  }

  show() {
    const width = Math.max(200, this.svg.clientWidth || this.figure.clientWidth - 32);
    const height = this.svg.clientHeight || 168;
    const values = this.points.flatMap((point) => this.series.map((one) => one.of(point))).filter((one) => one !== null);
    const lines = this.linesOf(values);
    const [low, top] = [this.size(lines[0]), this.size(lines.at(-1))];
    this.left = 52;
    this.right = width - 6;
    const base = height - 22;
    const x = (age) => this.right - (Math.min(age, span) / span) * (this.right - this.left);
    const y = (value) => base - ((Math.max(this.size(value), low) - low) / (top - low)) * (base - 8);
    const parts = [];
    for (const value of lines) {
      parts.push(draw("line", { class: "grid", x1: this.left, x2: this.right, y1: y(value), y2: y(value) }));
      parts.push(draw("text", { class: "tick", x: this.left - 7, y: y(value) + 4, "text-anchor": "end" }, this.format(value)));
    }
    for (const minutes of width < 480 ? [10, 5, 0] : [10, 8, 6, 4, 2, 0]) {
      const anchor = minutes === 0 ? "end" : minutes === 10 ? "start" : "middle";
      parts.push(draw("text", { class: "tick", x: x(minutes * 60), y: height - 4, "text-anchor": anchor }, minutes ? "−" + minutes + " min" : "now"));
    }
    for (const one of this.series) parts.push(...this.lines(one, x, y, base));
    const shown = this.at === null ? this.points.length - 1 : this.at;
    const point = this.points[shown];
    if (this.at !== null && point) {
      parts.push(draw("line", { class: "cursor", x1: x(point.age), x2: x(point.age), y1: 4, y2: base }));
    }
    this.series.forEach((one, index) => {
      const value = point ? one.of(point) : null;
      this.keys[index].textContent = value === null ? "–" : this.format(value);
      if (this.at !== null && value !== null) {
        parts.push(draw("circle", { class: "dot " + one.color, cx: x(point.age), cy: y(value), r: 3.5 }));
      }
    });
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.replaceChildren(...parts);
  }

  /** Line pieces between the gaps where a series has no value, with the area below if it asks for one. */
  lines(series, x, y, base) {
    const pieces = [];
    let piece = [];
    for (const point of this.points) {
      const value = series.of(point);
      if (value === null) { if (piece.length) pieces.push(piece); piece = []; }
      else piece.push([x(point.age), y(value)]);
    }
    if (piece.length) pieces.push(piece);
    return pieces.flatMap((one) => {
      const path = one.map(([px, py], index) => (index ? "L" : "M") + px.toFixed(1) + " " + py.toFixed(1)).join("");
      if (one.length === 1) return [draw("circle", { class: "dot " + series.color, cx: one[0][0], cy: one[0][1], r: 1.8 })];
      const line = draw("path", { class: "line " + series.color, d: path });
      if (!series.fills) return [line];
      const area = path + `L${one.at(-1)[0].toFixed(1)} ${base}L${one[0][0].toFixed(1)} ${base}Z`;
      return [draw("path", { class: "area " + series.color, d: area }), line];
    });
  }
}
