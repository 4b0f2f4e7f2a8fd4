// The quotas page: the trees from top to bottom, each quota's minimum, use, runtime and maximum per
// resource as bars, and who borrows from whom. A function of where to put itself, as the other pages.

import {cores, bytes, ago, make} from './format.js';
import {getJson} from './feed.js';

function amount(resource, value) {
  if (value === null || value === undefined) return 'no limit';
  if (resource === 'cpu') return cores(value);
  return /memory|storage/.test(resource) ? bytes(value) : String(Math.round(value));
}

const since = text => text ? ago((Date.now() - Date.parse(text)) / 1000).replace(' ago', '') : '';

// One bar: used within the minimum, borrowed beyond it, beyond what may be used; behind it what may
// be used, and a mark at the minimum; hatched what reservations hold of it for owners to come. The
// whole track is the maximum, where there is one.
function gauge(r) {
  const whole = Math.max(r.max ?? 0, r.max === null ? 1.25 * Math.max(r.runtime ?? 0, r.used, r.min, r.asked) : 0, r.used, 1e-9);
  const at = value => `${Math.min(100, 100 * Math.max(0, value) / whole)}%`;
  const may = r.runtime ?? r.max ?? whole;
  const own = r.used - (r.borrows ?? 0);  // the default quota has no minimum, and borrows nothing all the same
  const piece = (kind, from, to) => to > from ? make('i', {class: kind, style: `left: ${at(from)}; width: calc(${at(to)} - ${at(from)})`}) : null;
  return make('div', {class: 'gauge', role: 'img', 'aria-label': `${r.name}: ${amount(r.name, r.used)} used${r.reserved > 0 ? `, ${amount(r.name, r.reserved)} of it by reservations` : ''}, minimum ${amount(r.name, r.min)}, may use ${amount(r.name, may)}, maximum ${amount(r.name, r.max)}`},
    piece('may', 0, may), piece('own', 0, Math.min(own, may)), piece('lent', Math.min(own, may), Math.min(r.used, may)),
    piece('over', Math.min(r.used, may), r.used), piece('held', r.used - (r.reserved ?? 0), r.used), r.min > 0 ? make('b', {style: `left: ${at(r.min)}`}) : null);
}

function said(r) {
  const limit = r.runtime ?? r.max;
  const terms = [r.min > 0 ? `min ${amount(r.name, r.min)}` : '', r.max === null ? '' : `max ${amount(r.name, r.max)}`].filter(Boolean).join(', ');
  return [`${amount(r.name, r.used)}${limit === null ? ', no limit' : ` of ${amount(r.name, limit)}`}`, terms,
    r.reserved > 0 ? `${amount(r.name, r.reserved)} reserved` : '',
    r.borrows > 0 ? `borrows ${amount(r.name, r.borrows)}${r.since ? ` for ${since(r.since)}` : ''}` : ''].filter(Boolean).join('; ');
}

function amounts(resources) {
  return make('div', {class: 'amounts'}, resources.flatMap(r => [
    make('span', {class: 'what', title: r.name}, r.name), gauge(r), make('span', {class: 'said'}, said(r))]));
}

function row(quota) {
  const pods = [quota.running ? `${quota.running} running` : '', quota.waiting ? `${quota.waiting} waiting` : ''].filter(Boolean).join(', ') || 'no pods of its own';
  return make('div', {class: 'quota'},
    make('div', {style: `padding-left: ${18 * quota.depth}px`}, make('strong', {}, quota.name),
      make('small', {}, pods), quota.lends ? null : make('small', {}, 'lends nothing'), quota.tree ? make('small', {}, `tree ${quota.tree}`) : null),
    amounts(quota.resources));
}

function legend() {
  const items = [['var(--LS)', 'used within the minimum'], ['var(--BE)', 'used and borrowed'], ['var(--bad)', 'used beyond what it may'],
    ['repeating-linear-gradient(45deg, var(--LS) 0 3px, var(--card) 3px 5px)', 'of that, reserved for owners to come'],
    ['color-mix(in srgb, var(--LSR) 45%, var(--line))', 'may be used now (runtime)'], ['var(--line)', 'up to the maximum']];
  return make('ul', {class: 'legend'}, items.map(([colour, name]) => make('li', {}, make('i', {style: `background: ${colour}`}), name)),
    make('li', {}, make('i', {style: 'width: 0; border-left: 2px solid var(--ink); border-radius: 0'}), 'the minimum'));
}

function loanTable(loans) {
  const head = ['Borrower', 'Lender', 'Resource', 'Amount', 'For'].map(title => make('th', {scope: 'col'}, title));
  const body = loans.map(loan => make('tr', {}, make('td', {}, loan.borrower), make('td', {}, loan.lender || 'what nobody’s minimum covers'),
    make('td', {}, loan.resource), make('td', {}, amount(loan.resource, loan.amount)), make('td', {}, since(loan.since) || '–')));
  return make('div', {class: 'scroll'}, make('table', {}, make('thead', {}, make('tr', {}, head)), make('tbody', {}, body)));
}

export function quotas(place) {
  const filter = make('input', {type: 'search', placeholder: 'filter quotas', 'aria-label': 'Filter quotas', oninput: () => draw()});
  const content = make('div');
  let found = null, timer = null, closed = false;
  place.append(make('h2', {}, 'Quotas'), make('div', {class: 'tools'}, filter), content);
  function draw() {
    if (!found) return;
    if (!found.quotas?.length)
      return content.replaceChildren(make('p', {class: 'empty'}, 'There is no ElasticQuota here, or this process does not watch the cluster.'));
    const shown = found.quotas.filter(quota => `${quota.name} ${quota.parent} ${quota.tree}`.includes(filter.value));
    content.replaceChildren(make('div', {class: 'card'}, legend(), shown.map(row)),
      make('div', {class: 'card'}, make('h3', {}, 'Who borrows from whom'),
        found.loans.length ? loanTable(found.loans) : make('p', {class: 'empty'}, 'Nobody uses more than its minimum.')));
  }
  async function ask() {
    try { found = await getJson('api/quotas'); if (!closed) draw(); } catch { /* the next round asks again */ }
    if (!closed) timer = setTimeout(ask, 3000);
  }
  ask();
  return {close() { closed = true; clearTimeout(timer); }};
}
