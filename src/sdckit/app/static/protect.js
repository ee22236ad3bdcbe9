// The editors of a recoding: bands as edges on the histogram, groups of values. Both by mouse and by keyboard.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg", WIDTH = 560, HEIGHT = 190, BASE = 160;
  const make = (name, given = {}, text = "") => {
    const one = document.createElement(name);
    for (const [key, value] of Object.entries(given)) one.setAttribute(key, value);
    if (text) one.textContent = text;
    return one;
  };
  const draw = (name, given) => {
    const one = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(given)) one.setAttribute(key, value);
    return one;
  };

  // Buttons of the list of steps tell the server what they stand for.
  const act = target => {
    const panel = target.closest("section.page");
    Shiny.setInputValue(panel.id.replace("page_", "") + "-act", { act: target.dataset.act, at: Number(target.dataset.at) }, { priority: "event" });
  };
  document.addEventListener("click", event => {
    const button = event.target.closest("button[data-act]");
    if (!button || button.disabled) return;
    act(button);
    for (const one of button.closest(".recipe-map")?.querySelectorAll(".point") || [])
      one.setAttribute("aria-pressed", one.dataset.at === button.dataset.at);
  });
  document.addEventListener("change", event => {
    if (event.target.matches("input[data-act]")) act(event.target);
  });

  function bands(place, told) {
    const bins = told.bins, step = bins.length > 1 ? bins[1] - bins[0] : 1;
    const low = bins[0] - step, high = bins[bins.length - 1] + step, unit = told.whole ? 1 : step / 10;
    const x = value => (value - low) / (high - low) * WIDTH;
    const rounded = value => Math.round(Math.min(high, Math.max(low, value)) / unit) * unit;
    const neat = value => Number(value.toPrecision(8));
    let edges = told.edges.map(Number);
    const most = Math.max(1, ...told.rows.map(row => row.size));
    const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "histogram", role: "group", "aria-label": told.name });
    told.rows.forEach((row, at) => {
      const from = at === 0 ? low : bins[at - 1], to = at === bins.length ? high : bins[at];
      const height = row.size / most * (BASE - 10);
      const bar = draw("rect", { x: x(from) + .5, y: BASE - height, width: Math.max(1, x(to) - x(from) - 1), height, class: "bin" });
      const title = draw("title", {});
      title.textContent = `${row.level}: ${row.text}`;
      bar.append(title);
      svg.append(bar);
    });
    svg.append(draw("line", { x1: 0, x2: WIDTH, y1: BASE, y2: BASE, class: "axis" }));
    for (let at = 0; at < bins.length; at += Math.ceil(bins.length / 8)) {
      const text = draw("text", { x: x(bins[at]), y: HEIGHT - 12, class: "tick" });
      text.textContent = neat(bins[at]);
      svg.append(text);
    }
    const marks = draw("g", {}), list = make("ol", { class: "edges" });
    svg.append(marks);
    const add = make("button", { type: "button", class: "btn btn-sm btn-outline-secondary" }, told.add);
    place.append(make("p", { class: "quiet" }, told.about), svg, list, add);
    const tell = () => Shiny.setInputValue(told.input, edges.map(neat));
    function move(at, value, focus) {
      edges[at] = rounded(value);
      show(focus, at);
    }
    function show(focus, at) {
      marks.replaceChildren();
      list.replaceChildren();
      edges.forEach((edge, number) => {
        const name = told.edge.replace("#", number + 1);
        const mark = draw("g", { class: "edge", tabindex: 0, role: "slider", "aria-label": name, "aria-valuenow": neat(edge), "aria-valuemin": neat(low), "aria-valuemax": neat(high) });
        mark.append(draw("line", { x1: x(edge), x2: x(edge), y1: 0, y2: BASE }), draw("circle", { cx: x(edge), cy: 8, r: 7 }));
        mark.addEventListener("keydown", event => {
          const by = { ArrowLeft: -unit, ArrowDown: -unit, ArrowRight: unit, ArrowUp: unit, PageDown: -step, PageUp: step }[event.key];
          if (event.key === "Delete") { edges.splice(number, 1); show(); } else if (by) move(number, edges[number] + by, "mark"); else return;
          event.preventDefault();
        });
        mark.addEventListener("pointerdown", event => {
          event.preventDefault();
          const box = svg.getBoundingClientRect();
          const drag = moved => { edges[number] = rounded(low + (moved.clientX - box.left) / box.width * (high - low)); show("mark", number); };
          const drop = () => { window.removeEventListener("pointermove", drag); window.removeEventListener("pointerup", drop); };
          window.addEventListener("pointermove", drag);
          window.addEventListener("pointerup", drop);
        });
        marks.append(mark);
        const field = make("input", { type: "number", step: told.whole ? 1 : "any", value: neat(edge), class: "form-control", "aria-label": name });
        field.addEventListener("change", () => { if (field.value !== "") move(number, Number(field.value), "field"); });
        const gone = make("button", { type: "button", class: "btn btn-sm btn-outline-secondary", "aria-label": `${told.remove}: ${neat(edge)}`, title: told.remove }, "×");
        gone.addEventListener("click", () => { edges.splice(number, 1); show(); add.focus(); });
        const item = make("li");
        item.append(field, gone);
        list.append(item);
      });
      if (focus === "mark") marks.children[at].focus();
      if (focus === "field") list.children[at].querySelector("input").focus();
      tell();
    }
    add.addEventListener("click", () => {
      const ends = [low, ...[...edges].sort((a, b) => a - b), high];
      let widest = 0;
      for (let at = 1; at < ends.length; at += 1) if (ends[at] - ends[at - 1] > ends[widest + 1] - ends[widest]) widest = at - 1;
      edges.push(rounded((ends[widest] + ends[widest + 1]) / 2));
      edges.sort((a, b) => a - b);
      show();
    });
    show();
  }

  function groups(place, told) {
    const names = Object.keys(told.groups), group = {};
    for (const [name, levels] of Object.entries(told.groups)) for (const level of levels) group[level] = name;
    const shown = told.rows.filter(row => !row.pooled);
    const known = new Set(shown.map(row => row.level));
    const table = make("table", { class: "levels" }), boxes = make("div", { class: "boxes" });
    const field = make("input", { type: "text", class: "form-control", "aria-label": told.name, placeholder: told.name });
    const add = make("button", { type: "button", class: "btn btn-sm btn-outline-secondary" }, told.new);
    const row = make("div", { class: "buttons" });
    row.append(field, add);
    place.append(make("p", { class: "quiet" }, told.about), table, boxes, row);
    if (told.rows.some(one => one.pooled)) place.append(make("p", { class: "quiet" }, told.pooled));
    function tell() {
      const found = {};
      for (const name of names) found[name] = Object.keys(group).filter(level => group[level] === name);
      Shiny.setInputValue(told.input, found);
    }
    function put(level, name, focus) {
      if (name) group[level] = name; else delete group[level];
      show();
      if (focus) [...table.querySelectorAll("select")].find(one => one.dataset.level === level).focus();
    }
    function show() {
      table.replaceChildren();
      for (const one of shown) {
        const line = make("tr", { draggable: "true" });
        line.addEventListener("dragstart", event => event.dataTransfer.setData("text/plain", one.level));
        const select = make("select", { class: "form-select", "aria-label": told.move.replace("#", one.level) });
        select.dataset.level = one.level;
        for (const name of ["", ...names]) {
          const option = make("option", { value: name }, name || told.none);
          option.selected = (group[one.level] || "") === name;
          select.append(option);
        }
        select.addEventListener("change", () => put(one.level, select.value, true));
        const cell = make("td");
        cell.append(select);
        line.append(make("th", { scope: "row" }, one.level), make("td", { class: "number" }, one.text), cell);
        table.append(line);
      }
      boxes.replaceChildren();
      for (const name of ["", ...names]) {
        const box = make("div", { class: "box" });
        box.append(make("strong", {}, name || told.none));
        const members = Object.keys(group).filter(level => group[level] === name && known.has(level));
        if (name) box.append(make("span", {}, members.join(", ")));
        box.addEventListener("dragover", event => { event.preventDefault(); box.classList.add("over"); });
        box.addEventListener("dragleave", () => box.classList.remove("over"));
        box.addEventListener("drop", event => { event.preventDefault(); put(event.dataTransfer.getData("text/plain"), name); });
        boxes.append(box);
      }
      tell();
    }
    add.addEventListener("click", () => {
      let name = field.value.trim(), number = names.length + 1;
      while (!name || names.includes(name)) { name = `${told.first} ${number}`; number += 1; }
      names.push(name);
      field.value = "";
      show();
      field.focus();
    });
    show();
  }

  const editors = { bands, groups };
  new MutationObserver(() => {
    for (const [name, draws] of Object.entries(editors))
      for (const place of document.querySelectorAll(`[data-${name}]:not([data-drawn])`)) {
        place.dataset.drawn = "yes";
        draws(place, JSON.parse(place.dataset[name]));
      }
  }).observe(document.body, { childList: true, subtree: true });
})();
