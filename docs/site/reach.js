// What the theme leaves out: the search has a name, and what scrolls sideways is reached by the keyboard.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
const reach = () => {
  for (const each of document.querySelectorAll(".md-typeset__scrollwrap, pre > code")) {
    if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
    else each.removeAttribute("tabindex");
  }
};
addEventListener("load", reach);
addEventListener("resize", reach);
