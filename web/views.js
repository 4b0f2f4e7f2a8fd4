// The pages of a node, the pods, decisions and the configuration (the others have their own files). Each is a function of where to put itself and the rest of the address; it returns
// {update(what), close()}.

import {CLASSES, CLASS_NAMES, cores, bytes, percent, clock, make, qosBadge, legend, table} from './format.js';
import {TimeChart, shapeAt} from './chart.js';
import {known, getJson} from './feed.js';
import {openReason} from './app.js';
import {weekPart} from './week.js';

const SPANS = [[60, '1 min'], [300, '5 min'], [900, '15 min']];

// ---- decisions -------------------------------------------------------------------------------

const KINDS = [
  {pattern: /evict/i, name: 'eviction', colour: 'bad', shape: 'cross'},
  {pattern: /suppress|pressure|fast/i, name: 'suppression', colour: 'budget', shape: 'down'},
  {pattern: /burst/i, name: 'burst', colour: 'LSE', shape: 'up'},
  {pattern: /./, name: 'setting', colour: 'soft', shape: 'box'}];
export function kindOf(decision) {
  return KINDS.find(kind => kind.pattern.test(decision.file === 'eviction' ? 'evict' : decision.owner || 'x')) ?? KINDS[3];
}

function marksLegend() {
  const picture = kind => {
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg'), path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    svg.setAttribute('viewBox', '0 0 12 12');
    svg.setAttribute('aria-hidden', 'true');
    path.setAttribute('d', shapeAt(kind.shape, 6, 6, 5));
    path.setAttribute('fill', `var(--${kind.colour})`);
    svg.append(path);
    return svg;
  };
  return make('ul', {class: 'legend', 'aria-label': 'Marks on the time axis'}, KINDS.map(kind => make('li', {}, picture(kind), kind.name)),
    make('li', {}, 'click a mark, or arrows and Enter, for its reason'));
}

function openDecision(decision) {
  openReason(`${decision.owner}: ${decision.file || decision.cgroup}`, [
    ['when', new Date(decision.at).toLocaleString()], ['why', decision.why], ['file', decision.file], ['cgroup', decision.cgroup],
    ['was', decision.from], ['is', decision.to], ['outcome', decision.outcome], ['number', String(decision.number)]]);
}

export function decisionRows(decisions) {
  const body = decisions.map(decision => make('tr', {}, make('td', {}, clock(decision.at)), make('td', {}, kindOf(decision).name),
    make('td', {class: 'wide'}, make('button', {type: 'button', onclick: () => openDecision(decision)}, decision.why || decision.owner)),
    make('td', {}, decision.file), make('td', {}, decision.from === '' ? decision.to : `${decision.from} → ${decision.to}`)));
  const head = ['Time', 'Kind', 'Why', 'File', 'Change'].map(title => make('th', {scope: 'col'}, title));
  return make('div', {class: 'scroll'}, make('table', {}, make('thead', {}, make('tr', {}, head)), make('tbody', {}, body)));
}

export const noDecisions = () => make('p', {class: 'empty'}, 'Nothing was changed on this machine yet. Decisions appear here as the agent takes them.');

export function decisions(place) {
  const filter = make('input', {type: 'search', placeholder: 'filter', 'aria-label': 'Filter decisions', oninput: () => update('decision')});
  const list = make('div');
  place.append(make('h2', {}, 'Decisions'), make('div', {class: 'tools'}, filter), make('div', {class: 'card'}, list));
  function update(what) {
    if (!['decision', 'decisions', 'start'].includes(what)) return;
    const word = filter.value.toLowerCase();
    const shown = known.decisions.filter(d => `${d.owner} ${d.why} ${d.cgroup} ${d.file}`.toLowerCase().includes(word)).slice(0, 200);
    list.replaceChildren(shown.length ? decisionRows(shown) : noDecisions());
  }
  update('start');
  return {update};
}

// ---- node ------------------------------------------------------------------------------------

// One machine: what it is, what it sells, what holds now.
function nodeFacts(node) {
  const share = node.cpu.capacity ? (node.cpu.used ?? 0) / node.cpu.capacity : null;
  const tick = node.name === known.liveNode ? known.ticks[known.ticks.length - 1] : null;
  const facts = [
    [percent(share), `CPU in use, ${cores(node.cpu.used)} of ${cores(node.cpu.capacity)} cores`],
    [cores(node.cpu.classes?.BE ?? 0), 'cores used by BE'],
    ...(tick && tick.budget !== null ? [[cores(tick.budget), 'cores BE may use now']] : []),
    [cores(node.batchCpu.total), `batch cores for sale, ${cores(node.batchCpu.asked)} taken`],
    [bytes(node.memory.used), `memory in use of ${bytes(node.memory.capacity)}`],
    ...(node.reserved ? [[cores(node.reserved.cpu), `cores reserved, ${bytes(node.reserved.memory)} of memory`]] : []),
    ...(tick?.psi ? [[percent(tick.psi.cpu), 'of the time something waits for CPU']] : []),
    [String(node.pods), node.pods === 1 ? 'pod' : 'pods']];
  return make('div', {class: 'card sums'}, facts.map(([value, name]) => make('div', {}, make('b', {}, value), make('span', {}, name))));
}

function cpuChart() {
  return new TimeChart({
    title: 'CPU in use by class, in cores, with the line BE may not cross', height: 260, unit: value => cores(value),
    areas: [...CLASSES].reverse().map(name => ({name: CLASS_NAMES[name], colour: name, value: point => point.cpu[name]})),
    lines: [{name: 'what BE may use', colour: 'budget', dash: [6, 4], value: point => point.budget}],
    top: points => Math.max(1, ...points.map(point => point.cpus)),
  });
}

function pressureChart() {
  const line = (name, colour, dash) => ({name, colour, dash, value: point => point.psi?.[name] ?? null});
  return new TimeChart({
    title: 'Share of time in which something waited for CPU, memory or disk', height: 140, unit: value => percent(value),
    lines: [line('cpu', 'LSE'), line('memory', 'budget', [6, 3]), line('io', 'SYSTEM', [2, 3])],
    top: points => Math.max(0.1, ...points.flatMap(point => Object.values(point.psi ?? {}).map(v => v ?? 0))),
  });
}

function podColumns() {
  return [
    {title: 'Pod', value: pod => pod.key},
    {title: 'QoS', value: pod => pod.qos, show: pod => qosBadge(pod.qos)},
    {title: 'Phase', value: pod => pod.phase + (pod.why ? `: ${pod.why}` : ''), wide: true},
    {title: 'Node', value: pod => pod.node, show: pod => pod.node ? make('a', {href: `#/node/${encodeURIComponent(pod.node)}`}, pod.node) : '–'},
    {title: 'CPU used', num: true, value: pod => pod.cpu.used, show: pod => cores(pod.cpu.used)},
    {title: 'asked', num: true, value: pod => pod.cpu.request, show: pod => cores(pod.cpu.request)},
    {title: 'limit', num: true, value: pod => pod.cpu.limit, show: pod => pod.cpu.limit === null ? 'none' : cores(pod.cpu.limit)},
    {title: 'CPUs', value: pod => pod.cpuset, show: pod => pod.cpuset || '–'},
    {title: 'Memory used', num: true, value: pod => pod.memory.used, show: pod => bytes(pod.memory.used)},
    {title: 'limit', num: true, value: pod => pod.memory.limit, show: pod => pod.memory.limit === null ? 'none' : bytes(pod.memory.limit)},
  ];
}

// A table for each gang, those with members that wait first, and one for pods that go alone.
function gangParts(pods, rowsTable) {
  const gangs = new Map();
  for (const pod of pods) {
    const id = pod.gang ? `${pod.key.split('/')[0]}/${pod.gang}` : '';
    gangs.set(id, [...(gangs.get(id) ?? []), pod]);
  }
  const waiting = members => members.filter(pod => !pod.node && pod.phase === 'Pending').length;
  const order = [...gangs].sort(([a, x], [b, y]) => (a === '') - (b === '') || waiting(y) - waiting(x) || (a < b ? -1 : 1));
  return order.flatMap(([id, members]) => [make('h3', {}, id ? `Gang ${id}: ${members.length} pods, ${waiting(members)} wait` : 'No gang'), rowsTable(members)]);
}

// A table of pods that asks the server again every two seconds.
function podTable(place, query) {
  const sort = {column: 4, down: true};
  let rows = [], word = '', timer = null, closed = false, byGang = false;
  const rowsTable = shown => table(shown, podColumns(), sort, column => {
    if (sort.column === column) sort.down = !sort.down; else { sort.column = column; sort.down = true; }
    draw();
  });
  function draw() {
    const shown = rows.filter(pod => `${pod.key} ${pod.gang} ${pod.qos} ${pod.node} ${pod.phase}`.toLowerCase().includes(word));
    place.replaceChildren(...(!rows.length ? [make('p', {class: 'empty'}, 'No pods here.')] : byGang ? gangParts(shown, rowsTable) : [rowsTable(shown)]));
  }
  async function ask() {
    try { rows = await getJson(`api/pods${query}`); if (!closed) draw(); } catch { /* the next round asks again */ }
    if (!closed) timer = setTimeout(ask, 2000);
  }
  ask();
  return {filter(text) { word = text.toLowerCase(); draw(); }, group(on) { byGang = on; draw(); }, close() { closed = true; clearTimeout(timer); }};
}

function livePart(place) {
  const cpu = cpuChart(), pressure = pressureChart();
  let span = 300;
  const pick = make('select', {'aria-label': 'Time shown', onchange: event => { span = Number(event.target.value); update(); }},
    SPANS.map(([seconds, name]) => make('option', {value: seconds, selected: seconds === span}, name)));
  const feed = make('div');
  place.append(make('div', {class: 'card'}, make('div', {class: 'tools'}, make('h3', {}, 'CPU by class'), pick), legend(true), cpu.element, marksLegend()),
    make('div', {class: 'card'}, make('h3', {}, 'Pressure'), make('ul', {class: 'legend'},
      [['LSE', 'CPU'], ['budget', 'memory'], ['SYSTEM', 'disk']].map(([colour, name]) => make('li', {}, make('i', {style: `background: var(--${colour})`}), name))), pressure.element),
    make('div', {class: 'card'}, make('h3', {}, 'Latest decisions'), feed));
  function update() {
    const marks = known.decisions.map(d => ({t: d.at, ...kindOf(d), open: () => openDecision(d)}));
    cpu.set(known.ticks, marks, span * 1000);
    pressure.set(known.ticks, [], span * 1000);
    feed.replaceChildren(known.decisions.length ? decisionRows(known.decisions.slice(0, 8)) : noDecisions());
  }
  update();
  return update;
}

export function node(place, name) {
  const chosen = name || known.liveNode || known.nodes[0]?.name || '';
  place.append(make('h2', {}, chosen ? `Node ${chosen}` : 'Node'));
  if (known.nodes.length > 1)
    place.append(make('div', {class: 'tools'}, make('select', {'aria-label': 'Node shown', onchange: event => { location.hash = `#/node/${encodeURIComponent(event.target.value)}`; }},
      known.nodes.map(entry => make('option', {value: entry.name, selected: entry.name === chosen}, entry.name)))));
  const facts = make('div'), live = make('div'), past = make('div'), podPlace = make('div');
  place.append(facts, live, past, make('div', {class: 'card'}, make('h3', {}, 'Pods'), podPlace));
  const pods = podTable(podPlace, chosen ? `?node=${encodeURIComponent(chosen)}` : '');
  let drawLive = null, week = null, named = chosen;
  function update(what) {
    if (!named && (known.liveNode || known.nodes.length)) return window.dispatchEvent(new HashChangeEvent('hashchange'));
    const node = known.nodes.find(entry => entry.name === named);
    if (node && (what === 'nodes' || what === 'start')) facts.replaceChildren(nodeFacts(node));
    if (named !== known.liveNode && (what === 'start' || what === 'hello'))
      live.replaceChildren(make('p', {class: 'empty'}, `Second by second only the machine that serves this page is shown; here are the reports of ${named || 'the node'}.`));
    if (named === known.liveNode && !drawLive) { live.replaceChildren(); drawLive = livePart(live); week = weekPart(past); }
    if (drawLive && ['tick', 'ticks', 'decision', 'decisions', 'theme'].includes(what)) drawLive();
  }
  update('start');
  return {update, close() { pods.close(); week?.close(); }};
}

export function pods(place) {
  const list = make('div');
  const filter = make('input', {type: 'search', placeholder: 'filter: name, gang, QoS, node, phase', 'aria-label': 'Filter pods', oninput: () => shown.filter(filter.value)});
  const byGang = make('label', {}, make('input', {type: 'checkbox', onchange: event => shown.group(event.target.checked)}), ' by gang');
  place.append(make('h2', {}, 'Pods'), make('div', {class: 'tools'}, filter, byGang), make('div', {class: 'card'}, list));
  const shown = podTable(list, '');
  return {close: shown.close};
}

// ---- configuration ---------------------------------------------------------------------------

export function config(place) {
  const content = make('div');
  place.append(make('h2', {}, 'Configuration'), content);
  async function update(what) {
    if (what !== 'config' && what !== 'start') return;
    let found;
    try { found = await getJson('api/config'); } catch (error) { return content.replaceChildren(make('p', {class: 'empty'}, error.message)); }
    if (!found.exists) return content.replaceChildren(make('p', {class: 'empty'}, `There is no ConfigMap ${found.name}; every key has its default.`));
    content.replaceChildren(
      make('p', {}, found.findings.length ? `${found.findings.length} finding(s) of the linter, the same as `: 'The linter has nothing to say, nor would ', make('code', {}, 'mangrove check config'), '.'),
      ...found.findings.map(finding => make('div', {class: `finding ${finding.severity}`}, finding.text)),
      ...found.keys.map(entry => make('div', {class: 'card'}, make('h3', {}, entry.key), make('pre', {tabindex: '0'}, entry.text))));
  }
  update('start');
  return {update};
}
