// What the page knows, kept up to date by one long answer of the server (server-sent events, read
// with fetch so that a token can go along). When the line breaks it comes back by itself.

const KEPT_TICKS = 900;
const KEPT_DECISIONS = 500;
const KEPT_MOMENTS = 360;

export const known = {version: '', nodes: [], ticks: [], moments: [], decisions: [], config: null, live: false, heard: false, liveNode: null};
const listeners = new Set();

export function onChange(listener) { listeners.add(listener); return () => listeners.delete(listener); }
function tell(what) { for (const listener of [...listeners]) listener(what); }

export function token() { return sessionStorage.getItem('mangrove-token') ?? ''; }
export function setToken(text) { sessionStorage.setItem('mangrove-token', text); }

export async function get(path) {
  const answer = await fetch(path, {headers: token() ? {Authorization: `Bearer ${token()}`} : {}, cache: 'no-store'});
  if (!answer.ok) throw Object.assign(new Error(await answer.text() || answer.statusText), {status: answer.status});
  return answer;
}
export const getJson = async path => (await get(path)).json();

const take = {
  hello(data) { known.version = data.version; known.liveNode = data.liveNode; },
  nodes(data) { known.heard = true; known.nodes = data; if (known.ticks.length) overlay(known.ticks[known.ticks.length - 1]); },
  ticks(data) { known.ticks = data; if (data.length) overlay(data[data.length - 1]); },
  moments(data) { known.moments = data; },
  moment(data) { known.moments.push(data); if (known.moments.length > KEPT_MOMENTS) known.moments.shift(); },
  tick(data) { overlay(data); known.ticks.push(data); if (known.ticks.length > KEPT_TICKS) known.ticks.splice(0, known.ticks.length - KEPT_TICKS); },
  decisions(data) { known.decisions = data; },
  decision(data) { known.decisions.unshift(data); known.decisions.length = Math.min(known.decisions.length, KEPT_DECISIONS); },
  config(data) { known.config = data; },
};

// The agent of this process sees its node every second, reports tell of it every minute.
function overlay(tick) {
  const node = known.nodes.find(entry => entry.name === known.liveNode);
  if (!node) return;
  Object.assign(node.cpu, {used: tick.used, classes: tick.cpu});
  Object.assign(node.memory, {used: Object.values(tick.memory).reduce((a, b) => a + b, 0), classes: tick.memory});
  node.pressure = tick.psi;
  node.measured = tick.t;
}

// One event: "event: NAME\ndata: JSON".
function message(block) {
  let name = '', data = '';
  for (const line of block.split('\n')) {
    if (line.startsWith('event: ')) name = line.slice(7);
    else if (line.startsWith('data: ')) data += line.slice(6);
  }
  if (!take[name]) return;
  take[name](JSON.parse(data));
  tell(name);
  if (name === 'tick') tell('nodes');
}

async function readStream(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    text += value;
    for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) message(text.slice(0, end));
  }
}

// Never returns. `asked` is called when the server wants a token, and resolves when there is one.
export async function follow(asked) {
  for (let wait = 500; ;) {
    try {
      const answer = await get('api/stream');
      known.live = true;
      wait = 500;
      tell('link');
      await readStream(answer);
    } catch (error) {
      if (error.status === 401) { await asked(); continue; }
    }
    known.live = false;
    tell('link');
    await new Promise(done => setTimeout(done, wait));
    wait = Math.min(wait * 2, 10000);
  }
}
