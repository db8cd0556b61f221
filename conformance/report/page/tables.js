// The two lists with their filters.
const tabs = {
  requirements: {title: "Requirements", list: data.requirements, matches: requirementMatches,
                 valuesOf: valuesOfRequirement, table: requirementTable},
  cases: {title: "Cases", list: data.cases, matches: caseMatches, valuesOf: valuesOfCase, table: caseTable},
};

const caseAddress = one => `#case/${encodeURIComponent(one.id)}`;
const levelMark = level => el("span", {class: `level l-${cssName(level)}`}, level);

function caseLink(id) {
  const one = caseById.get(id);
  if (!one) return el("span", {}, badge("not run"), " ", el("span", {class: "id"}, id));
  return el("span", {}, badge(one.verdict), " ", el("a", {href: caseAddress(one), class: "id"}, id), " ", one.title);
}

function requirementDetails(one) {
  const lists = [["Cases", one.cases.map(caseLink)],
                 ["Tests of our own stack", one.tests.map(test => el("code", {}, test))]];
  return [el("p", {}, `RFC ${one.rfc} §${one.section}. `, el("b", {}, `${one.kind}: `), `${meanings[one.kind] || ""}.`),
          one.note ? el("p", {}, one.note) : null,
          lists.filter(([, items]) => items.length > 0).map(([title, items]) =>
              [el("h4", {}, title), el("ul", {}, items.map(item => el("li", {}, item)))])];
}

const mostNames = 3;

// In short why a requirement has its result: the cases that did not pass, the tests, the reason.
function reasonOf(one) {
  const names = one.kind === "unit" ? one.tests
      : one.kind === "wire" && one.result !== "pass" ? one.cases.filter(id => caseById.get(id)?.verdict === one.result) : [];
  if (names.length === 0) return one.kind === "wire" || !one.note ? null : el("p", {class: "reason"}, one.note);
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : "";
  const shown = names.slice(0, mostNames).map((name, index) => [
    index > 0 ? ", " : "",
    one.kind === "wire" ? el("a", {class: "id", href: caseAddress(caseById.get(name))}, name) : el("code", {}, name)]);
  return el("p", {class: "reason"}, shown, more);
}

function requirementRow(one) {
  const toggle = el("button", {class: "id", "aria-expanded": "false"}, one.id);
  const row = el("tr", {class: "opens"}, el("td", {}, toggle), el("td", {}, levelMark(one.level)),
                 el("td", {class: "wide"}, one.text, reasonOf(one)), el("td", {class: "kind", title: meanings[one.kind]}, one.kind),
                 el("td", {}, one.kind === "wire" ? badge(one.result) : el("span", {class: "muted"}, "–")));
  let details = null;
  row.addEventListener("click", event => {
    if (event.target.closest("a") || String(getSelection())) return;
    if (details) {
      details.remove();
      details = null;
    } else {
      details = el("tr", {class: "details"}, el("td", {colspan: 5}, requirementDetails(one)));
      row.after(details);
    }
    toggle.setAttribute("aria-expanded", String(details !== null));
  });
  return row;
}

function requirementTable(list) {
  return el("table", {class: "list requirements"},
            el("thead", {}, el("tr", {}, ["Requirement", "Level", "What it demands", "Kind", "Result"].map(
                title => el("th", {scope: "col"}, title)))),
            el("tbody", {}, list.map(requirementRow)));
}

function caseRow(one) {
  const why = one.verdict === "pass" ? null
      : el("p", {class: "why"}, one.expected || one.got ? `got ${one.got}` : one.text);
  const row = el("tr", {class: "opens"}, el("td", {}, badge(one.verdict)),
                 el("td", {class: "wide"}, el("a", {href: caseAddress(one), class: "id"}, one.id), el("p", {}, one.title), why),
                 el("td", {class: "number"}, String(one.requirements.length)),
                 el("td", {class: "number"}, timeText(one.us)));
  row.addEventListener("click", event => {
    if (!event.target.closest("a") && !String(getSelection())) location.hash = caseAddress(one);
  });
  return row;
}

function caseTable(list) {
  return el("table", {class: "list cases"},
            el("thead", {}, el("tr", {}, el("th", {scope: "col"}, "Result"), el("th", {scope: "col"}, "Case"),
                               el("th", {scope: "col", class: "number", title: "requirements that it tests"}, "Reqs"),
                               el("th", {scope: "col", class: "number"}, "Time"))),
            el("tbody", {}, list.map(caseRow)));
}

function chips(name, state, change) {
  const {list, matches, valuesOf} = tabs[state.tab];
  const counts = choiceCounts(name, state.filter, list, matches, valuesOf[name]);
  const chosen = state.filter[name];
  const choices = filterChoices[name].filter(choice => counts[choice] || chosen.has(choice));
  if (choices.length < 2 && chosen.size === 0) return null;
  return el("div", {class: "chips", role: "group", "aria-label": filterTitles[name]},
            el("span", {}, filterTitles[name]),
            choices.map(choice => el("button", {
              "aria-pressed": String(chosen.has(choice)), title: meanings[choice] || null, "data-chip": `${name}-${choice}`,
              onclick: () => {
                if (!chosen.delete(choice)) chosen.add(choice);
                change();
              },
            }, name === "layer" ? choice.toUpperCase() : choice, el("small", {}, String(counts[choice] || 0)))));
}

const pauseInTyping = 120;

// Below the overview. The search field stays the same element, so that it keeps the focus.
function lists(state, changed) {
  const chipsPlace = el("div", {class: "filters"});
  const tablePlace = el("div", {class: "table"});
  const tally = el("p", {class: "tally", role: "status"});
  const search = el("input", {type: "search", placeholder: "Search: words, ids, RFC §… ( / )", value: state.filter.text,
                              "aria-label": "Search", id: "search", autocomplete: "off", spellcheck: "false"});
  const tabLinks = el("nav", {class: "tabs", "aria-label": "Lists"});

  function update() {
    const {list, matches, table} = tabs[state.tab];
    const found = list.filter(one => matches(state.filter, one));
    state.found = found;
    const focused = document.activeElement?.dataset?.chip;
    chipsPlace.replaceChildren(...filterNames.map(name => chips(name, state, () => { update(); changed(); })).filter(group => group));
    if (focused) chipsPlace.querySelector(`[data-chip="${CSS.escape(focused)}"]`)?.focus();
    tabLinks.replaceChildren(...Object.entries(tabs).filter(([, tab]) => tab.list.length > 0).map(([name, tab]) =>
        el("a", {href: addressOf(name, state.filter), "aria-current": name === state.tab ? "page" : null},
           tab.title, el("small", {}, String(tab.list.length)))));
    tally.replaceChildren(found.length === list.length ? `All ${list.length} shown` : `${found.length} of ${list.length} shown`,
                          queryOf(state.filter) ? el("a", {href: `#${state.tab}`}, "show all") : "");
    tablePlace.replaceChildren(found.length > 0 ? table(found) : el("p", {class: "none"}, "Nothing matches."));
  }
  let waiting = null;
  search.addEventListener("input", () => {
    state.filter.text = search.value;
    changed();
    clearTimeout(waiting);
    waiting = setTimeout(() => { if (search.isConnected) update(); }, pauseInTyping);
  });
  update();
  return el("main", {}, el("div", {class: "controls"}, tabLinks, search), chipsPlace, tally, tablePlace);
}
