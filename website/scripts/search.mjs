// The search: an index that the build made (search_index.mjs), read when somebody first asks for it.
import MiniSearch from "minisearch";
import { OPTIONS } from "./search_options.mjs";

const SHOWN = 40; // results, at most
let index;

async function loaded(root) {
  index ??= fetch(`${root}assets/search.json`)
    .then((response) => response.text())
    .then((text) => MiniSearch.loadJSON(text, OPTIONS));
  return index;
}

function item({ title, path, kind, text }, root) {
  const made = document.createElement("li"),
    link = document.createElement("a");
  made.role = "option";
  link.href = root + path;
  link.tabIndex = -1;
  for (const [tag, words] of [
    ["strong", title],
    ["em", kind],
    ["span", text],
  ])
    if (words) link.append(Object.assign(document.createElement(tag), { textContent: words }));
  made.append(link);
  return made;
}

function choose(list, next) {
  const items = [...list.children],
    at = items.findIndex((one) => one.ariaSelected === "true");
  const chosen = Math.min(Math.max(at + next, 0), items.length - 1);
  for (const [n, one] of items.entries()) one.ariaSelected = String(n === chosen);
  items[chosen]?.scrollIntoView({ block: "nearest" });
}

/** Opens the dialog; what is typed is looked up at once, arrows choose, Enter goes there. */
export async function openSearch(dialog, root) {
  dialog.showModal();
  const input = dialog.querySelector("input"),
    list = dialog.querySelector("ol"),
    none = dialog.querySelector(".none");
  input.select();
  if (dialog.dataset.ready) return;
  dialog.dataset.ready = "yes";
  const found = await loaded(root);
  const show = () => {
    const all = found.search(input.value); // pages with every word, else with any
    const results = (all.length ? all : found.search(input.value, { combineWith: "OR" })).slice(0, SHOWN);
    list.replaceChildren(...results.map((result) => item(result, root)));
    none.textContent = input.value && !results.length ? `Nothing is called “${input.value}”.` : "";
    choose(list, 0);
  };
  input.addEventListener("input", show);
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.querySelector("form").addEventListener("submit", (event) => {
    if (event.submitter?.matches("button") && document.activeElement === event.submitter) return;
    event.preventDefault();
    list.querySelector("[aria-selected=true] a")?.click();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    choose(list, event.key === "ArrowDown" ? 1 : -1);
  });
  show();
}
