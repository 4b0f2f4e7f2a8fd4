// Texts for amounts, and small pieces of page. Everything that comes from the cluster goes through
// textContent, never through markup: a pod's name is not to be trusted.

export const CLASSES = ['LSE', 'LSR', 'LS', 'BE', 'SYSTEM', 'other'];
export const CLASS_NAMES = {
  LSE: 'LSE exclusive', LSR: 'LSR reserved', LS: 'LS shared', BE: 'BE batch', SYSTEM: 'SYSTEM', other: 'outside of pods',
};

export function cores(value) {
  if (value === null || value === undefined) return '–';
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function bytes(value) {
  if (value === null || value === undefined) return '–';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) { value /= 1024; unit++; }
  return `${value >= 100 || unit === 0 ? value.toFixed(0) : value.toFixed(1)} ${units[unit]}`;
}

export const percent = share => share === null || share === undefined ? '–' : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;

export function clock(ms) {
  return new Date(ms).toLocaleTimeString([], {hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false});
}

// With the weekday, for axes of days.
export function day(ms) {
  return new Date(ms).toLocaleString([], {weekday: 'short', hour: '2-digit', minute: '2-digit', hour12: false});
}

export function ago(seconds) {
  if (seconds === null || seconds === undefined) return 'never';
  if (seconds < 90) return `${Math.round(seconds)} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  return `${Math.round(seconds / 3600)} h ago`;
}

// make('td', {class: 'num', onclick: f}, 'text', node, …)
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style') element.style.cssText = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat()) if (child !== null && child !== undefined) element.append(child);
  return element;
}

export function qosBadge(qos) {
  return make('span', {class: 'qos', style: `border-color: var(--${CLASSES.includes(qos) ? qos : 'other'})`}, qos || 'none');
}

// Used CPU or memory by class as one bar; the rest of the track is what is free.
export function classBar(byClass, capacity, reserved) {
  const bar = make('div', {class: 'bar', 'aria-hidden': 'true'});
  for (const name of CLASSES) {
    const part = byClass?.[name] ?? 0;
    if (part > 0 && capacity > 0)
      bar.append(make('i', {style: `width: ${Math.min(100, 100 * part / capacity)}%; background: var(--${name})`}));
  }
  // Kept for pods to come: neither used nor free, so it lies at the far end and is hatched.
  if (reserved > 0 && capacity > 0)
    bar.append(make('i', {class: 'reserved', style: `width: ${Math.min(100, 100 * reserved / capacity)}%`, title: 'reserved'}));
  return bar;
}

export function legend(withBudget) {
  const list = make('ul', {class: 'legend'});
  for (const name of CLASSES)
    list.append(make('li', {}, make('i', {style: `background: var(--${name})`}), CLASS_NAMES[name]));
  list.append(make('li', {}, make('i', {class: 'reserved'}), 'reserved for pods to come'));
  if (withBudget) list.append(make('li', {}, make('i', {class: 'rule'}), 'what BE may use'));
  return list;
}

// rows of objects → a table whose columns sort; `columns`: [{title, value(row), show(row)?, num?, wide?}]
export function table(rows, columns, sort, onSort) {
  const order = [...rows];
  if (sort.column !== null) {
    const value = columns[sort.column].value;
    order.sort((a, b) => {
      const x = value(a) ?? -Infinity, y = value(b) ?? -Infinity;
      return (x < y ? -1 : x > y ? 1 : 0) * (sort.down ? -1 : 1);
    });
  }
  const head = make('tr', {}, columns.map((column, i) => make('th', {
    class: column.num ? 'num' : null, scope: 'col',
    'aria-sort': sort.column === i ? (sort.down ? 'descending' : 'ascending') : null,
  }, make('button', {type: 'button', onclick: () => onSort(i)},
    column.title + (sort.column === i ? (sort.down ? ' ▾' : ' ▴') : '')))));
  const body = order.map(row => make('tr', {}, columns.map(column =>
    make('td', {class: column.num ? 'num' : column.wide ? 'wide' : null}, (column.show ?? column.value)(row) ?? '–'))));
  return make('div', {class: 'scroll'}, make('table', {}, make('thead', {}, head), make('tbody', {}, body)));
}
