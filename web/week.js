// What the machine of this page used in the last seven days, hour by hour, from its agent's almanac, and what the coming hours may bring.

import {CLASSES, CLASS_NAMES, cores, bytes, make, legend} from './format.js';
import {TimeChart} from './chart.js';
import {getJson} from './feed.js';

const DAY = 24 * 3600 * 1000, HOURS = 168, AGAIN = 10 * 60 * 1000;
const subjectOf = name => name === 'other' ? 'system' : `class/${name}`;

// Answers of one subject each → points of a chart, an hour each. Exported for tests.
export function pointsOf(node, classes) {
  const points = new Map();
  for (const cell of node.cells)
    points.set(Date.parse(cell.start), {t: Date.parse(cell.start), cpu: {}, max: cell.cpuMilli.max / 1000});
  for (const [name, answer] of Object.entries(classes))
    for (const cell of answer.cells) {
      const point = points.get(Date.parse(cell.start));
      if (point) point.cpu[name] = cell.cpuMilli.mean / 1000;
    }
  return [...points.values()].sort((a, b) => a.t - b.t);
}

export function comingText(answer) {
  if (!answer.coming) return 'What the coming hours may bring is not known yet: the same hours of yesterday or last week are missing.';
  return `In the coming two hours, by yesterday and last week: up to ${cores(answer.coming.cpuMilli / 1000)} cores and ${bytes(answer.coming.memoryMiB * 1048576)} of memory.`;
}

function weekChart() {
  return new TimeChart({
    title: 'CPU in use by class over the last seven days, in cores, mean of each hour', height: 200, unit: value => cores(value), gap: 2.5 * 3600 * 1000,
    areas: [...CLASSES].reverse().map(name => ({name: CLASS_NAMES[name], colour: name, value: point => point.cpu[name]})),
    lines: [{name: 'most of the hour', colour: 'budget', dash: [2, 3], value: point => point.max}],
    top: points => Math.max(1, ...points.map(point => point.max)),
  });
}

export function weekPart(place) {
  const chart = weekChart(), said = make('p'), card = make('div', {class: 'card', id: 'week'});
  let timer = null, closed = false;
  const ask = subject => getJson(`api/almanac?subject=${subject}&hours=${HOURS}&step=60`);
  async function draw() {
    try {
      const [node, coming, ...classes] = await Promise.all([ask('node'), getJson('api/almanac?subject=node&ahead=2'), ...CLASSES.map(name => ask(subjectOf(name)))]);
      if (closed) return;
      const points = pointsOf(node, Object.fromEntries(CLASSES.map((name, i) => [name, classes[i]])));
      if (!card.isConnected) place.append(card);
      card.replaceChildren(make('h3', {}, 'Last week'), legend(false), points.length ? chart.element : make('p', {class: 'empty'}, 'The first hour is not over yet.'), said);
      said.textContent = comingText(coming);
      chart.set(points, [], 7 * DAY);
    } catch { /* no almanac beside this page, or no connection: the next round asks again */ }
    if (!closed) timer = setTimeout(draw, AGAIN);
  }
  draw();
  return {close() { closed = true; clearTimeout(timer); }};
}
