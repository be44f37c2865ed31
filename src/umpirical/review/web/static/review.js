// Keys and live updates of the review screen. Without this script every form still works.
"use strict";

(() => {
  const find = (query) => document.querySelector(query);
  const say = (words) => { find("#live").textContent = words; };
  let busy = false;
  let rejecting = false;
  let shownAt = performance.now();
  let told = 0;
  let line = null;
  let unread = null;

  // One request at a time. While it is under way, no key, click or form does anything: a decision would no longer be
  // about what is on the screen.
  async function ask(address, options = {}) {
    if (busy) return;
    busy = true;
    find("#screen").setAttribute("aria-busy", "true");
    const field = document.activeElement && document.activeElement.name;
    try {
      const response = await fetch(address, { ...options, headers: { "X-Umpirical": find("#screen").dataset.mark || "none" } });
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      // After a sign-out or a crash, what was typed stays on the screen.
      if (options.method && (response.status === 401 || response.status >= 500)) {
        complain([...page.querySelectorAll("h1, .lead")].map((one) => one.textContent).join(". "));
      } else {
        put(page, page.getElementById("screen"), field);
      }
    } catch {
      complain("The server did not answer, so this may not be saved. What you typed is still here: try again.");
    }
    find("#screen").removeAttribute("aria-busy");
    busy = false;
    // What changed meanwhile may not be on the page that came, and nothing else tells of it.
    const numbers = unread;
    unread = null;
    if (numbers) count(numbers);
  }

  function put(page, screen, field) {
    find("#screen").replaceWith(document.adoptNode(screen));
    document.title = page.title;
    history.replaceState(null, "", screen.dataset.path);
    const refused = find(".refused");
    const typed = refused && field && find(`textarea[name="${CSS.escape(field)}"]`);
    (typed || refused || find("h1")).focus({ preventScroll: Boolean(!refused) });
    if (!refused) window.scrollTo(0, 0);
    settle();
  }

  function complain(words) {
    const place = find("#trouble");
    if (place) place.textContent = words;
    say(words);
  }

  // Restores what is kept from one item to the next, and resets the rest.
  function settle() {
    rejecting = false;
    shownAt = performance.now();
    const { address } = find("#screen").dataset;
    if (address) localStorage.setItem("address", address);
    const view = find(`input[name="view"][value="${sessionStorage.getItem("view") || "inline"}"]`);
    if (view) view.checked = true;
    derive();
    listen();
  }

  function listen() {
    if (line || !find("#screen").dataset.live) return;
    line = new EventSource(`${find("#screen").dataset.address}/events`);
    line.addEventListener("message", (event) => count(JSON.parse(event.data)));
    line.addEventListener("error", () => {
      if (line.readyState !== EventSource.CLOSED) return;
      complain("This page no longer updates itself: reload it.");
    });
  }

  function count(numbers) {
    if (busy) unread = numbers;
    const { total, empty } = find("#screen").dataset;
    const arrived = numbers.total - Number(total);
    if (find("#left")) find("#left").textContent = numbers.left;
    if (find("#arrived")) find("#arrived").textContent = arrived > 0 ? `+${arrived} arrived` : "";
    if (find("#disputed")) find("#disputed").textContent = numbers.disputed;
    if (arrived > 0 && performance.now() - told > 10000) {
      told = performance.now();
      say(`${arrived} new, ${numbers.left} left`);
    }
    if (empty === "review" && numbers.left) refresh(`${find("#screen").dataset.address}/next`, { method: "POST", body: new URLSearchParams() });
    if (empty === "disputes" && numbers.disputed) refresh(location.pathname);
  }

  // The numbers may be older than the page. If there is still nothing, what was refused stays on the screen.
  async function refresh(address, options) {
    const refused = find(".refused");
    await ask(address, options);
    if (refused && !find(".refused") && find("#screen").dataset.empty) find("#trouble").before(refused);
  }

  function reject(on) {
    rejecting = on;
    const reasons = find("#reasons");
    if (!reasons) return;
    reasons.classList.toggle("asking", on);
    if (on) {
      reasons.querySelector("button").focus();
      say("Why? Press 1 to 6, or Escape.");
    }
  }

  function edit(open) {
    if (!open) {
      document.querySelectorAll("details.edit[open]").forEach((one) => { one.open = false; });
      find("h1").focus();
      return;
    }
    // In a transcript: the message that has the focus, or the first one that was changed.
    const editor = find(".message:focus-within details.edit") || find(".message.open details.edit") || find("details.edit");
    if (!editor) return;
    const card = editor.closest("details.message");
    if (card) card.open = true;
    editor.open = true;
    editor.querySelector("textarea").focus();
  }

  // A page that was loaded has all views. An item that the script put in place has one, and gets the others when wanted.
  function derive() {
    const view = find('input[name="view"]:checked');
    if (!view || view.value === "inline") return;
    document.querySelectorAll(".text.inline").forEach((inline) => {
      const next = inline.nextElementSibling;
      if (next && next.matches(".side")) return;
      const copy = (without, name) => {
        const text = inline.cloneNode(true);
        text.classList.remove("inline");
        if (name) text.classList.add(name);
        text.querySelectorAll(without).forEach((one) => one.remove());
        return text;
      };
      const clean = copy("del", "clean");
      clean.querySelectorAll("ins").forEach((one) => one.replaceWith(one.dataset.text ?? one.textContent));
      const side = document.createElement("div");
      side.className = "side";
      [["Before", "ins"], ["After", "del"]].forEach(([title, without]) => {
        const part = document.createElement("p");
        part.className = "part";
        part.textContent = title;
        const half = document.createElement("div");
        half.append(part, copy(without));
        side.append(half);
      });
      inline.after(side, clean);
    });
  }

  function cycle() {
    const views = [...document.querySelectorAll('input[name="view"]')];
    const next = views[(views.findIndex((one) => one.checked) + 1) % views.length];
    if (next) { next.click(); say(next.parentElement.textContent.trim()); }
  }

  const ACTS = {
    e: () => edit(true),
    r: () => reject(true),
    d: cycle,
    escape: () => {
      if (rejecting) { reject(false); find("h1").focus(); }
      if (find(".keys")) find(".keys").open = false;
    },
  };

  function press(key) {
    if (rejecting && /^[1-6]$/.test(key)) {
      const reason = find(`#reasons [data-reason="${key}"]`);
      if (reason) reason.click();
      return true;
    }
    if (rejecting && key !== "escape") reject(false);
    if (ACTS[key]) { ACTS[key](); return true; }
    const target = find(`[data-key="${CSS.escape(key)}"]`);
    if (!target) return false;
    target.click();
    if (target.type === "radio") say(`Label ${target.parentElement.textContent.trim()}`);
    return true;
  }

  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.target.matches('input[type="search"]')) return;
    const typing = event.target.closest("textarea");
    if (typing) {
      if (event.key === "Escape") { event.preventDefault(); edit(false); }
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      const save = find("#save");
      if (save && save.getClientRects().length && !event.repeat) save.click();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // Enter on a radio button would submit the form with its first button.
    if (event.key === "Enter" && event.target.matches("input")) event.preventDefault();
    // Keyboards for other scripts have a key in the same place; on some, digits need Shift.
    const latin = /^[a-z0-9?]$/i.test(event.key);
    const key = event.key === "Escape" ? "escape" : latin ? event.key.toLowerCase() : event.code.replace(event.shiftKey ? /^Key/ : /^(Key|Digit)/, "").toLowerCase();
    if (!/^([a-z0-9?]|escape)$/.test(key)) return;
    // A key that is held down, or pressed during a request, decides nothing.
    if (busy || event.repeat) { event.preventDefault(); return; }
    if (press(key)) event.preventDefault();
  });

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method === "get") return;
    event.preventDefault();
    if (form.elements.milliseconds) form.elements.milliseconds.value = Math.round(performance.now() - shownAt);
    ask(form.action, { method: "POST", body: new URLSearchParams(new FormData(form, event.submitter)) });
  });

  // A missing label is pointed out where it is missing, not in a bubble that vanishes before it is read.
  document.addEventListener("invalid", (event) => {
    event.preventDefault();
    const wanted = event.target.closest("fieldset");
    wanted.classList.add("wanted");
    wanted.querySelector("input").focus();
    say("Choose a label first.");
  }, true);

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link) return;
    if (link.dataset.key === "e") { event.preventDefault(); if (!busy) edit(true); return; }
    if (!("swap" in link.dataset) || event.ctrlKey || event.metaKey || event.shiftKey) {
      if (busy) event.preventDefault();
      return;
    }
    event.preventDefault();
    ask(link.href);
  });

  document.addEventListener("change", (event) => {
    if (event.target.name !== "view") return;
    sessionStorage.setItem("view", event.target.value);
    derive();
  });

  // A browser keeps what a page stores by its port too, unlike cookies: whoever comes to the bare address is led home.
  if (location.pathname === "/" && localStorage.getItem("address")) location.replace(`${localStorage.getItem("address")}/`);

  settle();
  if (find("h1")) find("h1").focus({ preventScroll: true });
})();
