// The page's frame: which view is shown, keys, theme, the dialog with a decision's reason.

import {make} from './format.js';
import {known, onChange, follow, setToken} from './feed.js';
import * as pages from './views.js';
import {cluster} from './overview.js';
import {quotas} from './quotas.js';
import {devices} from './devices.js';
import {migrations} from './migrations.js';
import {interference} from './interference.js';
import {jobs} from './jobs.js';

const main = document.getElementById('main');
const dialog = document.getElementById('reason');
const PAGES = ['cluster', 'node', 'pods', 'decisions', 'config', 'quotas', 'devices', 'migrations', 'interference', 'jobs'];
const views = {...pages, cluster, quotas, devices, migrations, interference, jobs};
let view = null, shown = '';

// "#/node/worker-1" → ['node', 'worker-1']; without a page, one machine is shown as itself and several as a cluster.
function route() {
  const parts = location.hash.replace(/^#\/?/, '').split('/').map(decodeURIComponent);
  return PAGES.includes(parts[0]) ? [parts[0], parts.slice(1).join('/')] : [known.nodes.length === 1 ? 'node' : 'cluster', ''];
}

function show() {
  const [page, rest] = route();
  view?.close?.();
  shown = page;
  for (const link of document.querySelectorAll('nav a'))
    link.dataset.page === page ? link.setAttribute('aria-current', 'page') : link.removeAttribute('aria-current');
  main.replaceChildren();
  view = views[page](main, rest);
  document.title = `Mangrove – ${rest || page}`;
}

export function openReason(title, facts) {
  dialog.replaceChildren(
    make('h3', {id: 'reason-title'}, title),
    make('dl', {}, facts.filter(([, text]) => text !== '' && text !== null && text !== undefined)
      .flatMap(([name, text]) => [make('dt', {}, name), make('dd', {}, text)])),
    make('form', {method: 'dialog'}, make('button', {}, 'Close')));
  dialog.showModal();
}

function askForToken() {
  return new Promise(done => {
    const field = make('input', {type: 'password', autocomplete: 'off', 'aria-label': 'token', required: true});
    dialog.replaceChildren(make('h3', {id: 'reason-title'}, 'This dashboard wants a token'),
      make('p', {}, 'It is in the file that --dashboard-token-file names.'),
      make('form', {method: 'dialog', onsubmit: () => { setToken(field.value); done(); }}, field, ' ', make('button', {}, 'Go on')));
    if (!dialog.open) dialog.showModal();
  });
}

function linkState() {
  const link = document.getElementById('link');
  link.className = known.live ? 'live' : 'lost';
  link.textContent = known.live ? 'live' : 'no connection, trying again';
  document.getElementById('version').textContent = known.version ? `mangrove ${known.version}` : '';
}

function theme(next) {
  if (next) localStorage.setItem('mangrove-theme', next);
  const chosen = localStorage.getItem('mangrove-theme');
  if (chosen) document.documentElement.dataset.theme = chosen;
}

document.getElementById('theme').addEventListener('click', () => {
  const dark = getComputedStyle(document.documentElement).getPropertyValue('--back').trim() === '#111614';
  theme(dark ? 'light' : 'dark');
  view?.update?.('theme');
});
window.addEventListener('hashchange', () => { show(); main.focus(); });
window.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || dialog.open) return;
  const page = PAGES[event.key === '0' ? 9 : Number(event.key) - 1];
  if (page) location.hash = `#/${page}`;
  else if (event.key === '/') { document.querySelector('input[type=search]')?.focus(); event.preventDefault(); }
});
onChange(what => {
  linkState();
  if (what === 'nodes' && route()[0] !== shown) return show();  // now it is known how many there are
  if (view) view.update?.(what);
});
theme();
show();
follow(askForToken);
