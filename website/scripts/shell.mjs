// What every page does: the theme, the versions, the search, buttons that copy code.
const root = document.body.dataset.root;

document.querySelector(".theme").addEventListener("click", () => {
  const now = document.documentElement.dataset.theme,
    dark = now ? now === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", document.documentElement.dataset.theme);
});

const search = document.querySelector("dialog.search");
const ask = async () => (await import("./search.mjs")).openSearch(search, root);
document.querySelector(".search-open").addEventListener("click", ask);
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  const asked = (event.key === "/" && !typing) || (event.key === "k" && (event.metaKey || event.ctrlKey));
  if (!asked || search.open) return;
  event.preventDefault();
  ask();
});

for (const block of document.querySelectorAll(".code")) {
  const button = Object.assign(document.createElement("button"), {
    type: "button",
    className: "copy",
    textContent: "Copy",
  });
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("pre").textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  block.append(button);
}

for (const heading of document.querySelectorAll(".prose :is(h2, h3)[id]")) {
  const link = Object.assign(document.createElement("a"), {
    className: "anchor",
    href: `#${heading.id}`,
    textContent: "#",
    ariaLabel: `Link to ${heading.textContent}`,
  });
  heading.append(link);
}

// On a phone the list beside a page begins closed.
if (matchMedia("(max-width: 52rem)").matches)
  for (const side of document.querySelectorAll(".side details")) side.open = false;

const versions = document.getElementById("version");
const { current, others } = await (await fetch(`${root}versions.json`)).json();
versions.replaceChildren(
  new Option(current.name, current.path, true, true),
  ...others.map(({ name, path }) => new Option(name, path)),
);
versions.addEventListener("change", () => {
  location.href = new URL(`${versions.value}index.html`, new URL(root, location.href));
});
