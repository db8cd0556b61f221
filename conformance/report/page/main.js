// Which part of the page is shown follows the fragment of the address.
const app = document.getElementById("app");
const state = {tab: data.requirements.length > 0 ? "requirements" : "cases", filter: emptyFilter(), found: []};
let listAddress = addressOf(state.tab, state.filter);
let listScroll = 0;
let shownCase = null;

function showLists(tab, query) {
  state.tab = tab;
  state.filter = filterFromQuery(query);
  listAddress = addressOf(tab, state.filter);
  app.replaceChildren(...overview().filter(part => part), lists(state, () => {
    // Typing does not fill the history.
    listAddress = addressOf(state.tab, state.filter);
    history.replaceState(null, "", listAddress);
  }), hints());
}

function hints() {
  return el("footer", {}, "Keys: ", el("kbd", {}, "/"), " search, ", el("kbd", {}, "j"), " and ", el("kbd", {}, "k"),
            " next and previous case, ", el("kbd", {}, "Esc"), " back to the list; arrow keys inside a frame.");
}

// The cases of the list that was looked at, or all.
function around(one) {
  const found = state.tab === "cases" ? state.found : data.cases;
  return found.includes(one) ? found : data.cases;
}

function showCase(name) {
  const one = data.cases.find(candidate => caseAddress(candidate) === `#case/${name}`);
  if (!one) return showLists("cases", "");
  if (!shownCase) listScroll = scrollY;
  shownCase = one;
  app.replaceChildren(header(), caseView(one, around(one), listAddress), hints());
  scrollTo(0, 0);
}

function route() {
  const address = location.hash.slice(1);
  if (address.startsWith("case/")) return showCase(address.slice(5));
  const [tab, query] = address.split("?");
  const comesBack = shownCase !== null && `#${address}` === listAddress;
  const previous = shownCase;
  shownCase = null;
  const inPlace = app.querySelector("main:not(.case)") !== null;
  const scroll = scrollY;
  showLists(tab in tabs ? tab : state.tab, query || "");
  if (comesBack) {
    scrollTo(0, listScroll);
    const address = caseAddress(previous);
    [...app.querySelectorAll("main a")].find(link => link.getAttribute("href") === address)?.focus({preventScroll: true});
  } else if (inPlace && address) {
    // A link of the overview leads to the list, one inside the list leaves it where it is.
    const main = app.querySelector("main");
    scroll > main.offsetTop ? scrollTo(0, Math.min(scroll, main.offsetTop)) : main.scrollIntoView({block: "start"});
  }
}

addEventListener("hashchange", route);
addEventListener("keydown", event => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const typing = event.target.matches?.("input, textarea");
  if (typing) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.key === "/") {
    const search = document.getElementById("search");
    if (search) {
      event.preventDefault();
      search.focus();
      search.select();
    }
    return;
  }
  if (!/^(j|k|Escape)$/.test(event.key)) return;
  if (event.key === "j" && !shownCase && state.tab === "cases" && state.found[0]) {
    location.hash = caseAddress(state.found[0]);
    return;
  }
  const link = document.querySelector(`[data-key="${event.key}"]`);
  if (link) location.hash = link.getAttribute("href");
});
route();
