// The jobs page: batch work by application or job, who of it lives and waits, how long ago it saved, and what
// it had, used and lost to evictions since this process looks. A function of where to put itself, as the other pages.

import {make} from './format.js';
import {getJson} from './feed.js';

const hours = value => value >= 10 ? value.toFixed(0) : value.toFixed(2);
const ago = seconds => seconds === null ? '' : seconds < 90 ? `${Math.round(seconds)} s ago` : `${Math.round(seconds / 60)} min ago`;
const columns = [
  ['Job', one => one.job], ['Kind', one => one.kind], ['Gang', one => one.gang], ['Alive', one => one.alive], ['Waiting', one => one.waiting],
  ['Done', one => one.done], ['Failed', one => one.failed], ['Evicted', one => one.evicted], ['Lost', one => hours(one.lost)],
  ['Sold', one => hours(one.sold)], ['Used', one => hours(one.used)], ['Saved', one => ago(one.saved)],
];

const row = one => make('tr', {class: one.evicted ? 'bad' : ''}, columns.map(([, of]) => make('td', {}, String(of(one)))));

export function jobs(place) {
  const filter = make('input', {type: 'search', placeholder: 'filter jobs', 'aria-label': 'Filter jobs', oninput: () => draw()});
  const content = make('div');
  let found = null, timer = null, closed = false;
  place.append(make('h2', {}, 'Jobs'), make('div', {class: 'tools'}, filter), content);
  function draw() {
    if (!found) return;
    if (!found.jobs?.length)
      return content.replaceChildren(make('p', {class: 'empty'}, 'No batch pod was seen, or this process does not watch the cluster.'));
    const shown = found.jobs.filter(one => `${one.job} ${one.kind} ${one.gang}`.includes(filter.value));
    content.replaceChildren(
      make('div', {class: 'card'}, make('table', {},
        make('thead', {}, make('tr', {}, columns.map(([name]) => make('th', {scope: 'col'}, name)))), make('tbody', {}, shown.map(row)))),
      make('p', {}, make('small', {}, `Lost, sold and used are core hours since ${found.since}; mangrove report batch keeps them longer.`)));
  }
  async function ask() {
    try { found = await getJson('api/jobs'); if (!closed) draw(); } catch { /* the next round asks again */ }
    if (!closed) timer = setTimeout(ask, 3000);
  }
  ask();
  return {close() { closed = true; clearTimeout(timer); }};
}
