// Before anything is painted: light or dark, as the machine is set.
"use strict";
(() => {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const set = () => { document.documentElement.dataset.bsTheme = dark.matches ? "dark" : "light"; };
  dark.addEventListener("change", set);
  set();
})();
