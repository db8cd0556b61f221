// A frame byte by byte: its octets and its fields, each pointing at the other.
const octetsPerRow = 16;

const hex = (value, digits) => value.toString(16).padStart(digits, "0");
const printable = octet => octet >= 0x20 && octet < 0x7f ? String.fromCharCode(octet) : "·";

// For each octet, the number of its innermost field that has it alone.
function fieldsOfOctets(fields) {
  const of = new Map();
  fields.forEach((field, index) => {
    if (field.bits) return;
    for (const [offset, size] of field.ranges) {
      for (let i = offset; i < offset + size; ++i) of.set(i, index);
    }
  });
  return of;
}

function irregularOctets(fields) {
  const wrong = new Set();
  for (const {ranges} of fields.filter(field => field.irregular)) {
    for (const [offset, size] of ranges) for (let i = offset; i < offset + size; ++i) wrong.add(i);
  }
  return wrong;
}

function octetRows(frame, of) {
  const wrong = irregularOctets(frame.fields);
  const cells = new Map();
  const chars = new Map();
  const row = (octets, base, from) => {
    const hexCells = el("span", {class: "hex"});
    const text = el("span", {class: "ascii", "aria-hidden": "true"});
    for (let i = from; i < Math.min(from + octetsPerRow, octets.length); ++i) {
      const at = base + i;
      const field = frame.fields[of.get(at)];
      const classes = `o p-${field?.part || "unknown"}${wrong.has(at) ? " irregular" : ""}`;
      cells.set(at, hexCells.appendChild(el("span", {class: classes, "data-at": at}, hex(octets[i], 2))));
      chars.set(at, text.appendChild(el("span", {"data-at": at}, printable(octets[i]))));
    }
    return el("div", {class: "row"}, el("span", {class: "offset"}, hex(base + from, 4)), hexCells, text);
  };
  const rows = [];
  for (let i = 0; i < frame.octets.length; i += octetsPerRow) rows.push(row(frame.octets, 0, i));
  if (frame.tail) {
    const base = frame.size - frame.tail.length;
    rows.push(el("p", {class: "gap"}, `… ${base - frame.octets.length} octets are only in the capture …`));
    for (let i = 0; i < frame.tail.length; i += octetsPerRow) rows.push(row(frame.tail, base, i));
  }
  return {rows, cells, chars};
}

function rangeText(ranges) {
  const one = ([offset, size]) => size === 1 ? String(offset) : `${offset}–${offset + size - 1}`;
  return ranges.length < 4 ? ranges.map(one).join(", ") : `${one(ranges[0])}, … ${one(ranges[ranges.length - 1])}`;
}

function fieldRow(field, index) {
  return el("tr", {class: `p-${field.part}${field.irregular ? " irregular" : ""}`, "data-field": index,
                   tabindex: index === 0 ? 0 : -1},
            el("th", {scope: "row", style: `--depth:${field.depth}`}, field.name),
            el("td", {class: "value"}, field.bits ? el("span", {class: "bits"}, field.bits) : null, field.value,
               field.irregular ? el("span", {class: "flag", title: "no sender that obeys the RFCs sends this"}, "irregular") : null),
            el("td", {class: "octets", title: "octets of the frame"}, rangeText(field.ranges)));
}

function frameView(number) {
  const frame = frameOf(number);
  const of = fieldsOfOctets(frame.fields);
  const {rows, cells, chars} = octetRows(frame, of);
  const fieldRows = frame.fields.map(fieldRow);
  const dump = el("div", {class: "dump", tabindex: 0, role: "group",
                          "aria-label": `${plural(frame.size, "octet")}; arrow keys go from one to the next`}, rows);
  const table = el("table", {class: "fields"},
                   el("thead", {}, el("tr", {}, ["Field", "Value", "Octets"].map(title => el("th", {scope: "col"}, title)))),
                   el("tbody", {}, fieldRows));
  const tableBox = el("div", {class: "fields-box"}, table);
  let pinned = -1;
  let cursor = -1;

  function light(index, at) {
    for (const marked of [dump, table]) {
      for (const element of marked.querySelectorAll(".lit, .at")) element.classList.remove("lit", "at");
    }
    if (index < 0) return;
    for (const [offset, size] of frame.fields[index].ranges) {
      for (let i = offset; i < offset + size; ++i) {
        cells.get(i)?.classList.add("lit");
        chars.get(i)?.classList.add("lit");
      }
    }
    fieldRows[index].classList.add("lit");
    if (at >= 0) cells.get(at)?.classList.add("at");
  }
  const reveal = index => {
    const row = fieldRows[index];
    const top = row.offsetTop - table.tHead.offsetHeight;
    if (top < tableBox.scrollTop) tableBox.scrollTop = top;
    const bottom = row.offsetTop + row.offsetHeight;
    if (bottom > tableBox.scrollTop + tableBox.clientHeight) tableBox.scrollTop = bottom - tableBox.clientHeight;
  };
  const atOf = event => Number(event.target.closest("[data-at]")?.dataset.at ?? -1);
  const fieldAt = at => of.has(at) ? of.get(at) : -1;
  function pin(index, at = -1) {
    pinned = index;
    cursor = at >= 0 ? at : index >= 0 ? frame.fields[index].ranges[0][0] : -1;
    light(index, at);
    if (index >= 0) reveal(index);
  }

  dump.addEventListener("mouseover", event => { if (atOf(event) >= 0) light(fieldAt(atOf(event)), -1); });
  dump.addEventListener("click", event => {
    const at = atOf(event);
    if (at >= 0) pin(pinned === fieldAt(at) && cursor === at ? -1 : fieldAt(at), at);
  });
  dump.addEventListener("keydown", event => {
    const step = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: octetsPerRow, ArrowUp: -octetsPerRow}[event.key];
    if (!step) return;
    event.preventDefault();
    const next = cursor < 0 ? 0 : cursor + step;
    if (cells.has(next)) pin(fieldAt(next), next);
  });
  table.addEventListener("mouseover", event => {
    const row = event.target.closest("[data-field]");
    if (row) light(Number(row.dataset.field), -1);
  });
  const focus = index => {
    if (!fieldRows[index]) return;
    for (const row of fieldRows) row.tabIndex = -1;
    fieldRows[index].tabIndex = 0;
    fieldRows[index].focus({preventScroll: true});
    pin(index);
  };
  table.addEventListener("click", event => {
    const row = event.target.closest("[data-field]");
    if (row) pinned === Number(row.dataset.field) ? pin(-1) : focus(Number(row.dataset.field));
  });
  table.addEventListener("keydown", event => {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (!step) return;
    event.preventDefault();
    focus(Number(event.target.closest("[data-field]").dataset.field) + step);
  });
  for (const part of [dump, table]) part.addEventListener("mouseleave", () => light(pinned, -1));

  // What is wrong shall be seen without scrolling; there is nothing to scroll before it is shown.
  const wrong = frame.fields.findIndex(field => field.irregular);
  if (wrong >= 0) requestAnimationFrame(() => reveal(wrong));

  const present = parts.filter(part => frame.fields.some(field => field.part === part));
  return el("div", {class: "frame"}, el("div", {class: "dump-box"}, dump, el("p", {class: "key"}, present.map(part =>
      el("span", {}, el("i", {class: `p-${part}`}), partNames[part])))), tableBox);
}
