// The devices page: nodes × cards, each card as a box that fills with the shares pods have of it, its
// health, its place and what was measured. A function of where to put itself, as the other pages.

import {bytes, make} from './format.js';
import {getJson} from './feed.js';

const colours = ['var(--LS)', 'var(--BE)', 'var(--LSR)', 'var(--LSE)', 'var(--SYSTEM)'];
const colourOf = name => colours[[...name].reduce((sum, letter) => (31 * sum + letter.charCodeAt(0)) % 997, 7) % colours.length];

function pieces(card) {
  let from = 0;
  return card.holders.map(one => {
    const left = from;
    from = Math.min(100, from + one.share);
    return make('i', {style: `left: ${left}%; width: ${from - left}%; background: ${colourOf(one.pod)}`, title: `${one.pod}: ${one.share} %`});
  });
}

function facts(card) {
  const out = [];
  if (card.memoryTotal) out.push(`${bytes(card.memoryUsed)} of ${bytes(card.memoryTotal)} given`);
  if (card.busy !== null) out.push(`${Math.round(card.busy)} % busy`);
  if (card.celsius !== null) out.push(`${Math.round(card.celsius)} °C`);
  if (card.numa !== null) out.push([`NUMA ${card.numa}`, card.pcie].filter(Boolean).join(', '));
  return out.join(' · ');
}

function box(card) {
  const ill = card.health !== 'healthy', over = card.over !== '';
  const said = `${card.type} ${card.minor}: ${card.health}, ${card.used} % given${card.holders.length ? ` to ${card.holders.map(one => one.pod).join(', ')}` : ''}`;
  return make('div', {class: `device${ill ? ' ill' : ''}${over ? ' twice' : ''}`, title: card.id},
    make('div', {}, make('strong', {}, `${card.type} ${card.minor}`), ' ', make('small', {}, ill ? card.health : `${card.used} %`)),
    make('div', {class: 'gauge', role: 'img', 'aria-label': said}, pieces(card)),
    card.holders.map(one => make('small', {}, `${one.pod} ${one.share} %`)),
    over ? make('small', {class: 'bad'}, `given twice: more than there is of ${card.over}`) : null,
    card.why ? make('small', {class: 'bad'}, card.why) : null,
    make('small', {}, facts(card)));
}

const isTrouble = card => card.health !== 'healthy' || card.over !== '';
function section(node) {
  const free = node.cards.filter(card => card.type === 'gpu' && card.health === 'healthy' && card.used === 0).length;
  const gpus = node.cards.filter(card => card.type === 'gpu').length;
  return make('div', {class: 'card'},
    make('h3', {}, node.name, ' ', make('small', {}, [node.model, gpus ? `${free} of ${gpus} GPUs free` : ''].filter(Boolean).join(' · '))),
    make('div', {class: 'devices'}, node.cards.map(box)));
}

export function devices(place) {
  const filter = make('input', {type: 'search', placeholder: 'filter nodes, cards and pods', 'aria-label': 'Filter devices', oninput: () => draw()});
  const trouble = make('input', {type: 'checkbox', id: 'only-trouble', onchange: () => draw()});
  const content = make('div');
  let found = null, timer = null, closed = false;
  place.append(make('h2', {}, 'Devices'), make('div', {class: 'tools'}, filter, make('label', {for: 'only-trouble'}, trouble, ' only cards in trouble')), content);
  function draw() {
    if (!found) return;
    if (!found.nodes?.length)
      return content.replaceChildren(make('p', {class: 'empty'}, 'No node reports a card, or this process does not watch the cluster.'));
    const shown = found.nodes.map(node => ({...node, cards: node.cards.filter(card => (!trouble.checked || isTrouble(card)) &&
      `${node.name} ${card.type} ${card.minor} ${card.id} ${card.holders.map(one => one.pod).join(' ')}`.includes(filter.value))}))
      .filter(node => node.cards.length);
    content.replaceChildren(...(shown.length ? shown.map(section) : [make('p', {class: 'empty'}, 'No card is like that.')]));
  }
  async function ask() {
    try { found = await getJson('api/devices'); if (!closed) draw(); } catch { /* the next round asks again */ }
    if (!closed) timer = setTimeout(ask, 3000);
  }
  ask();
  return {close() { closed = true; clearTimeout(timer); }};
}
