// What the page does by itself: the name of the tab's seat, the way through the pages, status, and coming back.
"use strict";
(() => {
  const byId = name => document.getElementById(name);
  const set = (name, value) => { byId(name).value = value; };

  // The tab keeps the name of its seat. "left" tells a reload from a copy of the tab.
  const kept = window.sessionStorage;
  if (location.search === "?new") {  // a later start of the program asks for a tab of its own
    kept.clear();
    history.replaceState(null, "", "/");
  }
  set("tab", kept.getItem("seat") || "");
  set("tab_left", kept.getItem("left") || "");
  kept.removeItem("left");
  window.addEventListener("pagehide", () => kept.setItem("left", "yes"));
  function comeAgain() {  // what still stands here is of the past
    delete document.body.dataset.ready;
    location.reload();
  }
  window.addEventListener("pageshow", event => { if (event.persisted) comeAgain(); });
  Shiny.addCustomMessageHandler("seat", told => {
    if (!told.tab) return;
    kept.setItem("seat", told.tab);
    if (told.reload) { comeAgain(); return; }
    document.body.dataset.ready = "yes";
  });

  // Pages: one is shown. Its outputs are told that they can be seen. The address names it, so that Back goes to the
  // page before.
  function go(page, focus) {
    if (show(page, focus) && history.state?.page !== page) history.pushState({ page }, "", "#" + page);
  }
  function show(page, focus) {
    const target = byId("page_" + page);
    if (!target) return false;
    for (const one of document.querySelectorAll("section.page")) one.hidden = one !== target;
    for (const one of document.querySelectorAll("button.way"))
      one.dataset.go === page ? one.setAttribute("aria-current", "page") : one.removeAttribute("aria-current");
    kept.setItem("page", page);
    $(target).trigger("shown");
    Shiny.setInputValue("page", page);
    if (focus) {
      const title = target.querySelector("h2");
      title.tabIndex = -1;
      title.focus();
      window.scrollTo(0, 0);
    }
    return true;
  }
  window.addEventListener("popstate", event => show(event.state?.page || location.hash.slice(1), true));
  document.addEventListener("click", event => {
    const way = event.target.closest("[data-go]");
    if (way) go(way.dataset.go, true);
    const open = event.target.closest("[data-open]");
    if (open) byId(open.dataset.open).showModal();
    const close = event.target.closest("[data-close]");
    if (close) {
      byId(close.dataset.close).hidden = true;
      Shiny.setInputValue("closed", close.dataset.close, { priority: "event" });
      byId("main").focus();
    }
    const again = event.target.closest("[data-again]");
    if (again) Shiny.setInputValue("again", again.dataset.again, { priority: "event" });
  });
  $(document).one("shiny:connected", () => {
    const page = [location.hash.slice(1), kept.getItem("page"), "file"].find(name => show(name, false));
    history.replaceState({ page }, "", "#" + page);
  });
  // Work of a tab that is gone: go on with it, or remove it.
  document.addEventListener("click", event => {
    const offer = event.target.closest("[data-waiting]");
    if (offer) Shiny.setInputValue("waiting_act", { act: offer.dataset.waiting, seat: offer.dataset.seat }, { priority: "event" });
  });
  Shiny.addCustomMessageHandler("go", told => go(told.page, true));

  // What is wider or higher than its place is scrolled in it: by keyboard, too, so it can be reached and has a name.
  function reach() {
    for (const box of document.querySelectorAll(".sdckit .table, .wide, figure, pre, .many .shiny-options-group")) {
      if (!box.checkVisibility()) continue;
      if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight + 1) {
        box.tabIndex = 0;
        if (box.matches("div")) box.setAttribute("role", "group");
        const name = box.querySelector("caption, figcaption, legend") || box.closest("section").querySelector("h2, h3");
        if (!box.matches("[aria-labelledby]")) box.setAttribute("aria-label", name ? name.textContent : "sdckit");
      } else if (box.hasAttribute("tabindex")) {
        for (const one of ["tabindex", "role", "aria-label"]) box.removeAttribute(one);
      }
    }
  }
  $(document).on("shiny:idle shown", () => window.requestAnimationFrame(reach));
  window.addEventListener("resize", reach);
  document.addEventListener("toggle", reach, true);

  // The table of columns, searched and filtered: what is hidden keeps what was chosen in it.
  function filter(place) {
    const [text, kind, said] = ["input", "select", "[role=status]"].map(name => place.querySelector(name));
    const rows = [...byId(place.dataset.rows).querySelectorAll("tbody tr")], wanted = text.value.trim().toLowerCase();
    const fits = {
      all: () => true, question: row => row.dataset.question, key: (_, role) => role.startsWith("key"),
      ignore: (_, role) => role === "ignore",
    };
    for (const row of rows) {
      const names = row.querySelector("th").textContent.toLowerCase();
      row.hidden = !names.includes(wanted) || !fits[kind.value](row, row.querySelector("select").value);
    }
    const left = rows.filter(row => !row.hidden).length;
    said.textContent = `${said.dataset.words}: ${left} / ${rows.length}`;
  }
  document.addEventListener("input", event => {
    const place = event.target.closest("[data-rows]");
    if (place) filter(place);
  });

  // The running task, the refusal, the notes. A refusal stands beside what asked for it where that can be seen; an
  // output that says itself why it stays empty is enough.
  function tell(name, text) {
    byId(name + "_text").textContent = text;
    byId(name).hidden = !text;
  }
  let refused = { error: "", beside: [] };
  const seen = name => { const place = byId(name); return place && place.checkVisibility() ? place : null; };
  function refuse() {
    for (const fault of document.querySelectorAll(".fault")) fault.remove();
    for (const field of document.querySelectorAll("[data-refused]")) {
      field.removeAttribute("aria-invalid");
      field.removeAttribute("data-refused");
      field.removeAttribute("aria-describedby");
    }
    const place = refused.error ? refused.beside.map(seen).find(Boolean) : null;
    tell("alert", place ? "" : refused.error);
    if (!place || place.matches(".shiny-html-output")) return;
    const fault = document.createElement("p");
    Object.assign(fault, { className: "fault", id: place.id + "_fault", textContent: refused.error });
    fault.setAttribute("role", "alert");
    (place.closest(".shiny-input-container") || place.closest(".buttons") || place).after(fault);
    place.dataset.refused = "yes";
    place.setAttribute("aria-describedby", fault.id);
    if (!place.matches("button")) place.setAttribute("aria-invalid", "true");
    fault.scrollIntoView({ block: "nearest" });
  }
  Shiny.addCustomMessageHandler("status", told => {
    tell("busy", told.label && told.label + (told.progress ? ": " + told.progress : " …"));
    document.body.classList.toggle("busy", Boolean(told.label));
    const other = told.error !== refused.error || told.beside.join() !== refused.beside.join();
    refused = { error: told.error, beside: told.beside };
    if (other) refuse();
    tell("notes", told.notes.join("\n"));
  });
  // What was drawn anew has lost its refusal; another page shows, or hides, what asked.
  $(document).on("shiny:idle shown", () => {
    if (!refused.error) return;
    const place = refused.beside.map(seen).find(Boolean);
    const stands = place ? place.matches(".shiny-html-output") || byId(place.id + "_fault") : !byId("alert").hidden;
    if (!stands) refuse();
  });
  $(document).on("change", "#exact", event => {
    document.body.classList.toggle("exact", event.target.checked);
    byId("exact_mark").hidden = !event.target.checked;
  });
  Shiny.addCustomMessageHandler("exact", told => {
    if (byId("exact").checked !== told.on) $("#exact").prop("checked", told.on).trigger("change");
  });

  // A file that was mended and is chosen again: of the same name a browser tells nothing, unless none was chosen.
  document.addEventListener("click", event => {
    if (event.target.type === "file") event.target.value = "";
  });

  // A file that is too large is not sent; whoever sends it all the same is refused by the guard.
  document.addEventListener("change", event => {
    const told = byId("told").dataset;
    const large = file => file.size > Number(told.limit);
    if (event.target.type !== "file" || ![...event.target.files].some(large)) return;
    event.stopImmediatePropagation();
    event.target.value = "";
    tell("alert", told.large);
  }, true);

  // An upload that broke off is told of beside its field, with a button that sends the file again.
  $(document).on("ajaxError", (event, answer, asked) => {
    const sent = one => ($(one).data("currentUploader") || {}).uploadUrl === asked.url;
    const field = [...document.querySelectorAll("input[type=file]")].find(sent);
    if (!field) return;
    const told = byId("told").dataset;
    byId(field.id + "_progress").style.visibility = "hidden";
    const large = answer.status === 413;
    refused = { error: large ? told.large : answer.status === 507 ? told.full : told.broken, beside: [field.id] };
    refuse();
    const fault = byId(field.id + "_fault");
    if (!fault || large) return;
    const again = document.createElement("button");
    Object.assign(again, { type: "button", className: "btn btn-sm btn-outline-primary", textContent: told.try });
    again.addEventListener("click", () => {
      refused = { error: "", beside: [] };
      refuse();
      $(field).trigger("change");
    });
    fault.append(" ", again);
  });

  // The session was ended on purpose.
  Shiny.addCustomMessageHandler("ended", told => {
    document.body.dataset.ended = "yes";
    kept.clear();
    const text = document.createElement("p");
    text.textContent = told.text;
    text.className = "ended";
    document.body.replaceChildren(text);
  });

  // A lost connection: ask whether the program still runs, and come back to the same seat.
  $(document).on("shiny:disconnected", () => {
    if (document.body.dataset.ended) return;
    byId("lost").hidden = false;
    const again = window.setInterval(async () => {
      try {
        const answer = await fetch("icon.svg", { cache: "no-store" });
        if (answer.ok) { window.clearInterval(again); comeAgain(); }
      } catch { /* not yet */ }
    }, 1000);
  });
})();
