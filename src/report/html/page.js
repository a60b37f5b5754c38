/* page.js - the page: kernels, and of the chosen one its source beside its PTX and the views of views.js. The address
 * says what is shown (#kernel=2&tab=source&line=0:42), so that a link can be kept and the browser's keys go back. Text
 * from the data is set as text and never as markup. draw.js and views.js stand before this file in the page. */
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);
const counted = data.command !== 'check';
// Of a line: file, line, wavefronts, ideal, sectors, ideal, divergent branches, instructions, ns, stalls.
const METRICS = [
  ['excess', 'wavefronts above the ideal', l => Math.max(0, l[2] - l[3])],
  ['wavefronts', 'wavefronts', l => l[2]],
  ['sectors', 'sectors', l => l[4]],
  ['sectors-excess', 'sectors above the ideal', l => Math.max(0, l[4] - l[5])],
  ['divergent', 'divergent branches', l => l[6]],
  ['instructions', 'instructions of warps', l => l[7]],
  ['time', 'estimated time, ns', l => l[8]],
];
const TABS = [
  ['source', 'Source and PTX', showSource], ['accesses', 'Banks and sectors', showAccesses],
  ['occupancy', 'Occupancy', showOccupancy], ['roofline', 'Roofline', showRoofline],
  ['pipeline', 'In flight', showPipeline], ['findings', 'Findings and advice', showFindings],
];
const state = {kernel: 0, tab: 'source', heat: null, line: null, access: null};

/* ---- the address ---- */
function read() {
  const given = new URLSearchParams(location.hash.slice(1)), text = key => given.get(key) || '';
  const among = (list, key) => list.some(entry => entry[0] === given.get(key)) ? given.get(key) : null;
  state.kernel = Math.max(0, Math.min(Math.floor(+given.get('kernel')) || 0, data.kernels.length - 1));
  state.tab = among(TABS, 'tab') || 'source';
  state.heat = among(METRICS, 'heat');
  state.line = /^\d+:\d+$/.test(text('line')) ? text('line') : null;
  state.access = /^\d+$/.test(text('access')) ? +text('access') : null;
}

function address(change) {
  const parts = Object.entries({...state, ...change}).filter(([, value]) => value !== null && value !== undefined);
  return '#' + parts.map(([key, value]) => `${key}=${value}`).join('&');
}

function go(change) {
  location.hash = address(change);
}

/* ---- what belongs to a kernel, and to a place ---- */
const findingsOf = k => data.findings.filter(f => f.mangled === k.mangled);
function adviceOf(k) {
  const same = data.advice.filter(a => a.mangled === k.mangled);
  return same.find(a => String(a.grid) === String(k.grid) && String(a.block) === String(k.block)) || same[0];
}

const COUNTERS = {wave: 'memory_l1_wavefronts_shared', waveIdeal: 'memory_l1_wavefronts_shared_ideal',
  sector: 'memory_l2_theoretical_sectors_global', sectorIdeal: 'memory_l2_theoretical_sectors_global_ideal',
  divergent: 'smsp__sass_branch_targets_threads_divergent.sum', time: 'gpu__time_duration.sum',
  timeLeast: 'time__least', timeMost: 'time__most'};
const metric = (k, name) => k.metrics[COUNTERS[name]] || 0;

const isKnown = (file, line) => file !== null && file !== undefined && line > 0;
function where(file, line) {
  return isKnown(file, line) ? `${data.files[file].name}:${line}` : 'an unknown line';
}

function placeLink(file, line) {
  if (!isKnown(file, line)) return where(file, line);
  return el('a', {href: address({tab: 'source', line: `${file}:${line}`, access: null})}, where(file, line));
}

/* ---- kernels ---- */
function showHead() {
  const program = data.program || 'a program';
  document.title = `${short(program)} – margay ${data.command}`;
  document.getElementById('head').replaceChildren(el('h1', {}, program), el('p', {class: 'dim'},
    `margay ${data.command} ${data.version}, on a simulated ${data.device} (compute capability ${data.capability})`));
  const keys = (...names) => names.map((name, i) => [i ? ' and ' : '', el('kbd', {}, name)]).flat();
  document.getElementById('foot').replaceChildren(el('p', {},
    'Counts are of the simulated device; times are estimates, made by profile --time. Keys: ', ...keys('n', 'p'),
    ' next and previous counted line, ', ...keys('j', 'k'), ' next and previous kernel, arrow keys between tabs.'));
}

/* Of nanoseconds: "5.3 us". */
function duration(ns) {
  const units = ['ns', 'us', 'ms', 's'];
  let u = 0;
  for (; ns >= 999.5 && u + 1 < units.length; u++) ns /= 1000;
  return `${ns > 0 && ns < 9.95 ? ns.toFixed(1) : Math.round(ns)} ${units[u]}`;
}

const isTimed = () => data.kernels.some(k => metric(k, 'time') > 0);
function timeCell(k) {
  if (!metric(k, 'time')) return '–';
  const range = `${duration(metric(k, 'timeLeast'))} to ${duration(metric(k, 'timeMost'))} in four of five`;
  return el('span', {title: range}, duration(metric(k, 'time')));
}

function kernelRow(k, i) {
  const found = findingsOf(k).length, wave = metric(k, 'wave'), sector = metric(k, 'sector');
  const shape = ` grid ${dims(k.grid)}, block ${dims(k.block)}${k.shapes_differ ? ' and others' : ''}`;
  const name = el('a', {href: address({kernel: i, line: null, access: null}), title: k.kernel}, k.name);
  const counts = [
    wave ? number(wave) : '–', metric(k, 'waveIdeal') ? `${(wave / metric(k, 'waveIdeal')).toFixed(1)}×` : '–',
    sector ? number(sector) : '–',
    sector ? `${Math.round(100 * Math.min(1, metric(k, 'sectorIdeal') / sector))} %` : '–',
    number(metric(k, 'divergent')),
  ];
  return {chosen: i === state.kernel, cells: [[name, el('span', {class: 'dim'}, shape)],
    number(k.launches) + (k.failed ? `, ${number(k.failed)} failed` : ''), ...(isTimed() ? [timeCell(k)] : []),
    ...(counted ? counts : []),
    found ? number(found) : '–']};
}

function note(severity, ...text) {
  return el('div', {class: 'note'}, el('div', {class: severity}, el('b', {}, `${severity}: `), ...text));
}

function showKernels() {
  const counts = ['Wavefronts', '×ideal', 'Sectors', 'Efficiency', 'Divergent'];
  const heads = ['<Kernel', 'Launches', ...(isTimed() ? ['Time'] : []), ...(counted ? counts : []), 'Findings'];
  const left = data.kernels_left_out;
  const errors = data.errors.map(e => note('error', e.kernel ? `${e.kernel}: ` : '', `${e.message} `,
    e.line ? placeLink(e.file, e.line) : null, e.hint ? el('p', {}, e.hint) : null));
  const host = data.findings.filter(f => !f.mangled).map(f => note(f.severity,
    `${f.check}/${f.kind} at ${where(f.file, f.line)}: ${f.message} `, el('i', {}, f.advice)));
  document.getElementById('kernels').replaceChildren(...errors, el('h2', {}, plural(data.kernels.length, 'kernel')),
    el('div', {class: 'list', tabindex: 0}, table(heads, data.kernels.map(kernelRow))),
    left ? el('p', {}, `${plural(left, 'kernel')} more in the report.`) : '',
    ...(host.length ? [el('h3', {}, 'Of the host'), ...host] : []));
}

/* ---- source and PTX ---- */
const metricNamed = name => METRICS.find(m => m[0] === name);

function heats(k, name) {
  return new Map(k.lines.map(l => [`${l[0]}:${l[1]}`, metricNamed(name)[2](l)]));
}

/* What was chosen; else time, where it was estimated; else what costs more than it should; else what there is. */
function heatName(k) {
  const counts = m => k.lines.some(l => m[2](l) > 0);
  const best = METRICS.find(m => m[0] === 'time' && counts(m)) ||
    METRICS.find(m => m[0].endsWith('excess') && counts(m)) || METRICS.find(counts);
  return state.heat || (best ? best[0] : 'wavefronts');
}

/* What warps did in the time of a line, from a tenth on: "long_scoreboard 80 %, selected 12 %". */
function stallText(stalls) {
  const all = Object.values(stalls).reduce((a, b) => a + b, 0);
  return Object.entries(stalls).filter(s => s[1] * 10 >= all).sort((a, b) => b[1] - a[1])
    .map(s => `${s[0]} ${Math.round(100 * s[1] / all)} %`).join(', ');
}

/* Findings, advice and time, by the line under which they stand. */
function notesOf(k) {
  const notes = new Map();
  const add = (file, line, ...children) => {
    const key = `${file}:${line}`;
    if (isKnown(file, line)) notes.set(key, (notes.get(key) || []).concat(el('div', ...children)));
  };
  for (const f of findingsOf(k)) {
    const head = el('b', {}, `${f.severity}: `);
    add(f.file, f.line, {class: f.severity}, head, `${f.message} `, el('i', {}, f.advice));
    if (`${f.other_file}:${f.other_line}` !== `${f.file}:${f.line}`)
      add(f.other_file, f.other_line, {class: f.severity}, head.cloneNode(true), 'the other place of ',
        placeLink(f.file, f.line));
  }
  const time = k.lines.reduce((all, l) => all + l[8], 0);
  for (const l of k.lines)
    if (l[8] * 50 >= time && time)
      add(l[0], l[1], {class: 'time'}, el('b', {}, `time ${Math.round(100 * l[8] / time)} %: `), stallText(l[9]));
  for (const i of (adviceOf(k) || {}).advice || [])
    add(i.file, i.line, {class: 'advice'}, el('b', {}, `advice (${Math.round(100 * i.gain)} %): `), i.title);
  return notes;
}

function lineLink(file, line) {
  return el('a', {href: address({line: `${file}:${line}`, access: null}), 'aria-label': `line ${line}`}, line);
}

function sourceTable(k, file, heat, notes) {
  const shown = data.files[file].source, rows = [], most = Math.max(1, ...heat.values());
  const drawn = new Set(((k.picture || {}).accesses || []).map(a => `${a.file}:${a.line}`));
  shown.lines.forEach((text, i) => {
    const line = shown.first + i, key = `${file}:${line}`, value = heat.get(key);
    const lanes = {href: address({tab: 'accesses', line: key, access: null}), title: 'where its lanes go'};
    rows.push(el('tr', {id: `L${key}`, class: state.line === key ? 'here' : null},
      el('td', {class: 'heat'}, value ? el('i', {style: `width:${Math.max(2, 100 * value / most)}%`}) : null,
        el('span', {}, value === undefined ? '' : number(value))),
      el('td', {}, lineLink(file, line)), el('td', {}, drawn.has(key) ? el('a', lanes, 'lanes') : null),
      el('td', {class: 'src'}, text)));
    if (notes.has(key))
      rows.push(el('tr', {}, el('td', {class: 'heat'}), el('td', {class: 'note', colspan: 3}, notes.get(key))));
  });
  return el('table', {}, el('tbody', {}, rows));
}

function ptxTable(k) {
  const p = k.picture;
  if (!p) return el('p', {}, 'The PTX of this kernel is not in the page.');
  const rows = p.ptx.map(([file, line, warps, text], i) =>
    el('tr', {id: `P${i}`, class: state.line === `${file}:${line}` ? 'here' : null},
      el('td', {class: 'heat'}, number(warps)), el('td', {}, line ? lineLink(file, line) : ''),
      el('td', {class: 'src'}, text)));
  if (!rows.length && p.ptx_left_out)
    return el('p', {}, 'The PTX of this kernel was left out: the page would be larger than 2 MB.');
  const more = p.ptx_left_out ? el('p', {}, `${plural(p.ptx_left_out, 'instruction')} more.`) : null;
  return [el('table', {}, el('tbody', {}, rows)), more];
}

/* The files that the kernel is from, hottest first. */
function filesOf(k, heat, notes) {
  const used = new Set([...k.lines.map(l => l[0]), ...((k.picture || {}).ptx || []).map(i => i[0]),
    ...[...notes.keys()].map(key => +key.split(':')[0])]);
  const sum = file => [...heat].reduce((all, [key, value]) => all + (key.startsWith(`${file}:`) ? value : 0), 0);
  return [...used].filter(f => data.files[f] && data.files[f].source).sort((a, b) => sum(b) - sum(a));
}

function choice(id, text, options, chosen, change) {
  const list = options.map(([value, name]) => el('option', {value, selected: value === chosen}, name));
  return el('label', {}, text, el('select', {id, onchange: e => change(e.target.value)}, list));
}

function showSource(k, into) {
  const name = heatName(k), heat = heats(k, name), notes = notesOf(k), files = filesOf(k, heat, notes);
  const asked = state.line ? +state.line.split(':')[0] : -1, file = files.includes(asked) ? asked : files[0];
  const first = f => `${f}:${data.files[f].source.first}`, unknown = heats({lines: k.lines.filter(l => !l[1])}, name);
  into.append(el('p', {}, counted ? choice('heat', 'Heat: ', METRICS, name, value => go({heat: value})) : '',
    files.length > 1 ? choice('file', ' in ', files.map(f => [f, data.files[f].name]), file, f => go({line: first(f)}))
      : file !== undefined ? ` in ${data.files[file].name}` : ''));
  if (!counted) into.append(el('p', {class: 'dim'}, 'A check counts nothing: profile does.'));
  const source = file !== undefined ? sourceTable(k, file, heat, notes)
    : el('p', {}, 'No source text: compile with nvcc -lineinfo, and keep the file where it was.');
  const box = (id, title, about, content) => el('div', {}, el('h3', {}, title),
    el('div', {class: 'code', id, tabindex: 0, 'aria-label': about}, content));
  into.append(el('div', {class: 'two'}, box('source', 'Source', 'source', source),
    box('ptx', 'PTX', 'PTX: warps, line, instruction', ptxTable(k))));
  for (const value of unknown.values())
    if (value) into.append(el('p', {class: 'dim'}, `${number(value)} at no known line.`));
  if (k.lines_left_out) into.append(el('p', {class: 'dim'}, `${plural(k.lines_left_out, 'line')} more in the report.`));
}

/* Scrolls to the chosen line; where there is none to the hottest, to a finding, or to where the kernel begins. */
function revealLine(k) {
  const hottest = [...heats(k, heatName(k))].reduce((a, b) => b[1] > a[1] ? b : a, [null, 0])[0];
  const begin = ((k.picture || {}).ptx || []).find(i => i[1] > 0) || k.lines.find(l => l[1]);
  const key = [state.line, hottest, ...notesOf(k).keys(), begin && `${begin[0]}:${begin[1]}`].find(at => at);
  for (const box of document.querySelectorAll('.code')) {
    const row = box.querySelector('tr.here') || box.querySelector(`[id="L${key}"]`);
    if (row) box.scrollTop = Math.max(0, row.offsetTop - box.clientHeight / 3);
  }
}

/* ---- the chosen kernel ---- */
function nextTab(e) {
  const at = TABS.findIndex(t => t[0] === state.tab), by = {ArrowRight: 1, ArrowLeft: -1}[e.key];
  if (!by) return;
  e.preventDefault();
  go({tab: TABS[(at + by + TABS.length) % TABS.length][0]});
}

// "sums are estimates from 64 of 4,096 blocks, within 95 %: wavefronts ±12, sectors ±40"
function sampleText(k) {
  const s = k.sample, short = {memory_l1_wavefronts_shared: 'wavefronts', memory_l2_theoretical_sectors_global: 'sectors'};
  const within = Object.keys(short).filter(m => s.within[m]).map(m => `${short[m]} ±${number(Math.ceil(s.within[m]))}`);
  return `Sums are estimates from ${number(s.counted)} of ${number(s.blocks)} blocks` +
    (s.left_out ? ', and the others did not run' : '') + (within.length ? `; within 95 %: ${within.join(', ')}` : '');
}

function showDetail() {
  const into = document.getElementById('detail'), k = data.kernels[state.kernel];
  if (!k) return void into.replaceChildren(el('p', {}, 'No kernel was launched.'));
  const had = document.activeElement && document.activeElement.getAttribute('role') === 'tab';
  const found = findingsOf(k).length, shared = plural(k.shared_static + k.shared_dynamic, 'byte');
  const tab = ([id, text]) => el('button', {role: 'tab', id: `tab-${id}`, 'aria-selected': String(id === state.tab),
    'aria-controls': 'panel', tabindex: id === state.tab ? 0 : -1, onclick: () => go({tab: id})},
  id === 'findings' && found ? `${text} (${found})` : text);
  const panel = el('div', {role: 'tabpanel', id: 'panel', 'aria-labelledby': `tab-${state.tab}`});
  into.replaceChildren(el('h2', {}, k.kernel), el('p', {class: 'dim'},
    `grid ${dims(k.grid)}, block ${dims(k.block)}, ${shared} of shared memory` +
    (k.waits ? '; counts depend on who waited for whom' : '')),
  k.sample ? el('p', {class: 'dim'}, sampleText(k)) : '',
  el('div', {role: 'tablist', 'aria-label': 'views', onkeydown: nextTab}, TABS.map(tab)), panel);
  TABS.find(t => t[0] === state.tab)[2](k, panel);
  if (had) document.getElementById(`tab-${state.tab}`).focus();
  if (state.tab === 'source') revealLine(k);
}

/* ---- keys ---- */
function nextLine(by) {
  const k = data.kernels[state.kernel];
  const heat = k ? heats(k, heatName(k)) : new Map();
  const lines = (k ? k.lines : []).filter(l => l[1] && heat.get(`${l[0]}:${l[1]}`));
  lines.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  if (!lines.length) return;
  const at = lines.findIndex(l => `${l[0]}:${l[1]}` === state.line), start = by > 0 ? 0 : lines.length - 1;
  const next = lines[at < 0 ? start : (at + by + lines.length) % lines.length];
  go({tab: 'source', line: `${next[0]}:${next[1]}`, access: null});
}

addEventListener('keydown', e => {
  const count = data.kernels.length, kernel = {j: 1, k: count - 1}[e.key], line = {n: 1, p: -1}[e.key];
  if (e.ctrlKey || e.altKey || e.metaKey || e.target.matches('select, input')) return;
  if (line) nextLine(line);
  else if (kernel !== undefined && count) go({kernel: (state.kernel + kernel) % count, line: null, access: null});
});

function show() {
  const before = state.kernel, list = () => document.querySelector('#kernels .list');
  const at = list() ? list().scrollTop : 0;
  read();
  showKernels();
  if (before === state.kernel) list().scrollTop = at;
  showDetail();
}
addEventListener('hashchange', show);
showHead();
show();
