// Charts over time on a canvas: stacked areas, lines, and marks that can be opened. One scale of
// time for all charts of a page; drawn once per tick, not per frame.

import {make, clock, day} from './format.js';

const MARGIN = {left: 44, right: 10, top: 8, bottom: 20};

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || name;
}

// A round step so that about `count` lines fit into `range`.
export function niceStep(range, count) {
  const raw = range / Math.max(1, count), power = 10 ** Math.floor(Math.log10(raw || 1));
  return [1, 2, 5, 10].map(f => f * power).find(step => step >= raw) ?? power;
}

// A mark's shape says its kind also where colours do not: an SVG path around (x, y).
export function shapeAt(shape, x, y, r) {
  if (shape === 'up') return `M${x - r} ${y + r}H${x + r}L${x} ${y - r}Z`;
  if (shape === 'cross') return `M${x - r} ${y - r / 3}H${x - r / 3}V${y - r}H${x + r / 3}V${y - r / 3}H${x + r}V${y + r / 3}H${x + r / 3}V${y + r}H${x - r / 3}V${y + r / 3}H${x - r}Z`;
  if (shape === 'box') return `M${x - r * .7} ${y - r * .7}h${r * 1.4}v${r * 1.4}h${-r * 1.4}Z`;
  return `M${x - r} ${y - r}H${x + r}L${x} ${y + r}Z`;
}

export class TimeChart {
  // options: {title, height, unit(value), areas: [{name, colour, value(point)}], lines: [{name, colour, dash, value}],
  //           top(points) → least upper end of the scale, gap: ms without a point that are a hole (5 s)}
  constructor(options) {
    this.options = options;
    this.canvas = make('canvas', {role: 'img', tabindex: '0', 'aria-label': options.title});
    this.tip = make('div', {class: 'tip'});
    this.element = make('div', {class: 'chart'}, this.canvas, this.tip);
    this.points = [];
    this.marks = [];
    this.canvas.addEventListener('pointermove', event => this.hover(event.offsetX));
    this.canvas.addEventListener('pointerleave', () => { this.at = null; this.tip.style.display = 'none'; this.draw(); });
    this.canvas.addEventListener('click', event => this.open(event.offsetX));
    this.canvas.addEventListener('keydown', event => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  // points: ascending {t: ms, …}; marks: {t, label, open()}.
  set(points, marks, span) {
    this.points = points;
    this.marks = marks;
    this.end = points.length ? points[points.length - 1].t : Date.now();
    this.begin = this.end - span;
    this.draw();
  }

  x(t) { return MARGIN.left + (t - this.begin) / (this.end - this.begin) * (this.width - MARGIN.left - MARGIN.right); }
  y(value) { return this.height - MARGIN.bottom - value / this.max * (this.height - MARGIN.top - MARGIN.bottom); }

  draw() {
    const ratio = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    this.height = this.options.height;
    if (!this.width || this.end === undefined) return;
    this.canvas.style.height = `${this.height}px`;
    this.canvas.width = this.width * ratio;
    this.canvas.height = this.height * ratio;
    const pen = this.canvas.getContext('2d');
    pen.scale(ratio, ratio);
    const seen = this.points.filter(point => point.t >= this.begin);
    this.seen = seen;
    this.max = this.options.top(seen) || 1;
    this.grid(pen);
    pen.save();
    pen.beginPath();
    pen.rect(MARGIN.left, 0, this.width - MARGIN.left - MARGIN.right, this.height - MARGIN.bottom + 1);
    pen.clip();
    this.areas(pen, seen);
    for (const line of this.options.lines ?? []) this.line(pen, seen, line);
    this.drawMarks(pen);
    if (this.at !== null && this.at !== undefined) this.cursor(pen);
    pen.restore();
  }

  runs(points) { return runs(points, this.options.gap ?? 5000); }

  grid(pen) {
    pen.font = '11px system-ui, sans-serif';
    pen.strokeStyle = colour('line');
    pen.fillStyle = colour('soft');
    pen.lineWidth = 1;
    pen.textAlign = 'right';
    const step = niceStep(this.max, this.height / 45);
    for (let value = 0; value <= this.max * 1.0001; value += step) {
      const y = Math.round(this.y(value)) + 0.5;
      pen.beginPath(); pen.moveTo(MARGIN.left, y); pen.lineTo(this.width - MARGIN.right, y); pen.stroke();
      pen.fillText(this.options.unit(value), MARGIN.left - 6, y + 4);
    }
    pen.textAlign = 'center';
    const span = this.end - this.begin, every = [10, 30, 60, 120, 300, 600, 3600, 21600, 86400].map(s => s * 1000).find(s => span / s * 70 < this.width) ?? 864e5;
    const text = every < 36e5 ? clock : day;
    for (let t = Math.ceil(this.begin / every) * every; t <= this.end; t += every)
      if (this.x(t) > MARGIN.left + 20 && this.x(t) < this.width - 24) pen.fillText(text(t), this.x(t), this.height - 5);
  }

  // From the bottom up; a gap in the points is a gap in the picture.
  areas(pen, seen) {
    const floor = seen.map(() => 0);
    for (const area of this.options.areas ?? []) {
      pen.fillStyle = colour(area.colour);
      pen.globalAlpha = 0.85;
      for (const [from, to] of this.runs(seen)) {
        pen.beginPath();
        for (let i = from; i < to; i++) pen.lineTo(this.x(seen[i].t), this.y(floor[i]));
        for (let i = to - 1; i >= from; i--) pen.lineTo(this.x(seen[i].t), this.y(floor[i] + (area.value(seen[i]) ?? 0)));
        pen.fill();
      }
      seen.forEach((point, i) => { floor[i] += area.value(point) ?? 0; });
    }
    pen.globalAlpha = 1;
  }

  line(pen, seen, line) {
    pen.strokeStyle = colour(line.colour);
    pen.lineWidth = 2;
    pen.setLineDash(line.dash ?? []);
    for (const [from, to] of this.runs(seen)) {
      pen.beginPath();
      for (let i = from; i < to; i++) {
        const value = line.value(seen[i]);
        if (value !== null && value !== undefined) pen.lineTo(this.x(seen[i].t), this.y(Math.min(value, this.max)));
      }
      pen.stroke();
    }
    pen.setLineDash([]);
  }

  drawMarks(pen) {
    const shown = this.marks.map(mark => Math.round(this.x(mark.t))).filter(x => x >= MARGIN.left);
    this.canvas.dataset.marks = shown.join(' ');  // where they are, for tests
    this.canvas.setAttribute('aria-label', `${this.options.title}; ${shown.length} decisions marked`);
    for (const mark of this.marks) {
      const x = this.x(mark.t);
      if (x < MARGIN.left) continue;
      pen.fillStyle = pen.strokeStyle = colour(mark.colour ?? 'bad');
      pen.lineWidth = 1;
      pen.beginPath(); pen.moveTo(x, MARGIN.top + 6); pen.lineTo(x, this.height - MARGIN.bottom); pen.globalAlpha = 0.35; pen.stroke(); pen.globalAlpha = 1;
      pen.fill(new Path2D(shapeAt(mark.shape, x, MARGIN.top + 5, 5)));
    }
  }

  cursor(pen) {
    const x = this.x(this.seen[this.at].t);
    pen.strokeStyle = colour('ink');
    pen.lineWidth = 1;
    pen.beginPath(); pen.moveTo(x, MARGIN.top); pen.lineTo(x, this.height - MARGIN.bottom); pen.stroke();
  }

  hover(offset) {
    if (!this.seen?.length) return;
    let best = 0;
    this.seen.forEach((point, i) => { if (Math.abs(this.x(point.t) - offset) < Math.abs(this.x(this.seen[best].t) - offset)) best = i; });
    this.show(best);
  }

  show(index) {
    this.at = index;
    const point = this.seen[index];
    const said = [...(this.options.areas ?? []), ...(this.options.lines ?? [])]
      .map(series => [series.name, series.value(point)]).filter(([, value]) => value !== null && value !== undefined && value > 0);
    this.tip.replaceChildren(make('b', {}, ((this.options.gap ?? 0) > 3600000 ? day : clock)(point.t)), ...said.map(([name, value]) => make('div', {}, `${name}: ${this.options.unit(value)}`)));
    this.tip.style.display = 'block';
    const x = this.x(point.t);
    this.tip.style.left = `${x > this.width / 2 ? x - this.tip.offsetWidth - 10 : x + 10}px`;
    this.tip.style.top = '12px';
    this.draw();
  }

  // The mark nearest to the pointer opens its reason.
  open(offset) {
    const near = this.marks.filter(mark => Math.abs(this.x(mark.t) - offset) < 12)
      .sort((a, b) => Math.abs(this.x(a.t) - offset) - Math.abs(this.x(b.t) - offset))[0];
    near?.open();
  }

  key(event) {
    if (!this.seen?.length) return;
    const last = this.seen.length - 1;
    if (event.key === 'ArrowLeft') this.show(Math.max(0, (this.at ?? last + 1) - 1));
    else if (event.key === 'ArrowRight') this.show(Math.min(last, (this.at ?? -1) + 1));
    else if (event.key === 'Enter' && this.at !== null && this.at !== undefined) this.open(this.x(this.seen[this.at].t));
    else return;
    event.preventDefault();
  }
}

// Index ranges without a hole of more than `gap`.
function runs(points, gap) {
  const out = [];
  let from = 0;
  for (let i = 1; i <= points.length; i++)
    if (i === points.length || points[i].t - points[i - 1].t > gap) { out.push([from, i]); from = i; }
  return out;
}
