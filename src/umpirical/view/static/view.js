// Keeps the page of a run in progress up to date. Without this script the page reloads every ten seconds.
"use strict";

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
