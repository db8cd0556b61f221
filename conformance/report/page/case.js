// One case: what it demands, how it went, what happened.
function lastSent(one) {
  const events = eventsOf(one);
  const failure = events.findIndex(event => event.kind === "failure");
  return events.slice(0, failure < 0 ? events.length : failure)
      .findLast(event => directions[event.kind] === "sent" && isFrame(event));
}

// What was sent, what was expected and what came, next to each other.
function outcome(one) {
  const cell = (title, text, name) => text ? el("div", {class: name || null}, el("dt", {}, title), el("dd", {}, text)) : null;
  if (one.verdict === "pass") return null;
  const compared = one.expected || one.got;
  const sent = compared ? lastSent(one) : null;
  return el("dl", {class: `outcome r-${cssName(one.verdict)}`},
            cell("Sent last", sent?.text), compared ? cell("Expected", one.expected) : null,
            compared ? cell("Got", one.got, "bad") : cell("Why", one.text),
            compared && one.verdict === "departure" ? cell("Known", one.text) : null);
}

function requirementsOfCase(one) {
  if (one.requirements.length === 0) return null;
  return el("section", {class: "card"}, el("h3", {}, "Requirements that it tests"),
            el("ul", {class: "tested"}, one.requirements.map(requirement =>
                el("li", {}, el("a", {class: "id", href: addressOf("requirements", {...emptyFilter(), text: requirement.id})}, requirement.id),
                   levelMark(requirement.level), el("span", {}, requirement.text)))));
}

// `around`: the cases among which it stands, for going to the next one.
function caseView(one, around, backAddress) {
  const at = around.indexOf(one);
  const step = (offset, text, key) => {
    const other = at < 0 ? null : around[at + offset];
    return other ? el("a", {href: caseAddress(other), class: "button", "data-key": key, title: `${other.id} (${key})`}, text)
                 : el("span", {class: "button off"}, text);
  };
  return el("main", {class: "case"},
            el("nav", {class: "steps", "aria-label": "Cases"},
               el("a", {href: backAddress, class: "button", "data-key": "Escape", title: "back to the list (Esc)"}, "← All"),
               step(-1, "Previous", "k"), step(1, "Next", "j"),
               at >= 0 ? el("span", {class: "muted"}, `${at + 1} of ${around.length}`) : null),
            el("section", {class: "card"},
               el("p", {class: "case-line"}, badge(one.verdict), el("span", {class: "id"}, one.id)),
               el("h2", {}, one.title), outcome(one),
               el("p", {class: "muted small"}, [
                 timeText(one.us), one.agent ? "with the help of an agent" : "needs nothing but a listener",
                 plural(one.connections.length, "connection")].join(" · "),
                  one.capture ? [" · ", el("a", {href: encodeURI(one.capture)}, one.capture), " for Wireshark"] : null)),
            requirementsOfCase(one), timeline(one));
}
