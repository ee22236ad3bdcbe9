// What the page does by itself: the name of the tab's seat, the way through the pages, status, and coming back.
"use strict";
(() => {
  const byId = name => document.getElementById(name);
  const set = (name, value) => { byId(name).value = value; };

  // The tab keeps the name of its seat. "left" tells a reload from a copy of the tab.
  const kept = window.sessionStorage;
  set("tab", kept.getItem("seat") || "");
  set("tab_left", kept.getItem("left") || "");
  kept.removeItem("left");
  window.addEventListener("pagehide", () => kept.setItem("left", "yes"));
  window.addEventListener("pageshow", event => { if (event.persisted) location.reload(); });
  Shiny.addCustomMessageHandler("seat", told => {
    if (!told.tab) return;
    kept.setItem("seat", told.tab);
    if (told.reload) { location.reload(); return; }
    document.body.dataset.ready = "yes";
  });

  // Pages: one is shown. Its outputs are told that they can be seen.
  function go(page, focus) {
    const target = byId("page_" + page);
    if (!target) return;
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
  }
  document.addEventListener("click", event => {
    const way = event.target.closest("[data-go]");
    if (way) go(way.dataset.go, true);
    const open = event.target.closest("[data-open]");
    if (open) byId(open.dataset.open).showModal();
    const close = event.target.closest("[data-close]");
    if (close) { byId(close.dataset.close).hidden = true; byId("main").focus(); }
  });
  // Work of a tab that is gone: go on with it, or remove it.
  document.addEventListener("click", event => {
    const offer = event.target.closest("[data-waiting]");
    if (offer) Shiny.setInputValue("waiting_act", { act: offer.dataset.waiting, seat: offer.dataset.seat }, { priority: "event" });
  });
  $(document).one("shiny:connected", () => go(kept.getItem("page") || "file", false));
  Shiny.addCustomMessageHandler("go", told => go(told.page, true));

  // The running task, the alert, the notes. A closed box comes back only with another text.
  function tell(name, text) {
    const place = byId(name + "_text");
    if (place.textContent === text && text) { byId(name).hidden = false; return; }
    place.textContent = text;
    byId(name).hidden = !text;
  }
  Shiny.addCustomMessageHandler("status", told => {
    tell("busy", told.label && told.label + (told.progress ? ": " + told.progress : " …"));
    document.body.classList.toggle("busy", Boolean(told.label));
    tell("alert", told.error);
    if (told.notes.length || told.label) tell("notes", told.notes.join("\n"));
  });
  $(document).on("change", "#exact", event => {
    document.body.classList.toggle("exact", event.target.checked);
    byId("exact_mark").hidden = !event.target.checked;
  });
  Shiny.addCustomMessageHandler("exact", told => {
    if (byId("exact").checked !== told.on) $("#exact").prop("checked", told.on).trigger("change");
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
        if (answer.ok) { window.clearInterval(again); location.reload(); }
      } catch { /* not yet */ }
    }, 1000);
  });
})();
