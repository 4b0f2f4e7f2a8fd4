// The migrations page: moves of pods as arrows between nodes, then each with its reason, proof, state
// and account, then those that were asked about and stay. A function of where to put itself, as the other pages.

import {ago, clock, make} from './format.js';
import {getJson} from './feed.js';
import {openReason} from './app.js';

const MOST_NODES = 24;

function svg(tag, attributes, text) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.textContent = text;
  return element;
}

// Sources on the left, targets on the right; an arrow is as thick as it has moves.
function arrows(list) {
  const from = [...new Set(list.map(one => one.from))].slice(0, MOST_NODES), to = [...new Set(list.map(one => one.to))].slice(0, MOST_NODES);
  const line = 26, width = 640, left = 180, right = width - 180, height = line * Math.max(from.length, to.length) + 8;
  const at = index => line * index + line / 2 + 4;
  const said = list.map(one => `${one.moves} from ${one.from} to ${one.to}`).join(', ');
  const picture = svg('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `Moves between nodes: ${said}`, style: `max-width: ${width}px; width: 100%`});
  for (const one of list) {
    const a = from.indexOf(one.from), b = to.indexOf(one.to);
    if (a < 0 || b < 0) continue;
    const thick = Math.min(8, 1 + one.moves);
    picture.append(svg('line', {x1: left, y1: at(a), x2: right - 8, y2: at(b), stroke: 'var(--LSR)', 'stroke-width': thick}),
      svg('path', {d: `M${right},${at(b)}l-10,-6v12z`, fill: 'var(--LSR)'}),
      svg('text', {x: left + (right - left) * 0.3, y: at(a) + (at(b) - at(a)) * 0.3 - 5, fill: 'currentColor', 'font-size': 12}, String(one.moves)));
  }
  from.forEach((name, i) => picture.append(svg('text', {x: left - 8, y: at(i) + 4, 'text-anchor': 'end', fill: 'currentColor', 'font-size': 13}, name)));
  to.forEach((name, i) => picture.append(svg('text', {x: right + 8, y: at(i) + 4, fill: 'currentColor', 'font-size': 13}, name)));
  return picture;
}

const figure = (value, unit) => value === null ? 'not known' : `${value.toFixed(1)} ${unit}`;
const change = (pair, unit = '%') => pair[1] === null ? `${figure(pair[0], unit)} before` : `${figure(pair[0], unit)} → ${figure(pair[1], unit)}`;
// What nobody measured or reported, before and after, is not shown.
function accountFacts(account) {
  if (!account) return [];
  const {source, target} = account;
  return [['source CPU', source.cpu], ['source memory', source.memory], ['source: services wait for CPU', source.waits],
    ['target CPU', target.cpu], ['target memory', target.memory], ['target: services wait for CPU', target.waits],
    ['the pod waits for CPU', account.podWaits], ['the pod is throttled', account.podThrottled], ['its latency', account.podLatencyMs, 'ms']]
    .filter(([, pair]) => pair && (pair[0] !== null || pair[1] !== null)).map(([name, pair, unit]) => [name, change(pair, unit)]);
}

function open(move) {
  openReason(`${move.pod}: ${move.from} → ${move.to || '?'}`, [
    ['job', move.name], ['why', move.why], ['proof', move.proof], ['phase', move.phase], ['state', move.state],
    ['begun', move.created ? new Date(move.created).toLocaleString() : ''], ['ended', move.ended ? new Date(move.ended).toLocaleString() : ''],
    ...accountFacts(move.account)]);
}

const paid = move => move.paid === null ? '–' : move.paid ? 'yes' : 'no';
function row(move) {
  return make('tr', {}, make('td', {}, make('button', {type: 'button', onclick: () => open(move)}, move.pod)), make('td', {}, move.from), make('td', {}, move.to || '?'),
    make('td', {}, move.phase), make('td', {}, move.state), make('td', {}, move.why),
    make('td', {}, move.created ? `${clock(move.created)}, ${ago((Date.now() - move.created) / 1000)}` : '–'), make('td', {}, paid(move)));
}

function table(moves) {
  const head = ['Pod', 'From', 'To', 'Phase', 'State', 'Why', 'Begun', 'Paid'].map(title => make('th', {scope: 'col'}, title));
  return make('div', {class: 'scroll'}, make('table', {}, make('thead', {}, make('tr', {}, head)), make('tbody', {}, moves.map(row))));
}

function staying(list, count) {
  const head = ['Pod', 'Node', 'Why'].map(title => make('th', {scope: 'col'}, title));
  const rows = list.map(one => make('tr', {}, make('td', {}, one.pod), make('td', {}, one.node || '–'), make('td', {}, one.why)));
  return make('div', {class: 'card'}, make('h3', {}, 'Asked about, and they stay'),
    ...(count > list.length ? [make('p', {}, `${count} pods; ${list.length} of them are shown.`)] : []),
    make('div', {class: 'scroll'}, make('table', {}, make('thead', {}, make('tr', {}, head)), make('tbody', {}, rows))));
}

export function migrations(place) {
  const filter = make('input', {type: 'search', placeholder: 'filter pods, nodes and reasons', 'aria-label': 'Filter migrations', oninput: () => draw()});
  const content = make('div');
  let found = null, timer = null, closed = false;
  place.append(make('h2', {}, 'Migrations'), make('div', {class: 'tools'}, filter), content);
  function draw() {
    if (!found) return;
    const stays = (found.stays ?? []).filter(one => `${one.pod} ${one.node} ${one.why}`.includes(filter.value));
    const kept = stays.length ? [staying(stays, filter.value ? stays.length : found.staying)] : [];
    if (!found.moves?.length)
      return content.replaceChildren(make('p', {class: 'empty'}, 'There is no PodMigrationJob here, or this process does not watch the cluster.'), ...kept);
    const shown = found.moves.filter(move => `${move.pod} ${move.from} ${move.to} ${move.why} ${move.phase}`.includes(filter.value));
    content.replaceChildren(make('p', {}, `${found.underWay} under way, ${found.succeeded} succeeded, ${found.failed} failed.`),
      ...(found.arrows.length ? [make('div', {class: 'card'}, make('h3', {}, 'From where to where'), arrows(found.arrows))] : []),
      make('div', {class: 'card'}, shown.length ? table(shown) : make('p', {class: 'empty'}, 'No move is like that.')), ...kept);
  }
  async function ask() {
    try { found = await getJson('api/migrations'); if (!closed) draw(); } catch { /* the next round asks again */ }
    if (!closed) timer = setTimeout(ask, 3000);
  }
  ask();
  return {close() { closed = true; clearTimeout(timer); }};
}
