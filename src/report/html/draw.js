/* draw.js - the drawings: lanes to banks, sectors, a roofline. Each function makes an SVG element of what a record
 * says; what things cost stands in the record, and only places on the screen are worked out here. */
'use strict';

function svg(name, attributes, ...children) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes || {})) e.setAttribute(key, value);
  e.append(...children);
  return e;
}

function label(x, y, text, cls) {
  return svg('text', {x, y, class: cls || ''}, String(text));
}

const lanesOf = access => access.lanes.map((at, lane) => ({lane, at})).filter(l => l.at !== null);

/* One phase of an access to shared memory: the lanes that are served together, above, and the banks, below. The number
 * under a bank is that of its different words, each of which takes a wavefront; of an atomic operation, where lanes go
 * one after the other even if they meet on a word, that of its lanes. */
function drawPhase(record, width, lanes, from, count, wavefronts) {
  const banks = record.banks, bytes = record.bank_bytes, step = 30, left = 62, top = 22, low = 150;
  const wide = left + banks * step + 8, words = Array.from({length: banks}, () => new Set());
  const each = Math.max(1, Math.ceil(width / bytes));
  const bank = at => Math.floor(at / bytes) % banks;
  const visits = new Array(banks).fill(0);
  for (const l of lanes)
    for (let i = 0; i < each; i++) {
      words[(bank(l.at) + i) % banks].add(Math.floor(l.at / bytes) + i);
      visits[(bank(l.at) + i) % banks]++;
    }
  const byLane = wavefronts !== Math.max(...words.map(w => w.size)) && wavefronts === Math.max(...visits);
  const asked = byLane ? visits : words.map(w => w.size), unit = byLane ? 'lanes' : 'words', most = Math.max(...asked);
  const draw = svg('svg', {viewBox: `0 0 ${wide} 206`, role: 'img'});
  draw.append(svg('title', {}, `Lanes ${from} to ${from + count - 1}: at most ${most} ${unit} in one bank`));
  draw.append(label(left - 8, top + 4, 'lane', 'right dim'), label(left - 8, low + 4, 'bank', 'right dim'),
    label(left - 8, low + 38, unit, 'right dim'));
  const place = i => left + (i + .5) * step;
  const x = lane => left + (lane - from + .5) * (banks * step / count);
  const size = Math.min(step, banks * step / count) - 4;
  for (const l of lanes) {
    const first = bank(l.at), hot = [...Array(each).keys()].some(i => asked[(first + i) % banks] > 1);
    const to = Math.min(place(first) + (each - 1) * step / 2, left + banks * step - step / 2);
    draw.append(svg('path', {class: hot ? 'way hot' : 'way',
      d: `M${x(l.lane)} ${top + 11}C${x(l.lane)} ${top + 62} ${to} ${low - 66} ${to} ${low - 13}`}));
    if (each > 1)
      draw.append(svg('path', {class: 'way', d: `M${place(first) - 11} ${low - 12}h${(each - 1) * step + 22}`}));
  }
  const busy = new Set(lanes.map(l => l.lane));
  for (let i = from; i < from + count; i++)
    draw.append(svg('rect', {class: busy.has(i) ? 'box' : 'idle', x: x(i) - size / 2, y: top - 11, width: size,
      height: 22}),
      label(x(i), top + 4, i, busy.has(i) ? '' : 'dim'));
  for (let i = 0; i < banks; i++) {
    const n = asked[i];
    draw.append(svg('rect', {class: n > 1 ? 'hit' : n ? 'full' : 'box', x: place(i) - 13, y: low - 11, width: 26,
      height: 22}),
      label(place(i), low + 4, i, n ? '' : 'dim'));
    if (n) draw.append(label(place(i), low + 38, n));
  }
  return draw;
}

function plural(n, word) {
  return `${n.toLocaleString('en-US')} ${word}${n === 1 ? '' : 's'}`;
}

/* All phases of an access as it is (`at` is the access) or in a layout (`at` is one of its layouts). */
function drawBanks(record, access, at, caption) {
  const phases = at.phases.length ? at.phases : [[0, 32, null]], out = [];
  for (const [from, count, wavefronts] of phases) {
    const lanes = lanesOf(at).filter(l => l.lane >= from && l.lane < from + count);
    if (!lanes.length) continue;
    const figure = el('figure', {}, drawScroll(drawPhase(record, access.width, lanes, from, count, wavefronts)));
    const part = phases.length > 1 ? `Lanes ${from}–${from + count - 1}, served together: ` : '';
    const cost = wavefronts !== null ? plural(wavefronts, 'wavefront') :
      access.operation === 'copy' ? 'what arrives is counted, by sectors' : 'the hardware takes several rounds';
    figure.append(el('figcaption', {}, `${part}${cost}.`));
    out.push(figure);
  }
  const what = `${caption}: ${plural(at.wavefronts, 'wavefront')}, ideal ${at.wavefronts_ideal}` +
    (phases.length > 1 ? `, in ${phases.length} phases` : '');
  return [el('h3', {}, what), ...out];
}

function drawScroll(drawing) {
  return el('div', {class: 'scroll', tabindex: 0}, drawing);
}

/* Lanes that follow one another as "0–7". */
function ranges(numbers) {
  const parts = [];
  for (const n of numbers) {
    const last = parts[parts.length - 1];
    if (last && last[1] === n - 1) last[1] = n;
    else parts.push([n, n]);
  }
  return parts.map(([a, b]) => a === b ? String(a) : `${a}–${b}`).join(',');
}

/* Sectors of an access to global memory: a row is a line of the cache, from the one that the first lane is in. */
function drawSectors(record, access) {
  const size = record.sector_bytes, line = record.line_bytes, columns = line / size, touched = new Map();
  for (const l of lanesOf(access))
    for (let s = Math.floor(l.at / size); s <= Math.floor((l.at + access.width - 1) / size); s++) {
      const use = touched.get(s) || {lanes: [], bytes: new Set()};
      use.lanes.push(l.lane);
      for (let b = Math.max(l.at, s * size); b < Math.min(l.at + access.width, (s + 1) * size); b++) use.bytes.add(b);
      touched.set(s, use);
    }
  const rows = [...new Set([...touched.keys()].map(s => Math.floor(s / columns)))].sort((a, b) => a - b).slice(0, 128);
  const high = 34, wide = 210, left = 110;
  const draw = svg('svg', {viewBox: `0 0 ${left + columns * wide + 10} ${24 + rows.length * high}`, role: 'img'});
  draw.append(svg('title', {}, `${touched.size} sectors in ${rows.length} lines`),
    label(left - 8, 14, 'byte', 'right dim'));
  for (let c = 0; c < columns; c++) draw.append(label(left + (c + .5) * wide, 14, `+${c * size}`, 'dim'));
  rows.forEach((row, i) => {
    const y = 20 + i * high;
    draw.append(label(left - 8, y + 19, (row * line).toLocaleString('en-US'), 'right'));
    for (let c = 0; c < columns; c++) {
      const use = touched.get(row * columns + c);
      draw.append(svg('rect', {class: use ? use.bytes.size < size ? 'hit' : 'full' : 'box', x: left + c * wide + 2, y,
        width: wide - 4, height: high - 6}));
      if (!use) continue;
      const who = ranges([...new Set(use.lanes)].sort((a, b) => a - b)), text = `lane ${who}`;
      draw.append(label(left + (c + .5) * wide, y + 13, text.length > 30 ? text.slice(0, 29) + '…' : text),
        label(left + (c + .5) * wide, y + 25, `${use.bytes.size} of ${size} bytes`, 'dim'));
    }
  });
  return draw;
}

/* Roofs as lines, and the kernel at its intensity for each. */
function drawRoofline(advice) {
  const r = advice.roofline, flops = r.roofs.find(f => f.name === 'arithmetic' && f.amount > 0);
  const memory = r.roofs.filter(f => f.name.endsWith('memory') && f.intensity > 0);
  const peak = flops ? flops.peak : 0;
  if (!memory.length || !peak) return null;
  const w = 860, h = 420, left = 74, right = 20, top = 16, bottom = 44;
  const xs = memory.map(f => f.intensity).concat(memory.map(f => peak / f.peak));
  const x0 = Math.floor(Math.log10(Math.min(...xs)) - .3), x1 = Math.ceil(Math.log10(Math.max(...xs)) + .3);
  const low = Math.min(r.attainable_flops_per_second || peak, ...memory.map(f => f.peak * 10 ** x0));
  const y0 = Math.floor(Math.log10(low)), y1 = Math.ceil(Math.log10(peak) + .2);
  const x = v => left + (Math.log10(v) - x0) / (x1 - x0) * (w - left - right);
  const y = v => h - bottom - (Math.log10(v) - y0) / (y1 - y0) * (h - top - bottom);
  const draw = svg('svg', {viewBox: `0 0 ${w} ${h}`, role: 'img'});
  draw.append(svg('title', {}, 'Roofline'),
    svg('path', {class: 'axis', d: `M${left} ${top}V${h - bottom}H${w - right}`}));
  for (let e = x0; e <= x1; e++)
    draw.append(label(x(10 ** e), h - bottom + 16, e >= 0 ? 10 ** e : (10 ** e).toFixed(-e)));
  for (let e = y0; e <= y1; e++) draw.append(label(left - 6, y(10 ** e) + 4, si(10 ** e), 'right'));
  draw.append(label((left + w) / 2, h - 8, 'FLOP a byte', 'dim'), label(left + 4, top + 2, 'FLOP/s', 'left dim'));
  for (const f of memory) {
    const knee = Math.min(peak / f.peak, 10 ** x1), binds = f.name === r.binding ? ' binds' : '';
    const at = Math.max(10 ** x0, 10 ** y0 / f.peak);
    draw.append(svg('path', {class: 'roof' + binds, d: `M${x(at)} ${y(f.peak * at)}L${x(knee)} ${y(f.peak * knee)}`}),
      label(x(at) + 8, y(f.peak * at) + 14, f.name, 'left'));
    const roof = Math.min(f.peak * f.intensity, peak);
    draw.append(svg('path', {class: 'axis', 'stroke-dasharray': '3 3',
      d: `M${x(f.intensity)} ${y(roof)}V${h - bottom}`}),
      svg('circle', {class: 'hit', cx: x(f.intensity), cy: y(roof), r: 5}));
  }
  const knee = Math.min(...memory.map(f => peak / f.peak));
  draw.append(svg('path', {class: 'roof', d: `M${x(knee)} ${y(peak)}H${w - right}`}),
    label(w - right, y(peak) - 6, flops.name, 'right'));
  return draw;
}

function si(value) {
  for (const [factor, unit] of [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']])
    if (value >= factor) return `${+(value / factor).toPrecision(3)} ${unit}`;
  return String(+value.toPrecision(3));
}
