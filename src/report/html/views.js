/* views.js - of a kernel: its accesses with their drawings, occupancy, roofline, what is in flight, findings, advice. */
'use strict';

/* ---- elements ---- */
function el(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {}))
    if (key.startsWith('on')) e.addEventListener(key.slice(2), value);
    else if (value === true) e.setAttribute(key, '');
    else if (value !== false && value !== null && value !== undefined) e.setAttribute(key, value);
  for (const child of children.flat()) if (child !== null && child !== undefined) e.append(child);
  return e;
}

/* Heads that begin with "<" are of columns of text. A row: its cells, and whether it is the chosen one. */
function table(heads, rows) {
  const side = heads.map(h => h.startsWith('<') ? 'text' : null);
  const head = heads.map((h, i) => el('th', {class: side[i], scope: 'col'}, h.replace('<', '')));
  const mark = chosen => ({class: chosen ? 'chosen' : null, 'aria-current': chosen ? 'true' : null});
  const body = rows.map(({cells, chosen}) => el('tr', mark(chosen), cells.map((c, i) => el('td', {class: side[i]}, c))));
  return el('table', {}, el('thead', {}, el('tr', {}, head)), el('tbody', {}, body));
}

const number = n => n.toLocaleString('en-US');
const short = name => name.split('/').pop();
const dims = d => (d[2] > 1 ? d : d[1] > 1 ? d.slice(0, 2) : d.slice(0, 1)).join('×');
const say = (into, ...text) => into.append(el('p', {}, ...text));

/* ---- accesses ---- */
const unitOf = a => a.space === 'shared' ? 'wavefronts' : 'sectors';

function accessName(a) {
  const what = a.space === 'shared' ? a.variable || 'shared memory' : 'global memory';
  return `${a.operation} of ${a.width} bytes a lane, ${what}`;
}

function layoutText(l) {
  if (l.kind === 'pad')
    return `Rows of ${l.row} padded by ${l.pad} (elements of ${l.element} bytes, ${plural(l.added, 'byte')} more)`;
  const shift = l.xor_shift ? ` >> ${l.xor_shift}` : '', more = l.xor_times > 1 ? ` * ${l.xor_times}` : '';
  return `Swizzled: column ^ (row${shift} & ${l.xor_mask})${more} in rows of ${l.row} elements of ${l.element} bytes`;
}

function drawAccess(p, a) {
  const out = [el('h3', {}, `${accessName(a)}, `, placeLink(a.file, a.line)), el('p', {},
    `${number(a.count)} times by a warp, together ${plural(a.total, unitOf(a).slice(0, -1))}, ideal ` +
    `${number(a.total_ideal)}. The worst of them:`)];
  if (a.space === 'global')
    return out.concat(el('figure', {}, drawScroll(drawSectors(p, a)), el('figcaption', {},
      `${plural(a.sectors, 'sector')}, ideal ${a.sectors_ideal}. Bytes are counted from the start of the first line.`)));
  out.push(...drawBanks(p, a, a, 'As it is'), ...a.layouts.flatMap(l => drawBanks(p, a, l, layoutText(l))));
  const none = a.wavefronts > a.wavefronts_ideal
    ? 'No padding or swizzle that was tried helps all accesses of the variable.' : 'No bank conflicts.';
  const some = 'The layouts are the best for all accesses of the variable together, tried on the worst of each ' +
    'instruction.';
  return out.concat(el('p', {class: 'dim'}, a.layouts.length ? some : none));
}

/* Instructions of one line that do the same, as those of an unrolled loop, are one row. */
function accessRows(p, shown, chosen) {
  const alike = new Map();
  for (const i of shown) {
    const a = p.accesses[i], key = [a.file, a.line, accessName(a), a.wavefronts, a.sectors].join();
    alike.set(key, (alike.get(key) || []).concat(i));
  }
  return [...alike.values()].map(group => {
    const a = p.accesses[group[0]], unit = unitOf(a);
    const sum = of => number(group.reduce((all, i) => all + of(p.accesses[i]), 0));
    const link = (i, n) => el('a', {href: address({access: i}), class: n ? null : 'access',
      'aria-label': n ? `instruction ${n + 1} of these` : null}, n ? n + 1 : accessName(a));
    return {chosen: group.includes(chosen), cells: [group.flatMap((i, n) => [n ? ' ' : '', link(i, n)]),
      short(where(a.file, a.line)), sum(x => x.count),
      `${plural(a[unit], unit.slice(0, -1))}, ideal ${a[unit + '_ideal']}`,
      sum(x => Math.max(0, x.total - x.total_ideal))]};
  });
}

function showAccesses(k, into) {
  const p = k.picture;
  if (!p)
    return say(into, 'Pictures of this kernel are not in the page: nothing of it was executed, or there was no room.');
  if (!p.accesses.length) return say(into, 'No access to shared or global memory.');
  const all = p.accesses.map((a, i) => i), at = a => `${a.file}:${a.line}`;
  const here = all.filter(i => at(p.accesses[i]) === state.line);
  const shown = here.length ? here : all, chosen = p.accesses[state.access] ? state.access : shown[0];
  if (here.length) say(into, `In ${where(...state.line.split(':').map(Number))}. `,
    el('a', {href: address({line: null, access: null})}, 'All of the kernel'));
  into.append(el('div', {class: 'list accesses', tabindex: 0},
    table(['<Access', 'Line', 'Times', 'The worst', 'Above the ideal'], accessRows(p, shown, chosen))));
  if (p.accesses_left_out) say(into, `${plural(p.accesses_left_out, 'instruction')} more, none worse.`);
  into.append(el('div', {id: 'picture'}, drawAccess(p, p.accesses[chosen])));
}

/* ---- occupancy, roofline, pipeline ---- */
function showOccupancy(k, into) {
  const o = k.occupancy;
  if (!o) return say(into, 'Not known.');
  const most = Math.max(...o.limits.map(l => l[1])), s = o.step;
  say(into, `${plural(o.blocks, 'block')} of ${o.threads} threads fit on a multiprocessor: ${o.warps} of ` +
    `${o.max_warps} warps, ${Math.round(100 * o.warps / o.max_warps)} %. ${o.blocks ? `Held back by ${o.binding}.` : ''}`);
  into.append(el('div', {class: 'scroll limits'}, table(['<Limit', 'Blocks', '<'], o.limits.map(([name, n]) => ({
    chosen: name === o.binding, cells: [name, number(n),
      [el('span', {class: 'bar', style: `width:${Math.round(110 * n / most)}px`}),
        name === o.binding ? ' binds' : '']]})))));
  const ways = [s.threads && `${s.threads} threads a block`, s.registers && `${s.registers} registers a thread`,
    s.shared && `${number(s.shared)} bytes of shared memory a block`].filter(Boolean);
  if (ways.length && o.warps < o.max_warps)
    say(into, `${plural(s.blocks, 'block')} would fit with ${ways.join(', or ')}.`);
  say(into, `Registers a thread: ${k.regs}. Shared memory a block: ${number(k.shared_static)} bytes static, ` +
    `${number(k.shared_dynamic)} dynamic.`);
}

function showRoofline(k, into) {
  const a = adviceOf(k);
  if (!a || !a.roofline)
    return say(into, `margay advise --html makes a page with rooflines: this one was made by margay ${data.command}.`);
  const drawing = drawRoofline(a), r = a.roofline;
  if (drawing) into.append(el('figure', {}, drawScroll(drawing), el('figcaption', {},
    `Circles: the kernel's FLOP for each byte of that memory. The roof that binds is drawn thick: ${r.binding}.`)));
  else say(into, 'No floating-point operations, or no memory traffic: nothing to draw.');
  into.append(el('div', {class: 'scroll'}, table(['<Roof', 'Peak a second', 'Amount', 'Seconds at the peak', ''],
    r.roofs.map(f => ({chosen: f.name === r.binding, cells: [f.name, si(f.peak), si(f.amount),
      f.seconds ? f.seconds.toExponential(2) : '0', f.name === r.binding ? 'binds' : '']})))));
}

function showPipeline(k, into) {
  const p = k.picture;
  if (!p || !p.copies.length) return say(into, 'No asynchronous copies (cp.async) were seen in the first block.');
  const most = Math.max(...p.copies.map(c => c.pending));
  say(into, `Warp ${p.copies_warp} of the first block, step by step. A wait lets a number of groups stay on their way; ` +
    `the most in flight were ${most}.`);
  const heads = ['Step', 'What', 'Bytes', '<Groups in flight afterwards', 'Line'];
  const rows = p.copies.map((c, i) => ({cells: [i + 1, c.what, c.what === 'commit' ? number(c.bytes) : '',
    `${c.pending} ${'■'.repeat(c.pending)}${'□'.repeat(most - c.pending)}`, placeLink(c.file, c.line)]}));
  into.append(el('div', {class: 'list', tabindex: 0}, table(heads, rows)));
  if (p.copies_left_out) say(into, `${plural(p.copies_left_out, 'step')} more.`);
}

/* ---- findings and advice ---- */
function showFindings(k, into) {
  const found = findingsOf(k), a = adviceOf(k);
  if (!found.length && !a)
    say(into, counted ? `margay ${data.command} looks for no mistakes: margay check --html does.` : 'Nothing was found.');
  for (const f of found)
    into.append(note(f.severity, `${f.check}/${f.kind} at `, placeLink(f.file, f.line),
      f.other_line ? el('span', {}, ' and ', placeLink(f.other_file, f.other_line)) : null, el('p', {}, f.message),
      el('p', {}, `Fix: ${f.advice}`)));
  if (!a) return;
  if (a.verdict) say(into, a.verdict);
  for (const i of a.advice)
    into.append(el('div', {class: 'note'}, el('div', {class: 'advice'}, el('b', {}, `${i.title} `),
      i.gain ? `(${Math.round(100 * i.gain)} % of the estimate) ` : '', i.line ? placeLink(i.file, i.line) : null,
      el('p', {}, i.why), el('p', {}, i.how))));
  const failed = (a.checklist || []).filter(c => c.result === 'failed')
    .map(c => el('li', {}, `${c.text}: ${c.counts}`));
  if (failed.length) into.append(el('h3', {}, 'Of the checklist, failed'), el('ul', {}, failed));
}
