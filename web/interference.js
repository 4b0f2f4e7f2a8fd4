// The interference page: episodes in which services suffered, and for each the timeline of evidence,
// experiments, verdicts and steps. A function of where to put itself, as the other pages.

import {ago, clock, make} from './format.js';
import {getJson} from './feed.js';
import {openReason} from './app.js';

const KINDS = {evidence: 'seen', experiment: 'tried', verdict: 'verdict', step: 'done', end: 'end'};

function timeline(episode) {
  return make('ol', {class: 'timeline', 'aria-label': `What happened to ${episode.victim}`}, episode.timeline.map(line =>
    make('li', {}, make('time', {datetime: new Date(line.at).toISOString()}, clock(line.at)), ' ', make('b', {}, KINDS[line.kind] || line.kind), ' ', line.text)));
}

function open(episode) {
  openReason(`${episode.victim} on ${episode.node}`, [
    ['what', episode.sentence], ['evidence', episode.evidence.join(', ')],
    ...episode.suspects.map(one => [one.pod, `${one.verdict || 'not tried'}; score ${one.score.toFixed(2)}, correlation ${one.correlation.toFixed(2)}, share ${(100 * one.share).toFixed(0)} %`])]);
}

function card(episode) {
  const state = episode.outcome || 'goes on';
  return make('div', {class: 'card'},
    make('h3', {}, make('button', {type: 'button', onclick: () => open(episode)}, `${episode.victim} on ${episode.node}`)),
    make('p', {}, `${episode.signal} (${episode.resource}), ${state}, began ${clock(episode.start)}, ${ago((Date.now() - episode.start) / 1000)}. `,
      episode.guilty ? `${episode.guilty} is the cause: ${episode.verdict}.` : 'No cause is proved.'),
    timeline(episode));
}

function pairs(list) {
  const head = ['Service', 'Hurt by', 'Proved', 'Last'].map(title => make('th', {scope: 'col'}, title));
  const rows = list.map(one => make('tr', {}, make('td', {}, one.victim), make('td', {}, one.by), make('td', {}, `${one.times}×`), make('td', {}, clock(one.last))));
  return make('div', {class: 'card'}, make('h3', {}, 'Who hurts whom'), make('div', {class: 'scroll'}, make('table', {}, make('thead', {}, make('tr', {}, head)), make('tbody', {}, rows))));
}

export function interference(place) {
  const filter = make('input', {type: 'search', placeholder: 'filter services, nodes and pods', 'aria-label': 'Filter episodes', oninput: () => draw()});
  const content = make('div');
  let found = null, timer = null, closed = false;
  place.append(make('h2', {}, 'Interference'), make('div', {class: 'tools'}, filter), content);
  function draw() {
    if (!found) return;
    if (!found.episodes?.length)
      return content.replaceChildren(make('p', {class: 'empty'}, 'No InterferenceReport is here, or this process does not watch the cluster.'));
    const shown = found.episodes.filter(one => `${one.victim} ${one.node} ${one.guilty} ${one.resource} ${one.outcome}`.includes(filter.value));
    content.replaceChildren(make('p', {}, `${found.open} go on, ${found.resolved} resolved, ${found.exonerated} without a cause.`),
      ...(found.pairs.length ? [pairs(found.pairs)] : []),
      ...(shown.length ? shown.map(card) : [make('p', {class: 'empty'}, 'No episode is like that.')]));
  }
  async function ask() {
    try { found = await getJson('api/interference'); if (!closed) draw(); } catch { /* the next round asks again */ }
    if (!closed) timer = setTimeout(ask, 3000);
  }
  ask();
  return {close() { closed = true; clearTimeout(timer); }};
}
