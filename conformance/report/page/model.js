// The data of the page, and what follows from them.
//
// texts: each text once. shapes: [[name, part, depth, [offset, size, …], has bits], …], the fields of
// frames without their values. frames: [shape, size, [octets, last octets if the middle is left out],
// [value, bits if it has some, …], [irregular fields]]; octets in base64. Events of cases: [kind, time
// in µs, connection, text, frame or -1, faults].
const data = JSON.parse(document.getElementById("data").textContent);

const parts = ["mpa", "marker", "ddp", "rdmap", "payload", "unknown"];
const partNames = {
  mpa: "MPA", marker: "Marker", ddp: "DDP", rdmap: "RDMAP", payload: "payload", unknown: "not understood",
};
const verdicts = ["fail", "error", "departure", "skip", "pass"];
const kinds = ["wire", "unit", "ulp", "n/a", "not met"];
const results = [...verdicts, "not run"];
const meanings = {
  pass: "the target does what is demanded",
  fail: "the target does something else",
  error: "the target or its agent was lost, so nothing is known",
  departure: "fails as the table of the target's known departures says",
  skip: "does not apply to this target or to this run",
  "not run": "no case of it was run",
  wire: "cases show it from outside",
  unit: "cannot be seen from outside; tests of our own stack show it",
  ulp: "binds the application above, not the stack",
  "n/a": "does not apply to our own stack",
  "not met": "our own stack does not obey, or not in full",
};

const caseById = new Map(data.cases.map(one => [one.id, one]));
for (const one of data.cases) one.requirements = [];
for (const requirement of data.requirements) {
  for (const id of requirement.cases) caseById.get(id)?.requirements.push(requirement);
}

const unique = list => [...new Set(list)];
const layers = unique(data.cases.map(one => one.layer));
const rfcs = unique(data.requirements.map(one => one.rfc));
const levelOrder = ["MUST", "SHOULD", "MAY"];
const levels = unique([...levelOrder, ...data.requirements.map(one => one.level)]);

function countBy(list, key) {
  const counts = {};
  for (const item of list) counts[key(item)] = (counts[key(item)] || 0) + 1;
  return counts;
}

function octetsOf(base64) {
  return Uint8Array.from(atob(base64), character => character.charCodeAt(0));
}

// {size, octets: the first ones, tail: the last ones if the middle is left out, fields}.
function frameOf(number) {
  const [shape, size, shown, values, irregular] = data.frames[number];
  let at = 0;
  const fields = data.shapes[shape].map(([name, part, depth, flat, hasBits], index) => {
    const value = data.texts[values[at++]];
    const bits = hasBits ? data.texts[values[at++]] : "";
    const ranges = [];
    for (let i = 0; i < flat.length; i += 2) ranges.push([flat[i], flat[i + 1]]);
    return {name: data.texts[name], part: parts[part], depth, ranges, value, bits,
            irregular: irregular.includes(index)};
  });
  return {size, octets: octetsOf(shown[0]), tail: shown[1] ? octetsOf(shown[1]) : null, fields};
}

function eventsOf(one) {
  return one.events.map(([kind, us, connection, text, frame, faults]) =>
      ({kind, us, connection, text: data.texts[text], frame, faults: faults || []}));
}
