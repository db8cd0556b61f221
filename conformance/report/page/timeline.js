// What happened in a case, from top to bottom: the tester on the left, the target on the right.
const directions = {
  "startup-sent": "sent", "fpdu-sent": "sent", "raw-sent": "sent", "fin-sent": "sent", "reset-sent": "sent",
  "agent-command": "sent",
  "startup-received": "received", "fpdu-received": "received", "raw-received": "received",
  "fin-received": "received", "reset-received": "received", "agent-reply": "received",
};
const kindNames = {
  "agent-command": "agent", "agent-reply": "agent", "raw-sent": "socket", "raw-received": "socket",
  "fin-sent": "TCP", "fin-received": "TCP", "reset-sent": "TCP", "reset-received": "TCP",
  "startup-sent": "MPA", "startup-received": "MPA", "fpdu-sent": "FPDU", "fpdu-received": "FPDU",
};

const isFrame = event => event.frame >= 0;

// The frame that a failure is most likely about: the one with faults, or the last before it.
function culpritOf(events) {
  const failure = events.findIndex(event => event.kind === "failure");
  const before = events.slice(0, failure < 0 ? 0 : failure).filter(isFrame);
  return before.findLast(event => event.faults.length > 0) || before[before.length - 1] || null;
}

function connectionText(one, number) {
  const ends = one.connections[number];
  if (!ends) return "TCP connection";
  const [tester, target, testerConnected] = ends;
  const name = one.connections.length > 1 ? `TCP connection ${number + 1}` : "TCP connection";
  return testerConnected ? `${name}: the tester (${tester}) connects to ${target}`
                         : `${name}: the target (${target}) connects to ${tester}`;
}

function arrow(event, several, open) {
  const direction = directions[event.kind];
  const label = [el("span", {class: "what"}, kindNames[event.kind]),
                 several && !event.kind.startsWith("agent") ? el("span", {class: "what"}, `#${event.connection + 1}`) : null,
                 el("span", {class: "text"}, event.text)];
  const line = el("span", {class: "line", "aria-hidden": "true"});
  const spoken = el("span", {class: "spoken"}, direction === "sent" ? "tester to target: " : "target to tester: ");
  if (!isFrame(event)) return el("div", {class: "arrow"}, el("span", {class: "label"}, spoken, label), line);
  const place = el("div", {class: "opened"});
  const button = el("button", {class: "arrow", "aria-expanded": "false"}, el("span", {class: "label"}, spoken, label), line);
  const toggle = () => {
    const opens = place.childElementCount === 0;
    place.replaceChildren(...(opens ? [frameView(event.frame)] : []));
    button.setAttribute("aria-expanded", String(opens));
  };
  button.addEventListener("click", toggle);
  if (open) toggle();
  return [button, place];
}

function eventContent(event, one, culprit) {
  switch (event.kind) {
    case "connected": return el("p", {class: "between"}, connectionText(one, event.connection));
    case "note": return el("p", {class: "remark"}, event.text);
    case "expectation": return el("p", {class: "met"}, "✓ ", event.text);
    case "failure":
      return el("div", {class: `failure r-${cssName(one.verdict)}`}, el("b", {}, one.verdict),
                one.expected || one.got ? expectedAndGot(one) : el("p", {}, event.text));
    default:
      return [arrow(event, one.connections.length > 1, event === culprit),
              event.faults.map(fault => el("p", {class: "fault"}, fault))];
  }
}

function timeline(one) {
  const events = eventsOf(one);
  const culprit = one.verdict === "pass" || one.verdict === "skip" ? null : culpritOf(events);
  const rows = events.map(event => el("li", {
    class: `event k-${event.kind} ${directions[event.kind] || ""}` +
        (event.kind.startsWith("raw-") && !isFrame(event) ? " socket" : "") +
        (event.kind.startsWith("agent-") ? " agent" : "") +
        (event === culprit ? " culprit" : "") + (event.text.includes("; irregular: ") ? " odd" : ""),
  }, el("time", {}, timeText(event.us)), el("div", {class: "lane"}, eventContent(event, one, culprit))));
  const list = el("ol", {class: "timeline without-socket"}, rows);
  // Kinds of events that can be left out.
  const choice = (name, text, shown) => {
    const count = rows.filter(row => row.classList.contains(name)).length;
    if (count === 0) return null;
    const box = el("input", {type: "checkbox", onchange: () => list.classList.toggle(`without-${name}`, !box.checked)});
    box.checked = shown;
    return el("label", {}, box, ` ${text} (${count})`);
  };
  return el("section", {class: "card"}, el("div", {class: "timeline-head"}, el("h3", {}, "What happened"),
            el("span", {}, "Show ", choice("agent", "commands to the agent", true), choice("socket", "reads and writes of the socket", false))),
            events.length === 0 ? el("p", {class: "none"}, "Nothing was sent.")
                                : [el("div", {class: "ends", "aria-hidden": "true"}, el("b", {}, "Tester"), el("b", {}, "Target")), list]);
}
