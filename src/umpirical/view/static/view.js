// Everything works without this script; it saves reloads and reaching for the mouse.
"use strict";

// Arrow keys move through a list of trials, and from one trial to the next. Enter opens a link by itself.
document.addEventListener("keydown", (event) => {
  const at = document.activeElement;
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  const links = [...document.querySelectorAll("table.trials tbody a")];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && links.length && (at === document.body || links.includes(at))) {
    event.preventDefault();
    const next = links[at === document.body ? 0 : links.indexOf(at) + step];
    if (next) next.focus();
  }
  const way = { ArrowLeft: ".previous", ArrowRight: ".following" }[event.key];
  if (way && at === document.body) document.querySelector(`.way ${way}`)?.click();
});

// A comparison that is being made appears once it is ready.
if (document.getElementById("waiting")) setTimeout(() => location.reload(), 2000);

// Keeps the page of a run in progress up to date. Without it the page reloads every ten seconds.
(() => {
  const place = document.getElementById("live");
  const told = document.getElementById("told");
  if (!place) return;
  const say = (words) => { if (told) told.textContent = words; };
  say("This run is in progress. The numbers update as replies arrive.");
  const line = new EventSource(place.dataset.events);
  line.addEventListener("message", (event) => {
    for (const [name, text] of Object.entries(JSON.parse(event.data))) {
      const shown = document.querySelector(`[data-live="${CSS.escape(name)}"]`);
      if (shown) shown.textContent = text;
      if (name === "done") document.getElementById("done").value = Number(text);
      // The first estimates have come: their table is made by the server.
      if (name.startsWith("estimate-") && !shown) location.reload();
    }
  });
  line.addEventListener("measured", () => { line.close(); location.reload(); });
  line.addEventListener("gone", () => { line.close(); say("This run can no longer be read. Reload the page to see why."); });
  line.addEventListener("error", () => {
    if (line.readyState === EventSource.CLOSED) say("This page no longer updates. Reload it.");
  });
})();
