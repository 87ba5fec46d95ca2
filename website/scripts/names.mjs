// Filters the reference's index by all names that an entry has.
const form = document.querySelector("form.filter"),
  input = form.querySelector("input");
const subjects = [...document.querySelectorAll(".subject")].map((section) => ({
  section,
  items: [...section.querySelectorAll("li")].map((item) => ({
    item,
    text: `${item.dataset.names} ${item.textContent}`.toLowerCase(),
  })),
}));

function show() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const { section, items } of subjects) {
    let left = 0;
    for (const { item, text } of items) {
      item.hidden = !words.every((word) => text.includes(word));
      left += !item.hidden;
    }
    section.hidden = !left;
    count += left;
  }
  form.querySelector("output").textContent = `${count} pages`;
}

form.addEventListener("input", show);
form.addEventListener("submit", (event) => event.preventDefault());
show();
