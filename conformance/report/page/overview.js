// The top of the page: which target was tested, and how it went.

// A bar of counts; `order` names what comes first. Each part leads to the list of what it counts.
function bar(counts, order, addressFor) {
  const present = order.filter(name => counts[name]);
  const total = present.reduce((sum, name) => sum + counts[name], 0);
  return el("div", {class: "bar", role: "img",
                    "aria-label": present.map(name => `${counts[name]} ${name}`).join(", ")},
            present.map(name => el("a", {
              class: `r-${cssName(name)}`, href: addressFor(name), tabindex: -1,
              style: `flex-grow:${counts[name]}`, title: `${counts[name]} ${name}: ${meanings[name]}`,
            }, counts[name] / total > 0.06 ? String(counts[name]) : "")));
}

function legend(counts, order, addressFor) {
  return el("ul", {class: "legend"}, order.filter(name => counts[name]).map(name =>
      el("li", {}, el("a", {href: addressFor(name), title: meanings[name]},
                      el("i", {class: `r-${cssName(name)}`}), `${counts[name]} ${name}`))));
}

function rowsOfBars(title, groups) {
  return el("table", {class: "bars"}, el("caption", {}, title), groups.map(({name, href, counts, order, addressFor}) =>
      el("tr", {}, el("th", {scope: "row"}, el("a", {href}, name)),
         el("td", {}, bar(counts, order, addressFor)))));
}

const withChoices = (tab, choices) => {
  const filter = emptyFilter();
  for (const [name, value] of Object.entries(choices)) filter[name] = new Set([value]);
  return addressOf(tab, filter);
};
const choiceOfResult = result => kinds.includes(result) ? {kind: result} : {result};

function casesCard() {
  const counts = countBy(data.cases, one => one.verdict);
  const passed = counts.pass || 0;
  const ran = data.cases.length - (counts.skip || 0);
  const addressFor = verdict => withChoices("cases", {result: verdict});
  const order = ["pass", "departure", "skip", "error", "fail"];
  return el("section", {class: "card"}, el("h2", {}, "Cases"),
            el("p", {class: "big"}, el("b", {}, String(passed)), ` of ${ran} that ran passed`),
            bar(counts, order, addressFor), legend(counts, order, addressFor),
            rowsOfBars("By layer", layers.map(layer => ({
              name: layer.toUpperCase(), href: withChoices("cases", {layer}), order,
              counts: countBy(data.cases.filter(one => one.layer === layer), one => one.verdict),
              addressFor: verdict => withChoices("cases", {layer, result: verdict}),
            }))));
}

function requirementsCard() {
  const all = data.requirements;
  const counts = countBy(all, one => one.result);
  const order = ["pass", "unit", "departure", "skip", "not run", "error", "fail", "not met", "ulp", "n/a"];
  const musts = all.filter(one => one.level === "MUST" && one.kind === "wire");
  const shown = musts.filter(one => one.result === "pass").length;
  const addressFor = result => withChoices("requirements", choiceOfResult(result));
  return el("section", {class: "card"}, el("h2", {}, "Requirements"),
            el("p", {class: "big"}, el("b", {}, String(shown)), ` of ${musts.length} MUSTs that show on the wire hold`),
            bar(counts, order, addressFor), legend(counts, order, addressFor),
            rowsOfBars("By RFC", rfcs.map(rfc => ({
              name: `RFC ${rfc}`, href: withChoices("requirements", {rfc}), order,
              counts: countBy(all.filter(one => one.rfc === rfc), one => one.result),
              addressFor: result => withChoices("requirements", {rfc, ...choiceOfResult(result)}),
            }))));
}

const mostFailures = 6;

function failuresCard() {
  const failures = data.cases.filter(one => one.verdict === "fail" || one.verdict === "error");
  if (failures.length === 0) return null;
  const all = addressOf("cases", {...emptyFilter(), result: new Set(["fail", "error"])});
  return el("section", {class: "card failures"}, el("h2", {}, plural(failures.length, "case does", "cases do"), " not pass"),
            el("ul", {}, failures.slice(0, mostFailures).map(one =>
                el("li", {}, badge(one.verdict), " ", el("a", {href: caseAddress(one), class: "id"}, one.id),
                   el("p", {}, one.title), expectedAndGot(one)))),
            failures.length > mostFailures ? el("p", {}, el("a", {href: all}, `All ${failures.length}`)) : null);
}

function expectedAndGot(one) {
  if (!one.expected && !one.got) return one.text ? el("p", {class: "got"}, one.text) : null;
  return el("dl", {class: "compare"}, el("dt", {}, "expected"), el("dd", {}, one.expected),
            el("dt", {}, "got"), el("dd", {class: "got"}, one.got));
}

function header() {
  const facts = [["Started", data.started.replace("T", " ").replace(/\.\d+Z$/, " UTC")],
                 ["Took", timeText(data.us)], ["Tester", data.tester], ...data.options];
  return el("header", {class: "top"},
            el("div", {}, el("p", {class: "kicker"}, "iWARP conformance report"), el("h1", {}, data.target)),
            el("dl", {class: "facts"}, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
            themeButton());
}

function themeButton() {
  const root = document.documentElement;
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark"
                                        : matchMedia("(prefers-color-scheme: dark)").matches;
  const button = el("button", {class: "theme", title: "Light or dark", "aria-label": "Switch between light and dark"}, "◐");
  button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; });
  return button;
}

function overview() {
  return [header(),
          data.remarks.length > 0 ? el("ul", {class: "card remarks"}, data.remarks.map(text => el("li", {}, text))) : null,
          el("div", {class: "cards"}, casesCard(), data.requirements.length > 0 ? requirementsCard() : null),
          failuresCard()];
}
