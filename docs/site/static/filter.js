// Puts a box above every long table that hides the rows without the words typed into it.
document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("article table")) {
    const rows = [...table.querySelectorAll("tbody tr")];
    if (rows.length < 15) continue;
    const box = document.createElement("input");
    box.type = "search";
    box.placeholder = `filter ${rows.length} rows`;
    box.className = "filter";
    box.addEventListener("input", () => {
      const words = box.value.toLowerCase().split(/\s+/);
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
    });
    (table.closest(".table-wrapper") ?? table).before(box);
  }
});
