// What is looked at: a list of requirements or of cases, narrowed down. It stands in the fragment of
// the address, so that a link leads to it: #cases?result=fail,error&text=marker
const filterNames = ["result", "layer", "rfc", "level", "kind"];
const filterChoices = {result: results, layer: layers, rfc: rfcs, level: levels, kind: kinds};
const filterTitles = {result: "Result", layer: "Layer", rfc: "RFC", level: "Level", kind: "Kind"};

const emptyFilter = () => ({text: "", ...Object.fromEntries(filterNames.map(name => [name, new Set()]))});

function filterFromQuery(query) {
  const filter = emptyFilter();
  const parameters = new URLSearchParams(query);
  filter.text = parameters.get("text") || "";
  for (const name of filterNames) {
    const chosen = (parameters.get(name) || "").split(",");
    filter[name] = new Set(filterChoices[name].filter(choice => chosen.includes(choice)));
  }
  return filter;
}

function queryOf(filter) {
  const pairs = filterNames.filter(name => filter[name].size > 0)
                    .map(name => `${name}=${[...filter[name]].map(encodeURIComponent).join(",")}`);
  if (filter.text) pairs.push(`text=${encodeURIComponent(filter.text)}`);
  return pairs.length > 0 ? `?${pairs.join("&")}` : "";
}

const addressOf = (tab, filter) => `#${tab}${queryOf(filter)}`;

const allows = (chosen, value) => chosen.size === 0 || chosen.has(value);
// All words that are searched for; what an item says is put together once.
function hasWords(filter, one, textsOf) {
  if (!filter.text) return true;
  one.words ??= textsOf(one).join("\n").toLowerCase();
  return filter.text.toLowerCase().split(/\s+/).every(word => one.words.includes(word));
}
const textsOfRequirement = one => [one.id, `rfc ${one.rfc} §${one.section}`, one.text, one.note, one.kind,
                                   ...one.cases, ...one.tests];
const textsOfCase = one => [one.id, one.title, one.text, one.expected, one.got,
                            ...one.requirements.map(requirement => requirement.id)];

function requirementMatches(filter, one) {
  return allows(filter.result, one.result) && allows(filter.rfc, one.rfc) &&
         allows(filter.level, one.level) && allows(filter.kind, one.kind) &&
         (filter.layer.size === 0 || one.cases.some(id => filter.layer.has(caseById.get(id)?.layer))) &&
         hasWords(filter, one, textsOfRequirement);
}

// A case is found by its requirements, too.
function caseMatches(filter, one) {
  const byRequirement = filter.rfc.size + filter.level.size + filter.kind.size > 0;
  return allows(filter.result, one.verdict) && allows(filter.layer, one.layer) &&
         (!byRequirement || one.requirements.some(requirement =>
             allows(filter.rfc, requirement.rfc) && allows(filter.level, requirement.level) &&
             allows(filter.kind, requirement.kind))) &&
         hasWords(filter, one, textsOfCase);
}

// How many of the list would be there for each choice of one kind of filter, the others as they are.
function choiceCounts(name, filter, list, matches, valuesOf) {
  const others = {...filter, [name]: new Set()};
  const counts = {};
  for (const one of list) {
    if (!matches(others, one)) continue;
    for (const value of valuesOf(one)) counts[value] = (counts[value] || 0) + 1;
  }
  return counts;
}

const valuesOfRequirement = {
  result: one => [one.result],
  layer: one => unique(one.cases.map(id => caseById.get(id)?.layer).filter(layer => layer)),
  rfc: one => [one.rfc],
  level: one => [one.level],
  kind: one => [one.kind],
};
const valuesOfCase = {
  result: one => [one.verdict],
  layer: one => [one.layer],
  rfc: one => unique(one.requirements.map(requirement => requirement.rfc)),
  level: one => unique(one.requirements.map(requirement => requirement.level)),
  kind: one => unique(one.requirements.map(requirement => requirement.kind)),
};
