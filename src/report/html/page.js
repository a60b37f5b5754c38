/* page.js - the page: kernels, and of the chosen one its source beside its PTX, its accesses, occupancy, roofline, what is
 * in flight, findings and advice. The address says what is shown (#kernel=2&tab=source&line=0:42), so that a link can be
 * kept and the browser's keys go back. Text from the data is set as text and never as markup. */
'use strict';

function el(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {}))
    if (key.startsWith('on')) e.addEventListener(key.slice(2), value);
    else if (value === true) e.setAttribute(key, '');
    else if (value !== false && value !== null && value !== undefined) e.setAttribute(key, value);
  for (const child of children.flat()) if (child !== null && child !== undefined) e.append(child);
  return e;
}

const data = JSON.parse(document.getElementById('data').textContent);
const number = n => n.toLocaleString('en-US');
const counted = data.command !== 'check';
const short = name => name.split('/').pop();
const METRICS = [
  ['excess', 'wavefronts above the ideal', l => Math.max(0, l[2] - l[3])],
  ['wavefronts', 'wavefronts', l => l[2]],
  ['sectors', 'sectors', l => l[4]],
  ['sectors-excess', 'sectors above the ideal', l => Math.max(0, l[4] - l[5])],
  ['divergent', 'divergent branches', l => l[6]],
  ['instructions', 'instructions of warps', l => l[7]],
];
const TABS = [
  ['source', 'Source and PTX', showSource], ['accesses', 'Banks and sectors', showAccesses],
  ['occupancy', 'Occupancy', showOccupancy], ['roofline', 'Roofline', showRoofline],
  ['pipeline', 'In flight', showPipeline], ['findings', 'Findings and advice', showFindings],
];
const state = {kernel: 0, tab: 'source', heat: null, line: null, access: null};

/* ---- the address ---- */
function read() {
  const given = new URLSearchParams(location.hash.slice(1));
  state.kernel = Math.max(0, Math.min(Math.floor(+given.get('kernel')) || 0, data.kernels.length - 1));
  state.tab = TABS.some(t => t[0] === given.get('tab')) ? given.get('tab') : 'source';
  state.heat = METRICS.some(m => m[0] === given.get('heat')) ? given.get('heat') : null;
  state.line = /^\d+:\d+$/.test(given.get('line') || '') ? given.get('line') : null;
  state.access = /^\d+$/.test(given.get('access') || '') ? +given.get('access') : null;
}

function address(change) {
  const next = {...state, ...change};
  const parts = Object.entries(next).filter(([, value]) => value !== null && value !== undefined);
  return '#' + parts.map(([key, value]) => `${key}=${value}`).join('&');
}

function go(change) {
  location.hash = address(change);
}

/* ---- what belongs to a kernel ---- */
const findingsOf = k => data.findings.filter(f => f.mangled === k.mangled);
function adviceOf(k) {
  const same = data.advice.filter(a => a.mangled === k.mangled);
  return same.find(a => String(a.grid) === String(k.grid) && String(a.block) === String(k.block)) || same[0];
}
const dims = d => (d[2] > 1 ? d : d[1] > 1 ? d.slice(0, 2) : d.slice(0, 1)).join('×');
const times = (a, b) => b ? `${(a / b).toFixed(1)}×` : '–';
const M = {wave: 'memory_l1_wavefronts_shared', waveIdeal: 'memory_l1_wavefronts_shared_ideal',
  sector: 'memory_l2_theoretical_sectors_global', sectorIdeal: 'memory_l2_theoretical_sectors_global_ideal',
  divergent: 'smsp__sass_branch_targets_threads_divergent.sum', inst: 'smsp__inst_executed.sum'};
const metric = (k, name) => k.metrics[M[name]] || 0;

function where(file, line) {
  return file === null || file === undefined || !line ? 'an unknown line' : `${data.files[file].name}:${line}`;
}

function placeLink(file, line) {
  const known = file !== null && file !== undefined && line;
  return known ? el('a', {href: address({tab: 'source', line: `${file}:${line}`, access: null})}, where(file, line)) : where(file, line);
}

/* ---- kernels ---- */
function showHead() {
  const program = data.program || 'a program';
  document.title = `${short(program)} – margay ${data.command}`;
  document.getElementById('head').replaceChildren(el('h1', {}, `${program}`),
    el('p', {class: 'dim'}, `margay ${data.command} ${data.version}, on a simulated ${data.device} (compute capability ${data.capability})`));
  document.getElementById('foot').replaceChildren(
    el('p', {}, 'Counts are of the simulated device; times on a GPU are not in them. Keys: ', el('kbd', {}, 'n'), ' and ',
      el('kbd', {}, 'p'), ' next and previous counted line, ', el('kbd', {}, 'j'), ' and ', el('kbd', {}, 'k'),
      ' next and previous kernel, arrow keys between tabs.'));
}

function showKernels() {
  const heads = counted ? ['Kernel', 'Launches', 'Wavefronts', '×ideal', 'Sectors', 'Efficiency', 'Divergent', 'Findings']
    : ['Kernel', 'Launches', 'Findings'];
  const rows = data.kernels.map((k, i) => {
    const found = findingsOf(k).length, launches = number(k.launches) + (k.failed ? `, ${number(k.failed)} failed` : '');
    const name = el('a', {href: address({kernel: i, line: null, access: null}), title: k.kernel}, k.name);
    const shape = ` grid ${dims(k.grid)}, block ${dims(k.block)}${k.shapes_differ ? ' and others' : ''}`;
    const cells = [el('td', {class: 'text'}, name, el('span', {class: 'dim'}, shape)), el('td', {}, launches)];
    if (counted) {
      const w = metric(k, 'wave'), s = metric(k, 'sector');
      cells.push(el('td', {}, w ? number(w) : '–'), el('td', {}, times(w, metric(k, 'waveIdeal'))),
        el('td', {}, s ? number(s) : '–'),
        el('td', {}, s ? `${Math.round(100 * Math.min(1, metric(k, 'sectorIdeal') / s))} %` : '–'),
        el('td', {}, number(metric(k, 'divergent'))));
    }
    cells.push(el('td', {}, found ? number(found) : '–'));
    return el('tr', {class: i === state.kernel ? 'chosen' : null, 'aria-current': i === state.kernel ? 'true' : null}, cells);
  });
  const more = data.kernels_left_out ? el('p', {}, `${plural(data.kernels_left_out, 'kernel')} more in the report.`) : null;
  const table = el('table', {}, el('thead', {}, el('tr', {}, heads.map((h, i) => el('th', {class: i ? null : 'text', scope: 'col'}, h)))),
    el('tbody', {}, rows));
  const host = data.findings.filter(f => !f.mangled).map(f => el('div', {class: 'note'}, el('div', {class: f.severity},
    el('b', {}, `${f.severity}: `), `${f.check}/${f.kind} at ${where(f.file, f.line)}: ${f.message} `, el('i', {}, f.advice))));
  const errors = data.errors.map(e => el('div', {class: 'note'}, el('div', {class: 'error'}, el('b', {}, 'error: '),
    `${e.kernel ? e.kernel + ': ' : ''}${e.message} `, e.line ? placeLink(e.file, e.line) : null, e.hint ? el('p', {}, e.hint) : null)));
  document.getElementById('kernels').replaceChildren(...errors, el('h2', {}, plural(data.kernels.length, 'kernel')),
    el('div', {class: 'list', tabindex: 0}, table), ...(more ? [more] : []), ...(host.length ? [el('h3', {}, 'Of the host'), ...host] : []));
}

/* ---- source and PTX ---- */
function heats(k, name) {
  const value = METRICS.find(m => m[0] === name)[2], of = new Map();
  for (const l of k.lines) of.set(`${l[0]}:${l[1]}`, value(l));
  return of;
}

function heatName(k) {
  if (state.heat) return state.heat;
  const worst = METRICS.find(m => (m[0] === 'excess' || m[0] === 'sectors-excess') && k.lines.some(l => m[2](l) > 0)) ||
    METRICS.find(m => k.lines.some(l => m[2](l) > 0));
  return worst ? worst[0] : 'wavefronts';
}

function notesOf(k) {
  const notes = new Map();
  const add = (file, line, note) => {
    const key = `${file}:${line}`;
    if (file !== null && file !== undefined && line) notes.set(key, (notes.get(key) || []).concat(note));
  };
  for (const f of findingsOf(k)) {
    add(f.file, f.line, el('div', {class: f.severity}, el('b', {}, `${f.severity}: `), `${f.message} `, el('i', {}, f.advice)));
    if (f.other_line && `${f.other_file}:${f.other_line}` !== `${f.file}:${f.line}`)
      add(f.other_file, f.other_line, el('div', {class: f.severity}, el('b', {}, `${f.severity}: `), 'the other place of ', placeLink(f.file, f.line)));
  }
  for (const i of ((adviceOf(k) || {}).advice || []).filter(item => item.line))
    add(i.file, i.line, el('div', {class: 'advice'}, el('b', {}, `advice (${Math.round(100 * i.gain)} %): `), i.title));
  return notes;
}

function fileTable(k, file, heat, most, notes) {
  const shown = data.files[file].source, rows = [], drawn = new Set(((k.picture || {}).accesses || []).map(a => `${a.file}:${a.line}`));
  shown.lines.forEach((text, i) => {
    const line = shown.first + i, key = `${file}:${line}`, value = heat.get(key);
    const bar = value ? el('i', {style: `width:${Math.max(2, 100 * value / most)}%`}) : null;
    const picture = drawn.has(key) ? [el('a', {href: address({tab: 'accesses', line: key, access: null}), title: 'where its lanes go'}, 'lanes')] : [];
    rows.push(el('tr', {id: `L${key}`, class: state.line === key ? 'here' : null},
      el('td', {class: 'heat'}, bar, el('span', {}, value === undefined ? '' : number(value))),
      el('td', {}, el('a', {href: address({line: key, access: null}), 'aria-label': `line ${line}`}, line)),
      el('td', {}, ...picture), el('td', {class: 'src'}, text)));
    if (notes.has(key)) rows.push(el('tr', {}, el('td', {class: 'heat'}), el('td', {class: 'note', colspan: 3}, notes.get(key).map(n => n.cloneNode(true)))));
  });
  return el('table', {}, el('tbody', {}, rows));
}

function ptxTable(k) {
  const p = k.picture;
  if (!p) return el('p', {}, 'The PTX of this kernel is not in the page.');
  if (!p.ptx.length) return el('p', {}, p.ptx_left_out ? 'The PTX of this kernel was left out: the page would be larger than 2 MB.' : 'No PTX.');
  const rows = p.ptx.map(([file, line, warps, text], i) => el('tr', {id: `P${i}`, class: state.line === `${file}:${line}` ? 'here' : null},
    el('td', {class: 'heat'}, number(warps)),
    el('td', {}, line ? el('a', {href: address({line: `${file}:${line}`, access: null}), 'aria-label': `line ${line}`}, line) : ''),
    el('td', {class: 'src'}, text)));
  const more = p.ptx_left_out ? el('p', {}, `${plural(p.ptx_left_out, 'instruction')} more.`) : null;
  return [el('table', {}, el('tbody', {}, rows)), more];
}

function showSource(k, into) {
  const name = heatName(k), heat = heats(k, name), notes = notesOf(k);
  const most = Math.max(1, ...heat.values());
  const used = new Set([...k.lines.map(l => l[0]), ...((k.picture || {}).ptx || []).map(i => i[0]), ...[...notes.keys()].map(n => +n.split(':')[0])]);
  const files = [...used].filter(f => data.files[f] && data.files[f].source);
  const sum = file => k.lines.filter(l => l[0] === file).reduce((a, l) => a + (heat.get(`${l[0]}:${l[1]}`) || 0), 0);
  files.sort((a, b) => sum(b) - sum(a));
  const chosen = state.line && files.includes(+state.line.split(':')[0]) ? +state.line.split(':')[0] : files[0];
  const heatChoice = el('select', {id: 'heat', onchange: e => go({heat: e.target.value})},
    METRICS.map(m => el('option', {value: m[0], selected: m[0] === name}, m[1])));
  const fileChoice = files.length > 1 ? [' in ', el('select', {id: 'file', 'aria-label': 'file',
    onchange: e => go({line: `${e.target.value}:${data.files[e.target.value].source.first}`})},
  files.map(f => el('option', {value: f, selected: f === chosen}, data.files[f].name)))] : chosen !== undefined ? ` in ${data.files[chosen].name}` : '';
  const unknown = k.lines.filter(l => !l[1]).reduce((a, l) => a + METRICS.find(m => m[0] === name)[2](l), 0);
  into.append(el('p', {}, counted ? el('label', {}, 'Heat: ', heatChoice) : 'Source', fileChoice),
    counted ? '' : el('p', {class: 'dim'}, 'A check counts nothing: profile does.'));
  const source = chosen === undefined ? el('p', {}, 'No source text: compile with nvcc -lineinfo, and keep the file where it was.')
    : fileTable(k, chosen, heat, most, notes);
  into.append(el('div', {class: 'two'},
    el('div', {}, el('h3', {}, 'Source'), el('div', {class: 'code', id: 'source', tabindex: 0, 'aria-label': 'source'}, source)),
    el('div', {}, el('h3', {}, 'PTX'), el('div', {class: 'code', id: 'ptx', tabindex: 0, 'aria-label': 'PTX: warps, line, instruction'}, ptxTable(k)))));
  if (unknown) into.append(el('p', {class: 'dim'}, `${number(unknown)} at no known line.`));
  if (k.lines_left_out) into.append(el('p', {class: 'dim'}, `${plural(k.lines_left_out, 'line')} more in the report.`));
}

function revealLine() {
  for (const box of document.querySelectorAll('.code')) {
    const row = box.querySelector('tr.here');
    if (row) box.scrollTop = Math.max(0, row.offsetTop - box.clientHeight / 3);
  }
}

/* ---- accesses ---- */
function accessName(a) {
  const what = a.space === 'shared' ? `${a.variable || 'shared memory'}` : 'global memory';
  return `${a.operation} of ${a.width} bytes a lane, ${what}`;
}

function layoutText(l) {
  if (l.kind === 'pad')
    return `Rows of ${l.row} padded by ${l.pad} (elements of ${l.element} bytes, ${plural(l.added, 'byte')} more)`;
  const shift = l.xor_shift ? ` >> ${l.xor_shift}` : '', more = l.xor_times > 1 ? ` * ${l.xor_times}` : '';
  return `Swizzled: column ^ (row${shift} & ${l.xor_mask})${more} in rows of ${l.row} elements of ${l.element} bytes`;
}

function drawAccess(p, a) {
  const out = [el('h3', {}, `${accessName(a)}, `, placeLink(a.file, a.line))];
  const unit = a.space === 'shared' ? 'wavefront' : 'sector';
  out.push(el('p', {}, `${number(a.count)} times by a warp, together ${plural(a.total, unit)}, ideal ${number(a.total_ideal)}. The worst of them:`));
  if (a.space === 'global') {
    out.push(el('figure', {}, drawScroll(drawSectors(p, a)),
      el('figcaption', {}, `${plural(a.sectors, 'sector')}, ideal ${a.sectors_ideal}. Bytes are counted from the start of the first line.`)));
    return out;
  }
  out.push(...drawBanks(p, a, a, 'As it is'));
  for (const l of a.layouts) out.push(...drawBanks(p, a, l, layoutText(l)));
  if (!a.layouts.length)
    out.push(el('p', {}, a.wavefronts > a.wavefronts_ideal ? 'No padding or swizzle that was tried helps all accesses of the variable.' : 'No bank conflicts.'));
  else out.push(el('p', {class: 'dim'}, 'The layouts are the best for all accesses of the variable together, tried on the worst of each instruction.'));
  return out;
}

function showAccesses(k, into) {
  const p = k.picture;
  if (!p || !p.accesses.length) {
    into.append(el('p', {}, p ? 'No access to shared or global memory.' : 'Pictures of this kernel are not in the page: it would be larger than 2 MB, or nothing was executed.'));
    return;
  }
  const here = p.accesses.map((a, i) => i).filter(i => !state.line || `${p.accesses[i].file}:${p.accesses[i].line}` === state.line);
  const list = here.length ? here : p.accesses.map((a, i) => i);
  const chosen = state.access !== null && p.accesses[state.access] ? state.access : list[0];
  const alike = new Map(); // instructions of one line that do the same, as those of an unrolled loop, are one row
  for (const i of list) {
    const a = p.accesses[i], key = [a.file, a.line, accessName(a), a.wavefronts, a.sectors].join();
    alike.set(key, (alike.get(key) || []).concat(i));
  }
  const rows = [...alike.values()].map(group => {
    const a = p.accesses[group[0]], unit = a.space === 'shared' ? 'wavefronts' : 'sectors';
    const sum = of => number(group.reduce((all, i) => all + of(p.accesses[i]), 0));
    const more = group.slice(1).flatMap((i, n) => [' ', el('a', {href: address({access: i}), 'aria-label': `instruction ${n + 2} of these`}, n + 2)]);
    return el('tr', {class: group.includes(chosen) ? 'chosen' : null}, el('td', {class: 'text'},
      el('a', {href: address({access: group[0]}), class: 'access'}, accessName(a)), ...more), el('td', {}, short(where(a.file, a.line))),
    el('td', {}, sum(x => x.count)), el('td', {}, `${plural(a[unit], unit.slice(0, -1))}, ideal ${a[unit + '_ideal']}`),
    el('td', {}, sum(x => Math.max(0, x.total - x.total_ideal))));
  });
  if (state.line && here.length)
    into.append(el('p', {}, `In ${where(...state.line.split(':').map(Number))}. `, el('a', {href: address({line: null, access: null})}, 'All of the kernel')));
  into.append(el('div', {class: 'list accesses', tabindex: 0}, el('table', {}, el('thead', {}, el('tr', {},
    ['Access', 'Line', 'Times', 'The worst', 'Above the ideal'].map((h, i) => el('th', {scope: 'col', class: i ? null : 'text'}, h)))), el('tbody', {}, rows))));
  if (p.accesses_left_out) into.append(el('p', {class: 'dim'}, `${plural(p.accesses_left_out, 'instruction')} more, none worse.`));
  into.append(el('div', {id: 'picture'}, drawAccess(p, p.accesses[chosen])));
}

/* ---- occupancy, roofline, pipeline ---- */
function showOccupancy(k, into) {
  const o = k.occupancy;
  if (!o) return void into.append(el('p', {}, 'Not known.'));
  const most = Math.max(...o.limits.map(l => l[1]));
  into.append(el('p', {}, `${plural(o.blocks, 'block')} of ${o.threads} threads fit on a multiprocessor: ${o.warps} of ${o.max_warps} warps, ` +
    `${Math.round(100 * o.warps / o.max_warps)} %. ${o.blocks ? `Held back by ${o.binding}.` : ''}`),
  el('div', {class: 'scroll'}, el('table', {class: 'limits'}, el('thead', {}, el('tr', {}, el('th', {class: 'text', scope: 'col'}, 'Limit'), el('th', {scope: 'col'}, 'Blocks'), el('th', {class: 'text', scope: 'col'}, ''))),
    el('tbody', {}, o.limits.map(([name, n]) => el('tr', {class: name === o.binding ? 'chosen' : null}, el('td', {class: 'text'}, name), el('td', {}, number(n)),
      el('td', {}, el('span', {class: 'bar', style: `width:${Math.round(110 * n / most)}px`}), name === o.binding ? ' binds' : '')))))));
  const s = o.step, ways = [s.threads && `${s.threads} threads a block`, s.registers && `${s.registers} registers a thread`, s.shared !== undefined && s.blocks && `${number(s.shared)} bytes of shared memory a block`].filter(Boolean);
  if (ways.length && o.warps < o.max_warps) into.append(el('p', {}, `${plural(s.blocks, 'block')} would fit with ${ways.join(', or ')}.`));
  into.append(el('p', {class: 'dim'}, `Registers a thread: ${k.regs}. Shared memory a block: ${number(k.shared_static)} bytes static, ${number(k.shared_dynamic)} dynamic.`));
}

function showRoofline(k, into) {
  const a = adviceOf(k);
  if (!a || !a.roofline) return void into.append(el('p', {}, 'margay advise --html makes a page with rooflines: this one was made by margay ', data.command, '.'));
  const drawing = drawRoofline(a), r = a.roofline;
  into.append(drawing ? el('figure', {}, drawScroll(drawing), el('figcaption', {}, `Circles: the kernel's FLOP for each byte of that memory. The roof that binds is drawn thick: ${r.binding}.`))
    : el('p', {}, 'No floating-point operations, or no memory traffic: nothing to draw.'));
  into.append(el('div', {class: 'scroll'}, el('table', {}, el('thead', {}, el('tr', {}, ['Roof', 'Peak a second', 'Amount', 'Seconds at the peak', ''].map((h, i) => el('th', {scope: 'col', class: i ? null : 'text'}, h)))),
    el('tbody', {}, r.roofs.map(f => el('tr', {class: f.name === r.binding ? 'chosen' : null}, el('td', {class: 'text'}, f.name), el('td', {}, si(f.peak)), el('td', {}, si(f.amount)),
      el('td', {}, f.seconds ? f.seconds.toExponential(2) : '0'), el('td', {}, f.name === r.binding ? 'binds' : '')))))));
}

function showPipeline(k, into) {
  const p = k.picture;
  if (!p || !p.copies.length) return void into.append(el('p', {}, 'No asynchronous copies (cp.async) were seen in the first block.'));
  const most = Math.max(...p.copies.map(c => c.pending));
  into.append(el('p', {}, `Warp ${p.copies_warp} of the first block, step by step. A wait lets a number of groups stay on their way; the most in flight were ${most}.`),
    el('div', {class: 'list', tabindex: 0}, el('table', {}, el('thead', {}, el('tr', {}, ['Step', 'What', 'Bytes', 'Groups in flight afterwards', 'Line'].map((h, i) => el('th', {scope: 'col', class: i === 3 ? 'text' : null}, h)))),
      el('tbody', {}, p.copies.map((c, i) => el('tr', {}, el('td', {}, i + 1), el('td', {}, c.what), el('td', {}, c.what === 'commit' ? number(c.bytes) : ''),
        el('td', {class: 'text'}, `${c.pending} ${'■'.repeat(c.pending)}${'□'.repeat(most - c.pending)}`), el('td', {}, placeLink(c.file, c.line))))))));
  if (p.copies_left_out) into.append(el('p', {class: 'dim'}, `${plural(p.copies_left_out, 'step')} more.`));
}

/* ---- findings and advice ---- */
function showFindings(k, into) {
  const found = findingsOf(k), a = adviceOf(k);
  if (!found.length && !a)
    into.append(el('p', {}, counted ? `margay ${data.command} looks for no mistakes: margay check --html does.` : 'Nothing was found.'));
  for (const f of found)
    into.append(el('div', {class: 'note'}, el('div', {class: f.severity}, el('b', {}, `${f.severity}: `), `${f.check}/${f.kind} at `, placeLink(f.file, f.line),
      f.other_line ? [' and ', placeLink(f.other_file, f.other_line)] : null, el('p', {}, f.message), el('p', {}, `Fix: ${f.advice}`))));
  if (!a) return;
  if (a.verdict) into.append(el('p', {}, a.verdict));
  for (const i of a.advice)
    into.append(el('div', {class: 'note'}, el('div', {class: 'advice'}, el('b', {}, `${i.title} `), i.gain ? `(${Math.round(100 * i.gain)} % of the estimate) ` : '',
      i.line ? placeLink(i.file, i.line) : null, el('p', {}, i.why), el('p', {}, i.how))));
  const failed = (a.checklist || []).filter(c => c.result === 'failed');
  if (failed.length) into.append(el('h3', {}, 'Of the checklist, failed'), el('ul', {}, failed.map(c => el('li', {}, `${c.text}: ${c.counts}`))));
}

/* ---- the chosen kernel ---- */
function showDetail() {
  const into = document.getElementById('detail'), k = data.kernels[state.kernel];
  if (!k) return void into.replaceChildren(el('p', {}, 'No kernel was launched.'));
  const had = document.activeElement && document.activeElement.getAttribute('role') === 'tab';
  const tabs = TABS.map(([id, text]) => el('button', {role: 'tab', id: `tab-${id}`, 'aria-selected': String(id === state.tab), 'aria-controls': 'panel',
    tabindex: id === state.tab ? 0 : -1, onclick: () => go({tab: id})}, id === 'findings' ? `${text}${findingsOf(k).length ? ` (${findingsOf(k).length})` : ''}` : text));
  const panel = el('div', {role: 'tabpanel', id: 'panel', 'aria-labelledby': `tab-${state.tab}`});
  const list = el('div', {role: 'tablist', 'aria-label': 'views', onkeydown: e => {
    const at = TABS.findIndex(t => t[0] === state.tab), by = {ArrowRight: 1, ArrowLeft: -1}[e.key];
    if (by) { e.preventDefault(); go({tab: TABS[(at + by + TABS.length) % TABS.length][0]}); }
  }}, tabs);
  into.replaceChildren(el('h2', {}, k.kernel), el('p', {class: 'dim'}, `grid ${dims(k.grid)}, block ${dims(k.block)}, ${plural(k.shared_static + k.shared_dynamic, 'byte')} of shared memory` +
    (k.waits ? '; counts depend on who waited for whom' : '')), list, panel);
  TABS.find(t => t[0] === state.tab)[2](k, panel);
  if (had) document.getElementById(`tab-${state.tab}`).focus();
  if (state.tab === 'source') revealLine();
}

function nextLine(by) {
  const k = data.kernels[state.kernel];
  if (!k) return;
  const heat = heats(k, heatName(k));
  const lines = k.lines.filter(l => l[1] && heat.get(`${l[0]}:${l[1]}`)).map(l => [l[0], l[1]]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  if (!lines.length) return;
  const now = (state.line || '').split(':').map(Number);
  let at = lines.findIndex(l => l[0] === now[0] && l[1] === now[1]);
  at = at < 0 ? (by > 0 ? 0 : lines.length - 1) : (at + by + lines.length) % lines.length;
  go({tab: 'source', line: lines[at].join(':'), access: null});
}

addEventListener('keydown', e => {
  if (e.ctrlKey || e.altKey || e.metaKey || e.target.matches('select, input')) return;
  const count = data.kernels.length;
  if (e.key === 'n' || e.key === 'p') nextLine(e.key === 'n' ? 1 : -1);
  else if ((e.key === 'j' || e.key === 'k') && count) go({kernel: (state.kernel + (e.key === 'j' ? 1 : count - 1)) % count, line: null, access: null});
});

function show() {
  const before = state.kernel, first = !document.getElementById('detail').firstChild;
  read();
  const list = document.querySelector('#kernels .list'), at = list ? list.scrollTop : 0;
  showKernels();
  if (!first && before === state.kernel) document.querySelector('#kernels .list').scrollTop = at;
  showDetail();
}
addEventListener('hashchange', show);
showHead();
show();
