// The cluster page: what is used, sold and asked for, now and over the last hour; who waits and why; who uses most; the last
// decisions; and every node, as tiles while they are few and as a heat map when they are many.

import {cores, bytes, percent, ago, make, qosBadge, classBar, legend, table} from './format.js';
import {TimeChart} from './chart.js';
import {known, getJson} from './feed.js';
import {decisionRows, noDecisions} from './views.js';
import {heatMap} from './heat.js';

const FEW_NODES = 40;  // more are a heat map
const HOUR = 3600 * 1000;

function sum(nodes, value) { return nodes.reduce((total, node) => total + (value(node) ?? 0), 0); }

function sums(nodes) {
  const capacity = sum(nodes, n => n.cpu.capacity), used = sum(nodes, n => n.cpu.used);
  const facts = [
    [String(nodes.length), nodes.length === 1 ? 'node' : 'nodes'],
    [percent(capacity ? used / capacity : null), `CPU in use, ${cores(used)} of ${cores(capacity)} cores`],
    [cores(sum(nodes, n => n.cpu.classes?.BE)), 'cores used by BE'],
    [cores(sum(nodes, n => n.batchCpu.total)), 'batch cores for sale'],
    [cores(sum(nodes, n => n.batchCpu.asked)), 'batch cores asked for'],
    ...(nodes.some(n => n.reserved) ? [[cores(sum(nodes, n => n.reserved?.cpu)), 'cores reserved for pods to come']] : []),
    [bytes(sum(nodes, n => n.memory.used)), `memory in use of ${bytes(sum(nodes, n => n.memory.capacity))}`]];
  return make('div', {class: 'card sums'}, facts.map(([value, name]) => make('div', {}, make('b', {}, value), make('span', {}, name))));
}

// ---- the last hour ---------------------------------------------------------------------------

function historyChart() {
  const line = (name, colour, dash, value) => ({name, colour, dash, value});
  return new TimeChart({
    title: 'Cores in use, for sale to batch work and asked for, over the last hour', height: 180, unit: value => cores(value), gap: 60000,
    areas: [{name: 'in use by BE', colour: 'BE', value: point => point.be}, {name: 'in use by others', colour: 'LS', value: point => Math.max(0, point.used - point.be)}],
    lines: [line('batch cores for sale', 'LSE', [6, 3], point => point.sold), line('batch cores asked for', 'budget', [2, 3], point => point.asked)],
    top: points => Math.max(1, ...points.map(point => Math.max(point.capacity, point.asked))),
  });
}

function pressureChart() {
  const line = (name, colour, dash) => ({name, colour, dash, value: point => point.psi?.[name] ?? null});
  return new TimeChart({
    title: 'Share of time in which something waited on the machine that serves this page', height: 110, unit: value => percent(value),
    lines: [line('cpu', 'LSE'), line('memory', 'budget', [6, 3]), line('io', 'SYSTEM', [2, 3])],
    top: points => Math.max(0.1, ...points.flatMap(point => Object.values(point.psi ?? {}).map(v => v ?? 0))),
  });
}

const key = (colour, name) => make('li', {}, make('i', {style: `background: var(--${colour})`}), name);

function historyPart() {
  const use = historyChart(), pressure = pressureChart();
  const pressurePlace = make('div', {}, make('h3', {}, `Pressure on ${known.liveNode}`),
    make('ul', {class: 'legend'}, key('LSE', 'CPU'), key('budget', 'memory'), key('SYSTEM', 'disk')), pressure.element);
  const card = make('div', {class: 'card'}, make('h3', {}, 'The last hour'),
    make('ul', {class: 'legend'}, key('LS', 'in use'), key('BE', 'in use by BE'), key('LSE', 'batch cores for sale'), key('budget', 'batch cores asked for')), use.element);
  let shown = false;
  return {card, update(what) {
    if (['moment', 'moments', 'theme', 'start'].includes(what)) {
      const first = known.moments[0]?.t ?? Date.now(), last = known.moments[known.moments.length - 1]?.t ?? Date.now();
      use.set(known.moments, [], Math.max(300000, Math.min(HOUR, last - first)));
    }
    if (!known.liveNode) return;
    if (!shown) { card.append(pressurePlace); shown = true; }
    if (['tick', 'ticks', 'theme', 'start', 'hello'].includes(what)) pressure.set(known.ticks, [], 900000);
  }};
}

// ---- who waits, who uses most ----------------------------------------------------------------

function waitingTable(found) {
  if (!found.waits) return make('p', {class: 'empty'}, 'No pod waits for a node.');
  const columns = [
    {title: 'Pod', value: pod => pod.key}, {title: 'QoS', value: pod => pod.qos, show: pod => qosBadge(pod.qos)},
    {title: 'Waits', num: true, value: pod => pod.created, show: pod => ago((Date.now() - pod.created) / 1000).replace(' ago', '')},
    {title: 'asks', num: true, value: pod => pod.cpu.request, show: pod => cores(pod.cpu.request)},
    {title: 'Why', wide: true, value: pod => pod.why || 'no scheduler has looked at it yet'}];
  return make('div', {}, table(found.waiting, columns, {column: null}, () => {}),
    found.waits > found.waiting.length ? make('p', {class: 'empty'}, `and ${found.waits - found.waiting.length} more`) : null);
}

function topTable(pods) {
  const columns = [
    {title: 'Pod', value: pod => pod.key}, {title: 'QoS', value: pod => pod.qos, show: pod => qosBadge(pod.qos)},
    {title: 'Node', value: pod => pod.node, show: pod => make('a', {href: `#/node/${encodeURIComponent(pod.node)}`}, pod.node)},
    {title: 'CPU used', num: true, value: pod => pod.cpu.used, show: pod => cores(pod.cpu.used)},
    {title: 'Memory used', num: true, value: pod => pod.memory.used, show: pod => bytes(pod.memory.used)}];
  const used = (pods ?? []).filter(pod => pod.cpu.used !== null && pod.node);
  return used.length ? table(used, columns, {column: null}, () => {}) : make('p', {class: 'empty'}, 'No pod was measured yet.');
}

// ---- nodes -----------------------------------------------------------------------------------

function reservedText(node) {
  if (!node.reserved) return null;
  const parts = [[node.reserved.cpu, `${cores(node.reserved.cpu)} cores`], [node.reserved.batchCpu, `${cores(node.reserved.batchCpu)} batch cores`],
    [node.reserved.memory, bytes(node.reserved.memory)]].filter(([amount]) => amount > 0).map(([, text]) => text);
  return make('small', {}, `reserved: ${parts.join(', ') || 'nothing is left'}`);
}

const age = node => (Date.now() - node.measured) / 1000;

function tile(node) {
  const share = node.cpu.capacity ? (node.cpu.used ?? 0) / node.cpu.capacity : 0;
  const state = !node.ready ? make('small', {class: 'bad'}, 'not ready')
    : node.measured === null ? make('small', {}, 'no measurement yet')
      : make('small', {class: age(node) > 180 ? 'bad' : null}, `measured ${ago(age(node))}`);
  const pressure = node.pressure ? make('small', {}, `pressure: CPU ${percent(node.pressure.cpu)}, memory ${percent(node.pressure.memory)}`) : null;
  return make('a', {class: 'tile', href: `#/node/${encodeURIComponent(node.name)}`, 'aria-label': `${node.name}, ${percent(share)} of its CPU in use`},
    make('strong', {}, node.name), classBar(node.cpu.classes, node.cpu.capacity, node.reserved?.cpu),
    make('small', {}, `CPU ${percent(share)} of ${cores(node.cpu.capacity)} cores`), classBar(node.memory.classes, node.memory.capacity, node.reserved?.memory),
    make('small', {}, `memory ${bytes(node.memory.used)} of ${bytes(node.memory.capacity)}`),
    make('small', {}, `batch ${cores(node.batchCpu.asked)} of ${cores(node.batchCpu.total)} cores taken`), reservedText(node), pressure, state);
}

function nodesPart() {
  const filter = make('input', {type: 'search', placeholder: 'filter nodes', 'aria-label': 'Filter nodes', oninput: () => update('nodes')});
  const place = make('div'), heat = heatMap();
  const card = make('div', {}, make('div', {class: 'tools'}, make('h3', {}, 'Nodes'), filter), place);
  let many = null;
  function update(what) {
    if (!['nodes', 'start', 'theme'].includes(what)) return;
    const nodes = known.nodes.filter(node => node.name.includes(filter.value));
    if (known.nodes.length > FEW_NODES) {
      if (many !== true) place.replaceChildren(heat.element);
      heat.set(nodes);
    } else {
      place.replaceChildren(legend(false), make('div', {class: 'tiles'}, nodes.map(tile)));
    }
    many = known.nodes.length > FEW_NODES;
  }
  return {card, update};
}

export function cluster(place) {
  const total = make('div'), waiting = make('div'), top = make('div'), last = make('div');
  const history = historyPart(), nodes = nodesPart();
  const body = make('div', {}, total, history.card,
    make('div', {class: 'pair'}, make('div', {class: 'card'}, make('h3', {}, 'Waiting for a node'), waiting),
      make('div', {class: 'card'}, make('h3', {}, 'Who uses most'), top)),
    nodes.card, make('div', {class: 'card'}, make('h3', {}, 'Last decisions'), last));
  const empty = make('p', {class: 'empty'});
  place.append(make('h2', {}, 'Cluster'), empty, body);
  let timer = null, closed = false;
  async function ask() {
    try {
      const found = await getJson('api/overview');
      if (!closed) { waiting.replaceChildren(waitingTable(found)); top.replaceChildren(topTable(found.top)); }
    } catch { /* the next round asks again */ }
    if (!closed) timer = setTimeout(ask, known.nodes.length > FEW_NODES ? 5000 : 2000);
  }
  function update(what) {
    body.hidden = !known.nodes.length;
    empty.textContent = known.nodes.length ? '' : known.heard ? 'This process does not watch a cluster; see the Node page.' : 'Waiting for the first picture.';
    if (['nodes', 'start'].includes(what)) total.replaceChildren(sums(known.nodes));
    history.update(what);
    nodes.update(what);
    if (['decision', 'decisions', 'start'].includes(what)) last.replaceChildren(known.decisions.length ? decisionRows(known.decisions.slice(0, 5)) : noDecisions());
  }
  update('start');
  ask();
  return {update, close() { closed = true; clearTimeout(timer); }};
}
