"use strict";
// Sorts and filters the lists of nodes on a page. Without it they are plain tables.
(() => {
  const form = document.querySelector("form.finder");
  if (!form) return;
  const lists = [...document.querySelectorAll("div.nodes")].map((box) => ({
    box,
    table: box.querySelector("table"),
    nodes: [...box.querySelectorAll("tbody")],
    more: box.appendChild(document.createElement("button")),
    isWhole: false,
  }));

  const few = lists.length > 12 ? 3 : 10; // nodes of a list that are shown at first
  const shown = (node, column) => node.rows[0].cells[column].textContent.trim();
  const number = (text) => parseFloat(text.replaceAll(",", "").replace("\u2212", "-"));

  function sort({ table, nodes }, heading, column) {
    const isNumber = heading.classList.contains("number");
    const before = heading.getAttribute("aria-sort");
    const first = isNumber && column > 0 ? "descending" : "ascending";
    const order = before ? (before === "ascending" ? "descending" : "ascending") : first;
    const sign = order === "ascending" ? 1 : -1;
    for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", order);
    const keys = new Map(nodes.map((node) => [node, shown(node, column)]));
    const compare = (a, b) => {
      if (!isNumber) return sign * keys.get(a).localeCompare(keys.get(b), undefined, { numeric: true });
      const [x, y] = [number(keys.get(a)), number(keys.get(b))];
      if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y); // without a number: last
      return sign * (x - y);
    };
    table.append(...nodes.sort(compare));
    show();
  }

  for (const list of lists) {
    for (const heading of list.table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sort(list, heading, heading.cellIndex));
      heading.append(button);
    }
    list.more.type = "button";
    list.more.textContent = `Show all ${list.nodes.length}`;
    list.more.addEventListener("click", () => {
      const next = list.nodes.find((node) => node.hidden);
      list.isWhole = true;
      show();
      next?.querySelector("summary").focus();
    });
  }

  function show() {
    const { text, which, least } = form.elements;
    const wanted = text.value.trim().toLocaleLowerCase();
    const isFiltered = wanted || least.value !== "" || which?.value;
    let found = 0;
    let all = 0;
    for (const list of lists) {
      const isAsked = !which?.value || which.value === list.box.id;
      let here = 0;
      for (const node of list.nodes) {
        const matches =
          shown(node, 1).toLocaleLowerCase().includes(wanted) &&
          (least.value === "" || number(shown(node, 2)) >= Number(least.value));
        here += matches && isAsked;
        node.hidden = !matches || (here > few && !list.isWhole && !isFiltered);
      }
      list.box.hidden = here === 0;
      list.more.hidden = isFiltered || list.isWhole || list.nodes.length <= few;
      found += here;
      all += list.nodes.length;
    }
    const match = found === 1 ? "node matches" : "nodes match";
    form.querySelector("output").textContent = isFiltered
      ? `${found} of ${all} listed ${match}.`
      : `${all} nodes are listed.`;
  }

  form.hidden = false;
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(show));
  show();
})();
