"use strict";
// Sorts and filters the lists of nodes on a page. Without it they are plain tables.
(() => {
  const form = document.querySelector("form.finder");
  const lists = [...document.querySelectorAll("div.nodes")].map((box) => ({
    box,
    table: box.querySelector("table"),
    nodes: [...box.querySelectorAll("tbody")],
  }));

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
  }

  for (const list of lists) {
    for (const heading of list.table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sort(list, heading, heading.cellIndex));
      heading.append(button);
    }
  }

  function filter() {
    const { text, which, least } = form.elements;
    const wanted = text.value.trim().toLocaleLowerCase();
    let found = 0;
    let all = 0;
    for (const { box, nodes } of lists) {
      const isAsked = !which || !which.value || which.value === box.id;
      let here = 0;
      for (const node of nodes) {
        const matches =
          shown(node, 1).toLocaleLowerCase().includes(wanted) &&
          (least.value === "" || number(shown(node, 2)) >= Number(least.value));
        node.hidden = !matches;
        here += matches && isAsked;
      }
      box.hidden = here === 0;
      found += here;
      all += nodes.length;
    }
    form.querySelector("output").textContent =
      found === 0 ? "No node in these lists matches." : `${found} of ${all} listed nodes`;
  }

  if (!form || lists.length === 0) return;
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  filter();
})();
