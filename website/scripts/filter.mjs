// Filters the rows of a report's tables; a section of which nothing is left is not shown.
const form = document.querySelector("form.filter"),
  [words, faults] = [form.querySelector("[type=search]"), form.querySelector("[type=checkbox]")];
const LONG = 12; // rows from which a table is filtered: shorter ones are summaries

const sections = [];
for (const one of document.querySelector("article").children) {
  if (/^H[1-6]$/.test(one.tagName)) sections.push({ parts: [one], rows: [] });
  else if (sections.length) sections.at(-1).parts.push(one);
  const rows = [...one.querySelectorAll("tbody tr")];
  const filtered = rows.length >= LONG || sections.length > 0;
  if (!filtered) continue;
  if (!sections.length) sections.push({ parts: [], rows: [] });
  sections.at(-1).rows.push(...rows.map((row) => ({ row, text: row.textContent.toLowerCase() })));
}

/** Whether the last column says something: what is not right, and why. */
const hasReason = ({ lastElementChild }) => lastElementChild.textContent.trim() !== "";

function show() {
  const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0,
    all = 0;
  for (const { parts, rows } of sections) {
    let left = 0;
    for (const { row, text } of rows) {
      const fits = asked.every((word) => text.includes(word)) && !(faults?.checked && !hasReason(row));
      row.hidden = !fits;
      left += fits;
    }
    count += left;
    all += rows.length;
    if (rows.length) for (const part of parts) part.hidden = !left;
  }
  form.querySelector("output").textContent = count === all ? `${all} rows` : `${count} of ${all} rows`;
}

form.addEventListener("input", show);
form.addEventListener("submit", (event) => event.preventDefault());
show();
