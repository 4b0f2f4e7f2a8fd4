// Many nodes at one look: a cell for each, coloured by a figure that the reader chooses, a histogram of that figure, and the
// nodes that stand out by name. One canvas, drawn once per change: five thousand cells are a few milliseconds.

import {cores, percent, ago, make} from './format.js';

const share = (part, whole) => whole > 0 && part !== null && part !== undefined ? part / whole : null;
export const FIGURES = [
  {name: 'CPU in use', value: node => share(node.cpu.used, node.cpu.capacity), text: percent, top: 1},
  {name: 'memory in use', value: node => share(node.memory.used, node.memory.capacity), text: percent, top: 1},
  {name: 'CPU used by BE', value: node => share(node.cpu.classes?.BE ?? (node.cpu.used === null ? null : 0), node.cpu.capacity), text: percent, top: 1},
  {name: 'batch cores taken', value: node => share(node.batchCpu.asked, node.batchCpu.total), text: percent, top: 1},
  {name: 'batch cores for sale', value: node => node.batchCpu.total, text: cores},
  {name: 'pods', value: node => node.pods, text: value => value.toFixed(0)},
  {name: 'age of the measurement', value: node => node.measured === null ? null : Math.max(0, (Date.now() - node.measured) / 1000), text: value => ago(value).replace(' ago', '')}];

// Cividis: from dark blue to yellow, the same for every kind of eye.
const STOPS = [[0, 34, 78], [53, 69, 108], [102, 105, 112], [148, 142, 119], [200, 184, 102], [254, 232, 56]];
export function heatColour(part) {
  const at = Math.min(1, Math.max(0, part)) * (STOPS.length - 1), low = Math.min(STOPS.length - 2, Math.floor(at));
  return `rgb(${STOPS[low].map((from, i) => Math.round(from + (STOPS[low + 1][i] - from) * (at - low))).join(' ')})`;
}

export function median(values) {
  if (!values.length) return null;
  const order = [...values].sort((a, b) => a - b), middle = order.length >> 1;
  return order.length % 2 ? order[middle] : (order[middle - 1] + order[middle]) / 2;
}

// Those far from the middle, by the median of the distances: a few wild ones do not move it. `least` is what counts as far at all.
export function outliers(rows, least) {
  const middle = median(rows.map(row => row.value));
  const spread = 1.4826 * (median(rows.map(row => Math.abs(row.value - middle))) ?? 0);
  const limit = Math.max(3.5 * spread, least);
  return {middle, found: rows.filter(row => Math.abs(row.value - middle) > limit).sort((a, b) => Math.abs(b.value - middle) - Math.abs(a.value - middle))};
}

export function bins(values, top, count = 10) {
  const out = Array(count).fill(0);
  for (const value of values) out[Math.min(count - 1, Math.max(0, Math.floor(value / top * count)))]++;
  return out;
}

export function heatMap() {
  let figure = FIGURES[0], order = 'figure', nodes = [], rows = [], top = 1, cell = 10, perLine = 1, at = null, range = null;
  const canvas = make('canvas', {class: 'heat', role: 'img', tabindex: '0'}), tip = make('div', {class: 'tip'});
  const histogram = make('div', {class: 'histogram', role: 'group', 'aria-label': 'Histogram; a bar shows its nodes alone'}), named = make('div');
  const choose = (label, names, picked) => make('select', {'aria-label': label, onchange: event => { picked(event.target.value); set(nodes); }},
    names.map(([value, name]) => make('option', {value}, name)));
  const figures = choose('Figure shown', FIGURES.map((one, i) => [i, one.name]), value => { figure = FIGURES[value]; range = null; });
  const orders = choose('Order of the nodes', [['figure', 'highest first'], ['lowest', 'lowest first'], ['name', 'by name']], value => { order = value; });
  const scale = make('ul', {class: 'legend'});
  const element = make('div', {class: 'card'}, make('div', {class: 'tools'}, figures, orders, scale), make('div', {class: 'chart'}, canvas, tip),
    make('h3', {}, 'How many nodes'), histogram, make('h3', {}, 'Standing out'), named);

  const compare = (a, b) => (a.node.name < b.node.name ? -1 : 1);
  function set(next) {
    nodes = next;
    const all = nodes.map(node => ({node, value: figure.value(node)}));
    const known = all.filter(row => row.value !== null);
    top = figure.top ?? Math.max(1e-9, ...known.map(row => row.value));
    rows = range ? known.filter(row => Math.min(9, Math.floor(row.value / top * 10)) === range - 1) : all;
    const sign = order === 'lowest' ? 1 : -1;
    rows.sort(order === 'name' ? compare : (a, b) => sign * ((a.value ?? -1) - (b.value ?? -1)) || compare(a, b));
    drawHistogram(known.map(row => row.value));
    nameOutliers(known);
    scale.replaceChildren(...[0, 0.25, 0.5, 0.75, 1].map(part => make('li', {}, make('i', {style: `background: ${heatColour(part)}`}), figure.text(part * top))),
      make('li', {}, make('i', {class: 'unready'}), 'not ready'), make('li', {}, make('i', {class: 'unmeasured'}), 'not measured'));
    draw();
  }

  function drawHistogram(values) {
    const counts = bins(values, top), most = Math.max(1, ...counts);
    histogram.replaceChildren(...counts.map((count, i) => make('button', {
      type: 'button', 'aria-pressed': range === i + 1 ? 'true' : 'false', title: `${figure.text(i / 10 * top)} to ${figure.text((i + 1) / 10 * top)}: ${count} nodes`,
      onclick: () => { range = range === i + 1 ? null : i + 1; set(nodes); }},
      make('span', {}, count ? String(count) : ''), make('i', {style: `height: ${Math.round(60 * count / most)}px; background: ${heatColour((i + 0.5) / 10)}`}), make('small', {}, figure.text(i / 10 * top)))));
  }

  function nameOutliers(known) {
    const {middle, found} = outliers(known, figure.top ? 0.1 : 0.1 * top);
    const link = node => make('a', {href: `#/node/${encodeURIComponent(node.name)}`}, node.name);
    const ill = nodes.filter(node => !node.ready).slice(0, 20);
    const line = (what, list) => make('p', {}, `${what}: `, list.flatMap((part, i) => i ? [', ', ...part] : part));
    named.replaceChildren(
      ...(ill.length ? [line(`${nodes.filter(node => !node.ready).length} not ready`, ill.map(node => [link(node)]))] : []),
      known.length ? found.length
        ? line(`${found.length} far from the middle (${figure.text(middle)})`, found.slice(0, 12).map(row => [link(row.node), ` ${figure.text(row.value)}`]))
        : make('p', {class: 'empty'}, `No node is far from the middle, ${figure.text(middle)}.`)
        : make('p', {class: 'empty'}, 'No node was measured yet.'));
  }

  function draw() {
    const width = canvas.clientWidth, ratio = window.devicePixelRatio || 1;
    if (!width) return;
    cell = Math.max(6, Math.min(26, Math.floor(Math.sqrt(width * 420 / Math.max(1, rows.length)))));
    perLine = Math.max(1, Math.floor(width / cell));
    const height = Math.max(1, Math.ceil(rows.length / perLine)) * cell;
    canvas.style.height = `${height}px`;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.setAttribute('aria-label', `${rows.length} nodes by ${figure.name}; arrow keys move, Enter opens`);
    canvas.dataset.cells = rows.length;  // for tests
    const pen = canvas.getContext('2d'), style = getComputedStyle(document.documentElement);
    pen.scale(ratio, ratio);
    rows.forEach((row, i) => {
      const x = i % perLine * cell, y = Math.floor(i / perLine) * cell, side = cell - 1;
      if (row.value === null) { pen.strokeStyle = style.getPropertyValue('--soft'); pen.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1); }
      else { pen.fillStyle = heatColour(row.value / top); pen.fillRect(x, y, side, side); }
      if (!row.node.ready) {
        pen.strokeStyle = style.getPropertyValue('--bad'); pen.lineWidth = 2;
        pen.beginPath(); pen.moveTo(x, y); pen.lineTo(x + side, y + side); pen.moveTo(x + side, y); pen.lineTo(x, y + side); pen.stroke(); pen.lineWidth = 1;
      }
    });
    if (at !== null && rows[at]) {
      pen.strokeStyle = style.getPropertyValue('--ink'); pen.lineWidth = 2;
      pen.strokeRect(at % perLine * cell, Math.floor(at / perLine) * cell, cell - 1, cell - 1);
    }
  }

  function show(index) {
    at = rows[index] ? index : null;
    draw();
    if (at === null) { tip.style.display = 'none'; return; }
    const {node, value} = rows[at], x = at % perLine * cell, y = Math.floor(at / perLine) * cell;
    tip.replaceChildren(make('b', {}, node.name), make('div', {}, `${figure.name}: ${value === null ? 'not measured' : figure.text(value)}`), make('div', {}, `${node.pods} pods${node.ready ? '' : ', not ready'}`));
    tip.style.display = 'block';
    tip.style.left = `${x > canvas.clientWidth / 2 ? x - tip.offsetWidth - 8 : x + cell + 8}px`;
    tip.style.top = `${y}px`;
  }
  const open = () => { if (rows[at]) location.hash = `#/node/${encodeURIComponent(rows[at].node.name)}`; };
  const under = event => event.offsetX < perLine * cell ? Math.floor(event.offsetY / cell) * perLine + Math.floor(event.offsetX / cell) : -1;
  canvas.addEventListener('pointermove', event => show(under(event)));
  canvas.addEventListener('pointerleave', () => show(-1));
  canvas.addEventListener('click', event => { show(under(event)); open(); });
  canvas.addEventListener('keydown', event => {
    const step = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: perLine, ArrowUp: -perLine}[event.key];
    if (step) show(Math.min(rows.length - 1, Math.max(0, (at ?? -step) + step)));
    else if (event.key === 'Enter') open();
    else return;
    event.preventDefault();
  });
  new ResizeObserver(draw).observe(canvas);
  return {element, set};
}
